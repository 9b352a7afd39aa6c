/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ulp.c - which upper-layer dissector gets a payload, and on what evidence.
 *
 * The built-in offers every payload to every heuristic dissector there is, and some of them take
 * what isn't theirs: plain SENDs became RPC-over-RDMA, were even reassembled, and short ones were
 * called malformed. Here a dissector is called only when something speaks for it. In this order:
 *   1. the user's Decode As for "infiniband"
 *   2. the user's QP table (ulp_table.c)
 *   3. the service id that CM named for the connection (ulp_cm.c, ulp_rules.c)
 *   4. a header that proves itself (ulp_fit*.c): in this packet, or in an earlier one of this flow
 *   5. heuristics that the user has added to Wireshark (other plugins, Lua): they were put there on
 *      purpose and get everything nobody else took
 * A flow is (source address, destination address, destination QP).
 *
 * What is decided in the first pass is stored with the frame, so later passes say the same.
 */
#include "ulp.h"

#include <epan/exceptions.h>
#include <epan/show_exception.h>

#include <epan/dissectors/packet-infiniband.h>

#include "vs/cm.h"

#define LNET_MAGIC 0x0be91b91u

/* A heuristic dissector, with a handle by which it can be called like any other. */
struct heur {
	heur_dtbl_entry_t *entry;
	dissector_handle_t handle;
};

struct heur_call {
	heur_dtbl_entry_t *entry;
	void *info;
};

static rdma_pref_bool enabled = TRUE;
static rdma_pref_bool guess = FALSE;

static int hf_ulp, hf_ulp_why, hf_ulp_frame;

static int proto;
static dissector_table_t decode_as;
static heur_dissector_list_t payload_heurs;
static GHashTable *heurs;                       /* by unique name -> struct heur, of this file */
static GPtrArray *foreign_payload, *foreign_cm; /* heur_dtbl_entry_t that aren't Wireshark's own */
static wmem_map_t *assocs; /* client, server, their QPs -> struct ulp_assoc that CM didn't tell of */

/* ---- calling ---- */

static int call_heur(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
	struct heur_call *call = data;
	const char *saved = pinfo->heur_list_name;
	bool taken;

	pinfo->heur_list_name = call->entry->list_name;
	taken = call->entry->dissector(tvb, pinfo, tree, call->info);
	pinfo->heur_list_name = saved;
	return taken ? MAX(1, (int)tvb_captured_length(tvb)) : 0;
}

static const struct heur *heur_find(const char *name)
{
	struct heur *h = g_hash_table_lookup(heurs, name);
	heur_dtbl_entry_t *entry;

	if (h == NULL) {
		entry = find_heur_dissector_by_unique_short_name(name);
		if (entry == NULL || entry->protocol == NULL)
			return NULL;
		h = g_new0(struct heur, 1);
		h->entry = entry;
		h->handle = create_dissector_handle(call_heur, proto_get_id(entry->protocol));
		g_hash_table_insert(heurs, g_strdup(name), h);
	}
	return h->entry->enabled ? h : NULL;
}

/* The payload is a whole SEND message: of one packet, or put together. */
static void info_whole(struct infinibandinfo *info)
{
	if (info->opCode == VS_OP_RC_SEND_LAST || info->opCode == VS_OP_RC_SEND_LAST_IMM)
		info->opCode = VS_OP_RC_SEND_ONLY;
	if (info->opCode == VS_OP_RC_SEND_LAST_INV)
		info->opCode = VS_OP_RC_SEND_ONLY_INV;
#if RDMA_WS_AT_LEAST(4, 6)
	/* A dissector that wants whole messages refuses what this doesn't say is one. */
	info->do_rc_send_reassembling = true;
#endif
}

static void info_fill(const struct rdma_ctx *c, struct infinibandinfo *info, bool padded)
{
	const uint16_t only = VS_OPF_S | VS_OPF_B | VS_OPF_E;

	memset(info, 0, sizeof(*info));
	info->payload_tree = c->tree;
	info->opCode = c->pkt.bth.opcode;
	info->packet_seq_num = c->pkt.bth.psn;
	if (padded)
		info->pad_count = c->pkt.pad_len;
	if (c->pkt.hdrs & VS_HDR_RETH) {
		info->reth_remote_key = c->pkt.ext.reth.rkey;
		info->reth_remote_address = c->pkt.ext.reth.va;
		info->reth_dma_length = c->pkt.ext.reth.dmalen;
	}
	if ((vs_opcodes[info->opCode].flags & only) == only)
		info_whole(info);
}

/*
 * Calls `handle`. What it throws is shown below it, and our own work goes on. True when it took the
 * payload, or failed on it.
 */
