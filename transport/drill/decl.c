/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * decl.c - declarations: the header of a script, its nodes, the wire. Several of them may stand on one line.
 */
#include <stdio.h>

#include "drill_int.h"

const struct word dr_decl_words[] = {
	{"case", D_CASE},     {"clause", D_CLAUSE}, {"class", D_CLASS},   {"needs", D_NEEDS},
	{"matrix", D_MATRIX}, {"target", D_TARGET}, {"encap", D_ENCAP},   {"vlan", D_VLAN},
	{"node", D_NODE},     {"link", D_LINK},     {"device", D_DEVICE}, {"qp", D_QP},
	{"ud", D_UD},         {"mr", D_MR},         {"mw", D_MW},         {"cq", D_CQ},
	{"srq", D_SRQ},       {"fault", D_FAULT},   {"wait", D_WAIT},     {"waive", D_WAIVE},
	{"mark", D_MARK},     {"pd", D_PD},         {"ah", D_AH},         {"channel", D_CHANNEL},
	{"gid", D_GID},       {"pkeys", D_PKEYS},   {"port", D_PORT},     {"repeat", D_REPEAT},
	{"set", D_SET},       {"when", D_WHEN},     {"skip", D_SKIP},     {NULL, 0},
};

static const struct key link_keys[] = {{"latency", K_LATENCY, KK_TIME, NULL, 0}, {"rate", K_RATE, KK_NUM, NULL, 0},
				       {"queue", K_QUEUE, KK_NUM, NULL, 0},      {"ecn", K_ECN, KK_NUM, NULL, 0},
				       {"pause", K_PAUSE, KK_NUM, NULL, 0},      {NULL, 0, KK_NUM, NULL, 0}};
static const struct key device_keys[] = {
	{"ack_every", K_ACK_EVERY, KK_NUM, NULL, 0},
	{"window", K_WINDOW, KK_NUM, NULL, 0},
	{"max_rd_atomic", K_RD_ATOMIC, KK_NUM, NULL, 0},
	{"e2e_credits", K_E2E, KK_FLAG, NULL, 0},
	{"cc", K_CC, KK_FLAG, NULL, 0},
	{"mtu", K_MTU, KK_NUM, NULL, 0},
	{"msn", K_MSN, KK_NUM, NULL, 0},
	{"privileged_qkey", K_PRIVILEGED, KK_FLAG, NULL, 0},
	{NULL, 0, KK_NUM, NULL, 0},
};

/* Without a node line: an engine, and the peer that the script plays. */
static void default_nodes(struct parser *ps)
{
	if (ps->p->n_nodes > 0)
		return;
	ps->p->node[0] = (struct node){"dut", true};
	ps->p->node[1] = (struct node){"peer", false};
	ps->p->n_nodes = 2;
}

static bool string_into(struct parser *ps, char *buf, size_t cap, const char *what)
{
	if (ps->t->kind != T_STRING) {
		dr_expected(ps, what, NULL);
		return false;
	}
	if (ps->t->len == 0 || ps->t->len >= cap) {
		PF(ps, ps->t->column, "%s has 1 to %zu bytes", what, cap - 1);
		return false;
	}
	memcpy(buf, ps->t->text, ps->t->len);
	buf[ps->t->len] = '\0';
	ps->t++;
	return true;
}

static void case_decl(struct parser *ps)
{
	struct vs_drill *d = ps->d;

	if (ps->has_case) {
		PF(ps, ps->t[-1].column, "there is a case line already: one file is one claim");
		return;
	}
	ps->has_case = true;
	if (dr_run_of(ps, d->id, sizeof(d->id), "an id"))
		(void)string_into(ps, d->title, sizeof(d->title), "what the case claims, between quotes");
}

static void class_decl(struct parser *ps)
{
	int value;

	if (!dr_find(dr_class_words, ps->t, &value)) {
		dr_expected(ps, "a class: N, S, A, I or R", NULL);
		return;
	}
	ps->d->class = (char)value;
	ps->t++;
}

static void needs_decl(struct parser *ps)
{
	int value;

	do {
		if (!dr_find(dr_need_words, ps->t, &value)) {
			dr_expected(ps, "what the case needs", dr_need_words);
			return;
		}
		ps->d->needs |= 1u << value;
		ps->t++;
	} while (dr_punct(ps, ","));
}

