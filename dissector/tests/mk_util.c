/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mk_util.c - bytes, packets, wrappers and output of the capture generator (mk.h). */
#include <pcap/pcap.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mk.h"
#include "vs/pktio.h"

/* 2026-01-01 00:00:00 UTC; frames follow each other by 10 us. */
#define MK_START_NS (1767225600ll * 1000000000ll)
#define MK_STEP_NS 10000ll

const struct mk_end mk_a = {
	{0x02, 0, 0, 0, 0, 0x01},
	{192, 0, 2, 1},
	{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01},
	0x0011,
	0x000a01,
};
const struct mk_end mk_b = {
	{0x02, 0, 0, 0, 0, 0x02},
	{192, 0, 2, 2},
	{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02},
	0x0022,
	0x000b02,
};

_Noreturn void mk_die(const char *fmt, ...)
{
	va_list ap;

	fputs("mkcaptures: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* ---- output ---- */

struct mk_out {
	struct vs_writer *vs; /* Ethernet, raw IP, ERF */
	pcap_t *dead;         /* Linux cooked: vs_writer writes none */
	pcap_dumper_t *dumper;
	enum mk_link link;
	int64_t now_ns;
};

struct mk_out *mk_open(const char *path, enum mk_link link)
{
	static const enum vs_writer_kind kind[] = {
		[MK_ETHERNET] = VS_WRITER_ETHERNET,
		[MK_RAW_IP] = VS_WRITER_RAW_IP,
		[MK_ERF] = VS_WRITER_ERF_IB,
	};
	struct mk_out *o = calloc(1, sizeof(*o));
	struct vs_io_error err;

	if (!o)
		mk_die("out of memory");
	o->link = link;
	o->now_ns = MK_START_NS;
	if (link == MK_SLL || link == MK_SLL2) {
		int dlt = link == MK_SLL ? DLT_LINUX_SLL : DLT_LINUX_SLL2;

		o->dead = pcap_open_dead_with_tstamp_precision(dlt, 262144, PCAP_TSTAMP_PRECISION_NANO);
		o->dumper = o->dead ? pcap_dump_open(o->dead, path) : NULL;
		if (!o->dumper)
			mk_die("%s: %s", path, o->dead ? pcap_geterr(o->dead) : "pcap_open_dead failed");
		return o;
	}
	o->vs = vs_writer_open(path, kind[link], &err);
	if (!o->vs)
		mk_die("%s", err.text);
	return o;
}

void mk_close(struct mk_out *o)
{
	struct vs_io_error err;

	if (o->vs && vs_writer_close(o->vs, &err) < 0)
		mk_die("%s", err.text);
	if (o->dumper) {
		if (pcap_dump_flush(o->dumper) != 0)
			mk_die("cannot write a cooked capture");
		pcap_dump_close(o->dumper);
		pcap_close(o->dead);
	}
	free(o);
}

void mk_put_cut(struct mk_out *o, const struct mk_buf *f, size_t caplen)
{
	struct vs_io_error err;

	if (o->vs && vs_writer_put(o->vs, o->now_ns, f->b, (uint32_t)caplen, (uint32_t)f->len, &err) < 0)
		mk_die("%s", err.text);
	if (o->dumper) {
		struct pcap_pkthdr h = {
			.ts = {.tv_sec = (time_t)(o->now_ns / 1000000000), .tv_usec = o->now_ns % 1000000000},
			.caplen = (bpf_u_int32)caplen,
			.len = (bpf_u_int32)f->len,
		};

		pcap_dump((u_char *)o->dumper, &h, f->b);
	}
	o->now_ns += MK_STEP_NS;
}

void mk_put(struct mk_out *o, const struct mk_buf *f)
{
	mk_put_cut(o, f, f->len);
}

/* ---- packets ---- */

void mk_payload(struct vs_pkt *p, uint32_t len)
{
	static uint8_t pattern[MK_PAYLOAD_MAX];

	if (pattern[1] == 0)
		for (unsigned i = 0; i < MK_PAYLOAD_MAX; i++)
			pattern[i] = (uint8_t)(0xa0 + i * 11 + i / 256);
	if (len > MK_PAYLOAD_MAX)
		mk_die("payload of %u bytes is over the pattern", len);
	p->payload = pattern;
	p->payload_len = len;
}

static void set_ends(struct vs_pkt *p, const struct mk_end *from, const struct mk_end *to)
{
	memcpy(p->eth.src, from->mac, 6);
	memcpy(p->eth.dst, to->mac, 6);
	memcpy(p->ipv4.src, from->ip4, 4);
	memcpy(p->ipv4.dst, to->ip4, 4);
	memcpy(p->grh.sgid, from->ip6, 16);
	memcpy(p->grh.dgid, to->ip6, 16);
	p->lrh.slid = from->lid;
	p->lrh.dlid = to->lid;
	p->bth.destqp = to->qpn;
	p->ext.deth.srcqp = from->qpn;
}

void mk_reverse(struct vs_pkt *p)
{
	bool from_a = memcmp(p->eth.src, mk_a.mac, 6) == 0;

	set_ends(p, from_a ? &mk_b : &mk_a, from_a ? &mk_a : &mk_b);
}

static uint32_t default_payload(const struct vs_opcode_info *op)
{
	switch (op->payload) {
	case VS_PAYLOAD_FULL:
		return 256;
	case VS_PAYLOAD_LAST:
		return 45;
	case VS_PAYLOAD_ONLY:
		return (op->hdrs & VS_HDR_DETH) && op->transport == VS_TRANSPORT_UD ? 60 : 30;
	case VS_PAYLOAD_EIGHT:
		return 8;
	case VS_PAYLOAD_CNP:
		return 16;
	default:
		return 0;
	}
}

static uint32_t default_dmalen(const struct vs_opcode_info *op, uint32_t payload_len)
{
	if (op->flags & VS_OPF_W)
		return op->flags & VS_OPF_E ? payload_len : 2 * 256 + 45;
	return op->payload == VS_PAYLOAD_EIGHT ? 8 : 3000;
}

void mk_packet(struct vs_pkt *p, enum vs_encap encap, uint8_t opcode, bool ethernet)
{
	static const uint8_t zero[16];
	const struct vs_opcode_info *op = &vs_opcodes[opcode];

	vs_pkt_init(p, encap, opcode, ethernet);
	if (op->flags & VS_OPF_R)
		set_ends(p, &mk_b, &mk_a);
	else
		set_ends(p, &mk_a, &mk_b);
	p->udp.sport = 0xc123;
	p->ipv4.tos = 0x02; /* ECT(0) */
	p->grh.tclass = 0x02;
	p->grh.flowlabel = 0x12345;
	mk_payload(p, default_payload(op));
	p->ext.rdeth.eecontext = 0x0e0e01;
	p->ext.xrceth.xrcsrq = 0x05a501;
	p->ext.deth.qkey = 0x11223344;
	p->ext.feth.sel = 1;
	p->ext.feth.plt = 1;
	p->ext.reth.va = 0x00007f00aa551000;
	p->ext.reth.rkey = 0x00c0ffee;
	p->ext.reth.dmalen = default_dmalen(op, p->payload_len);
	p->ext.aeth.syndrome = 0x0a; /* ACK, credit code 10: 32 */
	p->ext.aeth.msn = 0x00a1b2;
	p->ext.atomiceth.va = 0x00007f00aa552008;
	p->ext.atomiceth.rkey = 0x00c0ffee;
	p->ext.atomiceth.swapadd = 0x1122334455667788;
	p->ext.atomiceth.compare = 0x99aabbccddeeff00;
	p->ext.atomicack_origdata = 0x0123456789abcdef;
	p->ext.immdt = 0xfeedbeef;
	p->ext.ieth_rkey = 0x0badcafe;
	memcpy(p->ext.dcext, "\1\2\3\4\5\6\7\x8", 8);
	memset(p->ext.dcceth, 0xdc, sizeof(p->ext.dcceth));
	if (op->payload == VS_PAYLOAD_CNP) {
		p->payload = zero;
		p->bth.becn = true;
	} else {
		p->bth.psn = 0x000100u + opcode;
		p->bth.ackreq = (op->flags & VS_OPF_Q) && (op->flags & VS_OPF_E) && op->response != VS_RESPONSE_NONE;
	}
}

void mk_build_keep(struct vs_pkt *p, unsigned keep, struct mk_buf *f)
{
	static uint8_t scratch[MK_MAX];
	int n = vs_pkt_seal(p, VS_SEAL_ALL & ~keep, scratch, sizeof(scratch));

	if (n < 0)
		mk_die("seal: %s", vs_opcodes[p->bth.opcode].name ? vs_opcodes[p->bth.opcode].name : "reserved");
	n = vs_pkt_build(p, f->b, sizeof(f->b));
	if (n < 0)
		mk_die("build: a field does not fit");
	f->len = (size_t)n;
}

void mk_build(struct vs_pkt *p, struct mk_buf *f)
{
	mk_build_keep(p, 0, f);
}

/* ---- wrappers ---- */

void mk_prepend(struct mk_buf *f, const void *hdr, size_t len)
{
	if (f->len + len > sizeof(f->b))
		mk_die("frame is over %d bytes", MK_MAX);
	memmove(f->b + len, f->b, f->len);
	memcpy(f->b, hdr, len);
	f->len += len;
}

void mk_append(struct mk_buf *f, const void *bytes, size_t len)
{
	if (f->len + len > sizeof(f->b))
		mk_die("frame is over %d bytes", MK_MAX);
	memcpy(f->b + f->len, bytes, len);
	f->len += len;
}

void mk_cut_front(struct mk_buf *f, size_t len)
{
	f->len -= len;
	memmove(f->b, f->b + len, f->len);
}

void mk_wrap_eth(struct mk_buf *f, uint16_t ethertype)
{
	uint8_t h[14];

	memcpy(h, mk_b.mac, 6);
	memcpy(h + 6, mk_a.mac, 6);
	h[0] = h[6] = 0x06; /* other stations than those of the inner frame */
	mk_be16(h + 12, ethertype);
	mk_prepend(f, h, sizeof(h));
}

static uint16_t ip_checksum(const uint8_t *h, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i += 2)
		sum += (uint32_t)(h[i] << 8 | h[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Addresses 198.51.100.1 -> .2 and 2001:db8:ffff::1 -> ::2: a tunnel's ends are not the RDMA hosts. */
void mk_wrap_ip(struct mk_buf *f, bool v6, uint8_t proto)
{
	if (v6) {
		uint8_t h[40] = {0x60, 0, 0, 0, 0, 0, proto, 64, 0x20, 0x01, 0x0d, 0xb8, 0xff, 0xff};

		memcpy(h + 24, h + 8, 16);
		h[23] = 1;
		h[39] = 2;
		mk_be16(h + 4, (unsigned)f->len);
		mk_prepend(f, h, sizeof(h));
	} else {
		uint8_t h[20] = {0x45, 0, 0, 0, 0x12, 0x34, 0x40, 0, 64, proto, 0, 0, 198, 51, 100, 1, 198, 51, 100, 2};

		mk_be16(h + 2, (unsigned)f->len + 20);
		mk_be16(h + 10, ip_checksum(h, sizeof(h)));
		mk_prepend(f, h, sizeof(h));
	}
}

void mk_wrap_udp(struct mk_buf *f, uint16_t sport, uint16_t dport)
{
	uint8_t h[8] = {0};

	mk_be16(h, sport);
	mk_be16(h + 2, dport);
	mk_be16(h + 4, (unsigned)f->len + 8);
	mk_prepend(f, h, sizeof(h));
}
