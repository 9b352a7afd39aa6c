/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * program_calls.c - the verbs calls that a script claims of a program: each is looked up in the record.
 *
 * The next call of that kind on that object which no line has claimed yet must be it. What the script says of it is
 * compared; numbers that a device chooses (keys, queue pair numbers, addresses) are learnt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* The next one that nobody has claimed; n: there is none. `qpn` 0: of any queue pair. */
static size_t find(const struct program_target *t, int node, enum vs_event_type type, uint32_t qpn)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct vs_event *ev = &t->ev[i];

		if (ev->type == type && !t->used[i] && program_node(ev->node) == node && (qpn == 0 || ev->qpn == qpn))
			break;
	}
	return i;
}

/* Claims it; time goes on to it, and to what it led to at once (the attributes, the new state). */
static const struct vs_event *claim(struct program_target *t, size_t i)
{
	uint64_t seq = t->ev[i].seq;
	size_t last = i;

	t->used[i] = true;
	for (size_t k = i + 1; k < t->n && k < i + 4 && t->ev[k].t_ns == t->ev[i].t_ns; k++)
		if ((t->ev[k].type == VS_EV_QP_ATTR || t->ev[k].type == VS_EV_QP_STATE) && t->ev[k].qpn == t->ev[i].qpn)
			last = k;
	(void)seq;
	program_reach(t, last);
	return &t->ev[i];
}

static const struct vs_event *next_call(struct program_target *t, int node, enum vs_event_type type, uint32_t qpn,
					const char *verb)
{
	size_t i = find(t, node, type, qpn);
	const char *name = t->setup.p->node[node].name;

	if (i < t->n)
		return claim(t, i);
	if (qpn != 0)
		(void)program_differs(t, "the program made no further %s on QP 0x%x of %s", verb, qpn, name);
	else
		(void)program_differs(t, "the program made no further %s on %s", verb, name);
	return NULL;
}

/* What the call returned; when it was refused, the reason stands before it. */
static int returned(struct program_target *t, int node, const struct vs_event *ev, uint64_t ret)
{
	int rc = (int)(int64_t)ret;

	t->reason[node] = VS_REASON_NONE;
	for (size_t k = (size_t)(ev - t->ev); rc < 0 && k > 0; k--) {
		const struct vs_event *b = &t->ev[k - 1];

		if (b->type != VS_EV_VERB_REFUSED || program_node(b->node) != node)
			continue;
		t->reason[node] = (enum vs_reason)b->a[0];
		break;
	}
	return rc;
}

static struct program_object *object(struct program_target *t, enum obj_kind kind, int node)
{
	struct program_object *o = calloc(1, sizeof(*o));

	if (o == NULL)
		return NULL;
	o->kind = kind;
	o->node = node;
	o->next = t->objects;
	t->objects = o;
	return o;
}

/* ---- objects ---- */

static int c_pd(struct dr_target *dt, int node, void **h)
{
	struct program_target *t = program_self(dt);

	*h = object(t, O_PD, node);
	if (*h == NULL)
		return VS_ERR_NOSPACE;
	(void)next_call(t, node, VS_EV_DEV_ALLOC_PD, 0, "ibv_alloc_pd");
	return VS_OK;
}

static int c_channel(struct dr_target *dt, int node, void **h)
{
	*h = object(program_self(dt), O_CHANNEL, node);
	return *h != NULL ? program_lacks(program_self(dt), "completion channels are not in the record")
			  : VS_ERR_NOSPACE;
}

/* The first one of a node stands for every queue that the script does not name. */
static int c_cq(struct dr_target *dt, int node, uint32_t cqe, void *channel, void **h)
{
	struct program_target *t = program_self(dt);
	struct program_object *o = object(t, O_CQ, node);
	const struct vs_event *ev;
	bool first = true;

	(void)channel;
	*h = o;
	if (o == NULL)
		return VS_ERR_NOSPACE;
	for (const struct program_object *x = o->next; x != NULL; x = x->next)
		first &= x->kind != O_CQ || x->node != node;
	o->usual = first;
	if (first)
		return VS_OK;
	ev = next_call(t, node, VS_EV_DEV_CREATE_CQ, 0, "ibv_create_cq");
	if (ev == NULL)
		return VS_OK;
	o->number = (uint32_t)ev->a[1];
	if (ev->a[0] < cqe)
		return program_differs(t, "the completion queue has room for %llu, not for %u",
				       (unsigned long long)ev->a[0], cqe);
	return VS_OK;
}

