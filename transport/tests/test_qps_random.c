/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_qps_random.c - random walks of modify over all QP types, judged by a model of its own.
 *
 * The model is the table of transitions as it is published (ibv_modify_qp(3), the table in Linux's core/verbs.c), kept
 * as text and parsed here; the engine has its own, in C. Every modify has to be accepted when and only when the model
 * says so; an accepted one changes what its mask names and the state, a refused one nothing at all (QPS-002..022, -036,
 * -037, -038, -048, -049). Between the modifies there is traffic, so that the walk meets busy queue pairs, and failed
 * sends, the only way into SQE.
 */
#include "qps.h"

#define WALKS 13      /* per type */
#define MODIFIES 2000 /* per walk */

/* ---- the model ---- */

static const struct {
	const char *name;
	uint32_t bit;
} names[] = {
	{"STATE", 1u << 0},
	{"CUR_STATE", 1u << 1},
	{"EN_SQD_ASYNC_NOTIFY", 1u << 2},
	{"ACCESS_FLAGS", 1u << 3},
	{"PKEY_INDEX", 1u << 4},
	{"PORT", 1u << 5},
	{"QKEY", 1u << 6},
	{"AV", 1u << 7},
	{"PATH_MTU", 1u << 8},
	{"TIMEOUT", 1u << 9},
	{"RETRY_CNT", 1u << 10},
	{"RNR_RETRY", 1u << 11},
	{"RQ_PSN", 1u << 12},
	{"MAX_QP_RD_ATOMIC", 1u << 13},
	{"ALT_PATH", 1u << 14},
	{"MIN_RNR_TIMER", 1u << 15},
	{"SQ_PSN", 1u << 16},
	{"MAX_DEST_RD_ATOMIC", 1u << 17},
	{"PATH_MIG_STATE", 1u << 18},
	{"DEST_QPN", 1u << 20},
};

/* One line: types, from, to, what is required, what is optional. Whatever is not in a line does not exist. */
static const struct {
	const char *types, *from, *to, *required, *optional;
} rows[] = {
	{"RC UC", "RESET", "INIT", "PKEY_INDEX PORT ACCESS_FLAGS", ""},
	{"UD", "RESET", "INIT", "PKEY_INDEX PORT QKEY", ""},
	{"GSI", "RESET", "INIT", "PKEY_INDEX QKEY", ""},
	{"RC UC", "INIT", "INIT", "", "PKEY_INDEX PORT ACCESS_FLAGS"},
	{"UD", "INIT", "INIT", "", "PKEY_INDEX PORT QKEY"},
	{"GSI", "INIT", "INIT", "", "PKEY_INDEX QKEY"},
	{"RC", "INIT", "RTR", "AV PATH_MTU DEST_QPN RQ_PSN MAX_DEST_RD_ATOMIC MIN_RNR_TIMER",
	 "ALT_PATH ACCESS_FLAGS PKEY_INDEX"},
	{"UC", "INIT", "RTR", "AV PATH_MTU DEST_QPN RQ_PSN", "ALT_PATH ACCESS_FLAGS PKEY_INDEX"},
	{"UD GSI", "INIT", "RTR", "", "PKEY_INDEX QKEY"},
	{"RC", "RTR", "RTS", "TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN MAX_QP_RD_ATOMIC",
	 "CUR_STATE ALT_PATH ACCESS_FLAGS MIN_RNR_TIMER PATH_MIG_STATE"},
	{"UC", "RTR", "RTS", "SQ_PSN", "CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE"},
	{"UD GSI", "RTR", "RTS", "SQ_PSN", "CUR_STATE QKEY"},
	{"RC", "RTS", "RTS", "", "CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE MIN_RNR_TIMER"},
	{"UC", "RTS", "RTS", "", "CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE"},
	{"UD GSI", "RTS", "RTS", "", "CUR_STATE QKEY"},
	{"RC UC UD GSI", "RTS", "SQD", "", "EN_SQD_ASYNC_NOTIFY"},
	{"RC", "SQD", "SQD", "",
	 "PORT AV TIMEOUT RETRY_CNT RNR_RETRY MAX_QP_RD_ATOMIC MAX_DEST_RD_ATOMIC ALT_PATH ACCESS_FLAGS PKEY_INDEX "
	 "MIN_RNR_TIMER PATH_MIG_STATE"},
	{"UC", "SQD", "SQD", "", "AV ALT_PATH ACCESS_FLAGS PKEY_INDEX PATH_MIG_STATE"},
	{"UD GSI", "SQD", "SQD", "", "PKEY_INDEX QKEY"},
	{"RC", "SQD", "RTS", "", "CUR_STATE ALT_PATH ACCESS_FLAGS MIN_RNR_TIMER PATH_MIG_STATE"},
	{"UC", "SQD", "RTS", "", "CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE"},
	{"UD GSI", "SQD", "RTS", "", "CUR_STATE QKEY"},
	{"UC", "SQE", "RTS", "", "CUR_STATE ACCESS_FLAGS"},
	{"UD GSI", "SQE", "RTS", "", "CUR_STATE QKEY"},
	{"RC UC UD GSI", "RESET INIT RTR RTS SQD SQE ERR", "RESET", "", ""},
	{"RC UC UD GSI", "INIT RTR RTS SQD SQE ERR", "ERR", "", ""},
};

/* Is `word` one of the words of `list`? */
static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	const char *at;

	for (at = list; (at = strstr(at, word)) != NULL; at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
			return true;
	return false;
}

static uint32_t bits(const char *list)
{
	uint32_t set = 0;
	unsigned i;

	for (i = 0; i < COUNT(names); i++)
		if (has_word(list, names[i].name))
			set |= names[i].bit;
	return set;
}

static const char *const type_names[] = {
	[VS_QPT_RC] = "RC", [VS_QPT_UC] = "UC", [VS_QPT_UD] = "UD", [VS_QPT_GSI] = "GSI"};
static const char *const state_names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

struct row {
	bool exists;
	uint32_t required, optional;
};
static struct row model[5][7][7]; /* by type, from, to */

static void parse_model(void)
{
	unsigned i, t, from, to;

	memset(model, 0, sizeof(model)); /* a second test in one process */
	for (t = VS_QPT_GSI; t <= VS_QPT_UD; t++)
		for (from = 0; from < 7; from++)
			for (to = 0; to < 7; to++)
				for (i = 0; i < COUNT(rows); i++) {
					if (!has_word(rows[i].types, type_names[t]) ||
					    !has_word(rows[i].from, state_names[from]) ||
					    !has_word(rows[i].to, state_names[to]))
						continue;
					ck_assert(!model[t][from][to].exists);
					model[t][from][to] =
						(struct row){true, bits(rows[i].required), bits(rows[i].optional)};
				}
}

/* What the values say; the rig's device: port 1, P_Keys 0 and 1, GID 0, active MTU 2048, depth 16. */
static bool value_ok(enum vs_qp_type type, const struct vs_qp_attr *a, uint32_t mask)
{
#define IN(word) (mask & bits(word))
	static const uint8_t nobody[16];

	if ((IN("PORT") && a->port_num != 1) || (IN("PKEY_INDEX") && a->pkey_index > 1) ||
	    (IN("QKEY") && a->qkey >= 0x80000000u && type != VS_QPT_GSI) ||
	    (IN("PATH_MTU") && (a->path_mtu < 1 || a->path_mtu > 4)) || (IN("TIMEOUT") && a->timeout > 31) ||
	    (IN("MIN_RNR_TIMER") && a->min_rnr_timer > 31) || (IN("RETRY_CNT") && a->retry_cnt > 7) ||
	    (IN("RNR_RETRY") && a->rnr_retry > 7) || (IN("MAX_QP_RD_ATOMIC") && a->max_rd_atomic > 16) ||
	    (IN("MAX_DEST_RD_ATOMIC") && a->max_dest_rd_atomic > 16) || (IN("DEST_QPN") && a->dest_qpn > 0xffffff) ||
	    (IN("ACCESS_FLAGS") && (a->access_flags & ~0x31fu) != 0) || IN("ALT_PATH"))
		return false;
	return !IN("AV") || (a->av.port == 1 && a->av.sl < 8 && a->av.flow_label < 1u << 20 && a->av.is_global &&
			     (!a->av.has_vlan || a->av.vlan_id < 4096) && a->av.sgid_index == 0 &&
			     memcmp(a->av.dgid, nobody, 16) != 0);
}

static bool allowed(enum vs_qp_type type, enum vs_qp_state from, const struct vs_qp_attr *a, uint32_t mask)
{
	enum vs_qp_state to = IN("STATE") ? a->state : from;
	const struct row *row;

	if ((unsigned)to > 6)
		return false;
	row = &model[type][from][to];
	if (!row->exists || (mask & row->required) != row->required ||
	    (mask & ~(row->required | row->optional | bits("STATE"))) != 0)
		return false;
	if (IN("CUR_STATE") && a->cur_state != from)
		return false;
	return value_ok(type, a, mask);
}

/* What query has to show after an accepted modify. */
static void change(struct vs_qp_attr *now, const struct vs_qp_attr *a, uint32_t mask)
{
	enum vs_qp_state from = now->state, to = IN("STATE") ? a->state : from;

	if (to == VS_QPS_RESET) {
		memset(now, 0, sizeof(*now));
		return;
	}
	if (from == VS_QPS_RTS && to == VS_QPS_SQD)
		now->en_sqd_async_notify = 0;
	now->state = now->cur_state = to;
#define TAKE(word, field) \
	if (IN(word))     \
	now->field = a->field
	TAKE("EN_SQD_ASYNC_NOTIFY", en_sqd_async_notify);
	TAKE("ACCESS_FLAGS", access_flags);
	TAKE("PKEY_INDEX", pkey_index);
	TAKE("PORT", port_num);
	TAKE("QKEY", qkey);
	TAKE("PATH_MTU", path_mtu);
	TAKE("TIMEOUT", timeout);
	TAKE("RETRY_CNT", retry_cnt);
	TAKE("RNR_RETRY", rnr_retry);
	TAKE("RQ_PSN", rq_psn);
	TAKE("MAX_QP_RD_ATOMIC", max_rd_atomic);
	TAKE("MIN_RNR_TIMER", min_rnr_timer);
	TAKE("SQ_PSN", sq_psn);
	TAKE("MAX_DEST_RD_ATOMIC", max_dest_rd_atomic);
	TAKE("DEST_QPN", dest_qpn);
	TAKE("AV", av);
#undef TAKE
	now->rq_psn %= 0x1000000;
	now->sq_psn %= 0x1000000;
}

/* ---- the walk ---- */

static uint32_t below(uint64_t *seed, uint32_t n)
{
	return (uint32_t)(vs_rand(seed) >> 32) % n;
}

/* Mostly good values, each of them bad now and then. */
static struct vs_qp_attr random_attr(const struct rig *r, uint64_t *s)
{
	struct vs_qp_attr a = rig_attr(r);
#define NOW_AND_THEN(field, good, bad) a.field = below(s, 60) == 0 ? (bad) : (good)
	a.cur_state = (enum vs_qp_state)below(s, 8);
	NOW_AND_THEN(port_num, 1, (uint8_t)(2 * below(s, 2)));
	NOW_AND_THEN(pkey_index, (uint16_t)below(s, 2), (uint16_t)(2 + below(s, 65534)));
	NOW_AND_THEN(qkey, below(s, 0x80000000u), 0x80000000u | below(s, 100));
	NOW_AND_THEN(path_mtu, (enum vs_mtu)(1 + below(s, 4)), (enum vs_mtu)(below(s, 2) * 5));
	NOW_AND_THEN(timeout, (uint8_t)below(s, 32), (uint8_t)(32 + below(s, 224)));
	NOW_AND_THEN(min_rnr_timer, (uint8_t)below(s, 32), (uint8_t)(32 + below(s, 224)));
	NOW_AND_THEN(retry_cnt, (uint8_t)below(s, 8), (uint8_t)(8 + below(s, 248)));
	NOW_AND_THEN(rnr_retry, (uint8_t)below(s, 8), (uint8_t)(8 + below(s, 248)));
	NOW_AND_THEN(max_rd_atomic, (uint8_t)below(s, 17), (uint8_t)(17 + below(s, 239)));
	NOW_AND_THEN(max_dest_rd_atomic, (uint8_t)below(s, 17), (uint8_t)(17 + below(s, 239)));
	NOW_AND_THEN(dest_qpn, below(s, 0x1000000), 0x1000000u << below(s, 8));
	NOW_AND_THEN(access_flags, below(s, 0x400) & 0x31f, 1u << (10 + below(s, 22)));
	NOW_AND_THEN(av.port, 1, (uint8_t)(2 * below(s, 128)));
	NOW_AND_THEN(av.sl, (uint8_t)below(s, 8), (uint8_t)(8 + below(s, 248)));
	NOW_AND_THEN(av.flow_label, below(s, 0x100000), 0x100000u << below(s, 12));
	NOW_AND_THEN(av.sgid_index, 0, (uint8_t)(1 + below(s, 255)));
	NOW_AND_THEN(av.is_global, true, false);
	NOW_AND_THEN(av.has_vlan, false, true);
	NOW_AND_THEN(av.vlan_id, (uint16_t)below(s, 4096), (uint16_t)(4096 + below(s, 61440)));
#undef NOW_AND_THEN
	a.en_sqd_async_notify = (uint8_t)below(s, 2);
	a.rq_psn = (uint32_t)vs_rand(s); /* 32 bits: masked */
	a.sq_psn = (uint32_t)vs_rand(s);
	a.av.traffic_class = (uint8_t)below(s, 256);
	a.av.hop_limit = (uint8_t)below(s, 256);
	if (below(s, 60) == 0)
		memset(a.av.dgid, 0, 16);
	memcpy(a.av.dmac, (const uint8_t[6]){2, 0, 0, 0, 0, 2}, 6);
	return a;
}

/* Half of the masks begin as what the transition needs; then bits are added and taken away. */
static uint32_t random_mask(enum vs_qp_type type, enum vs_qp_state from, enum vs_qp_state to, uint64_t *s)
{
	const struct row *row = (unsigned)to < 7 ? &model[type][from][to] : &model[type][from][0];
	uint32_t mask = row->required | (row->optional & (uint32_t)vs_rand(s) & ~bits("ALT_PATH"));

	if (below(s, 10) == 0)
		mask |= 1u << below(s, 32);
	if (below(s, 10) == 0)
		mask &= ~(1u << below(s, 32));
	if (below(s, 20) == 0)
		mask = (uint32_t)vs_rand(s);
	if (from != to || below(s, 2) == 0)
		mask |= bits("STATE");
	return mask;
}

/* A step forward more often than not, so that the walk gets everywhere; also states that do not exist. */
static enum vs_qp_state random_goal(enum vs_qp_state from, uint64_t *s)
{
	static const enum vs_qp_state forward[] = {VS_QPS_INIT, VS_QPS_RTR, VS_QPS_RTS,  VS_QPS_SQD,
						   VS_QPS_RTS,  VS_QPS_RTS, VS_QPS_RESET};

	switch (below(s, 8)) {
	case 0:
		return (enum vs_qp_state)below(s, 9);
	case 1:
	case 2:
		return from;
	default:
		return forward[from];
	}
}

/* Work between the modifies: posts good and bad, packets of the peer, time. */
static void stir(struct rig *r, struct vs_ah *ah, uint64_t *s)
{
	struct vs_sge sge;
	struct vs_send_wr wr = send_wr(r, 1, &sge, below(s, 2048), ah);
	struct vs_wc wc[16];
	struct vs_async ev;
	struct vs_pkt p;

	wr.flags = below(s, 2) ? VS_SEND_SIGNALED : 0;
	switch (below(s, 8)) {
	case 0:
		sge.lkey ^= 0x100;
		/* fall through */
	case 1:
	case 2:
		(void)vs_qp_post_send(r->qp, &wr);
		break;
	case 3:
		(void)rig_post_recv(r, 2, 0, 2048);
		break;
	case 4:
		if (r->opt.type == VS_QPT_RC)
			rig_in_ack(r, r->qp->req.una_psn, below(s, 40) == 0 ? 0x61 : 0x1f, 1);
		break;
	case 5:
		rig_in_send(r, r->opt.type == VS_QPT_UC ? VS_OP_UC_SEND_ONLY : VS_OP_RC_SEND_ONLY, r->qp->resp.epsn, 8);
		break;
	case 6:
		rig_advance(r, below(s, 1u << 30));
		break;
	default:
		break;
	}
	while (below(s, 4) != 0 && rig_out(r, &p))
		;
	while (vs_cq_poll(r->scq, wc, 16) > 0 || vs_cq_poll(r->rcq, wc, 16) > 0 || vs_dev_poll_async(r->dev, &ev) > 0)
		;
}

static void one_modify(struct rig *r, enum vs_qp_type type, uint64_t *s, unsigned count[2][7])
{
	static struct vs_qp before;
	struct vs_qp_attr a = random_attr(r, s), want = shown(r), got;
	enum vs_qp_state from = want.state;
	const char *differs;
	uint32_t mask;
	bool good;
	int rc;

	a.state = random_goal(from, s);
	mask = random_mask(type, from, a.state, s);
	if ((mask & bits("CUR_STATE")) && below(s, 8) != 0)
		a.cur_state = from;
	good = allowed(type, from, &a, mask);
	memcpy(&before, r->qp, sizeof(before));
	rc = vs_qp_modify(r->qp, &a, mask);
	got = shown(r);
	if (good) {
		change(&want, &a, mask);
		want.sq_draining = got.state == VS_QPS_SQD ? got.sq_draining : 0; /* what is under way decides */
	}
	differs = attr_differs(&got, &want);
	/* One assertion: each costs a system call. */
	if ((rc == VS_OK) != good || differs != NULL || (!good && !same_bytes(&before, r->qp, sizeof(before))) ||
	    (rc == VS_ERR_PERM && a.qkey < 0x80000000u))
		ck_abort_msg("%s from %s to %d, mask %x: %s (%s), the model says %s; %s", type_names[type],
			     state_names[from], (int)a.state, mask, rc == VS_OK ? "accepted" : "refused",
			     vs_reason_info(vs_dev_refusal(r->dev))->id, good ? "yes" : "no",
			     differs != NULL ? differs : "the attributes are right");
	count[good][from]++;
}

static void walk(enum vs_qp_type type, uint64_t seed, unsigned count[2][7])
{
	struct rig_opt o = {.type = type,
			    .stay_in_reset = true,
			    .dev = {.pkeys = {0xffff, 0x8001},
				    .active_mtu = VS_MTU_2048,
				    .max_rd_atomic = 16,
				    .cm_disabled = true,
				    .seed = seed}};
	struct rig *r = rig_new(&o);
	struct vs_ah *ah = type == VS_QPT_UD || type == VS_QPT_GSI ? peer_ah(r) : NULL;
	unsigned i;

	for (i = 0; i < MODIFIES; i++) {
		one_modify(r, type, &seed, count);
		while (below(&seed, 3) != 0)
			stir(r, ah, &seed);
	}
	rig_free(r);
}

START_TEST(random_modifies_against_the_published_table)
{
	static const enum vs_qp_type types[] = {VS_QPT_RC, VS_QPT_UC, VS_QPT_UD, VS_QPT_GSI};
	unsigned count[2][7] = {{0}}, i, state;

	parse_model();
	for (i = 0; i < WALKS; i++)
		walk(types[_i], 1000u * (unsigned)_i + i + 1, count);
	for (state = 0; state < 7; state++) { /* the walks went everywhere, and met both answers */
		if (state == VS_QPS_SQE && types[_i] == VS_QPT_RC)
			continue;
		ck_assert_msg(count[0][state] > 50 && count[1][state] > 50, "%s: %u refused, %u accepted",
			      state_names[state], count[0][state], count[1][state]);
	}
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("qps_random");
	TCase *tc = tcase_create("walks");

	tcase_add_loop_test(tc, random_modifies_against_the_published_table, 0, 4);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return s;
}
