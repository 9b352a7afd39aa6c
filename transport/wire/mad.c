/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mad.c - the common MAD header, and the names of mad.def.
 */
#include "vs/mad.h"

#include "vs/cm.h"
#include "vs/err.h"
#include "wire/bytes.h"

int vs_mad_parse(struct vs_mad *m, const uint8_t *buf, size_t len)
{
	if (len < VS_MAD_HDR_LEN)
		return VS_ERR_SHORT;
	m->base_version = buf[0];
	m->mgmt_class = buf[1];
	m->class_version = buf[2];
	m->method = buf[3];
	m->status = vs_get16(buf + 4);
	m->class_specific = vs_get16(buf + 6);
	m->transaction_id = vs_get64(buf + 8);
	m->attribute_id = vs_get16(buf + 16);
	m->rsv = vs_get16(buf + 18);
	m->attribute_modifier = vs_get32(buf + 20);
	return VS_OK;
}
