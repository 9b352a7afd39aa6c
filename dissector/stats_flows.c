/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats_flows.c - what the analysis says of a whole capture.
 *
 *   -z rdma,streams    a row for each connection: packets, bytes, what was sent again, what was lost
 *   -z rdma,rtt        a row for each connection and kind of request: how long answers took
 *   -z rdma,analysis   a tree: requests, answers, losses, broken rules
 *
 * The same stand in Wireshark's Statistics menu.
 */
#include "analysis.h"

#include <inttypes.h>

#include <epan/stat_tap_ui.h>
#include <epan/stats_tree.h>

#include "vs/opcode.h"

/* ---- rows that have a key, found by it ---- */

#define CELL_LEN 28
#define END_LEN RDMA_ENDPOINT_LEN
#define NAME_LEN (2 * END_LEN + 8)

/* What a table row stands for; the row's first cell points here. */
struct row {
	uint64_t key;
	char name[NAME_LEN];
	char a[END_LEN], b[END_LEN]; /* streams: both ends */
	uint32_t b_qp;
	bool a_known;
	uint64_t packets, payload, again, wasted, gaps, naks, rnrs, outstanding_max;
	uint64_t answers, sum_ns, min_ns, max_ns;
	char payload_text[CELL_LEN], wasted_text[CELL_LEN];
};

static struct row *row_at(const stat_tap_table *table, unsigned i)
{
	return stat_tap_get_field_data(table, i, 0)->user_data.ptr_value;
}

/* Keys rise nearly always: streams are numbered as they come. */
static struct row *row_find(stat_tap_table *table, uint64_t key, const stat_tap_table_item *columns, unsigned count)
{
	const size_t size = count * sizeof(stat_tap_table_item_type);
	unsigned at = table->num_elements, last = table->num_elements;
	stat_tap_table_item_type *cells;
	struct row *r;

	while (at > 0 && row_at(table, at - 1)->key > key)
		at--;
	if (at > 0 && row_at(table, at - 1)->key == key)
		return row_at(table, at - 1);
	r = g_new0(struct row, 1);
	r->key = key;
	cells = g_new0(stat_tap_table_item_type, count);
	for (unsigned i = 0; i < count; i++)
		cells[i].type = columns[i].type;
	cells[0].user_data.ptr_value = r;
	stat_tap_init_table_row(table, last, count, cells);
	for (; last > at; last--)
		memcpy(stat_tap_get_field_data(table, last, 0), stat_tap_get_field_data(table, last - 1, 0), size);
	memcpy(stat_tap_get_field_data(table, at, 0), cells, size);
	g_free(cells);
	return r;
}

/* The cells of the row that `r` stands for. */
static stat_tap_table_item_type *cells_of(stat_tap_table *table, const struct row *r)
{
	unsigned i = table->num_elements;

	while (i > 0 && row_at(table, i - 1) != r)
		i--;
	return stat_tap_get_field_data(table, i > 0 ? i - 1 : 0, 0);
}

static void reset(stat_tap_table *table)
{
	for (unsigned i = 0; i < table->num_elements; i++) {
		g_free(row_at(table, i));
		g_free(table->elements[i]);
	}
	table->num_elements = 0;
}

static void begin(stat_tap_table_ui *ui, const char *name, unsigned columns)
{
	stat_tap_table *table = stat_tap_find_table(ui, name);

	if (table != NULL)
		reset(table);
	else
		stat_tap_add_table(ui, stat_tap_init_table(name, (int)columns, 0, NULL));
}

static void free_cell(stat_tap_table *table _U_, unsigned row _U_, unsigned column, stat_tap_table_item_type *cell)
{
	if (column == 0)
		g_free(cell->user_data.ptr_value);
}

static tap_param params[] = {{PARAM_FILTER, "filter", "Filter", NULL, TRUE}};

/* ---- streams ---- */

enum { S_STREAM, S_ENDS, S_PACKETS, S_PAYLOAD, S_AGAIN, S_WASTED, S_GAPS, S_NAKS, S_RNRS, S_OUTSTANDING, S_COLUMNS };

