/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* words.c - what an event of a ladder says, in words. */
#include "event/internal.h"
#include "internal.h"
#include "vs/cm.h"
#include "vs/opcode.h"
#include "vs/reason.h"

static void word(const struct vs_event *e, unsigned arg, char *buf, size_t cap)
{
	const struct vs_event_arg *a = &vs_event_info((enum vs_event_type)e->type)->args[arg];
	char space[32];
	const char *w;

	if (a->kind == VS_ARG_STR) {
		(void)snprintf(buf, cap, "%.*s", (int)cap - 1,
			       e->a[arg] != 0 ? (const char *)(uintptr_t)e->a[arg] : "");
		return;
	}
	w = vs_event_word(a->kind, e->a[arg], space);
	if (w != NULL)
		(void)snprintf(buf, cap, "%s", w);
	else
		(void)snprintf(buf, cap, a->kind == VS_ARG_X ? "0x%llx" : "%llu", (unsigned long long)e->a[arg]);
}

void ladder_duration(uint64_t ns, char *buf, size_t cap)
{
	if (ns >= 1000000000)
		(void)snprintf(buf, cap, "%.3g s", (double)ns / 1e9);
	else if (ns >= 1000000)
		(void)snprintf(buf, cap, "%.3g ms", (double)ns / 1e6);
	else
		(void)snprintf(buf, cap, "%.3g us", (double)ns / 1e3);
}

/* The arguments from the first on as name=value; what is 0 or none is left out. */
static void arguments(const struct vs_event *e, unsigned from, char *buf, size_t cap)
{
	const struct vs_event_info *info = vs_event_info((enum vs_event_type)e->type);
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = from; i < info->nargs && n < cap; i++) {
		char value[64];

		if (e->a[i] == 0 || (info->args[i].kind == VS_ARG_SYN && e->a[i] == VS_SYN_NONE))
			continue;
		if (info->args[i].kind == VS_ARG_T)
			ladder_duration(e->a[i], value, sizeof(value));
		else
			word(e, i, value, sizeof(value));
		n += (size_t)snprintf(buf + n, cap - n, " %s=%s", info->args[i].name, value);
	}
}

static void cqe_text(const struct vs_event *e, char *buf, size_t cap)
{
	char status[40], op[40], why[48] = "";

	word(e, 0, status, sizeof(status));
	word(e, 1, op, sizeof(op));
	if (e->a[0] != 0) {
		word(e, 3, why, sizeof(why));
		(void)snprintf(buf, cap, "wr=%llu completes: %s%s%s%s", (unsigned long long)e->wr_id, status,
			       e->a[3] != 0 ? " (" : "", e->a[3] != 0 ? why : "", e->a[3] != 0 ? ")" : "");
	} else {
		(void)snprintf(buf, cap, "wr=%llu %s completes: SUCCESS", (unsigned long long)e->wr_id, op);
	}
}

static void post_text(const struct vs_event *e, const char *call, unsigned len_arg, char *buf, size_t cap)
{
	char op[40] = "";

	if (len_arg > 0)
		word(e, 0, op, sizeof(op));
	(void)snprintf(buf, cap, "%s wr=%llu%s%s %llu bytes%s", call, (unsigned long long)e->wr_id,
		       op[0] != '\0' ? " " : "", op, (unsigned long long)e->a[len_arg],
		       e->a[vs_event_info((enum vs_event_type)e->type)->nargs - 1] != 0 ? ": refused" : "");
}

static const char *trigger_text(const char *trigger)
{
	static const char *const known[][2] = {{"nak_sequence", "NAK PSN sequence error"},
					       {"ack_timeout", "the ACK timer ran out"},
					       {"implied_nak", "an answer to a later request"},
					       {"rnr_nak", "RNR NAK, the wait is over"},
					       {"unknown", "the capture does not show why"}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i][0], trigger) == 0)
			return known[i][1];
	return trigger;
}

static void retry_text(const struct vs_event *e, char *buf, size_t cap)
{
	char trigger[64], packets[40] = "";

	word(e, 1, trigger, sizeof(trigger));
	if (e->a[3] != 0)
		(void)snprintf(packets, sizeof(packets), ", %llu packet%s", (unsigned long long)e->a[3],
			       e->a[3] == 1 ? "" : "s");
	(void)snprintf(buf, cap, "go back to %06llx: %s%s", (unsigned long long)e->a[0] & 0xffffff,
		       trigger_text(trigger), packets);
}

