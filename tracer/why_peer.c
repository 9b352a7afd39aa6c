/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * why_peer.c - what the other end made of a request, or why nothing came from it: its queue pair, its receives, the way
 * between the two.
 */
#include <string.h>

#include "vs/wire.h"
#include "why.h"

/* ---- refused ---- */

static uint32_t right_of(enum vs_wr_opcode op)
{
	return op == VS_WR_RDMA_READ                                                ? VS_ACCESS_REMOTE_READ
	       : op == VS_WR_ATOMIC_CMP_AND_SWP || op == VS_WR_ATOMIC_FETCH_AND_ADD ? VS_ACCESS_REMOTE_ATOMIC
										    : VS_ACCESS_REMOTE_WRITE;
}

static bool is_send(enum vs_wr_opcode op)
{
	return op == VS_WR_SEND || op == VS_WR_SEND_WITH_IMM || op == VS_WR_SEND_WITH_INV;
}

/* Could it as well be the path MTU (a packet longer than the least one), or the READs that may be under way? */
static bool other_limits(const struct why *w, const struct vt_op *o)
{
	if (right_of(o->opcode) != VS_ACCESS_REMOTE_WRITE)
		return !w->f.progress;
	return why_arg(w, o->first_tx, "len") > 256 && !w->f.progress;
}

static void qp_right(struct why *w)
{
	const struct vt_op *o = why_op(w);
	uint32_t right;

	if (why_said(w, VS_REASON_QP_ACCESS) || o == NULL)
		return;
	if (is_send(o->opcode)) {
		why_against(w, o->post, "a SEND needs no right");
		return;
	}
	right = right_of(o->opcode);
	if (w->peer.init == VT_NONE && w->status == VS_WC_REM_INV_REQ_ERR)
		why_for(w, other_limits(w, o) ? WHY_POSSIBLE : WHY_LIKELY, w->f.first_nak,
			"NAK: invalid request, for an operation that needs a right of the queue pair");
	else if (w->peer.init != VT_NONE && (why_arg(w, w->peer.init, "access") & right) == 0)
		why_for(w, WHY_LIKELY + 20, w->peer.init, "its queue pair was given access 0x%llx, which lacks 0x%x",
			(unsigned long long)why_arg(w, w->peer.init, "access"), right);
	else if (w->peer.init != VT_NONE)
		why_against(w, w->peer.init, "its queue pair has that right");
}

static void recv_short(struct why *w)
{
	const struct vt_op *o = why_op(w);
	size_t r = o != NULL ? o->recv : VT_NONE;

	if (why_said(w, VS_REASON_RECEIVE_LENGTH) || o == NULL)
		return;
	if (r != VT_NONE && w->m->op[r].len < o->len)
		why_for(w, WHY_LIKELY + 20, w->m->op[r].post, "the receive has %llu bytes, the message %llu",
			(unsigned long long)w->m->op[r].len, (unsigned long long)o->len);
	else if (!(o->flags & VT_OP_RECV) && !is_send(o->opcode) && o->opcode != VS_WR_RDMA_WRITE_WITH_IMM)
		why_against(w, o->post, "the operation takes no receive");
	else if (r == VT_NONE && !w->peer.recorded && w->status == VS_WC_REM_INV_REQ_ERR && is_send(o->opcode))
		why_for(w, WHY_LIKELY, w->f.first_nak,
			"a SEND was refused as invalid: most devices say so of a short receive");
	else if (o->flags & VT_OP_RECV && w->symptom == WHY_CQE && w->m->qp[o->qp].type != VS_QPT_UD)
		why_for(w, WHY_POSSIBLE, o->post, "the receive has %llu bytes", (unsigned long long)o->len);
}

static void peer_recv_bad(struct why *w)
{
	const struct vt_op *o = why_op(w);

	if (w->f.reason[VS_REASON_LKEY_INVALID] != VT_NONE)
		(void)why_said(w, VS_REASON_LKEY_INVALID);
	else if (!why_said(w, VS_REASON_LKEY_RANGE) && !why_said(w, VS_REASON_LKEY_ACCESS) &&
		 !why_said(w, VS_REASON_LKEY_PD) && o != NULL)
		why_for(w, WHY_LIKELY, w->f.first_nak, "NAK: remote operational error, for a %s",
			vs_wr_opcode_name(o->opcode));
	if (w->peer.failed != VT_NONE)
		why_for(w, WHY_LIKELY, w->peer.failed, "its own receive failed");
}

