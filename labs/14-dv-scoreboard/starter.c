/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 14: a scoreboard. What was posted says what has to happen; what happens is held against that. scoreboard.h has
 * the events, and what may be assumed. The model is here; what is missing are the checks: TODO(1) to TODO(5).
 */
#include "scoreboard.h"

#include <string.h>

#include "paths.h"

#define MOST 64u
#define CIRCLE 0x1000000u

struct request {
	struct event post;
	uint32_t at, packets; /* its PSNs, counted from the first of the requester: at .. at + packets - 1 */
	uint64_t orig;        /* atomics: the value that it finds */
	bool good;            /* completed with success, told or not */
};
struct requester {
	uint32_t psn, mtu, retry_cnt;
	struct request q[MOST];
	uint32_t n, done, psns; /* requests posted and completed, PSNs assigned */
	uint32_t oldest, sent,
		tried;          /* the first PSN not acknowledged, sent so far, times that the oldest was sent since */
	uint64_t wait_until;    /* RNR */
	bool arrived[MOST * 4]; /* PSNs at the other side */
	uint32_t furthest;      /* one more than the furthest that arrived */
	uint64_t recv_id[MOST], recv_len[MOST];
	uint32_t n_recv, recv_done, received; /* posted for it, completed, with success */
	struct event kept[REGIONS];
	uint64_t counter[8];
	bool flushed, gone, has_cause; /* a request failed; a receive did; something is known that explains it */
};
static struct requester all[4];

/* ---- the model: what is posted, and what follows ---- */

void begin(void)
{
	memset(all, 0, sizeof(all));
}

/* A PSN as a number that does not wrap: how many behind the first one of the requester. */
static uint32_t position(const struct requester *r, uint32_t psn)
{
	return (psn - r->psn) & (CIRCLE - 1);
}

static struct request *owner(struct requester *r, uint32_t at)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (at - r->q[i].at < r->q[i].packets)
			return &r->q[i];
	return NULL;
}

/* Only its own answer completes it. */
static bool has_answer(const struct request *q)
{
	return q->post.op >= READ;
}

static bool must_fail(const struct requester *r, const struct request *q)
{
	uint32_t k = 0;

	if (q->post.bad_key || (q->post.op == WRITE && q->post.to + q->post.len > r->kept[SLOTS].size))
		return true;
	for (uint32_t i = 0; i < r->n && &r->q[i] != q; i++)
		k += r->q[i].post.op == SEND;
	return q->post.op == SEND && k < r->n_recv && q->post.len > r->recv_len[k];
}

static void posted(struct requester *r, const struct event *e)
{
	struct request *q = &r->q[r->n++];
	uint64_t operand[2], *c = &r->counter[e->to / 8 % 8];

	*q = (struct request){.post = *e, .at = r->psns, .packets = 1};
	if (e->op <= READ && e->len > r->mtu)
		q->packets = (e->len + r->mtu - 1) / r->mtu;
	r->psns += q->packets;
	if (e->op < FETCH_ADD)
		return;
	memcpy(operand, e->bytes, sizeof(operand));
	q->orig = *c;
	if (e->op == FETCH_ADD)
		*c += operand[0];
	else if (*c == operand[0])
		*c = operand[1];
}

/* An answer for position `at` has reached the requester: what is acknowledged by it. */
static void acknowledge(struct requester *r, uint32_t at, bool data)
{
	uint32_t before = r->oldest;
	const struct request *q;

	while (r->oldest <= at && r->oldest < r->sent && (q = owner(r, r->oldest)) != NULL) {
		uint32_t end = q->at + q->packets;

		if (has_answer(q)) {
			if (!data || at != r->oldest)
				break;
			r->oldest++;
			break;
		}
		if (data && at < end)
			break;
		r->oldest = at < end ? at + 1 : end;
	}
	if (r->oldest != before)
		r->tried = 0;
}

static void answer_came(struct requester *r, const struct event *e)
{
	uint32_t at = position(r, e->psn);
	bool rnr = e->opcode == ACKNOWLEDGE && (e->syndrome & 0x60) == 0x20;

	if (at < r->oldest || at >= r->sent)
		return; /* old news */
	if (e->opcode != ACKNOWLEDGE || e->syndrome < 0x20) {
		acknowledge(r, at, e->opcode != ACKNOWLEDGE);
		return;
	}
	if (at > 0)
		acknowledge(r, at - 1, false);
	/* It speaks of the oldest one, unless a READ or an atomic before it has lost its answer. */
	if (rnr && r->oldest == at && e->t >= r->wait_until)
		r->wait_until = e->t + rnr_wait(e->syndrome & 0x1f);
}

/* ---- TODO(1): request packets ---- */

/*
 * Which PSN belongs to which request says owner(); packet k of it has an opcode and a length that follow from the
 * request, and the bytes that were posted. Nothing is sent before r->wait_until. opcode_of() says which opcode.
 */
static uint32_t opcode_of(const struct request *q, uint32_t k)
{
	bool first = k == 0, last = k + 1 == q->packets;
	uint32_t base = q->post.op == SEND ? SEND_FIRST : WRITE_FIRST;

	if (q->post.op >= READ)
		return q->post.op == READ        ? READ_REQUEST
		       : q->post.op == FETCH_ADD ? FETCH_ADD_REQUEST
						 : CMP_SWAP_REQUEST;
	return base + (first && last ? 4 : first ? 0 : last ? 2 : 1);
}

static void request_sent(struct requester *r, const struct event *e)
{
	uint32_t at = position(r, e->psn);
	const struct request *q = owner(r, at);

	if (q == NULL)
		return;
	(void)opcode_of(q, at - q->at); /* TODO(1): hold e against q */
	r->tried += at == r->oldest;
	if (at >= r->sent)
		r->sent = q->post.op == READ ? q->at + q->packets : at + 1;
}

