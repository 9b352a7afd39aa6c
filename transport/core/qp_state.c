/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * qp_state.c - the state machine of queue pairs: which transitions exist, which attributes each
 * needs and allows per transport, and modify, which does everything or nothing.
 *
 * The table is that of FACTS 6 (core/verbs.c of Linux, ibv_modify_qp.3). VS_QP_STATE is implied in
 * every mask. Any state -> RESET and any state but RESET -> ERR are legal, and take nothing but the state.
 */
#include "core.h"

struct masks {
	uint32_t required, optional;
};
struct transition {
	bool legal;
	struct masks rc, uc, ud;
};

#define INIT_CONN (VS_QP_PKEY_INDEX | VS_QP_PORT | VS_QP_ACCESS_FLAGS)
#define INIT_UD (VS_QP_PKEY_INDEX | VS_QP_PORT | VS_QP_QKEY)
#define RTS_RC (VS_QP_CUR_STATE | VS_QP_ALT_PATH | VS_QP_ACCESS_FLAGS | VS_QP_MIN_RNR_TIMER | VS_QP_PATH_MIG_STATE)
#define RTS_UC (VS_QP_CUR_STATE | VS_QP_ALT_PATH | VS_QP_ACCESS_FLAGS | VS_QP_PATH_MIG_STATE)
#define RTS_UD (VS_QP_CUR_STATE | VS_QP_QKEY)
#define ANY                   \
	{                     \
		.legal = true \
	}

static const struct transition table[VS_QPS_COUNT][VS_QPS_COUNT] = {
	[VS_QPS_RESET] =
		{
			[VS_QPS_RESET] = ANY,
			[VS_QPS_INIT] = {.legal = true, .rc = {INIT_CONN, 0}, .uc = {INIT_CONN, 0}, .ud = {INIT_UD, 0}},
		},
	[VS_QPS_INIT] =
		{
			[VS_QPS_RESET] = ANY,
			[VS_QPS_ERR] = ANY,
			[VS_QPS_INIT] = {.legal = true, .rc = {0, INIT_CONN}, .uc = {0, INIT_CONN}, .ud = {0, INIT_UD}},
			[VS_QPS_RTR] =
				{
					.legal = true,
					.rc = {VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN |
						       VS_QP_RQ_PSN | VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER,
					       VS_QP_ALT_PATH | VS_QP_ACCESS_FLAGS | VS_QP_PKEY_INDEX},
					.uc = {VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN,
					       VS_QP_ALT_PATH | VS_QP_ACCESS_FLAGS | VS_QP_PKEY_INDEX},
					.ud = {0, VS_QP_PKEY_INDEX | VS_QP_QKEY},
				},
		},
	[VS_QPS_RTR] =
		{
			[VS_QPS_RESET] = ANY,
			[VS_QPS_ERR] = ANY,
			[VS_QPS_RTS] =
				{
					.legal = true,
					.rc = {VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY |
						       VS_QP_SQ_PSN | VS_QP_MAX_QP_RD_ATOMIC,
					       RTS_RC},
					.uc = {VS_QP_SQ_PSN, RTS_UC},
					.ud = {VS_QP_SQ_PSN, RTS_UD},
				},
		},
	[VS_QPS_RTS] =
		{
			[VS_QPS_RESET] = ANY,
			[VS_QPS_ERR] = ANY,
			[VS_QPS_RTS] = {.legal = true, .rc = {0, RTS_RC}, .uc = {0, RTS_UC}, .ud = {0, RTS_UD}},
			[VS_QPS_SQD] = {.legal = true,
					.rc = {0, VS_QP_EN_SQD_ASYNC_NOTIFY},
					.uc = {0, VS_QP_EN_SQD_ASYNC_NOTIFY},
					.ud = {0, VS_QP_EN_SQD_ASYNC_NOTIFY}},
		},
	[VS_QPS_SQD] =
		{
			[VS_QPS_RESET] = ANY,
			[VS_QPS_ERR] = ANY,
			[VS_QPS_RTS] = {.legal = true, .rc = {0, RTS_RC}, .uc = {0, RTS_UC}, .ud = {0, RTS_UD}},
			[VS_QPS_SQD] =
				{
					.legal = true,
					.rc = {0,
					       VS_QP_PORT | VS_QP_AV | VS_QP_TIMEOUT | VS_QP_RETRY_CNT |
						       VS_QP_RNR_RETRY | VS_QP_MAX_QP_RD_ATOMIC |
						       VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_ALT_PATH | VS_QP_ACCESS_FLAGS |
						       VS_QP_PKEY_INDEX | VS_QP_MIN_RNR_TIMER | VS_QP_PATH_MIG_STATE},
					.uc = {0, VS_QP_AV | VS_QP_ALT_PATH | VS_QP_ACCESS_FLAGS |
							  VS_QP_PKEY_INDEX | VS_QP_PATH_MIG_STATE},
					.ud = {0, VS_QP_PKEY_INDEX | VS_QP_QKEY},
				},
		},
	[VS_QPS_SQE] =
		{
			[VS_QPS_RESET] = ANY,
			[VS_QPS_ERR] = ANY,
			[VS_QPS_RTS] = {.legal = true,
					.uc = {0, VS_QP_CUR_STATE | VS_QP_ACCESS_FLAGS},
					.ud = {0, VS_QP_CUR_STATE | VS_QP_QKEY}},
		},
	[VS_QPS_ERR] =
		{
			[VS_QPS_RESET] = ANY,
			[VS_QPS_ERR] = ANY,
		},
};

