/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * check.c - lab 05: psn_diff against arithmetic without a circle, all 2^24 distances at several places of it; on_ack
 * against an oracle that counts positions in 64 bits, over random streams of answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "requester.h"

#define CIRCLE 0x1000000
#define STREAMS 4000u
#define STEPS 60u

static bool korean;
#define T(english, ko) (korean ? (ko) : (english))

static const char *const kinds[] = {"SEND", "WRITE", "READ", "ATOMIC"};

/* ---- psn_diff ---- */

static bool differ(uint32_t a, uint32_t b, int32_t want)
{
	int32_t got = psn_diff(a, b);

	if (got == want)
		return false;
	printf(T("  claim     psn_diff(0x%06x, 0x%06x) is %d\n  instead   it is %d\n",
		 "  기대      psn_diff(0x%06x, 0x%06x)는 %d\n  실제      %d\n"),
	       a, b, want, got);
	return true;
}

/* Every distance from several places: those before the middle count up, those behind it are behind. */
static bool diff_holds(void)
{
	static const uint32_t from[] = {0, 0x7fffff, 0xfffffe};

	for (unsigned i = 0; i < sizeof(from) / sizeof(from[0]); i++)
		for (int32_t d = -CIRCLE / 2; d < CIRCLE / 2; d++)
			if (differ((from[i] + (uint32_t)d) & (CIRCLE - 1), from[i], d))
				return false;
	printf(T("  ok  psn_diff, over the whole circle\n", "  ok  psn_diff: 원 전체\n"));
	return true;
}

/* ---- on_ack ---- */

/* The same connection, with positions instead of PSNs. */
struct model {
	struct {
		enum kind kind;
		uint64_t first, last;
	} open[MAX_REQUESTS];
	unsigned n;
	uint64_t next; /* position of the next request */
};

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(seed >> 33) % n;
}

static void post(struct requester *r, struct model *m)
{
	enum kind kind = (enum kind)(draw(6) < 4 ? draw(2) : 2 + draw(2));
	uint32_t packets = kind == ATOMIC ? 1 : 1 + draw(5);

	if (m->n == MAX_REQUESTS)
		return;
	m->open[m->n].kind = kind;
	m->open[m->n].first = m->next;
	m->open[m->n].last = m->next + packets - 1;
	m->next += packets;
	r->open[r->n++] = (struct request){kind, (uint32_t)(m->open[m->n].first % CIRCLE),
					   (uint32_t)(m->open[m->n].last % CIRCLE)};
	m->n++;
}

/* What the answer at this position finishes. */
static unsigned answer(struct model *m, uint64_t at, bool response, bool *go_back)
{
	unsigned done = 0;

	if (m->n == 0 || at < m->open[0].first || at > m->open[m->n - 1].last)
		return 0;
	for (; done < m->n && m->open[done].last <= at; done++) {
		if (m->open[done].kind >= READ && !(response && m->open[done].last == at)) {
			*go_back = true;
			break;
		}
	}
	m->n -= done;
	memmove(m->open, m->open + done, m->n * sizeof(m->open[0]));
	return done;
}

static void tell(const struct requester *before, uint32_t psn, bool response, unsigned want, bool back, unsigned got,
		 bool got_back)
{
	printf(T("  claim     this answer finishes %u request(s)%s\n", "  기대      이 응답은 요청 %u개를 끝낸다%s\n"),
	       want, back ? T(", and go_back is set", ", 그리고 go_back이 켜진다") : "");
	printf(T("  instead   %u%s\n", "  실제      %u개%s\n"), got,
	       got_back != back ? (got_back ? ", go_back = 1" : ", go_back = 0") : "");
	printf(T("  the answer  %s, PSN 0x%06x\n", "  응답        %s, PSN 0x%06x\n"), response ? "response" : "ACK",
	       psn);
	for (unsigned i = 0; i < before->n && i < 8; i++)
		printf(T("  open        %-6s PSN 0x%06x .. 0x%06x\n", "  열린 요청   %-6s PSN 0x%06x .. 0x%06x\n"),
		       kinds[before->open[i].kind], before->open[i].first, before->open[i].last);
}

static bool one_answer(struct requester *r, struct model *m)
{
	struct requester before = *r;
	bool response = draw(3) == 0, back = false;
	uint64_t at = m->next - 1 - draw(24);
	unsigned want, got;

	if (draw(12) == 0)
		at = m->next + draw(100); /* never sent */
	if (response && m->n > 0)
		at = m->open[draw(m->n)].last;
	r->go_back = false;
	want = answer(m, at, response, &back);
	got = on_ack(r, (uint32_t)(at % CIRCLE), response);
	if (got == want && r->go_back == back && r->n == m->n)
		return true;
	tell(&before, (uint32_t)(at % CIRCLE), response, want, back, got, r->go_back);
	return false;
}

static bool streams_hold(void)
{
	for (unsigned s = 0; s < STREAMS; s++) {
		struct requester r = {.n = 0};
		struct model m = {.n = 0};

		m.next = (uint64_t)CIRCLE * 1000 - draw(100); /* near the wrap, mostly */
		if (draw(4) == 0)
			m.next += draw(CIRCLE);
		for (unsigned i = 0; i < STEPS; i++) {
			if (draw(2) == 0)
				post(&r, &m);
			else if (!one_answer(&r, &m))
				return false;
		}
	}
	printf(T("  ok  on_ack, %u random streams\n", "  ok  on_ack: 무작위 스트림 %u개\n"), STREAMS);
	return true;
}

/* What the questions are about. */
static void numbers(void)
{
	struct requester ten = {.n = 0}, mixed = {.n = 0};

	for (unsigned i = 0; i < 10; i++)
		ten.open[ten.n++] = (struct request){SEND, 0xfffffb + i > 0xffffff ? i - 5 : 0xfffffb + i,
						     0xfffffb + i > 0xffffff ? i - 5 : 0xfffffb + i};
	printf("wrap: %d\n", psn_diff(2, 0xfffffd));
	printf("half: %d\n", psn_diff(0x800000, 0));
	printf("one_ack: %u\n", on_ack(&ten, 4, false));
	mixed.open[0] = (struct request){SEND, 10, 10};
	mixed.open[1] = (struct request){WRITE, 11, 13};
	mixed.open[2] = (struct request){READ, 14, 15};
	mixed.n = 3;
	printf("response: %u\n", on_ack(&mixed, 15, true));
	mixed.open[0] = (struct request){SEND, 16, 16};
	mixed.open[1] = (struct request){READ, 17, 18};
	mixed.open[2] = (struct request){SEND, 19, 19};
	mixed.n = 3;
	printf("beyond: %u\n", on_ack(&mixed, 19, false));
}

int main(int argc, char **argv)
{
	const char *lang = getenv("VS_LAB_LANG");

	korean = lang != NULL && strcmp(lang, "ko") == 0;
	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	if (!diff_holds() || !streams_hold())
		return 1;
	numbers();
	return 0;
}