/* ---- TODO(2): what the other side answers ---- */

/*
 * An ACK speaks of a PSN that has arrived (r->arrived). A NAK with syndrome 0x60 says that something is missing: then
 * something behind it must have arrived (r->furthest). An atomic brings what it found (q->orig), a READ what is there
 * (r->kept[CONSTANTS]).
 */
static void answer_sent(struct requester *r, const struct event *e)
{
	(void)r;
	(void)e;
}

/* ---- TODO(3): completions ---- */

/* Is this status one that q may have? must_fail() says which have to fail; RETRY_EXC_ERR takes r->tried >=
 * r->retry_cnt. */
static bool legal(struct requester *r, const struct request *q, const struct event *e)
{
	(void)r;
	(void)q;
	(void)e;
	return true;
}

static void completed(struct requester *r, const struct event *e)
{
	uint32_t i = r->done;

	/* TODO(3): in order. Without a completion of their own are those alone that were unsignaled and well. */
	while (i < r->n && r->q[i].post.wr_id != e->wr_id)
		r->q[i++].good = true;
	if (i >= r->n)
		return;
	if (!legal(r, &r->q[i], e))
		wrong("wr_id %llu completes with status %u", (unsigned long long)e->wr_id, e->status);
	r->q[i].good = e->status == SUCCESS;
	r->flushed |= e->status != SUCCESS;
	r->has_cause |= e->status != SUCCESS && e->status != WR_FLUSH_ERR;
	r->done = i + 1;
}

/* The k-th SEND of r. */
static const struct request *send_number(const struct requester *r, uint32_t k)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->q[i].post.op == SEND && k-- == 0)
			return &r->q[i];
	return NULL;
}

/* A receive that was posted for r has completed; `here` is the end that has posted it. */
static void received(struct requester *r, struct requester *here, const struct event *e)
{
	r->recv_done++;
	here->has_cause |= e->status == LOC_LEN_ERR;
	here->gone |= e->status != SUCCESS;
	if (e->status == WR_FLUSH_ERR)
		return;
	(void)send_number(r, r->received); /* TODO(3): has it arrived, and as long as that? */
	r->received += e->status == SUCCESS;
}

/* ---- TODO(4): memory, and what has to be there at the end ---- */

/* e->bytes are those of the region now, r->kept[e->region].bytes those of before; q->good says who completed with
 * success. */
static void slots(struct requester *r, const struct event *e)
{
	(void)r;
	(void)e;
}

static void receives(struct requester *r, const struct event *e)
{
	(void)r;
	(void)e;
}

static void results(struct requester *r, const struct event *e)
{
	(void)r;
	(void)e;
}

static void counters(struct requester *r, const struct event *e)
{
	(void)r;
	(void)e;
}

static void final(struct requester *r, const struct event *e)
{
	/* Whoever is unsignaled and well needs no completion; now it is clear who that is. */
	while (!r->flushed && r->done < r->n && !r->q[r->done].post.signaled && !must_fail(r, &r->q[r->done]))
		r->q[r->done++].good = true;
	if (e->region == SLOTS)
		slots(r, e);
	else if (e->region == COUNTERS)
		counters(r, e);
	else if (e->region == RECEIVES)
		receives(r, e);
	else if (e->region == RESULTS)
		results(r, e);
	else if (memcmp(e->bytes, r->kept[CONSTANTS].bytes, e->len) != 0)
		wrong("a constant has changed");
}

/* TODO(4): what was posted has completed; who flushes has a cause; a SEND that completed with success has arrived. */
static void over(struct requester *r)
{
	(void)r;
}

/* ---- who is told what ---- */

void event(const struct event *e)
{
	struct requester *here = &all[e->who], *there = &all[e->who ^ 1];
	uint32_t at;

	switch (e->what) {
	case QP:
		here->psn = e->psn;
		here->mtu = e->mtu;
		here->retry_cnt = e->retry_cnt;
		break;
	case MEMORY:
		here->kept[e->region] = *e;
		break;
	case POST_SEND:
		posted(here, e);
		break;
	case POST_RECV: /* for the requester at the other end */
		there->recv_len[there->n_recv] = e->len;
		there->recv_id[there->n_recv++] = e->wr_id;
		break;
	case TX:
		if (is_answer(e))
			answer_sent(there, e);
		else
			request_sent(here, e);
		if (e->opcode == ACKNOWLEDGE && e->syndrome > 0x60)
			here->has_cause = true; /* it refuses, and takes its own end down */
		break;
	case RX:
		at = position(is_answer(e) ? here : there, e->psn);
		if (is_answer(e)) {
			answer_came(here, e);
		} else if (at < MOST * 4) {
			there->arrived[at] = true;
			there->furthest = at + 1 > there->furthest ? at + 1 : there->furthest;
		}
		break;
	case CQE:
		if (e->op == RECV)
			received(there, here, e);
		else
			completed(here, e);
		break;
	case FINAL:
		final(here, e);
		break;
	default:
		break;
	}
}

void end(void)
{
	for (uint32_t who = 0; who < 4; who++)
		over(&all[who]);
}

/* ---- TODO(5): has software copied the data? ---- */

/* paths.h has what you can do with a path. */
bool copied(struct path *p)
{
	const struct dma *log;

	memset(path_buffer(p), 0x11, PATH_BYTES);
	path_post(p);
	path_transmit(p);
	return path_dma(p, &log) > 0 && log[0].addr != path_buffer(p); /* TODO(5): what do pointers prove? */
}
