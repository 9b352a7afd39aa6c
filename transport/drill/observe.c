/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * observe.c - does what a statement expects hold? And what is left over at the end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "vs/psn.h"

#include "run.h"

#define DEFAULT_NS UINT64_C(1000000000)
/* How long a run that has failed looks whether what did not come in time comes later. */
#define MIN_GRACE_NS UINT64_C(100000000)
#define MAX_GRACE_NS UINT64_C(10000000000)

uint32_t dr_items(struct run *r, const struct stmt *st)
{
	const struct option *o;
	uint64_t a, b;

	switch (st->kind) {
	case S_RECEIVE:
		return dr_receive_count(r, st);
	case S_CQE:
		if (!dr_value(r, st, K_COUNT, 1, MAX_SEEN, &a))
			return 1;
		o = dr_opt(st, K_WR);
		if (o == NULL || o->v.e2 == NULL)
			return a == 0 ? 1 : (uint32_t)a;
		if (!dr_eval(r, st, o->v.e, &a) || !dr_eval(r, st, o->v.e2, &b))
			return 1;
		if (b >= a && b - a < MAX_WR)
			return (uint32_t)(b - a) + 1;
		dr_broken(r, st, o->column, "the range ends before it begins, or has more than %u numbers", MAX_WR);
		return 1;
	case S_NOTHING:
	case S_NO_CQE:
	case S_ASYNC:
	case S_NO_ASYNC:
	case S_STATE:
	case S_COUNTER:
	case S_EXPECT:
	case S_QUERY:
	case S_COMP_EVENT:
	case S_NO_COMP_EVENT:
	case S_CM_EVENT:
	case S_NO_CM_EVENT:
	case S_WAIT:
	case S_WAIT_IDLE:
	case S_CALL:
	case S_COMPARE:
		return 1;
	default:
		return 0;
	}
}

static enum seen_kind queue_of(enum stmt_kind k)
{
	switch (k) {
	case S_CQE:
	case S_NO_CQE:
		return SEEN_CQE;
	case S_ASYNC:
	case S_NO_ASYNC:
		return SEEN_ASYNC;
	case S_COMP_EVENT:
	case S_NO_COMP_EVENT:
		return SEEN_COMP;
	case S_CM_EVENT:
	case S_NO_CM_EVENT:
		return SEEN_CM;
	default:
		return SEEN_PACKET;
	}
}

/* comp event cq= channel= */
static bool is_of(struct run *r, const struct stmt *st, const struct obj *cq)
{
	const struct option *q = dr_opt(st, K_CQ), *channel = dr_opt(st, K_CHANNEL);

	return (q == NULL || q->v.obj == cq) &&
	       (channel == NULL || (cq != NULL && dr_rt(r, cq)->channel == channel->v.obj));
}

/* The next one that this statement has to do with. */
static struct seen *next_seen(struct run *r, const struct stmt *st)
{
	const struct option *cq = st->kind == S_CQE || st->kind == S_NO_CQE ? dr_opt(st, K_CQ) : NULL;
	struct seen *s;

	for (s = r->head[queue_of(st->kind)]; s != NULL; s = s->next) {
		if (s->node != st->node || (cq != NULL && s->cq != cq->v.obj))
			continue;
		/* peer.q< ...: for that queue pair */
		if (st->named && (!s->parsed || s->pkt.bth.destqp != dr_rt(r, st->obj)->qpn))
			continue;
		/* dut.q cqe ...: of that queue pair */
		if ((st->kind == S_CQE || st->kind == S_NO_CQE) && st->obj != NULL &&
		    s->wc.qp_num != dr_rt(r, st->obj)->qpn)
			continue;
		if ((st->kind == S_ASYNC || st->kind == S_NO_ASYNC) && st->obj != NULL &&
		    s->async.object != dr_rt(r, st->obj)->h)
			continue;
		if ((st->kind == S_COMP_EVENT || st->kind == S_NO_COMP_EVENT) && !is_of(r, st, s->cq))
			continue;
		return s;
	}
	return NULL;
}

void dr_take(struct run *r, enum seen_kind kind, struct seen *s)
{
	struct seen **at = &r->head[kind], *last = NULL;

	while (*at != s) {
		last = *at;
		at = &(*at)->next;
	}
	*at = s->next;
	if (r->tail[kind] == s)
		r->tail[kind] = last;
	r->count[kind]--;
	free(s);
}