static bool call(struct rdma_ctx *c, dissector_handle_t handle, tvbuff_t *tvb, void *data)
{
	const char *saved_proto = c->pinfo->current_proto;
	volatile bool taken = false;

	TRY
	{
		taken = call_dissector_only(handle, tvb, c->pinfo, c->top_tree, data) > 0;
	}
	CATCH_NONFATAL_ERRORS
	{
		show_exception(tvb, c->pinfo, c->top_tree, EXCEPT_CODE, GET_MESSAGE);
		c->pinfo->current_proto = saved_proto;
		taken = true;
	}
	ENDTRY;
	return taken;
}

static bool call_by_name(struct rdma_ctx *c, const char *name, tvbuff_t *tvb, struct infinibandinfo *info)
{
	const struct heur *h = name != NULL ? heur_find(name) : NULL;
	struct heur_call args;

	if (h == NULL)
		return false;
	args.entry = h->entry;
	args.info = info;
	return call(c, h->handle, tvb, &args);
}

/* The payload with its pad, for those that count on it. */
static tvbuff_t *with_pad(const struct rdma_ctx *c, tvbuff_t *tvb)
{
	if (c->pkt.pad_len == 0 || c->pkt.missing_len != 0 || tvb_captured_length(c->tvb) < c->pkt.end_off)
		return tvb;
	return tvb_new_subset_length(c->tvb, (int)c->pkt.payload_off, (int)(c->pkt.payload_len + c->pkt.pad_len));
}

/* ---- evidence ---- */

/* The connection with these ends, one and the same for both directions. */
static struct ulp_assoc *assoc_find(const packet_info *pinfo, enum ulp_role to, uint32_t client, uint32_t server)
{
	struct ulp_key k;
	struct ulp_assoc *assoc;

	memset(&k, 0, sizeof(k));
	k.a = ulp_addr(to == ULP_SERVER ? &pinfo->src : &pinfo->dst);
	k.b = ulp_addr(to == ULP_SERVER ? &pinfo->dst : &pinfo->src);
	k.n = client;
	k.m = server;
	assoc = wmem_map_lookup(assocs, &k);
	if (assoc == NULL) {
		assoc = ulp_assoc_new(pinfo->num, client, server);
		wmem_map_insert(assocs, wmem_memdup(wmem_file_scope(), &k, sizeof(k)), assoc);
	}
	return assoc;
}

/* Whether a packet of a connection that is known to be the rule's is one for its dissector. */
static bool rule_wants(struct rdma_ctx *c, const struct ulp_rule *r, const struct ulp_bytes *b, struct ulp_verdict *v)
{
	v->piece = ulp_flow_piece(c, r, b, &v->message);
	return v->piece != ULP_NOTHING;
}

static bool by_table(struct rdma_ctx *c, const struct ulp_bytes *b, struct ulp_verdict *v)
{
	const struct ulp_row *row = ulp_table_find(c->pinfo, c->pkt.bth.destqp, &v->ref.to);

	if (row == NULL)
		return false;
	v->ref.assoc = assoc_find(c->pinfo, v->ref.to, row->client, row->server);
	v->rule = row->rule;
	v->handle = row->handle;
	v->piece = ULP_PACKET;
	v->why = ULP_BY_TABLE;
	v->frame = 0;
	return row->rule == NULL ? b->len > 0 : rule_wants(c, row->rule, b, v);
}

/* Preferences decide about ports; looked up once, since a change of them begins everything anew. */
static const struct ulp_rule *service_rule(struct ulp_assoc *assoc)
{
	if (!assoc->rule_known)
		assoc->rule = assoc->service_known ? ulp_rule_by_service(assoc->service_id) : NULL;
	assoc->rule_known = true;
	return assoc->rule;
}

static bool by_service(struct rdma_ctx *c, const struct ulp_bytes *b, struct ulp_verdict *v)
{
	if (v->ref.assoc == NULL)
		return false;
	v->rule = service_rule(v->ref.assoc);
	v->why = ULP_BY_SERVICE;
	v->frame = v->ref.assoc->first_frame;
	return v->rule != NULL && rule_wants(c, v->rule, b, v);
}

static bool by_flow(struct rdma_ctx *c, const struct ulp_bytes *b, struct ulp_verdict *v)
{
	const struct ulp_flow *f = ulp_flow_find(c->pinfo, c->pkt.bth.destqp, false);

	if (f == NULL || f->rule == NULL || f->ref.assoc->last_frame != 0)
		return false;
	/* CM has named another connection since then */
	if (v->ref.assoc != NULL && v->ref.assoc != f->ref.assoc)
		return false;
	v->rule = f->rule;
	v->ref = f->ref;
	v->why = ULP_BY_FLOW;
	v->frame = f->frame;
	return rule_wants(c, v->rule, b, v);
}

