/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 14: a scoreboard. What was posted says what has to happen; what happens is held against that. scoreboard.h has
 * the events, and what may be assumed.
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
	uint32_t at = position(r, e->psn), k, len = 0;
	const struct request *q = owner(r, at);

	if (q == NULL) {
		wrong("a request with PSN 0x%06x, which was given to none", e->psn);
		return;
	}
	k = at - q->at;
	if (q->post.op <= WRITE)
		len = k + 1 < q->packets ? r->mtu : q->post.len - k * r->mtu;
	if (e->opcode != opcode_of(q, k) || e->len != len)
		wrong("PSN 0x%06x is opcode 0x%02x with %u bytes, not 0x%02x with %u", e->psn, e->opcode, e->len,
		      opcode_of(q, k), len);
	else if (len > 0 && memcmp(e->bytes, q->post.bytes + k * r->mtu, len) != 0)
		wrong("PSN 0x%06x carries other bytes than were posted", e->psn);
	if (e->t < r->wait_until)
		wrong("a request %llu ns before the RNR wait is over", (unsigned long long)(r->wait_until - e->t));
	r->tried += at == r->oldest;
	if (at >= r->sent)
		r->sent = q->post.op == READ ? q->at + q->packets : at + 1;
}

/* ---- TODO(2): what the other side answers ---- */

static void answer_sent(struct requester *r, const struct event *e)
{
	uint32_t at = position(r, e->psn), k;
	const struct request *q = owner(r, at);

	if (q == NULL) {
		wrong("an answer to PSN 0x%06x, which nobody has sent", e->psn);
		return;
	}
	k = at - q->at;
	if (e->opcode == ACKNOWLEDGE && e->syndrome == 0x60) {
		if (r->furthest <= at + 1)
			wrong("NAK for PSN 0x%06x, but nothing behind it has arrived", e->psn);
	} else if (e->opcode == ACKNOWLEDGE) {
		if (!r->arrived[at])
			wrong("PSN 0x%06x is acknowledged, and has not arrived", e->psn);
	} else if (e->opcode == ATOMIC_ACKNOWLEDGE) {
		if (e->orig != q->orig)
			wrong("the atomic at PSN 0x%06x found %llu, not %llu", e->psn, (unsigned long long)e->orig,
			      (unsigned long long)q->orig);
	} else if (q->post.op != READ ||
		   memcmp(e->bytes, r->kept[CONSTANTS].bytes + q->post.to + k * r->mtu, e->len) != 0) {
		wrong("the READ at PSN 0x%06x brings other bytes than are there", e->psn);
	}
}

/* ---- TODO(3): completions ---- */

static bool legal(struct requester *r, const struct request *q, const struct event *e)
{
	bool fails = must_fail(r, q);

	switch (e->status) {
	case SUCCESS:
		return !fails;
	case REM_ACCESS_ERR:
		return fails && q->post.op != SEND;
	case REM_INV_REQ_ERR:
		return fails && q->post.op == SEND;
	case RETRY_EXC_ERR:
		return r->tried >= r->retry_cnt;
	default:
		return e->status == WR_FLUSH_ERR;
	}
}