static void many_reads(struct why *w)
{
	uint64_t mine = why_arg(w, w->me.rts, "rd"), his = why_arg(w, w->peer.rtr, "dest_rd");
	const struct vt_op *o = why_op(w);

	if (why_said(w, VS_REASON_RD_ATOMIC) || o == NULL)
		return;
	if (right_of(o->opcode) == VS_ACCESS_REMOTE_WRITE)
		why_against(w, o->post, "it is no READ or atomic");
	else if (w->me.rts != VT_NONE && w->peer.rtr != VT_NONE && mine > his)
		why_for(w, WHY_LIKELY, w->peer.rtr, "max_rd_atomic here is %llu, max_dest_rd_atomic there %llu",
			(unsigned long long)mine, (unsigned long long)his);
}

static void mtu_mismatch(struct why *w)
{
	uint64_t mine = why_arg(w, w->me.rtr, "mtu"), his = why_arg(w, w->peer.rtr, "mtu");
	bool known = w->me.rtr != VT_NONE && w->peer.rtr != VT_NONE;

	(void)why_said(w, VS_REASON_PAYLOAD_LENGTH);
	(void)why_said(w, VS_REASON_READ_RESPONSE_LENGTH);
	if (known && mine != his)
		why_for(w, w->now->score > 0 ? WHY_CERTAIN : WHY_LIKELY, w->peer.rtr, "path MTU %llu here, %llu there",
			(unsigned long long)mine, (unsigned long long)his);
	else if (known)
		why_against(w, w->me.rtr, "both ends have path MTU %llu", (unsigned long long)mine);
}

static void atomic_align(struct why *w)
{
	const struct vt_op *o = why_op(w);

	if (why_said(w, VS_REASON_ATOMIC_ALIGN) || o == NULL)
		return;
	if (right_of(o->opcode) != VS_ACCESS_REMOTE_ATOMIC && o->opcode != VS_WR_ATOMIC_WRITE)
		why_against(w, o->post, "it is no atomic");
	else if ((o->va & 7) != 0)
		why_for(w, WHY_LIKELY + 20, o->post, "the address is 0x%llx", (unsigned long long)o->va);
	else
		why_against(w, o->post, "the address is aligned");
}

static void remote_invalid(struct why *w)
{
	if (w->f.nak[1] > 0)
		why_for(w, w->peer.recorded ? WHY_POSSIBLE : WHY_POSSIBLE + 10, w->f.first_nak, "NAK: invalid request");
}

/* ---- receives ---- */

/* Receives that the peer posted to this queue pair before the symptom, or ever. */
static unsigned posted(const struct why *w, bool before, size_t *first)
{
	unsigned n = 0;

	*first = VT_NONE;
	for (size_t i = 0; i < w->m->n_ops && w->peer.qp != VT_NONE; i++) {
		const struct vt_op *o = &w->m->op[i];

		if (o->qp != w->peer.qp || !(o->flags & VT_OP_RECV) || o->post == VT_NONE)
			continue;
		if (*first == VT_NONE)
			*first = o->post;
		n += !before || w->f.first_rnr == VT_NONE || w->m->ev[o->post].t_ns <= w->m->ev[w->f.first_rnr].t_ns;
	}
	return n;
}

static void no_receive(struct why *w)
{
	size_t first;
	unsigned n = posted(w, false, &first);

	if (w->f.rnr == 0 && w->f.reason[VS_REASON_NO_RECEIVE] == VT_NONE)
		return;
	if (w->peer.recorded && n == 0)
		why_for(w, WHY_CERTAIN, w->f.first_rnr,
			"it answered RNR NAK %u times, and no ibv_post_recv is in its trace", w->f.rnr);
	else if (w->peer.recorded)
		why_against(w, first, "it has posted %u receives", n);
	else
		why_for(w, w->f.progress ? WHY_POSSIBLE : WHY_LIKELY, w->f.first_rnr,
			"the peer answered RNR NAK %u times%s", w->f.rnr,
			w->f.progress ? "" : ", and never took a message");
	if (w->me.rts != VT_NONE && why_arg(w, w->me.rts, "rnr_retry") == 0)
		why_for(w, 0, w->me.rts, "rnr_retry is 0: the first refusal was the last");
}