static int c_cq_resize(struct dr_target *dt, void *cq, uint32_t cqe)
{
	(void)cq;
	(void)cqe;
	return program_lacks(program_self(dt), "ibv_resize_cq is not in the record");
}

static uint32_t c_cq_capacity(struct dr_target *dt, void *cq)
{
	(void)cq;
	(void)program_lacks(program_self(dt), "what a queue holds is not in the record");
	return 0;
}

static int c_srq(struct dr_target *dt, int node, void *pd, const struct vs_srq_attr *attr, void **h)
{
	(void)pd;
	(void)attr;
	*h = object(program_self(dt), O_SRQ, node);
	return program_lacks(program_self(dt), "shared receive queues are not in the record");
}

static int c_srq_modify(struct dr_target *dt, void *srq, const struct vs_srq_attr *attr, unsigned mask)
{
	(void)dt;
	(void)srq;
	(void)attr;
	(void)mask;
	return VS_OK;
}

static void c_srq_query(struct dr_target *dt, void *srq, struct vs_srq_attr *attr)
{
	(void)dt;
	(void)srq;
	*attr = (struct vs_srq_attr){0};
}

/* ---- memory ---- */

/* local_write,remote_read: as a script says it. */
static void access_text(uint64_t access, char *buf, size_t cap)
{
	size_t used = 0;

	(void)snprintf(buf, cap, "none");
	for (const struct word *w = dr_access_words; w->name != NULL; w++) {
		int n = w->value != 0 && (access & (uint64_t)w->value) == (uint64_t)w->value && used < cap
				? snprintf(buf + used, cap - used, "%s%s", used > 0 ? "," : "", w->name)
				: 0;

		used += n > 0 ? (size_t)n : 0;
	}
}

static uint8_t nibble(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The bytes that the region had when it went. False: that is not in the record. */
static bool fill(const struct program_target *t, const struct program_object *o)
{
	bool any = o->mem.len == 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct vs_event *ev = &t->ev[i];
		const char *hex = (const char *)(uintptr_t)ev->a[3];
		uint64_t from = ev->a[0] - o->mem.addr;

		if (ev->type != VS_EV_MEM_BYTES || program_node(ev->node) != o->node || ev->a[2] != o->mem.lkey)
			continue;
		for (uint64_t k = 0; k < ev->a[1] && from + k < o->mem.len; k++)
			o->mem.bytes[from + k] = (uint8_t)(nibble(hex[2 * k]) << 4 | nibble(hex[2 * k + 1]));
		any = true;
	}
	return any;
}

static int c_mr(struct dr_target *dt, int node, void *pd, uint32_t access, struct dr_memory *m)
{
	struct program_target *t = program_self(dt);
	struct program_object *o = object(t, O_MR, node);
	uint8_t *bytes = calloc(1, m->len + 1u);
	const struct vs_event *ev;

	(void)pd;
	if (o == NULL || bytes == NULL) {
		free(bytes);
		return VS_ERR_NOSPACE;
	}
	m->h = o;
	m->bytes = bytes;
	o->mem = *m;
	ev = next_call(t, node, VS_EV_VERB_REG_MR, 0, "ibv_reg_mr");
	if (ev == NULL)
		return VS_OK;
	m->addr = o->mem.addr = ev->a[0];
	m->lkey = o->mem.lkey = (uint32_t)ev->a[2];
	m->rkey = o->mem.rkey = (uint32_t)ev->a[3];
	if (ev->a[1] != m->len)
		return program_differs(t, "%llu bytes were registered, not %u", (unsigned long long)ev->a[1], m->len);
	if (ev->a[4] != access) {
		char is[96], want[96];

		access_text(ev->a[4], is, sizeof(is));
		access_text(access, want, sizeof(want));
		return program_differs(t, "the region was registered with access %s, not %s", is, want);
	}
	(void)fill(t, o);
	return returned(t, node, ev, ev->a[5]);
}

static void c_mr_written(struct dr_target *dt, struct dr_memory *m)
{
	(void)fill(program_self(dt), m->h); /* what the script writes is what was there at the end */
}

static bool c_mr_known(struct dr_target *dt, struct dr_memory *m)
{
	const struct program_object *o = m->h;

	return o == NULL || fill(program_self(dt), o);
}

