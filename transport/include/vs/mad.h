/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mad.h - management datagrams: the common header of the 256 bytes that QP 0 and QP 1 exchange.
 *
 * A MAD is 24 bytes of common header and 232 bytes of data whose layout depends on the management
 * class. This header covers the first part and the names of classes, methods and attributes; the
 * data of class CM (communication management) are in cm.h. The names are listed in mad.def.
 *
 * All integers in the structs are in host order. Nothing here allocates or does I/O.
 */
#ifndef VS_MAD_H
#define VS_MAD_H

#include <stddef.h>
#include <stdint.h>

#define VS_MAD_LEN 256u
#define VS_MAD_HDR_LEN 24u
#define VS_MAD_DATA_LEN 232u /* VS_MAD_LEN - VS_MAD_HDR_LEN */
#define VS_MAD_BASE_VERSION 1u

#define VS_MAD_METHOD_RESPONSE 0x80u    /* the R bit: set in every response */
#define VS_MAD_STATUS_DIRECTION 0x8000u /* directed-route SMPs only: on its way back (the D bit) */

/* The 24 bytes as they stand on the wire, nothing interpreted. */
struct vs_mad {
	uint8_t base_version, mgmt_class, class_version;
	uint8_t method;          /* with the R bit */
	uint16_t status;         /* directed-route SMP: the D bit is bit 15 */
	uint16_t class_specific; /* directed-route SMP: hop pointer (high byte) and hop count */
	uint64_t transaction_id;
	uint16_t attribute_id;
	uint16_t rsv;
	uint32_t attribute_modifier;
};

enum vs_mad_class {
	VS_MAD_CLASS_ANY = 0, /* a reserved class; in mad.def: whatever the class */
#define VS_MAD_CLASS(first, last, ID, name, prefix) VS_MAD_CLASS_##ID = (first),
#include "mad.def"
};

enum vs_mad_method {
#define VS_MAD_METHOD(code, ID, name) VS_MAD_METHOD_##ID = (code),
#include "mad.def"
};

/*
 * Decodes the header at buf[0..VS_MAD_HDR_LEN). 0, or VS_ERR_SHORT (`m` untouched) when `len` is
 * less than that. Any content is accepted.
 */
int vs_mad_parse(struct vs_mad *m, const uint8_t *buf, size_t len);

/* Encodes the header. Every value fits its field, so this can't fail. parse and build are inverses. */
void vs_mad_build(const struct vs_mad *m, uint8_t buf[VS_MAD_HDR_LEN]);

/* "SMP (directed route)", "SA", "CM", "vendor", "application", "reserved"; static, never NULL. */
const char *vs_mad_class_name(uint8_t mgmt_class);

/* What the class puts in front of a method: "Subn" for SubnGet, "SubnAdm", "Perf"; "" mostly. Static. */
const char *vs_mad_class_prefix(uint8_t mgmt_class);

/* "Get", "GetResp", "Send", ...; `method` with the R bit. Static; NULL when it has no name. */
const char *vs_mad_method_name(uint8_t method);

/* "NodeInfo", "PathRecord", "ConnectRequest", ...; static; NULL when the class doesn't define it. */
const char *vs_mad_attribute_name(uint8_t mgmt_class, uint16_t attribute_id);

/*
 * The class-independent part of a status (bits 0 to 4) in words: "ok", "busy", "redirect required",
 * "method not supported"...; static, never NULL. Busy and redirect win over the code in bits 2 to 4.
 */
const char *vs_mad_status_text(uint16_t status);

#endif
