/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkulp.c - writes the captures that run.sh of this folder checks the upper-layer hand-off with.
 *
 *   mkulp DIR     writes all of them to DIR
 *   mkulp --list  prints "name TAB what it shows"
 */
#include <stdio.h>
#include <string.h>

#include "mkulp.h"
#include "vs/cm.h"
#include "vs/psn.h"

/* ---- connections that CM names: every protocol by its service id ---- */

static void nfs_by_cm(struct conn *c)
{
	static const uint8_t data[] = "12345"; /* 5 bytes: 3 of pad */
	struct msg m;

	cm_connect(c, 20049, NULL);
	rpc_null_call(&m, 0x101);
	send_msg(c, CLIENT, &m);
	rpc_null_reply(&m, 0x101);
	send_msg(c, SERVER, &m);
	rpc_nfs_write_inline(&m, 0x102, 1500); /* First and Last */
	send_msg(c, CLIENT, &m);
	rpc_nfs_write_inline(&m, 0x103, 2500); /* First, Middle, Last */
	send_msg(c, CLIENT, &m);
	rpc_nfs_write_chunk(&m, 0x104, 0x7f0000001000, 0x0badcafe, 5);
	send_msg(c, CLIENT, &m);
	rdma_read(c, SERVER, 0x7f0000001000, 0x0badcafe, data, 5);
	rpc_done(&m, 0x104);
	send_msg(c, CLIENT, &m);
	m.len = 8; /* something else on the same connection */
	send_msg(c, CLIENT, &m);
	cm_dreq(c, CLIENT);
	cm_drep(c, SERVER);
}

static void nvme_by_cm(struct conn *c)
{
	struct msg m, blocks = {.len = 0};

	nvme_private_req(&m, 0);
	cm_req(c, cm_port(4420), m.b, m.len);
	nvme_private_rep(&m);
	cm_rep(c, m.b, m.len);
	cm_rtu(c);
	nvme_connect(&m, 1, 0x7f0000001000, 0x1234);
	send_msg(c, CLIENT, &m);
	nvme_connect_data(&m);
	rdma_read(c, SERVER, 0x7f0000001000, 0x1234, m.b, m.len);
	nvme_cqe(&m, 1);
	send_msg(c, SERVER, &m);
	nvme_property_get(&m, 2);
	send_msg(c, CLIENT, &m);
	nvme_cqe(&m, 2);
	send_msg(c, SERVER, &m);
	nvme_read(&m, 3, 0x7f0000002000, 0x5678);
	send_msg(c, CLIENT, &m);
	msg_zero(&blocks, 4096);
	rdma_write(c, SERVER, 0x7f0000002000, 0x5678, blocks.b, blocks.len);
	nvme_cqe(&m, 3);
	send_msg(c, SERVER, &m);
}

static void iser_by_cm(struct conn *c)
{
	struct msg m;

	cm_connect(c, 3260, NULL);
	iser_login(&m, false, 0);
	send_msg(c, CLIENT, &m);
	iser_login(&m, true, 0);
	send_msg(c, SERVER, &m);
	iser_scsi_inquiry(&m);
	send_msg(c, CLIENT, &m);
}

static void smb_by_cm(struct conn *c)
{
	struct msg m;

	cm_connect(c, 445, NULL);
	smbdirect_negotiate(&m, false);
	send_msg(c, CLIENT, &m);
	smbdirect_negotiate(&m, true);
	send_msg(c, SERVER, &m);
	smbdirect_data(&m, 0);
	send_msg(c, CLIENT, &m);
}

static void lnet_by_cm(struct conn *c)
{
	struct msg m;

	lnet_noop(&m);
	cm_connect(c, 987, &m);
	send_msg(c, CLIENT, &m);
	send_msg(c, SERVER, &m);
}

static void sdp_by_cm(struct conn *c)
{
	struct msg m;

	sdp_hello(&m);
	cm_req(c, 0x10000 + 7000, m.b, m.len);
	cm_rep(c, NULL, 0);
	cm_rtu(c);
	sdp_data(&m);
	send_msg(c, CLIENT, &m);
	send_msg(c, SERVER, &m);
}

static void ipoib_by_cm(struct conn *c)
{
	struct msg m;

	cm_req(c, 0x1000000000000000 | 0x123, NULL, 0);
	cm_rep(c, NULL, 0);
	cm_rtu(c);
	ipoib_icmp(&m);
	send_msg(c, CLIENT, &m);
	ipoib_arp(&m);
	send_msg(c, SERVER, &m);
}

/* ---- no CM: headers that prove themselves ---- */

