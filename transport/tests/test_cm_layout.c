/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_cm_layout.c - the table of CM fields: every bit has one field, filter names can be used over
 * all messages, and the layouts are those of an independent transcription.
 */
#include <string.h>

#include "runner.h"
#include "vs/cm.h"
#include "vs/mad.h"

START_TEST(every_bit_of_every_message_belongs_to_exactly_one_field)
{
	size_t messages;
	const struct vs_cm_info *m = vs_cm_messages(&messages);

	ck_assert_uint_eq(messages, 11);
	for (size_t k = 0; k < messages; k++) {
		unsigned next = 0;

		for (size_t i = 0; i < m[k].field_count; i++) {
			const struct vs_cm_field *f = &m[k].fields[i];

			ck_assert_msg(8u * f->byte + f->bit == next, "%s.%s begins at bit %u, not %u", m[k].abbrev,
				      f->name, 8u * f->byte + f->bit, next);
			ck_assert_uint_ge(f->width, 1);
			ck_assert_msg(f->width <= 8u * f->size, "%s.%s: the type is too small", m[k].abbrev, f->name);
			next += f->width;
		}
		ck_assert_msg(next == 8 * VS_CM_DATA_LEN, "%s ends at bit %u", m[k].abbrev, next);
	}
}
END_TEST

START_TEST(fields_of_a_kind_have_the_shape_of_that_kind)
{
	size_t messages;
	const struct vs_cm_info *m = vs_cm_messages(&messages);

	for (size_t k = 0; k < messages; k++)
		for (size_t i = 0; i < m[k].field_count; i++) {
			const struct vs_cm_field *f = &m[k].fields[i];
			bool last = i + 1 == m[k].field_count;

			ck_assert_int_eq(f->kind == VS_CM_KIND_ENUM, f->values != NULL);
			ck_assert_int_eq(f->kind == VS_CM_KIND_PRIVATE, last);
			if (f->kind < VS_CM_KIND_GID)
				ck_assert_uint_le(vs_cm_field_span(f), 8);
			else
				ck_assert(f->bit == 0 && f->width == 8 * f->size);
			if (f->kind == VS_CM_KIND_FLAG)
				ck_assert_uint_eq(f->width, 1);
			if (f->kind == VS_CM_KIND_GID)
				ck_assert_uint_eq(f->size, 16);
			if (f->kind == VS_CM_KIND_SERVICE || f->kind == VS_CM_KIND_GUID)
				ck_assert_uint_eq(f->width, 64);
			if (f->kind == VS_CM_KIND_TIMEOUT || f->kind == VS_CM_KIND_ACK_TIMEOUT)
				ck_assert_uint_eq(f->width, 5);
		}
}
END_TEST

/* Display filters over several messages need one type behind one name. */
START_TEST(one_filter_name_is_one_kind_of_field)
{
	size_t messages;
	const struct vs_cm_info *m = vs_cm_messages(&messages);
	const struct vs_cm_field *seen[256];
	size_t count = 0;

	for (size_t k = 0; k < messages; k++)
		for (size_t i = 0; i < m[k].field_count; i++) {
			const struct vs_cm_field *f = &m[k].fields[i];
			size_t j = 0;

			for (const char *c = f->filter; *c != '\0'; c++)
				ck_assert_msg((*c >= 'a' && *c <= 'z') || *c == '.', "%s", f->filter);
			while (j < count && strcmp(seen[j]->filter, f->filter) != 0)
				j++;
			if (j == count)
				seen[count++] = f;
			ck_assert_msg(seen[j]->kind == f->kind, "%s", f->filter);
			ck_assert_msg((seen[j]->width > 32) == (f->width > 32), "%s", f->filter);
			ck_assert_ptr_eq(seen[j]->values, f->values);
		}
}
END_TEST

START_TEST(attribute_ids_find_their_message_and_no_other)
{
	size_t messages, count;
	const struct vs_cm_info *m = vs_cm_messages(&messages);

	for (size_t k = 0; k < messages; k++) {
		ck_assert_ptr_eq(vs_cm_info(m[k].attribute), &m[k]);
		ck_assert_ptr_eq(vs_cm_fields(m[k].attribute, &count), m[k].fields);
		ck_assert_uint_eq(count, m[k].field_count);
		ck_assert_str_eq(vs_mad_attribute_name(VS_MAD_CLASS_CM, m[k].attribute), m[k].name);
	}
	for (unsigned a = 0; a <= 0xffff; a++)
		if (a < VS_CM_ATTR_REQ || a > VS_CM_ATTR_APR)
			ck_assert_ptr_null(vs_cm_info((uint16_t)a));
	ck_assert_ptr_null(vs_cm_fields(0x0001, &count));
	ck_assert_uint_eq(count, 0);
}
END_TEST

