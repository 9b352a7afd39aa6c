/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * remote_target.c - one run on a device behind an agent: calls become requests, observations wait until they are asked
 * for (remote_news.c). Of memory there is a copy here; what changes goes to and fro.
 */
#include <stdlib.h>
#include <string.h>

#include "remote.h"

#define PINGS 5u

/* ---- asking ---- */

static struct vc_link *link_of(struct dr_target *dt)
{
	return vc_self(dt)->remote->link;
}

struct ag_line *vc_remote_request(struct dr_target *dt, const char *verb)
{
	vc_remote_watch(vc_self(dt)); /* what is looked at afterwards */
	return vc_link_begin(link_of(dt), verb);
}

int vc_remote_ask(struct dr_target *dt, struct ag_words *w)
{
	struct vc_target *t = vc_self(dt);
	struct vc_link *l = link_of(dt);
	int code;

	t->remote->step_until_ns = 0; /* it is over there when something else is asked for */
	switch (vc_link_ask(l, w, &code)) {
	case VC_ANSWER_OK:
		return VS_OK;
	case VC_ANSWER_REFUSED:
		return code < 0 ? code : VS_ERR_INVAL;
	case VC_ANSWER_LACKS:
		return vc_lacks(t, ag_get_text(w));
	case VC_ANSWER_FAILED:
		vc_link_over(l, "the agent failed: %.200s", ag_get_text(w));
		break;
	default:
		break;
	}
	vc_remote_hear(t, false);
	return VS_ERR_IO;
}

int vc_remote_read_all(struct dr_target *dt, const struct ag_words *w)
{
	struct ag_words rest = *w;

	if (ag_at_end(&rest))
		return VS_OK;
	vc_link_nonsense(link_of(dt));
	vc_remote_hear(vc_self(dt), false);
	return VS_ERR_IO;
}

int vc_remote_ask_nothing(struct dr_target *dt)
{
	struct ag_words w;
	int rc = vc_remote_ask(dt, &w);

	return rc == VS_OK ? vc_remote_read_all(dt, &w) : rc;
}

uint64_t vc_remote_ask_number(struct dr_target *dt, uint64_t most)
{
	struct ag_words w;
	uint64_t v;

	if (vc_remote_ask(dt, &w) != VS_OK)
		return 0;
	v = ag_get_num(&w, most);
	return vc_remote_read_all(dt, &w) == VS_OK ? v : 0;
}

/* ---- objects ---- */

static uint32_t number(const void *h)
{
	return h != NULL ? ((const struct vc_object *)h)->number : 0;
}

/* What was asked for makes an object; *h is NULL unless VS_OK. The words are at what is said beside its number. */
static int ask_object(struct dr_target *dt, enum obj_kind kind, void **h, struct ag_words *w)
{
	struct vc_remote *m = vc_self(dt)->remote;
	struct vc_object *o;
	int rc = vc_remote_ask(dt, w);

	*h = NULL;
	if (rc != VS_OK)
		return rc;
	o = calloc(1, sizeof(*o));
	if (o == NULL)
		return VS_ERR_NOSPACE;
	o->kind = kind;
	o->number = (uint32_t)ag_get_num(w, UINT32_MAX);
	o->next = m->objects;
	m->objects = o;
	*h = o;
	return VS_OK;
}

static int ask_plain_object(struct dr_target *dt, enum obj_kind kind, void **h)
{
	struct ag_words w;
	int rc = ask_object(dt, kind, h, &w);

	return rc == VS_OK ? vc_remote_read_all(dt, &w) : rc;
}

static int r_pd_create(struct dr_target *dt, int node, void **h)
{
	ag_put_num(vc_remote_request(dt, "pd"), (uint64_t)node);
	return ask_plain_object(dt, O_PD, h);
}

static int r_channel_create(struct dr_target *dt, int node, void **h)
{
	ag_put_num(vc_remote_request(dt, "channel"), (uint64_t)node);
	return ask_plain_object(dt, O_CHANNEL, h);
}