static void by_header(struct conn *c)
{
	static void (*const datagrams[])(struct msg *) = {ipoib_arp, ipoib_icmp, ipoib_ipv6, eoib_arp, fcoib_frame};
	struct msg m;

	rpc_null_call(&m, 0x201);
	send_msg(c, CLIENT, &m);
	rpc_done(&m, 0x201); /* now that the flow is known */
	send_msg(c, CLIENT, &m);
	for (unsigned i = 0; i < 5; i++) {
		datagrams[i](&m);
		send_ud(c, CLIENT, m.b, m.len);
	}
	/* one flow each: a QP has one protocol */
	c->qp[SERVER] += 0x100;
	nvme_connect(&m, 1, 0x7f0000001000, 0x1234);
	send_msg(c, CLIENT, &m);
	nvme_read(&m, 2, 0x7f0000002000, 0x5678);
	send_msg(c, CLIENT, &m);
	c->qp[SERVER] += 0x100;
	iser_login(&m, false, 0);
	send_msg(c, CLIENT, &m);
	c->qp[SERVER] += 0x100;
	smbdirect_negotiate(&m, false);
	send_msg(c, CLIENT, &m);
	smbdirect_data(&m, 0);
	send_msg(c, CLIENT, &m);
	c->qp[SERVER] += 0x100;
	lnet_noop(&m);
	send_msg(c, CLIENT, &m);
	c->qp[SERVER] += 0x100;
	smcr_confirm_link(&m);
	send_msg(c, CLIENT, &m);
	smcr_cdc(&m);
	send_msg(c, CLIENT, &m);
}

/* ---- a QP's life ---- */

/* The same two QPs: NFS, closed, iSER; then nobody says what. */
static void reuse(struct conn *c)
{
	struct msg m;

	rpc_done(&m, 0x300); /* before CM: nobody knows */
	send_msg(c, CLIENT, &m);
	cm_connect(c, 20049, NULL);
	send_msg(c, CLIENT, &m);
	send_msg(c, SERVER, &m);
	cm_dreq(c, SERVER);
	cm_drep(c, CLIENT);
	send_msg(c, CLIENT, &m); /* closed */
	c->comm_id[CLIENT]++;
	c->comm_id[SERVER]++;
	cm_connect(c, 3260, NULL);
	send_msg(c, CLIENT, &m);
	iser_scsi_inquiry(&m);
	send_msg(c, CLIENT, &m);
	cm_dreq(c, CLIENT);
	cm_drep(c, SERVER);
	c->comm_id[CLIENT]++;
	c->comm_id[SERVER]++;
	cm_connect(c, 7174, NULL); /* rping's port: a service that we know nothing of */
	send_msg(c, CLIENT, &m);   /* iSER proves itself, if it is there */
	rpc_done(&m, 0x301);
	send_msg(c, CLIENT, &m);
}

/* Refused: no connection, so no evidence. */
static void refused(struct conn *c)
{
	struct msg m;

	cm_req(c, cm_port(20049), NULL, 0);
	cm_rej(c);
	rpc_done(&m, 0x400);
	send_msg(c, CLIENT, &m);
	send_msg(c, SERVER, &m);
}

static void sidr(struct conn *c)
{
	struct msg m;

	cm_sidr(c, vs_rdmacm_service(VS_RDMACM_PS_UDP, 7174));
	rpc_done(&m, 0x500);
	send_ud(c, CLIENT, m.b, m.len);
}

/* A message that its own dissector fails on. */
static void malformed_inside(struct conn *c)
{
	struct msg m;

	cm_connect(c, 20049, NULL);
	rpc_nfs_truncated(&m, 0x600);
	send_msg(c, CLIENT, &m);
	rpc_null_call(&m, 0x601);
	send_msg(c, CLIENT, &m);
}

/* SENDs of more than one packet that lose one. */
static void gap(struct conn *c)
{
	struct msg m;
	uint32_t psn;

	cm_connect(c, 20049, NULL);
	c->psn[CLIENT] = 0x300;
	rpc_nfs_write_inline(&m, 0x700, 2500);
	send_op(c, CLIENT, VS_OP_RC_SEND_FIRST, m.b, c->mtu);
	psn = c->psn[CLIENT];
	c->psn[CLIENT] = vs_psn_add(psn, 1); /* the middle one is missing */
	send_op(c, CLIENT, VS_OP_RC_SEND_LAST, m.b + 2 * c->mtu, m.len - 2 * c->mtu);
	c->psn[CLIENT] = psn; /* go back */
	send_op(c, CLIENT, VS_OP_RC_SEND_MIDDLE, m.b + c->mtu, c->mtu);
	send_op(c, CLIENT, VS_OP_RC_SEND_LAST, m.b + 2 * c->mtu, m.len - 2 * c->mtu);
	send_op(c, CLIENT, VS_OP_RC_SEND_FIRST, m.b, c->mtu);
	send_op(c, CLIENT, VS_OP_RC_SEND_LAST, "tail", 4);
}

