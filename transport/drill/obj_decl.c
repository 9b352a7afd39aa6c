/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * obj_decl.c - declarations of objects: queue pairs and their other ends, memory, queues, domains, address handles.
 */
#include "drill_int.h"
#include "vs/verbs.h"

/* clang-format off */
#define QP_KEYS \
	{"psn", K_PSN, KK_NUM, NULL, 0}, \
	{"peer_psn", K_PEER_PSN, KK_NUM, NULL, 0}, \
	{"mtu", K_MTU, KK_NUM, NULL, 0}, \
	{"timeout", K_TIMEOUT, KK_NUM, NULL, 0}, \
	{"retry_cnt", K_RETRY_CNT, KK_NUM, NULL, 0}, \
	{"rnr_retry", K_RNR_RETRY, KK_NUM, NULL, 0}, \
	{"min_rnr_timer", K_MIN_RNR_TIMER, KK_NUM, NULL, 0}, \
	{"max_rd_atomic", K_RD_ATOMIC, KK_NUM, NULL, 0}, \
	{"max_dest_rd_atomic", K_DEST_RD_ATOMIC, KK_NUM, NULL, 0}, \
	{"qkey", K_QKEY, KK_NUM, NULL, 0}, \
	{"pkey_index", K_PKEY_INDEX, KK_NUM, NULL, 0}, \
	{"port", K_PORT, KK_NUM, NULL, 0}, \
	{"dest_qpn", K_DEST_QPN, KK_NUM, NULL, 0}, \
	{"sl", K_SL, KK_NUM, NULL, 0}, \
	{"tclass", K_TCLASS, KK_NUM, NULL, 0}, \
	{"hop_limit", K_HOP_LIMIT, KK_NUM, NULL, 0}, \
	{"dgid", K_DGID, KK_GID, NULL, 0}, \
	{"flow_label", K_FLOW_LABEL, KK_NUM, NULL, 0}, \
	{"gid_index", K_GID_INDEX, KK_NUM, NULL, 0}, \
	{"access", K_ACCESS, KK_SET, dr_access_words, 0}, \
	{"encap", K_ENCAP, KK_ENCAP, NULL, 0}, \
	{"state", K_STATE, KK_WORD, dr_state_words, 0}
/* clang-format on */

static const struct key qp_keys[] = {
	QP_KEYS,
	{"srq", K_SRQ, KK_OBJ, NULL, O_SRQ},
	{"cq", K_CQ, KK_OBJ, NULL, O_CQ},
	{"send_cq", K_SEND_CQ, KK_OBJ, NULL, O_CQ},
	{"recv_cq", K_RECV_CQ, KK_OBJ, NULL, O_CQ},
	{"sig_all", K_SIG_ALL, KK_FLAG, NULL, 0},
	{"max_send_wr", K_MAX_SEND_WR, KK_NUM, NULL, 0},
	{"max_recv_wr", K_MAX_RECV_WR, KK_NUM, NULL, 0},
	{"max_sge", K_MAX_SGE, KK_NUM, NULL, 0},
	{"max_inline", K_MAX_INLINE, KK_NUM, NULL, 0},
	{"from", K_FROM, KK_OBJ, NULL, O_PACKET},
	{"pd", K_PD, KK_OBJ, NULL, O_PD},
	{"refused", K_REFUSED, KK_FLAG, NULL, 0},
	{NULL, 0, KK_NUM, NULL, 0},
};
const struct key dr_modify_keys[] = {
	QP_KEYS,
	{"cur_state", K_CUR_STATE, KK_WORD, dr_state_words, 0},
	{"en_sqd_async_notify", K_SQD_NOTIFY, KK_FLAG, NULL, 0},
	{"without", K_WITHOUT, KK_SET, dr_attr_words, 0},
	{"also", K_ALSO, KK_SET, dr_attr_words, 0},
	{"refused", K_REFUSED, KK_FLAG, NULL, 0},
	{NULL, 0, KK_NUM, NULL, 0},
};
const struct key dr_query_keys[] = {
	QP_KEYS,
	{"sq_draining", K_SQ_DRAINING, KK_NUM, NULL, 0},
	{"max_send_wr", K_MAX_SEND_WR, KK_NUM, NULL, 0},
	{"max_recv_wr", K_MAX_RECV_WR, KK_NUM, NULL, 0},
	{"max_sge", K_MAX_SGE, KK_NUM, NULL, 0},
	{"max_inline", K_MAX_INLINE, KK_NUM, NULL, 0},
	{NULL, 0, KK_NUM, NULL, 0},
};
#define REFUSED                                        \
	{                                              \
		"refused", K_REFUSED, KK_FLAG, NULL, 0 \
	}
