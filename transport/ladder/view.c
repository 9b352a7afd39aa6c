/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* view.c - the events of a ladder, prepared: who takes part, and what became of every packet. */
#include <stdlib.h>

#include "internal.h"
#include "vs/verbs.h"

struct sent {
	uint64_t pkt_id;
	size_t at;
};

static int by_packet(const void *va, const void *vb)
{
	const struct sent *a = va, *b = vb;

	if (a->pkt_id != b->pkt_id)
		return a->pkt_id < b->pkt_id ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* The newest transmission of this packet before event i; LADDER_NONE. */
static size_t sent_before(const struct sent *s, size_t n, uint64_t pkt_id, size_t i)
{
	size_t low = 0, high = n;

	while (low < high) { /* the first that is behind (pkt_id, i) */
		size_t mid = low + (high - low) / 2;

		if (s[mid].pkt_id < pkt_id || (s[mid].pkt_id == pkt_id && s[mid].at < i))
			low = mid + 1;
		else
			high = mid;
	}
	return low > 0 && s[low - 1].pkt_id == pkt_id ? s[low - 1].at : LADDER_NONE;
}

static void note_fate(struct ladder_view *v, size_t tx, size_t i)
{
	struct ladder_packet *p = &v->pkt[tx];

	switch ((enum vs_event_type)v->ev[i].type) {
	case VS_EV_PKT_RX:
		p->rx = p->rx == LADDER_NONE ? i : p->rx;
		break;
	case VS_EV_FAULT_DROP:
	case VS_EV_LINK_QUEUE_DROP:
		if (p->rx == LADDER_NONE && p->lost == LADDER_NONE)
			p->lost = i;
		break;
	case VS_EV_PKT_DROP:
		p->drop = p->drop == LADDER_NONE ? i : p->drop;
		break;
	case VS_EV_FAULT_DUP:
	case VS_EV_FAULT_DELAY:
	case VS_EV_FAULT_REORDER:
	case VS_EV_FAULT_CORRUPT:
	case VS_EV_FAULT_MARK:
	case VS_EV_FAULT_HOLD:
		p->fault = p->fault == LADDER_NONE ? i : p->fault;
		break;
	case VS_EV_CQE:
		if (strcmp(v->ev[i].node, v->ev[tx].node) == 0)
			break;
		p->cqe = p->cqes++ == 0 ? i : p->cqe;
		break;
	default:
		break;
	}
}

static bool join(struct ladder_view *v)
{
	struct sent *s = malloc((v->n + 1) * sizeof(*s));
	size_t n = 0;

	if (s == NULL)
		return false;
	for (size_t i = 0; i < v->n; i++)
		if (v->ev[i].type == VS_EV_PKT_TX && v->ev[i].pkt_id != 0)
			s[n++] = (struct sent){v->ev[i].pkt_id, i};
	qsort(s, n, sizeof(*s), by_packet);
	for (size_t i = 0; i < v->n; i++) {
		size_t tx = v->ev[i].pkt_id != 0 && v->ev[i].type != VS_EV_PKT_TX
				    ? sent_before(s, n, v->ev[i].pkt_id, i)
				    : LADDER_NONE;

		if (tx != LADDER_NONE)
			note_fate(v, tx, i);
	}
	free(s);
	return true;
}

int ladder_lane(const struct ladder_view *v, const char *node)
{
	for (unsigned i = 0; i < v->nodes; i++)
		if (strcmp(v->node[i], node) == 0)
			return (int)i;
	return -1;
}

/* Can this node have a line? Not what is between the peers, nor whoever merely writes the trace. */
static bool is_peer(const struct vs_event *e, bool packets)
{
	bool packet = e->type == VS_EV_PKT_TX || e->type == VS_EV_PKT_RX || e->type == VS_EV_PKT_DROP;

	if (e->node[0] == '\0' || strcmp(e->node, "script") == 0 || strcmp(e->node, "wire") == 0 ||
	    strcmp(e->node, "switch") == 0 || e->type == VS_EV_REC_END || e->type == VS_EV_REC_LOST ||
	    e->type == VS_EV_REC_CLOCK)
		return false;
	return packet || !packets;
}

/* Those that exchange packets, when they are two; else all. */
static void find_nodes(struct ladder_view *v, const char *other)
{
	for (unsigned pass = 0; pass < 2 && v->nodes != 2; pass++) {
		v->nodes = 0;
		for (size_t i = 0; i < v->n; i++)
			if (is_peer(&v->ev[i], pass == 0) && ladder_lane(v, v->ev[i].node) < 0 &&
			    v->nodes < LADDER_NODES)
				v->node[v->nodes++] = v->ev[i].node;
	}
	if (v->nodes == 1 && other != NULL)
		v->node[v->nodes++] = other;
}

/* What the receiver made of a packet at once: it is told beside the arrow, when it stands at the receiver. */
static void find_beside(struct ladder_view *v, size_t i)
{
	enum vs_event_type type = (enum vs_event_type)v->ev[i].type;
	size_t tx = ladder_cause(v, i);

	if (type != VS_EV_RC_GAP && type != VS_EV_RC_DUPLICATE && type != VS_EV_RC_REFUSE && type != VS_EV_PKT_DROP &&
	    type != VS_EV_MON_RULE)
		return;
	if (tx != LADDER_NONE && v->ev[tx].type == VS_EV_PKT_RX)
		tx = ladder_cause(v, tx);
	if (tx == LADDER_NONE || v->ev[tx].type != VS_EV_PKT_TX || strcmp(v->ev[tx].node, v->ev[i].node) == 0)
		return;
	if (v->pkt[tx].beside == LADDER_NONE)
		v->pkt[tx].beside = i;
}

bool ladder_view_init(struct ladder_view *v, const struct vs_event *ev, size_t n, const char *other)
{
	*v = (struct ladder_view){.ev = ev, .n = n, .pkt = malloc((n + 1) * sizeof(*v->pkt))};
	if (v->pkt == NULL)
		return false;
	for (size_t i = 0; i < n; i++)
		v->pkt[i] = (struct ladder_packet){
			LADDER_NONE, LADDER_NONE, LADDER_NONE, LADDER_NONE, LADDER_NONE, LADDER_NONE, 0};
	find_nodes(v, other);
	if (!join(v)) {
		ladder_view_free(v);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		find_beside(v, i);
	return true;
}

void ladder_view_free(struct ladder_view *v)
{
	free(v->pkt);
	v->pkt = NULL;
}

size_t ladder_cause(const struct ladder_view *v, size_t i)
{
	size_t low = 0, high = i;
	uint64_t seq = v->ev[i].cause;

	while (seq != 0 && low < high) {
		size_t mid = low + (high - low) / 2;

		if (v->ev[mid].seq == seq)
			return mid;
		if (v->ev[mid].seq < seq)
			low = mid + 1;
		else
			high = mid;
	}
	return LADDER_NONE;
}

const char *ladder_title(const struct ladder_view *v, const struct vs_ladder_options *opt, unsigned lane)
{
	const char *title = opt != NULL && opt->title != NULL ? opt->title(opt->title_ctx, v->node[lane]) : NULL;

	return title != NULL ? title : v->node[lane];
}

int ladder_other(const struct ladder_view *v, size_t i)
{
	size_t there = v->pkt[i].rx != LADDER_NONE ? v->pkt[i].rx : v->pkt[i].drop;
	int from = ladder_lane(v, v->ev[i].node), lane = -1;

	if (there != LADDER_NONE)
		lane = ladder_lane(v, v->ev[there].node);
	if (lane >= 0)
		return lane;
	return from + 1 < (int)v->nodes ? from + 1 : from - 1;
}

enum ladder_look ladder_look(const struct ladder_view *v, size_t i)
{
	const struct vs_event *e = &v->ev[i];

	switch ((enum vs_event_type)e->type) {
	case VS_EV_CQE:
	case VS_EV_VERB_POLL_CQ:
		return e->a[0] == 0 ? LADDER_GOOD : LADDER_BAD;
	case VS_EV_QP_STATE:
	case VS_EV_RC_REFUSE:
	case VS_EV_PKT_DROP:
	case VS_EV_UD_DROP:
	case VS_EV_CQ_OVERFLOW:
	case VS_EV_VERB_REFUSED:
		return LADDER_BAD;
	case VS_EV_RC_RETRY:
	case VS_EV_RC_TIMEOUT:
	case VS_EV_RC_GAP:
	case VS_EV_RC_RNR_WAIT:
	case VS_EV_MON_RULE:
		return LADDER_AGAIN;
	case VS_EV_PKT_TX:
		if (v->pkt[i].lost != LADDER_NONE || v->pkt[i].drop != LADDER_NONE ||
		    (e->a[4] != VS_SYN_NONE && e->a[4] > 0x1f)) /* a NAK or RNR NAK */
			return LADDER_BAD;
		return e->a[7] != 0 ? LADDER_AGAIN : e->a[4] != VS_SYN_NONE ? LADDER_GOOD : LADDER_PLAIN;
	default:
		return LADDER_PLAIN;
	}
}

/* ---- what has a line of its own ---- */

/* Told by the arrow of the packet that led to it. */
static bool told(const struct ladder_view *v, size_t i)
{
	size_t tx = ladder_cause(v, i);

	if (tx != LADDER_NONE && v->ev[tx].type == VS_EV_PKT_RX)
		tx = ladder_cause(v, tx);
	return tx != LADDER_NONE && v->ev[tx].type == VS_EV_PKT_TX && v->pkt[tx].beside == i;
}

bool ladder_line(const struct ladder_view *v, size_t i, bool beside, char *buf, size_t cap)
{
	return ladder_note(v, i, buf, cap) && !(beside && told(v, i));
}

bool ladder_folds(const struct ladder_view *v, size_t i)
{
	const struct vs_event *e = &v->ev[i];

	switch ((enum vs_event_type)e->type) {
	case VS_EV_PKT_TX:
	case VS_EV_VERB_POST_SEND:
	case VS_EV_VERB_POST_RECV:
	case VS_EV_VERB_POST_SRQ_RECV:
	case VS_EV_VERB_NOTIFY_CQ:
	case VS_EV_VERB_CQ_EVENT:
		return true;
	case VS_EV_CQE:
		return e->a[0] == 0 || e->a[0] == VS_WC_WR_FLUSH_ERR;
	default:
		return false;
	}
}

bool ladder_alike(const struct ladder_view *v, size_t a, size_t b)
{
	const struct vs_event *x = &v->ev[a], *y = &v->ev[b];

	if (x->type != y->type || strcmp(x->node, y->node) != 0 || !ladder_folds(v, a) || !ladder_folds(v, b))
		return false;
	if (x->type != VS_EV_PKT_TX) /* calls: whether they were refused; completions: their status */
		return x->type == VS_EV_CQE ? x->a[0] == y->a[0] && x->a[1] == y->a[1]
					    : x->a[vs_event_info((enum vs_event_type)x->type)->nargs - 1] ==
						      y->a[vs_event_info((enum vs_event_type)y->type)->nargs - 1];
	return x->a[0] == y->a[0] && x->a[4] == y->a[4] && (x->a[7] != 0) == (y->a[7] != 0) &&
	       v->pkt[a].lost == LADDER_NONE && v->pkt[b].lost == LADDER_NONE;
}

size_t ladder_run(const struct ladder_view *v, size_t i, bool beside)
{
	size_t n = 1;

	for (size_t k = i + 1; k < v->n; k++) {
		char text[LADDER_TEXT];

		if (ladder_alike(v, i, k))
			n++;
		else if (v->ev[k].type == VS_EV_PKT_TX || ladder_line(v, k, beside, text, sizeof(text)))
			break;
	}
	return n;
}