/* ---- words about what came ---- */

static const char *word_of(const struct word *w, int value)
{
	for (; w->name != NULL; w++)
		if (w->value == value)
			return w->name;
	return "?";
}

static void seen_text(struct run *r, enum seen_kind kind, const struct seen *s, char *buf, size_t cap)
{
	switch (kind) {
	case SEEN_PACKET:
		dr_packet_text(r, s, buf, cap);
		break;
	case SEEN_CQE:
		if (s->wc.status == VS_WC_SUCCESS)
			(void)snprintf(buf, cap, "cqe wr=%llu %s SUCCESS", (unsigned long long)s->wc.wr_id,
				       word_of(dr_wc_opcode_words, (int)s->wc.opcode));
		else
			(void)snprintf(buf, cap, "cqe wr=%llu %s (%s)", (unsigned long long)s->wc.wr_id,
				       vs_wc_status_name(s->wc.status),
				       vs_reason_info((enum vs_reason)s->wc.vendor_err)->id);
		break;
	case SEEN_ASYNC:
		(void)snprintf(buf, cap, "async %s", vs_async_name(s->async.type));
		break;
	case SEEN_COMP:
		(void)snprintf(buf, cap, "a completion event");
		break;
	default:
		(void)snprintf(buf, cap, "cm event %s status=%u", word_of(dr_cm_event_words, (int)s->cm.type),
			       s->cm.status);
		break;
	}
}

/* 28 us, 1.5 ms, 3 s */
static void time_text(uint64_t ns, char *buf, size_t cap)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} unit[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
	unsigned u = 0, digits = 3;
	uint64_t rest;

	while (u < 3 && ns < unit[u].ns)
		u++;
	rest = unit[u].ns >= 1000 ? ns % unit[u].ns / (unit[u].ns / 1000) : 0;
	if (rest == 0) {
		(void)snprintf(buf, cap, "%llu %s", (unsigned long long)(ns / unit[u].ns), unit[u].name);
		return;
	}
	for (; rest % 10 == 0; rest /= 10)
		digits--;
	(void)snprintf(buf, cap, "%llu.%0*llu %s", (unsigned long long)(ns / unit[u].ns), (int)digits,
		       (unsigned long long)rest, unit[u].name);
}

static enum outcome came_instead(struct run *r, const struct stmt *st, unsigned column, const struct seen *s,
				 const char *why)
{
	char text[160];

	seen_text(r, queue_of(st->kind), s, text, sizeof(text));
	dr_verdict(r, st, column, "%s came%s%s", text, why[0] != '\0' ? ": " : "", why);
	return FAILS;
}

/* ---- completions ---- */

static struct pending *find_pending(struct run *r, const struct seen *s)
{
	for (struct pending *p = r->pending; p != NULL; p = p->next) {
		const struct obj *q = p->q;
		bool mine = q->kind == O_QP ? dr_rt(r, q)->qpn == s->wc.qp_num : q->node == s->node;

		if (mine && p->wr_id == s->wc.wr_id && q->node == s->node &&
		    (s->wc.status != VS_WC_SUCCESS || p->recv == (s->wc.opcode >= VS_WC_RECV)))
			return p;
	}
	return NULL;
}

static bool match_number(struct run *r, const struct stmt *st, int id, uint64_t got, char *why, size_t cap,
			 unsigned *column)
{
	const struct option *o = dr_opt(st, id);
	uint64_t want;

	if (o == NULL || !dr_value(r, st, id, 0, UINT64_MAX, &want) || dr_compare(o->how, got, want))
		return !r->failed;
	*column = o->column;
	(void)snprintf(why, cap, "%s is %llu, not %s%llu", o->key->name, (unsigned long long)got,
		       dr_compare_text(o->how), (unsigned long long)want);
	return false;
}