/* What the reliable connection did, in sentences; false: nothing special. */
static bool rc_text(const struct vs_event *e, char *buf, size_t cap)
{
	unsigned long long psn = e->a[0] & 0xffffff;
	char text[64];

	switch ((enum vs_event_type)e->type) {
	case VS_EV_RC_RETRY:
		retry_text(e, buf, cap);
		return true;
	case VS_EV_RC_TIMEOUT:
		(void)snprintf(buf, cap, "ACK timer: no answer to %06llx", psn);
		if (!e->inferred)
			(void)snprintf(buf + strlen(buf), cap - strlen(buf), " (%llu left)",
				       (unsigned long long)e->a[1]);
		return true;
	case VS_EV_RC_RNR_WAIT:
		ladder_duration(e->a[1], text, sizeof(text));
		(void)snprintf(buf, cap, "wait %s for a receive: RNR NAK of %06llx", text, psn);
		return true;
	case VS_EV_RC_GAP:
		(void)snprintf(buf, cap, "gap: expected %06llx", psn);
		return true;
	case VS_EV_RC_DUPLICATE:
		(void)snprintf(buf, cap, "duplicate: executed before");
		return true;
	case VS_EV_RC_REFUSE:
		word(e, 0, text, sizeof(text));
		(void)snprintf(buf, cap, "refused: %s", text);
		return true;
	case VS_EV_PKT_DROP:
	case VS_EV_UD_DROP:
		word(e, 0, text, sizeof(text));
		(void)snprintf(buf, cap, "dropped: %s", text);
		return true;
	case VS_EV_MON_RULE:
		(void)snprintf(buf, cap, "rule %s: %s", e->a[0] != 0 ? (const char *)(uintptr_t)e->a[0] : "?",
			       e->a[1] != 0 ? (const char *)(uintptr_t)e->a[1] : "");
		return true;
	default:
		return false;
	}
}

static bool verb_text(const struct vs_event *e, char *buf, size_t cap)
{
	char a[80], b[80];

	switch ((enum vs_event_type)e->type) {
	case VS_EV_VERB_POST_SEND:
		post_text(e, "post_send", 1, buf, cap);
		return true;
	case VS_EV_VERB_POST_RECV:
	case VS_EV_VERB_POST_SRQ_RECV:
		post_text(e, "post_recv", 0, buf, cap);
		return true;
	case VS_EV_VERB_MODIFY_QP:
		word(e, 0, a, sizeof(a));
		word(e, 1, b, sizeof(b));
		(void)snprintf(buf, cap, "modify_qp %s to %s%s", a, b, e->a[3] != 0 ? ": refused" : "");
		return true;
	case VS_EV_CQE:
		cqe_text(e, buf, cap);
		return true;
	case VS_EV_QP_STATE:
		word(e, 2, a, sizeof(a));
		word(e, 1, b, sizeof(b));
		(void)snprintf(buf, cap, "QP goes to %s (%s)", b, a);
		return true;
	case VS_EV_MARK:
		word(e, 0, a, sizeof(a));
		(void)snprintf(buf, cap, "-- %s --", a);
		return true;
	default:
		return false;
	}
}

/* A poll that found a completion which nobody else told of: a recorder saw the program alone. */
static bool lone_poll(const struct ladder_view *v, size_t i, char *buf, size_t cap)
{
	const struct vs_event *e = &v->ev[i];
	char status[40], op[40];

	if (e->cause != 0 || !e->has_wr)
		return false;
	word(e, 0, status, sizeof(status));
	word(e, 1, op, sizeof(op));
	(void)snprintf(buf, cap, "poll_cq wr=%llu %s: %s", (unsigned long long)e->wr_id, op, status);
	return true;
}

static bool silent(const struct vs_event *e)
{
	const char *name = vs_event_info((enum vs_event_type)e->type)->name;

	switch ((enum vs_event_type)e->type) {
	case VS_EV_VERB_CREATE_QP:
	case VS_EV_VERB_REG_MR:
	case VS_EV_PKT_TX:
	case VS_EV_PKT_RX:
	case VS_EV_CM_TX:
	case VS_EV_CM_RX:
	case VS_EV_WQE_FETCH:
	case VS_EV_WQE_TAKE:
	case VS_EV_LINK_QUEUE_DROP:
	case VS_EV_QP_ATTR:
	case VS_EV_REC_CLOCK:
	case VS_EV_VERB_SGE:
	case VS_EV_VERB_PAYLOAD:
	case VS_EV_VERB_QP_CAPS:
	case VS_EV_VERB_QP_INIT:
	case VS_EV_VERB_EMPTY_POLLS:
		return true;
	case VS_EV_QP_STATE:
		return e->a[2] == VS_REASON_BY_USER;
	default:
		return strncmp(name, "dma:", 4) == 0 || strncmp(name, "fault:", 6) == 0 ||
		       strncmp(name, "dev:", 4) == 0 || strncmp(name, "mem:", 4) == 0;
	}
}

/* An event that this version doesn't know: its name, from the line that was kept of it. */
static void unknown_text(const struct vs_event *e, char *buf, size_t cap)
{
	static const char key[] = "\"ev\":\"";
	const char *line = e->a[0] != 0 ? (const char *)(uintptr_t)e->a[0] : "", *at = strstr(line, key);

	at = at != NULL ? at + strlen(key) : "?";
	(void)snprintf(buf, cap, "%.*s (not known here)", (int)strcspn(at, "\""), at);
}

