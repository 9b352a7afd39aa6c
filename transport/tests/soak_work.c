/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * soak_work.c - chooses work requests and posts them: everything the verbs have, within the rules, or, in a
 * hostile mood, now and then outside them.
 */
#include <stdlib.h>
#include <string.h>

#include "soak.h"

/* ---- bookkeeping ---- */

#define WR_ID_SALT 0xa5c3f00dbeef0000ull

struct wr *wr_new(struct soak *s, struct qp *q, struct host *h)
{
	struct wr *w = calloc(1, sizeof(*w));

	if (w == NULL)
		abort();
	w->qp = q;
	w->host = h;
	w->tag = roll(&s->dice);
	w->order = s->next_id++;
	w->id = w->order ^ WR_ID_SALT;
	if (w->order >= s->table_cap) {
		s->table_cap = s->table_cap == 0 ? 1024 : 2 * s->table_cap;
		s->table = realloc(s->table, s->table_cap * sizeof(struct wr *));
		if (s->table == NULL)
			abort();
	}
	s->table[w->order] = w;
	w->all = s->all;
	s->all = w;
	return w;
}

struct wr *wr_by_id(const struct soak *s, uint64_t id)
{
	uint64_t order = id ^ WR_ID_SALT;

	return order < s->next_id ? s->table[order] : NULL;
}

void queue_push(struct queue *q, struct wr *w)
{
	w->next = NULL;
	if (q->head == NULL)
		q->head = w;
	else
		q->tail->next = w;
	q->tail = w;
	q->n++;
}

void wr_release(struct wr *w)
{
	mem_give_sgl(w->host, &w->local);
	w->local.n = 0;
	if (w->remote_held)
		mem_give(w->rhost, w->remote);
	w->remote_held = false;
}

/* The newest request was not accepted, or could not be made: as if it had never been. */
static void wr_forget(struct soak *s, struct wr *w)
{
	wr_release(w);
	s->all = w->all;
	s->table[w->order] = NULL;
	free(w);
}

bool work_left(const struct soak *s)
{
	for (uint32_t i = 0; i < s->n_qps; i++)
		for (const struct wr *w = s->qp[i].sends.head; w != NULL; w = w->next)
			if (w->signaled || !s->qp[i].erred)
				return true;
	return false;
}

static void fill_sges(const struct host *h, const struct sgl *l, struct vs_sge *sge)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct region *r = &h->region[l->region[i]];

		sge[i] = (struct vs_sge){r->iova + l->r[i].off, l->r[i].len, vs_mr_lkey(r->mr)};
	}
}

/* ---- receives ---- */

static bool post_receive(struct soak *s, struct qp *q, struct host *h, uint32_t max_sge, bool datagrams)
{
	struct wr *w = wr_new(s, q, h);
	uint32_t len = s->send_max + (datagrams ? 40 : 0) + (percent(&s->dice, 50) ? below(&s->dice, 100) : 0);
	struct vs_sge sge[MAX_SGE];
	struct vs_recv_wr wr = {.wr_id = w->id, .sg_list = sge};
	int rc;

	w->is_recv = true;
	w->len = len;
	if (!mem_take_sgl(s, h, FOR_RECEIVES, len, max_sge, &w->local)) {
		wr_forget(s, w);
		return false;
	}
	mem_open_sgl(h, &w->local);
	fill_sges(h, &w->local, sge);
	wr.num_sge = w->local.n;
	rc = q != NULL ? vs_qp_post_recv(q->qp, &wr) : vs_srq_post_recv(h->srq, &wr);
	REQUIRE(s, rc == VS_OK, "a receive is refused: %s", vs_reason_info(vs_dev_refusal(h->dev))->id);
	if (q != NULL) {
		queue_push(&q->recvs, w);
	} else {
		w->next = h->in_srq;
		h->in_srq = w;
		h->srq_posted++;
	}
	return true;
}

