/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mkulp_wire.c - connections and output of the upper-layer capture generator (mkulp.h). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mkulp.h"
#include "vs/cm.h"
#include "vs/mad.h"
#include "vs/pktio.h"
#include "vs/psn.h"

#define START_NS (1767225600ll * 1000000000ll) /* 2026-01-01 00:00:00 UTC */
#define STEP_NS 10000ll

_Noreturn void die(const char *fmt, ...)
{
	va_list ap;

	fputs("mkulp: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* ---- output ---- */

struct out {
	struct vs_writer *w;
	int64_t now_ns;
};

struct out *out_open(const char *dir, const char *name, bool native)
{
	struct out *o = calloc(1, sizeof(*o));
	struct vs_io_error err;
	char path[4096];

	if (!o)
		die("out of memory");
	if (snprintf(path, sizeof(path), "%s/%s.pcap", dir, name) >= (int)sizeof(path))
		die("%s: the name is too long", dir);
	o->now_ns = START_NS;
	o->w = vs_writer_open(path, native ? VS_WRITER_ERF_IB : VS_WRITER_ETHERNET, &err);
	if (!o->w)
		die("%s", err.text);
	return o;
}

void out_close(struct out *o)
{
	struct vs_io_error err;

	if (vs_writer_close(o->w, &err) < 0)
		die("%s", err.text);
	free(o);
}

static void out_packet(struct out *o, struct vs_pkt *p)
{
	static uint8_t buf[9000], scratch[9000];
	struct vs_io_error err;
	int n;

	if (vs_pkt_seal(p, VS_SEAL_ALL, scratch, sizeof(scratch)) < 0)
		die("a packet can't be sealed");
	n = vs_pkt_build(p, buf, sizeof(buf));
	if (n < 0)
		die("a packet can't be built");
	if (vs_writer_put(o->w, o->now_ns, buf, (uint32_t)n, (uint32_t)n, &err) < 0)
		die("%s", err.text);
	o->now_ns += STEP_NS;
}

/* ---- the two hosts of a pair ---- */

static void host_gid(const struct conn *c, enum side s, uint8_t gid[16])
{
	memset(gid, 0, 16);
	if (c->encap == VS_ENCAP_ROCEV2_IPV4) {
		gid[10] = gid[11] = 0xff;
		gid[12] = 10;
		gid[13] = 99;
		gid[14] = (uint8_t)c->pair;
		gid[15] = (uint8_t)(1 + s);
		return;
	}
	gid[0] = 0xfd;
	gid[1] = 0x99;
	gid[14] = (uint8_t)c->pair;
	gid[15] = (uint8_t)(1 + s);
}

static uint16_t host_lid(const struct conn *c, enum side s)
{
	return (uint16_t)(0x100 + 2 * c->pair + s);
}

static void set_addresses(const struct conn *c, enum side from, struct vs_pkt *p)
{
	uint8_t src[16], dst[16];

	host_gid(c, from, src);
	host_gid(c, !from, dst);
	memcpy(p->ipv4.src, src + 12, 4);
	memcpy(p->ipv4.dst, dst + 12, 4);
	memcpy(p->grh.sgid, src, 16);
	memcpy(p->grh.dgid, dst, 16);
	p->lrh.slid = host_lid(c, from);
	p->lrh.dlid = host_lid(c, !from);
	p->eth.src[0] = p->eth.dst[0] = 2;
	p->eth.src[4] = p->eth.dst[4] = (uint8_t)c->pair;
	p->eth.src[5] = (uint8_t)(1 + from);
	p->eth.dst[5] = (uint8_t)(2 - from);
	p->udp.sport = (uint16_t)(0xc000 + c->pair);
}

static void begin(const struct conn *c, enum side from, uint8_t opcode, struct vs_pkt *p)
{
	vs_pkt_init(p, c->encap, opcode, c->encap == VS_ENCAP_ROCEV2_IPV4 || c->encap == VS_ENCAP_ROCEV2_IPV6);
	set_addresses(c, from, p);
}

void conn_init(struct conn *c, struct out *o, enum vs_encap encap, unsigned pair, bool same)
{
	memset(c, 0, sizeof(*c));
	c->o = o;
	c->encap = encap;
	c->pair = pair;
	c->qp[CLIENT] = 0x770000 + pair;
	c->qp[SERVER] = same ? c->qp[CLIENT] : 0x880000 + pair;
	c->psn[CLIENT] = 0xfffffe; /* wraps soon */
	c->psn[SERVER] = 0x000200;
	c->comm_id[CLIENT] = 0xc1000000 + pair;
	c->comm_id[SERVER] = 0x51000000 + pair;
	c->mtu = 1024;
}

/* ---- CM ---- */

static void cm_send(struct conn *c, enum side from, const struct vs_cm_msg *m)
{
	struct vs_mad mad = {
		.base_version = 1,
		.mgmt_class = VS_MAD_CLASS_CM,
		.class_version = VS_CM_CLASS_VERSION,
		.method = VS_MAD_METHOD_SEND,
		.transaction_id = 0x7700000000ull + c->comm_id[CLIENT],
		.attribute_id = m->attribute,
	};
	uint8_t bytes[VS_MAD_LEN];
	struct vs_pkt p;

	vs_mad_build(&mad, bytes);
	if (vs_cm_build(m, bytes + VS_MAD_HDR_LEN) != 0)
		die("a CM message can't be built");
	begin(c, from, VS_OP_UD_SEND_ONLY, &p);
	p.bth.destqp = VS_QPN_GSI;
	p.ext.deth.qkey = VS_GSI_QKEY;
	p.ext.deth.srcqp = VS_QPN_GSI;
	p.payload = bytes;
	p.payload_len = VS_MAD_LEN;
	out_packet(c->o, &p);
}

uint64_t cm_port(unsigned port)
{
	return vs_rdmacm_service(VS_RDMACM_PS_TCP, (uint16_t)port);
}

/* What RDMA-CM puts in front of the consumer's private data; 0 bytes for other service ids. */
static size_t rdmacm_header(const struct conn *c, uint64_t service_id, uint8_t *at)
{
	struct vs_rdmacm_hdr h = {.ip_version = c->encap == VS_ENCAP_ROCEV2_IPV4 ? 4 : 6, .src_port = 40000};

	if (!vs_rdmacm_is_service(service_id))
		return 0;
	host_gid(c, CLIENT, h.src);
	host_gid(c, SERVER, h.dst);
	if (h.ip_version == 4) {
		memset(h.src, 0, 12);
		memset(h.dst, 0, 12);
	}
	vs_rdmacm_build(&h, at);
	return VS_RDMACM_HDR_LEN;
}

void cm_req(struct conn *c, uint64_t service_id, const void *private_data, size_t len)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REQ};
	size_t at = rdmacm_header(c, service_id, m.req.private_data);

	if (at + len > sizeof(m.req.private_data))
		die("%zu bytes of private data don't fit a REQ", len);
	if (len)
		memcpy(m.req.private_data + at, private_data, len);
	m.req.local_comm_id = c->comm_id[CLIENT];
	m.req.service_id = service_id;
	m.req.local_ca_guid = 0x0200000000770000ull + c->pair;
	m.req.qpn = c->qp[CLIENT];
	m.req.responder_resources = 4;
	m.req.initiator_depth = 4;
	m.req.remote_cm_response_timeout = 20;
	m.req.local_cm_response_timeout = 20;
	m.req.psn = c->psn[SERVER]; /* of what the server will send */
	m.req.retry_count = 7;
	m.req.rnr_retry_count = 7;
	m.req.pkey = 0xffff;
	m.req.path_mtu = 3;
	m.req.max_cm_retries = 15;
	host_gid(c, CLIENT, m.req.primary_local_gid);
	host_gid(c, SERVER, m.req.primary_remote_gid);
	m.req.primary_local_lid = c->encap == VS_ENCAP_IB ? host_lid(c, CLIENT) : 0xffff;
	m.req.primary_remote_lid = c->encap == VS_ENCAP_IB ? host_lid(c, SERVER) : 0xffff;
	m.req.primary_hop_limit = 64;
	m.req.primary_ack_timeout = 18;
	cm_send(c, CLIENT, &m);
}