static int c_mr_rereg(struct dr_target *dt, struct dr_memory *m, unsigned flags, void *pd, uint32_t access,
		      uint32_t from, uint32_t to)
{
	(void)m;
	(void)flags;
	(void)pd;
	(void)access;
	(void)from;
	(void)to;
	return program_lacks(program_self(dt), "ibv_rereg_mr is not in the record");
}

static int c_mw(struct dr_target *dt, int node, void *pd, enum vs_mw_type type, void **h)
{
	(void)pd;
	(void)type;
	*h = object(program_self(dt), O_MW, node);
	return program_lacks(program_self(dt), "memory windows are not in the record");
}

static uint32_t c_mw_rkey(struct dr_target *dt, void *h, bool posted)
{
	(void)dt;
	(void)h;
	(void)posted;
	return 0;
}

/* ---- queue pairs ---- */

static int c_qp_create(struct dr_target *dt, int node, void *pd, const struct vs_qp_init *init, void **h, uint32_t *qpn)
{
	struct program_target *t = program_self(dt);
	struct program_object *o = object(t, O_QP, node);
	const struct vs_event *ev;

	(void)pd;
	*h = o;
	if (o == NULL)
		return VS_ERR_NOSPACE;
	o->init = *init;
	ev = next_call(t, node, VS_EV_VERB_CREATE_QP, 0, "ibv_create_qp");
	if (ev == NULL)
		return VS_OK;
	o->at = ev;
	*qpn = o->qpn = ev->qpn;
	if (ev->a[0] != init->type)
		return program_differs(t, "the queue pair is of another type");
	return returned(t, node, ev, ev->a[1]);
}

static int c_qp_modify(struct dr_target *dt, void *qp, const struct vs_qp_attr *a, uint32_t mask)
{
	struct program_target *t = program_self(dt);
	const struct program_object *o = qp;
	const struct vs_event *ev = next_call(t, o->node, VS_EV_VERB_MODIFY_QP, o->qpn, "ibv_modify_qp");

	if (ev == NULL)
		return VS_OK;
	if (mask & VS_QP_STATE && ev->a[1] != a->state)
		return program_differs(t, "ibv_modify_qp to %s came instead of one to %s",
				       vs_qp_state_name((enum vs_qp_state)ev->a[1]), vs_qp_state_name(a->state));
	return returned(t, o->node, ev, ev->a[3]);
}

static enum vs_qp_state c_qp_state(struct dr_target *dt, void *qp)
{
	const struct program_target *t = program_self(dt);
	const struct program_object *o = qp;
	enum vs_qp_state state = VS_QPS_RESET;

	for (size_t i = 0; i < t->at; i++) {
		const struct vs_event *ev = &t->ev[i];

		if (ev->type == VS_EV_QP_STATE && ev->qpn == o->qpn && program_node(ev->node) == o->node)
			state = (enum vs_qp_state)ev->a[1];
	}
	return state;
}

static enum vs_mtu mtu_code(uint64_t bytes)
{
	enum vs_mtu m = VS_MTU_256;

	while (m < VS_MTU_4096 && vs_mtu_bytes(m) < bytes)
		m++;
	return m;
}

static void c_qp_query(struct dr_target *dt, void *qp, struct vs_qp_attr *a, struct vs_qp_init *init)
{
	const struct program_target *t = program_self(dt);
	const struct program_object *o = qp;

	*a = (struct vs_qp_attr){.state = c_qp_state(dt, qp)};
	*init = o->init;
	for (size_t i = 0; i < t->at; i++) {
		const struct vs_event *ev = &t->ev[i];

		if (ev->type != VS_EV_QP_ATTR || ev->qpn != o->qpn || program_node(ev->node) != o->node)
			continue;
		a->sq_psn = (uint32_t)ev->a[0];
		a->rq_psn = (uint32_t)ev->a[1];
		a->dest_qpn = (uint32_t)ev->a[2];
		a->path_mtu = mtu_code(ev->a[3]);
		a->timeout = (uint8_t)ev->a[4];
		a->retry_cnt = (uint8_t)ev->a[5];
		a->rnr_retry = (uint8_t)ev->a[6];
		a->min_rnr_timer = (uint8_t)ev->a[7];
		a->max_rd_atomic = (uint8_t)ev->a[8];
		a->max_dest_rd_atomic = (uint8_t)ev->a[9];
		a->access_flags = (uint32_t)ev->a[10];
	}
}

