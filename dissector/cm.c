/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cm.c - CM messages in the tree and in the Info column.
 *
 * The fields, their names, types and value names come from the table that transport/cm.def becomes
 * (vs/cm.h): one Wireshark field per row, the same filter name for the same thing in every message.
 * What the table can't say is here: timeouts in words, service ids, the paths of REQ and LAP as
 * subtrees, RDMA-CM's header in front of the private data, reserved bits at the end.
 */
#include "rdma.h"

#include <inttypes.h>

#include "vs/cm.h"
#include "vs/mad.h"

#define FILTER_PREFIX "rdma.cm."
#define MESSAGES_MAX 16
#define SETS_MAX 16
#define PATH_LEN 44u /* two LIDs, two GIDs, 8 bytes of rates and limits */

/* One message as Wireshark knows it: hf[i] belongs to info->fields[i]. */
struct message_fields {
	const struct vs_cm_info *info;
	int *hf;
};

static struct message_fields message_fields[MESSAGES_MAX];

static int hf_cm, hf_portspace, hf_port, hf_vendorid, hf_rdmacm, hf_major, hf_minor, hf_ipversion, hf_rsv, hf_srcport,
	hf_src4, hf_dst4, hf_src6, hf_dst6;
static int ett_message, ett_service, ett_path, ett_reserved, ett_rdmacm;

static const value_string portspace_vals[] = {
	{VS_RDMACM_PS_TCP, "TCP"},
	{VS_RDMACM_PS_UDP, "UDP"},
	{VS_RDMACM_PS_IB, "IB"},
	{0, NULL},
};

/* ---- registration: the table becomes fields ---- */

/* The table as a value_string; tables that several fields share are made once. */
static const value_string *value_strings(const struct vs_cm_value *values)
{
	static struct {
		const struct vs_cm_value *from;
		value_string *to;
	} sets[SETS_MAX];
	size_t count = 0, i;

	for (i = 0; i < SETS_MAX && sets[i].from != NULL; i++)
		if (sets[i].from == values)
			return sets[i].to;
	DISSECTOR_ASSERT(i < SETS_MAX);
	while (values[count].text != NULL)
		count++;
	sets[i].from = values;
	sets[i].to = wmem_alloc0_array(wmem_epan_scope(), value_string, count + 1);
	for (size_t k = 0; k < count; k++)
		sets[i].to[k] = (value_string){values[k].value, values[k].text};
	return sets[i].to;
}

static enum ftenum uint_type(size_t span)
{
	static const enum ftenum types[9] = {FT_NONE,   FT_UINT8,  FT_UINT16, FT_UINT24, FT_UINT32,
					     FT_UINT40, FT_UINT48, FT_UINT56, FT_UINT64};

	DISSECTOR_ASSERT(span < G_N_ELEMENTS(types));
	return types[span];
}

/* The bits of the field within the bytes it touches; 0 (no mask) when it has them all. */
static uint64_t mask_of(const struct vs_cm_field *f)
{
	unsigned bits = 8 * (unsigned)vs_cm_field_span(f);

	if (f->width == bits)
		return 0;
	return (UINT64_MAX >> (64 - f->width)) << (bits - f->bit - f->width);
}

static void describe(const struct vs_cm_field *f, header_field_info *h)
{
	h->name = f->label;
	h->abbrev = f->filter;
	h->display = BASE_NONE;
	switch ((enum vs_cm_kind)f->kind) {
	case VS_CM_KIND_GUID:
		h->type = FT_EUI64;
		return;
	case VS_CM_KIND_GID:
		h->type = FT_IPv6;
		return;
	case VS_CM_KIND_BYTES:
	case VS_CM_KIND_PRIVATE:
		h->type = FT_BYTES;
		return;
	case VS_CM_KIND_FLAG:
		h->type = FT_BOOLEAN;
		h->display = 8 * (int)vs_cm_field_span(f);
		break;
	case VS_CM_KIND_ENUM:
		h->strings = VALS(value_strings(f->values));
		h->display = BASE_DEC;
		h->type = uint_type(vs_cm_field_span(f));
		break;
	case VS_CM_KIND_HEX:
	case VS_CM_KIND_SERVICE:
	case VS_CM_KIND_RESERVED:
		h->display = BASE_HEX;
		h->type = uint_type(vs_cm_field_span(f));
		break;
	case VS_CM_KIND_DEC:
	case VS_CM_KIND_RNR:
	case VS_CM_KIND_TIMEOUT:
	case VS_CM_KIND_ACK_TIMEOUT:
		h->display = BASE_DEC;
		h->type = uint_type(vs_cm_field_span(f));
		break;
	}
	h->bitmask = mask_of(f);
}

