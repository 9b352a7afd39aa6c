/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.c - what the tap "rdma" feeds: -z rdma,opcodes, -z conv,rdma, -z endpoints,rdma, and the
 * same tables in Wireshark's Statistics menu.
 *
 * Flows are keyed by (source address, destination address, destination QP): both sides often use the
 * same QP number, and most packets don't name the sender's. An end is shown as "address QP number",
 * or "address QP ?" while nobody has told the sender's QP; packets with an unknown sender are put
 * together only when they go to the same QP of the same address. The QP is part of the text because
 * tshark prints ports of TCP, UDP and SCTP alone; rdma.endpoint* are the fields behind the filters
 * that the tables' context menus make.
 */
#include "rdma.h"

#include <inttypes.h>

#include <epan/conversation_table.h>
#include <epan/stat_tap_ui.h>

int rdma_tap_id = -1;

/* ---- packets and bytes by opcode ---- */

enum column { COL_OPCODE, COL_PACKETS, COL_PACKETS_SHARE, COL_PAYLOAD, COL_PAYLOAD_SHARE, COL_FRAMES, COLUMNS };

#define OPCODE_WIDTH "39"
#define BYTES_LEN 24

/* Widths are the column's for text output. */
static stat_tap_table_item columns[COLUMNS] = {
	{TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Opcode                                 ", "%-" OPCODE_WIDTH "s"},
	{TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "  Packets", "%9u"},
	{TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Packets %", "%9.2f"},
	{TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, " Payload bytes", "%14s"},
	{TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Payload %", "%9.2f"},
	{TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, "   Frame bytes", "%14s"},
};

/*
 * What a table row stands for; the row's first cell points here. Byte counts are text, padded so
 * that it sorts as numbers do: a cell's own integers have 32 bits only.
 */
struct row {
	uint8_t opcode;
	bool dc;
	unsigned packets;
	uint64_t payload, frames;
	char name[48], payload_text[BYTES_LEN], frames_text[BYTES_LEN];
};

static const char opcode_table[] = "RDMA packets by opcode";

static struct row *row_at(const stat_tap_table *table, unsigned i)
{
	return stat_tap_get_field_data(table, i, COL_OPCODE)->user_data.ptr_value;
}

/* In the order of opcodes, whatever order they come in. */
static int row_compare(const struct row *r, const struct rdma_tap *t)
{
	return r->opcode != t->opcode ? (int)r->opcode - (int)t->opcode : (int)r->dc - (int)t->dc;
}

static void row_cells(struct row *r, stat_tap_table_item_type cells[COLUMNS])
{
	memset(cells, 0, COLUMNS * sizeof(cells[0]));
	for (int i = 0; i < COLUMNS; i++)
		cells[i].type = columns[i].type;
	cells[COL_OPCODE].value.string_value = r->name;
	cells[COL_OPCODE].user_data.ptr_value = r;
	cells[COL_PAYLOAD].value.string_value = r->payload_text;
	cells[COL_FRAMES].value.string_value = r->frames_text;
}

/* A new row at `at`; the cells of those behind it move on, since the rows themselves can't. */
static struct row *row_insert(stat_tap_table *table, unsigned at, const struct rdma_tap *t)
{
	struct row *r = g_new0(struct row, 1);
	stat_tap_table_item_type cells[COLUMNS];
	unsigned last = table->num_elements;

	r->opcode = t->opcode;
	r->dc = t->dc;
	snprintf(r->name, sizeof(r->name), "0x%02x %s", t->opcode, rdma_opcode_name(t->opcode, t->dc));
	row_cells(r, cells);
	stat_tap_init_table_row(table, last, COLUMNS, cells);
	for (; last > at; last--)
		memcpy(stat_tap_get_field_data(table, last, 0), stat_tap_get_field_data(table, last - 1, 0),
		       sizeof(cells));
	memcpy(stat_tap_get_field_data(table, at, 0), cells, sizeof(cells));
	return r;
}

static struct row *row_find(stat_tap_table *table, const struct rdma_tap *t)
{
	unsigned i;
	int order = 1;

	for (i = 0; i < table->num_elements; i++) {
		order = row_compare(row_at(table, i), t);
		if (order >= 0)
			break;
	}
	return i < table->num_elements && order == 0 ? row_at(table, i) : row_insert(table, i, t);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole != 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

/* All rows: every share changes with every packet. There are a few dozen rows at most. */
static void fill_cells(stat_tap_table *table)
{
	uint64_t packets = 0, payload = 0;

	for (unsigned i = 0; i < table->num_elements; i++) {
		packets += row_at(table, i)->packets;
		payload += row_at(table, i)->payload;
	}
	for (unsigned i = 0; i < table->num_elements; i++) {
		const struct row *r = row_at(table, i);
		stat_tap_table_item_type *cells = stat_tap_get_field_data(table, i, 0);

		cells[COL_PACKETS].value.uint_value = r->packets;
		cells[COL_PACKETS_SHARE].value.float_value = percent(r->packets, packets);
		cells[COL_PAYLOAD_SHARE].value.float_value = percent(r->payload, payload);
	}
}

static tap_packet_status opcodes_packet(void *tapdata, packet_info *pinfo _U_, epan_dissect_t *edt _U_,
					const void *data, tap_flags_t flags _U_)
{
	stat_data_t *stat = tapdata;
	stat_tap_table *table = stat_tap_find_table(stat->stat_tap_data, opcode_table);
	const struct rdma_tap *t = data;
	struct row *r;

	if (table == NULL)
		return TAP_PACKET_DONT_REDRAW;
	r = row_find(table, t);
	r->packets++;
	r->payload += t->payload_len;
	r->frames += t->frame_len;
	snprintf(r->payload_text, sizeof(r->payload_text), "%14" PRIu64, r->payload);
	snprintf(r->frames_text, sizeof(r->frames_text), "%14" PRIu64, r->frames);
	fill_cells(table);
	return TAP_PACKET_REDRAW;
}

static void opcodes_reset(stat_tap_table *table)
{
	for (unsigned i = 0; i < table->num_elements; i++) {
		g_free(row_at(table, i));
		g_free(table->elements[i]);
	}
	table->num_elements = 0;
}

static void opcodes_init(stat_tap_table_ui *ui)
{
	stat_tap_table *table = stat_tap_find_table(ui, opcode_table);

	if (table != NULL)
		opcodes_reset(table);
	else
		stat_tap_add_table(ui, stat_tap_init_table(opcode_table, COLUMNS, 0, NULL));
}

static void opcodes_free_cell(stat_tap_table *table _U_, unsigned row _U_, unsigned column,
			      stat_tap_table_item_type *cell)
{
	if (column == COL_OPCODE)
		g_free(cell->user_data.ptr_value);
}

static tap_param opcodes_params[] = {{PARAM_FILTER, "filter", "Filter", NULL, TRUE}};

static stat_tap_table_ui opcodes_ui = {
	.group = REGISTER_PACKET_STAT_GROUP_UNSORTED,
	.title = "RDMA Opcodes",
	.tap_name = "rdma",
	.cli_string = "rdma,opcodes",
	.stat_tap_init_cb = opcodes_init,
	.packet_func = opcodes_packet,
	.stat_tap_reset_table_cb = opcodes_reset,
	.stat_tap_free_table_item_cb = opcodes_free_cell,
	.nfields = COLUMNS,
	.fields = columns,
	.nparams = G_N_ELEMENTS(opcodes_params),
	.params = opcodes_params,
};

/* ---- conversations and endpoints ---- */

static int hf_src, hf_dst, hf_any;

void rdma_endpoint_format(char *buf, size_t len, const address *a, bool known, uint32_t qp)
{
	char *host = address_to_str(NULL, a);

	if (known)
		snprintf(buf, len, "%s QP 0x%06x", host, qp);
	else
		snprintf(buf, len, "%s QP ?", host);
	wmem_free(NULL, host);
}

static const char *endpoint_text(wmem_allocator_t *pool, const address *a, bool known, uint32_t qp)
{
	char text[RDMA_ENDPOINT_LEN];

	rdma_endpoint_format(text, sizeof(text), a, known, qp);
	return wmem_strdup(pool, text);
}

/*
 * Whether a filter or a column names the field itself. proto_field_is_referenced says yes to every
 * field of a tree that is printed; these are hidden, and making them costs more than half a header.
 */
static bool asked_for(const proto_tree *tree, int hf)
{
	return tree != NULL && proto_registrar_get_nth((unsigned)hf)->ref_type >= HF_REF_TYPE_DIRECT;
}

void rdma_stats_add_endpoints(struct rdma_ctx *c)
{
	const address *src = &c->pinfo->src, *dst = &c->pinfo->dst;
	wmem_allocator_t *pool = c->pinfo->pool;
	const char *text;

	if (!(c->pkt.flags & VS_PKT_HAS_BTH) || c->cut == RDMA_CUT_QUOTED)
		return;
	if (asked_for(c->tree, hf_src) || asked_for(c->tree, hf_any)) {
		text = endpoint_text(pool, src, c->src_qp_known, c->src_qp);
		proto_item_set_hidden(proto_tree_add_string(c->tree, hf_src, c->tvb, 0, 0, text));
		proto_item_set_hidden(proto_tree_add_string(c->tree, hf_any, c->tvb, 0, 0, text));
	}
	if (asked_for(c->tree, hf_dst) || asked_for(c->tree, hf_any)) {
		text = endpoint_text(pool, dst, true, c->pkt.bth.destqp);
		proto_item_set_hidden(proto_tree_add_string(c->tree, hf_dst, c->tvb, 0, 0, text));
		proto_item_set_hidden(proto_tree_add_string(c->tree, hf_any, c->tvb, 0, 0, text));
	}
}

static void endpoint_address(address *out, const char *text)
{
	set_address(out, AT_STRINGZ, (int)strlen(text) + 1, text);
}

static void tap_addresses(packet_info *pinfo, const struct rdma_tap *t, address *src, address *dst)
{
	endpoint_address(src, endpoint_text(pinfo->pool, &t->src, t->src_qp_known, t->src_qp));
	endpoint_address(dst, endpoint_text(pinfo->pool, &t->dst, true, t->dest_qp));
}

static const char *filter_name(conv_filter_type_e filter)
{
	switch (filter) {
	case CONV_FT_SRC_ADDRESS:
		return "rdma.endpoint.src";
	case CONV_FT_DST_ADDRESS:
		return "rdma.endpoint.dst";
	case CONV_FT_ANY_ADDRESS:
		return "rdma.endpoint";
	default:
		return CONV_FILTER_INVALID;
	}
}

static const char *conversation_filter(conv_item_t *conv _U_, conv_filter_type_e filter)
{
	return filter_name(filter);
}

static const char *endpoint_filter(endpoint_item_t *endpoint _U_, conv_filter_type_e filter)
{
	return filter_name(filter);
}

static tap_packet_status conversation_packet(void *table, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
					     tap_flags_t flags)
{
	static ct_dissector_info_t info = {conversation_filter};
	const struct rdma_tap *t = data;
	conv_hash_t *hash = table;
	address src, dst;

	hash->flags = flags;
	tap_addresses(pinfo, t, &src, &dst);
	add_conversation_table_data(hash, &src, &dst, 0, 0, 1, (int)t->frame_len, &pinfo->rel_ts, &pinfo->abs_ts, &info,
				    CONVERSATION_IBQP);
	return TAP_PACKET_REDRAW;
}

static tap_packet_status endpoint_packet(void *table, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
					 tap_flags_t flags)
{
	static et_dissector_info_t info = {endpoint_filter};
	const struct rdma_tap *t = data;
	conv_hash_t *hash = table;
	address src, dst;

	hash->flags = flags;
	tap_addresses(pinfo, t, &src, &dst);
	add_endpoint_table_data(hash, &src, 0, TRUE, 1, (int)t->frame_len, &info, ENDPOINT_IBQP);
	add_endpoint_table_data(hash, &dst, 0, FALSE, 1, (int)t->frame_len, &info, ENDPOINT_IBQP);
	return TAP_PACKET_REDRAW;
}

void rdma_stats_register(int proto)
{
	static hf_register_info hf[] = {
		{&hf_src,
		 {"Source endpoint", "rdma.endpoint.src", FT_STRING, BASE_NONE, NULL, 0,
		  "Source address and QP, as in the conversation table; for filters alone", HFILL}},
		{&hf_dst,
		 {"Destination endpoint", "rdma.endpoint.dst", FT_STRING, BASE_NONE, NULL, 0,
		  "Destination address and QP, as in the conversation table; for filters alone", HFILL}},
		{&hf_any,
		 {"Endpoint", "rdma.endpoint", FT_STRING, BASE_NONE, NULL, 0,
		  "Source or destination address and QP, as in the conversation table; for filters alone", HFILL}},
	};

	proto_register_field_array(proto, hf, G_N_ELEMENTS(hf));
	rdma_tap_id = register_tap("rdma");
	register_stat_tap_table_ui(&opcodes_ui);
	register_conversation_table(proto, TRUE, conversation_packet, endpoint_packet);
}
