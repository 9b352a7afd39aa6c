/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_parse.c - libFuzzer target: bytes from anyone, taken for every link there is, whole and cut.
 * What parses builds back to the same bytes; CRC checks and rules read nothing beyond the end.
 */
#include <stdlib.h>
#include <string.h>

#include "vs/icrc.h"
#include "vs/wire.h"

#define OUT_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int ok)
{
	if (!ok)
		abort();
}

static void judge(const struct vs_pkt *p, const uint8_t *buf)
{
	enum vs_reason reasons[VS_REASON_COUNT];
	size_t n =
		vs_pkt_validate(p, vs_icrc_check(p, buf, NULL), vs_vcrc_check(p, buf, NULL), reasons, VS_REASON_COUNT);

	require(n <= VS_REASON_WIRE_LAST);
	for (size_t i = 1; i < n; i++)
		require(reasons[i - 1] < reasons[i]);
}

/* Sealing makes a packet of whatever parsed: what it says is right afterwards, if it can be said. */
static void seal(struct vs_pkt *p, uint8_t *scratch, size_t cap)
{
	uint16_t ethertype;
	enum vs_link link;
	struct vs_pkt q;
	int n;

	if (vs_pkt_seal(p, VS_SEAL_ALL, scratch, cap) != VS_OK || (p->flags & VS_PKT_FRAGMENT))
		return;
	n = vs_pkt_build(p, scratch, cap);
	require(n > 0);
	link = vs_pkt_link(p, &ethertype);
	require(vs_pkt_parse(&q, link, ethertype, scratch, (size_t)n, (size_t)n, VS_PARSE_ANY_PORT) == VS_OK);
	require(vs_icrc_check(&q, scratch, NULL) != VS_CRC_BAD || !(p->flags & VS_PKT_HAS_ICRC));
}

/* `buf` is a heap block of exactly `cap` bytes, so that a read beyond the end is seen. */
static void one(enum vs_link link, uint16_t ethertype, const uint8_t *buf, size_t cap, size_t wire, unsigned opt)
{
	static uint8_t out[OUT_MAX];
	struct vs_pkt p, q;

	if (vs_pkt_parse(&p, link, ethertype, buf, cap, wire, opt) != VS_OK)
		return;
	require(vs_pkt_size(&p) == cap);
	require(vs_pkt_build(&p, out, cap) == (int)cap && memcmp(buf, out, cap) == 0);
	require(vs_pkt_parse(&q, link, ethertype, out, cap, wire, opt) == VS_OK && vs_pkt_equal(&p, &q));
	judge(&p, buf);
	seal(&p, out, sizeof(out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Where the snap length falls depends on the bytes, so that the fuzzer can move it. */
	size_t cut = size > 0 ? (data[size - 1] * 7u + data[size / 2]) % size : 0;
	uint8_t *snapped;

	if (size + 64 > OUT_MAX)
		return 0;
	snapped = malloc(cut > 0 ? cut : 1);
	require(snapped != NULL);
	memcpy(snapped, data, cut);
	for (int link = VS_LINK_ETHERNET; link <= VS_LINK_BTH; link++) {
		one((enum vs_link)link, 0x8100, data, size, size, 0);
		one((enum vs_link)link, 0x8100, data, size, size, VS_PARSE_DC | VS_PARSE_ANY_PORT);
		one((enum vs_link)link, 0x8100, data, size, size, VS_PARSE_ANY_PORT | VS_PARSE_FRAGMENT);
		one((enum vs_link)link, VS_ETHERTYPE_ROCEV1, snapped, cut, size, 0);
	}
	free(snapped);
	return 0;
}
