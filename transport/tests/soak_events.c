/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * soak_events.c - judges the stream of events while it runs: everything that is no outer stimulus has a cause
 * that was there before, every packet has its transmission, and none arrives more often than it was sent or copied.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soak.h"
#include "vs/vst.h"

struct watch {
	struct soak *s;
	uint64_t seq;
	uint8_t *type; /* of each event, by seq */
	size_t cap;
	uint64_t *sent; /* by pkt_id: 1 sent, + 1 per copy; an arrival takes one away */
	size_t sent_cap;
	uint64_t now;
};

struct watch *watch_new(struct soak *s)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (w == NULL)
		abort();
	w->s = s;
	return w;
}

void watch_free(struct watch *w)
{
	if (w == NULL)
		return;
	free(w->type);
	free(w->sent);
	free(w);
}

static void *grown(void *p, size_t *cap, size_t need, size_t size)
{
	size_t more = *cap;

	if (need < *cap)
		return p;
	while (need >= more)
		more = more == 0 ? 1024 : 2 * more;
	p = realloc(p, more * size);
	if (p == NULL)
		abort();
	memset((char *)p + *cap * size, 0, (more - *cap) * size);
	*cap = more;
	return p;
}

/* The program, or the clock of a link: nothing led here. */
static bool outer(enum vs_event_type t)
{
	switch (t) {
	case VS_EV_VERB_CREATE_QP:
	case VS_EV_VERB_MODIFY_QP:
	case VS_EV_VERB_DESTROY_QP:
	case VS_EV_VERB_POST_SEND:
	case VS_EV_VERB_POST_RECV:
	case VS_EV_VERB_POST_SRQ_RECV:
	case VS_EV_VERB_REG_MR:
	case VS_EV_VERB_DEREG_MR:
	case VS_EV_VERB_REFUSED:
	case VS_EV_DEV_ALLOC_PD:
	case VS_EV_DEV_DEALLOC_PD:
	case VS_EV_DEV_CREATE_CQ:
	case VS_EV_DEV_DESTROY_CQ:
	case VS_EV_VERB_CONNECT:
	case VS_EV_VERB_ACCEPT:
	case VS_EV_VERB_ESTABLISH:
	case VS_EV_VERB_REJECT:
	case VS_EV_VERB_MRA:
	case VS_EV_VERB_DISCONNECT:
	case VS_EV_VERB_SIDR_RESOLVE:
	case VS_EV_VERB_SIDR_REPLY:
	case VS_EV_VERB_DESTROY_CONN:
	case VS_EV_LINK_PAUSE:
	case VS_EV_MARK:
		return true;
	default:
		return false;
	}
}

static bool about_packet(enum vs_event_type t)
{
	return t == VS_EV_PKT_TX || t == VS_EV_PKT_RX || t == VS_EV_PKT_DROP ||
	       (t >= VS_EV_FAULT_DROP && t <= VS_EV_LINK_ECN_MARK);
}

static void check_packet(struct watch *w, const struct vs_event *ev, const char *name)
{
	struct soak *s = w->s;

	REQUIRE(s, ev->pkt_id != 0, "event %llu: %s without a packet", (unsigned long long)w->seq, name);
	w->sent = grown(w->sent, &w->sent_cap, (size_t)ev->pkt_id, sizeof(w->sent[0]));
	switch ((enum vs_event_type)ev->type) {
	case VS_EV_PKT_TX:
		REQUIRE(s, w->sent[ev->pkt_id] == 0, "packet %llu is sent twice", (unsigned long long)ev->pkt_id);
		w->sent[ev->pkt_id] = ev->a[2] == 0xffffff ? 1000 : 1; /* to a group: switches copy it in silence */
		break;
	case VS_EV_FAULT_DUP:
		w->sent[ev->pkt_id]++;
		break;
	case VS_EV_PKT_RX:
		REQUIRE(s, w->sent[ev->pkt_id] > 0, "packet %llu arrives more often than it was sent",
			(unsigned long long)ev->pkt_id);
		w->sent[ev->pkt_id]--;
		break;
	default:
		REQUIRE(s, w->sent[ev->pkt_id] > 0 || ev->type == VS_EV_PKT_DROP,
			"%s of packet %llu, which was not sent", name, (unsigned long long)ev->pkt_id);
		break;
	}
}

/* --verbose and --trace: as a line of a .vst file. */
static void write_event(struct watch *w, const struct vs_event *ev)
{
	struct soak *s = w->s;
	struct vs_event numbered = *ev;

	numbered.seq = w->seq;
	if (s->opt.verbose)
		vs_vst_put(&numbered, stdout);
	if (s->trace != NULL)
		REQUIRE(s, vs_vst_put(&numbered, s->trace) == VS_OK, "the trace can't be written");
}

static uint64_t emit(void *ctx, const struct vs_event *ev)
{
	struct watch *w = ctx;
	struct soak *s = w->s;
	const char *name = vs_event_info((enum vs_event_type)ev->type)->name;

	w->seq++;
	write_event(w, ev);
	monitor_event(s, ev);
	w->type = grown(w->type, &w->cap, (size_t)w->seq, 1);
	w->type[w->seq] = (uint8_t)ev->type;
	REQUIRE(s, ev->type > VS_EV_NONE && ev->type < VS_EV_COUNT, "event of type %u", ev->type);
	REQUIRE(s, ev->cause < w->seq, "event %llu, %s: its cause %llu is no earlier one", (unsigned long long)w->seq,
		name, (unsigned long long)ev->cause);
	REQUIRE(s, ev->cause != 0 || outer((enum vs_event_type)ev->type), "event %llu, %s on %s: without a cause",
		(unsigned long long)w->seq, name, ev->node);
	REQUIRE(s, ev->t_ns >= w->now, "event %llu, %s: time runs backwards", (unsigned long long)w->seq, name);
	REQUIRE(s, ev->node[0] != '\0', "event %llu, %s: nowhere", (unsigned long long)w->seq, name);
	w->now = ev->t_ns;
	if (about_packet((enum vs_event_type)ev->type))
		check_packet(w, ev, name);
	return w->seq;
}

struct vs_event_sink watch_sink(struct watch *w)
{
	return (struct vs_event_sink){.emit = emit, .ctx = w, .level = VS_LEVEL_EXTRA};
}
