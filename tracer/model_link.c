/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* model_link.c - which node, which queue pair, which transmission an event is about, and who is connected to whom. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "model_build.h"
#include "vs/opcode.h"

#define NODES_MAX 4096u

struct linker {
	struct vt_model *m;
	struct vt_map qp, pkt; /* (node, qpn), (source, pkt_id) */
	size_t cap_nodes, cap_qps, cap_pkts;
};

static bool is_wire(const char *name)
{
	return name[0] == '\0' || strcmp(name, "wire") == 0 || strcmp(name, "switch") == 0 ||
	       strcmp(name, "script") == 0;
}

/* The node of an event; VT_NONE: no memory. Events of one node stand together, so the newest is tried first. */
static size_t node_of(struct linker *l, const char *name, size_t hint)
{
	struct vt_model *m = l->m;
	void *array = m->node;
	size_t i;

	if (hint < m->n_nodes && strcmp(m->node[hint].name, name) == 0)
		return hint;
	i = vt_find_node(m, name);
	if (i != VT_NONE)
		return i;
	if (m->n_nodes == NODES_MAX || !vt_room(&array, &l->cap_nodes, m->n_nodes, sizeof(*m->node)))
		return VT_NONE;
	m->node = array;
	m->node[m->n_nodes] = (struct vt_node){.wire = is_wire(name)};
	memcpy(m->node[m->n_nodes].name, name, strlen(name) + 1);
	memcpy(m->node[m->n_nodes].title, name, strlen(name) + 1);
	return m->n_nodes++;
}

static size_t qp_of(struct linker *l, size_t node, uint32_t qpn)
{
	struct vt_model *m = l->m;
	size_t i = vt_map_get(&l->qp, node, qpn);
	void *array = m->qp;

	if (i != VT_NONE)
		return i;
	if (m->n_qps == UINT32_MAX - 1 || !vt_room(&array, &l->cap_qps, m->n_qps, sizeof(*m->qp)))
		return VT_NONE;
	m->qp = array;
	m->qp[m->n_qps] = (struct vt_qp){.node = (unsigned)node, .qpn = qpn, .peer = VT_NONE, .created = VT_NONE};
	return vt_map_put(&l->qp, node, qpn, m->n_qps) ? m->n_qps++ : VT_NONE;
}

static size_t packet_of(struct linker *l, uint16_t source, uint64_t id)
{
	struct vt_model *m = l->m;
	size_t i = id != 0 ? vt_map_get(&l->pkt, source, id) : VT_NONE;
	void *array = m->pkt;

	if (i != VT_NONE)
		return i;
	if (!vt_room(&array, &l->cap_pkts, m->n_pkts, sizeof(*m->pkt)))
		return VT_NONE;
	m->pkt = array;
	i = m->n_pkts;
	m->pkt[i] = (struct vt_packet){.id = m->n_sources == 1 && id != 0 ? id : i + 1,
				       .tx = VT_NONE,
				       .rx = VT_NONE,
				       .fate = VT_NONE,
				       .fault = VT_NONE,
				       .op = VT_NONE,
				       .source = source};
	if (id != 0 && !vt_map_put(&l->pkt, source, id, i))
		return VT_NONE;
	m->n_pkts++;
	return i;
}

static bool is_answer(uint64_t opcode)
{
	return opcode < 256 && (vs_opcodes[opcode].flags & VS_OPF_R) != 0;
}

/* What the event tells of a packet. */
static void note_packet(struct vt_packet *p, const struct vs_event *e, size_t at)
{
	p->inferred |= e->inferred;
	switch ((enum vs_event_type)e->type) {
	case VS_EV_PKT_TX:
		p->tx = p->tx == VT_NONE ? at : p->tx;
		p->flags |= is_answer(e->a[0]) ? VT_PKT_ANSWER : 0;
		break;
	case VS_EV_PKT_RX:
		p->rx = p->rx == VT_NONE ? at : p->rx;
		p->flags |= is_answer(e->a[0]) ? VT_PKT_ANSWER : 0;
		break;
	case VS_EV_PKT_DROP:
		p->fate = at;
		p->flags |= VT_PKT_DROPPED;
		break;
	case VS_EV_FAULT_DROP:
	case VS_EV_LINK_QUEUE_DROP:
		if (p->rx == VT_NONE && !(p->flags & VT_PKT_DROPPED)) { /* else it is a copy that was lost */
			p->fate = at;
			p->flags |= VT_PKT_LOST;
		}
		break;
	case VS_EV_FAULT_DUP:
	case VS_EV_FAULT_DELAY:
	case VS_EV_FAULT_REORDER:
	case VS_EV_FAULT_CORRUPT:
	case VS_EV_FAULT_MARK:
	case VS_EV_FAULT_HOLD:
	case VS_EV_LINK_ECN_MARK:
		p->fault = at;
		p->flags |= VT_PKT_FAULTED;
		break;
	default:
		break;
	}
}

static bool is_packet_event(const struct vs_event *e)
{
	return e->pkt_id != 0 || e->type == VS_EV_PKT_TX || e->type == VS_EV_PKT_RX;
}

