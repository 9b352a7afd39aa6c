/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ref0_soak_link.c - one connection of the soak. What must be true of it:
 *
 * - Every work request that was accepted completes once: signaled ones by a completion, others by a later one of their
 *   queue; in the order of posting; after a failure all that are left with an error or as flushed.
 * - Messages arrive once, whole, in order. READs return what was written last. FETCH_ADD and CMP_SWAP return the value
 *   that all earlier ones have left, so each is executed once, however often its packets were lost.
 * - Nothing fails but because the peer is gone.
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ref0_soak.h"

#define RECV_BIT (1ull << 31)
#define MARKER_BIT (1ull << 30)

void soak_wrong(const struct soak_link *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "soak: WRONG: ");
	if (l != NULL)
		fprintf(stderr, "link %u, life %u, %llu posted, %llu received: ", l->id, l->life,
			(unsigned long long)l->posted, (unsigned long long)l->received);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	_Exit(1); /* no leak report about an end in the middle */
}

uint64_t soak_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* splitmix64 */
uint64_t soak_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* ---- contents: 8 bytes of what the rest follows from, never 0, then that ---- */

static uint64_t expand(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static void fill(uint8_t *buf, uint32_t len, uint64_t content)
{
	uint64_t s = content;

	for (uint32_t i = 0; i < len; i += 8, (void)expand(&s))
		memcpy(buf + i, &s, len - i < 8 ? len - i : 8);
}

static void check(const struct soak_link *l, const char *what, const uint8_t *buf, uint32_t len, uint64_t content)
{
	uint64_t s = content;

	for (uint32_t i = 0; i < len; i += 8, (void)expand(&s))
		if (memcmp(buf + i, &s, len - i < 8 ? len - i : 8) != 0)
			soak_wrong(l, "%s of %u bytes: byte %u or one soon after is wrong", what, len, i);
}

/* The n-th message that a side sends in a life: both sides know it. The sender's number is told by a bit. */
static uint64_t message_content(uint64_t n, uint32_t psn)
{
	uint64_t s = n << 24 ^ psn;

	return soak_random(&s) | 1;
}

static uint32_t length(uint64_t *rng)
{
	uint64_t r = soak_random(rng);
	uint32_t most = r % 16 == 0 ? MESSAGE_MAX : r % 16 < 4 ? 1024 : 128;

	return MESSAGE_MIN + (uint32_t)(r >> 8) % (most - MESSAGE_MIN + 1);
}

/* ---- making ---- */

static void must(const struct soak_link *l, bool ok, const char *what)
{
	if (!ok)
		soak_wrong(l, "%s failed", what);
}

static void make_qp(struct soak_link *l)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = l->cq, .recv_cq = l->cq, .cap = {SLOTS + 1, RECVS + 1, 1, 1, 64}};

	l->qp = ibv_create_qp(l->pd, &init);
	must(l, l->qp != NULL, "ibv_create_qp");
}

static void to_init(struct soak_link *l)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags =
					   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC};

	must(l, ibv_modify_qp(l->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
	     "to INIT");
	l->state = SOAK_READY;
}

static void make_shared(struct soak_link *l)
{
	l->shared = calloc(1, sizeof(*l->shared));
	must(l, l->shared != NULL, "calloc");
	l->shared_mr = ibv_reg_mr(l->pd, l->shared, sizeof(*l->shared),
				  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
					  IBV_ACCESS_REMOTE_ATOMIC);
	must(l, l->shared_mr != NULL, "ibv_reg_mr");
}

void soak_link_make(struct soak_link *l, struct ibv_pd *pd, struct ibv_cq *cq, unsigned id)
{
	uint8_t *mem = calloc(2 * SLOTS + RECVS, MESSAGE_ROOM);

	*l = (struct soak_link){.id = id, .pd = pd, .cq = cq, .rng = soak_now() + id};
	must(l, mem != NULL, "calloc");
	l->out = (uint8_t(*)[MESSAGE_ROOM])mem;
	l->land = l->out + SLOTS;
	l->in = l->land + SLOTS;
	l->mr = ibv_reg_mr(pd, mem, (size_t)(2 * SLOTS + RECVS) * MESSAGE_ROOM, IBV_ACCESS_LOCAL_WRITE);
	must(l, l->mr != NULL, "ibv_reg_mr");
	make_shared(l);
	make_qp(l);
	to_init(l);
}

void soak_link_free(struct soak_link *l)
{
	void *mem = l->out;

	must(l, ibv_destroy_qp(l->qp) == 0, "ibv_destroy_qp");
	must(l, ibv_dereg_mr(l->mr) == 0 && ibv_dereg_mr(l->shared_mr) == 0, "ibv_dereg_mr");
	free(mem);
	free(l->shared);
}

