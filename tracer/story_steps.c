/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * story_steps.c - the eight steps of an RDMA WRITE, with the numbers of one operation, and the same of every other
 * operation: post, doorbell, WQE fetch and key check, gather, packets, responder's checks, memory, acknowledgement and
 * completion (docs/architecture.md, "A WRITE, in eight steps"). What the trace doesn't hold is said, not guessed.
 */
#include <stdarg.h>
#include <string.h>

#include "story.h"
#include "vs/psn.h"
#include "vs/reason.h"

#define LISTED 8u /* packets and memory accesses that are listed one by one; the rest is summed up */
#define CAPTURE "a capture shows the wire alone: "

struct step {
	const struct vt_model *m;
	const struct vt_op *o;
	size_t op;
	json_t *text, *events;
	bool known;
	size_t first; /* event whose time is the step's; VT_NONE */
};

static void say(struct step *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct step *s, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)json_array_append_new(s->text, json_string(text));
}

/* The step is known from this event. */
static const struct vs_event *from(struct step *s, size_t i)
{
	s->known = true;
	if (s->first == VT_NONE)
		s->first = i;
	(void)json_array_append_new(s->events, json_integer((json_int_t)s->m->ev[i].seq));
	return &s->m->ev[i];
}

static const char *after(const struct step *s, size_t i, char buf[32])
{
	uint64_t t = vt_time(s->m, i), t0 = s->o->post != VT_NONE       ? vt_time(s->m, s->o->post)
					    : s->o->first_tx != VT_NONE ? vt_time(s->m, s->o->first_tx)
									: t;

	return vt_duration_text(t > t0 ? t - t0 : 0, buf);
}

static size_t node_of(const struct step *s)
{
	return s->m->qp[s->o->qp].node;
}

static size_t peer_node(const struct step *s)
{
	size_t peer = s->m->qp[s->o->qp].peer;

	return peer != VT_NONE ? s->m->qp[peer].node : VT_NONE;
}

static bool is_read(const struct vt_op *o)
{
	return o->opcode == VS_WR_RDMA_READ;
}

static bool is_atomic(const struct vt_op *o)
{
	return o->opcode == VS_WR_ATOMIC_CMP_AND_SWP || o->opcode == VS_WR_ATOMIC_FETCH_AND_ADD;
}

static bool is_send(const struct vt_op *o)
{
	return o->opcode == VS_WR_SEND || o->opcode == VS_WR_SEND_WITH_IMM || o->opcode == VS_WR_SEND_WITH_INV;
}

static bool is_local(const struct vt_op *o)
{
	return o->opcode == VS_WR_LOCAL_INV || o->opcode == VS_WR_BIND_MW;
}

/* ---- keys ---- */

/* The registration that a key stood for when event `when` happened; VT_NONE: it is not in the trace. */
static size_t region_of(const struct vt_model *m, size_t node, uint32_t key, bool remote, size_t when)
{
	size_t found = VT_NONE;

	for (size_t i = 0; i < when && i < m->n_events; i++) {
		const struct vs_event *e = &m->ev[i];

		if (node == VT_NONE || strcmp(e->node, m->node[node].name) != 0)
			continue;
		if (e->type == VS_EV_VERB_REG_MR && e->a[5] == 0 && e->a[remote ? 3 : 2] == key)
			found = i;
		if (e->type == VS_EV_VERB_DEREG_MR && e->a[1] == 0 && found != VT_NONE && e->a[0] == m->ev[found].a[2])
			found = VT_NONE;
	}
	return found;
}

static void say_region(struct step *s, size_t node, uint32_t key, bool remote, uint64_t va, uint64_t len, size_t when)
{
	size_t at = region_of(s->m, node, key, remote, when);
	const struct vs_event *e;

	if (at == VT_NONE) {
		say(s, "%s 0x%x: its registration is not in the trace", remote ? "R_Key" : "L_Key", key);
		return;
	}
	e = from(s, at);
	say(s, "%s 0x%x stands for %llu bytes at 0x%llx (access 0x%llx): 0x%llx + %llu lies %s",
	    remote ? "R_Key" : "L_Key", key, (unsigned long long)e->a[1], (unsigned long long)e->a[0],
	    (unsigned long long)e->a[4], (unsigned long long)va, (unsigned long long)len,
	    va >= e->a[0] && len <= e->a[1] && va - e->a[0] <= e->a[1] - len ? "inside" : "NOT inside");
}

