/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * why_local.c - calls that were refused, requests that wait for the program itself, connections that did not come up,
 * and what was flushed.
 */
#include <stdlib.h>
#include <string.h>

#include "vs/cm.h"
#include "vs/reason.h"
#include "why.h"

static const struct vs_event *subject(const struct why *w)
{
	return w->subject != VT_NONE ? &w->m->ev[w->subject] : NULL;
}

static bool refused(const struct why *w, enum vs_event_type type)
{
	return subject(w) != NULL && subject(w)->type == type;
}

static bool refused_post(const struct why *w)
{
	return refused(w, VS_EV_VERB_POST_SEND) || refused(w, VS_EV_VERB_POST_RECV);
}

static bool mine(const struct why *w, const struct vs_event *e)
{
	return w->me.node != VT_NONE && e->qpn == w->me.qpn && strcmp(e->node, w->m->node[w->me.node].name) == 0;
}

/* ---- refused ---- */

static void not_rts(struct why *w)
{
	bool send = refused(w, VS_EV_VERB_POST_SEND);

	if (!refused_post(w) || why_said(w, VS_REASON_POST_STATE) || !w->me.state_known)
		return;
	if (send && w->me.state != VS_QPS_RTS && w->me.state != VS_QPS_SQD && w->me.state != VS_QPS_ERR)
		why_for(w, WHY_LIKELY + 20, VT_NONE, "the queue pair is in %s", vs_qp_state_name(w->me.state));
	else if (!send && w->me.state == VS_QPS_RESET)
		why_for(w, WHY_LIKELY + 20, VT_NONE, "the queue pair is in RESET: receives can be posted from INIT on");
	else
		why_against(w, VT_NONE, "the queue pair is in %s", vs_qp_state_name(w->me.state));
}

/* Sends of this queue pair that were outstanding, as far as the program could know. */
static void outstanding(const struct why *w, unsigned *posted, unsigned *signaled, unsigned *fetched)
{
	*posted = *signaled = *fetched = 0;
	for (size_t i = 0; i < w->subject; i++) {
		const struct vs_event *e = &w->m->ev[i];

		if (!mine(w, e))
			continue;
		if (e->type == VS_EV_VERB_POST_SEND && e->a[5] == 0) {
			(*posted)++;
			*signaled += (e->a[4] & VS_SEND_SIGNALED) != 0 || why_arg(w, w->me.caps, "sig_all") != 0;
		}
		if (e->type == VS_EV_VERB_POLL_CQ && e->a[1] < VS_WC_RECV)
			(*fetched)++;
	}
}

static bool full(const struct why *w)
{
	return refused(w, VS_EV_VERB_POST_SEND) &&
	       (w->f.reason[VS_REASON_QUEUE_FULL] != VT_NONE || abs((int)why_arg(w, w->subject, "ret")) == 12);
}

static void unsignaled(struct why *w)
{
	unsigned posted, signaled, fetched;

	if (!full(w))
		return;
	outstanding(w, &posted, &signaled, &fetched);
	if (signaled == 0 && posted > 0)
		why_for(w, WHY_CERTAIN + 2, w->subject, "%u requests were posted, and none of them is signaled",
			posted);
	else
		why_against(w, VT_NONE, "%u of %u requests are signaled", signaled, posted);
}

static void sq_full(struct why *w)
{
	unsigned posted, signaled, fetched;

	if (!full(w))
		return;
	outstanding(w, &posted, &signaled, &fetched);
	(void)why_said(w, VS_REASON_QUEUE_FULL);
	why_for(w, WHY_LIKELY, w->me.caps, "%u requests were posted, %u completions fetched; max_send_wr was %llu",
		posted, fetched, (unsigned long long)why_arg(w, w->me.caps, "sq"));
}

static void rq_full(struct why *w)
{
	if (refused(w, VS_EV_VERB_POST_RECV) && !why_said(w, VS_REASON_QUEUE_FULL) &&
	    abs((int)why_arg(w, w->subject, "ret")) == 12)
		why_for(w, WHY_LIKELY, w->me.caps, "max_recv_wr was %llu",
			(unsigned long long)why_arg(w, w->me.caps, "rq"));
}