static int r_cq_create(struct dr_target *dt, int node, uint32_t cqe, void *channel, void **h)
{
	struct ag_line *l = vc_remote_request(dt, "cq");
	struct ag_words w;
	int rc;

	ag_put_num(l, (uint64_t)node);
	ag_put_num(l, cqe);
	ag_put_num(l, number(channel));
	rc = ask_object(dt, O_CQ, h, &w);
	if (rc != VS_OK)
		return rc;
	((struct vc_object *)*h)->capacity = (uint32_t)ag_get_num(&w, UINT32_MAX);
	return vc_remote_read_all(dt, &w);
}

static int r_cq_resize(struct dr_target *dt, void *cq, uint32_t cqe)
{
	struct ag_line *l = vc_remote_request(dt, "resize");
	struct ag_words w;
	int rc;

	ag_put_num(l, number(cq));
	ag_put_num(l, cqe);
	rc = vc_remote_ask(dt, &w);
	if (rc != VS_OK)
		return rc;
	((struct vc_object *)cq)->capacity = (uint32_t)ag_get_num(&w, UINT32_MAX);
	return vc_remote_read_all(dt, &w);
}

static uint32_t r_cq_capacity(struct dr_target *dt, void *cq)
{
	(void)dt;
	return ((struct vc_object *)cq)->capacity;
}

static int r_srq_create(struct dr_target *dt, int node, void *pd, const struct vs_srq_attr *a, void **h)
{
	struct ag_line *l = vc_remote_request(dt, "srq");
	struct vs_srq_attr copy = *a;

	ag_put_num(l, (uint64_t)node);
	ag_put_num(l, number(pd));
	ag_io_srq(&(struct ag_io){.out = l}, &copy);
	return ask_plain_object(dt, O_SRQ, h);
}

static int r_srq_modify(struct dr_target *dt, void *srq, const struct vs_srq_attr *a, unsigned mask)
{
	struct ag_line *l = vc_remote_request(dt, "srq_modify");
	struct vs_srq_attr copy = *a;

	ag_put_num(l, number(srq));
	ag_io_srq(&(struct ag_io){.out = l}, &copy);
	ag_put_num(l, mask);
	return vc_remote_ask_nothing(dt);
}

static void r_srq_query(struct dr_target *dt, void *srq, struct vs_srq_attr *a)
{
	struct ag_words w;

	*a = (struct vs_srq_attr){0, 0, 0};
	ag_put_num(vc_remote_request(dt, "srq_query"), number(srq));
	if (vc_remote_ask(dt, &w) != VS_OK)
		return;
	ag_io_srq(&(struct ag_io){.in = &w}, a);
	(void)vc_remote_read_all(dt, &w);
}

static int r_mw_alloc(struct dr_target *dt, int node, void *pd, enum vs_mw_type type, void **h)
{
	struct ag_line *l = vc_remote_request(dt, "mw");

	ag_put_num(l, (uint64_t)node);
	ag_put_num(l, number(pd));
	ag_put_num(l, (uint64_t)type);
	return ask_plain_object(dt, O_MW, h);
}

static uint32_t r_mw_rkey(struct dr_target *dt, void *h, bool posted)
{
	struct ag_line *l = vc_remote_request(dt, "mw_rkey");

	ag_put_num(l, number(h));
	ag_put_num(l, posted);
	return (uint32_t)vc_remote_ask_number(dt, UINT32_MAX);
}

static int r_ah_create(struct dr_target *dt, int node, void *pd, const struct vs_av *av, void **h)
{
	struct ag_line *l = vc_remote_request(dt, "ah");
	struct vs_av copy = *av;

	vc_group_heard(vc_self(dt), av->dgid);
	ag_put_num(l, (uint64_t)node);
	ag_put_num(l, number(pd));
	ag_io_av(&(struct ag_io){.out = l}, &copy);
	return ask_plain_object(dt, O_AH, h);
}

static int r_group(struct dr_target *dt, void *qp, const uint8_t mgid[16], bool attach)
{
	struct ag_line *l = vc_remote_request(dt, "group");

	ag_put_num(l, number(qp));
	ag_put_bytes(l, mgid, 16);
	ag_put_num(l, attach);
	return vc_remote_ask_nothing(dt);
}