static int c_ah(struct dr_target *dt, int node, void *pd, const struct vs_av *av, void **h)
{
	(void)pd;
	(void)av;
	*h = object(program_self(dt), O_AH, node);
	return *h != NULL ? VS_OK : VS_ERR_NOSPACE;
}

static int c_group(struct dr_target *dt, void *qp, const uint8_t mgid[16], bool attach)
{
	(void)qp;
	(void)mgid;
	(void)attach;
	return program_lacks(program_self(dt), "multicast groups are not in the record");
}

static int c_destroy(struct dr_target *dt, enum obj_kind kind, void *h)
{
	static const struct {
		enum obj_kind kind;
		enum vs_event_type type;
		unsigned ret;
		const char *verb;
	} rows[] = {{O_QP, VS_EV_VERB_DESTROY_QP, 0, "ibv_destroy_qp"},
		    {O_MR, VS_EV_VERB_DEREG_MR, 1, "ibv_dereg_mr"},
		    {O_CQ, VS_EV_DEV_DESTROY_CQ, 1, "ibv_destroy_cq"},
		    {O_PD, VS_EV_DEV_DEALLOC_PD, 0, "ibv_dealloc_pd"}};
	struct program_target *t = program_self(dt);
	const struct program_object *o = h;

	for (unsigned r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		const struct vs_event *ev;

		if (rows[r].kind != kind)
			continue;
		ev = next_call(t, o->node, rows[r].type, kind == O_QP ? o->qpn : 0, rows[r].verb);
		return ev != NULL ? returned(t, o->node, ev, ev->a[rows[r].ret]) : VS_OK;
	}
	return VS_OK;
}

/* ---- work ---- */

static uint64_t length_of(const struct vs_sge *sge, uint32_t n)
{
	uint64_t len = 0;

	for (uint32_t i = 0; i < n; i++)
		len += sge[i].length;
	return len;
}

static bool is_remote(enum vs_wr_opcode op)
{
	return op == VS_WR_RDMA_WRITE || op == VS_WR_RDMA_WRITE_WITH_IMM || op == VS_WR_RDMA_READ ||
	       op == VS_WR_ATOMIC_CMP_AND_SWP || op == VS_WR_ATOMIC_FETCH_AND_ADD;
}

/* For whom a datagram is stands in its packet. False: it never left, or the record has no bytes of it. */
static bool datagram_of(const struct program_target *t, const struct vs_event *post, struct vs_pkt *pkt)
{
	struct vs_frame f;
	size_t frame = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct vs_event *ev = &t->ev[i];

		if (ev->type != VS_EV_PKT_TX)
			continue;
		if (ev->cause == post->seq)
			return vs_record_frame(t->p->record, frame, &f) &&
			       vs_pkt_parse(pkt, f.link, f.ethertype, f.data, f.caplen, f.wirelen, 0) == VS_OK &&
			       (pkt->hdrs & VS_HDR_DETH) != 0;
		frame++;
	}
	return false;
}

static int datagram_differs(struct program_target *t, const struct vs_event *post, const struct vs_send_wr *wr)
{
	struct vs_pkt p;

	if (!datagram_of(t, post, &p))
		return VS_OK;
	if (p.bth.destqp != wr->ud.remote_qpn)
		return program_differs(t, "the datagram is for QP 0x%x, not 0x%x", p.bth.destqp, wr->ud.remote_qpn);
	if (p.ext.deth.qkey != wr->ud.remote_qkey && (wr->ud.remote_qkey & 0x80000000u) == 0)
		return program_differs(t, "the datagram has Q_Key 0x%x, not 0x%x", p.ext.deth.qkey, wr->ud.remote_qkey);
	return VS_OK;
}

