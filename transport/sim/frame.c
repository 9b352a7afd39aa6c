/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * frame.c - frames: a pool that grows up to max_in_flight, addresses, congestion marks.
 */
#include "internal.h"
#include "vs/icrc.h"

#define SLAB 64

struct slab {
	struct slab *next;
	struct vs_sim_frame frame[SLAB];
};

static bool grow(struct vs_sim *sim)
{
	struct slab *s = vs_sim_alloc(sim, sizeof(*s));

	if (s == NULL)
		return false;
	s->next = sim->slabs;
	sim->slabs = s;
	for (unsigned i = SLAB; i-- > 0;) {
		s->frame[i].next = sim->free_frames;
		sim->free_frames = &s->frame[i];
	}
	return true;
}

struct vs_sim_frame *vs_frame_new(struct vs_sim *sim)
{
	struct vs_sim_frame *f;

	if (sim->in_flight >= sim->attr.max_in_flight || (sim->free_frames == NULL && !grow(sim)))
		return NULL;
	f = sim->free_frames;
	sim->free_frames = f->next;
	sim->in_flight++;
	memset(f, 0, offsetof(struct vs_sim_frame, buf));
	return f;
}

void vs_frame_free(struct vs_sim *sim, struct vs_sim_frame *f)
{
	f->next = sim->free_frames;
	sim->free_frames = f;
	sim->in_flight--;
}

void vs_frames_fini(struct vs_sim *sim)
{
	while (sim->slabs != NULL) {
		struct slab *s = sim->slabs;

		sim->slabs = s->next;
		vs_sim_free(sim, s, sizeof(*s));
	}
}

int vs_frame_destination(const struct vs_sim *sim, const struct vs_sim_frame *f)
{
	int i;

	if (sim->link == VS_LINK_IB) {
		uint16_t dlid = 0xffff;

		if (f->len >= 8)
			dlid = (uint16_t)(f->buf[2] << 8 | f->buf[3]);
		for (i = 0; i < sim->n_nodes && dlid < 0xc000; i++)
			if (sim->node[i]->kind != VS_NODE_SWITCH && sim->node[i]->lid == dlid)
				return i;
		return -1;
	}
	if (f->len < 14 || (f->buf[0] & 1))
		return -1;
	for (i = 0; i < sim->n_nodes; i++)
		if (sim->node[i]->kind != VS_NODE_SWITCH && memcmp(sim->node[i]->mac, f->buf, 6) == 0)
			return i;
	return -1;
}

/* RFC 1624: the checksum follows a 16-bit word that changes. */
static void fix_checksum(uint8_t *ip, unsigned before, unsigned after)
{
	uint32_t sum = (uint32_t)(ip[10] << 8 | ip[11]);

	sum = (~sum & 0xffff) + (~before & 0xffff) + after;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static bool mark_ip(uint8_t *ip, bool v4, bool ect_only)
{
	unsigned shift = v4 ? 0 : 4; /* ECN: bits 1..0 of IPv4's byte 1, bits 5..4 of IPv6's */
	unsigned before = (unsigned)(ip[0] << 8 | ip[1]);
	unsigned ecn = before >> shift & 3;

	if (ect_only && (ecn == 0 || ecn == 3))
		return false;
	ip[1] = (uint8_t)(ip[1] | 3u << shift);
	if (v4)
		fix_checksum(ip, before, (unsigned)(ip[0] << 8 | ip[1]));
	return true;
}

bool vs_frame_mark(const struct vs_sim *sim, struct vs_sim_frame *f, bool ect_only)
{
	struct vs_pkt p;
	uint16_t vcrc;

	if (vs_pkt_parse(&p, sim->link, 0, f->buf, f->len, f->len, 0) != VS_OK)
		return false;
	if (p.encap == VS_ENCAP_ROCEV2_IPV4 || p.encap == VS_ENCAP_ROCEV2_IPV6)
		return mark_ip(f->buf + p.net_off, p.encap == VS_ENCAP_ROCEV2_IPV4, ect_only);
	/* No ECT there: FECN marks where a mark is asked for. */
	if (ect_only || p.bth_off + 5 > f->len)
		return false;
	f->buf[p.bth_off + 4] |= 0x80;
	if (sim->link == VS_LINK_IB && p.end_off + 2 <= f->len) {
		vcrc = vs_vcrc_bytes(f->buf + p.net_off, p.end_off - p.net_off);
		f->buf[p.end_off] = (uint8_t)vcrc;
		f->buf[p.end_off + 1] = (uint8_t)(vcrc >> 8);
	}
	return true;
}