/* ---- memory accesses ---- */

struct accesses {
	size_t n;
	uint64_t bytes;
	uint32_t first_key;
	uint64_t first_addr, first_len;
	size_t first;
};

/* What of this kind the node did for the operation; the first few are said one by one. */
static struct accesses say_accesses(struct step *s, enum vs_event_type type, size_t node, const char *verb)
{
	const struct vt_model *m = s->m;
	struct accesses a = {.first = VT_NONE};
	char t[32];

	for (size_t i = 0; i < m->n_events; i++) {
		const struct vs_event *e = &m->ev[i];

		if (m->op_of[i] != s->op || e->type != type || node == VT_NONE ||
		    strcmp(e->node, m->node[node].name) != 0)
			continue;
		if (a.n == 0) {
			a.first = i;
			a.first_addr = e->a[0];
			a.first_len = e->a[1];
			a.first_key = (uint32_t)e->a[2];
		}
		a.n++;
		a.bytes += e->a[1];
		if (a.n > LISTED)
			continue;
		(void)from(s, i);
		say(s, "+%s  %s %llu bytes %s 0x%llx, key 0x%llx", after(s, i, t), verb, (unsigned long long)e->a[1],
		    type == VS_EV_DMA_READ ? "from" : "to", (unsigned long long)e->a[0], (unsigned long long)e->a[2]);
	}
	if (a.n > LISTED)
		say(s, "... and %zu more", a.n - LISTED);
	if (a.n > 1)
		say(s, "%zu accesses, %llu bytes together", a.n, (unsigned long long)a.bytes);
	return a;
}

static void no_accesses(struct step *s, const char *what)
{
	if (!s->m->has_verbs)
		say(s, CAPTURE "%s can't be seen", what);
	else
		say(s, "%s left no event: the trace was made below level EXTRA, or it did not come to that", what);
}

/* ---- the steps ---- */

static void post(struct step *s)
{
	const struct vt_op *o = s->o;
	const struct vs_event *e;
	char text[96];

	if (o->post == VT_NONE) {
		say(s, s->m->has_verbs ? "no post of it is in the trace"
				       : CAPTURE "what the program asked for was concluded from the packets");
		say(s, "%s", vt_op_text(s->m, s->op, text, sizeof(text)));
		return;
	}
	e = from(s, o->post);
	say(s, "%s, by %s", vt_op_text(s->m, s->op, text, sizeof(text)), s->m->node[node_of(s)].title);
	if (o->flags & VT_OP_HAS_RETH)
		say(s, "remote address 0x%llx, R_Key 0x%x", (unsigned long long)o->va, o->rkey);
	say(s, "flags 0x%llx:%s%s%s%s", (unsigned long long)e->a[4],
	    e->a[4] & VS_SEND_SIGNALED ? " signaled" : " unsignaled", e->a[4] & VS_SEND_FENCE ? ", fence" : "",
	    e->a[4] & VS_SEND_INLINE ? ", inline" : "", e->a[4] & VS_SEND_SOLICITED ? ", solicited" : "");
}

static void doorbell(struct step *s)
{
	char t[32];

	if (s->o->post == VT_NONE)
		say(s, s->m->has_verbs ? "no post of it is in the trace"
				       : CAPTURE "a doorbell is between program and device");
	else if (s->o->fetch != VT_NONE)
		say(s, "a write to the device, no event of its own: the device had the request within %s of the post",
		    after(s, s->o->fetch, t));
	else if (s->o->first_tx != VT_NONE)
		say(s, "a write to the device, no event of its own: the first packet left %s after the post",
		    after(s, s->o->first_tx, t));
	else
		say(s, "nothing shows that the device began with it");
	s->known = s->o->post != VT_NONE && (s->o->fetch != VT_NONE || s->o->first_tx != VT_NONE);
}

