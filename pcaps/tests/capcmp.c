/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * capcmp.c - compares captures for the tests of vs-pcap.
 *
 *   capcmp frames A B      the same frames in the same order, whatever their times; libpcap alone reads them
 *   capcmp transport A B   the same RDMA packets from BTH to pad, with the same times, whatever carries them
 *   capcmp bytes A B       the same, whatever the times
 *   capcmp good A          every RDMA packet is whole and has a good ICRC and, on native InfiniBand, VCRC
 *   capcmp list A          a line for each packet: time in ns, opcode, destination QP, PSN, ICRC, ECN
 *
 * 0: so it is. 1: a line says where not. 2: usage, or a file can't be read.
 */
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#include "vs/icrc.h"
#include "vs/pktio.h"

static int frames(const char *a, const char *b)
{
	char text[PCAP_ERRBUF_SIZE];
	pcap_t *pa = pcap_open_offline(a, text), *pb = pa ? pcap_open_offline(b, text) : NULL;
	struct pcap_pkthdr *ha, *hb;
	const u_char *da, *db;
	unsigned long n = 0;
	int ret = 0;

	if (!pb) {
		fprintf(stderr, "capcmp: %s\n", text);
		return 2;
	}
	while (ret == 0) {
		int ra = pcap_next_ex(pa, &ha, &da), rb = pcap_next_ex(pb, &hb, &db);

		if (ra != 1 && rb != 1)
			break;
		n++;
		if (ra != rb || ha->caplen != hb->caplen || memcmp(da, db, ha->caplen) != 0) {
			printf("frame %lu differs or is missing\n", n);
			ret = 1;
		}
	}
	pcap_close(pa);
	pcap_close(pb);
	if (n == 0)
		printf("both are empty\n");
	return n == 0 ? 1 : ret;
}

static bool any_time;

static bool same(const struct vs_frame *fa, const struct vs_pkt *a, const struct vs_frame *fb, const struct vs_pkt *b)
{
	uint32_t icrc = a->flags & VS_PKT_HAS_ICRC ? 4 : 0, len = a->end_off - a->bth_off - icrc;

	return (any_time || fa->time_ns == fb->time_ns) && a->end_off - a->bth_off == b->end_off - b->bth_off &&
	       memcmp(fa->data + a->bth_off, fb->data + b->bth_off, len) == 0;
}

static int transport(const char *a, const char *b)
{
	struct vs_io_error err;
	struct vs_capture *ca = vs_capture_open(a, &err), *cb = ca ? vs_capture_open(b, &err) : NULL;
	struct vs_frame fa, fb;
	struct vs_pkt pa, pb;
	int ra = 1, rb = 1, ret = 0;

	while (cb && ra == 1 && ret == 0) {
		ra = vs_capture_next_pkt(ca, &fa, &pa, 0, &err);
		rb = vs_capture_next_pkt(cb, &fb, &pb, 0, &err);
		if (ra != rb || (ra == 1 && !same(&fa, &pa, &fb, &pb))) {
			printf("packet in frame %" PRIu64 " differs or is missing\n", fa.number);
			ret = 1;
		}
	}
	if (!cb || ra < 0 || rb < 0) {
		fprintf(stderr, "capcmp: %s\n", err.text);
		ret = 2;
	}
	vs_capture_close(ca);
	vs_capture_close(cb);
	return ret;
}

static int good(const char *a)
{
	struct vs_io_error err;
	struct vs_capture *c = vs_capture_open(a, &err);
	struct vs_frame f;
	struct vs_pkt p;
	uint64_t n = 0;
	int r = -1, ret = 0;

	while (c && (r = vs_capture_next_pkt(c, &f, &p, 0, &err)) == 1) {
		bool native = p.encap == VS_ENCAP_IB || p.encap == VS_ENCAP_IB_GRH;

		n++;
		if (vs_icrc_check(&p, f.data, NULL) == VS_CRC_GOOD &&
		    (!native || vs_vcrc_check(&p, f.data, NULL) == VS_CRC_GOOD))
			continue;
		printf("frame %" PRIu64 " does not verify\n", f.number);
		ret = 1;
	}
	if (r < 0) {
		fprintf(stderr, "capcmp: %s\n", err.text);
		ret = 2;
	} else if (n == 0) {
		printf("no packet\n");
		ret = 1;
	}
	vs_capture_close(c);
	return ret;
}

static int list(const char *a)
{
	static const char *const crc[] = {"bad", "good", "unverified"};
	struct vs_io_error err;
	struct vs_capture *c = vs_capture_open(a, &err);
	struct vs_frame f;
	struct vs_pkt p;
	int r = -1;

	while (c && (r = vs_capture_next_pkt(c, &f, &p, 0, &err)) == 1)
		printf("%" PRId64 " %s 0x%06x 0x%06x %s %d\n", f.time_ns,
		       vs_opcode_token(p.bth.opcode) ? vs_opcode_token(p.bth.opcode) : "RESERVED", p.bth.destqp,
		       p.bth.psn, crc[vs_icrc_check(&p, f.data, NULL)], p.ipv4.tos & 3);
	if (r < 0)
		fprintf(stderr, "capcmp: %s\n", err.text);
	vs_capture_close(c);
	return r < 0 ? 2 : 0;
}

int main(int argc, char **argv)
{
	any_time = argc > 1 && strcmp(argv[1], "bytes") == 0;
	if (argc == 4 && strcmp(argv[1], "frames") == 0)
		return frames(argv[2], argv[3]);
	if (argc == 4 && (any_time || strcmp(argv[1], "transport") == 0))
		return transport(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "good") == 0)
		return good(argv[2]);
	if (argc == 3 && strcmp(argv[1], "list") == 0)
		return list(argv[2]);
	fputs("usage: capcmp frames|transport|bytes A B, capcmp good|list A\n", stderr);
	return 2;
}