#define END                              \
	{                                \
		NULL, 0, KK_NUM, NULL, 0 \
	}
static const struct key mr_keys[] = {
	{"len", K_LEN, KK_NUM, NULL, 0},
	{"fill", K_FILL, KK_NUM, NULL, 0},
	{"access", K_ACCESS, KK_SET, dr_access_words, 0},
	{"pd", K_PD, KK_OBJ, NULL, O_PD},
	REFUSED,
	END,
};
static const struct key mw_keys[] = {{"type", K_TYPE, KK_NUM, NULL, 0}, {"pd", K_PD, KK_OBJ, NULL, O_PD}, REFUSED, END};
static const struct key cq_keys[] = {{"cqe", K_CQE, KK_NUM, NULL, 0},
				     {"lazy", K_LAZY, KK_FLAG, NULL, 0},
				     {"channel", K_CHANNEL, KK_OBJ, NULL, O_CHANNEL},
				     REFUSED,
				     END};
static const struct key srq_keys[] = {{"max_wr", K_MAX_WR, KK_NUM, NULL, 0},
				      {"max_sge", K_MAX_SGE, KK_NUM, NULL, 0},
				      {"limit", K_LIMIT, KK_NUM, NULL, 0},
				      {"pd", K_PD, KK_OBJ, NULL, O_PD},
				      REFUSED,
				      END};
static const struct key ah_keys[] = {{"to", K_TO, KK_REMOTE, NULL, 0},
				     {"mgid", K_MGID, KK_GID, NULL, 0},
				     {"pd", K_PD, KK_OBJ, NULL, O_PD},
				     PATH_KEYS,
				     REFUSED,
				     END};
static const struct key plain_keys[] = {REFUSED, END};
/* NODE . NAME -> a new object */
static struct obj *new_object(struct parser *ps, enum obj_kind kind)
{
	struct word words[MAX_NODES + 1] = {{NULL, 0}};
	int node = dr_node(ps, ps->t);
	struct obj *o;

	for (unsigned i = 0; i < ps->p->n_nodes; i++)
		words[i].name = ps->p->node[i].name;
	if (node < 0) {
		dr_expected(ps, "a node and a name, as dut.buf", words);
		return NULL;
	}
	ps->t++;
	if (!dr_expect_punct(ps, ".", ". and a name"))
		return NULL;
	ps->node = node;
	o = dr_lookup(ps, node, ps->t);
	if (o == NULL || o->kind != kind || !o->destroyed)
		o = dr_object(ps, node, kind, ps->t);
	if (o != NULL)
		ps->t++;
	return o;
}

static struct stmt *object_stmt(struct parser *ps, enum stmt_kind kind, struct obj *o)
{
	struct stmt *st = dr_stmt(ps, kind);

	if (st == NULL)
		return NULL;
	st->obj = o;
	st->node = o->node;
	return st;
}

/* <-> NODE[.NAME]: the other end; made when it is not there. */
static bool other_end(struct parser *ps, struct obj *o)
{
	struct token name = {
		.kind = T_WORD, .text = o->name, .len = (unsigned)strlen(o->name), .column = ps->t->column};
	int node = dr_node(ps, ps->t);
	struct obj *other;

	if (node < 0 || (node == o->node && !dr_same(&ps->t[1], "."))) {
		struct word words[MAX_NODES + 1] = {{NULL, 0}};

		for (unsigned i = 0; i < ps->p->n_nodes; i++)
			words[i].name = (int)i != o->node ? ps->p->node[i].name : "";
		dr_expected(ps, "the node at the other end", words);
		return false;
	}
	ps->t++;
	if (dr_punct(ps, ".")) {
		name = *ps->t;
		if (name.kind != T_WORD) {
			dr_expected(ps, "a name", NULL);
			return false;
		}
		ps->t++;
	}
	other = dr_lookup(ps, node, &name);
	if (other == NULL)
		other = dr_object(ps, node, O_QP, &name);
	if (other == NULL)
		return false;
	if (other == o) {
		PF(ps, name.column, "%s can't be its own other end", o->name);
		return false;
	}
	if (o->destroyed && o->peer != NULL && o->peer != other) {
		PF(ps, name.column, "%s was connected to %s before: a new one with another end needs another name",
		   o->name, o->peer->name);
		return false;
	}
	if (other->kind != O_QP || (other->peer != NULL && !(o->destroyed && other->peer == o))) {
		PF(ps, name.column, "%s is %s", other->name,
		   other->kind == O_QP ? "connected already" : "no queue pair");
		return false;
	}
	o->peer = other;
	other->peer = o;
	other->type = o->type;
	o->connected = other->connected = true;
	return true;
}

