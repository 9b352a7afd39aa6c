/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mad.c - management datagrams: the common header, and who decodes the rest.
 *
 * CM is ours (cm.c). Every other class goes to the built-in dissector as a whole packet, so that
 * nothing of what it knows is lost (SMP, SA, PerfMgt attributes); the columns stay ours, and the names
 * of methods and attributes in them come from transport/mad.def.
 *
 * A MAD that a snap length cut, or that is really too short, is shown as far as it goes; which of the
 * two it is, and a wrong base version, vs_pkt_validate has said by then. Neither is malformed.
 */
#include "rdma.h"

#include <epan/exceptions.h>

#include "vs/cm.h"
#include "vs/mad.h"

static int hf_mad, hf_baseversion, hf_mgmtclass, hf_classversion, hf_method, hf_response, hf_status, hf_classspecific,
	hf_transactionid, hf_attributeid, hf_reserved, hf_attributemodifier, hf_direction, hf_hoppointer, hf_hopcount,
	hf_data, hf_extra;
static int ett_mad;

static const range_string class_vals[] = {
#define VS_MAD_CLASS(first, last, ID, name, prefix) {(first), (last), (name)},
#include "mad.def"
	{0x00, 0xff, "reserved"},
	{0, 0, NULL},
};

static const value_string method_vals[] = {
#define VS_MAD_METHOD(code, ID, name) {(code), (name)},
#include "mad.def"
	{0, NULL},
};

#define FIELD(var, name, filter, type, display, strings, mask)                              \
	{                                                                                   \
		&(var),                                                                     \
		{                                                                           \
			name, "rdma.mad." filter, type, display, strings, mask, NULL, HFILL \
		}                                                                           \
	}

