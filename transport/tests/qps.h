/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * qps.h - what the tests of queue pair states share: the usual masks, a refusal that changes nothing, the way
 * into every state.
 */
#ifndef VS_TESTS_QPS_H
#define VS_TESTS_QPS_H

#include <string.h>

#include "core/core.h"
#include "rig.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MEM(r, off) ((uintptr_t)(r)->mem + (off))
#define KEY(r) vs_mr_rkey((r)->mr)
#define FOR_EVER 20000000000000ull /* ns; longer than all retries of any timeout used here */

#define INIT_RC (VS_QP_PKEY_INDEX | VS_QP_PORT | VS_QP_ACCESS_FLAGS)
#define INIT_UD (VS_QP_PKEY_INDEX | VS_QP_PORT | VS_QP_QKEY)
#define RTR_UC (VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN)
#define RTR_RC (RTR_UC | VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER)
#define RTS_RC (VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY | VS_QP_SQ_PSN | VS_QP_MAX_QP_RD_ATOMIC)

/* The usual attributes with `state` as the one to enter. */
static inline struct vs_qp_attr attr_to(const struct rig *r, enum vs_qp_state state)
{
	struct vs_qp_attr a = rig_attr(r);

	a.state = state;
	return a;
}

/* Nothing came of it: no packet, no completion, no async event. */
static inline void nothing_happens(struct rig *r)
{
	rig_expect_silence(r);
	rig_expect_no_wc(r);
	rig_expect_no_async(r);
}

/* The first attribute of those that query shows that differs, by name; NULL: none does. Padding is left out. */
static inline const char *attr_differs(const struct vs_qp_attr *a, const struct vs_qp_attr *b)
{
#define SAME(field)               \
	if (a->field != b->field) \
	return #field
	SAME(state);
	SAME(cur_state);
	SAME(path_mtu);
	SAME(qkey);
	SAME(rq_psn);
	SAME(sq_psn);
	SAME(dest_qpn);
	SAME(access_flags);
	SAME(pkey_index);
	SAME(en_sqd_async_notify);
	SAME(sq_draining);
	SAME(max_rd_atomic);
	SAME(max_dest_rd_atomic);
	SAME(min_rnr_timer);
	SAME(port_num);
	SAME(timeout);
	SAME(retry_cnt);
	SAME(rnr_retry);
	SAME(av.is_global);
	SAME(av.sgid_index);
	SAME(av.flow_label);
	SAME(av.hop_limit);
	SAME(av.traffic_class);
	SAME(av.dlid);
	SAME(av.sl);
	SAME(av.src_path_bits);
	SAME(av.port);
	SAME(av.has_vlan);
	SAME(av.vlan_id);
#undef SAME
	if (memcmp(a->av.dgid, b->av.dgid, 16) != 0)
		return "av.dgid";
	return memcmp(a->av.dmac, b->av.dmac, 6) != 0 ? "av.dmac" : NULL;
}

static inline void same_attr(const struct vs_qp_attr *got, const struct vs_qp_attr *want)
{
	const char *field = attr_differs(got, want);

	ck_assert_msg(field == NULL, "%s is not as expected", field);
}

/* For one object before and after a call: every byte counts, padding too. */
static inline bool same_bytes(const void *a, const void *b, size_t len)
{
	return memcmp(a, b, len) == 0;
}

/*
 * The modify is refused with `err` because of `why`, and changes nothing: neither the state nor any attribute that
 * query shows, nor a bit of the queue pair inside. The trace has the refusal and the call, and no change of state.
 */
static inline void refused_with(struct rig *r, const struct vs_qp_attr *a, uint32_t mask, int err, enum vs_reason why)
{
	unsigned states = rig_count_events(r, VS_EV_QP_STATE), refusals = rig_count_events(r, VS_EV_VERB_REFUSED),
		 calls = rig_count_events(r, VS_EV_VERB_MODIFY_QP);
	static struct vs_qp before;
	struct vs_qp_attr shown[2];

	vs_qp_query(r->qp, &shown[0], NULL);
	memcpy(&before, r->qp, sizeof(before));
	ck_assert_int_eq(vs_qp_modify(r->qp, a, mask), err);
	ck_assert_msg(vs_dev_refusal(r->dev) == why, "refused for %s, expected %s",
		      vs_reason_info(vs_dev_refusal(r->dev))->id, vs_reason_info(why)->id);
	vs_qp_query(r->qp, &shown[1], NULL);
	same_attr(&shown[1], &shown[0]);
	ck_assert(same_bytes(&before, r->qp, sizeof(before)));
	ck_assert_uint_eq(rig_count_events(r, VS_EV_QP_STATE), states);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_VERB_REFUSED), refusals + 1);
	ck_assert_uint_eq(rig_count_events(r, VS_EV_VERB_MODIFY_QP), calls + 1);
}