static void register_table(int proto)
{
	static const hf_register_info unset = {NULL, {NULL, NULL, FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}};
	size_t count;
	const struct vs_cm_info *messages = vs_cm_messages(&count);

	DISSECTOR_ASSERT(count <= MESSAGES_MAX);
	for (size_t k = 0; k < count; k++) {
		const struct vs_cm_info *info = &messages[k];
		hf_register_info *hf = wmem_alloc_array(wmem_epan_scope(), hf_register_info, info->field_count);

		message_fields[k].info = info;
		message_fields[k].hf = wmem_alloc0_array(wmem_epan_scope(), int, info->field_count);
		for (size_t i = 0; i < info->field_count; i++) {
			hf[i] = unset;
			hf[i].p_id = &message_fields[k].hf[i];
			describe(&info->fields[i], &hf[i].hfinfo);
		}
		proto_register_field_array(proto, hf, (int)info->field_count);
	}
}

#define FIELD(var, name, filter, type, display, strings, mask)                                \
	{                                                                                     \
		&(var),                                                                       \
		{                                                                             \
			name, FILTER_PREFIX filter, type, display, strings, mask, NULL, HFILL \
		}                                                                             \
	}

void rdma_cm_register(int proto)
{
	static hf_register_info hf[] = {
		{&hf_cm, {"Communication Management", "rdma.cm", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
		FIELD(hf_portspace, "Port Space", "service.portspace", FT_UINT8, BASE_HEX, VALS(portspace_vals), 0),
		FIELD(hf_port, "Port", "service.port", FT_UINT16, BASE_DEC, NULL, 0),
		FIELD(hf_vendorid, "Vendor ID (ECE)", "vendorid", FT_UINT24, BASE_HEX, NULL, 0),
		FIELD(hf_rdmacm, "RDMA-CM", "ip", FT_NONE, BASE_NONE, NULL, 0),
		FIELD(hf_major, "Major Version", "ip.majorversion", FT_UINT8, BASE_DEC, NULL, 0xf0),
		FIELD(hf_minor, "Minor Version", "ip.minorversion", FT_UINT8, BASE_DEC, NULL, 0x0f),
		FIELD(hf_ipversion, "IP Version", "ip.version", FT_UINT8, BASE_DEC, NULL, 0xf0),
		FIELD(hf_rsv, "Reserved", "reserved", FT_UINT8, BASE_HEX, NULL, 0x0f),
		FIELD(hf_srcport, "Source Port", "ip.srcport", FT_UINT16, BASE_DEC, NULL, 0),
		FIELD(hf_src4, "Source Address", "ip.src", FT_IPv4, BASE_NONE, NULL, 0),
		FIELD(hf_dst4, "Destination Address", "ip.dst", FT_IPv4, BASE_NONE, NULL, 0),
		FIELD(hf_src6, "Source Address", "ip.src6", FT_IPv6, BASE_NONE, NULL, 0),
		FIELD(hf_dst6, "Destination Address", "ip.dst6", FT_IPv6, BASE_NONE, NULL, 0),
	};
	static int *const ett[] = {&ett_message, &ett_service, &ett_path, &ett_reserved, &ett_rdmacm};

	register_table(proto);
	proto_register_field_array(proto, hf, G_N_ELEMENTS(hf));
	rdma_subtrees_register(ett, G_N_ELEMENTS(ett));
}

/* ---- words ---- */

static const char *time_text(wmem_allocator_t *pool, uint64_t ns)
{
	if (ns < 1000000)
		return wmem_strdup_printf(pool, "%.3f us", (double)ns / 1e3);
	if (ns < 1000000000)
		return wmem_strdup_printf(pool, "%.3f ms", (double)ns / 1e6);
	return wmem_strdup_printf(pool, "%.3f s", (double)ns / 1e9);
}

/* Who a service id belongs to, where its form says so. */
static const char *service_text(wmem_allocator_t *pool, uint64_t id)
{
	const char *space = vs_rdmacm_port_space_name(vs_rdmacm_port_space(id));

	if (vs_rdmacm_is_service(id) && space != NULL)
		return wmem_strdup_printf(pool, "RDMA-CM %s port %u", space, vs_rdmacm_port(id));
	if (vs_rdmacm_is_service(id))
		return wmem_strdup_printf(pool, "RDMA-CM protocol %u port %u", vs_rdmacm_port_space(id),
					  vs_rdmacm_port(id));
	if (id >> 16 == 1) /* Annex A4 */
		return wmem_strdup_printf(pool, "SDP port %u", (uint16_t)id);
	if (id >> 24 == UINT64_C(0x1000000000)) /* RFC 4755, as Linux writes it */
		return wmem_strdup_printf(pool, "IPoIB connected mode to 0x%06x", (uint32_t)id & 0xffffff);
	return wmem_strdup_printf(pool, "0x%016" PRIx64, id);
}

/* What the Info column says after the name of the message; "" when the capture cut it off. */
static const char *info_text(wmem_allocator_t *pool, const struct vs_cm_msg *m, size_t captured)
{
	static const uint8_t needed[] = {48, 10, 12, 24, 8, 12, 8, 16, 24, 16, 10}; /* bytes, from REQ to APR */

	if (captured < needed[m->attribute - VS_CM_ATTR_REQ])
		return "";
	switch (m->attribute) {
	case VS_CM_ATTR_REQ:
		return wmem_strdup_printf(pool, " comm=0x%08x -> service %s QP=0x%06x PSN=%u", m->req.local_comm_id,
					  service_text(pool, m->req.service_id), m->req.qpn, m->req.psn);
	case VS_CM_ATTR_MRA:
		return wmem_strdup_printf(pool, " of %s, answer within %s comm=0x%08x -> 0x%08x",
					  vs_cm_mra_message_text(m->mra.message),
					  time_text(pool, vs_cm_timeout_ns(m->mra.service_timeout)),
					  m->mra.local_comm_id, m->mra.remote_comm_id);
	case VS_CM_ATTR_REJ:
		return wmem_strdup_printf(pool, " reason: %s (%u) comm=0x%08x -> 0x%08x",
					  vs_cm_rej_reason_text(m->rej.reason), m->rej.reason, m->rej.local_comm_id,
					  m->rej.remote_comm_id);
	case VS_CM_ATTR_REP:
		return wmem_strdup_printf(pool, " comm=0x%08x -> 0x%08x QP=0x%06x PSN=%u", m->rep.local_comm_id,
					  m->rep.remote_comm_id, m->rep.qpn, m->rep.psn);
	case VS_CM_ATTR_DREQ:
		return wmem_strdup_printf(pool, " comm=0x%08x -> 0x%08x remote QP=0x%06x", m->dreq.local_comm_id,
					  m->dreq.remote_comm_id, m->dreq.remote_qpn);
	case VS_CM_ATTR_SIDR_REQ:
		return wmem_strdup_printf(pool, " request=0x%08x -> service %s", m->sidr_req.request_id,
					  service_text(pool, m->sidr_req.service_id));
	case VS_CM_ATTR_SIDR_REP:
		return wmem_strdup_printf(pool, " request=0x%08x status: %s QP=0x%06x Q_Key=0x%08x",
					  m->sidr_rep.request_id, vs_cm_sidr_status_text(m->sidr_rep.status),
					  m->sidr_rep.qpn, m->sidr_rep.qkey);
	case VS_CM_ATTR_LAP:
		return wmem_strdup_printf(pool, " comm=0x%08x -> 0x%08x remote QP=0x%06x", m->lap.local_comm_id,
					  m->lap.remote_comm_id, m->lap.remote_qpn);
	case VS_CM_ATTR_APR:
		return wmem_strdup_printf(pool, " status: %s comm=0x%08x -> 0x%08x",
					  vs_cm_apr_status_text(m->apr.status), m->apr.local_comm_id,
					  m->apr.remote_comm_id);
	default: /* RTU and DREP: the two ids and nothing else */
		return wmem_strdup_printf(pool, " comm=0x%08x -> 0x%08x", m->rtu.local_comm_id, m->rtu.remote_comm_id);
	}
}

/* ---- tree ---- */

/* A message on its way into the tree. */
struct cm_view {
	struct rdma_ctx *c;
	tvbuff_t *tvb; /* begins with the MAD header */
	const struct vs_cm_info *info;
	const int *hf;             /* one per field */
	const struct vs_cm_msg *m; /* zeros where the capture was cut */
	size_t captured;           /* bytes of the 232 that are there */
	proto_tree *tree;
	proto_tree *path;      /* subtree of the path that fields go to now */
	const char *path_name; /* its part of the filter name, "primary." or "alternate."; NULL for none */
};

static void add_service(struct cm_view *v, const struct vs_cm_field *f, proto_item *ti, uint64_t id)
{
	int at = (int)(VS_MAD_HDR_LEN + f->byte);
	proto_tree *t;

	if (!vs_rdmacm_is_service(id) && id >> 16 != 1 && id >> 24 != UINT64_C(0x1000000000))
		return;
	proto_item_append_text(ti, " (%s)", service_text(v->c->pinfo->pool, id));
	if (!vs_rdmacm_is_service(id))
		return;
	t = proto_item_add_subtree(ti, ett_service);
	proto_tree_add_item(t, hf_portspace, v->tvb, at + 5, 1, ENC_BIG_ENDIAN);
	proto_tree_add_item(t, hf_port, v->tvb, at + 6, 2, ENC_BIG_ENDIAN);
}

/* What a number means, behind the number. */
static void explain(struct cm_view *v, const struct vs_cm_field *f, proto_item *ti, const uint8_t *data)
{
	uint64_t value = f->width <= 64 ? vs_cm_field_value(f, data) : 0;

	switch ((enum vs_cm_kind)f->kind) {
	case VS_CM_KIND_SERVICE:
		add_service(v, f, ti, value);
		break;
	case VS_CM_KIND_ACK_TIMEOUT:
		if (value == 0) {
			proto_item_append_text(ti, " (none)");
			break;
		}
		/* fall through */
	case VS_CM_KIND_TIMEOUT:
		proto_item_append_text(ti, " (%s)", time_text(v->c->pinfo->pool, vs_cm_timeout_ns((uint8_t)value)));
		break;
	case VS_CM_KIND_RNR:
		if (value == 7)
			proto_item_append_text(ti, " (for ever)");
		break;
	default:
		break;
	}
}

static bool all_zero(const uint8_t *data, size_t len)
{
	while (len > 0 && data[len - 1] == 0)
		len--;
	return len == 0;
}

static bool is_there(const struct cm_view *v, const struct vs_cm_field *f)
{
	return f->byte + vs_cm_field_span(f) <= v->captured;
}

/* A new subtree for the path that begins with field `f`: two LIDs, then two GIDs, in REQ and LAP alike. */
static proto_tree *path_new(struct cm_view *v, const struct vs_cm_field *f, const char *label, const uint8_t *data)
{
	int at = (int)(VS_MAD_HDR_LEN + f->byte);
	proto_item *ti;
	proto_tree *t = proto_tree_add_subtree(v->tree, v->tvb, at, (int)MIN(PATH_LEN, v->captured - f->byte), ett_path,
					       &ti, label);

	if (!is_there(v, &f[3]))
		return t;
	if (all_zero(data + f->byte, PATH_LEN - 8)) /* LIDs and GIDs */
		proto_item_append_text(ti, ": none");
	else
		proto_item_append_text(ti, ": %s -> %s", tvb_ip6_to_str(v->c->pinfo->pool, v->tvb, at + 4),
				       tvb_ip6_to_str(v->c->pinfo->pool, v->tvb, at + 20));
	return t;
}

/* The subtree that a field belongs to: fields of a path stand together under the name of the path. */
static proto_tree *tree_for(struct cm_view *v, const struct vs_cm_field *f, const uint8_t *data)
{
	static const struct {
		const char *part, *label;
	} paths[] = {{"primary.", "Primary Path"}, {"alternate.", "Alternate Path"}};
	const char *name = f->filter + strlen(FILTER_PREFIX);

	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
		if (strncmp(name, paths[i].part, strlen(paths[i].part)) != 0)
			continue;
		if (v->path_name != paths[i].part)
			v->path = path_new(v, f, paths[i].label, data);
		v->path_name = paths[i].part;
		return v->path;
	}
	return v->tree;
}

static void add_fields(struct cm_view *v, const uint8_t *data)
{
	for (size_t i = 0; i < v->info->field_count && is_there(v, &v->info->fields[i]); i++) {
		const struct vs_cm_field *f = &v->info->fields[i];
		proto_item *ti;

		if (f->kind == VS_CM_KIND_RESERVED || f->kind == VS_CM_KIND_PRIVATE)
			continue;
		ti = proto_tree_add_item(tree_for(v, f, data), v->hf[i], v->tvb, (int)(VS_MAD_HDR_LEN + f->byte),
					 (int)vs_cm_field_span(f), ENC_BIG_ENDIAN);
		explain(v, f, ti, data);
	}
}

/* The vendor id of REP stands in three places: once more in one piece, so that one filter finds it. */
static void add_rep_vendor(struct cm_view *v)
{
	const struct vs_cm_rep *r = &v->m->rep;
	proto_item *ti;

	if (v->info->attribute != VS_CM_ATTR_REP || v->captured < 24)
		return;
	ti = proto_tree_add_uint(v->tree, hf_vendorid, v->tvb, (int)VS_MAD_HDR_LEN + 15, 9,
				 (uint32_t)r->vendor_id_h << 16 | (uint32_t)r->vendor_id_m << 8 | r->vendor_id_l);
	proto_item_set_generated(ti);
}

static void add_reserved(struct cm_view *v, const uint8_t *data)
{
	proto_tree *t = NULL;
	proto_item *ti = NULL;
	bool zero = true;

	for (size_t i = 0; i < v->info->field_count && is_there(v, &v->info->fields[i]); i++) {
		const struct vs_cm_field *f = &v->info->fields[i];

		if (f->kind != VS_CM_KIND_RESERVED)
			continue;
		if (t == NULL)
			t = proto_tree_add_subtree(v->tree, v->tvb, (int)(VS_MAD_HDR_LEN + f->byte), 0, ett_reserved,
						   &ti, "Reserved bits");
		zero = zero && vs_cm_field_value(f, data) == 0;
		proto_tree_add_item(t, v->hf[i], v->tvb, (int)(VS_MAD_HDR_LEN + f->byte), (int)vs_cm_field_span(f),
				    ENC_BIG_ENDIAN);
	}
	if (ti != NULL)
		proto_item_append_text(ti, zero ? " (all 0)" : " (not all 0)");
}

/* ---- private data ---- */

/* Whether these private data begin with RDMA-CM's own header. */
static bool has_rdmacm_header(const struct vs_cm_msg *m, struct vs_rdmacm_hdr *h)
{
	const uint8_t *data;
	uint64_t service;

	if (m->attribute == VS_CM_ATTR_REQ) {
		data = m->req.private_data;
		service = m->req.service_id;
	} else if (m->attribute == VS_CM_ATTR_SIDR_REQ) {
		data = m->sidr_req.private_data;
		service = m->sidr_req.service_id;
	} else {
		return false;
	}
	return vs_rdmacm_is_service(service) && vs_rdmacm_parse(h, data, VS_RDMACM_HDR_LEN) == VS_OK &&
	       vs_rdmacm_hdr_is_known(h);
}

static void add_rdmacm_header(struct cm_view *v, int at, const struct vs_rdmacm_hdr *h)
{
	proto_item *ti = proto_tree_add_item(v->tree, hf_rdmacm, v->tvb, at, (int)VS_RDMACM_HDR_LEN, ENC_NA);
	proto_tree *t = proto_item_add_subtree(ti, ett_rdmacm);
	bool v4 = h->ip_version == 4;

	proto_tree_add_item(t, hf_major, v->tvb, at, 1, ENC_BIG_ENDIAN);
	proto_tree_add_item(t, hf_minor, v->tvb, at, 1, ENC_BIG_ENDIAN);
	proto_tree_add_item(t, hf_ipversion, v->tvb, at + 1, 1, ENC_BIG_ENDIAN);
	if (h->rsv != 0)
		proto_tree_add_item(t, hf_rsv, v->tvb, at + 1, 1, ENC_BIG_ENDIAN);
	proto_tree_add_item(t, hf_srcport, v->tvb, at + 2, 2, ENC_BIG_ENDIAN);
	if (v4) {
		proto_tree_add_item(t, hf_src4, v->tvb, at + 16, 4, ENC_BIG_ENDIAN);
		proto_tree_add_item(t, hf_dst4, v->tvb, at + 32, 4, ENC_BIG_ENDIAN);
		proto_item_append_text(ti, ", %s:%u -> %s", tvb_ip_to_str(v->c->pinfo->pool, v->tvb, at + 16),
				       h->src_port, tvb_ip_to_str(v->c->pinfo->pool, v->tvb, at + 32));
	} else {
		proto_tree_add_item(t, hf_src6, v->tvb, at + 4, 16, ENC_NA);
		proto_tree_add_item(t, hf_dst6, v->tvb, at + 20, 16, ENC_NA);
		proto_item_append_text(ti, ", [%s]:%u -> %s", tvb_ip6_to_str(v->c->pinfo->pool, v->tvb, at + 4),
				       h->src_port, tvb_ip6_to_str(v->c->pinfo->pool, v->tvb, at + 20));
	}
}

/* "hello" for text that zeros follow; NULL for anything else. */
static const char *private_as_text(wmem_allocator_t *pool, const uint8_t *data, size_t len)
{
	size_t n = 0;

	while (n < len && g_ascii_isprint((char)data[n]))
		n++;
	if (n < 2)
		return NULL;
	for (size_t i = n; i < len; i++)
		if (data[i] != 0)
			return NULL;
	return wmem_strndup(pool, (const char *)data, n);
}

/* The consumer's own data, from byte `begin` of the data to the end, as far as captured. */
static void add_private(struct cm_view *v, size_t begin, int hf)
{
	size_t len = v->captured - begin;
	int at = (int)(VS_MAD_HDR_LEN + begin);
	proto_item *ti = proto_tree_add_item(v->tree, hf, v->tvb, at, (int)len, ENC_NA);
	const uint8_t *data = tvb_get_ptr(v->tvb, at, (int)len);
	const char *text = private_as_text(v->c->pinfo->pool, data, len);

	if (text != NULL)
		proto_item_append_text(ti, " \"%s\"", text);
	else if (all_zero(data, len))
		proto_item_append_text(ti, " (all 0)");
}

/* Shows the private data; returns where the consumer's own part begins, counted from the MAD's data. */
static size_t dissect_private(struct cm_view *v)
{
	size_t last = v->info->field_count - 1; /* private data are always the last field */
	size_t begin = v->info->fields[last].byte;
	struct vs_rdmacm_hdr h;

	if (v->captured >= begin + VS_RDMACM_HDR_LEN && has_rdmacm_header(v->m, &h)) {
		add_rdmacm_header(v, (int)(VS_MAD_HDR_LEN + begin), &h);
		begin += VS_RDMACM_HDR_LEN;
	}
	if (v->captured > begin)
		add_private(v, begin, v->hf[last]);
	return begin;
}

/* ---- entry ---- */

void rdma_cm_dissect(struct rdma_ctx *c, tvbuff_t *tvb, const struct vs_cm_info *info)
{
	const struct message_fields *fields = message_fields;
	uint8_t data[VS_CM_DATA_LEN] = {0};
	struct vs_cm_msg m;
	struct cm_view v = {.c = c, .tvb = tvb, .info = info, .m = &m};
	size_t begin;

	v.captured = MIN(tvb_captured_length(tvb) - VS_MAD_HDR_LEN, VS_CM_DATA_LEN);
	tvb_memcpy(tvb, data, (int)VS_MAD_HDR_LEN, v.captured);
	if (vs_cm_parse(&m, info->attribute, data, sizeof(data)) != VS_OK)
		return; /* can't be: the message exists and the data are long enough */
	col_add_fstr(c->pinfo->cinfo, COL_INFO, "CM %s%s", info->name, info_text(c->pinfo->pool, &m, v.captured));
	rdma_ulp_learn_cm(c, info->attribute, data, v.captured);
	while (fields->info != info)
		fields++;
	v.hf = fields->hf;
	if (c->tree != NULL) {
		proto_item *ti = proto_tree_add_none_format(c->tree, hf_cm, tvb, (int)VS_MAD_HDR_LEN, (int)v.captured,
							    "CM %s (%s)", info->name, info->abbrev);

		v.tree = proto_item_add_subtree(ti, ett_message);
		add_fields(&v, data);
		add_rep_vendor(&v);
	}
	begin = dissect_private(&v);
	if (c->tree != NULL)
		add_reserved(&v, data);
	/* Last, since others may throw. */
	if (v.captured == VS_CM_DATA_LEN)
		rdma_ulp_cm_private(
			c, info->attribute,
			tvb_new_subset_length(tvb, (int)(VS_MAD_HDR_LEN + begin), (int)(VS_CM_DATA_LEN - begin)));
}