/* Where the requester's own memory is: the first access to it for this operation. */
static size_t local_access(const struct step *s)
{
	for (size_t i = 0; i < s->m->n_events; i++)
		if (s->m->op_of[i] == s->op &&
		    (s->m->ev[i].type == VS_EV_DMA_READ || s->m->ev[i].type == VS_EV_DMA_WRITE) &&
		    strcmp(s->m->ev[i].node, s->m->node[node_of(s)].name) == 0)
			return i;
	return VT_NONE;
}

static void fetch(struct step *s)
{
	const struct vt_op *o = s->o;
	size_t at = local_access(s);
	char t[32];

	if (o->fetch != VT_NONE) {
		(void)from(s, o->fetch);
		say(s, "+%s  the device takes the request from the send queue", after(s, o->fetch, t));
	}
	if (o->flags & VT_OP_HAS_PSN)
		say(s, "PSNs %06x to %06x are its own: %d packet%s", o->first_psn, o->last_psn,
		    vs_psn_diff(o->last_psn, o->first_psn) + 1, vs_psn_diff(o->last_psn, o->first_psn) == 0 ? "" : "s");
	if (at != VT_NONE)
		say_region(s, node_of(s), (uint32_t)s->m->ev[at].a[2], false, s->m->ev[at].a[0], s->m->ev[at].a[1], at);
	else if (o->fetch == VT_NONE)
		no_accesses(s, "the check of the local keys");
}

static void gather(struct step *s)
{
	struct accesses a;

	if (is_read(s->o) || is_atomic(s->o) || is_local(s->o)) {
		s->known = true;
		say(s, "nothing to gather: the request carries no data from memory");
		return;
	}
	if (s->o->flags & VT_OP_HAS_LEN && s->o->len == 0) {
		s->known = true;
		say(s, "nothing to gather: 0 bytes");
		return;
	}
	a = say_accesses(s, VS_EV_DMA_READ, node_of(s), "read");
	if (a.n == 0)
		no_accesses(s, "the DMA that reads the program's buffer");
	else if (s->o->flags & VT_OP_HAS_LEN && a.bytes != s->o->len)
		say(s, "%llu bytes were asked for: %s", (unsigned long long)s->o->len,
		    a.bytes > s->o->len ? "what was sent again was read again" : "it did not come to the rest");
}

static const char *fate_text(const struct vt_model *m, const struct vt_packet *p, char *buf, size_t cap)
{
	char why[96];

	if (p->flags & VT_PKT_LOST)
		(void)snprintf(buf, cap, ": lost (%s)",
			       m->ev[p->fate].type == VS_EV_FAULT_DROP
				       ? vt_arg_text(&m->ev[p->fate], 0, why, sizeof(why))
				       : "queue full");
	else if (p->flags & VT_PKT_DROPPED)
		(void)snprintf(buf, cap, ": dropped by the receiver (%s)",
			       vt_arg_text(&m->ev[p->fate], 0, why, sizeof(why)));
	else if (p->rx == VT_NONE)
		(void)snprintf(buf, cap, ": nothing shows that it arrived");
	else
		(void)snprintf(buf, cap, "%s", "");
	return buf;
}

/* The packets of the operation, of requests or of answers. */
static size_t say_packets(struct step *s, bool answers, uint64_t *bytes)
{
	const struct vt_model *m = s->m;
	char t[32], opc[48], fate[160], frame[24];
	size_t n = 0;

	*bytes = 0;
	for (size_t i = 0; i < m->n_pkts; i++) {
		const struct vt_packet *p = &m->pkt[i];
		const struct vs_event *e;

		if (p->op != s->op || p->tx == VT_NONE || ((p->flags & VT_PKT_ANSWER) != 0) != answers)
			continue;
		e = &m->ev[p->tx];
		*bytes += e->a[3];
		if (n++ >= LISTED && e->a[7] == 0 && p->rx != VT_NONE)
			continue;
		(void)from(s, p->tx);
		(void)snprintf(frame, sizeof(frame), p->frame != 0 ? ", frame %u" : "%.0u", p->frame);
		say(s, "+%s  %s PSN %06llx, %llu bytes%s%s%s", after(s, p->tx, t), vt_arg_text(e, 0, opc, sizeof(opc)),
		    (unsigned long long)e->a[1], (unsigned long long)e->a[3], e->a[7] != 0 ? ", sent again" : "", frame,
		    fate_text(m, p, fate, sizeof(fate)));
	}
	if (n > LISTED)
		say(s, "... %zu packets, %llu bytes of payload together", n, (unsigned long long)*bytes);
	return n;
}