static stat_tap_table_item stream_columns[S_COLUMNS] = {
	{TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Stream", "%6u"},
	{TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Between                                           ", "%-50s"},
	{TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "  Packets", "%9u"},
	{TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, " Payload bytes", "%14s"},
	{TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Sent again", "%10u"},
	{TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, "  Bytes wasted", "%14s"},
	{TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Gaps", "%5u"},
	{TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "NAKs", "%5u"},
	{TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "RNR NAKs", "%9u"},
	{TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Most unacknowledged", "%19u"},
};

static const char streams_table[] = "RDMA streams";

/* Who speaks first comes first; what QP that has, answers tell by where they go. */
static void name_ends(struct row *r, const struct rdma_tap *t)
{
	char from[sizeof(r->a)];

	if (r->packets == 0) {
		rdma_endpoint_format(r->a, sizeof(r->a), &t->src, t->src_qp_known, t->src_qp);
		rdma_endpoint_format(r->b, sizeof(r->b), &t->dst, true, t->dest_qp);
		r->a_known = t->src_qp_known;
		r->b_qp = t->dest_qp;
	} else if (!r->a_known) {
		rdma_endpoint_format(from, sizeof(from), &t->dst, false, 0);
		if (t->dest_qp != r->b_qp || strcmp(from, r->a) == 0) {
			rdma_endpoint_format(from, sizeof(from), &t->dst, true, t->dest_qp);
			r->a_known = strcmp(from, r->b) != 0;
			if (r->a_known)
				(void)g_strlcpy(r->a, from, sizeof(r->a));
		}
	}
	snprintf(r->name, sizeof(r->name), "%s <-> %s", r->a, r->b);
}

static void count(struct row *r, const struct rdma_tap *t)
{
	const struct vs_mon_result *m = &t->analysis->r;

	r->packets++;
	r->payload += t->payload_len;
	r->again += m->class_ == VS_MON_RETRANSMISSION;
	r->wasted += m->wasted;
	r->gaps += (m->flags & VS_MON_GAP) != 0;
	r->naks += (m->flags & VS_MON_NAK) != 0;
	r->rnrs += (m->flags & VS_MON_RNR) != 0;
	r->outstanding_max = MAX(r->outstanding_max, m->outstanding);
}

static void show_stream(stat_tap_table_item_type *c, struct row *r)
{
	snprintf(r->payload_text, sizeof(r->payload_text), "%14" PRIu64, r->payload);
	snprintf(r->wasted_text, sizeof(r->wasted_text), "%14" PRIu64, r->wasted);
	c[S_STREAM].value.uint_value = (guint)r->key;
	c[S_ENDS].value.string_value = r->name;
	c[S_PACKETS].value.uint_value = (guint)r->packets;
	c[S_PAYLOAD].value.string_value = r->payload_text;
	c[S_AGAIN].value.uint_value = (guint)r->again;
	c[S_WASTED].value.string_value = r->wasted_text;
	c[S_GAPS].value.uint_value = (guint)r->gaps;
	c[S_NAKS].value.uint_value = (guint)r->naks;
	c[S_RNRS].value.uint_value = (guint)r->rnrs;
	c[S_OUTSTANDING].value.uint_value = (guint)r->outstanding_max;
}

static tap_packet_status streams_packet(void *tapdata, packet_info *pinfo _U_, epan_dissect_t *edt _U_,
					const void *data, tap_flags_t flags _U_)
{
	stat_tap_table *table = stat_tap_find_table(((stat_data_t *)tapdata)->stat_tap_data, streams_table);
	const struct rdma_tap *t = data;
	struct row *r;

	if (table == NULL || t->analysis == NULL || t->analysis->r.stream == 0)
		return TAP_PACKET_DONT_REDRAW;
	r = row_find(table, t->analysis->r.stream, stream_columns, S_COLUMNS);
	name_ends(r, t);
	count(r, t);
	show_stream(cells_of(table, r), r);
	return TAP_PACKET_REDRAW;
}

static void streams_init(stat_tap_table_ui *ui)
{
	begin(ui, streams_table, S_COLUMNS);
}

static stat_tap_table_ui streams_ui = {
	.group = REGISTER_PACKET_STAT_GROUP_UNSORTED,
	.title = "RDMA Streams",
	.tap_name = "rdma",
	.cli_string = "rdma,streams",
	.stat_tap_init_cb = streams_init,
	.packet_func = streams_packet,
	.stat_tap_reset_table_cb = reset,
	.stat_tap_free_table_item_cb = free_cell,
	.nfields = S_COLUMNS,
	.fields = stream_columns,
	.nparams = G_N_ELEMENTS(params),
	.params = params,
};

/* ---- round trips ---- */

enum { R_NAME, R_ANSWERS, R_MIN, R_AVG, R_MAX, R_COLUMNS };

static stat_tap_table_item rtt_columns[R_COLUMNS] = {
	{TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Stream, what was answered     ", "%-30s"},
	{TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "  Answers", "%9u"},
	{TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "  Shortest (us)", "%15.3f"},
	{TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "   Average (us)", "%15.3f"},
	{TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "   Longest (us)", "%15.3f"},
};

static const char rtt_table[] = "RDMA round-trip times";

/* What an answer tells about its request. */
static const char *answered(uint8_t opcode, unsigned *order)
{
	static const char *const name[] = {"SEND or RDMA WRITE", "RDMA READ", "ATOMIC"};
	const uint16_t flags = vs_opcodes[opcode].flags;

	*order = flags & VS_OPF_D ? 1 : flags & VS_OPF_A ? 2 : 0;
	return name[*order];
}

static tap_packet_status rtt_packet(void *tapdata, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
				    tap_flags_t flags _U_)
{
	stat_tap_table *table = stat_tap_find_table(((stat_data_t *)tapdata)->stat_tap_data, rtt_table);
	const struct rdma_tap *t = data;
	const struct vs_mon_result *m;
	stat_tap_table_item_type *c;
	const char *what;
	unsigned order;
	struct row *r;

	if (table == NULL || t->analysis == NULL)
		return TAP_PACKET_DONT_REDRAW;
	m = &t->analysis->r;
	if (m->stream == 0 || !(m->flags & VS_MON_RTT) || !(m->flags & VS_MON_ANSWER))
		return TAP_PACKET_DONT_REDRAW;
	what = answered(t->opcode, &order);
	r = row_find(table, (uint64_t)m->stream << 2 | order, rtt_columns, R_COLUMNS);
	snprintf(r->name, sizeof(r->name), "%u, %s", m->stream, what);
	r->min_ns = r->answers++ == 0 ? m->rtt_ns : MIN(r->min_ns, m->rtt_ns);
	r->max_ns = MAX(r->max_ns, m->rtt_ns);
	r->sum_ns += m->rtt_ns;
	c = cells_of(table, r);
	c[R_NAME].value.string_value = r->name;
	c[R_ANSWERS].value.uint_value = (guint)r->answers;
	c[R_MIN].value.float_value = (double)r->min_ns / 1000;
	c[R_AVG].value.float_value = (double)r->sum_ns / (double)r->answers / 1000;
	c[R_MAX].value.float_value = (double)r->max_ns / 1000;
	return TAP_PACKET_REDRAW;
}

static void rtt_init(stat_tap_table_ui *ui)
{
	begin(ui, rtt_table, R_COLUMNS);
}

static stat_tap_table_ui rtt_ui = {
	.group = REGISTER_PACKET_STAT_GROUP_UNSORTED,
	.title = "RDMA Round-Trip Times",
	.tap_name = "rdma",
	.cli_string = "rdma,rtt",
	.stat_tap_init_cb = rtt_init,
	.packet_func = rtt_packet,
	.stat_tap_reset_table_cb = reset,
	.stat_tap_free_table_item_cb = free_cell,
	.nfields = R_COLUMNS,
	.fields = rtt_columns,
	.nparams = G_N_ELEMENTS(params),
	.params = params,
};

/* ---- the tree ---- */

static const char tree_abbr[] = "rdma_analysis";

/* Top nodes, in the order in which they are shown. */
static const char *const top[] = {"Requests", "Answers", "Packets missing", "Broken rules", "Payload bytes"};
enum { T_REQUESTS, T_ANSWERS, T_MISSING, T_RULES, T_BYTES, T_COUNT };
static int top_id[T_COUNT];

static void tree_init(stats_tree *st)
{
	for (unsigned i = 0; i < T_COUNT; i++)
		top_id[i] = stats_tree_create_node(st, top[i], 0, STAT_DT_INT, TRUE);
}

static void tick(stats_tree *st, unsigned parent, const char *name)
{
	tick_stat_node(st, name, top_id[parent], FALSE);
}

static void tree_request(stats_tree *st, const struct vs_mon_result *m)
{
	const char *cause = rdma_analysis_cause(m);
	char name[64];

	tick_stat_node(st, top[T_REQUESTS], 0, TRUE);
	if (m->class_ == VS_MON_RETRANSMISSION) {
		snprintf(name, sizeof(name), "Sent again: %s", cause != NULL ? cause : "cause not seen");
		tick(st, T_REQUESTS, name);
	} else if (m->class_ == VS_MON_NETWORK_DUP) {
		tick(st, T_REQUESTS, "Copied by the network");
	} else if (m->class_ == VS_MON_LATE) {
		tick(st, T_REQUESTS, "Out of order, or sent again and only then seen");
	} else {
		tick(st, T_REQUESTS, "New");
	}
}

static void tree_answer(stats_tree *st, const struct rdma_tap *t)
{
	static const char *const nak[] = {
		"NAK PSN sequence error",
		"NAK invalid request",
		"NAK remote access error",
		"NAK remote operational error",
	};
	const struct vs_mon_result *m = &t->analysis->r;
	const uint8_t code = t->aeth_syndrome & 0x1f;

	tick_stat_node(st, top[T_ANSWERS], 0, TRUE);
	if (m->flags & VS_MON_RNR)
		tick(st, T_ANSWERS, "RNR NAK");
	else if (m->flags & VS_MON_NAK)
		tick(st, T_ANSWERS, code < G_N_ELEMENTS(nak) ? nak[code] : "NAK with another code");
	else if (m->class_ == VS_MON_GHOST_ACK)
		tick(st, T_ANSWERS, "Ghost ACK");
	else if (m->class_ == VS_MON_DUP_ACK)
		tick(st, T_ANSWERS, "Duplicate ACK");
	else if (m->class_ == VS_MON_RETRANSMISSION)
		tick(st, T_ANSWERS, "Response sent again");
	else
		tick(st, T_ANSWERS, t->opcode == VS_OP_RC_ACKNOWLEDGE ? "ACK" : "READ or ATOMIC response");
}

static void tree_rules(stats_tree *st, const struct vs_mon_result *m)
{
	for (unsigned i = 0; i < MIN(m->rules, VS_MON_RULES); i++) {
		const struct vs_rule_info *rule = vs_rule_info(m->rule[i]);
		char name[160];

		if (rule->level == VS_RULE_NOTE)
			continue; /* legal */
		tick_stat_node(st, top[T_RULES], 0, TRUE);
		snprintf(name, sizeof(name), "%s (%s): %s", rule->id, vs_rule_level_name(rule->level), rule->sentence);
		tick(st, T_RULES, name);
	}
}

static void add(stats_tree *st, unsigned parent, const char *name, uint32_t n)
{
	if (n == 0)
		return;
	increase_stat_node(st, top[parent], 0, TRUE, (int)MIN(n, INT32_MAX));
	increase_stat_node(st, name, top_id[parent], FALSE, (int)MIN(n, INT32_MAX));
}

static tap_packet_status tree_packet(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
				     tap_flags_t flags _U_)
{
	const struct rdma_tap *t = data;
	const struct vs_mon_result *m;

	if (t->analysis == NULL)
		return TAP_PACKET_DONT_REDRAW;
	m = &t->analysis->r;
	if (m->flags & VS_MON_REQUEST)
		tree_request(st, m);
	else if (m->flags & VS_MON_ANSWER)
		tree_answer(st, t);
	add(st, T_MISSING, m->flags & VS_MON_ANSWER ? "Before an answer" : "Before a request", m->missing);
	add(st, T_BYTES, "Useful", t->payload_len - MIN(m->wasted, t->payload_len));
	add(st, T_BYTES, "Wasted: they were there before", m->wasted);
	tree_rules(st, m);
	return TAP_PACKET_REDRAW;
}

/* Trees have names of their own, NAME,tree; the short one asks for the same. */
static rdma_stat_begun tree_alias(const char *opt _U_, void *data _U_)
{
	RDMA_STAT_BEGUN(process_stat_cmd_arg("rdma_analysis,tree"));
}

void rdma_stats_flows_register(void)
{
	static stat_tap_ui alias = {
		.group = REGISTER_STAT_GROUP_GENERIC, .cli_string = "rdma,analysis", .tap_init_cb = tree_alias};

	register_stat_tap_table_ui(&streams_ui);
	register_stat_tap_table_ui(&rtt_ui);
	stats_tree_register_plugin("rdma", tree_abbr, "RDMA/Analysis", 0, tree_packet, tree_init, NULL);
	register_stat_tap_ui(&alias, NULL);
}