/* So many receives of each queue fit into half of their part of the arena, however it is cut up. */
uint32_t receive_share(const struct soak *s, const struct host *h)
{
	uint32_t queues = h->srq != NULL, n;

	for (uint32_t i = 0; i < s->n_qps; i++)
		queues += s->qp[i].host == h && !s->qp[i].use_srq;
	n = RECEIVE_BLOCKS * BLOCK / 2 / (s->send_max + 140 + 3 * BLOCK * MAX_SGE) / (queues > 0 ? queues : 1);
	return n;
}

void work_receives(struct soak *s, bool all)
{
	for (uint32_t i = 0; i < s->n_qps; i++) {
		struct qp *q = &s->qp[i];
		uint32_t share = receive_share(s, q->host);
		uint32_t most = q->recv_depth < share ? q->recv_depth : share;

		if (q->use_srq || q->erred || (!all && percent(&s->dice, 60)))
			continue;
		while (q->recvs.n < most && (all || percent(&s->dice, 80)))
			if (!post_receive(s, q, q->host, q->recv_sge, q->type == VS_QPT_UD))
				break;
	}
	for (int i = 0; i < s->n_hosts; i++) {
		struct host *h = &s->host[i];
		uint32_t share = receive_share(s, h), most = h->srq_depth < share ? h->srq_depth : share;

		if (h->srq == NULL || (!all && percent(&s->dice, 60)))
			continue;
		while (h->srq_posted < most && (all || percent(&s->dice, 80)))
			if (!post_receive(s, NULL, h, MAX_SGE, true))
				break;
	}
}

/* ---- sends: what ---- */

static bool sends_message(enum vs_wr_opcode op)
{
	return op == VS_WR_SEND || op == VS_WR_SEND_WITH_IMM || op == VS_WR_SEND_WITH_INV ||
	       op == VS_WR_RDMA_WRITE_WITH_IMM;
}

static enum vs_wr_opcode choose_op(struct soak *s, const struct qp *q)
{
	static const enum vs_wr_opcode rc[] = {
		VS_WR_SEND,          VS_WR_SEND,
		VS_WR_SEND_WITH_IMM, VS_WR_RDMA_WRITE,
		VS_WR_RDMA_WRITE,    VS_WR_RDMA_WRITE_WITH_IMM,
		VS_WR_RDMA_READ,     VS_WR_RDMA_READ,
		VS_WR_ATOMIC_WRITE,  VS_WR_ATOMIC_CMP_AND_SWP,
		VS_WR_FLUSH,         VS_WR_ATOMIC_FETCH_AND_ADD,
		VS_WR_BIND_MW,       VS_WR_LOCAL_INV,
		VS_WR_SEND_WITH_INV,
	};

	switch (q->type) {
	case VS_QPT_RC:
		return rc[below(&s->dice, sizeof(rc) / sizeof(rc[0]))];
	case VS_QPT_UC:
		return (enum vs_wr_opcode)below(&s->dice, VS_WR_RDMA_READ);
	default:
		return percent(&s->dice, 50) ? VS_WR_SEND : VS_WR_SEND_WITH_IMM;
	}
}

/* Nothing, a few bytes, about a multiple of the path MTU, anything. */
static uint32_t choose_len(struct soak *s, const struct qp *q, uint32_t most)
{
	struct dice *d = &s->dice;
	uint32_t len;

	if (s->closing)
		return 0;
	switch (below(d, 6)) {
	case 0:
		return percent(d, 30) ? 0 : 1;
	case 1:
		len = between(d, 0, 64);
		break;
	case 2:
	case 3:
		len = between(d, 1, 4) * q->mtu - 1;
		len += below(d, 3);
		break;
	default:
		len = below(d, most + 1);
		break;
	}
	return len < most ? len : most;
}

/* ---- sends: windows ---- */

static struct window *window_of(struct soak *s, const struct qp *owner, enum window_state state)
{
	uint32_t first = s->n_windows > 0 ? below(&s->dice, s->n_windows) : 0;

	for (uint32_t i = 0; i < s->n_windows; i++) {
		struct window *w = &s->window[(first + i) % s->n_windows];

		if (w->owner == owner && w->state == state)
			return w;
	}
	return NULL;
}

