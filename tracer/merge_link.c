/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * merge_link.c - two devices that told of their packets each for itself: what one sent and the other took becomes one
 * packet. Which of several transmissions of the same PSN arrived is told by time: the newest that was sent before.
 */
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "merge.h"

struct linker {
	struct merge *g;
	struct vt_map ids;  /* source, its pkt_id: pkt_id in the whole */
	struct vt_map last; /* key: index of the newest transmission */
	uint64_t next_id;
	bool failed;
};

static uint64_t id_of(struct linker *l, unsigned source, uint64_t old)
{
	size_t id = vt_map_get(&l->ids, source, old);

	if (id != SIZE_MAX)
		return id;
	l->failed = l->failed || !vt_map_put(&l->ids, source, old, (size_t)++l->next_id);
	return l->next_id;
}

/* Where opcode, PSN and destination stand: pkt:drop has its reason in front. */
static uint64_t key_of(const struct vs_event *e)
{
	const uint64_t *a = e->type == VS_EV_PKT_DROP ? e->a + 1 : e->a;

	return (a[0] & 0xff) << 56 ^ (a[1] & 0xffffff) << 28 ^ (a[2] & 0xffffff);
}

static bool arrives(const struct merge_event *e)
{
	return (e->ev.type == VS_EV_PKT_RX || e->ev.type == VS_EV_PKT_DROP) && e->ev.pkt_id == 0 && e->ev.cause == 0;
}

/* Of what the events of this receiver follow from, by their old seqs: the packet. */
static void inherit(struct linker *l, struct vt_map *packet_of, struct merge_event *e)
{
	size_t id = e->ev.cause != 0 ? vt_map_get(packet_of, e->source, e->ev.cause) : SIZE_MAX;

	if (id == SIZE_MAX || e->ev.pkt_id != 0 || e->ev.type == VS_EV_PKT_TX)
		return;
	if (e->ev.type == VS_EV_DMA_WRITE || e->ev.type == VS_EV_DMA_ATOMIC || e->ev.type == VS_EV_PKT_DROP ||
	    e->ev.type == VS_EV_UD_DROP || e->ev.type == VS_EV_RC_REFUSE)
		e->ev.pkt_id = id;
	l->failed = l->failed || !vt_map_put(packet_of, e->source, e->old_seq, id);
}

static void link_arrival(struct linker *l, struct vt_map *packet_of, struct merge_event *e)
{
	size_t at = vt_map_get(&l->last, key_of(&e->ev), 0);
	const struct merge_event *tx = at != SIZE_MAX ? &l->g->ev[at] : NULL;

	if (tx == NULL || tx->domain == e->domain)
		return;
	e->ev.pkt_id = tx->ev.pkt_id;
	e->ev.cause = tx->ev.seq;
	l->g->linked++;
	l->failed = l->failed || !vt_map_put(packet_of, e->source, e->old_seq, (size_t)tx->ev.pkt_id);
}

/*
 * The events stand in their order and have their numbers: ev.seq is that of the whole, old_seq the source's, as causes
 * still are.
 */
bool merge_link(struct merge *g)
{
	struct linker l = {.g = g};
	struct vt_map packet_of = {0}, now_is = {0};

	for (size_t i = 0; i < g->n && !l.failed; i++) {
		struct merge_event *e = &g->ev[i];
		bool own = e->ev.pkt_id != 0;
		size_t cause;

		l.failed = !vt_map_put(&now_is, e->source, e->old_seq, (size_t)e->ev.seq);
		if (own)
			e->ev.pkt_id = id_of(&l, e->source, e->ev.pkt_id);
		if (e->ev.type == VS_EV_PKT_TX)
			l.failed = l.failed || !vt_map_put(&l.last, key_of(&e->ev), 0, i);
		if (arrives(e)) {
			link_arrival(&l, &packet_of, e);
			continue;
		}
		inherit(&l, &packet_of, e);
		cause = e->ev.cause != 0 ? vt_map_get(&now_is, e->source, e->ev.cause) : SIZE_MAX;
		e->ev.cause = cause != SIZE_MAX ? cause : 0;
	}
	vt_map_free(&l.ids);
	vt_map_free(&l.last);
	vt_map_free(&packet_of);
	vt_map_free(&now_is);
	return !l.failed;
}