static int r_destroy_object(struct dr_target *dt, enum obj_kind kind, void *h)
{
	struct ag_line *l = vc_remote_request(dt, "destroy");
	struct vc_object *o = h;
	int rc;

	ag_put_num(l, (uint64_t)kind);
	ag_put_num(l, o->number);
	rc = vc_remote_ask_nothing(dt);
	o->gone |= rc >= 0;
	return rc;
}

/* ---- memory ---- */

static int r_mr_reg(struct dr_target *dt, int node, void *pd, uint32_t access, struct dr_memory *m)
{
	struct ag_line *l = vc_remote_request(dt, "mr");
	struct vc_object *o;
	struct ag_words w;
	void *h;
	int rc;

	ag_put_num(l, (uint64_t)node);
	ag_put_num(l, number(pd));
	ag_put_num(l, access);
	ag_put_num(l, m->len);
	rc = ask_object(dt, O_MR, &h, &w);
	if (rc != VS_OK)
		return rc;
	m->addr = ag_get_num(&w, UINT64_MAX);
	m->lkey = (uint32_t)ag_get_num(&w, UINT32_MAX);
	m->rkey = (uint32_t)ag_get_num(&w, UINT32_MAX);
	rc = vc_remote_read_all(dt, &w);
	o = h;
	o->bytes = calloc(1, (size_t)m->len + 1);
	o->known = calloc(1, (size_t)m->len + 1);
	if (o->bytes == NULL || o->known == NULL)
		return VS_ERR_NOSPACE;
	o->len = m->len;
	m->h = h;
	m->bytes = o->bytes;
	return rc;
}

static int r_mr_rereg(struct dr_target *dt, struct dr_memory *m, unsigned flags, void *pd, uint32_t access,
		      uint32_t from, uint32_t to)
{
	struct ag_line *l = vc_remote_request(dt, "rereg");
	struct ag_words w;
	int rc;

	ag_put_num(l, number(m->h));
	ag_put_num(l, flags);
	ag_put_num(l, number(pd));
	ag_put_num(l, access);
	ag_put_num(l, from);
	ag_put_num(l, to);
	rc = vc_remote_ask(dt, &w);
	if (rc != VS_OK)
		return rc;
	m->lkey = (uint32_t)ag_get_num(&w, UINT32_MAX);
	m->rkey = (uint32_t)ag_get_num(&w, UINT32_MAX);
	return vc_remote_read_all(dt, &w);
}

static void r_mr_written(struct dr_target *dt, struct dr_memory *m)
{
	struct vc_object *o = m->h;
	struct ag_piece p;
	uint32_t at = 0;
	bool any = false;

	while (ag_changed(o->bytes, o->known, o->len, &at, &p)) {
		struct ag_line *l = vc_link_begin_told(link_of(dt), p.fill ? "fill" : "put");

		ag_put_num(l, o->number);
		ag_put_num(l, p.off);
		if (p.fill) {
			ag_put_num(l, p.len);
			ag_put_num(l, o->bytes[p.off]);
		} else {
			ag_put_bytes(l, o->bytes + p.off, p.len);
		}
		vc_link_tell(link_of(dt));
		any = true;
	}
	if (!any)
		return;
	(void)vc_remote_request(dt, "look"); /* the device has it before the peer does anything */
	(void)vc_remote_ask_nothing(dt);
}

static void r_mr_read(struct dr_target *dt, struct dr_memory *m)
{
	if (link_of(dt)->over[0] != '\0')
		return;
	ag_put_num(vc_remote_request(dt, "get"), number(m->h));
	(void)vc_remote_ask_nothing(dt);
}

/* ---- queue pairs and work ---- */

