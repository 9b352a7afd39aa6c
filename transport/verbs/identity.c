/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * identity.c - see identity.h.
 */
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "verbs/identity.h"

void ref_mac_of(const uint8_t gid[16], uint8_t mac[6])
{
	mac[0] = 0x02;
	mac[1] = gid[11];
	memcpy(mac + 2, gid + 12, 4);
}

/* EUI-64: ff:fe in the middle of the MAC. */
uint64_t ref_guid_of(const uint8_t gid[16])
{
	uint8_t mac[6];
	uint64_t guid;

	ref_mac_of(gid, mac);
	guid = 0x0200000000000000ull | (uint64_t)mac[1] << 48 | 0xfffe000000ull << 8;
	for (int i = 2; i < 6; i++)
		guid |= (uint64_t)mac[i] << (8 * (5 - i));
	return guid;
}

static bool has(const struct ifaddrs *a, const uint8_t gid[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	const void *addr = a->ifa_addr;

	if (a->ifa_addr == NULL)
		return false;
	if (a->ifa_addr->sa_family == AF_INET)
		return memcmp(gid, mapped, 12) == 0 &&
		       memcmp(&((const struct sockaddr_in *)addr)->sin_addr, gid + 12, 4) == 0;
	return a->ifa_addr->sa_family == AF_INET6 &&
	       memcmp(&((const struct sockaddr_in6 *)addr)->sin6_addr, gid, 16) == 0;
}

void ref_interface_of(const uint8_t gid[16], char name[IF_NAMESIZE])
{
	struct ifaddrs *all = NULL;

	snprintf(name, IF_NAMESIZE, "lo"); /* all of 127.0.0.0/8 is there, though it has one address */
	if (getifaddrs(&all) != 0)
		return;
	for (const struct ifaddrs *a = all; a != NULL; a = a->ifa_next) {
		if (has(a, gid)) {
			snprintf(name, IF_NAMESIZE, "%.*s", IF_NAMESIZE - 1, a->ifa_name);
			break;
		}
	}
	freeifaddrs(all);
}