void soak_link_info(struct soak_link *l, struct soak_info *info)
{
	union ibv_gid gid;

	must(l, ibv_query_gid(l->qp->context, 1, 0, &gid) == 0, "ibv_query_gid");
	*info = (struct soak_info){.qpn = l->qp->qp_num,
				   .psn = (uint32_t)soak_random(&l->rng) & 0xffffff,
				   .rkey = l->shared_mr->rkey,
				   .ring = (uintptr_t)l->shared->ring,
				   .echo = (uintptr_t)l->shared->echo,
				   .counter = (uintptr_t)l->shared->counter};
	if (soak_random(&l->rng) % 4 == 0)
		info->psn = 0xffff80; /* wraps soon */
	memcpy(info->gid, gid.raw, 16);
	l->own_psn = info->psn;
}

static void post_recv(struct soak_link *l, unsigned slot, uint64_t flags)
{
	struct ibv_sge sge = {(uintptr_t)l->in[slot], MESSAGE_MAX, l->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = (uint64_t)l->id << 48 | (uint64_t)(l->life & 0xffff) << 32 | RECV_BIT |
					  flags | slot,
				 .sg_list = &sge,
				 .num_sge = 1},
			   *bad;

	if (flags == 0)
		l->recv_busy[slot] = true;
	must(l, ibv_post_recv(l->qp, &wr, &bad) == 0, "ibv_post_recv");
}

void soak_link_connect(struct soak_link *l, const struct soak_info *peer)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = peer->qpn,
				   .rq_psn = peer->psn,
				   .max_dest_rd_atomic = 4,
				   .min_rnr_timer = 1,
				   .ah_attr = {.is_global = 1, .port_num = 1}};

	l->peer = *peer;
	memcpy(attr.ah_attr.grh.dgid.raw, peer->gid, 16);
	must(l,
	     ibv_modify_qp(l->qp, &attr,
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
	     "to RTR");
	for (unsigned i = 0; i < RECVS; i++)
		post_recv(l, i, 0);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .sq_psn = l->own_psn,
				    .timeout = 16, /* 0.27 s, eight times */
				    .retry_cnt = 7,
				    .rnr_retry = 7,
				    .max_rd_atomic = 4};
	must(l,
	     ibv_modify_qp(l->qp, &attr,
			   IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_MAX_QP_RD_ATOMIC) == 0,
	     "to RTS");
	l->state = SOAK_UP;
	l->moved_at = soak_now();
}

/* ---- posting ---- */

static void message(struct soak_link *l, struct soak_send *s, struct ibv_send_wr *wr, uint8_t *out)
{
	s->content = message_content(l->sent_messages, l->own_psn);
	fill(out, s->len, s->content);
	wr->opcode = s->kind == SOAK_SEND ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
	wr->imm_data = htonl((uint32_t)l->sent_messages);
	if (s->kind == SOAK_WRITE_IMM) {
		wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr->wr.rdma.remote_addr = l->peer.ring + l->sent_messages % RING * MESSAGE_ROOM;
		wr->wr.rdma.rkey = l->peer.rkey;
	}
	l->sent_messages++;
}

static void echo(struct soak_link *l, struct soak_send *s, struct ibv_send_wr *wr, uint8_t *out)
{
	unsigned at = (unsigned)soak_random(&l->rng) % SLOTS;

	if (l->echo_content[at] == 0)
		s->kind = SOAK_WRITE; /* nothing to read there yet */
	wr->wr.rdma.remote_addr = l->peer.echo + at * MESSAGE_ROOM;
	wr->wr.rdma.rkey = l->peer.rkey;
	if (s->kind == SOAK_READ) {
		wr->opcode = IBV_WR_RDMA_READ;
		s->content = l->echo_content[at];
		s->len = l->echo_len[at];
		return;
	}
	/* A READ that is repeated reads again: what is to be read may not change before it has come back. */
	wr->opcode = IBV_WR_RDMA_WRITE;
	wr->send_flags |= IBV_SEND_FENCE;
	s->content = soak_random(&l->rng) | 1;
	fill(out, s->len, s->content);
	l->echo_content[at] = s->content;
	l->echo_len[at] = s->len;
}

static void atomic(struct soak_link *l, struct soak_send *s, struct ibv_send_wr *wr)
{
	s->len = 8;
	wr->wr.atomic.rkey = l->peer.rkey;
	if (s->kind == SOAK_ADD) {
		wr->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr->wr.atomic.remote_addr = l->peer.counter;
		wr->wr.atomic.compare_add = 1;
		s->content = l->adds++;
		return;
	}
	wr->opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr->wr.atomic.remote_addr = l->peer.counter + 8;
	wr->wr.atomic.compare_add = s->content = l->swap;
	wr->wr.atomic.swap = l->swap = soak_random(&l->rng);
}

