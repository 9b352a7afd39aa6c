/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * link.c - link types of capture files, and what stands in front of the packet in each record.
 *
 * Layouts, all big-endian unless said (tcpdump.org/linktypes.html; the ERF page of Endace):
 *   SLL   packet type 2, ARPHRD 2, address length 2, address 8, protocol 2
 *   SLL2  protocol 2, reserved 2, interface 4, ARPHRD 2, packet type 1, address length 1, address 8
 *   ERF   time 8 (little-endian: 32 bits of seconds, 32 bits of fraction), type 1 (bit 7: extension
 *         headers follow), flags 1, record length 2, loss counter 2, wire length 2; then 8 bytes for
 *         each extension header, whose first bit says whether another one follows
 */
#include <pcap/dlt.h>

#include "io/internal.h"

#define SLL_LEN 16
#define SLL2_LEN 20
#define ERF_LEN 16
#define ERF_EXT_LEN 8
#define ERF_TYPE_INFINIBAND 21
#define ERF_TYPE_INFINIBAND_LINK 25
#define IB_SHORTEST 10 /* LRH + VCRC; a flow control packet of the link layer has 6 bytes */
#define DLT_RAW_BSDOS 14

enum link_kind { KIND_ETHERNET, KIND_SLL, KIND_SLL2, KIND_IP, KIND_ERF, KIND_IB };

static const struct link_type {
	int dlt;
	enum link_kind kind;
	const char *name;
} link_types[] = {
	{DLT_EN10MB, KIND_ETHERNET, "EN10MB"},
	{DLT_LINUX_SLL, KIND_SLL, "LINUX_SLL"},
	{DLT_LINUX_SLL2, KIND_SLL2, "LINUX_SLL2"},
	{DLT_RAW, KIND_IP, "RAW"},
	{DLT_RAW_BSDOS, KIND_IP, "RAW"},
	{101, KIND_IP, "RAW"},
	{DLT_IPV4, KIND_IP, "IPV4"},
	{DLT_IPV6, KIND_IP, "IPV6"},
	{DLT_ERF, KIND_ERF, "ERF"},
	{DLT_INFINIBAND, KIND_IB, "INFINIBAND"},
};

static const struct link_type *link_type(int dlt)
{
	for (size_t i = 0; i < sizeof(link_types) / sizeof(link_types[0]); i++)
		if (link_types[i].dlt == dlt)
			return &link_types[i];
	return NULL;
}

const char *vs_link_name(int dlt)
{
	const struct link_type *t = link_type(dlt);

	return t ? t->name : NULL;
}

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void set_other(struct vs_frame *f)
{
	f->link = VS_LINK_ETHERTYPE;
	f->ethertype = 0;
}

/* False, and the record is other traffic, when it is shorter than its own link header. */
static bool take(struct vs_frame *f, uint32_t len)
{
	if (f->caplen < len) {
		set_other(f);
		return false;
	}
	f->data += len;
	f->caplen -= len;
	f->wirelen -= len;
	return true;
}

static void peel_cooked(struct vs_frame *f, uint32_t len, uint32_t protocol_off)
{
	const uint8_t *hdr = f->data;

	if (!take(f, len))
		return;
	f->link = VS_LINK_ETHERTYPE;
	f->ethertype = be16(hdr + protocol_off);
}

/* 0 when the record ends inside the ERF headers. */
static uint32_t erf_header_len(const struct vs_frame *f)
{
	uint32_t off = ERF_LEN;
	bool more;

	if (f->caplen < ERF_LEN)
		return 0;
	more = f->data[8] & 0x80;
	while (more) {
		if (f->caplen - off < ERF_EXT_LEN)
			return 0;
		more = f->data[off] & 0x80;
		off += ERF_EXT_LEN;
	}
	return off;
}

/* Nanoseconds, to the nearest, of an ERF time stamp. */
static int64_t erf_time_ns(const uint8_t *p)
{
	uint64_t sec = 0, frac = 0;

	for (int i = 3; i >= 0; i--) {
		frac = frac << 8 | p[i];
		sec = sec << 8 | p[4 + i];
	}
	return (int64_t)(sec * 1000000000u + ((frac * 1000000000u + 0x80000000u) >> 32));
}

static void peel_erf(struct vs_frame *f)
{
	const uint8_t *hdr = f->data;
	uint32_t len = erf_header_len(f), wlen;
	uint8_t type;
	int64_t t;

	if (!take(f, len) || len == 0) {
		set_other(f);
		return;
	}
	t = erf_time_ns(hdr);
	if (t != 0) /* else the time of the pcap record is all there is */
		f->time_ns = t;
	wlen = be16(hdr + 14);
	if (wlen != 0 && wlen < f->caplen) /* what follows the packet is padding of the record */
		f->caplen = wlen;
	if (wlen != 0)
		f->wirelen = wlen;
	type = hdr[8] & 0x7f;
	if (type == ERF_TYPE_INFINIBAND || (type == ERF_TYPE_INFINIBAND_LINK && f->wirelen >= IB_SHORTEST))
		f->link = VS_LINK_IB;
	else
		set_other(f);
}

void vs_link_peel(int dlt, struct vs_frame *f)
{
	const struct link_type *t = link_type(dlt);

	f->ethertype = 0;
	switch (t ? t->kind : KIND_ETHERNET) {
	case KIND_ETHERNET:
		f->link = VS_LINK_ETHERNET;
		break;
	case KIND_SLL:
		peel_cooked(f, SLL_LEN, 14);
		break;
	case KIND_SLL2:
		peel_cooked(f, SLL2_LEN, 0);
		break;
	case KIND_IP:
		f->link = VS_LINK_IP;
		break;
	case KIND_ERF:
		peel_erf(f);
		break;
	case KIND_IB:
		f->link = VS_LINK_IB;
		break;
	}
}
