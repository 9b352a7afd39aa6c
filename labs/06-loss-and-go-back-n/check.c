/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * check.c - lab 06: the requester on a wire that loses what the test says, to a responder that answers as one does:
 * in order, an ACK for each packet and for each repeated one, one NAK for a gap. Then call by call against a model
 * that counts positions in 64 bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "requester.h"

#define CIRCLE 0x1000000
#define PACKETS 8u
#define LINES 96u
#define NONE 0xffffffffu

static bool korean;
#define T(english, ko) (korean ? (ko) : (english))

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- a wire, and who listens at its other end ---- */

enum what { DATA, ACK, NAK, TIMER };
struct line {
	enum what what;
	uint32_t psn;
	bool lost;
};
struct wire {
	struct requester r;
	uint32_t first;       /* PSN of the message */
	unsigned window;      /* packets on their way before an answer is there */
	uint32_t lose_data;   /* the position of the packet whose first transmission gets lost; NONE */
	uint32_t lose_ack;    /* the same of its ACK */
	bool lose_each, deaf; /* the first transmission of every packet; all of them */
	uint32_t expected;    /* by the responder */
	bool nak_sent;
	bool seen[PACKETS]; /* it has been transmitted once */
	bool answered[PACKETS];
	struct line log[LINES];
	unsigned n;
};

static void note(struct wire *w, enum what what, uint32_t psn, bool lost)
{
	if (w->n < LINES)
		w->log[w->n++] = (struct line){what, psn, lost};
}

static uint32_t position(const struct wire *w, uint32_t psn)
{
	return (psn - w->first) & (CIRCLE - 1);
}

/* The packet has arrived. False: there is no answer. */
static bool respond(struct wire *w, uint32_t psn, enum what *what, uint32_t *named)
{
	if (psn == w->expected) {
		w->expected = (w->expected + 1) & (CIRCLE - 1);
		w->nak_sent = false;
	} else if (position(w, psn) > position(w, w->expected)) {
		if (w->nak_sent)
			return false;
		w->nak_sent = true;
		*what = NAK;
		*named = w->expected;
		return true;
	}
	*what = ACK;
	*named = (w->expected - 1) & (CIRCLE - 1);
	return true;
}

/* One packet to the other side; what it answers, kept until all of the window is sent. */
static void carry(struct wire *w, uint32_t psn, struct line *answer, unsigned *answers)
{
	uint32_t at = position(w, psn);
	bool again = at < PACKETS && w->seen[at];
	bool lost = w->deaf || (!again && (w->lose_each || at == w->lose_data));
	struct line a = {ACK, 0, false};

	if (at < PACKETS)
		w->seen[at] = true;
	note(w, DATA, psn, lost);
	if (lost || !respond(w, psn, &a.what, &a.psn))
		return;
	at = position(w, a.psn);
	a.lost = a.what == ACK && at == w->lose_ack && at < PACKETS && !w->answered[at];
	if (a.what == ACK && at < PACKETS)
		w->answered[at] = true;
	answer[(*answers)++] = a;
}

/* Until it is over, or nothing happens any more. */
static void run(struct wire *w)
{
	struct line answer[PACKETS];
	unsigned idle = 0;

	while (w->r.status == RUNNING && w->n + PACKETS + 4 < LINES && idle < 3) {
		unsigned answers = 0, sent = 0;
		uint32_t psn;

		while (psn_diff(w->r.next, w->r.una) < (int32_t)w->window && sent < PACKETS && transmit(&w->r, &psn)) {
			carry(w, psn, answer, &answers);
			sent++;
		}
		for (unsigned i = 0; i < answers; i++) {
			note(w, answer[i].what, answer[i].psn, answer[i].lost);
			if (!answer[i].lost && answer[i].what == ACK)
				on_ack(&w->r, answer[i].psn);
			else if (!answer[i].lost)
				on_nak(&w->r, answer[i].psn);
		}
		idle = sent > 0 ? 0 : idle + 1;
		if (sent == 0 && w->r.status == RUNNING) {
			note(w, TIMER, 0, false);
			on_timeout(&w->r);
		}
	}
}

static struct wire message(uint32_t first, unsigned retry_cnt, unsigned window)
{
	struct wire w = {.first = first, .window = window, .lose_data = NONE, .lose_ack = NONE, .expected = first};

	w.r = (struct requester){.una = first,
				 .next = first,
				 .sent = first,
				 .end = (first + PACKETS) & (CIRCLE - 1),
				 .retry_cnt = retry_cnt,
				 .left = retry_cnt,
				 .status = RUNNING};
	return w;
}

/* ---- what is said of it ---- */