static bool fill_bind(struct soak *s, struct qp *q, struct wr *w, struct vs_send_wr *wr)
{
	struct dice *d = &s->dice;
	struct window *win = window_of(s, q, WIN_FREE);
	struct host *h = q->host;

	if (win == NULL) { /* type 1: bound, and nobody uses it: unbind */
		win = window_of(s, q, WIN_BOUND);
		if (win == NULL || win->type != VS_MW_TYPE_1 || win->users > 0)
			return false;
		wr->bind.length = 0;
		win->state = WIN_GOING;
	} else {
		if (!mem_take(s, h, FOR_SENDS, 8 * between(d, 8, 128), 64, &win->mem))
			return false;
		win->held = true;
		win->region = (uint8_t)below(d, MAX_REGIONS);
		win->zero_based = win->type == VS_MW_TYPE_2 && percent(d, 50);
		win->state = WIN_BINDING;
		wr->bind.mr = h->region[win->region].mr;
		wr->bind.addr = h->region[win->region].iova + win->mem.off;
		wr->bind.length = win->mem.len;
		wr->bind.access = VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_WRITE |
				  (win->zero_based ? (unsigned)VS_ACCESS_ZERO_BASED : 0);
	}
	wr->bind.mw = win->mw;
	wr->bind.rkey = (vs_mw_rkey(win->mw) & ~0xffu) | below(d, 256);
	if (win->type == VS_MW_TYPE_2)
		win->rkey = wr->bind.rkey;
	w->window = win;
	return true;
}

static bool fill_local_inv(struct soak *s, struct qp *q, struct wr *w, struct vs_send_wr *wr)
{
	struct window *win = window_of(s, q, WIN_BOUND);

	if (win == NULL || win->type != VS_MW_TYPE_2 || win->users > 0)
		return false;
	win->state = WIN_GOING;
	w->window = win;
	wr->invalidate_rkey = win->rkey;
	return true;
}

/* The peer's window: a fence first, when a READ through it is still open. */
static bool fill_send_inv(struct soak *s, struct qp *q, struct wr *w, struct vs_send_wr *wr)
{
	struct window *win = window_of(s, q->peer, WIN_BOUND);

	if (win == NULL || win->type != VS_MW_TYPE_2)
		return false;
	win->state = WIN_GOING;
	w->window = win;
	w->inv_key = wr->invalidate_rkey = win->rkey;
	if (win->reads > 0)
		wr->flags |= VS_SEND_FENCE;
	return true;
}

/* An eighth of a window of the peer instead of a range of its own. */
static bool use_window(struct soak *s, struct qp *q, struct wr *w, struct vs_send_wr *wr)
{
	struct window *win = q->type == VS_QPT_RC ? window_of(s, q->peer, WIN_BOUND) : NULL;
	uint32_t slot, part;

	if (win == NULL || percent(&s->dice, 40) || win->busy == 0xff)
		return false;
	for (slot = 0; win->busy >> slot & 1; slot++)
		;
	part = win->mem.len / 8;
	w->len = w->len < part ? w->len : part;
	w->remote = (struct range){win->mem.off + slot * part, w->len};
	w->window = win;
	w->slot = slot;
	win->busy |= 1u << slot;
	win->users++;
	win->reads += w->op == VS_WR_RDMA_READ;
	wr->rdma.rkey = win->rkey;
	wr->rdma.remote_addr = (win->zero_based ? 0 : w->rhost->region[win->region].iova + win->mem.off) + slot * part;
	return true;
}

