/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_map.c - see pcap_map.h for the rules. */
#include "pcap_map.h"

#include <stdlib.h>
#include <string.h>

#define LIDS 0xbfffu /* unicast: 1 .. 0xbfff */
#define SLOTS 65536u /* more than VP_MAP_MAX: chains stay short */

struct slot {
	bool used;
	uint8_t gid[16];
	uint32_t value;
};

/* GID -> value, and which values are taken: open addressing by both. */
struct table {
	struct slot by_gid[SLOTS];
	uint32_t by_value[SLOTS]; /* 0: free */
	uint32_t n, values;
};

struct vp_map {
	struct table ipv4, lid;
};

static const uint8_t v4mapped[12] = {[10] = 0xff, [11] = 0xff};
static const uint8_t v4multicast[12] = {0xff, 0x0e, [10] = 0xff, [11] = 0xff};
static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};
static const uint8_t lid_prefix[14] = {0xfd, 0x56, 0x53, 0x00};
static const uint8_t lid_multicast[14] = {0xff, 0x1e, 0x56, 0x53};

struct vp_map *vp_map_new(void)
{
	return calloc(1, sizeof(struct vp_map));
}

void vp_map_free(struct vp_map *m)
{
	free(m);
}

static bool begins(const uint8_t gid[16], const uint8_t *prefix, size_t len)
{
	return memcmp(gid, prefix, len) == 0;
}

static bool has_ipv4(const uint8_t gid[16])
{
	return begins(gid, v4mapped, 12) || begins(gid, v4multicast, 12);
}

void vp_map_gid(const struct vp_addr *a, uint8_t gid[16])
{
	memset(gid, 0, 16);
	switch (a->kind) {
	case VP_ADDR_IPV4:
		memcpy(gid, a->b[0] >> 4 == 0xe ? v4multicast : v4mapped, 12);
		memcpy(gid + 12, a->b, 4);
		break;
	case VP_ADDR_IPV6:
	case VP_ADDR_GID:
		memcpy(gid, a->b, 16);
		if (a->kind == VP_ADDR_IPV6 && begins(a->b, nat64, 12))
			memcpy(gid, v4mapped, 12);
		break;
	case VP_ADDR_LID:
		memcpy(gid, a->b[0] >= 0xc0 ? lid_multicast : lid_prefix, 14);
		memcpy(gid + 14, a->b, 2);
		break;
	case VP_ADDR_NONE:
		break;
	}
}

void vp_map_ipv6(const uint8_t gid[16], uint8_t ip[16])
{
	memcpy(ip, gid, 16);
	if (begins(gid, v4mapped, 12))
		memcpy(ip, nat64, 12);
}

static uint32_t mix(uint32_t h)
{
	h = (h ^ h >> 16) * 0x7feb352du;
	return (h ^ h >> 15) * 0x846ca68bu >> 8;
}

static struct slot *slot_of(struct table *t, const uint8_t gid[16])
{
	uint32_t h = 2166136261u;

	for (unsigned i = 0; i < 16; i++)
		h = (h ^ gid[i]) * 16777619u;
	for (h = mix(h) % SLOTS; t->by_gid[h].used && memcmp(t->by_gid[h].gid, gid, 16) != 0; h = (h + 1) % SLOTS)
		;
	return &t->by_gid[h];
}

/* True when `value` was free; it is taken now. */
static bool take(struct table *t, uint32_t value)
{
	uint32_t h = mix(value) % SLOTS;

	for (; t->by_value[h] != 0; h = (h + 1) % SLOTS)
		if (t->by_value[h] == value)
			return false;
	t->by_value[h] = value;
	t->values++;
	return true;
}

/* The value of `gid`: the one it had, else first + (want + n) % count for the least n that is free. */
static bool assign(struct table *t, const uint8_t gid[16], uint32_t first, uint32_t want, uint32_t count,
		   uint32_t *value)
{
	struct slot *s = slot_of(t, gid);

	if (!s->used) {
		if (t->n == VP_MAP_MAX || t->values == SLOTS - 1)
			return false;
		while (!take(t, first + want % count))
			want = want % count + 1;
		s->used = true;
		memcpy(s->gid, gid, 16);
		s->value = first + want % count;
		t->n++;
	}
	*value = s->value;
	return true;
}

bool vp_map_ipv4(struct vp_map *m, const uint8_t gid[16], uint8_t ip[4])
{
	uint32_t low = (uint32_t)gid[13] << 16 | (uint32_t)gid[14] << 8 | gid[15], v;

	if (has_ipv4(gid)) {
		v = (uint32_t)gid[12] << 24 | low;
		if (!begins(gid, v4multicast, 12) && m->ipv4.values < SLOTS / 2)
			take(&m->ipv4, v);
	} else if (gid[0] == 0xff) {
		v = 239u << 24 | low;
	} else if (!assign(&m->ipv4, gid, 10u << 24, begins(gid, lid_prefix, 14) ? 86u << 16 | (low & 0xffff) : low,
			   1u << 24, &v)) {
		return false;
	}
	for (unsigned i = 0; i < 4; i++)
		ip[i] = (uint8_t)(v >> (24 - 8 * i));
	return true;
}

bool vp_map_lid(struct vp_map *m, const uint8_t gid[16], uint16_t *lid)
{
	uint32_t low = (uint32_t)gid[14] << 8 | gid[15], v;

	if (gid[0] == 0xff) {
		v = 0xc000 | (low & 0x3fff);
		*lid = (uint16_t)(v == 0xffff ? 0xfffe : v); /* 0xffff is the permissive LID */
		return true;
	}
	if (!assign(&m->lid, gid, 1, low + LIDS - 1, LIDS, &v)) /* 1 + (low - 1) % LIDS */
		return false;
	*lid = (uint16_t)v;
	return true;
}

void vp_map_mac(const uint8_t gid[16], bool ipv4, uint8_t mac[6])
{
	static const uint8_t ours[3] = {0x02, 0x56, 0x53};

	memcpy(mac, ours, 3);
	memcpy(mac + 3, gid + 13, 3);
	if (gid[0] == 0xff && ipv4) {
		mac[0] = 0x01;
		mac[1] = 0x00;
		mac[2] = 0x5e;
		mac[3] &= 0x7f;
	} else if (gid[0] == 0xff) {
		mac[0] = mac[1] = 0x33;
		mac[2] = gid[12];
	}
}