static void recv_late(struct why *w)
{
	size_t first, then;
	unsigned before = posted(w, true, &first);

	(void)posted(w, false, &then);
	if (w->f.rnr > 0 && before == 0 && then != VT_NONE)
		why_for(w, WHY_CERTAIN, then, "the first receive was posted %.3f ms after the first refusal",
			(double)(int64_t)(w->m->ev[then].t_ns - w->m->ev[w->f.first_rnr].t_ns) / 1e6);
	else if (w->peer.recorded && before > 0)
		why_against(w, first, "a receive had been posted before");
}

static void recv_used_up(struct why *w)
{
	size_t first;
	unsigned before = posted(w, true, &first);

	if (w->f.rnr > 0 && before > 0)
		why_for(w, WHY_LIKELY + 20, w->f.first_rnr, "%u receives had been posted, and are used up", before);
	else if (w->f.rnr > 0 && !w->peer.recorded && w->f.progress)
		why_for(w, WHY_LIKELY, w->f.first_rnr, "messages were taken before");
	else if (w->peer.recorded && before == 0)
		why_against(w, VT_NONE, "none was ever posted before");
}

/* ---- nobody answers ---- */

static void no_qp(struct why *w)
{
	size_t said = w->f.reason[VS_REASON_QP_UNKNOWN];

	if (said == VT_NONE && !(w->peer.recorded && w->peer.qp == VT_NONE && w->me.rtr != VT_NONE))
		return;
	if (w->peer.qp != VT_NONE && w->peer.created != VT_NONE && w->peer.qpn == why_arg(w, w->me.rtr, "dqpn")) {
		why_against(w, w->peer.created, "that queue pair did exist");
		return;
	}
	if (said != VT_NONE)
		(void)why_said(w, VS_REASON_QP_UNKNOWN);
	if (w->me.rtr != VT_NONE)
		why_for(w, said != VT_NONE ? WHY_CERTAIN : WHY_LIKELY, w->me.rtr,
			"this end was told QP 0x%llx, which was never made there",
			(unsigned long long)why_arg(w, w->me.rtr, "dqpn"));
}

static void qp_gone(struct why *w)
{
	size_t gone = w->peer.destroyed;

	if (gone != VT_NONE && w->f.reason[VS_REASON_QP_UNKNOWN] != VT_NONE)
		why_for(w, WHY_CERTAIN, gone, "it destroyed its queue pair before the request arrived");
	else if (gone != VT_NONE)
		why_for(w, WHY_LIKELY, gone, "it destroyed its queue pair");
	else if (w->peer.created != VT_NONE)
		why_against(w, w->peer.created, "its queue pair is still there");
	else if (!w->peer.recorded && w->f.progress && w->f.from_peer > 0)
		why_for(w, WHY_LIKELY, VT_NONE, "the peer answered before, and then no more");
}

static void qp_not_ready(struct why *w)
{
	bool early = w->peer.state_known && (w->peer.state == VS_QPS_RESET || w->peer.state == VS_QPS_INIT);

	if (early && w->peer.destroyed == VT_NONE)
		why_for(w, w->f.reason[VS_REASON_QP_STATE] != VT_NONE ? WHY_CERTAIN : WHY_LIKELY + 10,
			w->f.reason[VS_REASON_QP_STATE], "its queue pair is in %s", vs_qp_state_name(w->peer.state));
	else if (w->peer.state_known)
		why_against(w, VT_NONE, "its queue pair is in %s", vs_qp_state_name(w->peer.state));
}

static void peer_failed(struct why *w)
{
	if (w->peer.failed != VT_NONE)
		why_for(w, WHY_LIKELY + 20, w->peer.failed, "its first completion with an error came before");
	else if (w->peer.state_known && w->peer.state == VS_QPS_ERR && w->f.reason[VS_REASON_QP_STATE] != VT_NONE)
		why_for(w, WHY_LIKELY, w->f.reason[VS_REASON_QP_STATE], "its queue pair is in ERR");
}

