/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_core_tables.c - what everything else stands on: timers, look-up of QPNs and keys, the random source. Each
 * is played against a plain model, at random and at its edges.
 */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "rig.h"

/* ---- timers: the earliest first, equal ones in the order in which they were set ---- */

#define TIMERS 40u

struct model {
	uint64_t when, serial;
};

static const struct model *earliest(const struct model *m)
{
	const struct model *best = NULL;
	unsigned i;

	for (i = 0; i < TIMERS; i++)
		if (m[i].when != VS_NEVER &&
		    (best == NULL || m[i].when < best->when || (m[i].when == best->when && m[i].serial < best->serial)))
			best = &m[i];
	return best;
}

START_TEST(timers_fire_in_order_whatever_was_set_and_stopped)
{
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r = rig_new(&o);
	struct vs_dev *dev = r->dev;
	struct vs_timer t[TIMERS];
	struct model m[TIMERS];
	uint64_t seed = 0x1234567 + (uint64_t)_i, serial = 0, now = 0;
	unsigned i, k;

	for (i = 0; i < TIMERS; i++) {
		vs_timer_init(&t[i], VS_TIMER_CONN, &m[i]);
		ck_assert(t[i].when == VS_NEVER && t[i].pos == 0 && t[i].kind == VS_TIMER_CONN && t[i].serial == 0);
		m[i].when = VS_NEVER;
	}
	ck_assert_int_eq(vs_timer_reserve(dev, TIMERS), VS_OK);
	for (i = 0; i < 4000; i++) {
		const struct model *first;
		struct vs_timer *due;

		k = (unsigned)(vs_rand(&seed) % TIMERS);
		switch (vs_rand(&seed) % 8) {
		case 0:
			vs_timer_stop(dev, &t[k]);
			m[k].when = VS_NEVER;
			break;
		case 1:
			now += vs_rand(&seed) % 12;
			break;
		case 2:
			vs_timer_set(dev, &t[k], VS_NEVER); /* as good as stopped */
			m[k].when = VS_NEVER;
			break;
		default:
			m[k].when = now + vs_rand(&seed) % 30;
			m[k].serial = ++serial;
			vs_timer_set(dev, &t[k], m[k].when);
			break;
		}
		for (;;) {
			first = earliest(m);
			ck_assert_uint_eq(vs_dev_deadline(dev), first != NULL ? first->when : VS_NEVER);
			due = vs_timer_due(dev, now);
			if (first == NULL || first->when > now)
				break;
			ck_assert_ptr_nonnull(due);
			ck_assert_ptr_eq(due->owner, first);
			ck_assert(due->when == VS_NEVER && due->pos == 0);
			m[first - m].when = VS_NEVER;
		}
		ck_assert_ptr_null(due);
	}
	for (i = 0; i < TIMERS; i++)
		vs_timer_stop(dev, &t[i]);
	ck_assert_uint_eq(vs_dev_deadline(dev), VS_NEVER);
	vs_timer_unreserve(dev, TIMERS);
	rig_free(r);
}
END_TEST

START_TEST(timers_that_run_survive_the_growth_of_their_heap)
{
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r = rig_new(&o);
	struct vs_dev *dev = r->dev;
	uint32_t before = dev->heap_reserved, cap = dev->heap_cap, n;
	struct vs_timer *t;
	unsigned i;

	ck_assert_uint_le(before, cap);
	n = cap - before; /* exactly full: nothing grows */
	ck_assert_int_eq(vs_timer_reserve(dev, n), VS_OK);
	ck_assert_uint_eq(dev->heap_cap, cap);
	t = calloc(n + 1, sizeof(*t));
	ck_assert_ptr_nonnull(t);
	for (i = 0; i <= n; i++)
		vs_timer_init(&t[i], VS_TIMER_CONN, NULL);
	for (i = 0; i < n; i++)
		vs_timer_set(dev, &t[i], 1000000 - i);
	ck_assert_int_eq(vs_timer_reserve(dev, 1), VS_OK);
	ck_assert_uint_ge(dev->heap_cap, 2 * cap); /* doubled: n timers cost n steps in all */
	vs_timer_set(dev, &t[n], 5);
	ck_assert_ptr_eq(vs_timer_due(dev, UINT64_MAX - 1), &t[n]);
	for (i = n; i > 0; i--)
		ck_assert_ptr_eq(vs_timer_due(dev, UINT64_MAX - 1), &t[i - 1]);
	vs_timer_unreserve(dev, n + 1);
	ck_assert_uint_eq(dev->heap_reserved, before);
	ck_assert_int_eq(vs_timer_reserve(dev, 10 * dev->heap_cap), VS_OK); /* more than twice as many at once */
	ck_assert_uint_ge(dev->heap_cap, dev->heap_reserved);
	vs_timer_unreserve(dev, dev->heap_reserved - before);
	free(t);
	rig_free(r);
}
END_TEST