/* SENDs of several packets: the dissectors that don't put them together get them whole. */
static void whole_smb(struct conn *c)
{
	struct msg m;
	uint32_t psn;

	cm_connect(c, 445, NULL); /* PSNs wrap inside the message */
	smbdirect_data(&m, 2500);
	psn = c->psn[CLIENT];
	send_op(c, CLIENT, VS_OP_RC_SEND_FIRST, m.b, c->mtu);
	c->psn[CLIENT] = psn;
	send_op(c, CLIENT, VS_OP_RC_SEND_FIRST, m.b, c->mtu); /* twice */
	psn = c->psn[CLIENT];
	c->psn[CLIENT] = vs_psn_add(psn, 1); /* the middle one is missing */
	send_op(c, CLIENT, VS_OP_RC_SEND_LAST, m.b + 2 * c->mtu, m.len - 2 * c->mtu);
	c->psn[CLIENT] = psn; /* go back */
	send_op(c, CLIENT, VS_OP_RC_SEND_MIDDLE, m.b + c->mtu, c->mtu);
	send_op(c, CLIENT, VS_OP_RC_SEND_LAST, m.b + 2 * c->mtu, m.len - 2 * c->mtu);
	smbdirect_negotiate(&m, true);
	send_msg(c, SERVER, &m);
}

static void whole_others(struct conn *c)
{
	struct msg m;

	cm_connect(c, 3260, NULL);
	iser_login(&m, false, 1200);
	send_msg(c, CLIENT, &m);
	c->pair += 0x40; /* other hosts */
	cm_connect(c, 4420, NULL);
	nvme_write_in_capsule(&m, 1, 2048);
	send_msg(c, CLIENT, &m);
	nvme_cqe(&m, 1);
	send_msg(c, SERVER, &m);
	c->pair += 0x40;
	cm_req(c, 0x1000000000000000 | 0x123, NULL, 0);
	cm_rep(c, NULL, 0);
	cm_rtu(c);
	ipoib_icmp_long(&m, 3000);
	send_msg(c, CLIENT, &m);
}

/*
 * RoCEv2 in IPoIB, with the PSN of the datagram that carries it: what is known of one is not known of the
 * other. The inner payload begins like IPoIB and isn't.
 */
static void nested(struct conn *c)
{
	static const uint8_t payload[] = {0x08, 0, 0, 0, 0x45, 0, 0, 40};
	uint8_t inner[128], scratch[128];
	struct msg m = {.len = 0};
	struct vs_pkt p;
	int n;

	vs_pkt_init(&p, VS_ENCAP_ROCEV2_IPV4, VS_OP_RC_SEND_ONLY, false);
	memcpy(p.ipv4.src, "\x0a\x99\x99\1", 4);
	memcpy(p.ipv4.dst, "\x0a\x99\x99\2", 4);
	p.bth.destqp = c->qp[SERVER];
	p.bth.psn = c->psn[CLIENT];
	p.payload = payload;
	p.payload_len = sizeof(payload);
	n = vs_pkt_seal(&p, VS_SEAL_ALL, scratch, sizeof(scratch)) == VS_OK ? vs_pkt_build(&p, inner, sizeof(inner))
									    : -1;
	if (n < 0)
		die("a packet can't be built");
	msg_be32(&m, 0x08000000); /* ethertype, reserved */
	msg_put(&m, inner, (size_t)n);
	send_ud(c, CLIENT, m.b, m.len);
}

/* No CM, nothing that proves itself: what the user's table is for. */
static void for_table(struct conn *c)
{
	struct msg m;

	nvme_read(&m, 3, 0x7f0000002000, 0x5678);
	m.b[0] = 0x05; /* Compare: not among the commands that prove themselves */
	send_msg(c, CLIENT, &m);
	nvme_cqe(&m, 3);
	send_msg(c, SERVER, &m);
}

static void hello_world(struct conn *c)
{
	struct msg m = {.len = 0};

	msg_put(&m, "hello", 6);
	send_msg(c, CLIENT, &m);
}

/* DRBD's magic numbers in front of anything, three times; then its first packet, and receive descriptors. */
static void drbd(struct conn *c)
{
	static const uint32_t magic[] = {0x83740267, 0x8620ec20, 0x5257494e};
	struct msg m;

	for (unsigned i = 0; i < 3; i++) {
		m.len = 0;
		msg_be32(&m, magic[i]);
		msg_put(&m, "letters, and no header", 22);
		send_msg(c, CLIENT, &m);
	}
	m.len = 0;
	msg_be32(&m, magic[0]);
	msg_be16(&m, 0xfffe); /* connection features */
	msg_be16(&m, 80);
	msg_be32(&m, 86); /* versions from, feature flags, to */
	msg_be32(&m, 0);
	msg_be32(&m, 122);
	msg_zero(&m, 68);
	send_msg(c, CLIENT, &m);
	c->qp[SERVER] += 0x100;
	m.len = 0;
	msg_be32(&m, magic[2]);
	msg_be32(&m, 64);
	msg_be32(&m, 32);
	msg_be32(&m, 1);
	send_msg(c, CLIENT, &m);
}