static void packets(struct step *s)
{
	uint64_t bytes;

	if (is_local(s->o)) {
		s->known = true;
		say(s, "no packets: it is done in the device");
		return;
	}
	if (say_packets(s, false, &bytes) == 0)
		say(s, s->m->has_packets ? "no packet of it was sent" : "no packets are in the trace");
	if (s->o->retransmissions > 0)
		say(s, "%u of %u packets were sent again, with %llu bytes of payload", s->o->retransmissions,
		    s->o->packets, (unsigned long long)s->o->wasted);
}

/* What the responder said no to, or threw away. */
static bool say_refusals(struct step *s)
{
	const struct vt_model *m = s->m;
	bool any = false;
	char t[32], syn[48];

	for (size_t i = 0; i < m->n_events; i++) {
		const struct vs_event *e = &m->ev[i];

		if (m->op_of[i] != s->op || (e->type != VS_EV_RC_REFUSE && e->type != VS_EV_RC_GAP))
			continue;
		(void)from(s, i);
		any = true;
		if (e->type == VS_EV_RC_GAP)
			say(s, "+%s  a gap: PSN %06llx came, %06llx was expected", after(s, i, t),
			    (unsigned long long)e->a[1], (unsigned long long)e->a[0]);
		else
			say(s, "+%s  refused: %s (%s)", after(s, i, t),
			    vs_reason_info((enum vs_reason)e->a[0])->sentence, vt_arg_text(e, 2, syn, sizeof(syn)));
	}
	if (s->o->nak != VT_NONE && !any) {
		(void)from(s, s->o->nak);
		say(s, "+%s  the responder answered %s", after(s, s->o->nak, t),
		    vt_arg_text(&m->ev[s->o->nak], 4, syn, sizeof(syn)));
	}
	return any || s->o->nak != VT_NONE;
}

static void checks(struct step *s)
{
	const struct vt_op *o = s->o;
	char t[32], text[96];

	if (is_local(o)) {
		s->known = true;
		say(s, "no responder takes part");
		return;
	}
	if (o->arrived != VT_NONE) {
		(void)from(s, o->arrived);
		say(s, "+%s  the last packet %s", after(s, o->arrived, t),
		    s->m->ev[o->arrived].inferred ? "was seen on its way" : "is there");
	}
	(void)say_refusals(s);
	if (is_send(o) && o->recv != VT_NONE) {
		if (s->m->op[o->recv].fetch != VT_NONE)
			(void)from(s, s->m->op[o->recv].fetch);
		say(s, "it goes into the receive request %s", vt_op_text(s->m, o->recv, text, sizeof(text)));
	} else if (is_send(o)) {
		say(s, s->m->has_verbs ? "which receive request it met is not in the trace"
				       : CAPTURE "which receive request it met can't be seen");
	}
	if (o->flags & VT_OP_HAS_RETH && !is_send(o) && o->len > 0)
		say_region(s, peer_node(s), o->rkey, true, o->va, o->len,
			   o->arrived != VT_NONE ? o->arrived
			   : o->nak != VT_NONE   ? o->nak
						 : s->m->n_events);
	if (o->arrived == VT_NONE && o->nak == VT_NONE)
		say(s, "nothing shows that the request reached the responder as a whole");
}

