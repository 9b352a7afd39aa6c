/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* peer_addr.c - which addresses of a device, and of this host, are in the network of a peer. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "drill/drill_int.h"
#include "peer.h"

/* Bits that two addresses have in common, from the first on. */
static unsigned common(const uint8_t *a, const uint8_t *b)
{
	unsigned n = 0;

	while (n < 128 && !((a[n / 8] ^ b[n / 8]) >> (7 - n % 8) & 1))
		n++;
	return n;
}

bool vc_peer_is_nearer(const struct vc_peer *p, int encap, const uint8_t a[16], const uint8_t b[16])
{
	return p == NULL || !p->has[encap] || common(a, p->gid[encap]) >= common(b, p->gid[encap]);
}

static unsigned prefix(const uint8_t *mask, unsigned bytes)
{
	unsigned n = 0;

	while (n < bytes * 8 && mask[n / 8] >> (7 - n % 8) & 1)
		n++;
	return n;
}

/* An address of an interface, as a GID, and how many bits its network has. False: it is none of IP. */
static bool network(const struct ifaddrs *a, uint8_t gid[16], unsigned *bits)
{
	if (a->ifa_addr == NULL || a->ifa_netmask == NULL || !(a->ifa_flags & IFF_UP))
		return false;
	memset(gid, 0, 16);
	if (a->ifa_addr->sa_family == AF_INET) {
		struct sockaddr_in in, mask;

		memcpy(&in, a->ifa_addr, sizeof(in));
		memcpy(&mask, a->ifa_netmask, sizeof(mask));
		gid[10] = gid[11] = 0xff;
		memcpy(gid + 12, &in.sin_addr, 4);
		*bits = 96 + prefix((const uint8_t *)&mask.sin_addr, 4);
		return true;
	}
	if (a->ifa_addr->sa_family == AF_INET6) {
		struct sockaddr_in6 in, mask;

		memcpy(&in, a->ifa_addr, sizeof(in));
		memcpy(&mask, a->ifa_netmask, sizeof(mask));
		memcpy(gid, &in.sin6_addr, 16);
		*bits = prefix((const uint8_t *)&mask.sin6_addr, 16);
		return true;
	}
	return false;
}

bool vc_peer_beside(const struct vc_peer *p, int encap, unsigned number, char text[VC_ADDRESS])
{
	struct ifaddrs *list = NULL;
	bool found = false;

	if (!p->has[encap] || getifaddrs(&list) != 0)
		return false;
	for (const struct ifaddrs *a = list; a != NULL && !found; a = a->ifa_next) {
		uint8_t gid[16];
		unsigned bits;

		if (!network(a, gid, &bits) || common(gid, p->gid[encap]) < bits || number-- > 0)
			continue;
		found = encap == EN_ROCEV2_IPV4 ? inet_ntop(AF_INET, gid + 12, text, VC_ADDRESS) != NULL
						: inet_ntop(AF_INET6, gid, text, VC_ADDRESS) != NULL;
	}
	freeifaddrs(list);
	return found;
}

void vc_gid_text(const uint8_t gid[16], char text[VC_ADDRESS])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (memcmp(gid, mapped, 12) == 0)
		(void)inet_ntop(AF_INET, gid + 12, text, VC_ADDRESS);
	else
		(void)inet_ntop(AF_INET6, gid, text, VC_ADDRESS);
}
