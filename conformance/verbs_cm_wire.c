/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_cm_wire.c - messages of the connection manager, between what the script says and what is on the wire: services,
 * the addresses in front of the private data, and ids.
 *
 * All scripts call their peer's connections alike, and a connection manager remembers those that have ended. So the
 * peer's ids are others in every run, and a message for an id that this run does not have is a late one: a DREQ is
 * answered, that it be over.
 */
#include <string.h>
#include <time.h>

#include "verbs_cm.h"
#include "vs/cm.h"
#include "vs/icrc.h"
#include "vs/mad.h"

/* ---- services ---- */

static bool is_rdma(uint64_t service)
{
	return vs_rdmacm_is_service(service);
}

static bool script_service(const struct vc_cm *cm, uint64_t *service)
{
	for (unsigned i = 0; i < cm->n_services; i++) {
		if (cm->service[i].wire != *service)
			continue;
		*service = cm->service[i].script;
		return true;
	}
	return false;
}

/* ---- the addresses in front of the private data ---- */

static void header(struct vs_rdmacm_hdr *h, const uint8_t src[16], const uint8_t dst[16], bool v4)
{
	*h = (struct vs_rdmacm_hdr){.ip_version = v4 ? 4 : 6, .src_port = 0x7001};
	memcpy(h->src, src, 16);
	memcpy(h->dst, dst, 16);
	if (v4)
		memset(h->src, 0, 12), memset(h->dst, 0, 12);
}

static bool has_header(const uint8_t *data, size_t len, const struct vs_rdmacm_hdr *wanted)
{
	struct vs_rdmacm_hdr h;

	return vs_rdmacm_parse(&h, data, len) == VS_OK && h.ip_version == wanted->ip_version &&
	       memcmp(h.src, wanted->src, 16) == 0 && memcmp(h.dst, wanted->dst, 16) == 0;
}

static const char *put_header(uint8_t *data, size_t len, const struct vs_rdmacm_hdr *h)
{
	static const uint8_t none[VS_RDMACM_HDR_LEN];

	if (has_header(data, len, h))
		return NULL;
	if (memcmp(data + len - VS_RDMACM_HDR_LEN, none, VS_RDMACM_HDR_LEN) != 0)
		return "in front of the private data rdma_cm has the addresses: 36 bytes less are left";
	memmove(data + VS_RDMACM_HDR_LEN, data, len - VS_RDMACM_HDR_LEN);
	(void)vs_rdmacm_build(h, data);
	return NULL;
}

static void take_header(uint8_t *data, size_t len, const struct vs_rdmacm_hdr *h)
{
	if (!has_header(data, len, h))
		return; /* the script sees that it is wrong */
	memmove(data, data + VS_RDMACM_HDR_LEN, len - VS_RDMACM_HDR_LEN);
	memset(data + len - VS_RDMACM_HDR_LEN, 0, VS_RDMACM_HDR_LEN);
}

/* ---- ids ---- */

/* The field of that name; NULL: this message has none. */
static uint32_t *field(struct vs_cm_msg *m, const char *name)
{
	size_t n;
	const struct vs_cm_field *f = vs_cm_fields(m->attribute, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(f[i].name, name) == 0 && f[i].size == sizeof(uint32_t))
			return (uint32_t *)(void *)((uint8_t *)m + f[i].offset);
	return NULL;
}

static bool is_ours(const struct vc_cm *cm, uint32_t id)
{
	for (unsigned i = 0; i < cm->n_ids; i++)
		if (cm->id[i] == id)
			return true;
	return false;
}

static void salt(struct vc_cm *cm, uint32_t *id)
{
	*id ^= cm->salt;
	if (!is_ours(cm, *id) && cm->n_ids < VC_CM_IDS)
		cm->id[cm->n_ids++] = *id;
}

/* ---- frames ---- */