static bool link_event(struct linker *l, size_t i, size_t *hint)
{
	struct vt_model *m = l->m;
	struct vs_event *e = &m->ev[i];
	const char *name = vs_event_info((enum vs_event_type)e->type)->name;
	bool packet = e->type == VS_EV_PKT_TX || e->type == VS_EV_PKT_RX;
	size_t node = node_of(l, e->node, *hint), p, q;

	if (node == VT_NONE)
		return false;
	*hint = node;
	m->inferred |= e->inferred;
	m->node[node].packets |= packet;
	m->node[node].verbs |= strncmp(name, "verb:", 5) == 0 || e->type == VS_EV_CQE;
	m->has_packets |= packet;
	m->has_verbs |= m->node[node].verbs;
	if (packet || (e->qpn != 0 && !m->node[node].wire)) {
		q = qp_of(l, node, e->qpn);
		if (q == VT_NONE)
			return false;
		m->qp_of[i] = (uint32_t)q;
		if (e->type == VS_EV_VERB_CREATE_QP) {
			m->qp[q].created = i;
			m->qp[q].type = (unsigned)e->a[0];
		}
	}
	if (!is_packet_event(e))
		return true;
	p = packet_of(l, m->build->source[i], e->pkt_id);
	if (p == VT_NONE)
		return false;
	m->pkt_of[i] = p;
	e->pkt_id = m->pkt[p].id;
	note_packet(&m->pkt[p], e, i);
	return true;
}

/* ---- who is connected to whom ---- */

static bool is_connected(uint64_t opcode)
{
	enum vs_transport t = vs_opcode_transport((uint8_t)opcode);

	return opcode < 256 && (t == VS_TRANSPORT_RC || t == VS_TRANSPORT_UC);
}

static void pair(struct vt_model *m, size_t a, size_t b)
{
	if (m->qp[a].peer == VT_NONE)
		m->qp[a].peer = b;
	if (m->qp[b].peer == VT_NONE)
		m->qp[b].peer = a;
}

/* The one queue pair with that number on another node (or the same, looped back); VT_NONE: none, or several. */
static size_t the_other(const struct vt_model *m, size_t self, uint32_t qpn)
{
	size_t found = VT_NONE;

	for (size_t i = 0; i < m->n_qps; i++) {
		if (i == self || m->qp[i].qpn != qpn || qpn == 0)
			continue;
		if (found != VT_NONE)
			return VT_NONE;
		found = i;
	}
	return found;
}

static void find_peers(struct vt_model *m)
{
	for (size_t i = 0; i < m->n_pkts; i++) {
		const struct vt_packet *p = &m->pkt[i];

		if (p->tx != VT_NONE && p->rx != VT_NONE && is_connected(m->ev[p->tx].a[0]))
			pair(m, m->qp_of[p->tx], m->qp_of[p->rx]);
	}
	for (size_t i = 0; i < m->n_pkts; i++) { /* nothing arrived: by the number that it was sent to */
		const struct vt_packet *p = &m->pkt[i];
		size_t other;

		if (p->tx == VT_NONE || m->qp[m->qp_of[p->tx]].peer != VT_NONE || !is_connected(m->ev[p->tx].a[0]))
			continue;
		other = the_other(m, m->qp_of[p->tx], (uint32_t)m->ev[p->tx].a[2]);
		if (other != VT_NONE && m->qp[other].peer == VT_NONE)
			pair(m, m->qp_of[p->tx], other);
	}
}

/* What captures know of packets beside their events. */
static void take_marks(struct linker *l)
{
	struct vt_model *m = l->m;

	for (size_t i = 0; i < m->build->n_marks; i++) {
		const struct vt_mark *k = &m->build->mark[i];
		size_t at = vt_map_get(&l->pkt, k->source, k->pkt_id);
		struct vt_packet *p;

		if (at == VT_NONE)
			continue;
		p = &m->pkt[at];
		p->flags |= k->is.flags;
		p->frame = k->is.frame;
		p->va = k->is.va;
		p->rkey = k->is.rkey;
		p->dmalen = k->is.dmalen;
		p->rej = k->is.rej;
		p->imm = k->is.imm;
		p->icrc = k->is.icrc;
		p->mon = k->is.mon;
	}
}

bool vt_model_link(struct vt_model *m)
{
	struct linker l = {.m = m};
	size_t hint = 0, n = m->n_events != 0 ? m->n_events : 1;
	bool ok;

	m->qp_of = malloc(n * sizeof(*m->qp_of));
	m->pkt_of = malloc(n * sizeof(*m->pkt_of));
	m->op_of = malloc(n * sizeof(*m->op_of));
	ok = m->qp_of != NULL && m->pkt_of != NULL && m->op_of != NULL;
	for (size_t i = 0; ok && i < m->n_events; i++) {
		m->qp_of[i] = UINT32_MAX;
		m->pkt_of[i] = m->op_of[i] = VT_NONE;
		ok = link_event(&l, i, &hint);
	}
	if (ok) {
		take_marks(&l);
		find_peers(m);
	}
	vt_map_free(&l.qp);
	vt_map_free(&l.pkt);
	return ok;
}

bool vt_model_finish(struct vt_model *m, char *err, size_t cap)
{
	if (m->n_events == 0) {
		errno = ENODATA; /* readable, and nothing in it: vt_not_open */
		return vt_err(err, cap, "%s: no events in it: nothing was recorded, or no RDMA was captured", m->path);
	}
	if (!vt_model_order(m) || !vt_model_link(m) || !vt_model_operations(m))
		return vt_err(err, cap, "%s: no memory for its events, or more than %u nodes", m->path, NODES_MAX);
	vt_build_free(m);
	return true;
}
