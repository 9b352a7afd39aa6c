/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* verbs_qp.c - queue pairs: the attributes of the language in the form of libibverbs, and back. */
#include <errno.h>
#include <string.h>

#include "verbs.h"

/* ATOMIC WRITE is a request of ibv_wr_post(3) alone, which wants it said when the queue pair is made. */
static struct ibv_qp *create(const struct vc_verbs *v, struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct ibv_qp_init_attr_ex ex = {.send_cq = a->send_cq,
					 .recv_cq = a->recv_cq,
					 .srq = a->srq,
					 .cap = a->cap,
					 .qp_type = a->qp_type,
					 .sq_sig_all = a->sq_sig_all,
					 .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					 .pd = pd,
					 .send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE};

	if (!v->atomic_write || a->qp_type != IBV_QPT_RC)
		return v->call.create_qp(pd, a);
	return verbs_get_ctx(v->ctx)->create_qp_ex(v->ctx, &ex);
}

static int t_qp_create(struct dr_target *dt, int node, void *pd, const struct vs_qp_init *init, void **h, uint32_t *qpn)
{
	struct vc_target *t = vc_self(dt);
	const struct vh *send = (const void *)init->send_cq, *recv = (const void *)init->recv_cq;
	const struct vh *srq = (const void *)init->srq;
	struct ibv_qp_init_attr a = {
		.send_cq = send->cq,
		.recv_cq = recv->cq,
		.srq = srq != NULL ? srq->srq : NULL,
		.cap = {init->cap.max_send_wr, init->cap.max_recv_wr, init->cap.max_send_sge, init->cap.max_recv_sge,
			init->cap.max_inline_data},
		.qp_type = (enum ibv_qp_type)init->type,
		.sq_sig_all = init->sq_sig_all,
	};
	struct ibv_qp *qp;
	int code;

	errno = 0;
	qp = create(t->v, pd != NULL ? ((struct vh *)pd)->pd : t->pd->pd, &a);
	code = errno;
	*h = vc_handle(t, O_QP, node, qp);
	*qpn = qp != NULL ? qp->qp_num : 0;
	if (qp == NULL)
		return vc_error(code != 0 ? code : EINVAL);
	return *h != NULL ? VS_OK : VS_ERR_NOSPACE;
}

static void to_ibv(struct ibv_qp_attr *a, const struct vs_qp_attr *s)
{
	*a = (struct ibv_qp_attr){
		.qp_state = (enum ibv_qp_state)s->state,
		.cur_qp_state = (enum ibv_qp_state)s->cur_state,
		.path_mtu = (enum ibv_mtu)s->path_mtu,
		.qkey = s->qkey,
		.rq_psn = s->rq_psn,
		.sq_psn = s->sq_psn,
		.dest_qp_num = s->dest_qpn,
		.qp_access_flags = s->access_flags,
		.pkey_index = s->pkey_index,
		.en_sqd_async_notify = s->en_sqd_async_notify,
		.max_rd_atomic = s->max_rd_atomic,
		.max_dest_rd_atomic = s->max_dest_rd_atomic,
		.min_rnr_timer = s->min_rnr_timer,
		.port_num = s->port_num,
		.timeout = s->timeout,
		.retry_cnt = s->retry_cnt,
		.rnr_retry = s->rnr_retry,
		.ah_attr = {.is_global = 1,
			    .port_num = s->av.port,
			    .sl = s->av.sl,
			    .grh = {.flow_label = s->av.flow_label,
				    .sgid_index = s->av.sgid_index,
				    .hop_limit = s->av.hop_limit,
				    .traffic_class = s->av.traffic_class}},
	};
	memcpy(a->ah_attr.grh.dgid.raw, s->av.dgid, 16);
}

static int t_qp_modify(struct dr_target *dt, void *qp, const struct vs_qp_attr *s, uint32_t mask)
{
	struct vc_target *t = vc_self(dt);
	struct vh *h = qp;
	struct vs_event ev = {.type = VS_EV_VERB_MODIFY_QP, .qpn = h->qp->qp_num};
	struct ibv_qp_attr a;
	int code;

	to_ibv(&a, s);
	ev.a[0] = (uint64_t)h->qp->state;
	ev.a[1] = mask & VS_QP_STATE ? (uint64_t)s->state : ev.a[0];
	ev.a[2] = mask;
	errno = 0;
	code = t->v->call.modify_qp(h->qp, &a, (int)mask);
	if (code < 0)
		code = errno;
	ev.a[3] = (uint64_t)code;
	vc_emit(t, &ev);
	return vc_error(code);
}

void vc_qp_attr_of(struct vs_qp_attr *s, const struct ibv_qp_attr *a)
{
	*s = (struct vs_qp_attr){
		.state = (enum vs_qp_state)a->qp_state,
		.cur_state = (enum vs_qp_state)a->cur_qp_state,
		.path_mtu = (enum vs_mtu)a->path_mtu,
		.qkey = a->qkey,
		.rq_psn = a->rq_psn,
		.sq_psn = a->sq_psn,
		.dest_qpn = a->dest_qp_num,
		.access_flags = a->qp_access_flags,
		.pkey_index = a->pkey_index,
		.sq_draining = a->sq_draining,
		.max_rd_atomic = a->max_rd_atomic,
		.max_dest_rd_atomic = a->max_dest_rd_atomic,
		.min_rnr_timer = a->min_rnr_timer,
		.port_num = a->port_num,
		.timeout = a->timeout,
		.retry_cnt = a->retry_cnt,
		.rnr_retry = a->rnr_retry,
		.av = {.is_global = a->ah_attr.is_global != 0,
		       .port = a->ah_attr.port_num,
		       .sl = a->ah_attr.sl,
		       .sgid_index = a->ah_attr.grh.sgid_index,
		       .flow_label = a->ah_attr.grh.flow_label,
		       .hop_limit = a->ah_attr.grh.hop_limit,
		       .traffic_class = a->ah_attr.grh.traffic_class},
	};
	memcpy(s->av.dgid, a->ah_attr.grh.dgid.raw, 16);
}

static void t_qp_query(struct dr_target *dt, void *qp, struct vs_qp_attr *s, struct vs_qp_init *init)
{
	const int all = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			IBV_QP_QKEY | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			IBV_QP_RNR_RETRY | IBV_QP_RQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
			IBV_QP_SQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_CAP | IBV_QP_DEST_QPN;
	struct ibv_qp_init_attr i = {.qp_context = NULL};
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RESET};

	if (vc_self(dt)->v->call.query_qp(((struct vh *)qp)->qp, &a, all, &i) != 0)
		(void)vc_lacks(vc_self(dt), "the device refuses to query the queue pair");
	vc_qp_attr_of(s, &a);
	*init = (struct vs_qp_init){.cap = {a.cap.max_send_wr, a.cap.max_recv_wr, a.cap.max_send_sge,
					    a.cap.max_recv_sge, a.cap.max_inline_data}};
}

static enum vs_qp_state t_qp_state(struct dr_target *dt, void *qp)
{
	struct ibv_qp_init_attr i;
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_UNKNOWN};

	if (vc_self(dt)->v->call.query_qp(((struct vh *)qp)->qp, &a, IBV_QP_STATE, &i) != 0)
		return VS_QPS_COUNT;
	return (enum vs_qp_state)a.qp_state;
}

void vc_qp_ops(struct dr_target_ops *ops)
{
	ops->qp_create = t_qp_create;
	ops->qp_modify = t_qp_modify;
	ops->qp_query = t_qp_query;
	ops->qp_state = t_qp_state;
}