struct message {
	struct vs_pkt p;
	struct vs_mad mad;
	struct vs_cm_msg m;
	bool sealed; /* its ICRC is right */
};

static bool read_message(struct message *x, const uint8_t *frame, size_t len)
{
	const struct vs_pkt *p = &x->p;
	uint32_t expected;

	if (vs_pkt_parse(&x->p, VS_LINK_ETHERNET, 0, frame, len, len, 0) != VS_OK ||
	    p->bth.opcode != VS_OP_UD_SEND_ONLY || p->bth.destqp != 1 ||
	    vs_mad_parse(&x->mad, p->payload, p->payload_len) != VS_OK || x->mad.mgmt_class != VS_MAD_CLASS_CM ||
	    vs_cm_parse(&x->m, x->mad.attribute_id, p->payload + VS_MAD_HDR_LEN, p->payload_len - VS_MAD_HDR_LEN) !=
		    VS_OK)
		return false;
	x->sealed = vs_icrc_check(p, frame, &expected) == VS_CRC_GOOD;
	return true;
}

/* The message in the place of the one that is there. */
static void write_message(const struct message *x, uint8_t *frame)
{
	const struct vs_pkt *p = &x->p;
	uint32_t icrc = 0;

	(void)vs_cm_build(&x->m, frame + p->payload_off + VS_MAD_HDR_LEN);
	if (!x->sealed ||
	    !vs_icrc_bytes(p->encap, frame + p->net_off, p->bth_off - p->net_off, p->end_off - 4 - p->net_off, &icrc))
		return;
	for (unsigned i = 0; i < 4; i++)
		frame[p->end_off - 4 + i] = (uint8_t)(icrc >> 8 * i);
}

static void addresses(const struct vc_target *t, const uint8_t **device, const uint8_t **peer, bool *v4)
{
	int encap = t->setup.encap;

	*v4 = encap == EN_ROCEV2_IPV4;
	*device = t->v->gids.gid[encap];
	*peer = t->v->peer->gid[encap];
}

const char *vc_cm_to_device(struct vc_target *t, const uint8_t *frame, size_t len, uint8_t *out)
{
	struct vc_cm *cm = t->cm;
	struct vs_rdmacm_hdr h;
	const uint8_t *device, *peer;
	const char *why = NULL;
	struct message x;
	uint32_t *id;
	bool v4;

	memcpy(out, frame, len);
	if (!read_message(&x, frame, len))
		return NULL;
	addresses(t, &device, &peer, &v4);
	header(&h, peer, device, v4);
	id = field(&x.m, "local_comm_id");
	if (id != NULL)
		salt(cm, id);
	if (x.m.attribute == VS_CM_ATTR_REQ) {
		x.m.req.service_id = vc_cm_service(cm, x.m.req.service_id, false);
		why = put_header(x.m.req.private_data, sizeof(x.m.req.private_data), &h);
	} else if (x.m.attribute == VS_CM_ATTR_SIDR_REQ) {
		salt(cm, &x.m.sidr_req.request_id);
		x.m.sidr_req.service_id = vc_cm_service(cm, x.m.sidr_req.service_id, true);
		why = put_header(x.m.sidr_req.private_data, sizeof(x.m.sidr_req.private_data), &h);
	} else if (x.m.attribute == VS_CM_ATTR_SIDR_REP) {
		x.m.sidr_rep.service_id = vc_cm_service(cm, x.m.sidr_rep.service_id, true);
	}
	write_message(&x, out);
	return why;
}

/* ---- what is left of earlier runs ---- */