void cm_rep(struct conn *c, const void *private_data, size_t len)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REP};

	if (len)
		memcpy(m.rep.private_data, private_data, len);
	m.rep.local_comm_id = c->comm_id[SERVER];
	m.rep.remote_comm_id = c->comm_id[CLIENT];
	m.rep.qpn = c->qp[SERVER];
	m.rep.psn = c->psn[CLIENT];
	m.rep.responder_resources = 4;
	m.rep.initiator_depth = 4;
	m.rep.rnr_retry_count = 7;
	m.rep.local_ca_guid = 0x0200000000880000ull + c->pair;
	cm_send(c, SERVER, &m);
}

static void cm_ids(const struct conn *c, enum side from, uint32_t *local, uint32_t *remote)
{
	*local = c->comm_id[from];
	*remote = c->comm_id[!from];
}

void cm_rtu(struct conn *c)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_RTU};

	cm_ids(c, CLIENT, &m.rtu.local_comm_id, &m.rtu.remote_comm_id);
	cm_send(c, CLIENT, &m);
}

/* The server refuses: it has no communication id of its own yet. */
void cm_rej(struct conn *c)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REJ};

	m.rej.remote_comm_id = c->comm_id[CLIENT];
	m.rej.reason = 28;
	cm_send(c, SERVER, &m);
}