static void memory(struct step *s)
{
	struct accesses a = {.n = 0};

	if (is_local(s->o)) {
		s->known = true;
		say(s, "no memory is touched");
		return;
	}
	if (is_read(s->o)) {
		uint64_t bytes;

		a = say_accesses(s, VS_EV_DMA_READ, peer_node(s), "the responder reads");
		(void)say_packets(s, true, &bytes);
		a.n += say_accesses(s, VS_EV_DMA_WRITE, node_of(s), "the requester writes").n;
	} else if (is_atomic(s->o)) {
		for (size_t i = 0; i < s->m->n_events; i++) {
			const struct vs_event *e = &s->m->ev[i];

			if (s->m->op_of[i] != s->op || e->type != VS_EV_DMA_ATOMIC)
				continue;
			(void)from(s, i);
			a.n++;
			say(s, "8 bytes at 0x%llx: %llu before, %llu after", (unsigned long long)e->a[0],
			    (unsigned long long)e->a[1], (unsigned long long)e->a[2]);
		}
	} else if (s->o->flags & VT_OP_HAS_LEN && s->o->len == 0) {
		s->known = true;
		say(s, "no memory is touched: 0 bytes");
		return;
	} else {
		a = say_accesses(s, VS_EV_DMA_WRITE, peer_node(s), "write");
	}
	if (a.n == 0)
		no_accesses(s, "the responder's DMA");
}

static void completion(struct step *s)
{
	const struct vt_op *o = s->o;
	enum vs_wc_status status;
	char t[32], buf[48];

	if (o->answer != VT_NONE) {
		const struct vs_event *e = from(s, o->answer);

		say(s, "+%s  %s PSN %06llx answers it", after(s, o->answer, t), vt_arg_text(e, 0, buf, sizeof(buf)),
		    (unsigned long long)e->a[1]);
	} else if (!is_local(o)) {
		say(s, "nothing answers it");
	}
	if (o->cqe != VT_NONE)
		(void)from(s, o->cqe);
	if (vt_op_status(s->m, s->op, &status)) {
		size_t at = o->cqe != VT_NONE ? o->cqe : o->poll;
		uint64_t reason = o->cqe != VT_NONE ? s->m->ev[o->cqe].a[3] : 0;

		say(s, "+%s  completion: %s%s%s", after(s, at, t), vs_wc_status_name(status),
		    reason != 0 ? ", because " : "",
		    reason != 0 ? vs_reason_info((enum vs_reason)reason)->sentence : "");
	} else if (!s->m->has_verbs) {
		say(s, CAPTURE "completions can't be seen");
	} else if (o->post != VT_NONE && !(o->flags & VT_OP_SIGNALED)) {
		say(s, "no completion was asked for: a later one covers it");
	} else {
		say(s, "no completion is in the trace");
	}
	if (o->poll != VT_NONE) {
		(void)from(s, o->poll);
		say(s, "+%s  the program polls it", after(s, o->poll, t));
	} else if (o->cqe != VT_NONE) {
		say(s, "the program never polls it, as far as the trace goes");
	}
}

/* ---- a receive request ---- */

static void receive(struct step *s)
{
	char text[96], t[32];
	enum vs_wc_status status;

	if (s->o->post != VT_NONE)
		(void)from(s, s->o->post);
	say(s, "%s%s", vt_op_text(s->m, s->op, text, sizeof(text)),
	    s->o->post != VT_NONE ? " is posted" : ": from a shared receive queue, or posted before the trace");
	if (s->o->by != VT_NONE)
		say(s, "consumed by message %zu: %s", s->o->by + 1, vt_op_text(s->m, s->o->by, text, sizeof(text)));
	else
		say(s, "nothing in the trace consumes it");
	if (vt_op_status(s->m, s->op, &status)) {
		size_t at = s->o->cqe != VT_NONE ? s->o->cqe : s->o->poll;

		(void)from(s, at);
		say(s, "+%s  completion: %s", after(s, at, t), vs_wc_status_name(status));
	}
	if (s->o->poll != VT_NONE)
		say(s, "+%s  the program polls it", after(s, s->o->poll, t));
}

/* ---- the whole ---- */