static bool match_cqe(struct run *r, const struct stmt *st, uint32_t k, const struct seen *s, char *why, size_t cap,
		      unsigned *column)
{
	const struct option *wr = dr_opt(st, K_WR);
	const struct pending *p = find_pending(r, s);
	uint64_t want = 0;
	int opcode = s->wc.status == VS_WC_SUCCESS ? (int)s->wc.opcode : p != NULL ? (int)p->opcode : -1;

	*column = st->word_column;
	why[0] = '\0';
	if (p == NULL) {
		(void)snprintf(why, cap, "no such work request is open");
		return false;
	}
	if (wr != NULL && !dr_eval(r, st, wr->v.e, &want))
		return false;
	if (wr != NULL && s->wc.wr_id != want + (wr->v.e2 != NULL ? k : 0)) {
		*column = wr->column;
		return false;
	}
	if ((int)s->wc.status != st->word || (st->word2 >= 0 && opcode != st->word2))
		return false;
	/* An opcode of an immediate receive is still RECV to who only says RECV. */
	if (s->wc.status != VS_WC_SUCCESS)
		return true;
	if (!match_number(r, st, K_LEN, s->wc.byte_len, why, cap, column) ||
	    !match_number(r, st, K_SRCQP, s->wc.src_qp, why, cap, column))
		return false;
	if (dr_opt(st, K_IMM) != NULL && !(s->wc.wc_flags & VS_WC_WITH_IMM))
		(void)snprintf(why, cap, "it has no immediate data");
	else if (dr_opt(st, K_INV) != NULL && !(s->wc.wc_flags & VS_WC_WITH_INV))
		(void)snprintf(why, cap, "it invalidated nothing");
	else if (dr_opt(st, K_GRH) != NULL && !(s->wc.wc_flags & VS_WC_GRH))
		(void)snprintf(why, cap, "it has no GRH");
	else
		return match_number(r, st, K_IMM, s->wc.imm_data, why, cap, column) &&
		       match_number(r, st, K_INV, s->wc.invalidated_rkey, why, cap, column);
	return false;
}

/* Completions come into the queue that their queue pair has for them. */
static void right_queue(struct run *r, const struct stmt *st, const struct pending *p, const struct seen *s)
{
	const void *came = s->cq != NULL ? dr_rt(r, s->cq)->h : r->cq[s->node];
	const struct rt_obj *q;

	for (unsigned i = 0; i < r->p->n_objs; i++) {
		q = &r->obj[i];
		if (r->p->obj[i]->kind != O_QP || r->p->obj[i]->node != s->node || q->gone || q->send_cq == NULL ||
		    q->qpn != s->wc.qp_num)
			continue;
		if (came != (p->recv ? q->recv_cq : q->send_cq))
			dr_verdict(r, st, st->column, "wr=%llu of %s completed in another queue than its own",
				   (unsigned long long)s->wc.wr_id, r->p->obj[i]->name);
	}
}