void cm_dreq(struct conn *c, enum side from)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_DREQ};

	cm_ids(c, from, &m.dreq.local_comm_id, &m.dreq.remote_comm_id);
	m.dreq.remote_qpn = c->qp[!from];
	cm_send(c, from, &m);
}

void cm_drep(struct conn *c, enum side from)
{
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_DREP};

	cm_ids(c, from, &m.drep.local_comm_id, &m.drep.remote_comm_id);
	cm_send(c, from, &m);
}

void cm_connect(struct conn *c, unsigned port, const struct msg *private_data)
{
	cm_req(c, cm_port(port), private_data ? private_data->b : NULL, private_data ? private_data->len : 0);
	cm_rep(c, NULL, 0);
	cm_rtu(c);
}

void cm_sidr(struct conn *c, uint64_t service_id)
{
	struct vs_cm_msg req = {.attribute = VS_CM_ATTR_SIDR_REQ}, rep = {.attribute = VS_CM_ATTR_SIDR_REP};

	rdmacm_header(c, service_id, req.sidr_req.private_data);
	req.sidr_req.request_id = c->comm_id[CLIENT];
	req.sidr_req.pkey = 0xffff;
	req.sidr_req.service_id = service_id;
	cm_send(c, CLIENT, &req);
	rep.sidr_rep.request_id = c->comm_id[CLIENT];
	rep.sidr_rep.qpn = c->qp[SERVER];
	rep.sidr_rep.service_id = service_id;
	rep.sidr_rep.qkey = 0x01234567;
	cm_send(c, SERVER, &rep);
}

/* ---- data ---- */

static void send_packet(struct conn *c, enum side from, uint8_t opcode, uint32_t psn, const void *p, size_t len,
			uint64_t va, uint32_t rkey, uint32_t dmalen)
{
	struct vs_pkt pkt;

	begin(c, from, opcode, &pkt);
	pkt.bth.destqp = c->qp[!from];
	pkt.bth.psn = psn;
	pkt.bth.ackreq = (vs_opcodes[opcode].flags & VS_OPF_Q) && (vs_opcodes[opcode].flags & VS_OPF_E) &&
			 vs_opcodes[opcode].transport == VS_TRANSPORT_RC;
	pkt.ext.reth.va = va;
	pkt.ext.reth.rkey = rkey;
	pkt.ext.reth.dmalen = dmalen;
	pkt.ext.aeth.syndrome = 0x1f; /* ACK, no credit limit */
	pkt.payload = p;
	pkt.payload_len = (uint32_t)len;
	out_packet(c->o, &pkt);
}