/*
 * The layouts once more, transcribed by hand from the published declarations and not from cm.def:
 * message, member, byte, bit, width.
 */
static const struct {
	uint16_t attribute;
	const char *name;
	unsigned byte, bit, width;
} layout[] = {
	{0x10, "local_comm_id", 0, 0, 32},
	{0x10, "vendor_id", 5, 0, 24},
	{0x10, "service_id", 8, 0, 64},
	{0x10, "local_ca_guid", 16, 0, 64},
	{0x10, "qkey", 28, 0, 32},
	{0x10, "qpn", 32, 0, 24},
	{0x10, "responder_resources", 35, 0, 8},
	{0x10, "local_eecn", 36, 0, 24},
	{0x10, "initiator_depth", 39, 0, 8},
	{0x10, "remote_eecn", 40, 0, 24},
	{0x10, "remote_cm_response_timeout", 43, 0, 5},
	{0x10, "transport", 43, 5, 2},
	{0x10, "flow_control", 43, 7, 1},
	{0x10, "psn", 44, 0, 24},
	{0x10, "local_cm_response_timeout", 47, 0, 5},
	{0x10, "retry_count", 47, 5, 3},
	{0x10, "pkey", 48, 0, 16},
	{0x10, "path_mtu", 50, 0, 4},
	{0x10, "rdc_exists", 50, 4, 1},
	{0x10, "rnr_retry_count", 50, 5, 3},
	{0x10, "max_cm_retries", 51, 0, 4},
	{0x10, "srq", 51, 4, 1},
	{0x10, "extended_transport", 51, 5, 3},
	{0x10, "primary_local_lid", 52, 0, 16},
	{0x10, "primary_remote_lid", 54, 0, 16},
	{0x10, "primary_local_gid", 56, 0, 128},
	{0x10, "primary_remote_gid", 72, 0, 128},
	{0x10, "primary_flow_label", 88, 0, 20},
	{0x10, "primary_packet_rate", 91, 2, 6},
	{0x10, "primary_traffic_class", 92, 0, 8},
	{0x10, "primary_hop_limit", 93, 0, 8},
	{0x10, "primary_sl", 94, 0, 4},
	{0x10, "primary_subnet_local", 94, 4, 1},
	{0x10, "primary_ack_timeout", 95, 0, 5},
	{0x10, "alternate_local_lid", 96, 0, 16},
	{0x10, "alternate_remote_lid", 98, 0, 16},
	{0x10, "alternate_local_gid", 100, 0, 128},
	{0x10, "alternate_remote_gid", 116, 0, 128},
	{0x10, "alternate_flow_label", 132, 0, 20},
	{0x10, "alternate_packet_rate", 135, 2, 6},
	{0x10, "alternate_traffic_class", 136, 0, 8},
	{0x10, "alternate_hop_limit", 137, 0, 8},
	{0x10, "alternate_sl", 138, 0, 4},
	{0x10, "alternate_subnet_local", 138, 4, 1},
	{0x10, "alternate_ack_timeout", 139, 0, 5},
	{0x10, "sap_supported", 139, 5, 1},
	{0x10, "private_data", 140, 0, 736},
	{0x11, "local_comm_id", 0, 0, 32},
	{0x11, "remote_comm_id", 4, 0, 32},
	{0x11, "message", 8, 0, 2},
	{0x11, "service_timeout", 9, 0, 5},
	{0x11, "private_data", 10, 0, 1776},
	{0x12, "local_comm_id", 0, 0, 32},
	{0x12, "remote_comm_id", 4, 0, 32},
	{0x12, "message", 8, 0, 2},
	{0x12, "info_len", 9, 0, 7},
	{0x12, "reason", 10, 0, 16},
	{0x12, "ari", 12, 0, 576},
	{0x12, "private_data", 84, 0, 1184},
	{0x13, "local_comm_id", 0, 0, 32},
	{0x13, "remote_comm_id", 4, 0, 32},
	{0x13, "qkey", 8, 0, 32},
	{0x13, "qpn", 12, 0, 24},
	{0x13, "vendor_id_h", 15, 0, 8},
	{0x13, "local_eecn", 16, 0, 24},
	{0x13, "vendor_id_m", 19, 0, 8},
	{0x13, "psn", 20, 0, 24},
	{0x13, "vendor_id_l", 23, 0, 8},
	{0x13, "responder_resources", 24, 0, 8},
	{0x13, "initiator_depth", 25, 0, 8},
	{0x13, "target_ack_delay", 26, 0, 5},
	{0x13, "failover", 26, 5, 2},
	{0x13, "flow_control", 26, 7, 1},
	{0x13, "rnr_retry_count", 27, 0, 3},
	{0x13, "srq", 27, 3, 1},
	{0x13, "local_ca_guid", 28, 0, 64},
	{0x13, "private_data", 36, 0, 1568},
	{0x14, "local_comm_id", 0, 0, 32},
	{0x14, "remote_comm_id", 4, 0, 32},
	{0x14, "private_data", 8, 0, 1792},
	{0x15, "local_comm_id", 0, 0, 32},
	{0x15, "remote_comm_id", 4, 0, 32},
	{0x15, "remote_qpn", 8, 0, 24},
	{0x15, "private_data", 12, 0, 1760},
	{0x16, "local_comm_id", 0, 0, 32},
	{0x16, "remote_comm_id", 4, 0, 32},
	{0x16, "private_data", 8, 0, 1792},
	{0x17, "request_id", 0, 0, 32},
	{0x17, "pkey", 4, 0, 16},
	{0x17, "service_id", 8, 0, 64},
	{0x17, "private_data", 16, 0, 1728},
	{0x18, "request_id", 0, 0, 32},
	{0x18, "status", 4, 0, 8},
	{0x18, "info_len", 5, 0, 8},
	{0x18, "vendor_id_h", 6, 0, 16},
	{0x18, "qpn", 8, 0, 24},
	{0x18, "vendor_id_l", 11, 0, 8},
	{0x18, "service_id", 12, 0, 64},
	{0x18, "qkey", 20, 0, 32},
	{0x18, "info", 24, 0, 576},
	{0x18, "private_data", 96, 0, 1088},
	{0x19, "local_comm_id", 0, 0, 32},
	{0x19, "remote_comm_id", 4, 0, 32},
	{0x19, "remote_qpn", 12, 0, 24},
	{0x19, "remote_cm_response_timeout", 15, 0, 5},
	{0x19, "alternate_local_lid", 20, 0, 16},
	{0x19, "alternate_remote_lid", 22, 0, 16},
	{0x19, "alternate_local_gid", 24, 0, 128},
	{0x19, "alternate_remote_gid", 40, 0, 128},
	{0x19, "alternate_flow_label", 56, 0, 20},
	{0x19, "alternate_traffic_class", 59, 0, 8},
	{0x19, "alternate_hop_limit", 60, 0, 8},
	{0x19, "alternate_packet_rate", 61, 2, 6},
	{0x19, "alternate_sl", 62, 0, 4},
	{0x19, "alternate_subnet_local", 62, 4, 1},
	{0x19, "alternate_ack_timeout", 63, 0, 5},
	{0x19, "private_data", 64, 0, 1344},
	{0x1a, "local_comm_id", 0, 0, 32},
	{0x1a, "remote_comm_id", 4, 0, 32},
	{0x1a, "info_len", 8, 0, 8},
	{0x1a, "status", 9, 0, 8},
	{0x1a, "info", 12, 0, 576},
	{0x1a, "private_data", 84, 0, 1184},
};