/* Completions that wait, of this queue pair's. */
static unsigned unfetched(const struct why *w, unsigned *polls)
{
	unsigned wait = 0;

	*polls = 0;
	for (size_t i = 0; i < w->m->n_ops && w->me.qp != VT_NONE; i++)
		wait += w->m->op[i].qp == w->me.qp && w->m->op[i].cqe != VT_NONE && w->m->op[i].poll == VT_NONE;
	for (size_t i = 0; i < w->m->n_events; i++)
		if (w->m->ev[i].type == VS_EV_VERB_EMPTY_POLLS && w->me.node != VT_NONE &&
		    strcmp(w->m->ev[i].node, w->m->node[w->me.node].name) == 0)
			*polls += (unsigned)w->m->ev[i].a[1];
	return wait;
}

static bool answered(const struct why *w)
{
	const struct vt_op *o = why_op(w);

	return o != NULL && o->cqe == VT_NONE && o->answer != VT_NONE &&
	       (o->flags & VT_OP_SIGNALED || why_arg(w, w->me.caps, "sig_all") != 0);
}

static void cq_not_polled(struct why *w)
{
	unsigned polls, wait = unfetched(w, &polls);

	if (w->symptom == WHY_CALL && !full(w))
		return;
	if (w->symptom == WHY_WOKEN && (why_op(w) == NULL || why_op(w)->post == VT_NONE || why_op(w)->poll != VT_NONE))
		return;
	if (wait > 0)
		why_for(w, w->symptom == WHY_CALL ? WHY_CERTAIN + 1 : WHY_CERTAIN, VT_NONE,
			"%u completions of this queue pair wait in its queue", wait);
	else if (answered(w))
		why_for(w, WHY_LIKELY, why_op(w)->answer, "it was acknowledged, so that its completion is there");
	else if (w->symptom != WHY_CALL && why_op(w) != NULL && why_op(w)->cqe == VT_NONE)
		why_against(w, VT_NONE, "no completion waits");
}

static void not_armed(struct why *w)
{
	unsigned polls, wait = unfetched(w, &polls);
	size_t armed = VT_NONE, cq = VT_NONE, event = VT_NONE;

	for (size_t i = 0; i < w->m->n_events; i++) {
		const struct vs_event *e = &w->m->ev[i];

		if (w->me.node == VT_NONE || strcmp(e->node, w->m->node[w->me.node].name) != 0)
			continue;
		armed = e->type == VS_EV_VERB_NOTIFY_CQ ? i : armed;
		event = e->type == VS_EV_VERB_CQ_EVENT ? i : event;
		if (e->type == VS_EV_VERB_CREATE_CQ && e->a[3] != 0)
			cq = i;
	}
	if (cq == VT_NONE || polls > 0 || (wait == 0 && !answered(w)))
		return;
	if (armed == VT_NONE || (event != VT_NONE && event > armed))
		why_for(w, WHY_CERTAIN + 1, armed == VT_NONE ? cq : event,
			"the queue has a completion channel, and was not armed%s", armed == VT_NONE ? "" : " again");
	else
		why_against(w, armed, "the queue was armed");
}