static const struct {
	const char *name, *title;
	void (*tell)(struct step *s);
} steps[] = {
	{"post", "Post: the program asks", post},
	{"doorbell", "Doorbell: the device is told", doorbell},
	{"fetch", "WQE fetch and key check: the device begins", fetch},
	{"gather", "Gather: the device reads the program's memory", gather},
	{"packets", "Packets: on the wire", packets},
	{"checks", "Checks: the responder looks at it", checks},
	{"memory", "Memory: the data is put where it belongs", memory},
	{"completion", "Acknowledgement and completion: the program learns of it", completion},
};

static json_t *tell(const struct vt_model *m, size_t op, unsigned number, const char *name, const char *title,
		    void (*teller)(struct step *s))
{
	struct step s = {m, &m->op[op], op, json_array(), json_array(), false, VT_NONE};
	json_t *j = json_object();
	char t[24] = "";

	teller(&s);
	if (s.first != VT_NONE)
		(void)snprintf(t, sizeof(t), "%llu", (unsigned long long)vt_time(m, s.first));
	(void)json_object_set_new(j, "step", json_integer(number));
	(void)json_object_set_new(j, "name", json_string(name));
	(void)json_object_set_new(j, "title", json_string(title));
	(void)json_object_set_new(j, "known", json_boolean(s.known));
	if (t[0] != '\0')
		(void)json_object_set_new(j, "t", json_string(t));
	(void)json_object_set_new(j, "text", s.text);
	(void)json_object_set_new(j, "events", s.events);
	return j;
}

static void outcome(const struct vt_model *m, size_t op, char *buf, size_t cap)
{
	const struct vt_op *o = &m->op[op];
	size_t first = o->post != VT_NONE ? o->post : o->first_tx;
	size_t last = o->poll != VT_NONE ? o->poll : o->cqe != VT_NONE ? o->cqe : o->answer;
	enum vs_wc_status status;
	char t[32] = "", span[48] = "";

	if (first != VT_NONE && last != VT_NONE && vt_time(m, last) >= vt_time(m, first))
		(void)snprintf(span, sizeof(span), ", after %s",
			       vt_duration_text(vt_time(m, last) - vt_time(m, first), t));
	if (vt_op_status(m, op, &status))
		(void)snprintf(buf, cap, "%s%s", vs_wc_status_name(status), span);
	else if (o->answer != VT_NONE)
		(void)snprintf(buf, cap, "acknowledged%s", span);
	else if (o->nak != VT_NONE)
		(void)snprintf(buf, cap, "refused by the responder, no completion in the trace");
	else
		(void)snprintf(buf, cap, "no answer and no completion in the trace");
}

json_t *vt_story_of(const struct vt_model *m, size_t op)
{
	const struct vt_op *o = &m->op[op];
	json_t *j = json_object(), *list = json_array();
	size_t peer = m->qp[o->qp].peer;
	char text[128];

	(void)json_object_set_new(j, "message", json_integer((json_int_t)op + 1));
	(void)json_object_set_new(j, "operation", json_string(vt_op_text(m, op, text, sizeof(text))));
	(void)json_object_set_new(j, "inferred", json_boolean((o->flags & VT_OP_INFERRED) != 0));
	(void)json_object_set_new(j, "by", json_string(vt_qp_text(m, o->qp, text, sizeof(text))));
	if (peer != VT_NONE)
		(void)json_object_set_new(j, "peer", json_string(vt_qp_text(m, peer, text, sizeof(text))));
	outcome(m, op, text, sizeof(text));
	(void)json_object_set_new(j, "outcome", json_string(text));
	if (o->flags & VT_OP_RECV)
		(void)json_array_append_new(list, tell(m, op, 1, "receive", "A receive request", receive));
	for (unsigned i = 0; !(o->flags & VT_OP_RECV) && i < sizeof(steps) / sizeof(steps[0]); i++)
		(void)json_array_append_new(list, tell(m, op, i + 1, steps[i].name, steps[i].title, steps[i].tell));
	(void)json_object_set_new(j, "steps", list);
	return j;
}
