/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_monitor.c - libFuzzer target: any packets in any order. Every 12 bytes make one packet of a few flows, with any
 * opcode, fields near the edges and a clock that jumps. Whatever comes, a result refers to earlier frames alone, what
 * is counted adds up, and a flow remembers no more than its window.
 */
#include <stdlib.h>
#include <string.h>

#include "vs/monitor.h"
#include "vs/psn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RECORD 12u
#define WINDOW 64u

static void require(int ok)
{
	if (!ok)
		abort();
}

static uint64_t findings;

static void on_finding(void *ctx, const struct vs_mon_finding *f)
{
	const uint32_t *frame = ctx;

	require(f->frame == *frame && f->other <= f->frame && f->rule > VS_RULE_NONE && f->rule < VS_RULE_COUNT);
	require(f->text != NULL && *f->text != '\0');
	findings++;
}

static void on_link(void *ctx, uint32_t frame, enum vs_mon_link kind, uint32_t later)
{
	const uint32_t *now = ctx;

	(void)kind;
	require(frame > 0 && frame <= later && later == *now);
}

static void make(struct vs_pkt *p, const uint8_t *r)
{
	static const uint8_t bytes[4096];
	static const uint32_t edge[] = {0, 1, 255, 256, 257, 1024, 4096, 0x7fffffff};
	const enum vs_encap encap[] = {VS_ENCAP_ROCEV2_IPV4, VS_ENCAP_ROCEV2_IPV6, VS_ENCAP_IB, VS_ENCAP_ROCEV1};

	vs_pkt_init(p, encap[r[1] & 3], r[0], false);
	p->ipv4.src[3] = p->grh.sgid[15] = (uint8_t)(1 + (r[1] >> 2 & 1));
	p->ipv4.dst[3] = p->grh.dgid[15] = (uint8_t)(1 + (r[1] >> 3 & 1));
	p->lrh.slid = p->ipv4.src[3];
	p->lrh.dlid = p->ipv4.dst[3];
	p->ipv4.id = r[10] & 3;
	p->udp.sport = (uint16_t)(0xc000 + (r[10] >> 6));
	p->bth.destqp = 0x11u + (r[1] >> 4 & 3);
	p->bth.psn = vs_psn_add(0xfffff8, r[2] < 0xf0 ? r[2] & 31 : (int32_t)r[2] * 0x10000);
	p->bth.ackreq = r[3] & 1;
	p->bth.se = r[3] & 2;
	p->payload = bytes;
	p->payload_len = edge[r[4] % 7];
	p->ext.reth.dmalen = p->ext.reth.va = edge[r[5] & 7];
	p->ext.reth.rkey = r[3] >> 7;
	p->ext.atomiceth.va = 8u * (r[5] & 1);
	p->ext.atomicack_origdata = r[5];
	p->ext.aeth.syndrome = r[6];
	p->ext.aeth.msn = vs_psn_add(0xfffffe, r[7] & 15);
	p->icrc = r[8];
	p->flags |= VS_PKT_HAS_ICRC;
	if (r[3] & 4)
		p->flags = (p->flags & ~(uint32_t)VS_PKT_HAS_ICRC) | VS_PKT_SNAPPED;
	if (r[3] & 8)
		p->flags |= VS_PKT_HDR_MISSING;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t frame = 0;
	struct vs_monitor_attr attr = {
		.window = WINDOW, .max_flows = 6, .ctx = &frame, .finding = on_finding, .link = on_link};
	struct vs_monitor *m = vs_monitor_new(&attr);
	const struct vs_mon_totals *t = vs_monitor_totals(m);
	int64_t now = 0;

	require(m != NULL);
	findings = 0;
	for (size_t at = 0; at + RECORD <= size; at += RECORD) {
		const uint8_t *r = data + at;
		struct vs_pkt p;
		struct vs_mon_packet in = {.pkt = &p, .vcrc = VS_CRC_UNVERIFIED};
		struct vs_mon_result out;

		in.frame = ++frame;
		make(&p, r);
		now += r[9] < 0xf0 ? r[9] * INT64_C(1000) : (r[9] & 1 ? INT64_C(1) << 60 : -(INT64_C(1) << 61));
		in.time_ns = now = now < -(INT64_C(1) << 61) ? 0 : now > INT64_C(1) << 61 ? 0 : now;
		in.icrc = r[11] == 0xff ? VS_CRC_BAD : r[11] == 0xfe ? VS_CRC_UNVERIFIED : VS_CRC_GOOD;
		in.vantage = r[11] & 1;
		in.offloaded = r[11] & 2;
		vs_monitor_packet(m, &in, &out);
		require(out.request <= frame && out.original < frame && out.cause_frame < frame &&
			out.message <= frame);
		require(out.stream > 0 || out.class_ == VS_MON_OTHER);
	}
	vs_monitor_end(m);
	require(t->packets == frame);
	require(t->broken[0] + t->broken[1] + t->broken[2] == findings);
	require(t->retransmissions + t->network_duplicates + t->gaps <= frame);
	vs_monitor_free(m);
	return 0;
}
