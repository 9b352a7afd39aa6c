/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * identity.h - what follows from an address: MAC, GUID, interface. The library tells it to programs, vs-run writes it
 * below /sys (run/view.c): both must say the same.
 */
#ifndef VS_VERBS_IDENTITY_H
#define VS_VERBS_IDENTITY_H

#include <net/if.h>
#include <stdint.h>

/* No ARP on a socket: a MAC, locally administered, is made of the address. */
void ref_mac_of(const uint8_t gid[16], uint8_t mac[6]);
/* The node GUID of a device whose first address that is, in host order. */
uint64_t ref_guid_of(const uint8_t gid[16]);
/* The interface that has the address; lo when none has. */
void ref_interface_of(const uint8_t gid[16], char name[IF_NAMESIZE]);

#endif
