/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_store.c - the records of store.h: what is kept comes back, whatever it is, in any order, and takes few bytes.
 *
 *   test_store [SEED]    prints "N passed, N failed"
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../store.h"

#define FRAMES 20000u
#define PLACES 3u

static uint64_t state;
static unsigned passed, failed;

static uint32_t number(void) /* xorshift */
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 16);
}

static void check(bool good, const char *claim)
{
	printf("%s %s\n", good ? "ok     " : "not ok ", claim);
	passed += good;
	failed += !good;
}

/* Mostly 0, now and then as large as it can be. */
static uint32_t some(void)
{
	switch (number() % 8) {
	case 0:
		return number();
	case 1:
		return UINT32_MAX;
	case 2:
		return number() % 200;
	default:
		return 0;
	}
}

static uint32_t earlier(uint32_t frame)
{
	return number() % 3 == 0 ? 0 : 1 + number() % frame;
}

static void make(struct rdma_analysis *a, uint32_t frame)
{
	static char text[VS_MON_RULES][64];
	struct vs_mon_result *r = &a->r;

	memset(a, 0, sizeof(*a));
	r->stream = some();
	r->message = earlier(frame);
	r->request = earlier(frame);
	r->original = earlier(frame);
	r->cause_frame = earlier(frame);
	r->missing = some();
	r->outstanding = some();
	r->credits = some();
	r->wasted = some();
	r->offset = some();
	r->rtt_ns = (uint64_t)some() << 32 | some();
	r->wait_us = some();
	r->flags = (uint16_t)number();
	r->class_ = (uint8_t)(number() % 8);
	r->cause = (uint8_t)(number() % 5);
	r->iter = (uint8_t)(number() % 4 == 0 ? number() : 1);
	r->rules = (uint8_t)(number() % 16 == 0 ? number() % 8 : 0);
	for (unsigned i = 0; i < r->rules && i < VS_MON_RULES; i++) {
		r->rule[i] = (uint8_t)(1 + number() % (VS_RULE_COUNT - 1));
		a->other[i] = earlier(frame);
		if (number() % 2 == 0) {
			(void)snprintf(text[i], sizeof(text[i]), "frame %u and %u more", frame, number() % 1000);
			a->text[i] = text[i];
		}
	}
}

static bool same_result(const struct vs_mon_result *a, const struct vs_mon_result *b)
{
	return a->stream == b->stream && a->message == b->message && a->request == b->request &&
	       a->original == b->original && a->cause_frame == b->cause_frame && a->missing == b->missing &&
	       a->outstanding == b->outstanding && a->credits == b->credits && a->wasted == b->wasted &&
	       a->offset == b->offset && a->rtt_ns == b->rtt_ns && a->wait_us == b->wait_us && a->flags == b->flags &&
	       a->class_ == b->class_ && a->cause == b->cause && a->iter == b->iter && a->rules == b->rules &&
	       memcmp(a->rule, b->rule, sizeof(a->rule)) == 0;
}

static bool same(const struct rdma_analysis *a, const struct rdma_analysis *b)
{
	bool equal = same_result(&a->r, &b->r) && memcmp(a->other, b->other, sizeof(a->other)) == 0;

	for (unsigned i = 0; i < VS_MON_RULES; i++)
		equal &= b->text[i] == NULL || (a->text[i] != NULL && strcmp(a->text[i], b->text[i]) == 0);
	return equal;
}

/* What is in place `place` of a frame, made anew from the seed. */
static void made(uint64_t seed, uint32_t frame, uint32_t place, struct rdma_analysis *a)
{
	state = (seed + frame) * UINT64_C(0x9e3779b97f4a7c15) + place + 1;
	(void)number();
	make(a, frame);
}

static unsigned places_of(uint32_t frame)
{
	return frame % 7 == 0 ? 0 : frame % 5 == 0 ? PLACES : 1;
}

static struct rdma_store *filled(uint64_t seed)
{
	struct rdma_store *s = rdma_store_new();
	struct rdma_analysis a;

	for (uint32_t frame = 1; s != NULL && frame <= FRAMES; frame++)
		for (uint32_t p = 0; p < places_of(frame); p++) {
			made(seed, frame, p << 16 | p, &a);
			if (!rdma_store_put(s, frame, p << 16 | p, &a)) {
				rdma_store_free(s);
				return NULL;
			}
		}
	return s;
}