static void post(struct soak_link *l)
{
	unsigned slot = (unsigned)(l->posted % SLOTS);
	struct soak_send *s = &l->send[slot];
	struct ibv_sge sge = {.addr = (uintptr_t)l->out[slot], .lkey = l->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = (uint64_t)l->id << 48 | (uint64_t)(l->life & 0xffff) << 32 | slot,
				 .sg_list = &sge,
				 .num_sge = 1},
			   *bad;

	*s = (struct soak_send){
		.busy = true, .kind = (uint8_t)(soak_random(&l->rng) % SOAK_KINDS), .len = length(&l->rng)};
	if (s->kind == SOAK_ADD || s->kind == SOAK_SWAP)
		atomic(l, s, &wr);
	else if (s->kind == SOAK_WRITE || s->kind == SOAK_READ)
		echo(l, s, &wr, l->out[slot]);
	else
		message(l, s, &wr, l->out[slot]);
	/* What returns something is signaled, and the last that fits: so the rest is accounted for in time. */
	s->signaled = s->kind == SOAK_READ || s->kind >= SOAK_ADD || slot == SLOTS - 1 || soak_random(&l->rng) % 2 == 0;
	if (s->signaled)
		wr.send_flags |= IBV_SEND_SIGNALED;
	if (s->kind == SOAK_READ || s->kind >= SOAK_ADD)
		sge.addr = (uintptr_t)l->land[slot];
	else if (s->len <= 64 && soak_random(&l->rng) % 2 == 0)
		wr.send_flags |= IBV_SEND_INLINE;
	sge.length = s->len;
	if (wr.send_flags & IBV_SEND_INLINE)
		sge.lkey = 0;
	must(l, ibv_post_send(l->qp, &wr, &bad) == 0, "ibv_post_send");
	l->posted++;
}

void soak_link_fill(struct soak_link *l)
{
	while (l->posted - l->done < SLOTS)
		post(l);
}

/* Unsignaled sends at the end of the queue need one more that is signaled. */
bool soak_link_idle(struct soak_link *l)
{
	if (l->posted == l->done)
		return true;
	if (l->posted - l->done < SLOTS && !l->send[(l->posted - 1) % SLOTS].signaled)
		post(l);
	return false;
}

/* ---- completions ---- */

unsigned soak_link_of(const struct ibv_wc *wc)
{
	return (unsigned)(wc->wr_id >> 48);
}

static void moved(struct soak_link *l)
{
	l->messages++;
	l->moved_at = soak_now();
}

/* The oldest send is accounted for: it succeeded. */
static void sent(struct soak_link *l)
{
	l->send[l->done++ % SLOTS].busy = false;
	moved(l);
}

static void check_returned(const struct soak_link *l, unsigned slot)
{
	const struct soak_send *s = &l->send[slot];
	uint64_t before;

	if (s->kind == SOAK_READ)
		check(l, "a READ", l->land[slot], s->len, s->content);
	if (s->kind < SOAK_ADD)
		return;
	memcpy(&before, l->land[slot], 8);
	if (before != s->content)
		soak_wrong(l, "%s found %llu, not %llu", s->kind == SOAK_ADD ? "FETCH_ADD" : "CMP_SWAP",
			   (unsigned long long)before, (unsigned long long)s->content);
}

static void send_completion(struct soak_link *l, const struct ibv_wc *wc)
{
	unsigned slot = (unsigned)wc->wr_id & 0xff;

	if (slot >= SLOTS || !l->send[slot].busy)
		soak_wrong(l, "the send in slot %u completes, and none is posted (%s)", slot,
			   ibv_wc_status_str(wc->status));
	while (l->done % SLOTS != slot) {
		if (l->send[l->done % SLOTS].signaled || l->send_failed)
			soak_wrong(l, "the send in slot %u completes before the one in slot %u", slot,
				   (unsigned)(l->done % SLOTS));
		sent(l);
	}
	if (wc->status != IBV_WC_SUCCESS) {
		l->send[l->done++ % SLOTS].busy = false;
		l->send_failed = true;
		return;
	}
	if (l->send_failed)
		soak_wrong(l, "a send succeeds after one that has failed");
	if (!l->send[slot].signaled)
		soak_wrong(l, "a send that was not signaled succeeds with a completion");
	check_returned(l, slot);
	sent(l);
}