static int r_qp_create(struct dr_target *dt, int node, void *pd, const struct vs_qp_init *init, void **h, uint32_t *qpn)
{
	struct ag_line *l = vc_remote_request(dt, "qp");
	struct ag_qp q = {*init, number(pd), number(init->send_cq), number(init->recv_cq), number(init->srq)};
	struct ag_words w;
	int rc;

	*qpn = 0;
	ag_put_num(l, (uint64_t)node);
	ag_io_qp(&(struct ag_io){.out = l}, &q);
	rc = ask_object(dt, O_QP, h, &w);
	if (rc != VS_OK)
		return rc;
	*qpn = (uint32_t)ag_get_num(&w, UINT32_MAX);
	return vc_remote_read_all(dt, &w);
}

static int r_qp_modify(struct dr_target *dt, void *qp, const struct vs_qp_attr *a, uint32_t mask)
{
	struct ag_line *l = vc_remote_request(dt, "modify");
	struct vs_qp_attr copy = *a;

	ag_put_num(l, number(qp));
	ag_io_attr(&(struct ag_io){.out = l}, &copy);
	ag_put_num(l, mask);
	return vc_remote_ask_nothing(dt);
}

static void r_qp_query(struct dr_target *dt, void *qp, struct vs_qp_attr *a, struct vs_qp_init *init)
{
	struct ag_words w;
	struct ag_io io = {.in = &w};

	*a = (struct vs_qp_attr){.state = VS_QPS_COUNT};
	*init = (struct vs_qp_init){.send_cq = NULL};
	ag_put_num(vc_remote_request(dt, "query"), number(qp));
	if (vc_remote_ask(dt, &w) != VS_OK)
		return;
	ag_io_attr(&io, a);
	ag_io_cap(&io, &init->cap);
	(void)vc_remote_read_all(dt, &w);
}

static enum vs_qp_state r_qp_state(struct dr_target *dt, void *qp)
{
	struct ag_words w;
	enum vs_qp_state s;

	ag_put_num(vc_remote_request(dt, "state"), number(qp));
	if (vc_remote_ask(dt, &w) != VS_OK)
		return VS_QPS_COUNT;
	s = (enum vs_qp_state)ag_get_num(&w, VS_QPS_COUNT);
	return vc_remote_read_all(dt, &w) == VS_OK ? s : VS_QPS_COUNT;
}

static int r_post_send(struct dr_target *dt, void *qp, const struct vs_send_wr *wr)
{
	static struct ag_send s;
	struct ag_line *l = vc_remote_request(dt, "send");

	s.wr = *wr;
	if (wr->num_sge > AG_SGES || wr->inline_len > AG_INLINE)
		return vc_lacks(vc_self(dt), "a request to an agent has at most 16 parts and 4096 bytes inline");
	if (wr->num_sge > 0)
		memcpy(s.sge, wr->sg_list, wr->num_sge * sizeof(s.sge[0]));
	if (!(wr->flags & VS_SEND_INLINE))
		s.wr.inline_len = 0;
	else if (wr->inline_len > 0)
		memcpy(s.data, wr->inline_data, wr->inline_len);
	s.ah = number(wr->ud.ah);
	s.mw = number(wr->bind.mw);
	s.mr = number(wr->bind.mr);
	ag_put_num(l, number(qp));
	ag_io_send(&(struct ag_io){.out = l}, &s);
	return vc_remote_ask_nothing(dt);
}

static int r_post_recv(struct dr_target *dt, void *qp, void *srq, const struct vs_recv_wr *wr)
{
	struct ag_line *l = vc_remote_request(dt, "recv");
	struct ag_recv r = {.wr = *wr};

	if (wr->num_sge > AG_SGES)
		return vc_lacks(vc_self(dt), "a request to an agent has at most 16 parts");
	if (wr->num_sge > 0)
		memcpy(r.sge, wr->sg_list, wr->num_sge * sizeof(r.sge[0]));
	ag_put_num(l, srq != NULL ? 0 : number(qp));
	ag_put_num(l, number(srq));
	ag_io_recv(&(struct ag_io){.out = l}, &r);
	return vc_remote_ask_nothing(dt);
}

static void r_cq_arm(struct dr_target *dt, void *cq, bool solicited)
{
	struct ag_line *l = vc_remote_request(dt, "arm");

	ag_put_num(l, number(cq));
	ag_put_num(l, solicited);
	(void)vc_remote_ask_nothing(dt);
}