static bool take_remote(struct soak *s, struct qp *q, struct wr *w, struct vs_send_wr *wr, uint32_t align)
{
	const struct region *r;
	uint32_t k;

	w->rhost = q->peer->host;
	if ((w->op == VS_WR_RDMA_WRITE || w->op == VS_WR_RDMA_READ) && use_window(s, q, w, wr))
		return true;
	if (!mem_take(s, w->rhost, FOR_SENDS, w->len, align, &w->remote))
		return false;
	w->remote_held = true;
	/* Who does not hear of the end (UC) can't tell when the passing region is free. */
	k = below(&s->dice, MAX_REGIONS + (q->type == VS_QPT_RC && passing_open(w->rhost) ? 1u : 0u));
	w->far = k == PASSING;
	r = &w->rhost->region[k];
	wr->rdma.rkey = vs_mr_rkey(r->mr);
	wr->rdma.remote_addr = r->iova + w->remote.off;
	return true;
}

/* ---- sends: how ---- */

static bool fill_atomic(struct soak *s, struct qp *q, struct wr *w, struct vs_send_wr *wr)
{
	const struct region *r;
	uint64_t now;

	w->len = 8;
	w->rhost = q->peer->host;
	w->word = &w->rhost->word[below(&s->dice, MAX_WORDS)];
	if (!mem_take_sgl(s, q->host, FOR_SENDS, 8, 1, &w->local))
		return false;
	mem_open_sgl(q->host, &w->local);
	memcpy(&now, w->rhost->image + w->word->off, 8);
	w->operand = roll(&s->dice);
	w->compare = percent(&s->dice, 70) ? now : roll(&s->dice);
	r = &w->rhost->region[below(&s->dice, MAX_REGIONS)];
	wr->rdma.rkey = vs_mr_rkey(r->mr);
	wr->rdma.remote_addr = r->iova + w->word->off;
	if (w->op == VS_WR_ATOMIC_FETCH_AND_ADD) {
		wr->atomic.compare_add = w->operand;
	} else {
		wr->atomic.compare_add = w->compare;
		wr->atomic.swap = w->operand;
	}
	return true;
}

static bool take_source(struct soak *s, struct qp *q, struct wr *w, struct vs_send_wr *wr, uint8_t *scratch)
{
	if (w->len <= q->max_inline && percent(&s->dice, 50)) {
		content(w->tag, 0, scratch, w->len);
		wr->flags |= VS_SEND_INLINE;
		wr->inline_data = scratch;
		wr->inline_len = w->len;
		w->inlined = true;
		return true;
	}
	if (!mem_take_sgl(s, q->host, FOR_SENDS, w->len, q->max_sge, &w->local))
		return false;
	mem_put_sgl(q->host, &w->local, w->tag);
	return true;
}

static bool fill_data(struct soak *s, struct qp *q, struct wr *w, struct vs_send_wr *wr, uint8_t *scratch)
{
	bool datagram = q->type == VS_QPT_UD;

	switch (w->op) {
	case VS_WR_RDMA_WRITE:
	case VS_WR_RDMA_WRITE_WITH_IMM:
		w->len = choose_len(s, q, MESSAGE_MAX);
		if (q->type == VS_QPT_UC && q->held > 24576 && !s->closing)
			return false;
		if (!take_remote(s, q, w, wr, 1))
			return false;
		q->held += q->type == VS_QPT_UC ? w->len : 0;
		mem_open(w->rhost, w->remote);
		return take_source(s, q, w, wr, scratch);
	case VS_WR_ATOMIC_WRITE:
		w->len = 8;
		if (!take_remote(s, q, w, wr, 8))
			return false;
		mem_open(w->rhost, w->remote);
		return take_source(s, q, w, wr, scratch);
	case VS_WR_RDMA_READ:
		w->len = choose_len(s, q, MESSAGE_MAX);
		if (!take_remote(s, q, w, wr, 1))
			return false;
		mem_put(w->rhost, w->remote, w->tag, 0);
		if (!mem_take_sgl(s, q->host, FOR_SENDS, w->len, q->max_sge, &w->local))
			return false;
		mem_open_sgl(q->host, &w->local);
		return true;
	case VS_WR_FLUSH:
		w->len = choose_len(s, q, MESSAGE_MAX);
		wr->flush.length = w->len;
		wr->flush.plt = (uint8_t)between(&s->dice, 1, 3);
		wr->flush.sel = (uint8_t)below(&s->dice, 2);
		return take_remote(s, q, w, wr, 1);
	default:
		w->len = choose_len(s, q, datagram && s->send_max > 4096 ? 4096 : s->send_max);
		return take_source(s, q, w, wr, scratch);
	}
}