static int c_post_send(struct dr_target *dt, void *qp, const struct vs_send_wr *wr)
{
	struct program_target *t = program_self(dt);
	const struct program_object *o = qp;
	const struct vs_event *ev = next_call(t, o->node, VS_EV_VERB_POST_SEND, o->qpn, "ibv_post_send");
	uint64_t len = wr->flags & VS_SEND_INLINE ? wr->inline_len : length_of(wr->sg_list, wr->num_sge);
	const unsigned claimed = VS_SEND_SIGNALED | VS_SEND_FENCE | VS_SEND_SOLICITED | VS_SEND_INLINE;

	if (ev == NULL)
		return VS_OK;
	if (ev->wr_id != wr->wr_id)
		return program_differs(t, "a request with wr_id=%llu was posted instead of wr_id=%llu",
				       (unsigned long long)ev->wr_id, (unsigned long long)wr->wr_id);
	if (ev->a[0] != wr->opcode)
		return program_differs(t, "the request is %s, not %s", vs_wr_opcode_name((enum vs_wr_opcode)ev->a[0]),
				       vs_wr_opcode_name(wr->opcode));
	if (ev->a[1] != len)
		return program_differs(t, "the request has %llu bytes, not %llu", (unsigned long long)ev->a[1],
				       (unsigned long long)len);
	if (is_remote(wr->opcode) && (ev->a[2] != wr->rdma.remote_addr || (uint32_t)ev->a[3] != wr->rdma.rkey))
		return program_differs(t, "the request is for address 0x%llx with rkey 0x%llx, not 0x%llx with 0x%x",
				       (unsigned long long)ev->a[2], (unsigned long long)ev->a[3],
				       (unsigned long long)wr->rdma.remote_addr, wr->rdma.rkey);
	if (((unsigned)ev->a[4] ^ wr->flags) & claimed)
		return program_differs(t, "the flags of the request are 0x%llx, not 0x%x",
				       (unsigned long long)ev->a[4] & claimed, wr->flags & claimed);
	if (o->init.type == VS_QPT_UD)
		(void)datagram_differs(t, ev, wr);
	return returned(t, o->node, ev, ev->a[5]);
}

static int c_post_recv(struct dr_target *dt, void *qp, void *srq, const struct vs_recv_wr *wr)
{
	struct program_target *t = program_self(dt);
	const struct program_object *o = qp;
	const struct vs_event *ev;
	uint64_t len = length_of(wr->sg_list, wr->num_sge);

	if (srq != NULL)
		return program_lacks(t, "shared receive queues are not in the record");
	ev = next_call(t, o->node, VS_EV_VERB_POST_RECV, o->qpn, "ibv_post_recv");
	if (ev == NULL)
		return VS_OK;
	if (ev->wr_id != wr->wr_id)
		return program_differs(t, "a receive with wr_id=%llu was posted instead of wr_id=%llu",
				       (unsigned long long)ev->wr_id, (unsigned long long)wr->wr_id);
	if (ev->a[0] != len)
		return program_differs(t, "the receive has room for %llu bytes, not %llu", (unsigned long long)ev->a[0],
				       (unsigned long long)len);
	return returned(t, o->node, ev, ev->a[1]);
}

static void c_arm(struct dr_target *dt, void *cq, bool solicited)
{
	(void)cq;
	(void)solicited;
	(void)program_lacks(program_self(dt), "completion channels are not in the record");
}

/* ---- connections: their packets are watched ---- */

#define CONNECTIONS "connections of a program are watched as packets: NODE> CM REQ ..."

static int c_listen(struct dr_target *dt, int node, uint64_t service, uint64_t cookie)
{
	(void)node;
	(void)service;
	(void)cookie;
	return program_lacks(program_self(dt), CONNECTIONS);
}

static int c_connect(struct dr_target *dt, int node, const struct vs_conn_param *p, void **conn)
{
	(void)node;
	(void)p;
	*conn = NULL;
	return program_lacks(program_self(dt), CONNECTIONS);
}

void program_calls(struct dr_target_ops *ops)
{
	ops->pd_create = c_pd;
	ops->channel_create = c_channel;
	ops->cq_create = c_cq;
	ops->cq_resize = c_cq_resize;
	ops->cq_capacity = c_cq_capacity;
	ops->srq_create = c_srq;
	ops->srq_modify = c_srq_modify;
	ops->srq_query = c_srq_query;
	ops->mr_reg = c_mr;
	ops->mr_rereg = c_mr_rereg;
	ops->mr_known = c_mr_known;
	ops->mr_written = c_mr_written;
	ops->mw_alloc = c_mw;
	ops->mw_rkey = c_mw_rkey;
	ops->qp_create = c_qp_create;
	ops->qp_modify = c_qp_modify;
	ops->qp_query = c_qp_query;
	ops->qp_state = c_qp_state;
	ops->ah_create = c_ah;
	ops->group = c_group;
	ops->destroy_object = c_destroy;
	ops->post_send = c_post_send;
	ops->post_recv = c_post_recv;
	ops->cq_arm = c_arm;
	ops->listen = c_listen;
	ops->connect = c_connect;
	ops->sidr_resolve = c_connect;
}