bool ladder_note(const struct ladder_view *v, size_t i, char *buf, size_t cap)
{
	const struct vs_event *e = &v->ev[i];
	const char *name = vs_event_info((enum vs_event_type)e->type)->name, *colon = strchr(name, ':');
	char a[80];

	if (silent(e))
		return false;
	if (e->type == VS_EV_NONE) {
		unknown_text(e, buf, cap);
		return true;
	}
	if (e->type == VS_EV_VERB_POLL_CQ)
		return lone_poll(v, i, buf, cap);
	if (verb_text(e, buf, cap) || rc_text(e, buf, cap))
		return true;
	arguments(e, 0, a, sizeof(a));
	(void)snprintf(buf, cap, "%s%s", strncmp(name, "verb:", 5) == 0 && colon != NULL ? colon + 1 : name, a);
	return true;
}

/* "CM REQ": the message that caused the packet, when the connection manager sent it. */
static void cm_message(const struct ladder_view *v, size_t i, char *buf, size_t cap)
{
	size_t at = ladder_cause(v, i);
	const struct vs_cm_info *info;

	if (at == LADDER_NONE || v->ev[at].type != VS_EV_CM_TX)
		return;
	info = vs_cm_info((uint16_t)v->ev[at].a[0]);
	(void)snprintf(buf, cap, "CM %s", info != NULL ? info->abbrev : "message");
}

void ladder_label(const struct ladder_view *v, size_t i, const char *arrow, char *buf, size_t cap)
{
	const struct vs_event *e = &v->ev[i];
	const struct ladder_packet *p = &v->pkt[i];
	char opc[48], syn[40] = "", more[80] = "";
	size_t n;

	word(e, 0, opc, sizeof(opc));
	cm_message(v, i, opc, sizeof(opc));
	if (e->a[4] != VS_SYN_NONE)
		word(e, 4, syn, sizeof(syn));
	if (syn[0] != '\0' && strcmp(syn, "ACK") != 0 && strcmp(opc, "ACK") == 0)
		(void)snprintf(opc, sizeof(opc), "%s", syn);
	if (e->a[5] != 0 && syn[0] != '\0')
		(void)snprintf(more, sizeof(more), " msn=%llu", (unsigned long long)e->a[5]);
	(void)snprintf(buf, cap, "%s %06llx%s%s", opc, (unsigned long long)e->a[1], more,
		       e->a[6] != 0 ? " ackreq" : "");
	n = strlen(buf);
	if (e->a[3] != 0)
		n += (size_t)snprintf(buf + n, cap - n, " %llu bytes", (unsigned long long)e->a[3]);
	if (e->a[7] != 0 && n < cap)
		n += (size_t)snprintf(buf + n, cap - n, " [retx %llu]", (unsigned long long)e->a[7]);
	if (p->cqes > 0 && n < cap && vs_opcodes[e->a[0] & 0xff].flags & VS_OPF_R)
		n += (size_t)snprintf(buf + n, cap - n, " %s wr %llu", arrow, (unsigned long long)v->ev[p->cqe].wr_id);
	if (p->cqes > 1 && n < cap && vs_opcodes[e->a[0] & 0xff].flags & VS_OPF_R)
		(void)snprintf(buf + n, cap - n, " and %u more", p->cqes - 1);
}

static void loss(const struct ladder_view *v, size_t i, char *buf, size_t cap)
{
	const struct ladder_packet *p = &v->pkt[i];
	char rule[LADDER_TEXT];

	buf[0] = '\0';
	if (p->lost != LADDER_NONE && v->ev[p->lost].type == VS_EV_LINK_QUEUE_DROP) {
		(void)snprintf(buf, cap, "lost: the queue of the link was full");
	} else if (p->lost != LADDER_NONE) {
		word(&v->ev[p->lost], 0, rule, sizeof(rule));
		(void)snprintf(buf, cap, "lost%s%s", rule[0] != '\0' ? ": " : "", rule);
	} else if (p->fault != LADDER_NONE) {
		word(&v->ev[p->fault], 0, rule, sizeof(rule));
		(void)snprintf(buf, cap, "%s: %s",
			       vs_event_info((enum vs_event_type)v->ev[p->fault].type)->name + strlen("fault:"), rule);
	}
}

bool ladder_unsure(const struct ladder_view *v, size_t i)
{
	const struct ladder_packet *p = &v->pkt[i];

	return v->ev[i].inferred && p->rx == LADDER_NONE && p->lost == LADDER_NONE && p->drop == LADDER_NONE;
}

void ladder_beside(const struct ladder_view *v, size_t i, bool arrival, char *buf, size_t cap)
{
	size_t beside = v->pkt[i].beside, n;

	loss(v, i, buf, cap);
	if (ladder_unsure(v, i))
		(void)snprintf(buf, cap, "no answer is in the capture");
	if (!arrival || beside == LADDER_NONE)
		return;
	n = strlen(buf);
	if (n > 0 && n + 2 < cap) {
		memcpy(buf + n, "; ", 3);
		n += 2;
	}
	(void)ladder_note(v, beside, buf + n, cap - n);
}