static bool fill(struct soak *s, struct qp *q, struct wr *w, struct vs_send_wr *wr, uint8_t *scratch)
{
	struct qp *to;

	switch (w->op) {
	case VS_WR_BIND_MW:
		return fill_bind(s, q, w, wr);
	case VS_WR_LOCAL_INV:
		return fill_local_inv(s, q, w, wr);
	case VS_WR_ATOMIC_CMP_AND_SWP:
	case VS_WR_ATOMIC_FETCH_AND_ADD:
		return fill_atomic(s, q, w, wr);
	case VS_WR_SEND_WITH_INV:
		return fill_data(s, q, w, wr, scratch) && fill_send_inv(s, q, w, wr);
	default:
		break;
	}
	if (q->group_ah != NULL && percent(&s->dice, 30)) {
		wr->ud.ah = q->group_ah;
		wr->ud.remote_qpn = 0xffffff;
		wr->ud.remote_qkey = s->group_qkey;
	} else if (q->type == VS_QPT_UD) {
		do
			to = &s->qp[below(&s->dice, s->n_qps)];
		while (to->type != VS_QPT_UD);
		w->to = to;
		wr->ud.ah = q->ah[to->number];
		wr->ud.remote_qpn = vs_qp_num(to->qp);
		wr->ud.remote_qkey = to->qkey;
	}
	return fill_data(s, q, w, wr, scratch);
}

/* Hostile: a key, an address or a length that must be refused over there; nothing may be touched. */
static void spoil(struct soak *s, struct qp *q, struct wr *w, struct vs_send_wr *wr, struct vs_sge *sge)
{
	bool rc = q->type == VS_QPT_RC, remote = rc && w->rhost != NULL && !w->window && w->len > 0;

	if (s->mood != HOSTILE || !percent(&s->dice, 4) || q->doomed || q->sq_bad)
		return;
	if (remote && percent(&s->dice, 70)) {
		switch (below(&s->dice, w->rhost->passing.dead_rkey != 0 ? 4 : 3)) {
		case 0:
			wr->rdma.rkey ^= 1u << below(&s->dice, 32);
			break;
		case 1: /* the local key where the remote one belongs */
			wr->rdma.rkey = vs_mr_lkey(w->rhost->region[0].mr);
			break;
		case 3:
			wr->rdma.rkey = w->rhost->passing.dead_rkey;
			break;
		default: /* over the end */
			wr->rdma.remote_addr += ARENA - w->remote.off - w->len / 2;
			if (w->word != NULL || w->op == VS_WR_ATOMIC_WRITE)
				wr->rdma.remote_addr = (wr->rdma.remote_addr + 7) & ~7ull;
			break;
		}
		if (w->op == VS_WR_FLUSH && wr->flush.sel == 1)
			wr->rdma.rkey ^= 0x5a; /* whole region: the address does not count */
		if (w->remote_held && w->op != VS_WR_RDMA_READ && w->op != VS_WR_FLUSH)
			mem_settle(s, w->rhost, w->remote, 0, 0, "before a bad request");
		w->bad = VS_WC_REM_ACCESS_ERR;
	} else if (wr->num_sge > 0 && !w->inlined && sge[0].length > 0 && sge[0].length == w->len) {
		bool dead = q->host->passing.dead_lkey != 0 && percent(&s->dice, 30);

		sge[0].lkey = dead ? q->host->passing.dead_lkey : sge[0].lkey ^ 1u << below(&s->dice, 32);
		w->bad = VS_WC_LOC_PROT_ERR;
	} else {
		return;
	}
	if (rc)
		q->doomed = q->peer->doomed = true;
	else
		q->sq_bad = true;
}