/* ---- QPNs ---- */

/* QPNs whose places collide: as many as fit, made and destroyed at random. */
START_TEST(a_qp_is_found_by_its_number_and_no_other)
{
	struct rig_opt o = {.stay_in_reset = true};
	struct vs_qp_init init = {.type = VS_QPT_RC, .cap = {1, 1, 1, 1, 0}};
	struct vs_qp *qp[64] = {NULL};
	uint32_t qpn[64];
	uint64_t seed = 77 + (uint64_t)_i;
	unsigned i, k, n = 0;
	struct rig *r;
	int err;

	o.dev.max_qp = 15; /* and the rig's: 32 places */
	r = rig_new(&o);
	ck_assert_uint_eq(r->dev->qp_table_mask, 31);
	init.send_cq = init.recv_cq = r->scq;
	for (i = 0; i < 64; i++)
		qpn[i] = _i % 2 == 0 ? 100 + i : 100 + i * 0x4000; /* neighbours; far apart */
	for (i = 0; i < 3000; i++) {
		k = (unsigned)(vs_rand(&seed) % 64);
		if (qp[k] != NULL) {
			ck_assert_int_eq(vs_qp_destroy(qp[k]), VS_OK);
			qp[k] = NULL;
			n--;
		} else if (n < 14) {
			init.qpn = qpn[k];
			qp[k] = vs_qp_create(r->pd, &init, &err);
			ck_assert_ptr_nonnull(qp[k]);
			ck_assert_uint_eq(vs_qp_num(qp[k]), qpn[k]);
			n++;
		}
		for (k = 0; k < 64; k++)
			ck_assert_ptr_eq(vs_qp_find(r->dev, qpn[k]), qp[k]);
		ck_assert_ptr_eq(vs_qp_find(r->dev, vs_qp_num(r->qp)), r->qp);
	}
	rig_free(r);
}
END_TEST

/* A state of the random source (splitmix64) whose next number has these low 24 bits. */
static uint64_t state_before(struct vs_dev *dev, uint32_t low24)
{
	uint64_t keep = dev->rng, s = 0;

	for (;; s++) {
		dev->rng = s;
		if ((vs_random(dev) & 0xffffff) == low24)
			break;
	}
	dev->rng = keep;
	return s;
}

START_TEST(a_qpn_is_never_one_that_is_reserved_or_taken)
{
	static const uint32_t drawn[] = {0, 1, 0xf, 0xffffff, 0x10, 0xfffffe, 0 /* that of the rig's QP */};
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r = rig_new(&o);
	uint32_t qpn = _i == 6 ? vs_qp_num(r->qp) : drawn[_i], chosen;

	r->dev->rng = state_before(r->dev, qpn);
	chosen = vs_qpn_choose(r->dev);
	if (_i == 4 || _i == 5)
		ck_assert_uint_eq(chosen, qpn);
	else
		ck_assert(chosen != qpn && chosen >= 0x10 && chosen < 0xffffff);
	rig_free(r);
}
END_TEST

/* ---- keys ---- */