/* target sim ["why nowhere else"] */
static void target_decl(struct parser *ps)
{
	if (dr_word(ps, "sim")) {
		(void)snprintf(ps->d->sim_only, sizeof(ps->d->sim_only), "the script is for the simulator alone");
		if (ps->t->kind == T_STRING)
			(void)string_into(ps, ps->d->sim_only, sizeof(ps->d->sim_only), "the reason");
		return;
	}
	if (dr_same(ps->t, "program"))
		PF(ps, ps->t->column, "target program is not there yet: scripts run on target sim");
	else
		dr_expected(ps, "a target: sim", NULL);
}

static void encap_decl(struct parser *ps)
{
	(void)dr_encap(ps, &ps->p->encap);
}

static void vlan_decl(struct parser *ps)
{
	if (ps->t->kind != T_NUMBER || ps->t->unit || ps->t->number > 4094) {
		dr_expected(ps, "a VLAN number, 0 to 4094", NULL);
		return;
	}
	ps->p->vlan = (int)ps->t->number;
	ps->t++;
}

static void node_decl(struct parser *ps)
{
	struct program *p = ps->p;
	int ignored;

	if (p->n_nodes > 0) {
		PF(ps, ps->t[-1].column, "the nodes are named once, before everything that uses them");
		return;
	}
	do {
		struct node *n = &p->node[p->n_nodes];

		if (ps->t->kind != T_WORD || ps->t->len >= 16 || dr_find(dr_decl_words, ps->t, &ignored)) {
			dr_expected(ps, "a name for a node", NULL);
			return;
		}
		if (dr_node(ps, ps->t) >= 0) {
			PF(ps, ps->t->column, "there is a node %.*s already", (int)ps->t->len, ps->t->text);
			return;
		}
		if (p->n_nodes == MAX_NODES) {
			PF(ps, ps->t->column, "more than %u nodes", MAX_NODES);
			return;
		}
		memcpy(n->name, ps->t->text, ps->t->len);
		n->engine = !dr_same(ps->t, "peer");
		p->n_nodes++;
		ps->t++;
	} while (ps->t->kind != T_END);
	if (p->n_nodes < 2)
		PF(ps, ps->t->column, "at least two nodes are needed");
}

/* wait TIME | wait idle [within TIME] */
static void wait_decl(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_WAIT);

	if (st == NULL)
		return;
	if (dr_word(ps, "idle")) {
		st->kind = S_WAIT_IDLE;
		(void)dr_timing(ps, st);
		return;
	}
	st->quiet = dr_time(ps);
}

static void waive_decl(struct parser *ps)
{
	char why[128];
	int value;

	if (!dr_find(dr_waive_words, ps->t, &value)) {
		dr_expected(ps, "the name of an invariant", dr_waive_words);
		return;
	}
	ps->t++;
	if (string_into(ps, why, sizeof(why), "the reason, between quotes"))
		ps->p->waived |= 1u << value;
	ps->d->waived |= ps->p->waived;
}

/* skip "why": this vector can't be tried anywhere */
static void skip_decl(struct parser *ps)
{
	char *why = dr_new(ps, VS_DRILL_TEXT);

	if (why != NULL && string_into(ps, why, VS_DRILL_TEXT, "the reason, between quotes"))
		ps->p->skip = why;
}

static void mark_decl(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_MARK);
	char *buf = dr_new(ps, 128);

	if (st == NULL || buf == NULL || !string_into(ps, buf, 128, "a text between quotes"))
		return;
	st->text = buf;
	st->text_len = (unsigned)strlen(buf);
}

static void device_decl(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_DEVICE);

	if (st == NULL)
		return;
	st->node = dr_engine(ps);
	if (st->node < 0)
		return;
	(void)dr_options(ps, st, device_keys);
}

/* gid NODE INDEX "GID" [rocev1] */
static void gid_decl(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_GID);

	if (st == NULL)
		return;
	st->node = dr_engine(ps);
	if (st->node < 0)
		return;
	if (ps->t->kind != T_NUMBER || ps->t->unit || ps->t->number > 0xffff) {
		dr_expected(ps, "an index of the GID table", NULL);
		return;
	}
	st->word = (int)ps->t->number;
	ps->t++;
	st->word2 = EN_ROCEV2_IPV4;
	if (dr_gid(ps, &st->left) && ps->t->kind == T_WORD && dr_same(ps->t, "rocev1"))
		(void)dr_encap(ps, &st->word2);
}

