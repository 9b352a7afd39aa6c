/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_cm.c - libFuzzer target: a management datagram from anyone. Whatever the bytes are, parse
 * reads none beyond the end, and build gives the same bytes back.
 */
#include <stdlib.h>
#include <string.h>

#include "vs/cm.h"
#include "vs/err.h"
#include "vs/mad.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int ok)
{
	if (!ok)
		abort();
}

static void fuzz_fields(const struct vs_cm_info *info, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < info->field_count; i++) {
		const struct vs_cm_field *f = &info->fields[i];

		if (f->width > 64 || f->byte + vs_cm_field_span(f) > len)
			continue;
		if (f->values != NULL)
			vs_cm_value_text(f->values, (uint32_t)vs_cm_field_value(f, data));
	}
}

static void fuzz_message(uint16_t attribute, const uint8_t *data, size_t len)
{
	const struct vs_cm_info *info = vs_cm_info(attribute);
	uint8_t out[VS_CM_DATA_LEN];
	struct vs_rdmacm_hdr h;
	struct vs_cm_msg m, again;
	int err = vs_cm_parse(&m, attribute, data, len);

	if (info == NULL) {
		require(err == VS_ERR_UNSUPPORTED);
		return;
	}
	fuzz_fields(info, data, len);
	require(err == (len < VS_CM_DATA_LEN ? VS_ERR_SHORT : VS_OK));
	if (err != VS_OK)
		return;
	require(vs_cm_build(&m, out) == VS_OK);
	require(memcmp(out, data, VS_CM_DATA_LEN) == 0);
	require(vs_cm_parse(&again, attribute, out, sizeof(out)) == VS_OK && vs_cm_equal(&m, &again));
	if (attribute == VS_CM_ATTR_REQ && vs_rdmacm_is_service(m.req.service_id)) {
		require(vs_rdmacm_parse(&h, m.req.private_data, sizeof(m.req.private_data)) == VS_OK);
		require(vs_rdmacm_build(&h, out) == VS_OK);
		require(memcmp(out, m.req.private_data, VS_RDMACM_HDR_LEN) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t hdr[VS_MAD_HDR_LEN];
	struct vs_mad mad;

	if (vs_mad_parse(&mad, data, size) != VS_OK) {
		require(size < VS_MAD_HDR_LEN);
		return 0;
	}
	vs_mad_build(&mad, hdr);
	require(memcmp(hdr, data, sizeof(hdr)) == 0);
	require(vs_mad_class_name(mad.mgmt_class) != NULL && vs_mad_status_text(mad.status) != NULL);
	vs_mad_method_name(mad.method);
	vs_mad_attribute_name(mad.mgmt_class, mad.attribute_id);
	/* Attributes are folded so that most inputs reach a message, whatever the class. */
	fuzz_message((uint16_t)(VS_CM_ATTR_REQ + mad.attribute_id % 12), data + sizeof(hdr), size - sizeof(hdr));
	return 0;
}
