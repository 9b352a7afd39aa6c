/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cm.c - CM messages: parse and build walk the table that cm.def becomes here.
 */
#include "vs/cm.h"

#include <assert.h>
#include <string.h>

#include "bytes.h"
#include "vs/err.h"

/* ---- the tables ---- */

#define VS_CM_VALUES(set) static const struct vs_cm_value values_##set[] = {
#define VS_CM_VALUE(set, ID, value, text) {(value), (text)},
#define VS_CM_VALUES_END(set) \
	{                     \
		0, NULL       \
	}                     \
	}                     \
	;
#include "cm.def"
#define values_none NULL

#define VS_CM_BEGIN(ID, msg, attribute, abbrev, name) static const struct vs_cm_field fields_##msg[] = {
#define VS_CM_U(msg, field, type, byte_, bit_, width_, KIND, set, filter_, label_) \
	{                                                                          \
		.name = #field,                                                    \
		.filter = "rdma.cm." filter_,                                      \
		.label = (label_),                                                 \
		.values = values_##set,                                            \
		.kind = VS_CM_KIND_##KIND,                                         \
		.byte = (byte_),                                                   \
		.bit = (bit_),                                                     \
		.size = sizeof(type),                                              \
		.width = (width_),                                                 \
		.offset = offsetof(struct vs_cm_msg, msg.field),                   \
	},
#define VS_CM_B(msg, field, byte_, len, KIND, filter_, label_)   \
	{                                                        \
		.name = #field,                                  \
		.filter = "rdma.cm." filter_,                    \
		.label = (label_),                               \
		.values = NULL,                                  \
		.kind = VS_CM_KIND_##KIND,                       \
		.byte = (byte_),                                 \
		.bit = 0,                                        \
		.size = (len),                                   \
		.width = (len)*8,                                \
		.offset = offsetof(struct vs_cm_msg, msg.field), \
	},
#define VS_CM_END(msg) \
	}              \
	;
#include "cm.def"