static bool by_header(struct rdma_ctx *c, struct ulp_bytes *b, struct ulp_verdict *v)
{
	const uint16_t flags = vs_opcodes[c->pkt.bth.opcode].flags;
	struct ulp_flow *f;

	if (!(flags & VS_OPF_S) || !(flags & VS_OPF_B))
		return false;
	for (unsigned i = 0; i < ulp_rule_count; i++) {
		const struct ulp_rule *r = &ulp_rules[i];

		b->alone = true;
		if (!r->fits(b))
			continue;
		b->alone = false;
		v->rule = r;
		v->why = ULP_BY_HEADER;
		v->frame = c->pinfo->num;
		v->piece = ULP_PACKET;
		if (b->ud)
			return true;
		f = ulp_flow_find(c->pinfo, c->pkt.bth.destqp, true);
		if (v->ref.assoc == NULL) {
			v->ref.assoc = assoc_find(c->pinfo, ULP_SERVER, 0, c->pkt.bth.destqp);
			v->ref.to = ULP_SERVER;
		}
		f->rule = r;
		f->ref = v->ref;
		f->frame = c->pinfo->num;
		return rule_wants(c, r, b, v);
	}
	b->alone = false;
	return false;
}

static bool decide(struct rdma_ctx *c, struct ulp_verdict *v)
{
	const struct vs_opcode_info *op = &vs_opcodes[c->pkt.bth.opcode];
	struct ulp_bytes b = {
		.p = c->pkt.payload,
		.cap = c->pkt.payload_len,
		.len = c->payload_len,
		.whole = (op->flags & VS_OPF_E) != 0,
		.ud = op->transport == VS_TRANSPORT_UD,
	};

	if (b.len < b.cap)
		b.len = b.cap;
	if (by_table(c, &b, v))
		return true;
	memset(v, 0, sizeof(*v));
	ulp_cm_find(c->pinfo, c->pkt.bth.destqp, &v->ref);
	return by_service(c, &b, v) || by_flow(c, &b, v) || by_header(c, &b, v);
}

/* ---- a packet ---- */

static const char *handle_name(dissector_handle_t handle)
{
	return proto_get_protocol_filter_name(dissector_handle_get_protocol_index(handle));
}

static void explain(struct rdma_ctx *c, const struct ulp_verdict *v)
{
	static const char *const why[] = {
		[ULP_BY_DECODE_AS] = "Decode As",
		[ULP_BY_TABLE] = "the table of protocols by QP",
		[ULP_BY_SERVICE] = "service ID of the connection",
		[ULP_BY_HEADER] = "its header",
		[ULP_BY_FLOW] = "an earlier header of this flow",
	};
	const char *name = v->rule != NULL ? v->rule->name : handle_name(v->handle);

	if (c->tree == NULL)
		return;
	proto_item_set_generated(proto_tree_add_string(c->tree, hf_ulp, c->tvb, 0, 0, name));
	proto_item_set_generated(proto_tree_add_string(c->tree, hf_ulp_why, c->tvb, 0, 0, why[v->why]));
	if (v->frame != 0 && v->frame != c->pinfo->num)
		proto_item_set_generated(proto_tree_add_uint(c->tree, hf_ulp_frame, c->tvb, 0, 0, v->frame));
}

static bool try_decode_as(struct rdma_ctx *c, dissector_handle_t handle, tvbuff_t *tvb)
{
	struct ulp_verdict v = {.handle = handle, .why = ULP_BY_DECODE_AS};
	struct infinibandinfo info;

	if (ulp_cm_find(c->pinfo, c->pkt.bth.destqp, &v.ref))
		ulp_conv_ensure(c->pinfo, &v.ref, v.ref.assoc->service_id);
	info_fill(c, &info, false);
	col_append_str(c->pinfo->cinfo, COL_INFO, " ");
	if (!call(c, handle, tvb, &info))
		return false;
	explain(c, &v);
	return true;
}

/* The connection as the dissector is to find it. */
static void set_connection(struct rdma_ctx *c, const struct ulp_verdict *v)
{
	uint64_t service = v->ref.assoc->service_id;
	uint32_t peer = ulp_peer_qp(&v->ref, c->pinfo->num);

	if (v->rule != NULL && v->rule != service_rule(v->ref.assoc))
		service = ulp_rule_default_service(v->rule);
	if (!c->src_qp_known && peer != 0)
		c->pinfo->srcport = peer;
	ulp_conv_ensure(c->pinfo, &v->ref, service);
}