void rdma_mad_register(int proto)
{
	static hf_register_info hf[] = {
		{&hf_mad, {"Management Datagram", "rdma.mad", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
		FIELD(hf_baseversion, "Base Version", "baseversion", FT_UINT8, BASE_DEC, NULL, 0),
		FIELD(hf_mgmtclass, "Management Class", "mgmtclass", FT_UINT8, BASE_HEX | BASE_RANGE_STRING,
		      RVALS(class_vals), 0),
		FIELD(hf_classversion, "Class Version", "classversion", FT_UINT8, BASE_DEC, NULL, 0),
		FIELD(hf_method, "Method", "method", FT_UINT8, BASE_HEX, VALS(method_vals), 0),
		FIELD(hf_response, "Response", "response", FT_BOOLEAN, 8, NULL, VS_MAD_METHOD_RESPONSE),
		FIELD(hf_status, "Status", "status", FT_UINT16, BASE_HEX, NULL, 0),
		FIELD(hf_classspecific, "Class Specific", "classspecific", FT_UINT16, BASE_HEX, NULL, 0),
		FIELD(hf_transactionid, "Transaction ID", "transactionid", FT_UINT64, BASE_HEX, NULL, 0),
		FIELD(hf_attributeid, "Attribute ID", "attributeid", FT_UINT16, BASE_HEX, NULL, 0),
		FIELD(hf_reserved, "Reserved", "reserved", FT_UINT16, BASE_HEX, NULL, 0),
		FIELD(hf_attributemodifier, "Attribute Modifier", "attributemodifier", FT_UINT32, BASE_HEX, NULL, 0),
		FIELD(hf_direction, "Direction: returning", "direction", FT_BOOLEAN, 16, NULL, VS_MAD_STATUS_DIRECTION),
		FIELD(hf_hoppointer, "Hop Pointer", "hoppointer", FT_UINT8, BASE_DEC, NULL, 0),
		FIELD(hf_hopcount, "Hop Count", "hopcount", FT_UINT8, BASE_DEC, NULL, 0),
		FIELD(hf_data, "MAD Data", "data", FT_BYTES, BASE_NONE, NULL, 0),
		FIELD(hf_extra, "Bytes after the MAD", "extra", FT_BYTES, BASE_NONE, NULL, 0),
	};
	static int *const ett[] = {&ett_mad};

	proto_register_field_array(proto, hf, G_N_ELEMENTS(hf));
	rdma_subtrees_register(ett, G_N_ELEMENTS(ett));
	rdma_cm_register(proto);
}

void rdma_mad_handoff(void)
{
	/* `--only-protocols rdma` is to leave the built-in on. Its handles: rdma_builtin_dissect. */
	find_dissector_add_dependency("infiniband", proto_rdma);
}

/* ---- words ---- */

/* "SubnGet(NodeInfo)", "SubnAdmGetResp(PathRecord) status: busy", "PerfGet(0x0042)". */
static const char *mad_text(wmem_allocator_t *pool, const struct vs_mad *mad)
{
	const char *method = vs_mad_method_name(mad->method);
	const char *attribute = vs_mad_attribute_name(mad->mgmt_class, mad->attribute_id);

	if (method == NULL)
		method = wmem_strdup_printf(pool, "Method 0x%02x", mad->method);
	if (attribute == NULL)
		attribute = wmem_strdup_printf(pool, "0x%04x", mad->attribute_id);
	return wmem_strdup_printf(pool, "%s%s(%s)%s%s", vs_mad_class_prefix(mad->mgmt_class), method, attribute,
				  mad->status & 0x1f ? " status: " : "",
				  mad->status & 0x1f ? vs_mad_status_text(mad->status) : "");
}

/* The same with the name of a class that method names don't show. */
static const char *mad_text_with_class(wmem_allocator_t *pool, const struct vs_mad *mad)
{
	const char *text = mad_text(pool, mad);

	if (vs_mad_class_prefix(mad->mgmt_class)[0] != '\0')
		return text;
	return wmem_strdup_printf(pool, "%s %s", vs_mad_class_name(mad->mgmt_class), text);
}

/* Behind the opcode, so that the line still says what kind of packet it is. */
static void set_info(struct rdma_ctx *c, const char *what)
{
	col_add_fstr(c->pinfo->cinfo, COL_INFO, "%s  QP=0x%06x %s", rdma_opcode_name(c->pkt.bth.opcode, c->dc),
		     c->pkt.bth.destqp, what);
}

/* ---- tree ---- */

static void add_header(struct rdma_ctx *c, tvbuff_t *tvb, const struct vs_mad *mad, int len)
{
	const char *attribute = vs_mad_attribute_name(mad->mgmt_class, mad->attribute_id);
	proto_item *ti = proto_tree_add_none_format(c->tree, hf_mad, tvb, 0, len, "Management Datagram, %s: %s",
						    vs_mad_class_name(mad->mgmt_class), mad_text(c->pinfo->pool, mad));
	proto_tree *t = proto_item_add_subtree(ti, ett_mad);

	proto_tree_add_item(t, hf_baseversion, tvb, 0, 1, ENC_BIG_ENDIAN);
	proto_tree_add_item(t, hf_mgmtclass, tvb, 1, 1, ENC_BIG_ENDIAN);
	proto_tree_add_item(t, hf_classversion, tvb, 2, 1, ENC_BIG_ENDIAN);
	proto_tree_add_item(t, hf_method, tvb, 3, 1, ENC_BIG_ENDIAN);
	proto_tree_add_item(t, hf_response, tvb, 3, 1, ENC_BIG_ENDIAN);
	ti = proto_tree_add_item(t, hf_status, tvb, 4, 2, ENC_BIG_ENDIAN);
	proto_item_append_text(ti, " (%s)", vs_mad_status_text(mad->status));
	if (mad->mgmt_class == VS_MAD_CLASS_SMP_DIRECTED) {
		proto_tree_add_item(t, hf_direction, tvb, 4, 2, ENC_BIG_ENDIAN);
		proto_tree_add_item(t, hf_hoppointer, tvb, 6, 1, ENC_BIG_ENDIAN);
		proto_tree_add_item(t, hf_hopcount, tvb, 7, 1, ENC_BIG_ENDIAN);
	} else {
		proto_tree_add_item(t, hf_classspecific, tvb, 6, 2, ENC_BIG_ENDIAN);
	}
	proto_tree_add_item(t, hf_transactionid, tvb, 8, 8, ENC_BIG_ENDIAN);
	ti = proto_tree_add_item(t, hf_attributeid, tvb, 16, 2, ENC_BIG_ENDIAN);
	if (attribute != NULL)
		proto_item_append_text(ti, " (%s)", attribute);
	if (mad->rsv != 0)
		proto_tree_add_item(t, hf_reserved, tvb, 18, 2, ENC_BIG_ENDIAN);
	proto_tree_add_item(t, hf_attributemodifier, tvb, 20, 4, ENC_BIG_ENDIAN);
}

static void add_data(struct rdma_ctx *c, tvbuff_t *tvb, int begin, int end, int hf)
{
	if (end > begin)
		proto_tree_add_item(c->tree, hf, tvb, begin, end - begin, ENC_NA);
}

/*
 * Has the built-in decode the whole packet. Our columns stay as they are whatever it does, and an
 * exception in it is no fault of the packet.
 */
static bool builtin_decodes(struct rdma_ctx *c)
{
	gboolean writable = col_get_writable(c->pinfo->cinfo, -1);
	volatile bool decoded = false;

	col_set_writable(c->pinfo->cinfo, -1, FALSE);
	TRY
	{
		decoded = rdma_builtin_dissect(c);
	}
	CATCH_NONFATAL_ERRORS
	{
		decoded = false; /* the caller shows the bytes */
	}
	ENDTRY;
	col_set_writable(c->pinfo->cinfo, -1, writable);
	return decoded;
}

/* ---- entry ---- */

/* Too short for a header: nothing to decode. */
static void dissect_stump(struct rdma_ctx *c, tvbuff_t *tvb, bool cut)
{
	set_info(c, cut ? "MAD, cut before the end of its header" : "MAD too short for a header");
	add_data(c, tvb, 0, (int)tvb_captured_length(tvb), hf_data);
}

void rdma_mad_dissect(struct rdma_ctx *c, tvbuff_t *tvb)
{
	uint32_t captured = tvb_captured_length(tvb);
	bool cut = (c->pkt.flags & (VS_PKT_SNAPPED | VS_PKT_FRAGMENT)) != 0;
	int end = (int)MIN(captured, VS_MAD_LEN);
	const struct vs_cm_info *cm;
	struct vs_mad mad;

	if (captured < VS_MAD_HDR_LEN ||
	    vs_mad_parse(&mad, tvb_get_ptr(tvb, 0, VS_MAD_HDR_LEN), VS_MAD_HDR_LEN) != VS_OK) {
		dissect_stump(c, tvb, cut);
		return;
	}
	add_header(c, tvb, &mad, end);
	cm = mad.mgmt_class == VS_MAD_CLASS_CM ? vs_cm_info(mad.attribute_id) : NULL;
	if (cm != NULL) {
		rdma_cm_dissect(c, tvb, cm);
	} else {
		bool whole = !cut && captured >= VS_MAD_LEN;

		set_info(c, mad_text_with_class(c->pinfo->pool, &mad));
		/* All that the built-in adds is tree. */
		if (c->tree == NULL || !whole || !builtin_decodes(c))
			add_data(c, tvb, VS_MAD_HDR_LEN, end, hf_data);
	}
	add_data(c, tvb, VS_MAD_LEN, (int)captured, hf_extra);
}