/* The last that is heard of a node: how its record ended, and when. */
static void peer_killed(struct why *w)
{
	size_t last, end = VT_NONE, until;
	const char *name;

	if (w->peer.node == VT_NONE || w->peer.node == w->me.node || w->me.node == VT_NONE)
		return;
	name = w->m->node[w->peer.node].name;
	for (size_t i = 0; i < w->m->n_events; i++)
		if (w->m->ev[i].type == VS_EV_REC_END && strcmp(w->m->ev[i].node, name) == 0)
			end = i;
	last = why_last_event(w, w->peer.node);
	until = w->subject != VT_NONE ? w->subject : why_last_event(w, w->me.node);
	if (end != VT_NONE && strstr(why_text_arg(w, end, "how"), "killed") != NULL && last < until)
		why_for(w, WHY_CERTAIN, end, "its record ends %.3f ms before this, and not in order",
			(double)(int64_t)(w->m->ev[until].t_ns - w->m->ev[last].t_ns) / 1e6);
	else if (end != VT_NONE && last < until && w->peer.destroyed == VT_NONE)
		why_for(w, WHY_LIKELY, end, "its program had ended before");
	else if (end != VT_NONE)
		why_against(w, end, "its program went on");
}

static void peer_elsewhere(struct why *w)
{
	if (!why_said(w, VS_REASON_NOT_PEER) && w->peer.rtr != VT_NONE && w->me.qpn != 0 &&
	    why_arg(w, w->peer.rtr, "dqpn") != w->me.qpn)
		why_for(w, WHY_LIKELY, w->peer.rtr, "its queue pair is connected to QP 0x%llx, not 0x%x",
			(unsigned long long)why_arg(w, w->peer.rtr, "dqpn"), w->me.qpn);
}

static bool gid_known(const struct why *w, const char *gid)
{
	for (size_t i = 0; i < w->m->n_events; i++)
		if (w->m->ev[i].type == VS_EV_VERB_QUERY_GID && strcmp(why_text_arg(w, i, "gid"), gid) == 0)
			return true;
	return false;
}

static bool asked_for_gids(const struct why *w, size_t node)
{
	for (size_t i = 0; node != VT_NONE && i < w->m->n_events; i++)
		if (w->m->ev[i].type == VS_EV_VERB_QUERY_GID && strcmp(w->m->ev[i].node, w->m->node[node].name) == 0)
			return true;
	return false;
}

static void wrong_gid(struct why *w)
{
	const char *gid = why_text_arg(w, w->me.rtr, "gid");

	(void)why_said(w, VS_REASON_NOT_FOR_US);
	if (w->symptom != WHY_CQE && (why_said(w, VS_REASON_AV_NEIGHBOUR) || why_said(w, VS_REASON_AV_DGID) ||
				      why_said(w, VS_REASON_AV_NOT_GLOBAL)))
		return;
	if (gid[0] == '\0' || !asked_for_gids(w, w->peer.node))
		return;
	if (!gid_known(w, gid))
		why_for(w, WHY_LIKELY + 15, w->me.rtr, "it was told %s, which is no address of a device in this trace",
			gid);
	else
		why_against(w, w->me.rtr, "%s is an address of the peer", gid);
}

static void pkey(struct why *w)
{
	(void)why_said(w, VS_REASON_PKEY_MISMATCH);
}

static void psn_mismatch(struct why *w)
{
	uint64_t mine = why_arg(w, w->me.rts, "sq_psn"), his = why_arg(w, w->peer.rtr, "rq_psn");
	bool known = w->me.rts != VT_NONE && w->peer.rtr != VT_NONE;

	if (known && mine != his)
		why_for(w, WHY_LIKELY + 30, w->peer.rtr,
			"this end begins with PSN 0x%06llx, the peer was told 0x%06llx", (unsigned long long)mine,
			(unsigned long long)his);
	else if (known)
		why_against(w, w->me.rts, "sq_psn here and rq_psn there are both 0x%06llx", (unsigned long long)mine);
	else if (w->f.nak[0] > 0 && !w->f.progress && w->f.rnr == 0)
		why_for(w, WHY_LIKELY, w->f.first_nak, "NAK: PSN sequence error, and nothing was ever acknowledged");
}

static void damaged(struct why *w)
{
	unsigned bad = 0;
	size_t first = VT_NONE;

	for (size_t i = 0; i < w->m->n_pkts; i++)
		if (w->m->pkt[i].frame != 0 && w->m->pkt[i].icrc == VS_CRC_BAD) {
			bad++;
			first = first == VT_NONE ? w->m->pkt[i].tx : first;
		}
	if (!why_said(w, VS_REASON_ICRC_BAD) && bad > 0)
		why_for(w, WHY_LIKELY, first, "%u packets have a wrong ICRC", bad);
}