static void what_is_kept_comes_back_in_any_order(uint64_t seed)
{
	struct rdma_store *s = filled(seed);
	struct rdma_analysis want, got;
	bool good = s != NULL;

	for (uint32_t i = 0; good && i < 3 * FRAMES; i++) {
		const uint32_t frame = 1 + (uint32_t)(i * UINT64_C(7919) % FRAMES), p = i % PLACES;
		const bool there = p < places_of(frame);

		made(seed, frame, p << 16 | p, &want);
		good = rdma_store_get(s, frame, p << 16 | p, &got) == there && (!there || same(&want, &got));
		if (!good)
			printf("frame %u place %u, seed %" PRIu64 "\n", frame, p, seed);
	}
	good = good && !rdma_store_get(s, FRAMES + 1, 0, &got) && !rdma_store_get(s, UINT32_MAX, 0, &got);
	check(good, __func__);
	rdma_store_free(s);
}

static void the_first_link_to_a_later_frame_stays(void)
{
	struct rdma_store *s = rdma_store_new();
	struct rdma_analysis a = {.r = {.stream = 1, .iter = 1, .flags = VS_MON_REQUEST}}, got[3];
	bool good = s != NULL;

	for (uint32_t frame = 1; frame <= 2; frame++)
		for (uint32_t p = 0; p < (frame == 1 ? 1u : 2u); p++)
			good &= rdma_store_put(s, frame, p, &a);
	rdma_store_link(s, 1, VS_MON_LINK_ANSWERED, 3);
	rdma_store_link(s, 1, VS_MON_LINK_ANSWERED, 4);
	rdma_store_link(s, 1, VS_MON_LINK_REPEATED, 5);
	rdma_store_link(s, 1, VS_MON_LINK_REPEATED, 6);
	rdma_store_link(s, 2, VS_MON_LINK_ANSWERED, 3); /* the first of two requests in one frame, then the second */
	rdma_store_link(s, 2, VS_MON_LINK_ANSWERED, 4);
	rdma_store_link(s, 77, VS_MON_LINK_ANSWERED, 78); /* nobody */
	rdma_store_link(s, 0, VS_MON_LINK_REPEATED, 78);
	good = good && rdma_store_get(s, 1, 0, &got[0]) && rdma_store_get(s, 2, 0, &got[1]) &&
	       rdma_store_get(s, 2, 1, &got[2]) && got[0].answered_in == 3 && got[0].repeated_in == 5 &&
	       got[1].answered_in == 3 && got[2].answered_in == 4 && rdma_store_first(s, 2, &got[0]) &&
	       got[0].r.stream == 1;
	check(good, __func__);
	rdma_store_free(s);
}

static void a_frame_number_that_comes_again_takes_the_place(void)
{
	struct rdma_store *s = rdma_store_new();
	struct rdma_analysis a = {.r = {.stream = 1, .iter = 1}}, b = {.r = {.stream = 2, .iter = 1}}, got;
	const bool good = rdma_store_put(s, 5, 0, &a) && rdma_store_put(s, 5, 1, &a) && rdma_store_put(s, 5, 0, &b) &&
			  rdma_store_get(s, 5, 0, &got) && got.r.stream == 2 && !rdma_store_get(s, 5, 1, &got);

	check(good, __func__);
	rdma_store_free(s);
}

/* As bad as packets can be, each with three sentences of its own: 64 bytes each, but for what is free at the start. */
static void memory_is_bounded_whatever_is_found(void)
{
	struct rdma_store *s = rdma_store_new();
	const uint32_t packets = 200000;
	char text[240];
	bool good = s != NULL;

	for (uint32_t frame = 1; good && frame <= packets; frame++) {
		struct rdma_analysis a = {.r = {.stream = 70, .iter = 2, .flags = VS_MON_REQUEST, .rules = 9}};

		a.r.original = a.r.message = frame > 300 ? frame - 300 : 0;
		a.r.wasted = 4096;
		a.r.rtt_ns = 1000000;
		for (unsigned i = 0; i < VS_MON_RULES; i++) {
			(void)snprintf(text, sizeof(text), "%0200u", frame * 3 + i);
			a.r.rule[i] = (uint8_t)(1 + i);
			a.other[i] = frame > 9 ? frame - 9 : 0;
			a.text[i] = text;
		}
		good = rdma_store_put(s, frame, 0, &a);
		if (frame > 1)
			rdma_store_link(s, frame / 2, VS_MON_LINK_REPEATED, frame);
	}
	printf("%.1f bytes for each of %u packets\n", (double)rdma_store_bytes(s) / packets, packets);
	check(good && rdma_store_bytes(s) <= (size_t)packets * 64, __func__);
	rdma_store_free(s);
}

int main(int argc, char **argv)
{
	const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

	printf("seed %" PRIu64 "\n", seed);
	what_is_kept_comes_back_in_any_order(seed);
	the_first_link_to_a_later_frame_stays();
	a_frame_number_that_comes_again_takes_the_place();
	memory_is_bounded_whatever_is_found();
	printf("%u passed, %u failed\n", passed, failed);
	return failed > 0;
}