static void many_sges(struct why *w)
{
	(void)why_said(w, VS_REASON_WR_NUM_SGE);
}
static void inline_long(struct why *w)
{
	const struct vs_event *e = subject(w);

	if (!refused(w, VS_EV_VERB_POST_SEND) || why_said(w, VS_REASON_WR_INLINE_LEN))
		return;
	if ((e->a[4] & VS_SEND_INLINE) != 0 && w->me.caps != VT_NONE && e->a[1] > why_arg(w, w->me.caps, "inline"))
		why_for(w, WHY_LIKELY + 20, w->me.caps, "%llu bytes inline; max_inline_data was %llu",
			(unsigned long long)e->a[1], (unsigned long long)why_arg(w, w->me.caps, "inline"));
}
static void no_opcode(struct why *w)
{
	unsigned type = w->me.qp != VT_NONE ? w->m->qp[w->me.qp].type : 0;

	if (why_said(w, VS_REASON_WR_OPCODE) || !refused(w, VS_EV_VERB_POST_SEND))
		return;
	if ((type == VS_QPT_UD && subject(w)->a[0] != VS_WR_SEND && subject(w)->a[0] != VS_WR_SEND_WITH_IMM) ||
	    (type == VS_QPT_UC && subject(w)->a[0] >= VS_WR_RDMA_READ))
		why_for(w, WHY_LIKELY + 20, w->subject, "%s on this queue pair",
			vs_wr_opcode_name((enum vs_wr_opcode)subject(w)->a[0]));
}
static void long_message(struct why *w)
{
	(void)why_said(w, VS_REASON_WR_LENGTH);
	(void)why_said(w, VS_REASON_UD_LENGTH);
}
static void no_reads(struct why *w)
{
	const struct vt_op *o = why_op(w);

	if (o == NULL || (o->opcode != VS_WR_RDMA_READ && o->opcode != VS_WR_ATOMIC_CMP_AND_SWP &&
			  o->opcode != VS_WR_ATOMIC_FETCH_AND_ADD))
		return;
	if (w->me.rts != VT_NONE && why_arg(w, w->me.rts, "rd") == 0)
		why_for(w, WHY_CERTAIN, w->me.rts, "max_rd_atomic was given as 0");
	(void)why_said(w, VS_REASON_RD_ATOMIC);
}
/* Who asks for an entry that is empty gets zeros, hands them to the peer, and that has no address to go to. */
static void gid_index(struct why *w)
{
	const bool none = !why_said(w, VS_REASON_GID_INDEX) && why_said(w, VS_REASON_AV_NOT_GLOBAL);

	for (size_t i = 0; none && i < w->subject; i++) {
		const struct vs_event *e = &w->m->ev[i];

		if (e->type == VS_EV_VERB_QUERY_GID && strcmp(why_text_arg(w, i, "gid"), "::") == 0)
			why_for(w, WHY_CERTAIN + 1, i, "%s asked for entry %llu of the table, which is empty", e->node,
				(unsigned long long)e->a[0]);
	}
	if (none && w->now->score <= WHY_CERTAIN)
		w->now->score = 0;
}
static void mtu_big(struct why *w)
{
	(void)why_said(w, VS_REASON_PATH_MTU);
}
static void attributes(struct why *w)
{
	static const enum vs_reason all[] = {VS_REASON_TRANSITION,       VS_REASON_CUR_STATE, VS_REASON_ATTR_MISSING,
					     VS_REASON_ATTR_NOT_ALLOWED, VS_REASON_ATTR_MASK, VS_REASON_TIMER_CODE,
					     VS_REASON_RETRY_COUNT,      VS_REASON_PORT_NUM,  VS_REASON_PKEY_INDEX,
					     VS_REASON_DEST_QPN,         VS_REASON_RD_ATOMIC, VS_REASON_AV_SL,
					     VS_REASON_CUR_STATE_VALUE};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		(void)why_said(w, all[i]);
	if (w->now->score == 0 && refused(w, VS_EV_VERB_MODIFY_QP))
		why_for(w, WHY_POSSIBLE, w->subject, "ibv_modify_qp to %s with mask 0x%llx",
			vs_qp_state_name((enum vs_qp_state)subject(w)->a[1]), (unsigned long long)subject(w)->a[2]);
}
static void mr_rights(struct why *w)
{
	const struct vs_event *e = subject(w);
	const uint64_t remote = VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_ATOMIC;

	if (refused(w, VS_EV_VERB_REG_MR) && !why_said(w, VS_REASON_MR_LOCAL_WRITE) && (e->a[4] & remote) != 0 &&
	    (e->a[4] & VS_ACCESS_LOCAL_WRITE) == 0)
		why_for(w, WHY_LIKELY + 20, w->subject, "access is 0x%llx", (unsigned long long)e->a[4]);
}
static void device_limit(struct why *w)
{
	static const enum vs_reason all[] = {VS_REASON_LIMIT_PD, VS_REASON_LIMIT_AH, VS_REASON_LIMIT_MR,
					     VS_REASON_LIMIT_CQ, VS_REASON_LIMIT_QP, VS_REASON_LIMIT_SRQ,
					     VS_REASON_CQ_SIZE,  VS_REASON_QP_CAP,   VS_REASON_SRQ_SIZE};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		(void)why_said(w, all[i]);
	if (w->now->score == 0 && (refused(w, VS_EV_VERB_CREATE_CQ) || refused(w, VS_EV_VERB_CREATE_QP)))
		why_for(w, WHY_POSSIBLE, w->subject, "it could not be made");
}