static struct masks masks_of(const struct vs_qp *qp, enum vs_qp_state from, enum vs_qp_state to)
{
	const struct transition *t = &table[from][to];
	struct masks m;

	switch (qp->type) {
	case VS_QPT_RC:
		return t->rc;
	case VS_QPT_UC:
		return t->uc;
	case VS_QPT_GSI: /* as UD, without PORT */
		m = t->ud;
		m.required &= ~(uint32_t)VS_QP_PORT;
		m.optional &= ~(uint32_t)VS_QP_PORT;
		return m;
	case VS_QPT_UD:
	default:
		return t->ud;
	}
}

static enum vs_reason check_transition(const struct vs_qp *qp, const struct vs_qp_attr *attr, uint32_t mask,
				       enum vs_qp_state to)
{
	enum vs_qp_state from = qp->attr.state;
	struct masks m;

	if (mask & VS_QP_CUR_STATE) {
		if (attr->cur_state != VS_QPS_RTR && attr->cur_state != VS_QPS_RTS && attr->cur_state != VS_QPS_SQD &&
		    attr->cur_state != VS_QPS_SQE)
			return VS_REASON_CUR_STATE_VALUE;
		if (attr->cur_state != from)
			return VS_REASON_CUR_STATE;
	}
	if ((unsigned)to >= VS_QPS_COUNT || !table[from][to].legal)
		return VS_REASON_TRANSITION;
	m = masks_of(qp, from, to);
	if ((mask & m.required) != m.required)
		return VS_REASON_ATTR_MISSING;
	if (VS_DEVIATES(qp->dev, RESOURCES_LOST_ON_MODIFY) && from == VS_QPS_RTS)
		m.optional |= VS_QP_MAX_DEST_RD_ATOMIC;
	if (mask & ~(m.required | m.optional | VS_QP_STATE))
		return VS_REASON_ATTR_NOT_ALLOWED;
	return mask & VS_QP_ALT_PATH ? VS_REASON_ALT_PATH : VS_REASON_NONE;
}

/* Values of what the mask names, whatever the transition. Resolves the path in `attr`. */
static enum vs_reason check_values(struct vs_qp *qp, struct vs_qp_attr *attr, uint32_t mask)
{
	struct vs_dev *dev = qp->dev;