void send_op(struct conn *c, enum side from, uint8_t opcode, const void *p, size_t len)
{
	send_packet(c, from, opcode, c->psn[from], p, len, 0, 0, 0);
	c->psn[from] = vs_psn_add(c->psn[from], 1);
}

void ack(struct conn *c, enum side from)
{
	send_packet(c, from, VS_OP_RC_ACKNOWLEDGE, vs_psn_add(c->psn[!from], -1), NULL, 0, 0, 0, 0);
}

/* The opcode of packet `k` of `n`, out of the four of an operation. */
static uint8_t opcode_of(const uint8_t ops[4], size_t k, size_t n)
{
	return n == 1 ? ops[0] : k == 0 ? ops[1] : k + 1 < n ? ops[2] : ops[3];
}

void send_msg(struct conn *c, enum side from, const struct msg *m)
{
	static const uint8_t ops[] = {VS_OP_RC_SEND_ONLY, VS_OP_RC_SEND_FIRST, VS_OP_RC_SEND_MIDDLE,
				      VS_OP_RC_SEND_LAST};
	size_t n = vs_psn_count((uint32_t)m->len, c->mtu);

	for (size_t k = 0; k < n; k++) {
		size_t at = k * c->mtu, len = k + 1 < n ? c->mtu : m->len - at;

		send_op(c, from, opcode_of(ops, k, n), m->b + at, len);
	}
	ack(c, !from);
}

void send_ud(struct conn *c, enum side from, const void *p, size_t len)
{
	struct vs_pkt pkt;

	begin(c, from, VS_OP_UD_SEND_ONLY, &pkt);
	pkt.bth.destqp = c->qp[!from];
	pkt.bth.psn = c->psn[from];
	pkt.ext.deth.qkey = 0x01234567;
	pkt.ext.deth.srcqp = c->qp[from];
	pkt.payload = p;
	pkt.payload_len = (uint32_t)len;
	c->psn[from] = vs_psn_add(c->psn[from], 1);
	out_packet(c->o, &pkt);
}

void rdma_read(struct conn *c, enum side from, uint64_t va, uint32_t rkey, const void *p, size_t len)
{
	static const uint8_t ops[] = {VS_OP_RC_READ_RESPONSE_ONLY, VS_OP_RC_READ_RESPONSE_FIRST,
				      VS_OP_RC_READ_RESPONSE_MIDDLE, VS_OP_RC_READ_RESPONSE_LAST};
	const uint8_t *b = p;
	size_t n = vs_psn_count((uint32_t)len, c->mtu);

	send_packet(c, from, VS_OP_RC_READ_REQUEST, c->psn[from], NULL, 0, va, rkey, (uint32_t)len);
	for (size_t k = 0; k < n; k++) {
		size_t at = k * c->mtu, part = k + 1 < n ? c->mtu : len - at;

		send_packet(c, !from, opcode_of(ops, k, n), c->psn[from], b + at, part, 0, 0, 0);
		c->psn[from] = vs_psn_add(c->psn[from], 1);
	}
}

void rdma_write(struct conn *c, enum side from, uint64_t va, uint32_t rkey, const void *p, size_t len)
{
	static const uint8_t ops[] = {VS_OP_RC_WRITE_ONLY, VS_OP_RC_WRITE_FIRST, VS_OP_RC_WRITE_MIDDLE,
				      VS_OP_RC_WRITE_LAST};
	const uint8_t *b = p;
	size_t n = vs_psn_count((uint32_t)len, c->mtu);

	for (size_t k = 0; k < n; k++) {
		size_t at = k * c->mtu, part = k + 1 < n ? c->mtu : len - at;

		send_packet(c, from, opcode_of(ops, k, n), c->psn[from], b + at, part, va, rkey, (uint32_t)len);
		c->psn[from] = vs_psn_add(c->psn[from], 1);
	}
	ack(c, !from);
}