static void lost(struct why *w)
{
	if (w->f.lost > 0 && w->f.lost + w->f.dropped >= w->f.sent / 2)
		why_for(w, WHY_LIKELY + 10, w->f.first_lost, "%u of %u packets of it were lost on the way", w->f.lost,
			w->f.sent);
	else if (w->f.lost > 0)
		why_for(w, WHY_POSSIBLE, w->f.first_lost, "%u of %u packets of it were lost on the way", w->f.lost,
			w->f.sent);
	else if (w->f.sent > 0 && w->f.arrived == w->f.sent && w->f.dropped == 0 && w->peer.recorded)
		why_against(w, VT_NONE, "all %u packets of it arrived", w->f.sent);
}

static void ack_lost(struct why *w)
{
	if (w->f.answers_lost > 0)
		why_for(w, WHY_LIKELY + 15, w->f.first_answer_lost, "the peer answered %u times, %u of that was lost",
			w->f.answers, w->f.answers_lost);
	else if (w->f.answers == 0 && w->peer.recorded && w->f.arrived == 0)
		why_against(w, VT_NONE, "the peer sent no answer");
}

static void timeout_short(struct why *w)
{
	uint32_t known = w->f.answers_lost + w->f.answered + w->f.acked_late;
	uint64_t code = why_arg(w, w->me.rts, "timeout");

	if (w->f.timeouts == 0)
		return;
	if (w->f.acked_late > 0)
		why_for(w, WHY_LIKELY + 25, w->f.first_timeout,
			"the timer fired %u times, and %u answers came after that", w->f.timeouts, w->f.acked_late);
	else if (w->f.answers > known && w->f.answered == 0)
		why_for(w, WHY_LIKELY + 10, w->f.first_timeout,
			"the timer fired %u times while %u answers were on their way", w->f.timeouts,
			w->f.answers - known);
	if (w->now->score > 0 && w->me.rts != VT_NONE)
		why_for(w, 0, w->me.rts, "timeout is %llu: %.1f us", (unsigned long long)code,
			4.096 * (double)(1ull << (code & 31)));
}

static void peer_silent(struct why *w)
{
	if (w->f.from_peer == 0 && w->f.sent > 0)
		why_for(w, w->peer.recorded ? WHY_POSSIBLE : WHY_LIKELY, VT_NONE,
			"%u packets were sent, and none came back", w->f.sent);
	else if (w->f.from_peer == 0)
		why_for(w, WHY_POSSIBLE, VT_NONE, "this trace has no packet from it");
	else
		why_against(w, VT_NONE, "%u packets came from it", w->f.from_peer);
}

why_judge_fn *const why_peer_judge[VT_CAUSE_COUNT] = {
	[VT_CAUSE_QP_RIGHT] = qp_right,
	[VT_CAUSE_RECV_SHORT] = recv_short,
	[VT_CAUSE_PEER_RECV_BAD] = peer_recv_bad,
	[VT_CAUSE_MANY_READS] = many_reads,
	[VT_CAUSE_MTU_MISMATCH] = mtu_mismatch,
	[VT_CAUSE_ATOMIC_ALIGN] = atomic_align,
	[VT_CAUSE_REMOTE_INVALID] = remote_invalid,
	[VT_CAUSE_NO_RECEIVE] = no_receive,
	[VT_CAUSE_RECV_LATE] = recv_late,
	[VT_CAUSE_RECV_USED_UP] = recv_used_up,
	[VT_CAUSE_NO_QP] = no_qp,
	[VT_CAUSE_QP_GONE] = qp_gone,
	[VT_CAUSE_QP_NOT_READY] = qp_not_ready,
	[VT_CAUSE_PEER_FAILED] = peer_failed,
	[VT_CAUSE_PEER_KILLED] = peer_killed,
	[VT_CAUSE_PEER_ELSEWHERE] = peer_elsewhere,
	[VT_CAUSE_WRONG_GID] = wrong_gid,
	[VT_CAUSE_PKEY] = pkey,
	[VT_CAUSE_PSN_MISMATCH] = psn_mismatch,
	[VT_CAUSE_DAMAGED] = damaged,
	[VT_CAUSE_LOST] = lost,
	[VT_CAUSE_ACK_LOST] = ack_lost,
	[VT_CAUSE_TIMEOUT_SHORT] = timeout_short,
	[VT_CAUSE_PEER_SILENT] = peer_silent,
};