START_TEST(layouts_are_those_of_the_published_tables)
{
	size_t messages, named = 0;
	const struct vs_cm_info *m = vs_cm_messages(&messages);

	for (size_t k = 0; k < messages; k++)
		for (size_t i = 0; i < m[k].field_count; i++)
			named += m[k].fields[i].kind != VS_CM_KIND_RESERVED;
	ck_assert_uint_eq(named, sizeof(layout) / sizeof(layout[0]));
	for (size_t i = 0; i < sizeof(layout) / sizeof(layout[0]); i++) {
		size_t count, j = 0;
		const struct vs_cm_field *f = vs_cm_fields(layout[i].attribute, &count);

		while (j < count && strcmp(f[j].name, layout[i].name) != 0)
			j++;
		ck_assert_msg(j < count, "0x%02x has no %s", layout[i].attribute, layout[i].name);
		ck_assert_msg(f[j].byte == layout[i].byte && f[j].bit == layout[i].bit && f[j].width == layout[i].width,
			      "0x%02x %s", layout[i].attribute, layout[i].name);
	}
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("cm_layout");
	TCase *tc = tcase_create("table");

	tcase_add_test(tc, every_bit_of_every_message_belongs_to_exactly_one_field);
	tcase_add_test(tc, fields_of_a_kind_have_the_shape_of_that_kind);
	tcase_add_test(tc, one_filter_name_is_one_kind_of_field);
	tcase_add_test(tc, attribute_ids_find_their_message_and_no_other);
	tcase_add_test(tc, layouts_are_those_of_the_published_tables);
	suite_add_tcase(s, tc);
	return s;
}