	if ((mask & VS_QP_PORT) && attr->port_num != 1)
		return VS_REASON_PORT_NUM;
	if ((mask & VS_QP_PKEY_INDEX) && !VS_DEVIATES(dev, PKEY_INDEX_UNCHECKED) &&
	    (attr->pkey_index >= VS_PKEY_TABLE_LEN || (dev->attr.pkeys[attr->pkey_index] & 0x7fff) == 0))
		return VS_REASON_PKEY_INDEX;
	if ((mask & VS_QP_QKEY) && (attr->qkey & 0x80000000u) && qp->type != VS_QPT_GSI &&
	    !dev->attr.allow_privileged_qkey)
		return VS_REASON_QKEY_PRIVILEGED;
	if ((mask & VS_QP_ACCESS_FLAGS) &&
	    (attr->access_flags & ~(uint32_t)(VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ |
					      VS_ACCESS_REMOTE_ATOMIC | VS_ACCESS_MW_BIND | VS_ACCESS_FLUSH_GLOBAL |
					      VS_ACCESS_FLUSH_PERSISTENT)))
		return VS_REASON_MR_ACCESS;
	if ((mask & VS_QP_PATH_MTU) && (vs_mtu_bytes(attr->path_mtu) == 0 ||
					(attr->path_mtu > dev->attr.active_mtu && !VS_DEVIATES(dev, MTU_UNCHECKED))))
		return VS_REASON_PATH_MTU;
	if (((mask & VS_QP_TIMEOUT) && attr->timeout > 31) ||
	    ((mask & VS_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31))
		return VS_REASON_TIMER_CODE;
	if (((mask & VS_QP_RETRY_CNT) && attr->retry_cnt > 7) || ((mask & VS_QP_RNR_RETRY) && attr->rnr_retry > 7))
		return VS_REASON_RETRY_COUNT;
	if (((mask & VS_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > dev->attr.max_rd_atomic) ||
	    ((mask & VS_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic > dev->attr.max_rd_atomic))
		return VS_REASON_RD_ATOMIC;
	if ((mask & VS_QP_DEST_QPN) && attr->dest_qpn > 0xffffff)
		return VS_REASON_DEST_QPN;
	return mask & VS_QP_AV ? vs_av_resolve(dev, &attr->av) : VS_REASON_NONE;
}

/* Constant per connected QP (A17.3.2.1): from the flow label, or from both QPNs as Linux does. */
static uint16_t udp_sport(const struct vs_qp *qp)
{
	return vs_udp_sport(qp->attr.av.flow_label, qp->qpn, qp->attr.dest_qpn);
}

uint16_t vs_udp_sport(uint32_t flow_label, uint32_t lqpn, uint32_t rqpn)
{
	uint32_t fl = flow_label;

	if (fl == 0) {
		uint64_t v = (uint64_t)lqpn * rqpn;

		v ^= v >> 20;
		v ^= v >> 40;
		fl = (uint32_t)(v & 0xfffff);
	}
	return (uint16_t)(0xc000u | ((fl & 0x3fff) ^ (fl >> 14)));
}

static void take_values(struct vs_qp *qp, const struct vs_qp_attr *attr, uint32_t mask)
{
	struct vs_qp_attr *to = &qp->attr;

#define TAKE(bit, field)  \
	if (mask & (bit)) \
	to->field = attr->field
	TAKE(VS_QP_PORT, port_num);
	TAKE(VS_QP_PKEY_INDEX, pkey_index);
	TAKE(VS_QP_QKEY, qkey);
	TAKE(VS_QP_ACCESS_FLAGS, access_flags);
	TAKE(VS_QP_PATH_MTU, path_mtu);
	TAKE(VS_QP_TIMEOUT, timeout);
	TAKE(VS_QP_RETRY_CNT, retry_cnt);
	TAKE(VS_QP_RNR_RETRY, rnr_retry);
	TAKE(VS_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(VS_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(VS_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(VS_QP_DEST_QPN, dest_qpn);
	TAKE(VS_QP_AV, av);
	TAKE(VS_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
#undef TAKE
	if (mask & VS_QP_RQ_PSN) /* wider than 24 bits: masked, as Linux does */
		to->rq_psn = attr->rq_psn & VS_PSN_MASK;
	if (mask & VS_QP_SQ_PSN)
		to->sq_psn = attr->sq_psn & VS_PSN_MASK;
	if (mask & VS_QP_RETRY_CNT)
		qp->req.retry_left = to->retry_cnt;
	if (mask & VS_QP_RNR_RETRY)
		qp->req.rnr_left = to->rnr_retry;
	if (mask & VS_QP_TIMEOUT) /* for what is under way, too */
		vs_req_start_timer(qp);
	if (mask & VS_QP_PATH_MTU)
		qp->mtu = vs_mtu_bytes(to->path_mtu);
	if (mask & (VS_QP_AV | VS_QP_DEST_QPN))
		qp->udp_sport = udp_sport(qp);
	if ((mask & VS_QP_MAX_DEST_RD_ATOMIC) && VS_DEVIATES(qp->dev, RESOURCES_LOST_ON_MODIFY))
		qp->resp.rres_head = qp->resp.rres_tail;
}

/* What entering a state sets going. `from` is the state before. */
static void enter(struct vs_qp *qp, enum vs_qp_state from, enum vs_qp_state to)
{
	switch (to) {
	case VS_QPS_RESET:
		vs_qp_reset(qp);
		break;
	case VS_QPS_RTR:
		vs_resp_reset(qp);
		break;
	case VS_QPS_RTS:
		if (from == VS_QPS_RTR)
			vs_req_reset(qp);
		if (from == VS_QPS_SQD)
			qp->attr.sq_draining = 0;
		vs_qp_kick(qp);
		break;
	case VS_QPS_SQD:
		if (from == VS_QPS_RTS) {
			qp->attr.sq_draining = 1;
			qp->req.drained_told = false;
			vs_req_ask_now(qp);
			vs_req_check_drained(qp);
		}
		break;
	default:
		break;
	}
}

void vs_qp_set_state(struct vs_qp *qp, enum vs_qp_state to, enum vs_reason why)
{
	const uint64_t a[] = {qp->attr.state, to, why};

	qp->attr.state = to;
	qp->dev->cause = vs_ev(qp->dev, VS_EV_QP_STATE, qp, qp->dev->cause, 3, a);
}

static void apply(struct vs_qp *qp, const struct vs_qp_attr *wanted, uint32_t mask, enum vs_qp_state to)
{
	enum vs_qp_state from = qp->attr.state;

	if (from == VS_QPS_RTS && to == VS_QPS_SQD) /* asked for with each transition anew */
		qp->attr.en_sqd_async_notify = 0;
	take_values(qp, wanted, mask);
	if (to == VS_QPS_ERR) {
		vs_qp_error(qp, VS_REASON_BY_USER);
		return;
	}
	if (to != from)
		vs_qp_set_state(qp, to, VS_REASON_BY_USER);
	if (to != from || to == VS_QPS_RESET)
		enter(qp, from, to);
}

static void attr_event(struct vs_qp *qp)
{
	const struct vs_qp_attr *q = &qp->attr;
	const uint64_t a[] = {
		q->sq_psn,      q->rq_psn,    q->dest_qpn,      vs_mtu_bytes(q->path_mtu), q->timeout,
		q->retry_cnt,   q->rnr_retry, q->min_rnr_timer, q->max_rd_atomic,          q->max_dest_rd_atomic,
		q->access_flags};

	vs_ev(qp->dev, VS_EV_QP_ATTR, qp, qp->dev->cause, 11, a);
}

int vs_qp_modify(struct vs_qp *qp, const struct vs_qp_attr *attr, uint32_t mask)
{
	struct vs_dev *dev = qp->dev;
	enum vs_qp_state from = qp->attr.state, to = mask & VS_QP_STATE ? attr->state : from;
	struct vs_qp_attr wanted = *attr;
	uint64_t a[4] = {from, to, mask, 0};
	enum vs_reason r = check_transition(qp, attr, mask, to);
	int rc = VS_OK;

	if (r == VS_REASON_NONE)
		r = check_values(qp, &wanted, mask);
	if (r != VS_REASON_NONE)
		rc = vs_refuse(dev, r == VS_REASON_QKEY_PRIVILEGED ? VS_ERR_PERM : VS_ERR_INVAL, r);
	a[3] = (uint64_t)(int64_t)rc;
	dev->cause = vs_ev(dev, VS_EV_VERB_MODIFY_QP, qp, 0, 4, a);
	if (rc == VS_OK) {
		apply(qp, &wanted, mask, to);
		attr_event(qp);
	}
	dev->cause = 0;
	return rc;
}