/* qp NODE.NAME [<-> NODE[.NAME]] rc|uc KEYS */
static void qp_decl(struct parser *ps)
{
	int value, node = dr_node(ps, ps->t), type = VS_QPT_RC;
	struct obj *o = NULL;
	struct stmt *st;

	/* A QP that cm listen or cm connect has made gets its other end. */
	if (node >= 0 && dr_same(&ps->t[1], "."))
		o = dr_lookup(ps, node, &ps->t[2]);
	if (o != NULL && o->kind == O_QP && (o->peer == NULL || o->destroyed))
		ps->t += 3;
	else
		o = new_object(ps, O_QP);
	if (o == NULL)
		return;
	if (!ps->p->node[o->node].engine) {
		PF(ps, ps->t[-1].column, "the peer's queue pairs stand behind <->");
		return;
	}
	ps->node = o->node;
	o->type = type;
	if (dr_punct(ps, "<->") && !other_end(ps, o))
		return;
	if (dr_find(dr_qp_type_words, ps->t, &value)) {
		o->type = value;
		if (o->peer != NULL)
			o->peer->type = value;
		ps->t++;
	}
	o->destroyed = false;
	st = object_stmt(ps, S_QP, o);
	if (st != NULL && dr_options(ps, st, qp_keys))
		o->destroyed = dr_opt(st, K_REFUSED) != NULL;
}

static void simple_decl(struct parser *ps, enum obj_kind kind, enum stmt_kind sk, const struct key *keys)
{
	struct obj *o = new_object(ps, kind);
	struct stmt *st = o == NULL ? NULL : object_stmt(ps, sk, o);

	if (st == NULL)
		return;
	o->destroyed = false;
	if (kind == O_QP)
		o->type = VS_QPT_UD;
	if (kind != O_QP && kind != O_MR && !ps->p->node[o->node].engine) {
		PF(ps, st->column, "the peer has memory regions and queue pairs alone");
		return;
	}
	if (!dr_options(ps, st, keys))
		return;
	o->destroyed = dr_opt(st, K_REFUSED) != NULL; /* it is not made */
	if (kind == O_MR && dr_opt(st, K_LEN) == NULL)
		dr_expected(ps, "len=", NULL);
	if (kind == O_CQ && dr_opt(st, K_CQE) == NULL)
		dr_expected(ps, "cqe=", NULL);
	if (kind == O_AH && dr_opt(st, K_TO) == NULL && dr_opt(st, K_MGID) == NULL)
		dr_expected(ps, "to= or mgid=", NULL);
}

void dr_object_decl(struct parser *ps, enum dr_decl what)
{
	switch (what) {
	case D_QP:
		qp_decl(ps);
		break;
	case D_UD:
		simple_decl(ps, O_QP, S_UD, qp_keys);
		break;
	case D_MR:
		simple_decl(ps, O_MR, S_MR, mr_keys);
		break;
	case D_MW:
		simple_decl(ps, O_MW, S_MW, mw_keys);
		break;
	case D_CQ:
		simple_decl(ps, O_CQ, S_CQ, cq_keys);
		break;
	case D_PD:
		simple_decl(ps, O_PD, S_PD, plain_keys);
		break;
	case D_CHANNEL:
		simple_decl(ps, O_CHANNEL, S_CHANNEL, plain_keys);
		break;
	case D_AH:
		simple_decl(ps, O_AH, S_AH, ah_keys);
		break;
	default:
		simple_decl(ps, O_SRQ, S_SRQ, srq_keys);
		break;
	}
}