static bool try_verdict(struct rdma_ctx *c, tvbuff_t *tvb, const struct ulp_verdict *v)
{
	struct infinibandinfo info;
	bool padded = v->rule != NULL && (v->rule->flags & ULP_PAD), taken;

	if (v->ref.assoc != NULL)
		set_connection(c, v);
	if (v->piece == ULP_PART) {
		explain(c, v);
		return true;
	}
	info_fill(c, &info, padded);
	if (v->piece == ULP_LAST) {
		tvb = ulp_message_tvb(c, tvb, v->message);
		info_whole(&info);
	}
	if (v->rule != NULL && (v->rule->flags & ULP_APPENDS))
		col_append_str(c->pinfo->cinfo, COL_INFO, " ");
	if (v->rule != NULL)
		taken = call_by_name(c, v->rule->heur, padded ? with_pad(c, tvb) : tvb, &info);
	else
		taken = call(c, v->handle, tvb, NULL); /* not one for InfiniBand: it would misread our data */
	if (taken)
		explain(c, v);
	return taken;
}

static bool try_entries(struct rdma_ctx *c, const GPtrArray *entries, tvbuff_t *tvb, struct infinibandinfo *info)
{
	for (unsigned i = 0; i < entries->len; i++) {
		const heur_dtbl_entry_t *entry = g_ptr_array_index(entries, i);

		if (call_by_name(c, entry->short_name, tvb, info))
			return true;
	}
	return false;
}

/* Dissectors that the user added; and, on request, all of them, as the built-in does it. */
static bool try_without_evidence(struct rdma_ctx *c, tvbuff_t *tvb)
{
	struct infinibandinfo info;
	heur_dtbl_entry_t *entry;
	volatile bool taken = false;

	info_fill(c, &info, false);
	if (try_entries(c, foreign_payload, tvb, &info))
		return true;
	if (!guess || tvb_reported_length(tvb) == 0)
		return false;
	TRY
	{
		taken = dissector_try_heuristic(payload_heurs, tvb, c->pinfo, c->top_tree, &entry, &info);
	}
	CATCH_NONFATAL_ERRORS
	{
		show_exception(tvb, c->pinfo, c->top_tree, EXCEPT_CODE, GET_MESSAGE);
		taken = true;
	}
	ENDTRY;
	return taken;
}

bool rdma_ulp_dissect(struct rdma_ctx *c)
{
	/* A frame can hold several of ours: a super-packet, where PSNs tell them apart, and RoCE inside IPoIB. */
	const uint32_t key = (uint32_t)c->layer << 24 | c->pkt.bth.psn;
	struct ulp_verdict *stored = NULL, now = {0};
	dissector_handle_t handle;

	if (!enabled)
		return false;
	handle = decode_as != NULL ? dissector_get_payload_handle(decode_as) : NULL;
	if (handle != NULL && (c->payload_len == 0 || try_decode_as(c, handle, rdma_payload_tvb(c))))
		return c->payload_len != 0;
	if (PINFO_FD_VISITED(c->pinfo)) {
		stored = p_get_proto_data(wmem_file_scope(), c->pinfo, proto, key);
	} else if (decide(c, &now)) {
		stored = wmem_memdup(wmem_file_scope(), &now, sizeof(now));
		p_add_proto_data(wmem_file_scope(), c->pinfo, proto, key, stored);
	}
	if (stored != NULL && try_verdict(c, rdma_payload_tvb(c), stored))
		return true;
	return (foreign_payload->len > 0 || guess) && try_without_evidence(c, rdma_payload_tvb(c));
}

/* ---- CM private data ---- */

/* iSER's dissector says yes to anything in a connection of its port; only some of it is iSER. */
static bool cm_private_fits(const struct ulp_rule *r, uint16_t attribute, tvbuff_t *tvb)
{
	uint8_t first = tvb_captured_length(tvb) >= 2 ? rdma_tvb_u8(tvb, 0) : 0;

	if (g_str_equal(r->name, "iser"))
		return (first & 0xf3) == 0x10 ||
		       (((first & 0xf0) == 0x20 || (first & 0xf0) == 0x30) && rdma_tvb_u8(tvb, 1) == 0xaa);
	if (g_str_equal(r->name, "nvme-rdma"))
		return attribute == VS_CM_ATTR_REQ || attribute == VS_CM_ATTR_REP || attribute == VS_CM_ATTR_REJ;
	if (g_str_equal(r->name, "infiniband_sdp")) /* zeros would be a Hello */
		return tvb_captured_length(tvb) >= 16 && tvb_get_ntohl(tvb, 4) >= 16;
	return true;
}