static uint64_t r_counter(struct dr_target *dt, int node, enum vs_counter c)
{
	struct ag_line *l = vc_remote_request(dt, "counter");

	ag_put_num(l, (uint64_t)node);
	ag_put_num(l, (uint64_t)c);
	return vc_remote_ask_number(dt, UINT64_MAX);
}

/* ---- opening ---- */

static bool begin(struct vc_target *t, char *why, size_t cap)
{
	struct vc_link *link = t->remote->link;
	struct ag_line *l;
	struct ag_words w;
	int code;

	link->slow_ns = 0;
	for (unsigned i = 0; i < PINGS; i++) {
		(void)vc_link_begin(link, "ping");
		(void)vc_link_ask(link, &w, &code);
	}
	/* What has to go there and back may need that much longer, a few times. */
	t->t.slack_ns += 4 * link->slow_ns;
	t->t.settle_ns += 4 * link->slow_ns;
	link->slow_ns = 0;
	l = vc_link_begin(link, "run");
	ag_put_num(l, t->setup.p->n_nodes);
	for (unsigned i = 0; i < t->setup.p->n_nodes; i++) {
		ag_put_word(l, t->setup.p->node[i].name);
		ag_put_num(l, t->setup.p->node[i].engine);
	}
	if (vc_link_ask(link, &w, &code) == VC_ANSWER_OK)
		return true;
	if (link->over[0] == '\0')
		vc_link_over(link, "the agent can't begin: %.200s", ag_get_text(&w));
	(void)snprintf(why, cap, "%s", link->over);
	return false;
}

bool vc_remote_open(struct vc_target *t, char *why, size_t cap)
{
	t->remote = calloc(1, sizeof(*t->remote));
	if (t->remote == NULL)
		return false;
	t->remote->link = t->v->link;
	t->remote->last = &t->remote->first;
	if (!begin(t, why, cap))
		return false;
	t->v->link->heard = vc_remote_heard;
	t->v->link->ctx = t;
	t->t.clock_error_ns = vc_clock_error_ns(&t->v->link->clock, vc_now_ns());
	return true;
}

void vc_remote_close(struct vc_target *t)
{
	struct vc_remote *m = t->remote;
	struct ag_words w;
	int code;

	if (m == NULL)
		return;
	m->link->heard = NULL;
	if (m->link->over[0] == '\0') {
		(void)vc_link_begin(m->link, "end");
		(void)vc_link_ask(m->link, &w, &code);
	}
	vc_remote_cm_close(t);
	while (m->first != NULL) {
		struct vc_news *gone = m->first;

		m->first = gone->next;
		free(gone);
	}
	while (m->objects != NULL) {
		struct vc_object *gone = m->objects;

		m->objects = gone->next;
		free(gone->bytes);
		free(gone->known);
		free(gone);
	}
	free(m);
	t->remote = NULL;
}

void vc_remote_ops(struct dr_target_ops *ops)
{
	vc_remote_news_ops(ops);
	ops->pd_create = r_pd_create;
	ops->channel_create = r_channel_create;
	ops->cq_create = r_cq_create;
	ops->cq_resize = r_cq_resize;
	ops->cq_capacity = r_cq_capacity;
	ops->srq_create = r_srq_create;
	ops->srq_modify = r_srq_modify;
	ops->srq_query = r_srq_query;
	ops->mr_reg = r_mr_reg;
	ops->mr_rereg = r_mr_rereg;
	ops->mr_written = r_mr_written;
	ops->mr_read = r_mr_read;
	ops->mw_alloc = r_mw_alloc;
	ops->mw_rkey = r_mw_rkey;
	ops->ah_create = r_ah_create;
	ops->group = r_group;
	ops->destroy_object = r_destroy_object;
	ops->qp_create = r_qp_create;
	ops->qp_modify = r_qp_modify;
	ops->qp_query = r_qp_query;
	ops->qp_state = r_qp_state;
	ops->post_send = r_post_send;
	ops->post_recv = r_post_recv;
	ops->cq_arm = r_cq_arm;
	ops->counter = r_counter;
}
