/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_map.h - addresses of one encapsulation in terms of another, the same way each time.
 *
 * Every address has a GID in between:
 *   IPv4 a.b.c.d            ::ffff:a.b.c.d; multicast ff0e::ffff:a.b.c.d (Annex A17)
 *   IPv6 64:ff9b::a.b.c.d   the GID of a.b.c.d;  other IPv6 and GIDs: themselves
 *   LID                     fd56:5300::LID; multicast ff1e:5653::LID
 * and from a GID:
 *   IPv4   a.b.c.d of the above; fd56:5300::LID is 10.86.LID/256.LID%256; others 10. or, multicast, 239. and their
 *          last three bytes
 *   IPv6   64:ff9b::a.b.c.d of the above (multicast as it is); others: themselves
 *   LID    of the above; others the last two bytes as a number in 1..0xbfff (modulo), multicast 0xc000 and the last 14
 * bits Where two unicast GIDs of a file would get the same IPv4 address or LID, the later one gets the next free one;
 * what has an IPv4 address keeps it.
 */
#ifndef PCAP_MAP_H
#define PCAP_MAP_H

#include "pcap_common.h"

struct vp_map;
struct vp_map *vp_map_new(void); /* NULL: no memory */
void vp_map_free(struct vp_map *m);

void vp_map_gid(const struct vp_addr *a, uint8_t gid[16]);
void vp_map_ipv6(const uint8_t gid[16], uint8_t ip[16]);
/* False: more than VP_MAP_MAX addresses, or no memory. */
bool vp_map_ipv4(struct vp_map *m, const uint8_t gid[16], uint8_t ip[4]);
bool vp_map_lid(struct vp_map *m, const uint8_t gid[16], uint16_t *lid);
/* The MAC address for one that has none: multicast as IP does it, otherwise 02:56:53 and the last three bytes. */
void vp_map_mac(const uint8_t gid[16], bool ipv4, uint8_t mac[6]); /* ipv4: of a packet with an IPv4 header */

#define VP_MAP_MAX 16384

#endif