START_TEST(a_key_selects_its_slot_and_is_matched_whole)
{
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r;
	struct vs_dev *dev;
	uint32_t keys[16], n, i, bit;
	int object[16];

	o.dev.max_mr = 4;
	o.dev.max_mw = 8;
	r = rig_new(&o);
	dev = r->dev;
	ck_assert_uint_eq(dev->keys_mask, 15); /* 2 * 4 + 8 */
	for (n = 0; (keys[n] = vs_key_new(dev, VS_KEY_MW, &object[n])) != 0; n++) {
		struct vs_key_slot *s = vs_key_find(dev, keys[n]);

		ck_assert_ptr_nonnull(s);
		ck_assert_ptr_eq(s, &dev->keys[keys[n] >> 8 & 15]);
		ck_assert_ptr_eq(s, vs_key_slot_of(dev, keys[n]));
		ck_assert(s->kind == VS_KEY_MW && s->object == &object[n] && s->key == keys[n]);
		for (bit = 0; bit < 32; bit++)
			ck_assert_ptr_null(vs_key_find(dev, keys[n] ^ 1u << bit));
	}
	ck_assert_uint_eq(n, 14); /* all that the rig's region left */
	for (i = 0; i < n; i++) {
		ck_assert_ptr_eq(vs_key_find(dev, keys[i])->object, &object[i]);
		vs_key_free(dev, keys[i]);
		ck_assert_ptr_null(vs_key_find(dev, keys[i]));
		ck_assert_ptr_null(vs_key_slot_of(dev, keys[i])->object);
		ck_assert_uint_ne(keys[i] = vs_key_new(dev, VS_KEY_MW, &object[i]), 0); /* the one free slot */
	}
	for (i = 0; i < n; i++)
		vs_key_free(dev, keys[i]);
	rig_free(r);
}
END_TEST

/* The random bits of a key are all bits but those of its slot; so is the byte that windows count on. */
START_TEST(keys_look_random_in_every_bit)
{
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r;
	uint32_t ones = 0, zeros = 0, i;
	int object;

	o.dev.max_mr = 4;
	o.dev.max_mw = 8;
	r = rig_new(&o);
	for (i = 0; i < 200; i++) {
		uint32_t key = vs_key_new(r->dev, VS_KEY_MW, &object);

		ck_assert_uint_ne(key, 0);
		ones |= key;
		zeros |= ~key;
		vs_key_free(r->dev, key);
	}
	ck_assert_uint_eq(ones, 0xffffffff);
	ck_assert_uint_eq(zeros, 0xffffffff);
	rig_free(r);
}
END_TEST

START_TEST(the_key_that_died_last_in_its_slot_is_not_given_again)
{
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r = rig_new(&o);
	struct vs_dev *dev = r->dev;
	uint64_t before = dev->rng;
	uint32_t key, again, i;
	int object;

	key = vs_key_new(dev, VS_KEY_MW, &object);
	for (i = 0; i < 3; i++) {
		vs_key_free(dev, key);
		dev->rng = before; /* the same numbers are drawn */
		again = vs_key_new(dev, VS_KEY_MW, &object);
		ck_assert_uint_ne(again, key);
		ck_assert_uint_eq(again >> 8 & dev->keys_mask, key >> 8 & dev->keys_mask);
		vs_key_free(dev, again);
		dev->keys[key >> 8 & dev->keys_mask].key = key;
		ck_assert_ptr_null(vs_key_find(dev, key)); /* known, but dead */
		dev->keys[key >> 8 & dev->keys_mask].kind = VS_KEY_MW;
	}
	vs_key_free(dev, key);
	rig_free(r);
}
END_TEST

/* ---- lists ---- */

START_TEST(a_list_keeps_its_order_and_forgets_what_is_taken_out)
{
	struct vs_node head, n[4];
	unsigned i;

	vs_list_init(&head);
	ck_assert(vs_list_empty(&head));
	for (i = 0; i < 4; i++) {
		vs_list_init(&n[i]);
		ck_assert(!vs_list_linked(&n[i]));
		vs_list_add_tail(&head, &n[i]);
		ck_assert(vs_list_linked(&n[i]) && !vs_list_empty(&head));
	}
	vs_list_del(&n[1]);
	vs_list_del(&n[1]); /* twice is harmless */
	ck_assert(!vs_list_linked(&n[1]));
	ck_assert(head.next == &n[0] && n[0].next == &n[2] && n[2].next == &n[3] && n[3].next == &head);
	ck_assert(head.prev == &n[3] && n[3].prev == &n[2] && n[2].prev == &n[0] && n[0].prev == &head);
	vs_list_del(&n[3]);
	vs_list_del(&n[0]);
	vs_list_del(&n[2]);
	ck_assert(vs_list_empty(&head) && head.prev == &head);
}
END_TEST

