/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_cm.c - MAD header and CM messages: nothing is lost in either direction, and fields mean what
 * real captures say. The table of fields itself: test_cm_layout.c.
 */
#include <string.h>

#include "runner.h"
#include "vs/cm.h"
#include "vs/err.h"
#include "vs/mad.h"

#define ROUNDS 100000

/* ck_assert without its cost when all is well (Check writes to a pipe at each): for inner loops. */
#define MUST(condition)                                              \
	do {                                                         \
		if (!(condition))                                    \
			ck_abort_msg("round %u: %s", n, #condition); \
	} while (0)

static void random_bytes(uint64_t *seed, uint8_t *b, size_t len)
{
	for (size_t i = 0; i < len; i++)
		b[i] = (uint8_t)(vs_rand(seed) >> 32);
}

/* ---- both ways ---- */

START_TEST(build_of_parse_is_the_same_bytes)
{
	size_t messages;
	const struct vs_cm_info *m = vs_cm_messages(&messages);
	uint64_t seed = 0x5eed0001 + (uint64_t)_i;
	uint8_t in[VS_CM_DATA_LEN], out[VS_CM_DATA_LEN];
	struct vs_cm_msg msg;

	for (unsigned n = 0; n < ROUNDS; n++) {
		random_bytes(&seed, in, sizeof(in));
		memset(out, 0xa5, sizeof(out));
		MUST(vs_cm_parse(&msg, m[_i].attribute, in, sizeof(in)) == VS_OK);
		MUST(vs_cm_build(&msg, out) == VS_OK);
		MUST(memcmp(in, out, sizeof(in)) == 0);
	}
	(void)messages;
}
END_TEST

/* A random message: every member random within its width, little-endian or big-endian host alike. */
static void random_message(uint64_t *seed, struct vs_cm_msg *msg, const struct vs_cm_info *info)
{
	memset(msg, 0, sizeof(*msg));
	msg->attribute = info->attribute;
	for (size_t i = 0; i < info->field_count; i++) {
		const struct vs_cm_field *f = &info->fields[i];
		uint8_t *at = (uint8_t *)msg + f->offset;
		uint64_t v = f->width <= 64 ? vs_rand(seed) >> (64 - f->width) : 0;

		if (f->kind >= VS_CM_KIND_GID)
			random_bytes(seed, at, f->size);
		else if (f->size == 1)
			*at = (uint8_t)v;
		else if (f->size == 2)
			memcpy(at, &(uint16_t){(uint16_t)v}, 2);
		else if (f->size == 4)
			memcpy(at, &(uint32_t){(uint32_t)v}, 4);
		else
			memcpy(at, &v, 8);
	}
}

START_TEST(parse_of_build_is_the_same_message)
{
	size_t messages;
	const struct vs_cm_info *m = vs_cm_messages(&messages);
	uint64_t seed = 0x5eed0101 + (uint64_t)_i;
	uint8_t bytes[VS_CM_DATA_LEN];
	struct vs_cm_msg a, b;

	for (unsigned n = 0; n < ROUNDS; n++) {
		random_message(&seed, &a, &m[_i]);
		memset(&b, 0xa5, sizeof(b));
		MUST(vs_cm_build(&a, bytes) == VS_OK);
		MUST(vs_cm_parse(&b, m[_i].attribute, bytes, sizeof(bytes)) == VS_OK);
		MUST(vs_cm_equal(&a, &b));
	}
	(void)messages;
}
END_TEST

START_TEST(a_flipped_bit_changes_exactly_the_field_it_is_in)
{
	size_t messages;
	const struct vs_cm_info *m = vs_cm_messages(&messages);
	uint8_t bytes[VS_CM_DATA_LEN];
	struct vs_cm_msg a, b;
	uint64_t seed = 0x5eed0201;

	for (size_t k = 0; k < messages; k++) {
		random_bytes(&seed, bytes, sizeof(bytes));
		ck_assert_int_eq(vs_cm_parse(&a, m[k].attribute, bytes, sizeof(bytes)), VS_OK);
		for (unsigned bit = 0; bit < 8 * VS_CM_DATA_LEN; bit++) {
			bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
			if (vs_cm_parse(&b, m[k].attribute, bytes, sizeof(bytes)) != VS_OK || vs_cm_equal(&a, &b))
				ck_abort_msg("%s, bit %u", m[k].abbrev, bit);
			for (size_t i = 0; i < m[k].field_count; i++) {
				const struct vs_cm_field *f = &m[k].fields[i];
				bool inside = bit >= 8u * f->byte + f->bit && bit < 8u * f->byte + f->bit + f->width;
				bool differs =
					memcmp((uint8_t *)&a + f->offset, (uint8_t *)&b + f->offset, f->size) != 0;

				if (inside != differs)
					ck_abort_msg("%s.%s, bit %u", m[k].abbrev, f->name, bit);
			}
			bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		}
	}
}
END_TEST

START_TEST(a_value_too_wide_for_its_bits_is_refused_and_nothing_written)
{
	uint8_t data[VS_CM_DATA_LEN], before[VS_CM_DATA_LEN];
	struct vs_cm_msg m = {.attribute = VS_CM_ATTR_REQ};

	memset(data, 0x5a, sizeof(data));
	memcpy(before, data, sizeof(data));
	m.req.qpn = 0x1000000;
	ck_assert_int_eq(vs_cm_build(&m, data), VS_ERR_INVAL);
	m.req.qpn = 0xffffff;
	m.req.primary_flow_label = 0x100000;
	ck_assert_int_eq(vs_cm_build(&m, data), VS_ERR_INVAL);
	m.req.primary_flow_label = 0xfffff;
	m.req.retry_count = 8;
	ck_assert_int_eq(vs_cm_build(&m, data), VS_ERR_INVAL);
	m.req.retry_count = 7;
	m.req.rsv139 = 4;
	ck_assert_int_eq(vs_cm_build(&m, data), VS_ERR_INVAL);
	ck_assert_mem_eq(data, before, sizeof(data));
	m.req.rsv139 = 3;
	ck_assert_int_eq(vs_cm_build(&m, data), VS_OK);
	ck_assert_uint_eq(data[32], 0xff);
}
END_TEST

START_TEST(short_data_and_unknown_messages_are_refused_untouched)
{
	uint8_t data[VS_CM_DATA_LEN] = {0}, before[VS_CM_DATA_LEN] = {0};
	struct vs_cm_msg m, was;

	memset(&m, 0xa5, sizeof(m));
	memcpy(&was, &m, sizeof(m));
	ck_assert_int_eq(vs_cm_parse(&m, VS_CM_ATTR_REQ, data, VS_CM_DATA_LEN - 1), VS_ERR_SHORT);
	ck_assert_int_eq(vs_cm_parse(&m, VS_CM_ATTR_REQ, data, 0), VS_ERR_SHORT);
	ck_assert_int_eq(vs_cm_parse(&m, 0x000f, data, sizeof(data)), VS_ERR_UNSUPPORTED);
	ck_assert_int_eq(vs_cm_parse(&m, 0x001b, data, sizeof(data)), VS_ERR_UNSUPPORTED);
	ck_assert_mem_eq(&m, &was, sizeof(m));
	m.attribute = 0x0001;
	ck_assert_int_eq(vs_cm_build(&m, data), VS_ERR_UNSUPPORTED);
	ck_assert_mem_eq(data, before, sizeof(data));
	ck_assert(!vs_cm_equal(&m, &m));
}
END_TEST

/* ---- real messages: rxe of Linux 6.1 and 6.12, decoded by hand and by other decoders ---- */

/* rping over IPv4, frame 1: the REQ, up to the end of the private header. Zeros follow. */
static const uint8_t real_req[176] =
	{
		0x31,         0x52,         0x02,         0xc6,         0x00,         0x00,         0x00,
		0x00,         0x00,         0x00,         0x00,         0x00,         0x01,         0x06,
		0x1c,         0x06,         0x50,         0x54,         0x00,         0xff,         0xfe,
		0x00,         0x00,         0x02,         0x00,         0x00,         0x00,         0x00,
		0x00,         0x00,         0x00,         0x00,         0x00,         0x00,         0x11,
		0x01,         0x00,         0x00,         0x00,         0x01,         0x00,         0x00,
		0x00,         0xa0,         0xd9,         0xb9,         0xcb,         0xa7,         0xff,
		0xff,         0x57,         0xf0,         0xff,         0xff,         0xff,         0xff,
		0x00,         0x00,         0x00,         0x00,         0x00,         0x00,         0x00,
		0x00,         0x00,         0x00,         0xff,         0xff,         0x0a,         0x51,
		0x00,         0x02,         0x00,         0x00,         0x00,         0x00,         0x00,
		0x00,         0x00,         0x00,         0x00,         0x00,         0xff,         0xff,
		0x0a,         0x51,         0x00,         0x01,         0x46,         0xa9,         0x40,
		0x00,         0x00,         0x40,         0x00,         0x98,         [141] = 0x40, [142] = 0xa7,
		[143] = 0xb2, [156] = 0x0a, [157] = 0x51, [159] = 0x02, [172] = 0x0a, [173] = 0x51, [175] = 0x01,
};

START_TEST(a_real_req_means_what_the_sender_meant)
{
	static const uint8_t local[16] = {[10] = 0xff, 0xff, 10, 81, 0, 2};
	uint8_t data[VS_CM_DATA_LEN] = {0};
	struct vs_rdmacm_hdr h;
	struct vs_cm_msg m;

	memcpy(data, real_req, sizeof(real_req));
	ck_assert_int_eq(vs_cm_parse(&m, VS_CM_ATTR_REQ, data, sizeof(data)), VS_OK);
	ck_assert_uint_eq(m.req.local_comm_id, 0x315202c6);
	ck_assert(vs_rdmacm_is_service(m.req.service_id));
	ck_assert_str_eq(vs_rdmacm_port_space_name(vs_rdmacm_port_space(m.req.service_id)), "TCP");
	ck_assert_uint_eq(vs_rdmacm_port(m.req.service_id), 7174);
	ck_assert_uint_eq(m.req.local_ca_guid, 0x505400fffe000002);
	ck_assert_uint_eq(m.req.qpn, 0x11);
	ck_assert_uint_eq(m.req.responder_resources, 1);
	ck_assert_uint_eq(m.req.initiator_depth, 1);
	ck_assert_uint_eq(m.req.remote_cm_response_timeout, 20);
	ck_assert_uint_eq(m.req.transport, VS_CM_TRANSPORT_RC);
	ck_assert(!m.req.flow_control);
	ck_assert_uint_eq(m.req.psn, 0xd9b9cb);
	ck_assert_uint_eq(m.req.local_cm_response_timeout, 20);
	ck_assert_uint_eq(m.req.retry_count, 7);
	ck_assert_uint_eq(m.req.pkey, 0xffff);
	ck_assert_uint_eq(vs_cm_mtu_bytes(m.req.path_mtu), 4096);
	ck_assert_uint_eq(m.req.rnr_retry_count, 7);
	ck_assert_uint_eq(m.req.max_cm_retries, 15);
	ck_assert(!m.req.srq && !m.req.rdc_exists && !m.req.primary_subnet_local);
	ck_assert_uint_eq(m.req.primary_local_lid, 0xffff);
	ck_assert_mem_eq(m.req.primary_local_gid, local, 16);
	ck_assert_uint_eq(m.req.primary_flow_label, 0x46a94);
	ck_assert_uint_eq(m.req.primary_packet_rate, VS_CM_RATE_PORT);
	ck_assert_uint_eq(m.req.primary_hop_limit, 64);
	ck_assert_uint_eq(m.req.primary_ack_timeout, 19);
	ck_assert_int_eq(vs_rdmacm_parse(&h, m.req.private_data, sizeof(m.req.private_data)), VS_OK);
	ck_assert(vs_rdmacm_hdr_is_known(&h));
	ck_assert_uint_eq(h.ip_version, 4);
	ck_assert_uint_eq(h.src_port, 42930);
	ck_assert_mem_eq(h.src + 12, "\x0a\x51\x00\x02", 4);
	ck_assert_mem_eq(h.dst + 12, "\x0a\x51\x00\x01", 4);
}
END_TEST

/* The REP to it; a consumer's REJ; the SIDR_REP of udaddy. Zeros follow each. */
static const uint8_t real_rep[36] = {0x48, 0x67, 0xd1, 0x64, 0x31, 0x52, 0x02, 0xc6, 0,    0,    0,    0,
				     0x00, 0x00, 0x11, 0x00, 0,    0,    0,    0,    0xf5, 0x17, 0x58, 0x00,
				     0x01, 0x01, 0x78, 0xe0, 0x50, 0x54, 0x00, 0xff, 0xfe, 0x00, 0x00, 0x01};
static const uint8_t real_rej[94] = {0xcc, 0x56,       0xd7, 0x88, 0x16, 0x09, 0x3c, 0xac, 0x00, 0x00, 0x00,
				     0x1c, [84] = 'n', 'o',  ' ',  't',  'h',  'a',  'n',  'k',  's',  0};
static const uint8_t real_sidr_rep[24] = {0x15, 0x09, 0x3c, 0xac, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x15, 0x00,
					  0x00, 0x00, 0x00, 0x00, 0x01, 0x11, 0x1c, 0x06, 0x01, 0x23, 0x45, 0x67};

START_TEST(real_answers_mean_what_the_sender_meant)
{
	uint8_t data[VS_CM_DATA_LEN] = {0};
	struct vs_cm_msg m;

	memcpy(data, real_rep, sizeof(real_rep));
	ck_assert_int_eq(vs_cm_parse(&m, VS_CM_ATTR_REP, data, sizeof(data)), VS_OK);
	ck_assert_uint_eq(m.rep.local_comm_id, 0x4867d164);
	ck_assert_uint_eq(m.rep.remote_comm_id, 0x315202c6);
	ck_assert_uint_eq(m.rep.qpn, 0x11);
	ck_assert_uint_eq(m.rep.psn, 0xf51758);
	ck_assert_uint_eq(m.rep.target_ack_delay, 15);
	ck_assert_uint_eq(m.rep.failover, VS_CM_FAILOVER_ACCEPTED);
	ck_assert_uint_eq(m.rep.rnr_retry_count, 7);
	ck_assert(!m.rep.srq && !m.rep.flow_control);
	ck_assert_uint_eq(m.rep.local_ca_guid, 0x505400fffe000001);

	memset(data, 0, sizeof(data));
	memcpy(data, real_rej, sizeof(real_rej));
	ck_assert_int_eq(vs_cm_parse(&m, VS_CM_ATTR_REJ, data, sizeof(data)), VS_OK);
	ck_assert_str_eq(vs_cm_rej_message_text(m.rej.message), "REQ");
	ck_assert_str_eq(vs_cm_rej_reason_text(m.rej.reason), "consumer reject");
	ck_assert_str_eq((const char *)m.rej.private_data, "no thanks");

	memset(data, 0, sizeof(data));
	memcpy(data, real_sidr_rep, sizeof(real_sidr_rep));
	ck_assert_int_eq(vs_cm_parse(&m, VS_CM_ATTR_SIDR_REP, data, sizeof(data)), VS_OK);
	ck_assert_uint_eq(m.sidr_rep.request_id, 0x15093cac);
	ck_assert_str_eq(vs_cm_sidr_status_text(m.sidr_rep.status), "ok");
	ck_assert_uint_eq(m.sidr_rep.qpn, 0x15);
	ck_assert_uint_eq(m.sidr_rep.service_id, vs_rdmacm_service(VS_RDMACM_PS_UDP, 7174));
	ck_assert_uint_eq(m.sidr_rep.qkey, 0x01234567);
}
END_TEST

/* ---- meanings ---- */

START_TEST(timeouts_are_4096_ns_times_a_power_of_two)
{
	ck_assert_uint_eq(vs_cm_timeout_ns(0), 4096);
	ck_assert_uint_eq(vs_cm_timeout_ns(14), 67108864);
	ck_assert_uint_eq(vs_cm_timeout_ns(20), 4294967296);
	ck_assert_uint_eq(vs_cm_timeout_ns(31), 8796093022208);
}
END_TEST

START_TEST(path_mtu_codes_are_256_to_4096)
{
	static const uint32_t bytes[16] = {0, 256, 512, 1024, 2048, 4096};

	for (uint8_t code = 0; code < 16; code++)
		ck_assert_uint_eq(vs_cm_mtu_bytes(code), bytes[code]);
}
END_TEST

START_TEST(every_reject_reason_has_its_words)
{
	for (uint16_t r = 1; r <= 35; r++)
		if (r != 34)
			ck_assert_msg(strcmp(vs_cm_rej_reason_text(r), "reserved") != 0, "%u", r);
	ck_assert_str_eq(vs_cm_rej_reason_text(0), "reserved");
	ck_assert_str_eq(vs_cm_rej_reason_text(34), "reserved");
	ck_assert_str_eq(vs_cm_rej_reason_text(36), "reserved");
	ck_assert_str_eq(vs_cm_rej_reason_text(VS_CM_REJ_SERVICE_ID), "invalid service id: nobody listens");
	ck_assert_uint_eq(VS_CM_REJ_STALE_CONN, 10);
	ck_assert_uint_eq(VS_CM_REJ_MTU, 26);
	ck_assert_str_eq(vs_cm_mra_message_text(2), "LAP");
	ck_assert_str_eq(vs_cm_mra_message_text(3), "reserved");
	ck_assert_str_eq(vs_cm_rej_message_text(2), "no particular message");
	ck_assert_str_eq(vs_cm_sidr_status_text(5), "unsupported class version");
	ck_assert_str_eq(vs_cm_sidr_status_text(6), "reserved");
	ck_assert_str_eq(vs_cm_apr_status_text(13), "SL rejected");
	ck_assert_str_eq(vs_cm_apr_status_text(14), "reserved");
}
END_TEST

START_TEST(rdma_cm_service_ids_are_told_from_others)
{
	ck_assert(vs_rdmacm_is_service(UINT64_C(0x0000000001061c06)));
	ck_assert(!vs_rdmacm_is_service(UINT64_C(0x1000000000000404))); /* IPoIB connected mode */
	ck_assert(!vs_rdmacm_is_service(UINT64_C(0x0000000000010016))); /* SDP */
	ck_assert(!vs_rdmacm_is_service(UINT64_C(0x0000000101061c06)));
	ck_assert_uint_eq(vs_rdmacm_service(VS_RDMACM_PS_TCP, 7174), UINT64_C(0x0000000001061c06));
	ck_assert_uint_eq(vs_rdmacm_service(VS_RDMACM_PS_IB, 0xffff), UINT64_C(0x00000000013fffff));
	ck_assert_ptr_null(vs_rdmacm_port_space_name(0x12));
}
END_TEST

START_TEST(the_private_header_of_rdma_cm_survives_both_ways)
{
	uint64_t seed = 0x5eed0301;
	uint8_t in[VS_RDMACM_HDR_LEN], out[VS_RDMACM_HDR_LEN];
	struct vs_rdmacm_hdr h;

	for (unsigned n = 0; n < ROUNDS; n++) {
		random_bytes(&seed, in, sizeof(in));
		MUST(vs_rdmacm_parse(&h, in, sizeof(in)) == VS_OK);
		MUST(vs_rdmacm_build(&h, out) == VS_OK);
		MUST(memcmp(in, out, sizeof(in)) == 0);
	}
	ck_assert_int_eq(vs_rdmacm_parse(&h, in, sizeof(in) - 1), VS_ERR_SHORT);
	h.ip_version = 16;
	ck_assert_int_eq(vs_rdmacm_build(&h, out), VS_ERR_INVAL);
	ck_assert_mem_eq(in, out, sizeof(in));
	h = (struct vs_rdmacm_hdr){.ip_version = 6};
	ck_assert(vs_rdmacm_hdr_is_known(&h));
	h.major = 1;
	ck_assert(!vs_rdmacm_hdr_is_known(&h));
	h = (struct vs_rdmacm_hdr){.ip_version = 5};
	ck_assert(!vs_rdmacm_hdr_is_known(&h));
}
END_TEST

/* ---- MAD header ---- */

START_TEST(the_mad_header_survives_both_ways)
{
	uint64_t seed = 0x5eed0401;
	uint8_t in[VS_MAD_HDR_LEN], out[VS_MAD_HDR_LEN];
	struct vs_mad m;

	for (unsigned n = 0; n < ROUNDS; n++) {
		random_bytes(&seed, in, sizeof(in));
		MUST(vs_mad_parse(&m, in, sizeof(in)) == VS_OK);
		vs_mad_build(&m, out);
		MUST(memcmp(in, out, sizeof(in)) == 0);
	}
	ck_assert_int_eq(vs_mad_parse(&m, in, sizeof(in) - 1), VS_ERR_SHORT);
	ck_assert_uint_eq(VS_MAD_HDR_LEN + VS_CM_DATA_LEN, VS_MAD_LEN);
}
END_TEST

START_TEST(a_real_mad_header_means_what_the_sender_meant)
{
	static const uint8_t real[VS_MAD_HDR_LEN] = {1,    7,    2,    3,    0, 0,    0, 0, 0, 0, 0, 2,
						     0xc6, 0x02, 0x52, 0x31, 0, 0x10, 0, 0, 0, 0, 0, 0};
	struct vs_mad m;

	ck_assert_int_eq(vs_mad_parse(&m, real, sizeof(real)), VS_OK);
	ck_assert_uint_eq(m.base_version, VS_MAD_BASE_VERSION);
	ck_assert_uint_eq(m.mgmt_class, VS_MAD_CLASS_CM);
	ck_assert_uint_eq(m.class_version, VS_CM_CLASS_VERSION);
	ck_assert_uint_eq(m.method, VS_MAD_METHOD_SEND);
	ck_assert_uint_eq(m.transaction_id, UINT64_C(0x00000002c6025231));
	ck_assert_uint_eq(m.attribute_id, VS_CM_ATTR_REQ);
}
END_TEST

START_TEST(classes_methods_and_attributes_have_names)
{
	ck_assert_str_eq(vs_mad_class_name(0x01), "SMP (LID routed)");
	ck_assert_str_eq(vs_mad_class_name(0x81), "SMP (directed route)");
	ck_assert_str_eq(vs_mad_class_name(0x0f), "vendor");
	ck_assert_str_eq(vs_mad_class_name(0x13), "application");
	ck_assert_str_eq(vs_mad_class_name(0x21), "CongMgt");
	ck_assert_str_eq(vs_mad_class_name(0x4f), "vendor with OUI");
	ck_assert_str_eq(vs_mad_class_name(0x00), "reserved");
	ck_assert_str_eq(vs_mad_class_name(0xff), "reserved");
	ck_assert_str_eq(vs_mad_class_prefix(0x81), "Subn");
	ck_assert_str_eq(vs_mad_class_prefix(0x07), "");
	ck_assert_str_eq(vs_mad_method_name(0x92), "GetTableResp");
	ck_assert_ptr_null(vs_mad_method_name(0x04));
	ck_assert_str_eq(vs_mad_attribute_name(0x81, 0x0020), "SMInfo");
	ck_assert_str_eq(vs_mad_attribute_name(0x01, 0x0011), "NodeInfo");
	ck_assert_str_eq(vs_mad_attribute_name(0x03, 0x0035), "PathRecord");
	ck_assert_str_eq(vs_mad_attribute_name(0x07, 0x0001), "ClassPortInfo");
	ck_assert_str_eq(vs_mad_attribute_name(0x07, 0x0018), "ServiceIDResolutionResponse");
	ck_assert_ptr_null(vs_mad_attribute_name(0x01, 0x0001));
	ck_assert_ptr_null(vs_mad_attribute_name(0x03, 0x4242));
	ck_assert_str_eq(vs_mad_status_text(0), "ok");
	ck_assert_str_eq(vs_mad_status_text(1), "busy");
	ck_assert_str_eq(vs_mad_status_text(2), "redirect required");
	ck_assert_str_eq(vs_mad_status_text(0x0c), "method and attribute combination not supported");
	ck_assert_str_eq(vs_mad_status_text(0x1c), "invalid attribute or modifier value");
	ck_assert_str_eq(vs_mad_status_text(0x8000), "ok");
}
END_TEST

static TCase *meanings_case(void)
{
	TCase *tc = tcase_create("meanings");

	tcase_add_test(tc, a_real_req_means_what_the_sender_meant);
	tcase_add_test(tc, real_answers_mean_what_the_sender_meant);
	tcase_add_test(tc, timeouts_are_4096_ns_times_a_power_of_two);
	tcase_add_test(tc, path_mtu_codes_are_256_to_4096);
	tcase_add_test(tc, every_reject_reason_has_its_words);
	tcase_add_test(tc, rdma_cm_service_ids_are_told_from_others);
	tcase_add_test(tc, the_private_header_of_rdma_cm_survives_both_ways);
	tcase_add_test(tc, the_mad_header_survives_both_ways);
	tcase_add_test(tc, a_real_mad_header_means_what_the_sender_meant);
	tcase_add_test(tc, classes_methods_and_attributes_have_names);
	return tc;
}

Suite *vs_suite(void)
{
	Suite *s = suite_create("cm");
	TCase *tc = tcase_create("both ways");
	size_t messages;

	vs_cm_messages(&messages);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, build_of_parse_is_the_same_bytes, 0, (int)messages);
	tcase_add_loop_test(tc, parse_of_build_is_the_same_message, 0, (int)messages);
	tcase_add_test(tc, a_flipped_bit_changes_exactly_the_field_it_is_in);
	tcase_add_test(tc, a_value_too_wide_for_its_bits_is_refused_and_nothing_written);
	tcase_add_test(tc, short_data_and_unknown_messages_are_refused_untouched);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, meanings_case());
	return s;
}