static void completed(struct requester *r, const struct event *e)
{
	uint32_t i = r->done;

	/* Without a completion of their own are those alone that were unsignaled and well. */
	while (i < r->n && r->q[i].post.wr_id != e->wr_id && !r->q[i].post.signaled && !r->flushed &&
	       !must_fail(r, &r->q[i]))
		r->q[i++].good = true;
	if (i >= r->n || r->q[i].post.wr_id != e->wr_id) {
		wrong("wr_id %llu completes, but wr_id %llu is next", (unsigned long long)e->wr_id,
		      (unsigned long long)(i < r->n ? r->q[i].post.wr_id : 0));
		return;
	}
	if (!legal(r, &r->q[i], e))
		wrong("wr_id %llu completes with status %u", (unsigned long long)e->wr_id, e->status);
	if (r->flushed && e->status != WR_FLUSH_ERR)
		wrong("wr_id %llu has status %u behind a failure", (unsigned long long)e->wr_id, e->status);
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

static void received(struct requester *r, struct requester *here, const struct event *e)
{
	const struct request *q = send_number(r, r->received);

	if (r->recv_done >= r->n_recv || r->recv_id[r->recv_done] != e->wr_id) {
		wrong("receive %llu completes out of order", (unsigned long long)e->wr_id);
		return;
	}
	r->recv_done++;
	here->has_cause |= e->status == LOC_LEN_ERR;
	here->gone |= e->status != SUCCESS;
	if (e->status == WR_FLUSH_ERR)
		return;
	if (q == NULL || !r->arrived[q->at + q->packets - 1])
		wrong("receive %llu completes, but no SEND has arrived for it", (unsigned long long)e->wr_id);
	else if (must_fail(r, q) != (e->status == LOC_LEN_ERR) || (e->status == SUCCESS && e->len != q->post.len))
		wrong("receive %llu has status %u and %u bytes; the SEND has %u", (unsigned long long)e->wr_id,
		      e->status, e->len, q->post.len);
	r->received += e->status == SUCCESS;
}

/* ---- TODO(4): memory, and what has to be there at the end ---- */

/* All bytes as they were, but where a WRITE went. */
static void slots(struct requester *r, const struct event *e)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i <= r->n && from <= e->len; i++) {
		const struct request *q = i < r->n ? &r->q[i] : NULL;
		uint32_t to = q != NULL ? (uint32_t)q->post.to : e->len;

		if (q != NULL && (q->post.op != WRITE || must_fail(r, q)))
			continue;
		if (memcmp(e->bytes + from, r->kept[SLOTS].bytes + from, to - from) != 0)
			wrong("memory between %u and %u has changed, where nothing was written", from, to);
		for (uint32_t k = 0; q != NULL && k < q->post.len; k++) {
			bool is = e->bytes[to + k] == q->post.bytes[k];

			if (q->good ? !is : !is && e->bytes[to + k] != r->kept[SLOTS].bytes[to + k]) {
				wrong("byte %u of the WRITE with wr_id %llu is not what was written", k,
				      (unsigned long long)q->post.wr_id);
				return;
			}
		}
		from = q != NULL ? to + q->post.len : from;
	}
}

static void receives(struct requester *r, const struct event *e)
{
	for (uint32_t k = 0; k < r->received; k++) {
		const struct request *q = send_number(r, k);

		if (q != NULL && memcmp(e->bytes + k * 832, q->post.bytes, q->post.len) != 0)
			wrong("the SEND with wr_id %llu has arrived with other bytes",
			      (unsigned long long)q->post.wr_id);
	}
}

static void results(struct requester *r, const struct event *e)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct request *q = &r->q[i];
		const void *want = q->post.op == READ ? r->kept[CONSTANTS].bytes + q->post.to : (const void *)&q->orig;

		if (q->good && has_answer(q) && memcmp(e->bytes + q->post.result, want, q->post.len) != 0)
			wrong("wr_id %llu has brought other bytes than were there", (unsigned long long)q->post.wr_id);
	}
}

/* As after so many atomics as were executed: all that completed, and of the others in their order. */
static void counters(struct requester *r, const struct event *e)
{
	uint64_t is[8];
	uint32_t changed = r->n;

	memcpy(is, e->bytes, sizeof(is));
	while (changed > 0 && !r->q[changed - 1].good)
		changed--;
	for (uint32_t c = 0; c < 8; c++) {
		bool fits = is[c] == r->counter[c];

		for (uint32_t i = changed; i < r->n && !fits; i++)
			fits = r->q[i].post.op >= FETCH_ADD && r->q[i].post.to / 8 == c && is[c] == r->q[i].orig;
		if (!fits)
			wrong("counter %u is %llu, not %llu", c, (unsigned long long)is[c],
			      (unsigned long long)r->counter[c]);
	}
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

static void over(struct requester *r)
{
	uint32_t sends = 0;

	if (r->done < r->n)
		wrong("wr_id %llu never completes", (unsigned long long)r->q[r->done].post.wr_id);
	if ((r->flushed || r->gone) && !r->has_cause)
		wrong("requests are flushed, and nothing has failed here");
	for (uint32_t i = 0; i < r->n; i++)
		sends += r->q[i].post.op == SEND && r->q[i].good;
	if (sends > r->received)
		wrong("%u SENDs completed with success, %u have arrived", sends, r->received);
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

bool copied(struct path *p)
{
	const struct dma *log;
	bool read = false, elsewhere = false;
	unsigned n;

	memset(path_buffer(p), 0x11, PATH_BYTES);
	path_guard(p);
	path_post(p);
	memset(path_buffer(p), 0x22, PATH_BYTES); /* (a) */
	path_transmit(p);
	n = path_dma(p, &log);
	for (unsigned i = 0; i < n; i++) {
		read |= !log[i].write;
		elsewhere |= log[i].write && log[i].addr != path_arrived(p);
	}
	return path_arrived(p)[0] != 0x22 /* (a), (d): what leaves is what was there at the post */
	       || path_touched(p)         /* (c): software was in the staging area */
	       || !read || elsewhere;     /* (b): the device never read it, or did not write it where it is now */
}