static void draw_ladder(const struct wire *w)
{
	printf("       A                                   B\n");
	for (unsigned i = 0; i < w->n && i < 40; i++) {
		const struct line *l = &w->log[i];
		const char *lost = l->lost ? T("  lost", "  손실") : "";

		switch (l->what) {
		case DATA:
			printf("       |------- %06x (%u) %s|%s\n", l->psn, position(w, l->psn) + 1,
			       l->lost ? "--------x       " : "--------------->", lost);
			break;
		case TIMER:
			printf("       |  %s\n", T("time-out", "타임아웃"));
			break;
		default:
			printf("       |%s %s %06x ----------------|%s\n", l->lost ? "      x" : "<------",
			       l->what == ACK ? "ACK" : "NAK", l->psn, lost);
		}
	}
	printf("       %s %d\n", T("A: status", "A: 상태"), w->r.status);
}

/* The PSNs that went out, as positions from 1: first all, then the repeats. */
static void list(char out[160], const uint32_t *at, unsigned n)
{
	size_t len = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < n && len + 8 < 160; i++)
		len += (size_t)snprintf(out + len, 160 - len, "%s%u", i > 0 ? " " : "", at[i] + 1);
	if (n == 0)
		(void)snprintf(out, 160, "%s", T("nothing", "없음"));
}

static unsigned repeats(const struct wire *w, uint32_t at[LINES])
{
	bool seen[PACKETS] = {false};
	unsigned n = 0;

	for (unsigned i = 0; i < w->n; i++) {
		uint32_t p = position(w, w->log[i].psn);

		if (w->log[i].what != DATA || p >= PACKETS)
			continue;
		if (seen[p])
			at[n++] = p;
		seen[p] = true;
	}
	return n;
}

/* What goes out again is from `from` on; only the loss of the last packet, or of its ACK, costs a time-out. */
static bool repeated(const struct wire *w, const char *what, uint32_t from, unsigned timers)
{
	uint32_t want[PACKETS] = {0}, got[LINES];
	unsigned wanted = 0, n = repeats(w, got), fired = 0;
	char a[160], b[160];

	for (uint32_t p = from; p < PACKETS; p++)
		want[wanted++] = p;
	for (unsigned i = 0; i < w->n; i++)
		fired += w->log[i].what == TIMER;
	if (n == wanted && memcmp(got, want, n * sizeof(got[0])) == 0 && fired == timers && w->r.status == SUCCESS)
		return true;
	list(a, want, wanted);
	list(b, got, n);
	printf(T("  claim     %s: sent again: %s; time-outs: %u; status 0\n"
		 "  instead   sent again: %s; time-outs: %u; status %d\n",
		 "  기대      %s: 다시 보내는 것: %s, 타임아웃 %u번, 상태 0\n"
		 "  실제      다시 보낸 것: %s, 타임아웃 %u번, 상태 %d\n"),
	       what, a, timers, b, fired, w->r.status);
	draw_ladder(w);
	return false;
}

/* All positions, data and ACK; A sends all it has before the first answer arrives. */
static bool positions_hold(uint32_t first)
{
	char what[96];

	for (unsigned ack = 0; ack < 2; ack++)
		for (uint32_t k = 0; k < PACKETS; k++) {
			struct wire w = message(first, 3, PACKETS);

			*(ack ? &w.lose_ack : &w.lose_data) = k;
			run(&w);
			(void)snprintf(
				what, sizeof(what),
				ack ? T("the ACK of packet %u of 8 is lost", "8개 중 %u번 패킷의 ACK이 손실되었다")
				    : T("packet %u of 8 is lost", "8개 중 %u번 패킷이 손실되었다"),
				k + 1);
			if (!repeated(&w, what, ack && k + 1 < PACKETS ? PACKETS : k, k + 1 == PACKETS))
				return false;
		}
	printf(T("  ok  a loss at each of 8 positions, of data and of ACKs: exactly the right PSNs go out again\n",
		 "  ok  8개 위치마다 데이터와 ACK 손실: 정확히 맞는 PSN만 다시 나간다\n"));
	return true;
}

/* Nobody answers: 1 + retry_cnt tries, then status 12. */
static bool silence_holds(uint32_t first)
{
	for (unsigned retry = 0; retry < 8; retry++) {
		struct wire w = message(first, retry, 1);
		unsigned tries = 0;

		w.deaf = true;
		w.r.end = psn_next(first);
		run(&w);
		for (unsigned i = 0; i < w.n; i++)
			tries += w.log[i].what == DATA;
		if (tries == 1 + retry && w.r.status == RETRY_EXC_ERR)
			continue;
		printf(T("  claim     nobody answers, retry_cnt %u: %u tries, then status 12\n"
			 "  instead   %u tries, status %d\n",
			 "  기대      아무도 답하지 않고 retry_cnt가 %u이면: %u번 보내고 상태 12\n"
			 "  실제      %u번, 상태 %d\n"),
		       retry, 1 + retry, tries, w.r.status);
		draw_ladder(&w);
		return false;
	}
	printf(T("  ok  1 + retry_cnt tries, then status 12\n", "  ok  1 + retry_cnt번 보내고 상태 12\n"));
	return true;
}

