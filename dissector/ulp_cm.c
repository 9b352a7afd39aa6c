/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ulp_cm.c - connections learnt from CM: which QPs talk to each other, and for which service.
 *
 * REQ teaches the requester's QP and the service id, REP the responder's QP; REJ and DREP end the
 * connection, LAP adds addresses. SIDR teaches the QP behind a datagram service. A QP that a later
 * REQ or REP names again belongs to the new connection from that frame on.
 *
 * A port has several addresses (GID, the IPv4 address in it, LID), and CM may travel by another one
 * than the data. Every end is therefore stored under all addresses that CM named and the one that its
 * own message came from.
 *
 * Everything is keyed by frame number (see ulp.h), and nothing is stored in a second pass.
 */
#include "ulp.h"

#include "vs/cm.h"

static wmem_map_t *qps;   /* address, QPN -> tree by frame -> struct ulp_ref: packets to there */
static wmem_map_t *comms; /* address, communication or request id -> tree by frame -> struct ulp_ref: its owner */
static bool learnt;       /* anything at all, in this capture */

static struct {
	uint32_t frame;
	struct ulp_assoc *assoc;
} current;

unsigned ulp_key_hash(const void *key)
{
	const uint8_t *p = key;
	unsigned h = 2166136261u;

	for (size_t i = 0; i < sizeof(struct ulp_key); i++)
		h = (h ^ p[i]) * 16777619u;
	return h;
}

gboolean ulp_key_equal(const void *x, const void *y)
{
	return memcmp(x, y, sizeof(struct ulp_key)) == 0;
}

static struct ulp_key key_of(const struct ulp_addr *a, uint32_t n)
{
	struct ulp_key k;

	memset(&k, 0, sizeof(k));
	k.a = *a;
	k.n = n;
	return k;
}

static void store(wmem_map_t *map, const struct ulp_addr *a, uint32_t n, uint32_t frame, struct ulp_assoc *assoc,
		  enum ulp_role role)
{
	struct ulp_key k = key_of(a, n);
	struct ulp_ref *ref;
	wmem_tree_t *versions = wmem_map_lookup(map, &k);

	if (versions == NULL) {
		versions = wmem_tree_new(wmem_file_scope());
		wmem_map_insert(map, wmem_memdup(wmem_file_scope(), &k, sizeof(k)), versions);
	}
	ref = wmem_new(wmem_file_scope(), struct ulp_ref);
	ref->assoc = assoc;
	ref->to = role;
	wmem_tree_insert32(versions, frame, ref);
	learnt = true;
}

static const struct ulp_ref *fetch(wmem_map_t *map, const struct ulp_addr *a, uint32_t n, uint32_t frame)
{
	struct ulp_key k = key_of(a, n);
	wmem_tree_t *versions = wmem_map_lookup(map, &k);
	const struct ulp_ref *ref = versions != NULL ? wmem_tree_lookup32_le(versions, frame) : NULL;

	if (ref != NULL && ref->assoc->last_frame != 0 && frame > ref->assoc->last_frame)
		return NULL;
	return ref;
}

/* ---- ends and their addresses ---- */

static void end_add_addr(struct ulp_assoc *assoc, enum ulp_role role, const struct ulp_addr *a, uint32_t frame)
{
	struct ulp_end *e = &assoc->end[role];

	if (a->len == 0 || e->addr_count == array_length(e->addrs))
		return;
	for (uint32_t i = 0; i < e->addr_count; i++)
		if (memcmp(&e->addrs[i].addr, a, sizeof(*a)) == 0)
			return;
	e->addrs[e->addr_count].addr = *a;
	e->addrs[e->addr_count++].frame = frame;
	if (e->qp_frame != 0)
		store(qps, a, e->qp, frame, assoc, role);
}

/* A GID, the IPv4 address that it may hold, and the LID where there are LIDs. */
static void end_add_path(struct rdma_ctx *c, struct ulp_assoc *assoc, enum ulp_role role, const uint8_t gid[16],
			 uint16_t lid)
{
	static const uint8_t zero[16], mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct ulp_addr a;

	if (memcmp(gid, zero, sizeof(zero)) != 0) {
		a = (struct ulp_addr){.len = 16};
		memcpy(a.b, gid, 16);
		end_add_addr(assoc, role, &a, c->pinfo->num);
		if (memcmp(gid, mapped, sizeof(mapped)) == 0) {
			a = (struct ulp_addr){.len = 4};
			memcpy(a.b, gid + 12, 4);
			end_add_addr(assoc, role, &a, c->pinfo->num);
		}
	}
	if (lid != 0 && (c->pkt.encap == VS_ENCAP_IB || c->pkt.encap == VS_ENCAP_IB_GRH)) {
		a = (struct ulp_addr){.len = sizeof(lid)}; /* in host order, as AT_IB holds it */
		memcpy(a.b, &lid, sizeof(lid));
		end_add_addr(assoc, role, &a, c->pinfo->num);
	}
}