/* Nothing else explains it, and a rule was there to do it. */
/* The rule was about this call, not about another one: "post_send:errno=ENOMEM". */
static bool is_about(const char *rule, const struct vs_event *call)
{
	const char *name = vs_event_info((enum vs_event_type)call->type)->name;
	size_t len = strncmp(name, "verb:", 5) == 0 ? strlen(name + 5) : 0;

	return len > 0 && strncmp(rule, name + 5, len) == 0 && rule[len] == ':';
}

/* Told just before the call that it made fail: the device never saw that. */
static void injected(struct why *w)
{
	const struct vs_event *call = w->subject != VT_NONE ? &w->m->ev[w->subject] : NULL;

	for (size_t i = w->subject; i != VT_NONE && i > 0 && i + 16 > w->subject; i--) {
		const struct vs_event *e = &w->m->ev[i - 1];
		const char *rule = e->type == VS_EV_FAULT_INJECT ? why_text_arg(w, i - 1, "rule") : "";

		if (e->type == call->type && strcmp(e->node, call->node) == 0)
			return; /* an earlier call of that kind: what was told before it was for that one */
		if (strstr(rule, "errno=") == NULL)
			continue;
		why_for(w, is_about(rule, call) && strcmp(e->node, call->node) == 0 ? WHY_CERTAIN : WHY_LIKELY, i - 1,
			"%s", rule);
		return;
	}
}

static void cq_overflow(struct why *w)
{
	for (size_t i = 0; i < w->m->n_events; i++)
		if (w->m->ev[i].type == VS_EV_CQ_OVERFLOW) {
			why_for(w, WHY_CERTAIN, i, "%s lost a completion: its queue %llu was full", w->m->ev[i].node,
				(unsigned long long)w->m->ev[i].a[0]);
			return;
		}
	if (w->symptom == WHY_ASYNC && w->status == VS_EVENT_CQ_ERR)
		why_for(w, WHY_LIKELY, w->subject, "the device reported IBV_EVENT_CQ_ERR");
}

/* ---- no completion ---- */

static void timeout_zero(struct why *w)
{
	unsigned type = why_op(w) != NULL ? w->m->qp[why_op(w)->qp].type : 0;

	if (w->me.rts == VT_NONE || why_op(w) == NULL || why_op(w)->answer != VT_NONE)
		return;
	if (type == VS_QPT_UD || type == VS_QPT_UC) /* nobody answers these, and no timer waits */
		return;
	if (why_arg(w, w->me.rts, "timeout") == 0)
		why_for(w, WHY_CERTAIN, w->me.rts, "timeout was given as 0, and no answer has come");
	else
		why_against(w, w->me.rts, "timeout is %llu", (unsigned long long)why_arg(w, w->me.rts, "timeout"));
}

static void rnr_forever(struct why *w)
{
	if (w->f.rnr > 0 && w->me.rts != VT_NONE && why_arg(w, w->me.rts, "rnr_retry") == 7)
		why_for(w, WHY_LIKELY + 30, w->f.first_rnr, "%u RNR NAKs so far", w->f.rnr);
}

static void rnr_timer(struct why *w)
{
	uint64_t syn = why_arg(w, w->f.first_rnr, "syn");

	if (w->f.rnr > 0 && (syn & 0x1f) == 0)
		why_for(w, WHY_CERTAIN, w->f.first_rnr, "the RNR NAK carries timer code 0: 655.36 ms");
	else if (w->f.rnr > 0 && (syn & 0x1f) >= 28)
		why_for(w, WHY_LIKELY, w->f.first_rnr, "the RNR NAK carries timer code %u", (unsigned)(syn & 0x1f));
}