static const struct vs_cm_info messages[] = {
#define VS_CM_BEGIN(ID, msg, attribute, abbrev, name) \
	{(attribute), (abbrev), (name), fields_##msg, sizeof(fields_##msg) / sizeof(fields_##msg[0])},
#include "cm.def"
};

#define MESSAGE_COUNT (sizeof(messages) / sizeof(messages[0]))

const struct vs_cm_info *vs_cm_messages(size_t *count)
{
	*count = MESSAGE_COUNT;
	return messages;
}

const struct vs_cm_info *vs_cm_info(uint16_t attribute)
{
	/* Attribute ids are consecutive, and a test says so. */
	return attribute >= VS_CM_ATTR_REQ && attribute < VS_CM_ATTR_REQ + MESSAGE_COUNT
		       ? &messages[attribute - VS_CM_ATTR_REQ]
		       : NULL;
}

const struct vs_cm_field *vs_cm_fields(uint16_t attribute, size_t *count)
{
	const struct vs_cm_info *info = vs_cm_info(attribute);

	*count = info != NULL ? info->field_count : 0;
	return info != NULL ? info->fields : NULL;
}

const char *vs_cm_value_text(const struct vs_cm_value *values, uint32_t value)
{
	for (; values->text != NULL; values++)
		if (values->value == value)
			return values->text;
	return NULL;
}

static const char *text_or_reserved(const struct vs_cm_value *values, uint32_t value)
{
	const char *text = vs_cm_value_text(values, value);

	return text != NULL ? text : "reserved";
}

const char *vs_cm_rej_reason_text(uint16_t reason)
{
	return text_or_reserved(values_rej_reason, reason);
}

const char *vs_cm_sidr_status_text(uint8_t status)
{
	return text_or_reserved(values_sidr_status, status);
}

const char *vs_cm_apr_status_text(uint8_t status)
{
	return text_or_reserved(values_apr_status, status);
}

const char *vs_cm_mra_message_text(uint8_t message)
{
	return text_or_reserved(values_mra_message, message);
}

const char *vs_cm_rej_message_text(uint8_t message)
{
	return text_or_reserved(values_rej_message, message);
}

/* ---- bits ---- */

size_t vs_cm_field_span(const struct vs_cm_field *f)
{
	return (f->bit + f->width + 7u) / 8;
}

/* Bits between the end of the field and the end of its last byte. */
static unsigned field_shift(const struct vs_cm_field *f)
{
	return (unsigned)(8 * vs_cm_field_span(f)) - f->bit - f->width;
}

static uint64_t field_mask(const struct vs_cm_field *f)
{
	return UINT64_MAX >> (64 - f->width);
}

uint64_t vs_cm_field_value(const struct vs_cm_field *f, const uint8_t *data)
{
	uint64_t v = 0;

	assert(f->width >= 1 && f->width <= 64 && vs_cm_field_span(f) <= 8);
	for (size_t i = 0; i < vs_cm_field_span(f); i++)
		v = v << 8 | data[f->byte + i];
	return v >> field_shift(f) & field_mask(f);
}

/* Sets bits that are 0. */
static void field_put(const struct vs_cm_field *f, uint8_t *data, uint64_t value)
{
	uint64_t v = value << field_shift(f);

	for (size_t i = vs_cm_field_span(f); i-- > 0; v >>= 8)
		data[f->byte + i] |= (uint8_t)v;
}

static bool is_block(const struct vs_cm_field *f)
{
	return f->kind >= VS_CM_KIND_GID;
}

/* ---- struct members, found by offset and size ---- */

static uint64_t member_get(const struct vs_cm_msg *m, const struct vs_cm_field *f)
{
	const uint8_t *at = (const uint8_t *)m + f->offset;
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (f->size) {
	case 1:
		return *at;
	case 2:
		memcpy(&v16, at, sizeof(v16));
		return v16;
	case 4:
		memcpy(&v32, at, sizeof(v32));
		return v32;
	default:
		assert(f->size == 8);
		memcpy(&v64, at, sizeof(v64));
		return v64;
	}
}

static void member_set(struct vs_cm_msg *m, const struct vs_cm_field *f, uint64_t value)
{
	uint8_t *at = (uint8_t *)m + f->offset;
	uint32_t v32 = (uint32_t)value;
	uint16_t v16 = (uint16_t)value;

	switch (f->size) {
	case 1:
		*at = (uint8_t)value;
		break;
	case 2:
		memcpy(at, &v16, sizeof(v16));
		break;
	case 4:
		memcpy(at, &v32, sizeof(v32));
		break;
	default:
		assert(f->size == 8);
		memcpy(at, &value, sizeof(value));
		break;
	}
}

/* ---- messages ---- */

int vs_cm_parse(struct vs_cm_msg *m, uint16_t attribute, const uint8_t *data, size_t len)
{
	const struct vs_cm_info *info = vs_cm_info(attribute);

	if (info == NULL)
		return VS_ERR_UNSUPPORTED;
	if (len < VS_CM_DATA_LEN)
		return VS_ERR_SHORT;
	memset(m, 0, sizeof(*m));
	m->attribute = attribute;
	for (size_t i = 0; i < info->field_count; i++) {
		const struct vs_cm_field *f = &info->fields[i];

		if (is_block(f))
			memcpy((uint8_t *)m + f->offset, data + f->byte, f->size);
		else
			member_set(m, f, vs_cm_field_value(f, data));
	}
	return VS_OK;
}

int vs_cm_build(const struct vs_cm_msg *m, uint8_t data[VS_CM_DATA_LEN])
{
	const struct vs_cm_info *info = vs_cm_info(m->attribute);

	if (info == NULL)
		return VS_ERR_UNSUPPORTED;
	for (size_t i = 0; i < info->field_count; i++) {
		const struct vs_cm_field *f = &info->fields[i];

		if (!is_block(f) && member_get(m, f) > field_mask(f))
			return VS_ERR_INVAL;
	}
	memset(data, 0, VS_CM_DATA_LEN);
	for (size_t i = 0; i < info->field_count; i++) {
		const struct vs_cm_field *f = &info->fields[i];

		if (is_block(f))
			memcpy(data + f->byte, (const uint8_t *)m + f->offset, f->size);
		else
			field_put(f, data, member_get(m, f));
	}
	return VS_OK;
}

bool vs_cm_equal(const struct vs_cm_msg *a, const struct vs_cm_msg *b)
{
	const struct vs_cm_info *info = vs_cm_info(a->attribute);

	if (info == NULL || a->attribute != b->attribute)
		return false;
	for (size_t i = 0; i < info->field_count; i++) {
		const struct vs_cm_field *f = &info->fields[i];

		if (memcmp((const uint8_t *)a + f->offset, (const uint8_t *)b + f->offset, f->size) != 0)
			return false;
	}
	return true;
}

/* ---- RDMA-CM ---- */

const char *vs_rdmacm_port_space_name(uint8_t port_space)
{
	switch (port_space) {
	case VS_RDMACM_PS_TCP:
		return "TCP";
	case VS_RDMACM_PS_UDP:
		return "UDP";
	case VS_RDMACM_PS_IB:
		return "IB";
	default:
		return NULL;
	}
}

int vs_rdmacm_parse(struct vs_rdmacm_hdr *h, const uint8_t *data, size_t len)
{
	if (len < VS_RDMACM_HDR_LEN)
		return VS_ERR_SHORT;
	h->major = data[0] >> 4;
	h->minor = data[0] & 0xf;
	h->ip_version = data[1] >> 4;
	h->rsv = data[1] & 0xf;
	h->src_port = get16(data + 2);
	memcpy(h->src, data + 4, sizeof(h->src));
	memcpy(h->dst, data + 20, sizeof(h->dst));
	return VS_OK;
}

int vs_rdmacm_build(const struct vs_rdmacm_hdr *h, uint8_t data[VS_RDMACM_HDR_LEN])
{
	if (h->major > 0xf || h->minor > 0xf || h->ip_version > 0xf || h->rsv > 0xf)
		return VS_ERR_INVAL;
	data[0] = (uint8_t)(h->major << 4 | h->minor);
	data[1] = (uint8_t)(h->ip_version << 4 | h->rsv);
	put16(data + 2, h->src_port);
	memcpy(data + 4, h->src, sizeof(h->src));
	memcpy(data + 20, h->dst, sizeof(h->dst));
	return VS_OK;
}

bool vs_rdmacm_hdr_is_known(const struct vs_rdmacm_hdr *h)
{
	return h->major == 0 && (h->ip_version == 4 || h->ip_version == 6);
}
