/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cm_packet.c - the peer's side of connection management: messages by the fields of cm.def.
 */
#include "packet.h"

static void set_cm_field(struct vs_cm_msg *m, const struct vs_cm_field *f, uint64_t v)
{
	uint8_t *at = (uint8_t *)m + f->offset;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	if (f->size == 1)
		*at = (uint8_t)v;
	else if (f->size == 2)
		memcpy(at, &v16, 2);
	else if (f->size == 4)
		memcpy(at, &v32, 4);
	else
		memcpy(at, &v, 8);
}

/* What a message says when the script does not: ids, addresses, times. */
static void usual_cm(struct run *r, const struct stmt *st, struct vs_cm_msg *m, const struct vs_av *to,
		     const struct vs_av *from)
{
	size_t n;
	const struct vs_cm_field *f = vs_cm_fields(m->attribute, &n);
	const struct vs_cm_msg *last = &r->cm_heard, *sidr = &r->sidr_heard;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(f[i].name, "local_comm_id") == 0)
			set_cm_field(m, &f[i], 0x70656572);
		/* All messages of a connection begin with the id of their sender. */
		if (last->attribute != 0 && strcmp(f[i].name, "remote_comm_id") == 0)
			set_cm_field(m, &f[i], last->req.local_comm_id);
		if (strcmp(f[i].name, "remote_qpn") == 0)
			set_cm_field(m, &f[i], r->heard_qpn);
	}
	if (m->attribute == VS_CM_ATTR_SIDR_REQ) {
		m->sidr_req.request_id = 0x70656572;
		m->sidr_req.pkey = 0xffff;
	}
	if (m->attribute == VS_CM_ATTR_SIDR_REP) {
		m->sidr_rep.request_id = sidr->sidr_req.request_id;
		m->sidr_rep.service_id = sidr->sidr_req.service_id;
	}
	if (m->attribute == VS_CM_ATTR_REQ) {
		m->req.remote_cm_response_timeout = m->req.local_cm_response_timeout = 18;
		m->req.pkey = 0xffff;
		m->req.path_mtu = VS_CM_MTU_1024;
		m->req.max_cm_retries = 3;
		m->req.retry_count = m->req.rnr_retry_count = 7;
		m->req.responder_resources = m->req.initiator_depth = 4;
		m->req.primary_ack_timeout = 14;
		m->req.primary_hop_limit = 64;
		m->req.primary_local_lid = from->dlid;
		m->req.primary_remote_lid = to->dlid;
		m->req.primary_subnet_local = true;
		memcpy(m->req.primary_local_gid, from->dgid, 16);
		memcpy(m->req.primary_remote_gid, to->dgid, 16);
	}
	if (m->attribute == VS_CM_ATTR_REP) {
		m->rep.responder_resources = m->rep.initiator_depth = 4;
		m->rep.rnr_retry_count = 7;
	}
	(void)st;
}

uint64_t dr_cm_value(const struct vs_cm_field *f, uint64_t v)
{
	uint64_t code = 1;

	if (strcmp(f->name, "path_mtu") != 0 || v <= 15)
		return v;
	while (code < 5 && vs_cm_mtu_bytes((uint8_t)code) < v)
		code++;
	return code;
}

static bool set_option(struct run *r, const struct stmt *st, const struct option *o, struct vs_cm_msg *m,
		       const struct vs_cm_field *f)
{
	const uint8_t *bytes;
	uint32_t len;
	uint64_t v;

	if (f->kind >= VS_CM_KIND_GID) {
		if (!dr_bytes(r, st, &o->v, &bytes, &len))
			return false;
		if (len > f->size) {
			dr_broken(r, st, o->column, "%s has %u bytes", f->name, f->size);
			return false;
		}
		memcpy((uint8_t *)m + f->offset, bytes, len);
		return true;
	}
	if (!dr_eval(r, st, o->v.e, &v))
		return false;
	v = dr_cm_value(f, v);
	if (f->width < 64 && v >> f->width != 0) {
		dr_broken(r, st, o->column, "%s has %u bits", f->name, f->width);
		return false;
	}
	set_cm_field(m, f, v);
	return true;
}

uint64_t dr_mad_value(const struct vs_mad *m, int field)
{
	switch (field) {
	case MAD_BASE_VERSION:
		return m->base_version;
	case MAD_CLASS:
		return m->mgmt_class;
	case MAD_CLASS_VERSION:
		return m->class_version;
	case MAD_METHOD:
		return m->method;
	case MAD_STATUS:
		return m->status;
	default:
		return m->transaction_id;
	}
}