static void note_posted(struct soak *s, struct qp *q, struct wr *w)
{
	queue_push(&q->sends, w);
	passing_enter(w);
	s->posted++;
	q->unsignaled = w->signaled ? 0 : q->unsignaled + 1;
	if (w->window != NULL && w->op == VS_WR_BIND_MW && w->window->type == VS_MW_TYPE_1)
		w->window->rkey = vs_mw_posted_rkey(w->window->mw);
	if (!sends_message(w->op))
		return;
	if (q->messages == NULL)
		q->messages = w;
	else
		q->messages_tail->next_message = w;
	q->messages_tail = w;
	if (q->next_delivery == NULL)
		q->next_delivery = w;
}

/* What was prepared is not posted after all. */
static void undo(struct soak *s, struct wr *w)
{
	struct window *win = w->window;

	if (win != NULL && w->rhost != NULL && (w->op == VS_WR_RDMA_WRITE || w->op == VS_WR_RDMA_READ)) {
		win->busy &= ~(1u << w->slot);
		win->users--;
		win->reads -= w->op == VS_WR_RDMA_READ;
	}
	if (w->rhost != NULL && w->word == NULL && w->op != VS_WR_RDMA_READ && w->op != VS_WR_FLUSH &&
	    (w->remote_held || win != NULL))
		mem_settle(s, w->rhost, w->remote, 0, 0, "nothing was posted");
	wr_forget(s, w);
}

static bool post_one(struct soak *s, struct qp *q, enum vs_wr_opcode op, bool signaled)
{
	uint8_t scratch[INLINE_MAX];
	struct vs_sge sge[MAX_SGE];
	struct wr *w = wr_new(s, q, q->host);
	struct vs_send_wr wr = {.wr_id = w->id, .opcode = op, .sg_list = sge, .imm_data = (uint32_t)roll(&s->dice)};
	int rc;

	w->op = op;
	w->imm = wr.imm_data;
	w->signaled = signaled || q->sig_all;
	wr.flags = signaled ? VS_SEND_SIGNALED : 0;
	wr.flags |= percent(&s->dice, 15) ? VS_SEND_FENCE : 0u;
	wr.flags |= percent(&s->dice, 20) ? VS_SEND_SOLICITED : 0u;
	if (!fill(s, q, w, &wr, scratch)) {
		undo(s, w);
		return false;
	}
	fill_sges(q->host, &w->local, sge);
	wr.num_sge = w->local.n;
	spoil(s, q, w, &wr, sge);
	w->flags = wr.flags;
	rc = vs_qp_post_send(q->qp, &wr);
	REQUIRE(s, rc == VS_OK, "QP %u: %s of %u bytes is refused: %s", q->number, vs_wr_opcode_name(op), w->len,
		vs_reason_info(vs_dev_refusal(q->host->dev))->id);
	/* Inline data belongs to the caller again: what is done to it now must not matter. */
	memset(scratch, 0xee, sizeof(scratch));
	memset(sge, 0xee, sizeof(sge));
	note_posted(s, q, w);
	return true;
}

void work_some(struct soak *s)
{
	uint32_t n = between(&s->dice, 1, 8);

	while (n-- > 0) {
		struct qp *q = &s->qp[below(&s->dice, s->n_qps)];
		bool full = q->sends.n + 1 >= q->depth;
		enum vs_wr_opcode op;

		if (q->erred || q->sends.n >= q->depth)
			continue;
		op = choose_op(s, q);
		post_one(s, q, op, full || q->unsignaled >= 12 || percent(&s->dice, 60));
	}
}

/* Unsignaled requests at the end of a queue: a signaled one shows that they are done. */
void work_close(struct soak *s)
{
	s->closing = true;
	for (uint32_t i = 0; i < s->n_qps; i++) {
		struct qp *q = &s->qp[i];

		if (q->erred || q->unsignaled == 0 || q->sends.n >= q->depth)
			continue;
		post_one(s, q, q->type == VS_QPT_UD ? VS_WR_SEND : VS_WR_RDMA_WRITE, true);
	}
}