static void no_cqe_due(struct why *w)
{
	const struct vt_op *o = why_op(w);

	if (o == NULL || o->post == VT_NONE || o->flags & VT_OP_RECV)
		return;
	if (o->flags & VT_OP_SIGNALED || why_arg(w, w->me.caps, "sig_all") != 0)
		why_against(w, o->post, "it is signaled");
	else
		why_for(w, o->answer != VT_NONE ? WHY_CERTAIN : WHY_LIKELY, o->post, "it has no IBV_SEND_SIGNALED%s",
			o->answer != VT_NONE ? ", and was acknowledged" : "");
}

/* Sends that the peer of this queue pair posted. */
static unsigned peer_sends(const struct why *w)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->m->n_ops; i++)
		n += w->m->op[i].qp == w->peer.qp && !(w->m->op[i].flags & VT_OP_RECV) && w->m->op[i].post != VT_NONE;
	return n;
}

static void nothing_came(struct why *w)
{
	const struct vt_op *o = why_op(w);

	if (o == NULL || !(o->flags & VT_OP_RECV) || o->by != VT_NONE)
		return;
	if (w->peer.recorded && w->peer.qp != VT_NONE && peer_sends(w) == 0)
		why_for(w, WHY_LIKELY, o->post, "the peer has posted nothing that could come here");
	else
		why_for(w, WHY_POSSIBLE + 10, o->post, "no message is in the trace that it could have taken");
}

/* ---- datagrams and UC ---- */

static void qkey(struct why *w)
{
	(void)why_said(w, VS_REASON_QKEY_MISMATCH);
}
static void ud_no_receive(struct why *w)
{
	unsigned type = w->me.qp != VT_NONE ? w->m->qp[w->me.qp].type : 0;

	if (type == VS_QPT_UD || type == VS_QPT_UC)
		(void)why_said(w, VS_REASON_NO_RECEIVE);
}
static void ud_short(struct why *w)
{
	const struct vt_op *o = why_op(w);

	if (o == NULL || w->m->qp[o->qp].type != VS_QPT_UD)
		return;
	if (w->f.reason[VS_REASON_RECEIVE_LENGTH] != VT_NONE)
		why_for(w, WHY_CERTAIN + 1, w->f.reason[VS_REASON_RECEIVE_LENGTH],
			"the datagram and its 40 bytes of GRH do not fit");
	else if (o->flags & VT_OP_RECV && w->symptom == WHY_CQE)
		why_for(w, WHY_LIKELY, o->post, "the receive has %llu bytes", (unsigned long long)o->len);
}
static void uc_lost(struct why *w)
{
	const struct vt_op *o = why_op(w);

	if (o == NULL || w->m->qp[o->qp].type != VS_QPT_UC)
		return;
	(void)why_said(w, VS_REASON_UC_LOST);
	if (w->f.lost > 0)
		why_for(w, WHY_CERTAIN, w->f.first_lost, "%u packets were lost", w->f.lost);
}

/* ---- flushed ---- */

/* The device says why the queue pair went to ERR: it refused what the peer asked for. */
static size_t refused_request(const struct why *w)
{
	for (size_t i = 0; i < w->subject && w->subject != VT_NONE; i++)
		if (w->m->ev[i].type == VS_EV_RC_REFUSE && mine(w, &w->m->ev[i]))
			return i;
	return VT_NONE;
}

static bool is_refusal(uint64_t status)
{
	return status == VS_WC_REM_ACCESS_ERR || status == VS_WC_REM_INV_REQ_ERR || status == VS_WC_REM_OP_ERR;
}

static void flushed_after(struct why *w)
{
	size_t refusal = refused_request(w);

	for (size_t i = 0; i < w->subject && w->subject != VT_NONE; i++) {
		const struct vs_event *e = &w->m->ev[i];

		if (e->type == VS_EV_CQE && mine(w, e) && e->a[0] != VS_WC_SUCCESS && e->a[0] != VS_WC_WR_FLUSH_ERR) {
			why_for(w, WHY_CERTAIN, i, "%s came first", vs_wc_status_name((enum vs_wc_status)e->a[0]));
			return;
		}
	}
	if (refusal != VT_NONE)
		why_for(w, WHY_CERTAIN, refusal, "it refused a request of the peer: %s",
			vs_reason_info((enum vs_reason)why_arg(w, refusal, "reason"))->sentence);
	else if (w->peer.failed_later != VT_NONE && is_refusal(w->m->ev[w->peer.failed_later].a[0]))
		why_for(w, WHY_LIKELY, w->peer.failed_later,
			"a request of the peer failed with %s: refusing it does that",
			vs_wc_status_name((enum vs_wc_status)w->m->ev[w->peer.failed_later].a[0]));
}