static bool set_mad_option(struct run *r, const struct stmt *st, const struct option *o, struct vs_mad *m)
{
	uint64_t v, most = o->key->obj == -MAD_TID ? UINT64_MAX : o->key->obj == -MAD_STATUS ? UINT16_MAX : UINT8_MAX;

	if (!dr_eval(r, st, o->v.e, &v))
		return false;
	if (v > most) {
		dr_broken(r, st, o->column, "%s is at most 0x%llx", o->key->name, (unsigned long long)most);
		return false;
	}
	switch (-o->key->obj) {
	case MAD_BASE_VERSION:
		m->base_version = (uint8_t)v;
		break;
	case MAD_CLASS:
		m->mgmt_class = (uint8_t)v;
		break;
	case MAD_CLASS_VERSION:
		m->class_version = (uint8_t)v;
		break;
	case MAD_METHOD:
		m->method = (uint8_t)v;
		break;
	case MAD_STATUS:
		m->status = (uint16_t)v;
		break;
	default:
		m->transaction_id = v;
		break;
	}
	return true;
}

/* The node that to= names, or the first engine. */
static int target_node(const struct run *r, const struct stmt *st)
{
	const struct option *to = dr_opt(st, K_TO);
	int node = 0;

	if (to != NULL && to->v.kind != V_SLICE)
		return to->v.kind == V_NODE ? to->v.word : to->v.obj->node;
	while (!r->p->node[node].engine)
		node++;
	return node;
}

/* An answer is of the transaction that it answers. */
static uint64_t usual_tid(struct run *r, int attribute)
{
	uint64_t fresh = 0x7000 + r->serial++;

	switch (attribute) {
	case VS_CM_ATTR_REQ:
	case VS_CM_ATTR_DREQ:
	case VS_CM_ATTR_LAP:
	case VS_CM_ATTR_SIDR_REQ:
		return fresh;
	default:
		return r->heard_tid != 0 ? r->heard_tid : fresh;
	}
}

/* The peer's queue pair begins where the message that the peer took says. */
static void begin_where_told(struct run *r)
{
	for (unsigned i = 0; i < r->p->n_objs; i++)
		if (r->p->obj[i]->kind == O_QP && !r->p->node[r->p->obj[i]->node].engine && r->obj[i].qpn == r->cm_qpn)
			r->obj[i].psn = r->heard_psn;
}

void dr_cm_taken(struct run *r, const struct vs_pkt *p)
{
	struct vs_cm_msg m;
	struct vs_mad mad;

	if (!dr_parse_cm(p, &m) || vs_mad_parse(&mad, p->payload, p->payload_len) != VS_OK)
		return;
	if (m.attribute == VS_CM_ATTR_SIDR_REQ || m.attribute == VS_CM_ATTR_SIDR_REP)
		r->sidr_heard = m;
	else
		r->cm_heard = m;
	if (m.attribute == VS_CM_ATTR_REQ)
		r->heard_qpn = m.req.qpn;
	if (m.attribute == VS_CM_ATTR_REP)
		r->heard_qpn = m.rep.qpn;
	if (m.attribute == VS_CM_ATTR_REQ || m.attribute == VS_CM_ATTR_REP) {
		r->heard_psn = m.attribute == VS_CM_ATTR_REQ ? m.req.psn : m.rep.psn;
		begin_where_told(r);
	}
	r->heard_tid = mad.transaction_id;
}

bool dr_send_cm(struct run *r, const struct stmt *st)
{
	struct vs_mad mad = {1, 7, VS_CM_CLASS_VERSION, 3, 0, 0, usual_tid(r, st->word2), (uint16_t)st->word2, 0, 0};
	struct vs_cm_msg m = {.attribute = (uint16_t)st->word2};
	uint8_t bytes[VS_MAD_LEN] = {0};
	struct vs_av to, from;
	struct vs_pkt p;
	size_t n;

	if (!dr_start_packet(r, st, &p, VS_OP_UD_SEND_ONLY))
		return false;
	(void)r->t->ops->av(r->t, target_node(r, st), -1, &to);
	(void)r->t->ops->av(r->t, st->node, -1, &from);
	usual_cm(r, st, &m, &to, &from);
	for (const struct option *o = st->opt; o != NULL; o = o->next)
		if (o->key->id < K_MAD)
			continue;
		else if (o->key->obj < 0 ? !set_mad_option(r, st, o, &mad)
					 : !set_option(r, st, o, &m, &vs_cm_fields(m.attribute, &n)[o->key->obj]))
			return false;
	vs_mad_build(&mad, bytes);
	(void)vs_cm_build(&m, bytes + VS_MAD_HDR_LEN);
	p.bth.destqp = 1;
	p.bth.psn = 0x7000 + r->mads++; /* of QP 1: every one has its own */
	p.ext.deth.srcqp = 1;
	p.ext.deth.qkey = VS_GSI_QKEY;
	p.payload = bytes;
	p.payload_len = VS_MAD_LEN;
	if (m.attribute == VS_CM_ATTR_REQ || m.attribute == VS_CM_ATTR_REP) {
		r->cm_psn = m.attribute == VS_CM_ATTR_REQ ? m.req.psn : m.rep.psn;
		r->cm_qpn = m.attribute == VS_CM_ATTR_REQ ? m.req.qpn : m.rep.qpn;
		begin_where_told(r);
	}
	return dr_plain_fields(r, st, &p) && dr_put(r, st, &p, VS_SEAL_ALL);
}