/* From now on the end has this QP, under every address that is known of it. */
static void end_set_qp(struct ulp_assoc *assoc, enum ulp_role role, uint32_t qp, uint32_t frame)
{
	struct ulp_end *e = &assoc->end[role];

	e->qp = qp;
	e->qp_frame = frame;
	for (uint32_t i = 0; i < e->addr_count; i++)
		store(qps, &e->addrs[i].addr, qp, frame, assoc, role);
}

struct ulp_assoc *ulp_assoc_new(uint32_t frame, uint32_t client_qp, uint32_t server_qp)
{
	struct ulp_assoc *assoc = wmem_new0(wmem_file_scope(), struct ulp_assoc);

	assoc->first_frame = frame;
	assoc->end[ULP_CLIENT].qp = client_qp;
	assoc->end[ULP_CLIENT].qp_frame = client_qp != 0 ? frame : 0;
	assoc->end[ULP_SERVER].qp = server_qp;
	assoc->end[ULP_SERVER].qp_frame = server_qp != 0 ? frame : 0;
	return assoc;
}

/* ---- the messages ---- */

struct message {
	struct rdma_ctx *c;
	const uint8_t *data;
	struct ulp_addr src, dst;
	uint32_t frame;
	bool first_pass;
	struct vs_cm_msg m;
};

static struct ulp_assoc *new_connection(const struct message *msg, uint64_t service_id)
{
	struct ulp_assoc *assoc = ulp_assoc_new(msg->frame, 0, 0);

	assoc->service_id = service_id;
	assoc->service_known = true;
	return assoc;
}

static struct ulp_assoc *learn_req(struct message *msg)
{
	const struct vs_cm_req *req = &msg->m.req;
	const struct ulp_ref *known = fetch(comms, &msg->src, req->local_comm_id, msg->frame);
	struct ulp_assoc *assoc;

	if (known != NULL && known->to == ULP_CLIENT && known->assoc->end[ULP_CLIENT].qp == req->qpn &&
	    known->assoc->service_id == req->service_id)
		return known->assoc; /* sent again, or a later pass */
	if (!msg->first_pass)
		return NULL;
	assoc = new_connection(msg, req->service_id);
	assoc->end[ULP_CLIENT].comm_id = req->local_comm_id;
	memcpy(assoc->end[ULP_CLIENT].mad, msg->data, VS_CM_DATA_LEN);
	store(comms, &msg->src, req->local_comm_id, msg->frame, assoc, ULP_CLIENT);
	end_add_addr(assoc, ULP_CLIENT, &msg->src, msg->frame);
	end_add_path(msg->c, assoc, ULP_CLIENT, req->primary_local_gid, req->primary_local_lid);
	end_add_path(msg->c, assoc, ULP_CLIENT, req->alternate_local_gid, req->alternate_local_lid);
	end_add_addr(assoc, ULP_SERVER, &msg->dst, msg->frame);
	end_add_path(msg->c, assoc, ULP_SERVER, req->primary_remote_gid, req->primary_remote_lid);
	end_add_path(msg->c, assoc, ULP_SERVER, req->alternate_remote_gid, req->alternate_remote_lid);
	end_set_qp(assoc, ULP_CLIENT, req->qpn, msg->frame);
	return assoc;
}

static struct ulp_assoc *learn_rep(struct message *msg)
{
	const struct vs_cm_rep *rep = &msg->m.rep;
	const struct ulp_ref *ref = fetch(comms, &msg->dst, rep->remote_comm_id, msg->frame);
	struct ulp_end *server;

	if (ref == NULL || ref->to != ULP_CLIENT)
		return NULL;
	server = &ref->assoc->end[ULP_SERVER];
	if (msg->first_pass && server->qp_frame == 0) {
		server->comm_id = rep->local_comm_id;
		memcpy(server->mad, msg->data, VS_CM_DATA_LEN);
		store(comms, &msg->src, rep->local_comm_id, msg->frame, ref->assoc, ULP_SERVER);
		end_add_addr(ref->assoc, ULP_SERVER, &msg->src, msg->frame);
		end_set_qp(ref->assoc, ULP_SERVER, rep->qpn, msg->frame);
	}
	return ref->assoc;
}

static struct ulp_assoc *learn_sidr_req(struct message *msg)
{
	const struct vs_cm_sidr_req *req = &msg->m.sidr_req;
	const struct ulp_ref *known = fetch(comms, &msg->src, req->request_id, msg->frame);
	struct ulp_assoc *assoc;

	if (known != NULL && known->assoc->service_id == req->service_id)
		return known->assoc;
	if (!msg->first_pass)
		return NULL;
	assoc = new_connection(msg, req->service_id);
	store(comms, &msg->src, req->request_id, msg->frame, assoc, ULP_CLIENT);
	end_add_addr(assoc, ULP_SERVER, &msg->dst, msg->frame);
	return assoc;
}

static struct ulp_assoc *learn_sidr_rep(struct message *msg)
{
	const struct vs_cm_sidr_rep *rep = &msg->m.sidr_rep;
	const struct ulp_ref *ref = fetch(comms, &msg->dst, rep->request_id, msg->frame);

