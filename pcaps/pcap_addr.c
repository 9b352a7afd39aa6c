/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_addr.c - who a packet is from and for, the way there by UDP, and names of encapsulations. */
#include <arpa/inet.h>
#include <string.h>

#include "pcap_common.h"
#include "vs/inject.h"

static const struct {
	const char *name;
	enum vs_encap encap;
} encaps[] = {
	{"ib", VS_ENCAP_IB},
	{"ib-grh", VS_ENCAP_IB_GRH},
	{"rocev1", VS_ENCAP_ROCEV1},
	{"rocev2-ipv4", VS_ENCAP_ROCEV2_IPV4},
	{"rocev2-ipv6", VS_ENCAP_ROCEV2_IPV6},
};

const char *vp_encap_name(enum vs_encap e)
{
	for (size_t i = 0; i < sizeof(encaps) / sizeof(encaps[0]); i++)
		if (encaps[i].encap == e)
			return encaps[i].name;
	return e == VS_ENCAP_IB_RAW ? "ib-raw" : "bare";
}

enum vs_encap vp_encap_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(encaps) / sizeof(encaps[0]); i++)
		if (strcmp(encaps[i].name, name) == 0)
			return encaps[i].encap;
	return VS_ENCAP_BARE;
}

static void set(struct vp_addr *a, enum vp_addr_kind kind, const uint8_t *b, size_t len)
{
	memset(a, 0, sizeof(*a));
	a->kind = kind;
	memcpy(a->b, b, len);
}

static void set_lid(struct vp_addr *a, uint16_t lid)
{
	uint8_t b[2] = {(uint8_t)(lid >> 8), (uint8_t)lid};

	set(a, VP_ADDR_LID, b, 2);
}

void vp_addr_of(const struct vs_pkt *p, struct vp_addr *src, struct vp_addr *dst)
{
	memset(src, 0, sizeof(*src));
	memset(dst, 0, sizeof(*dst));
	switch (p->encap) {
	case VS_ENCAP_ROCEV2_IPV4:
		set(src, VP_ADDR_IPV4, p->ipv4.src, 4);
		set(dst, VP_ADDR_IPV4, p->ipv4.dst, 4);
		break;
	case VS_ENCAP_ROCEV2_IPV6:
		set(src, VP_ADDR_IPV6, p->grh.sgid, 16);
		set(dst, VP_ADDR_IPV6, p->grh.dgid, 16);
		break;
	case VS_ENCAP_ROCEV1:
	case VS_ENCAP_IB_GRH:
		set(src, VP_ADDR_GID, p->grh.sgid, 16);
		set(dst, VP_ADDR_GID, p->grh.dgid, 16);
		break;
	case VS_ENCAP_IB:
	case VS_ENCAP_IB_RAW:
		set_lid(src, p->lrh.slid);
		set_lid(dst, p->lrh.dlid);
		break;
	case VS_ENCAP_BARE:
		break;
	}
}

bool vp_addr_equal(const struct vp_addr *a, const struct vp_addr *b)
{
	return a->kind == b->kind && memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

const char *vp_addr_text(const struct vp_addr *a, char text[VP_ADDR_TEXT])
{
	switch (a->kind) {
	case VP_ADDR_IPV4:
		inet_ntop(AF_INET, a->b, text, VP_ADDR_TEXT);
		break;
	case VP_ADDR_IPV6:
	case VP_ADDR_GID:
		inet_ntop(AF_INET6, a->b, text, VP_ADDR_TEXT);
		break;
	case VP_ADDR_LID:
		snprintf(text, VP_ADDR_TEXT, "LID:0x%02x%02x", a->b[0], a->b[1]);
		break;
	case VP_ADDR_NONE:
		snprintf(text, VP_ADDR_TEXT, "-");
		break;
	}
	return text;
}

struct vs_injector *vp_udp_open(const char *cmd, const char *addr, bool remote)
{
	struct vs_injector *inj;
	struct vs_io_error err;
	int code;

	if (!remote && !vs_inject_udp_is_loopback(addr)) {
		vp_complain(cmd, "%s is not a loopback address, and RDMA has no authentication: add --allow-remote",
			    addr);
		return NULL;
	}
	inj = vs_inject_udp_open(addr, &code, &err);
	if (!inj)
		vp_complain(cmd, "%s", err.text);
	return inj;
}