/* Every packet gets lost once, and each time the message gets on. */
static bool progress_holds(uint32_t first)
{
	struct wire w = message(first, 1, 1);

	w.lose_each = true;
	run(&w);
	if (w.r.status == SUCCESS) {
		printf(T("  ok  progress gives all retries back\n", "  ok  진전이 있으면 재시도 횟수가 다시 찬다\n"));
		return true;
	}
	printf(T("  claim     every packet is lost once, retry_cnt 1: each time the message gets on, so status 0\n"
		 "  instead   status %d\n",
		 "  기대      모든 패킷이 한 번씩 손실되고 retry_cnt가 1이다: 매번 진전이 있으므로 상태 0\n"
		 "  실제      상태 %d\n"),
	       w.r.status);
	draw_ladder(&w);
	return false;
}

/* ---- call by call ---- */

struct model {
	uint64_t una, next, sent, end;
	unsigned retry_cnt, left;
	enum status status;
};

static void model_back(struct model *m, uint64_t to)
{
	if (m->left == 0) {
		m->status = RETRY_EXC_ERR;
	} else {
		m->left--;
		m->next = to;
	}
}

static void model_call(struct model *m, unsigned call, uint64_t at)
{
	uint64_t una = m->una;

	if (m->status != RUNNING)
		return;
	if (call == 3) {
		if (m->una < m->sent)
			model_back(m, m->una);
		return;
	}
	if (call == 0) {
		m->next += m->next < m->end;
		m->sent = m->next > m->sent ? m->next : m->sent;
		return;
	}
	if (at < m->una || at >= m->sent)
		return;
	m->una = call == 1 ? at + 1 : at;
	m->next = m->next > m->una ? m->next : m->una;
	m->left = m->una > una ? m->retry_cnt : m->left;
	if (m->una == m->end)
		m->status = SUCCESS;
	if (call == 2)
		model_back(m, at);
}

static bool same(const struct requester *r, const struct model *m)
{
	return r->una == m->una % CIRCLE && r->next == m->next % CIRCLE && r->left == m->left && r->status == m->status;
}

static bool call_holds(struct requester *r, struct model *m)
{
	static const char *const names[] = {"transmit", "on_ack", "on_nak", "on_timeout"};
	const struct requester before = *r;
	unsigned call = draw(8) < 4 ? 0 : 1 + draw(3);
	uint64_t at = m->una + draw(9) - (draw(4) == 0 ? 4 : 0);
	uint32_t psn = (uint32_t)(at % CIRCLE), out;

	if (draw(40) == 0)
		psn = (uint32_t)((at += CIRCLE / 2 - 100) % CIRCLE); /* never sent */
	model_call(m, call, at);
	if (call == 0)
		(void)transmit(r, &out);
	else if (call == 3)
		on_timeout(r);
	else
		(call == 1 ? on_ack : on_nak)(r, psn);
	if (same(r, m))
		return true;
	printf(T("  claim     after it: una %06x next %06x left %u status %d\n",
		 "  기대      호출 뒤: una %06x next %06x left %u status %d\n"),
	       (uint32_t)(m->una % CIRCLE), (uint32_t)(m->next % CIRCLE), m->left, m->status);
	printf(T("  instead            una %06x next %06x left %u status %d\n",
		 "  실제               una %06x next %06x left %u status %d\n"),
	       r->una, r->next, r->left, r->status);
	printf(T("  the call  %s", "  호출      %s"), names[call]);
	if (call == 1 || call == 2)
		printf(T(", PSN %06x", ", PSN %06x"), psn);
	printf(T("\n  before    una %06x next %06x sent %06x end %06x left %u of %u\n",
		 "\n  호출 전   una %06x next %06x sent %06x end %06x left %u / %u\n"),
	       before.una, before.next, before.sent, before.end, before.left, before.retry_cnt);
	return false;
}

static bool calls_hold(void)
{
	for (unsigned s = 0; s < 3000; s++) {
		uint64_t first = (uint64_t)CIRCLE * 1000 - draw(40);
		struct model m = {first, first, first, first + 1 + draw(20), draw(8), 0, RUNNING};
		struct wire w = message((uint32_t)(first % CIRCLE), m.retry_cnt, PACKETS);

		m.left = m.retry_cnt;
		w.r.end = (uint32_t)(m.end % CIRCLE);
		for (unsigned i = 0; i < 60; i++)
			if (!call_holds(&w.r, &m))
				return false;
	}
	printf(T("  ok  3000 random streams of answers: late ones, old ones, some that nobody can mean\n",
		 "  ok  무작위 응답 스트림 3000개: 늦은 것, 오래된 것, 있을 수 없는 것까지\n"));
	return true;
}

int main(int argc, char **argv)
{
	const char *lang = getenv("VS_LAB_LANG");
	uint32_t first;

	korean = lang != NULL && strcmp(lang, "ko") == 0;
	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	first = (CIRCLE - 1 - draw(6)) & (CIRCLE - 1); /* the message crosses the wrap */
	return positions_hold(first) && silence_holds(first) && progress_holds(first) && calls_hold() ? 0 : 1;
}