static void answer(struct vc_target *t, const struct message *x)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_DREP};
	struct vs_mad mad = x->mad;
	struct vs_pkt p = x->p;
	uint8_t bytes[VS_MAD_LEN] = {0}, frame[512];
	size_t n;

	m.drep.local_comm_id = x->m.dreq.remote_comm_id;
	m.drep.remote_comm_id = x->m.dreq.local_comm_id;
	mad.attribute_id = VS_CM_ATTR_DREP;
	vs_mad_build(&mad, bytes);
	(void)vs_cm_build(&m, bytes + VS_MAD_HDR_LEN);
	p.payload = bytes;
	memcpy(p.eth.src, x->p.eth.dst, 6);
	memcpy(p.eth.dst, x->p.eth.src, 6);
	memcpy(p.ipv4.src, x->p.ipv4.dst, 4);
	memcpy(p.ipv4.dst, x->p.ipv4.src, 4);
	memcpy(p.grh.sgid, x->p.grh.dgid, 16);
	memcpy(p.grh.dgid, x->p.grh.sgid, 16);
	p.ipv4.id = 0;
	if (vs_pkt_size(&p) + VS_SEAL_ROOM > sizeof(frame) ||
	    vs_pkt_seal(&p, VS_SEAL_ALL, frame, sizeof(frame)) != VS_OK)
		return;
	n = vs_pkt_size(&p);
	if (vs_pkt_build(&p, frame, sizeof(frame)) >= 0)
		(void)t->v->peer->ops->send(t->v->peer, frame, n);
}

/* Is it of this run? Ids of the peer become the script's. */
static bool claim(struct vc_cm *cm, struct vs_cm_msg *m)
{
	uint32_t *id = m->attribute == VS_CM_ATTR_SIDR_REP ? &m->sidr_rep.request_id : field(m, "remote_comm_id");

	if (m->attribute == VS_CM_ATTR_REQ)
		return script_service(cm, &m->req.service_id);
	if (m->attribute == VS_CM_ATTR_SIDR_REQ)
		return script_service(cm, &m->sidr_req.service_id);
	if (id == NULL || *id == 0)
		return true;
	if (!is_ours(cm, *id))
		return false;
	*id ^= cm->salt;
	if (m->attribute == VS_CM_ATTR_SIDR_REP)
		(void)script_service(cm, &m->sidr_rep.service_id);
	return true;
}

bool vc_cm_to_script(struct vc_target *t, const uint8_t *frame, size_t len, uint8_t *out)
{
	struct vs_rdmacm_hdr h;
	const uint8_t *device, *peer;
	struct message x;
	bool v4;

	memcpy(out, frame, len);
	if (!read_message(&x, frame, len))
		return true;
	if (t->cm == NULL || !claim(t->cm, &x.m)) {
		if (x.m.attribute == VS_CM_ATTR_DREQ)
			answer(t, &x);
		return false;
	}
	addresses(t, &device, &peer, &v4);
	header(&h, device, peer, v4);
	if (x.m.attribute == VS_CM_ATTR_REQ && !is_rdma(x.m.req.service_id))
		take_header(x.m.req.private_data, sizeof(x.m.req.private_data), &h);
	if (x.m.attribute == VS_CM_ATTR_SIDR_REQ && !is_rdma(x.m.sidr_req.service_id))
		take_header(x.m.sidr_req.private_data, sizeof(x.m.sidr_req.private_data), &h);
	write_message(&x, out);
	return true;
}

static void closing(void *ctx, uint64_t stamp_ns, const uint8_t *frame, size_t len)
{
	struct message x;

	(void)stamp_ns;
	if (read_message(&x, frame, len) && x.m.attribute == VS_CM_ATTR_DREQ)
		answer(ctx, &x);
}

void vc_cm_part(struct vc_target *t)
{
	struct vc_peer *peer = t->v->peer;
	const struct timespec ts = {0, 200000};
	unsigned quiet = 0;

	for (unsigned i = 0; peer != NULL && quiet < 3 && i < 64; i++) {
		quiet = peer->ops->receive(peer, 64, closing, t) > 0 ? 0 : quiet + 1;
		peer->ops->flush(peer);
		if (quiet > 0)
			(void)nanosleep(&ts, NULL);
	}
}