static void check_message(struct soak_link *l, const struct ibv_wc *wc, unsigned slot)
{
	uint64_t content = message_content(l->received, l->peer.psn);
	const uint8_t *bytes =
		wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM ? l->shared->ring[l->received % RING] : l->in[slot];

	if ((wc->wc_flags & IBV_WC_WITH_IMM) && ntohl(wc->imm_data) != (uint32_t)l->received)
		soak_wrong(l, "message %llu comes where %llu is expected", (unsigned long long)ntohl(wc->imm_data),
			   (unsigned long long)l->received);
	check(l, "a message", bytes, wc->byte_len, content);
}

static void recv_completion(struct soak_link *l, const struct ibv_wc *wc)
{
	unsigned slot = (unsigned)wc->wr_id & 0xff;

	if (slot >= RECVS || !l->recv_busy[slot])
		soak_wrong(l, "the receive in slot %u completes, and none is posted (%s)", slot,
			   ibv_wc_status_str(wc->status));
	l->recv_busy[slot] = false;
	if (wc->status != IBV_WC_SUCCESS)
		return;
	check_message(l, wc, slot);
	l->received++;
	moved(l);
	if (l->state == SOAK_UP)
		post_recv(l, slot, 0);
}

static void marker(struct soak_link *l, const struct ibv_wc *wc)
{
	bool *which = wc->wr_id & RECV_BIT ? &l->recv_marker : &l->send_marker;

	if (!*which || wc->status != IBV_WC_WR_FLUSH_ERR)
		soak_wrong(l, "a marker completes twice, or with \"%s\"", ibv_wc_status_str(wc->status));
	*which = false;
}

/* All that was posted has completed, then: sends that were not signaled had succeeded. */
static void drained(struct soak_link *l)
{
	while (l->done != l->posted) {
		if (l->send[l->done % SLOTS].signaled || l->send_failed)
			soak_wrong(l, "the send in slot %u never completes", (unsigned)(l->done % SLOTS));
		sent(l);
	}
	for (unsigned i = 0; i < RECVS; i++)
		if (l->recv_busy[i])
			soak_wrong(l, "the receive in slot %u never completes", i);
	l->state = SOAK_DOWN;
}

bool soak_link_completion(struct soak_link *l, const struct ibv_wc *wc)
{
	bool had_failed = l->failed;

	if ((uint32_t)(wc->wr_id >> 32 & 0xffff) != (l->life & 0xffff) || l->state == SOAK_DOWN ||
	    wc->qp_num != l->qp->qp_num)
		soak_wrong(l, "a completion of another life");
	if (wc->status != IBV_WC_SUCCESS) {
		if (wc->status != IBV_WC_WR_FLUSH_ERR && wc->status != IBV_WC_RETRY_EXC_ERR)
			soak_wrong(l, "a work request fails with \"%s\"", ibv_wc_status_str(wc->status));
		if (!l->failed)
			l->first_status = wc->status;
		l->failed = true;
	}
	if (wc->wr_id & MARKER_BIT)
		marker(l, wc);
	else if (wc->wr_id & RECV_BIT)
		recv_completion(l, wc);
	else
		send_completion(l, wc);
	if (l->state == SOAK_DRAINING && !l->send_marker && !l->recv_marker)
		drained(l);
	return had_failed || !l->failed;
}

void soak_link_drain(struct soak_link *l)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_send_wr wr = {.wr_id = (uint64_t)l->id << 48 | (uint64_t)(l->life & 0xffff) << 32 | MARKER_BIT,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	must(l, ibv_modify_qp(l->qp, &attr, IBV_QP_STATE) == 0, "to ERR");
	l->state = SOAK_DRAINING;
	l->send_marker = l->recv_marker = true;
	l->moved_at = soak_now();
	must(l, ibv_post_send(l->qp, &wr, &bad) == 0, "ibv_post_send in ERR");
	post_recv(l, 0, MARKER_BIT);
}

void soak_link_renew(struct soak_link *l)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	l->life++;
	l->posted = l->done = l->sent_messages = l->received = l->adds = l->swap = 0;
	l->failed = l->send_failed = false;
	memset(l->echo_content, 0, sizeof(l->echo_content));
	if (l->life % 2 == 0) {
		must(l, ibv_modify_qp(l->qp, &attr, IBV_QP_STATE) == 0, "to RESET");
		memset(l->shared, 0, sizeof(*l->shared));
	} else {
		must(l, ibv_destroy_qp(l->qp) == 0 && ibv_dereg_mr(l->shared_mr) == 0, "ibv_destroy_qp, ibv_dereg_mr");
		free(l->shared);
		make_shared(l);
		make_qp(l);
	}
	to_init(l);
}