static const struct {
	const char *name;
	enum vs_encap encap;
	bool same; /* both ends have the same QPN */
	void (*make)(struct conn *c);
	const char *what;
} captures[] = {
	{"nfs", VS_ENCAP_ROCEV2_IPV4, true, nfs_by_cm, "NFS over RDMA: SENDs of 1 to 3 packets, a read chunk with pad"},
	{"nfs-ib", VS_ENCAP_IB, false, nfs_by_cm, "the same over native InfiniBand"},
	{"nfs-v6", VS_ENCAP_ROCEV2_IPV6, true, nfs_by_cm, "the same over IPv6"},
	{"nvme", VS_ENCAP_ROCEV2_IPV4, true, nvme_by_cm, "NVMe over RDMA: private data, Connect, property, read"},
	{"nvme-ib", VS_ENCAP_IB, false, nvme_by_cm, "the same over native InfiniBand"},
	{"iser", VS_ENCAP_ROCEV2_IPV4, true, iser_by_cm, "iSER: login, its answer, a SCSI command"},
	{"iser-ib", VS_ENCAP_IB, false, iser_by_cm, "the same over native InfiniBand"},
	{"smb", VS_ENCAP_ROCEV2_IPV4, true, smb_by_cm, "SMB Direct: negotiation, the first SMB2 message"},
	{"smb-ib", VS_ENCAP_IB, false, smb_by_cm, "the same over native InfiniBand"},
	{"lnet", VS_ENCAP_ROCEV2_IPV4, true, lnet_by_cm, "LNet: private data, keep-alives"},
	{"sdp-ib", VS_ENCAP_IB, false, sdp_by_cm, "SDP: hello in the private data, data"},
	{"ipoib-cm", VS_ENCAP_IB, false, ipoib_by_cm, "IPoIB connected mode"},
	{"header", VS_ENCAP_ROCEV2_IPV4, false, by_header, "no CM: one message of each protocol that proves itself"},
	{"header-ib", VS_ENCAP_IB, false, by_header, "the same over native InfiniBand"},
	{"reuse", VS_ENCAP_ROCEV2_IPV4, true, reuse, "two QPs, three connections, one after the other"},
	{"refused", VS_ENCAP_ROCEV2_IPV4, false, refused, "a connection that was refused"},
	{"sidr", VS_ENCAP_ROCEV2_IPV4, false, sidr, "a datagram service found by SIDR"},
	{"inside", VS_ENCAP_ROCEV2_IPV4, false, malformed_inside, "a malformed NFS call"},
	{"gap", VS_ENCAP_ROCEV2_IPV4, false, gap, "SENDs of three packets with one missing"},
	{"table", VS_ENCAP_ROCEV2_IPV4, false, for_table, "NVMe without CM, for the user's QP table"},
	{"hello", VS_ENCAP_ROCEV2_IPV4, false, hello_world, "text, for Decode As"},
	{"false", VS_ENCAP_ROCEV2_IPV4, false, false_sends, "SENDs that look like something and are nothing"},
	{"false-ib", VS_ENCAP_IB, false, false_sends, "the same over native InfiniBand"},
	{"false-ud", VS_ENCAP_IB, false, false_datagrams, "datagrams that look like something and are nothing"},
	{"whole", VS_ENCAP_ROCEV2_IPV4, false, whole_smb, "an SMB Direct SEND of three packets, lost and sent again"},
	{"whole-ib", VS_ENCAP_IB, false, whole_others, "iSER, NVMe and IPoIB SENDs of several packets"},
	{"drbd", VS_ENCAP_ROCEV2_IPV4, false, drbd,
	 "DRBD, which is off by default, and its magic numbers in front of text"},
	{"nested", VS_ENCAP_IB, false, nested, "RoCEv2 inside IPoIB, both with the same PSN"},
};
#define CAPTURES (sizeof(captures) / sizeof(captures[0]))

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: mkulp DIR | --list\n", stderr);
		return 2;
	}
	for (unsigned i = 0; i < CAPTURES; i++) {
		struct out *o;
		struct conn c;

		if (strcmp(argv[1], "--list") == 0) {
			printf("%s\t%s\n", captures[i].name, captures[i].what);
			continue;
		}
		o = out_open(argv[1], captures[i].name, captures[i].encap == VS_ENCAP_IB);
		conn_init(&c, o, captures[i].encap, 1 + i, captures[i].same);
		captures[i].make(&c);
		out_close(o);
	}
	return 0;
}
