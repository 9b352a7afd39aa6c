/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* peer.c - opening the wire of the peer that the user asks for. */
#include <string.h>

#include "drill/drill_int.h"
#include "peer.h"

struct vc_peer *vc_peer_open(const struct vc_peer_spec *s, unsigned number, char *why, size_t cap)
{
	struct vc_udp_addresses at = {.src = {0}};
	bool busy;

	memcpy(at.ipv4, s->gid[EN_ROCEV2_IPV4], 16);
	memcpy(at.ipv6, s->gid[EN_ROCEV2_IPV6], 16);
	if (s->kind == VC_PEER_UDP)
		return vc_peer_udp(&at, &busy, why, cap);
	return vc_peer_frame(s, number, why, cap);
}

void vc_peer_close(struct vc_peer *p)
{
	if (p != NULL)
		p->ops->close(p);
}