bool rdma_ulp_cm_private(struct rdma_ctx *c, uint16_t attribute, tvbuff_t *private_tvb)
{
	struct ulp_assoc *assoc = ulp_cm_current(c->pinfo);
	const struct ulp_rule *rule = NULL;
	struct infinibandinfo info;

	if (!enabled || tvb_reported_length(private_tvb) == 0)
		return false;
	info_fill(c, &info, false);
	info.cm_attribute_id = attribute;
	if (assoc != NULL && assoc->service_known) {
		ulp_conv_ensure_cm(c->pinfo, assoc);
		rule = service_rule(assoc);
	}
	if (rule == NULL && tvb_captured_length(private_tvb) >= 4 && tvb_get_letohl(private_tvb, 0) == LNET_MAGIC)
		rule = ulp_rule_by_name("lnet", strlen("lnet"));
	if (rule != NULL && cm_private_fits(rule, attribute, private_tvb)) {
		if (rule->flags & ULP_APPENDS)
			col_append_str(c->pinfo->cinfo, COL_INFO, " ");
		if (call_by_name(c, rule->heur_cm, private_tvb, &info))
			return true;
	}
	return try_entries(c, foreign_cm, private_tvb, &info);
}

/* ---- registration ---- */

static const char *const stock_names[] = {
	"rpcrdma_infiniband", "nvme_rdma",      "iser_infiniband", "smb_direct_infiniband", "lnet_ib",
	"smcr_infiniband",    "sdp_infiniband", "eth_over_ib",     "mellanox_eoib",         "fc_infiniband",
	"iser_ib_private",    "sdp_ib_private", "drbd_rdma",       "nvme_rdma_cm_private",  "lnet_ib_cm_private",
};

static void collect_foreign(const char *table _U_, struct heur_dtbl_entry *entry, void *array)
{
	for (size_t i = 0; i < array_length(stock_names); i++)
		if (g_str_equal(stock_names[i], entry->short_name))
			return;
	g_ptr_array_add(array, entry);
}

/* When a file is opened: plugins and Lua scripts have added what they have by then, or taken it away. */
static void look_for_foreign(void)
{
	g_hash_table_remove_all(heurs);
	g_ptr_array_set_size(foreign_payload, 0);
	g_ptr_array_set_size(foreign_cm, 0);
	heur_dissector_table_foreach("infiniband.payload", collect_foreign, foreign_payload);
	heur_dissector_table_foreach("infiniband.mad.cm.private", collect_foreign, foreign_cm);
}

void rdma_ulp_register(int proto_id)
{
	static hf_register_info hf[] = {
		{&hf_ulp,
		 {"Upper layer", "rdma.ulp", FT_STRING, BASE_NONE, NULL, 0,
		  "The protocol that the payload was given to", HFILL}},
		{&hf_ulp_why,
		 {"Upper layer known by", "rdma.ulp.by", FT_STRING, BASE_NONE, NULL, 0,
		  "What speaks for this upper-layer protocol", HFILL}},
		{&hf_ulp_frame,
		 {"Upper layer learnt in frame", "rdma.ulp.frame", FT_FRAMENUM, BASE_NONE, NULL, 0,
		  "The CM request of this connection, or the first header that proved the protocol", HFILL}},
	};
	module_t *module = prefs_find_module(proto_get_protocol_filter_name(proto_id));

	proto = proto_id;
	proto_register_field_array(proto_id, hf, array_length(hf));
	prefs_register_bool_preference(module, "ulp", "Decode upper-layer protocols",
				       "Give payloads to NFS/RDMA, NVMe/RDMA, iSER, SMB Direct, IPoIB and other "
				       "dissectors when the connection's service ID, the table of protocols by QP, "
				       "Decode As or the header itself speaks for them",
				       &enabled);
	prefs_register_bool_preference(module, "ulp_guess", "Try all heuristic dissectors without evidence",
				       "Offer payloads that nothing is known of to every heuristic dissector for "
				       "InfiniBand. Some take plain data for their own.",
				       &guess);
	ulp_table_register(module);
	ulp_cm_register();
	ulp_flow_register(proto_id);
	assocs = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), ulp_key_hash, ulp_key_equal);
	heurs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	foreign_payload = g_ptr_array_new();
	foreign_cm = g_ptr_array_new();
	register_init_routine(look_for_foreign);
}

void rdma_ulp_handoff(void)
{
	decode_as = find_dissector_table("infiniband");
	payload_heurs = find_heur_dissector_list("infiniband.payload");
	ulp_conv_handoff();
}