static void flushed_by_user(struct why *w)
{
	for (size_t i = 0; i < w->subject && w->subject != VT_NONE; i++)
		if (w->m->ev[i].type == VS_EV_VERB_MODIFY_QP && mine(w, &w->m->ev[i]) &&
		    w->m->ev[i].a[1] == VS_QPS_ERR) {
			why_for(w, WHY_CERTAIN, i, "ibv_modify_qp to ERR");
			return;
		}
}

static void disconnected(struct why *w)
{
	for (size_t i = 0; i < w->subject && w->subject != VT_NONE; i++)
		if ((w->m->ev[i].type == VS_EV_VERB_CM && strcmp(why_text_arg(w, i, "call"), "disconnect") == 0) ||
		    (w->m->ev[i].type == VS_EV_CM_EVENT && strcmp(why_text_arg(w, i, "event"), "DISCONNECTED") == 0) ||
		    w->m->ev[i].type == VS_EV_VERB_DISCONNECT) {
			why_for(w, WHY_CERTAIN + 1, i, "the connection was ended");
			return;
		}
}

/* ---- connections ---- */

static bool event_is(const struct why *w, const char *name)
{
	return refused(w, VS_EV_CM_EVENT) && strcmp(why_text_arg(w, w->subject, "event"), name) == 0;
}

/* The reason of the REJ that is to be explained: told by the program's event, or in a frame. 0: not known. */
static uint64_t rej_reason(const struct why *w)
{
	if (event_is(w, "REJECTED"))
		return why_arg(w, w->subject, "status");
	for (size_t i = 0; refused(w, VS_EV_CM_TX) && i < w->m->n_pkts; i++)
		if (w->m->pkt[i].tx != VT_NONE && w->m->cause[w->m->pkt[i].tx] == w->subject)
			return w->m->pkt[i].rej;
	return 0;
}

static void cm_no_listener(struct why *w)
{
	uint64_t reason = rej_reason(w);

	if (reason == 8 || (event_is(w, "REJECTED") && (int64_t)reason == -111))
		why_for(w, WHY_CERTAIN, w->subject, "REJECTED with reason 8: invalid service ID");
}

static void cm_rejected(struct why *w)
{
	uint64_t reason = rej_reason(w);

	if (reason == 8 || (!event_is(w, "REJECTED") && !refused(w, VS_EV_CM_TX)))
		return;
	if (refused(w, VS_EV_CM_TX))
		why_for(w, WHY_LIKELY, w->subject, "%s sent a REJ", subject(w)->node);
	if (reason != 0)
		why_for(w, reason == 28 ? WHY_CERTAIN : WHY_LIKELY, w->subject, "REJECTED with reason %llu: %s",
			(unsigned long long)reason, vs_cm_rej_reason_text((uint16_t)reason));
}

/* Asked, and nothing came: how often, since when. By messages, else by what the program was told. */
static void unanswered(struct why *w)
{
	unsigned asked = 0;
	size_t first = VT_NONE;

	for (size_t i = 0; i < w->m->n_events; i++) {
		const struct vs_event *e = &w->m->ev[i];
		const char *call = e->type == VS_EV_VERB_CM ? why_text_arg(w, i, "call") : "";
		const char *event = e->type == VS_EV_CM_EVENT ? why_text_arg(w, i, "event") : "";

		if ((e->type == VS_EV_CM_RX && (e->a[0] == VS_CM_ATTR_REP || e->a[0] == VS_CM_ATTR_REJ)) ||
		    strcmp(event, "ESTABLISHED") == 0 || strcmp(event, "CONNECT_RESPONSE") == 0)
			return;
		if ((e->type == VS_EV_CM_TX && e->a[0] == VS_CM_ATTR_REQ) || strcmp(call, "connect") == 0) {
			asked += e->type == VS_EV_CM_TX;
			first = first == VT_NONE ? i : first;
		}
	}
	if (first != VT_NONE && asked > 0)
		why_for(w, WHY_LIKELY + 10, first, "%u connection requests were sent, and none was answered", asked);
	else if (first != VT_NONE)
		why_for(w, WHY_LIKELY + 10, first, "the program asked for a connection, and got no answer");
}