/* pkeys NODE KEY... : the table, from its first entry on */
static void pkeys_decl(struct parser *ps)
{
	int node = dr_engine(ps);
	unsigned n = 0;

	if (node < 0)
		return;
	for (; ps->t->kind == T_NUMBER && n < MAX_PKEYS; ps->t++) {
		if (ps->t->unit || ps->t->number > 0xffff) {
			PF(ps, ps->t->column, "a P_Key has 16 bits");
			return;
		}
		ps->p->pkeys[node][n++] = (uint16_t)ps->t->number;
	}
	if (n == 0 || ps->t->kind == T_NUMBER)
		PF(ps, ps->t->column, "a table has 1 to %u P_Keys", MAX_PKEYS);
}

/* port NODE up|down */
static void port_decl(struct parser *ps)
{
	static const struct word words[] = {{"down", 0}, {"up", 1}, {NULL, 0}};
	struct stmt *st = dr_stmt(ps, S_PORT);

	if (st == NULL)
		return;
	st->node = dr_engine(ps);
	if (st->node < 0)
		return;
	if (!dr_find(words, ps->t, &st->word)) {
		dr_expected(ps, "up or down", words);
		return;
	}
	ps->t++;
}

/* set REGION[a:b] = DATA */
static void set_decl(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_SET);

	if (st == NULL || !dr_slice(ps, &st->left) || !dr_expect_punct(ps, "=", "="))
		return;
	(void)dr_data(ps, &st->right);
}

static void link_decl(struct parser *ps)
{
	struct stmt *st = dr_stmt(ps, S_LINK);

	if (st != NULL)
		(void)dr_options(ps, st, link_keys);
}

static void other_decl(struct parser *ps, enum dr_decl what)
{
	switch (what) {
	case D_LINK:
		link_decl(ps);
		break;
	case D_DEVICE:
		device_decl(ps);
		break;
	case D_FAULT:
		dr_fault_decl(ps);
		break;
	case D_WAIT:
		wait_decl(ps);
		break;
	case D_WAIVE:
		waive_decl(ps);
		break;
	case D_MARK:
		mark_decl(ps);
		break;
	case D_GID:
		gid_decl(ps);
		break;
	case D_PKEYS:
		pkeys_decl(ps);
		break;
	case D_PORT:
		port_decl(ps);
		break;
	case D_WHEN:
		(void)dr_when(ps);
		break;
	case D_REPEAT:
		(void)dr_repeat(ps);
		break;
	case D_SET:
		set_decl(ps);
		break;
	case D_SKIP:
		skip_decl(ps);
		break;
	default:
		dr_object_decl(ps, what);
		break;
	}
}

static bool header_decl(struct parser *ps, enum dr_decl what)
{
	switch (what) {
	case D_CASE:
		case_decl(ps);
		return true;
	case D_CLAUSE:
		if (ps->t->kind == T_STRING)
			(void)string_into(ps, ps->d->clause, sizeof(ps->d->clause), "a clause");
		else
			(void)dr_run_of(ps, ps->d->clause, sizeof(ps->d->clause), "a clause");
		return true;
	case D_CLASS:
		class_decl(ps);
		return true;
	case D_NEEDS:
		needs_decl(ps);
		return true;
	case D_MATRIX: /* read by the scan */
		while (ps->t->kind != T_END)
			ps->t++;
		return true;
	case D_TARGET:
		target_decl(ps);
		return true;
	case D_ENCAP:
		encap_decl(ps);
		return true;
	case D_VLAN:
		vlan_decl(ps);
		return true;
	case D_NODE:
		node_decl(ps);
		return true;
	default:
		return false;
	}
}

bool dr_declaration(struct parser *ps)
{
	int what;

	if (!dr_find(dr_decl_words, ps->t, &what)) {
		default_nodes(ps);
		return false;
	}
	if (ps->block > 0 && (what <= D_DEVICE || what == D_WAIVE || what == D_PKEYS || what == D_SKIP)) {
		PF(ps, ps->t->column, "%.*s is said once, for the whole script: not in a block", (int)ps->t->len,
		   ps->t->text);
		return true;
	}
	ps->t++;
	if (header_decl(ps, (enum dr_decl)what))
		return true;
	default_nodes(ps);
	other_decl(ps, (enum dr_decl)what);
	return true;
}