	if (ref == NULL)
		return NULL;
	if (msg->first_pass && rep->status == 0 && ref->assoc->end[ULP_SERVER].qp_frame == 0) {
		end_add_addr(ref->assoc, ULP_SERVER, &msg->src, msg->frame);
		end_set_qp(ref->assoc, ULP_SERVER, rep->qpn, msg->frame);
	}
	return ref->assoc;
}

/* Messages that begin with both communication ids; either may name the connection. */
static struct ulp_assoc *learn_other(struct message *msg)
{
	uint32_t local = msg->m.rtu.local_comm_id, remote = msg->m.rtu.remote_comm_id;
	const struct ulp_ref *ref = fetch(comms, &msg->src, local, msg->frame);
	const struct vs_cm_lap *lap = &msg->m.lap;
	struct ulp_assoc *assoc;
	enum ulp_role sender;

	if (ref != NULL) {
		sender = ref->to;
	} else {
		ref = fetch(comms, &msg->dst, remote, msg->frame);
		if (ref == NULL)
			return NULL;
		sender = ref->to == ULP_CLIENT ? ULP_SERVER : ULP_CLIENT;
	}
	assoc = ref->assoc;
	if (!msg->first_pass)
		return assoc;
	if (msg->m.attribute == VS_CM_ATTR_REJ || msg->m.attribute == VS_CM_ATTR_DREP)
		assoc->last_frame = msg->frame;
	if (msg->m.attribute == VS_CM_ATTR_LAP) {
		end_add_path(msg->c, assoc, sender, lap->alternate_local_gid, lap->alternate_local_lid);
		end_add_path(msg->c, assoc, !sender, lap->alternate_remote_gid, lap->alternate_remote_lid);
	}
	return assoc;
}

void rdma_ulp_learn_cm(struct rdma_ctx *c, uint16_t attribute, const uint8_t *data, size_t len)
{
	struct message msg = {.c = c, .data = data, .frame = c->pinfo->num, .first_pass = !PINFO_FD_VISITED(c->pinfo)};
	struct ulp_assoc *assoc;

	current.frame = 0;
	if (vs_cm_parse(&msg.m, attribute, data, len) != 0)
		return;
	msg.src = ulp_addr(&c->pinfo->src);
	msg.dst = ulp_addr(&c->pinfo->dst);
	switch (attribute) {
	case VS_CM_ATTR_REQ:
		assoc = learn_req(&msg);
		break;
	case VS_CM_ATTR_REP:
		assoc = learn_rep(&msg);
		break;
	case VS_CM_ATTR_SIDR_REQ:
		assoc = learn_sidr_req(&msg);
		break;
	case VS_CM_ATTR_SIDR_REP:
		assoc = learn_sidr_rep(&msg);
		break;
	default:
		assoc = learn_other(&msg);
		break;
	}
	current.frame = msg.frame;
	current.assoc = assoc;
}

struct ulp_assoc *ulp_cm_current(const packet_info *pinfo)
{
	return current.frame == pinfo->num ? current.assoc : NULL;
}

/* ---- questions ---- */

uint32_t ulp_peer_qp(const struct ulp_ref *ref, uint32_t frame)
{
	const struct ulp_end *peer = &ref->assoc->end[!ref->to];

	return peer->qp_frame != 0 && peer->qp_frame <= frame ? peer->qp : 0;
}

/* LIDs are not compared: with LMC a port has several that differ in the low bits. */
static bool sent_by_peer(const packet_info *pinfo, const struct ulp_ref *ref)
{
	const struct ulp_end *peer = &ref->assoc->end[!ref->to];
	struct ulp_addr src = ulp_addr(&pinfo->src);

	if (src.len != 4 && src.len != 16)
		return true;
	for (uint32_t i = 0; i < peer->addr_count; i++)
		if (peer->addrs[i].frame <= pinfo->num && memcmp(&peer->addrs[i].addr, &src, sizeof(src)) == 0)
			return true;
	return peer->addr_count == 0; /* SIDR: whoever asks */
}

bool ulp_cm_find(const packet_info *pinfo, uint32_t qp, struct ulp_ref *ref)
{
	struct ulp_addr dst;
	const struct ulp_ref *found;

	if (!learnt)
		return false;
	dst = ulp_addr(&pinfo->dst);
	found = fetch(qps, &dst, qp, pinfo->num);
	if (found == NULL || !sent_by_peer(pinfo, found))
		return false;
	*ref = *found;
	return true;
}

bool rdma_ulp_src_qp(const packet_info *pinfo, uint32_t dest_qp, uint32_t *src_qp)
{
	struct ulp_ref ref;
	uint32_t qp;

	if (!ulp_cm_find(pinfo, dest_qp, &ref))
		return false;
	qp = ulp_peer_qp(&ref, pinfo->num);
	if (qp == 0)
		return false;
	*src_qp = qp;
	return true;
}

static void forget(void)
{
	learnt = false;
	current.frame = 0;
	current.assoc = NULL;
}

void ulp_cm_register(void)
{
	qps = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), ulp_key_hash, ulp_key_equal);
	comms = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), ulp_key_hash, ulp_key_equal);
	register_init_routine(forget);
}