static inline void refused(struct rig *r, const struct vs_qp_attr *a, uint32_t mask, enum vs_reason why)
{
	refused_with(r, a, mask, VS_ERR_INVAL, why);
	nothing_happens(r);
}

static inline void accepted(struct rig *r, const struct vs_qp_attr *a, uint32_t mask)
{
	int rc = vs_qp_modify(r->qp, a, mask);

	ck_assert_msg(rc == VS_OK, "refused: %s", vs_reason_info(vs_dev_refusal(r->dev))->id);
}

static inline struct vs_qp_attr shown(const struct rig *r)
{
	struct vs_qp_attr a;

	vs_qp_query(r->qp, &a, NULL);
	return a;
}

/* The newest event of a type, which there has to be. */
static inline const struct vs_event *last_of(const struct rig *r, enum vs_event_type type)
{
	uint32_t i = r->log_len;

	while (i > 0 && r->log[i - 1].type != type)
		i--;
	ck_assert_msg(i > 0, "no %s", vs_event_info(type)->name);
	return &r->log[i - 1];
}

/* A signaled SEND of `len` bytes; on UD through `ah` to the peer's QP. */
static inline struct vs_send_wr send_wr(struct rig *r, uint64_t wr_id, struct vs_sge *sge, uint32_t len,
					struct vs_ah *ah)
{
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, wr_id, sge, 0, len);

	wr.ud.ah = ah;
	wr.ud.remote_qpn = RIG_PEER_QPN;
	wr.ud.remote_qkey = rig_attr(r).qkey;
	return wr;
}

static inline struct vs_ah *peer_ah(struct rig *r)
{
	struct vs_qp_attr a = rig_attr(r);
	int err;
	struct vs_ah *ah = vs_ah_create(r->pd, &a.av, &err);

	ck_assert_ptr_nonnull(ah);
	return ah;
}

/* RTS -> SQE of a UC or UD queue pair: a send whose local key is wrong. Its completion is taken. */
static inline void to_sqe(struct rig *r, struct vs_ah *ah)
{
	struct vs_sge sge;
	struct vs_send_wr wr = send_wr(r, 666, &sge, 8, ah);

	sge.lkey ^= 0x100;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_expect_silence(r);
	rig_expect_wc(r, r->scq, 666, VS_WC_LOC_PROT_ERR);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_SQE);
}

/* A rig whose queue pair of this type stands in this state; *ah for UD. NULL: the type does not know the state. */
static inline struct rig *rig_in_state(enum vs_qp_type type, enum vs_qp_state state, struct vs_ah **ah)
{
	struct rig_opt o = {.type = type, .stay_in_reset = state == VS_QPS_RESET};
	struct rig *r;

	*ah = NULL;
	if (state == VS_QPS_SQE && type == VS_QPT_RC)
		return NULL;
	o.state = state == VS_QPS_SQE ? VS_QPS_RTS : state;
	r = rig_new(&o);
	*ah = type == VS_QPT_UD ? peer_ah(r) : NULL;
	if (state == VS_QPS_SQE)
		to_sqe(r, *ah);
	ck_assert_int_eq(vs_qp_state(r->qp), state);
	return r;
}

/* RTS -> SQD. */
static inline void to_sqd(struct rig *r, bool notify)
{
	struct vs_qp_attr a = attr_to(r, VS_QPS_SQD);

	a.en_sqd_async_notify = notify;
	accepted(r, &a, VS_QP_STATE | (notify ? VS_QP_EN_SQD_ASYNC_NOTIFY : 0));
}

#endif