static void cm_no_answer(struct why *w)
{
	if (event_is(w, "UNREACHABLE") || event_is(w, "CONNECT_ERROR"))
		why_for(w, WHY_CERTAIN, w->subject, "%s", why_text_arg(w, w->subject, "event"));
	if (event_is(w, "ADDR_ERROR") || event_is(w, "ROUTE_ERROR"))
		why_for(w, WHY_LIKELY, w->subject, "%s: no device reaches that address",
			why_text_arg(w, w->subject, "event"));
	if (refused(w, VS_EV_VERB_CREATE_QP))
		unanswered(w);
}
/* Made, and never brought to RTR: the last state that it got, and the call that failed on the way, if one did. */
static void not_connected(struct why *w)
{
	enum vs_qp_state state = VS_QPS_RESET;
	size_t last = w->me.created;

	if (!refused(w, VS_EV_VERB_CREATE_QP) || w->me.created == VT_NONE)
		return;
	for (size_t i = w->me.created; i < w->m->n_events; i++)
		if (w->m->ev[i].type == VS_EV_VERB_MODIFY_QP && mine(w, &w->m->ev[i]) && w->m->ev[i].a[3] == 0) {
			state = (enum vs_qp_state)w->m->ev[i].a[1];
			last = i;
		}
	if (state == VS_QPS_RESET || state == VS_QPS_INIT)
		why_for(w, WHY_LIKELY, last, "it stayed in %s", vs_qp_state_name(state));
}

why_judge_fn *const why_local_judge[VT_CAUSE_COUNT] = {
	[VT_CAUSE_NOT_RTS] = not_rts,
	[VT_CAUSE_SQ_FULL] = sq_full,
	[VT_CAUSE_UNSIGNALED] = unsignaled,
	[VT_CAUSE_CQ_NOT_POLLED] = cq_not_polled,
	[VT_CAUSE_NOT_ARMED] = not_armed,
	[VT_CAUSE_NO_CQE_DUE] = no_cqe_due,
	[VT_CAUSE_RQ_FULL] = rq_full,
	[VT_CAUSE_MANY_SGES] = many_sges,
	[VT_CAUSE_INLINE_LONG] = inline_long,
	[VT_CAUSE_NO_OPCODE] = no_opcode,
	[VT_CAUSE_LONG_MESSAGE] = long_message,
	[VT_CAUSE_NO_READS] = no_reads,
	[VT_CAUSE_GID_INDEX] = gid_index,
	[VT_CAUSE_ATTRIBUTES] = attributes,
	[VT_CAUSE_MTU_BIG] = mtu_big,
	[VT_CAUSE_MR_RIGHTS] = mr_rights,
	[VT_CAUSE_DEVICE_LIMIT] = device_limit,
	[VT_CAUSE_CQ_OVERFLOW] = cq_overflow,
	[VT_CAUSE_TIMEOUT_ZERO] = timeout_zero,
	[VT_CAUSE_INJECTED] = injected,
	[VT_CAUSE_RNR_FOREVER] = rnr_forever,
	[VT_CAUSE_RNR_TIMER] = rnr_timer,
	[VT_CAUSE_FLUSHED_AFTER] = flushed_after,
	[VT_CAUSE_FLUSHED_BY_USER] = flushed_by_user,
	[VT_CAUSE_DISCONNECTED] = disconnected,
	[VT_CAUSE_QKEY] = qkey,
	[VT_CAUSE_UD_NO_RECEIVE] = ud_no_receive,
	[VT_CAUSE_UD_SHORT] = ud_short,
	[VT_CAUSE_UC_LOST] = uc_lost,
	[VT_CAUSE_NOTHING_CAME] = nothing_came,
	[VT_CAUSE_CM_NO_LISTENER] = cm_no_listener,
	[VT_CAUSE_CM_REJECTED] = cm_rejected,
	[VT_CAUSE_CM_NO_ANSWER] = cm_no_answer,
	[VT_CAUSE_NOT_CONNECTED] = not_connected,
};