/* Takes the work request off the list; those before it in its queue are done without a completion of their own. */
static void retire(struct run *r, const struct stmt *st, const struct seen *s)
{
	struct pending *done = find_pending(r, s), **at = &r->pending;

	if (done != NULL)
		right_queue(r, st, done, s);
	while (done != NULL && *at != NULL) {
		struct pending *p = *at;
		bool same = p->q == done->q && p->recv == done->recv;

		if (same && p != done && p->q->kind == O_QP && (p->recv || p->signaled) &&
		    !(r->p->waived >> WV_ORDER & 1))
			dr_verdict(r, st, st->column, "wr=%llu completed before wr=%llu, which was posted before it",
				   (unsigned long long)done->wr_id, (unsigned long long)p->wr_id);
		if (p != done && !(same && p->q->kind == O_QP && !p->recv && !p->signaled)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		if (p == done)
			done = NULL;
		free(p);
	}
	for (at = &r->pending; *at != NULL;)
		at = &(*at)->next;
	r->pending_tail = at;
}

/* ---- the kinds of expectations ---- */

static bool times(struct run *r, const struct stmt *st, uint64_t start, uint64_t fallback, uint64_t *until,
		  uint64_t *not_before)
{
	uint64_t within = fallback;

	*not_before = 0;
	if (st->within != NULL && !dr_eval(r, st, st->within, &within))
		return false;
	if (st->not_before != NULL && !dr_eval(r, st, st->not_before, not_before))
		return false;
	*until = within > UINT64_MAX / 4 ? UINT64_MAX / 2 : start + within + (within > 0 ? r->t->slack_ns : 0);
	*not_before -= *not_before < r->t->early_ns ? *not_before : r->t->early_ns;
	return true;
}

static enum outcome too_late(struct run *r, const struct stmt *st, uint64_t start, uint64_t until)
{
	char text[64];

	time_text(until - start, text, sizeof(text));
	r->patient = true;
	dr_verdict(r, st, st->column, "nothing came within %s", text);
	return FAILS;
}

static bool matches(struct run *r, const struct stmt *st, uint32_t k, const struct seen *s, char *why, size_t cap,
		    unsigned *column)
{
	why[0] = '\0';
	*column = st->word_column != 0 ? st->word_column : st->column;
	switch (st->kind) {
	case S_RECEIVE:
		return dr_match(r, st, k, s, why, cap, column);
	case S_CQE:
		return match_cqe(r, st, k, s, why, cap, column);
	case S_ASYNC:
		return (int)s->async.type == st->word;
	case S_CM_EVENT:
		return dr_match_cm_event(r, st, &s->cm, why, cap, column);
	default:
		return true;
	}
}

static void poll_lazy(struct run *r, const struct stmt *st)
{
	const struct option *cq = dr_opt(st, K_CQ);
	struct vs_wc wc;

	(void)wc;
	if (st->kind == S_CQE && cq != NULL && dr_rt(r, cq->v.obj)->lazy) {
		dr_rt(r, cq->v.obj)->lazy = false;
		dr_hear(r);
		dr_rt(r, cq->v.obj)->lazy = true;
	}
}

/*
 * By less than the clocks may be wrong, it may have been in time. What comes too early by less than somebody waited for
 * a processor, or than what came before was held up, may have been timed from what left late.
 */
static bool missed_by_little(const struct run *r, uint64_t time, uint64_t not_before, uint64_t until)
{
	uint64_t error = r->t->clock_error_ns, late = r->t->doubt_ns, lag = 0;

	if (time < not_before && r->t->ops->lag_ns != NULL)
		lag = r->t->ops->lag_ns(r->t);
	late = lag > late ? lag : late;
	return (time > until && time - until <= error) ||
	       (time < not_before && not_before - time <= (late > error ? late : error));
}

/* (coalescing allowed): takes acknowledgements of earlier PSNs, in their order. False: *s goes back behind one. */
static bool pass_acks(struct run *r, const struct stmt *st, struct seen **s)
{
	while (*s != NULL && st->kind == S_RECEIVE && dr_is_earlier_ack(r, st, *s)) {
		if (r->passing == st && vs_psn_lt((*s)->pkt.bth.psn, r->passed_psn))
			return false;
		r->passing = st;
		r->passed_psn = (*s)->pkt.bth.psn;
		dr_take(r, SEEN_PACKET, *s);
		*s = next_seen(r, st);
	}
	if (*s != NULL)
		r->passing = NULL;
	return true;
}

static enum outcome something(struct run *r, const struct stmt *st, uint64_t start, uint32_t k, bool over,
			      uint64_t *until)
{
	uint64_t not_before;
	unsigned column;
	char why[200], text[64];
	struct seen *s;

	if (!times(r, st, start, DEFAULT_NS, until, &not_before))
		return FAILS;
	poll_lazy(r, st);
	s = next_seen(r, st);
	if (!pass_acks(r, st, &s))
		return came_instead(r, st, st->column, s, "acknowledgements never go back");
	if (s == NULL)
		return over ? too_late(r, st, start, *until) : PENDING;
	if (!matches(r, st, k, s, why, sizeof(why), &column))
		return r->failed ? FAILS : came_instead(r, st, column, s, why);
	r->res->doubtful |= missed_by_little(r, s->time, not_before, *until);
	if (s->time > *until) {
		time_text(s->time - start, text, sizeof(text));
		(void)snprintf(why, sizeof(why), "too late, after %s", text);
		return came_instead(r, st, st->column, s, why);
	}
	if (s->time < not_before) {
		time_text(not_before - s->time, text, sizeof(text));
		(void)snprintf(why, sizeof(why), "too early, by %s", text);
		return came_instead(r, st, st->column, s, why);
	}
	return HOLDS;
}

static enum outcome nothing(struct run *r, const struct stmt *st, uint64_t start, bool over, uint64_t *until)
{
	uint64_t quiet = r->t->settle_ns;
	const struct seen *s = next_seen(r, st);

	if (st->quiet != NULL && !dr_eval(r, st, st->quiet, &quiet))
		return FAILS;
	*until = quiet > UINT64_MAX / 4 ? UINT64_MAX / 2 : start + quiet;
	if (s != NULL)
		return came_instead(r, st, st->column, s, "nothing was to come");
	return over ? HOLDS : PENDING;
}

static bool compare_memory(struct run *r, const struct stmt *st, char *why, size_t cap)
{
	const uint8_t *bytes = NULL, *mem;
	uint32_t from, to, len = 0, i;
	uint64_t fill = 0;
	bool is_fill = st->right.kind == V_NUMBER;

	if (!dr_memory(r, st, &st->left, &from, &to))
		return false;
	if (to > dr_rt(r, st->left.obj)->mem.len) {
		dr_broken(r, st, st->column, "%s has %u bytes", st->left.obj->name, dr_rt(r, st->left.obj)->mem.len);
		return false;
	}
	if (r->t->ops->mr_known != NULL && !r->t->ops->mr_known(r->t, &dr_rt(r, st->left.obj)->mem)) {
		(void)snprintf(why, cap, "%s was never deregistered: what was in it is not known", st->left.obj->name);
		return false;
	}
	dr_read_memory(r, dr_rt(r, st->left.obj));
	mem = dr_rt(r, st->left.obj)->mem.bytes;
	if (is_fill ? !dr_eval(r, st, st->right.e, &fill) : !dr_bytes(r, st, &st->right, &bytes, &len))
		return false;
	if (is_fill ? fill > 255 : len != to - from) {
		if (is_fill)
			dr_broken(r, st, st->column, "a byte is at most 255; the bytes of a number are u64(N)");
		else
			dr_broken(r, st, st->column, "%u bytes are compared with %u", to - from, len);
		return false;
	}
	for (i = 0; i < to - from && mem[from + i] == (is_fill ? (uint8_t)fill : bytes[i]);)
		i++;
	if ((i == to - from) != (st->word2 != 0))
		return true;
	if (st->word2)
		(void)snprintf(why, cap, "the memory is just that");
	else
		(void)snprintf(why, cap, "%s[%u] is 0x%02x, not 0x%02x", st->left.obj->name, from + i, mem[from + i],
			       is_fill ? (uint8_t)fill : bytes[i]);
	return false;
}

static enum outcome condition(struct run *r, const struct stmt *st, uint64_t start, bool over, uint64_t *until)
{
	unsigned column = st->word_column != 0 ? st->word_column : st->column;
	uint64_t not_before, v = 0, want = 0;
	bool holds;
	char why[200] = "";

	if (!times(r, st, start, st->kind == S_EXPECT && st->word2 ? 0 : r->t->patience_ns, until, &not_before))
		return FAILS;
	if (st->kind == S_STATE) {
		enum vs_qp_state is =
			dr_rt(r, st->obj)->h != NULL ? r->t->ops->qp_state(r->t, dr_rt(r, st->obj)->h) : VS_QPS_COUNT;

		holds = (int)is == st->word;
		(void)snprintf(why, sizeof(why), "%s is in state %s", st->obj->name, vs_qp_state_name(is));
	} else if (st->kind == S_COUNTER) {
		v = r->t->ops->counter(r->t, st->node, (enum vs_counter)st->word);
		if (!dr_eval(r, st, st->right.e, &want))
			return FAILS;
		holds = dr_compare((enum dr_compare)st->word2, v, want);
		(void)snprintf(why, sizeof(why), "%s is %llu", vs_counter_name((enum vs_counter)st->word),
			       (unsigned long long)v);
	} else if (st->kind == S_QUERY) {
		holds = dr_query(r, st, why, sizeof(why), &column);
	} else {
		holds = compare_memory(r, st, why, sizeof(why));
	}
	if (holds || r->failed)
		return holds ? HOLDS : FAILS;
	if (!over)
		return PENDING;
	dr_verdict(r, st, column, "%s", why);
	return FAILS;
}

static enum outcome waiting(struct run *r, const struct stmt *st, uint64_t start, bool over, uint64_t *until)
{
	uint64_t t = 10 * DEFAULT_NS;
	const struct expr *e = st->kind == S_WAIT ? st->quiet : st->within;

	if (e != NULL && !dr_eval(r, st, e, &t))
		return FAILS;
	*until = t > UINT64_MAX / 4 ? UINT64_MAX / 2 : start + t;
	if (st->kind == S_WAIT)
		return over ? HOLDS : PENDING;
	if (r->t->ops->idle(r->t))
		return HOLDS;
	if (!over)
		return PENDING;
	dr_verdict(r, st, st->column, "there is still something going on");
	return FAILS;
}

static enum outcome values(struct run *r, const struct stmt *st)
{
	uint64_t a, b;
	char is[48], want[48];

	if (!dr_eval(r, st, st->left.e, &a) || !dr_eval(r, st, st->right.e, &b))
		return FAILS;
	if (dr_compare((enum dr_compare)st->word2, a, b))
		return HOLDS;
	if (st->left.e->time && st->right.e->time) /* of two stamps */
		r->res->doubtful |= (a > b ? a - b : b - a) <= 2 * r->t->clock_error_ns && r->t->clock_error_ns > 0;
	(void)snprintf(is, sizeof(is), "%llu", (unsigned long long)a);
	(void)snprintf(want, sizeof(want), "%llu", (unsigned long long)b);
	if (st->left.e->time && st->right.e->time) {
		time_text(a, is, sizeof(is));
		time_text(b, want, sizeof(want));
	}
	dr_verdict(r, st, st->word_column, "it is %s, not %s%s", is, dr_compare_text((enum dr_compare)st->word2), want);
	return FAILS;
}

/* What became of the node's newest call. */
static enum outcome call(struct run *r, const struct stmt *st)
{
	const struct option *o = dr_opt(st, K_REFUSED);
	enum vs_reason why = r->call[st->node].reason;

	if (!r->call[st->node].refused) {
		if (o == NULL)
			return HOLDS;
		dr_verdict(r, st, o->column, "the call was accepted");
	} else if (o == NULL) {
		dr_verdict(r, st, st->word_column, "the call was refused (%s)", vs_reason_info(why)->id);
	} else if (o->v.word > 0 && o->v.word != (int)why && why != VS_REASON_NONE) {
		dr_verdict(r, st, o->column, "the call was refused for another reason: %s", vs_reason_info(why)->id);
	} else {
		return HOLDS;
	}
	return FAILS;
}

enum outcome dr_observe(struct run *r, const struct stmt *st, uint64_t start, uint32_t k, bool over, uint64_t *until)
{
	if (r->failed)
		return FAILS;
	switch (st->kind) {
	case S_RECEIVE:
	case S_CQE:
	case S_ASYNC:
	case S_COMP_EVENT:
	case S_CM_EVENT:
		return something(r, st, start, k, over, until);
	case S_NOTHING:
	case S_NO_CQE:
	case S_NO_ASYNC:
	case S_NO_COMP_EVENT:
	case S_NO_CM_EVENT:
		return nothing(r, st, start, over, until);
	case S_STATE:
	case S_COUNTER:
	case S_EXPECT:
	case S_QUERY:
		return condition(r, st, start, over, until);
	case S_WAIT:
	case S_WAIT_IDLE:
		return waiting(r, st, start, over, until);
	case S_CALL:
		return call(r, st);
	case S_COMPARE:
		return values(r, st);
	default:
		return HOLDS;
	}
}

/* ---- what comes when its time is over ---- */

static bool is_awaited(const struct stmt *st)
{
	return st->kind == S_RECEIVE || st->kind == S_CQE || st->kind == S_ASYNC || st->kind == S_COMP_EVENT ||
	       st->kind == S_CM_EVENT;
}

/* Where nothing came in time, it is worth knowing whether it comes at all: the run has failed anyway. */
void dr_look_later(struct run *r, const struct stmt *st, uint64_t start, uint32_t k, uint64_t until)
{
	uint64_t grace = (until - start) * 10, now;
	char text[160], late[48], within[48], why[200];
	const struct seen *s;
	unsigned column;
	bool more = true;

	if (!is_awaited(st) || r->failed || r->env->hasty || next_seen(r, st) != NULL)
		return;
	grace = grace > MAX_GRACE_NS ? MAX_GRACE_NS : grace < MIN_GRACE_NS ? MIN_GRACE_NS : grace;
	if (r->t->slack_ns > 0 && grace > DEFAULT_NS) /* it costs real time */
		grace = DEFAULT_NS;
	while (more && next_seen(r, st) == NULL && !r->failed)
		more = dr_pass(r, until + grace);
	s = next_seen(r, st);
	if (s == NULL || r->failed || !matches(r, st, k, s, why, sizeof(why), &column))
		return;
	now = s->time;
	seen_text(r, queue_of(st->kind), s, text, sizeof(text));
	time_text(now - until, late, sizeof(late));
	time_text(until - start, within, sizeof(within));
	r->res->doubtful |= r->t->slack_ns > 0;
	dr_verdict(r, st, st->column, "%s came %s too late: not within %s", text, late, within);
}

/* count=A..B: is the k-th, which may come or not, there? */
enum outcome dr_one_more(struct run *r, const struct stmt *st, uint64_t start, uint32_t k, uint64_t *until)
{
	struct seen *s = next_seen(r, st);
	uint64_t not_before;
	unsigned column;
	char why[200];

	if (!times(r, st, start, r->t->settle_ns, until, &not_before))
		return FAILS;
	if (s == NULL)
		return PENDING;
	return s->time <= *until && s->time >= not_before && matches(r, st, k, s, why, sizeof(why), &column) ? HOLDS
													     : FAILS;
}

void dr_consume(struct run *r, const struct stmt *st, uint32_t k)
{
	struct seen *s;

	(void)k;
	if (!is_awaited(st))
		return;
	s = next_seen(r, st);
	if (s == NULL)
		return;
	if (st->kind == S_CQE)
		retire(r, st, s);
	if (st->kind == S_RECEIVE && s->parsed)
		dr_cm_taken(r, &s->pkt);
	if (st->kind == S_RECEIVE && st->as != NULL)
		dr_keep(r, st, s);
	else if (st->as != NULL) { /* a name for its time */
		dr_rt(r, st->as)->made = true;
		dr_rt(r, st->as)->time = s->time;
	}
	dr_take(r, queue_of(st->kind), s);
}

/* ---- the end ---- */

void dr_idle_fault(struct run *r, const struct stmt *st)
{
	const char *name = r->p->waived >> WV_FAULT & 1 ? NULL : r->t->ops->idle_fault(r->t);

	if (name != NULL)
		dr_verdict(r, st, st != NULL ? st->column : 0,
			   "the fault '%s' never acted: no packet was what it is for", name);
}

void dr_leftovers(struct run *r)
{
	static const enum dr_waive waive[SEEN_KINDS] = {WV_PACKET, WV_COMPLETION, WV_ASYNC, WV_COMPLETION, WV_CM};
	char text[160];

	for (unsigned k = 0; k < SEEN_KINDS; k++) {
		const struct seen *s = r->head[k];

		if (s == NULL || r->p->waived >> waive[k] & 1)
			continue;
		seen_text(r, (enum seen_kind)k, s, text, sizeof(text));
		r->line = s->line;
		dr_verdict(r, NULL, 0, "%s came here, and nothing in the script takes it", text);
	}
	for (const struct pending *p = r->pending; p != NULL && !(r->p->waived >> WV_COMPLETION & 1); p = p->next) {
		struct rt_obj *o = dr_rt(r, p->q);

		if (p->q->kind == O_QP && !o->gone && r->t->ops->qp_state(r->t, o->h) == VS_QPS_ERR)
			dr_verdict(r, NULL, 0, "wr=%llu of %s never completed, though its queue pair is in error",
				   (unsigned long long)p->wr_id, p->q->name);
	}
	if (!r->failed && !(r->p->waived >> WV_CALL & 1) && r->t->ops->unclaimed != NULL &&
	    r->t->ops->unclaimed(r->t, text, sizeof(text)))
		dr_verdict(r, NULL, 0, "%s", text);
	dr_idle_fault(r, NULL);
}
