/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mad.c - the common header of management datagrams, and the names in mad.def.
 */
#include "vs/mad.h"

#include "vs/cm.h"
#include "vs/err.h"

#include "bytes.h"

int vs_mad_parse(struct vs_mad *m, const uint8_t *buf, size_t len)
{
	if (len < VS_MAD_HDR_LEN)
		return VS_ERR_SHORT;
	m->base_version = buf[0];
	m->mgmt_class = buf[1];
	m->class_version = buf[2];
	m->method = buf[3];
	m->status = get16(buf + 4);
	m->class_specific = get16(buf + 6);
	m->transaction_id = get64(buf + 8);
	m->attribute_id = get16(buf + 16);
	m->rsv = get16(buf + 18);
	m->attribute_modifier = get32(buf + 20);
	return VS_OK;
}

void vs_mad_build(const struct vs_mad *m, uint8_t buf[VS_MAD_HDR_LEN])
{
	buf[0] = m->base_version;
	buf[1] = m->mgmt_class;
	buf[2] = m->class_version;
	buf[3] = m->method;
	put16(buf + 4, m->status);
	put16(buf + 6, m->class_specific);
	put64(buf + 8, m->transaction_id);
	put16(buf + 16, m->attribute_id);
	put16(buf + 18, m->rsv);
	put32(buf + 20, m->attribute_modifier);
}

struct class_name {
	uint8_t first, last;
	const char *name, *prefix;
};

static const struct class_name *class_find(uint8_t mgmt_class)
{
#define VS_MAD_CLASS(first, last, ID, name, prefix) {(first), (last), (name), (prefix)},
	static const struct class_name classes[] = {
#include "mad.def"
		{0x00, 0xff, "reserved", ""},
	};
	const struct class_name *c = classes;

	while (mgmt_class < c->first || mgmt_class > c->last)
		c++;
	return c;
}

const char *vs_mad_class_name(uint8_t mgmt_class)
{
	return class_find(mgmt_class)->name;
}

const char *vs_mad_class_prefix(uint8_t mgmt_class)
{
	return class_find(mgmt_class)->prefix;
}

const char *vs_mad_method_name(uint8_t method)
{
	switch (method) {
#define VS_MAD_METHOD(code, ID, name) \
	case (code):                  \
		return (name);
#include "mad.def"
	default:
		return NULL;
	}
}

/* `mgmt_class` is one of those that mad.def lists attributes for. */
static const char *attribute_find(uint8_t mgmt_class, uint16_t attribute_id)
{
	switch ((uint32_t)mgmt_class << 16 | attribute_id) {
#define VS_MAD_ATTRIBUTE(CLASS, code, name)                   \
	case ((uint32_t)VS_MAD_CLASS_##CLASS << 16 | (code)): \
		return (name);
#include "mad.def"
	default:
		return NULL;
	}
}

const char *vs_mad_attribute_name(uint8_t mgmt_class, uint16_t attribute_id)
{
	const struct vs_cm_info *cm = mgmt_class == VS_MAD_CLASS_CM ? vs_cm_info(attribute_id) : NULL;
	const char *name;

	if (cm != NULL)
		return cm->name;
	if (mgmt_class == VS_MAD_CLASS_SMP_DIRECTED)
		mgmt_class = VS_MAD_CLASS_SMP_LID;
	name = attribute_find(mgmt_class, attribute_id);
	if (name == NULL && mgmt_class != VS_MAD_CLASS_SMP_LID)
		name = attribute_find(VS_MAD_CLASS_ANY, attribute_id);
	return name;
}

const char *vs_mad_status_text(uint16_t status)
{
	if (status & 1)
		return "busy";
	if (status & 2)
		return "redirect required";
	switch (status >> 2 & 7) {
#define VS_MAD_STATUS(code, text) \
	case (code):              \
		return (text);
#include "mad.def"
	default:
		return "reserved status";
	}
}