/* ---- the random source, hashes ---- */

/* Published values of splitmix64 for seed 1234567: captures of one seed stay the same from version to version. */
START_TEST(the_random_source_is_splitmix64)
{
	static const uint64_t expected[] = {6457827717110365317ull, 3203168211198807973ull, 9817491932198370423ull,
					    4593380528125082431ull, 16408922859458223821ull};
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r = rig_new(&o);
	unsigned i;

	r->dev->rng = 1234567;
	for (i = 0; i < 5; i++)
		ck_assert_uint_eq(vs_random(r->dev), expected[i]);
	rig_free(r);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_device_and_another_seed_another)
{
	struct rig_opt o = {.stay_in_reset = true};
	struct rig *r[3];
	int i;

	for (i = 0; i < 3; i++) {
		o.dev.seed = i == 2 ? 6 : 5;
		r[i] = rig_new(&o);
	}
	ck_assert_uint_eq(vs_qp_num(r[0]->qp), vs_qp_num(r[1]->qp));
	ck_assert_uint_eq(vs_mr_lkey(r[0]->mr), vs_mr_lkey(r[1]->mr));
	ck_assert_uint_ne(vs_qp_num(r[0]->qp), vs_qp_num(r[2]->qp));
	ck_assert_uint_ne(vs_mr_rkey(r[0]->mr), vs_mr_rkey(r[2]->mr));
	for (i = 0; i < 3; i++)
		rig_free(r[i]);
}
END_TEST

/* Published values of FNV-1a, 64 bits. */
START_TEST(bytes_are_hashed_by_fnv_1a)
{
	ck_assert_uint_eq(vs_hash("", 0), 0xcbf29ce484222325ull);
	ck_assert_uint_eq(vs_hash("a", 1), 0xaf63dc4c8601ec8cull);
	ck_assert_uint_eq(vs_hash("foobar", 6), 0x85944171f73967e8ull);
}
END_TEST

/* As Linux does: rdma_calc_flow_label, rdma_flow_label_to_udp_sport. */
START_TEST(a_source_port_follows_from_the_flow_label_or_both_qpns)
{
	ck_assert_uint_eq(vs_udp_sport(1, 0, 0), 0xc001);
	ck_assert_uint_eq(vs_udp_sport(0xfffff, 5, 6), 0xc000 | (0x3fff ^ 0x3f));
	ck_assert_uint_eq(vs_udp_sport(0x4000, 5, 6), 0xc001);
	ck_assert_uint_eq(vs_udp_sport(0x3fff, 5, 6), 0xffff);
	ck_assert_uint_eq(vs_udp_sport(0, 3, 5), 0xc000 | 15);
	ck_assert_uint_eq(vs_udp_sport(0, 0x400, 0x400), 0xc001);       /* 2^20 folds down to bit 0 */
	ck_assert_uint_eq(vs_udp_sport(0, 0x800000, 0x800000), 0xc040); /* 2^46 to bit 6 */
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("core tables");
	TCase *tc = tcase_create("tables");

	tcase_add_loop_test(tc, timers_fire_in_order_whatever_was_set_and_stopped, 0, 4);
	tcase_add_test(tc, timers_that_run_survive_the_growth_of_their_heap);
	tcase_add_loop_test(tc, a_qp_is_found_by_its_number_and_no_other, 0, 4);
	tcase_add_loop_test(tc, a_qpn_is_never_one_that_is_reserved_or_taken, 0, 7);
	tcase_add_test(tc, a_key_selects_its_slot_and_is_matched_whole);
	tcase_add_test(tc, keys_look_random_in_every_bit);
	tcase_add_test(tc, the_key_that_died_last_in_its_slot_is_not_given_again);
	tcase_add_test(tc, a_list_keeps_its_order_and_forgets_what_is_taken_out);
	tcase_add_test(tc, the_random_source_is_splitmix64);
	tcase_add_test(tc, the_same_seed_gives_the_same_device_and_another_seed_another);
	tcase_add_test(tc, bytes_are_hashed_by_fnv_1a);
	tcase_add_test(tc, a_source_port_follows_from_the_flow_label_or_both_qpns);
	suite_add_tcase(s, tc);
	return s;
}
