/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cm.h - communication management: the messages that set up, change and end a connection, and what
 * RDMA-CM (Annex A11) adds to them.
 *
 * A CM message is the 232 data bytes of a MAD of class 0x07 (mad.h), method Send; the attribute id
 * says which message it is. Every message is described once, in cm.def: the structs below, parse,
 * build and the field table are made from it. Reserved bits are fields like all others, so
 * build(parse(b)) == b for any bytes, and parse(build(m)) == m for any message whose fields fit.
 *
 * All integers are in host order; byte blocks (GIDs, private data) stand as on the wire. QPN, PSN and
 * vendor id have 24 bits, flow labels 20. Timeouts are codes: vs_cm_timeout_ns. Nothing here
 * allocates or does I/O.
 */
#ifndef VS_CM_H
#define VS_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_CM_DATA_LEN 232u /* VS_MAD_DATA_LEN */
#define VS_CM_CLASS_VERSION 2u

/* Attribute ids: VS_CM_ATTR_REQ ... VS_CM_ATTR_APR. */
enum vs_cm_attribute {
#define VS_CM_BEGIN(ID, msg, attribute, abbrev, name) VS_CM_ATTR_##ID = (attribute),
#include "cm.def"
};

/* struct vs_cm_req ... struct vs_cm_apr; cm.def has the width and the meaning of every member. */
#define VS_CM_BEGIN(ID, msg, attribute, abbrev, name) struct vs_cm_##msg {
#define VS_CM_U(msg, field, type, byte, bit, width, KIND, values, filter, label) type field;
#define VS_CM_B(msg, field, byte, len, KIND, filter, label) uint8_t field[len];
#define VS_CM_END(msg) \
	}              \
	;
#include "cm.def"

/* Names of values: enum vs_cm_rej_reason { VS_CM_REJ_NO_QP = 1, ... }, enum vs_cm_sidr_status, ... */
#define VS_CM_VALUES(set) \
	enum vs_cm_##set  \
	{
#define VS_CM_VALUE(set, ID, value, text) VS_CM_##ID = (value),
#define VS_CM_VALUES_END(set) \
	}                     \
	;
#include "cm.def"

struct vs_cm_msg {
	uint16_t attribute; /* enum vs_cm_attribute: which member of the union */
	union {
#define VS_CM_BEGIN(ID, msg, attribute, abbrev, name) struct vs_cm_##msg msg;
#include "cm.def"
	};
};

/*
 * Decodes the message `attribute` from the bytes after the MAD header. 0, VS_ERR_UNSUPPORTED when
 * there is no such message, VS_ERR_SHORT when `len` < VS_CM_DATA_LEN; `m` is untouched by an error.
 * Any content is accepted. Bytes of the union that the message doesn't use are 0.
 */
int vs_cm_parse(struct vs_cm_msg *m, uint16_t attribute, const uint8_t *data, size_t len);

/*
 * Encodes m->attribute. 0, VS_ERR_UNSUPPORTED when there is no such message, VS_ERR_INVAL when a
 * value doesn't fit its bits (a 25-bit QPN); `data` is untouched by an error.
 */
int vs_cm_build(const struct vs_cm_msg *m, uint8_t data[VS_CM_DATA_LEN]);

/* Equal in every field of the message. False when the attributes differ or are none of CM. */
bool vs_cm_equal(const struct vs_cm_msg *a, const struct vs_cm_msg *b);

/* ---- the field table: for whoever shows, searches or edits messages ---- */

/* How to show a value. Up to VS_CM_KIND_RESERVED integers, from VS_CM_KIND_GID on byte blocks. */
enum vs_cm_kind {
	VS_CM_KIND_DEC,
	VS_CM_KIND_HEX,
	VS_CM_KIND_ENUM,        /* has a table of values */
	VS_CM_KIND_FLAG,        /* one bit */
	VS_CM_KIND_RNR,         /* RNR retry count: 0 .. 6, 7 is for ever */
	VS_CM_KIND_TIMEOUT,     /* vs_cm_timeout_ns */
	VS_CM_KIND_ACK_TIMEOUT, /* likewise, but 0 is no timeout at all */
	VS_CM_KIND_SERVICE,     /* service id: vs_rdmacm_* */
	VS_CM_KIND_GUID,        /* EUI-64 */
	VS_CM_KIND_RESERVED,
	VS_CM_KIND_GID,     /* 16 bytes: an IPv6 address, or ::ffff:a.b.c.d on RoCEv2 over IPv4 */
	VS_CM_KIND_BYTES,   /* additional information; how much of it counts is in a length field */
	VS_CM_KIND_PRIVATE, /* what the consumer says; always the end of the message */
};

struct vs_cm_value {
	uint32_t value;
	const char *text; /* NULL ends a table */
};

struct vs_cm_field {
	const char *name;                 /* the member of the struct: "local_comm_id" */
	const char *filter;               /* "rdma.cm.localcommid": the same in every message */
	const char *label;                /* "Local Communication ID" */
	const struct vs_cm_value *values; /* VS_CM_KIND_ENUM; NULL otherwise */
	uint8_t kind;                     /* enum vs_cm_kind */
	uint8_t byte, bit;                /* where it begins: byte of the data, bit from the most significant */
	uint8_t size;                     /* bytes in the struct */
	uint16_t width;                   /* bits on the wire; 8 * size for a block */
	uint16_t offset;                  /* bytes from the start of struct vs_cm_msg */
};

struct vs_cm_info {
	uint16_t attribute;
	const char *abbrev; /* "REQ": as the specification calls it */
	const char *name;   /* "ConnectRequest" */
	const struct vs_cm_field *fields;
	size_t field_count;
};

/* The message with this attribute id, static; NULL when there is none. */
const struct vs_cm_info *vs_cm_info(uint16_t attribute);

/* All messages, in the order of their attribute ids; *count is set. Static. */
const struct vs_cm_info *vs_cm_messages(size_t *count);

/* Fields of a message in wire order; NULL and *count 0 when there is no such message. Static. */
const struct vs_cm_field *vs_cm_fields(uint16_t attribute, size_t *count);

/*
 * The integer that field `f` has in `data`, the bytes after the MAD header; f->width <= 64. Reads
 * bytes f->byte .. f->byte + vs_cm_field_span(f) - 1 alone, so it works on cut messages too.
 */
uint64_t vs_cm_field_value(const struct vs_cm_field *f, const uint8_t *data);

/* How many bytes of the wire the field touches: 1 .. VS_CM_DATA_LEN. */
size_t vs_cm_field_span(const struct vs_cm_field *f);

/* The text of `value` in a table that ends with a NULL text; NULL when it isn't there. */
const char *vs_cm_value_text(const struct vs_cm_value *values, uint32_t value);

/* In words, static, never NULL: "consumer reject", "ok"; "reserved" for values without a name. */
const char *vs_cm_rej_reason_text(uint16_t reason);
const char *vs_cm_sidr_status_text(uint8_t status);
const char *vs_cm_apr_status_text(uint8_t status);
const char *vs_cm_mra_message_text(uint8_t message);
const char *vs_cm_rej_message_text(uint8_t message);

/*
 * Timeout code 0 .. 31 -> nanoseconds: 4.096 us * 2^code, 4.096 us .. 2 h 26 min. For all CM response
 * and service timeouts, the target ACK delay and the local ACK timeout (where 0 means none).
 */
static inline uint64_t vs_cm_timeout_ns(uint8_t code)
{
	return UINT64_C(4096) << (code & 31);
}

/* Path MTU code 1 .. 5 -> 256 .. 4096 bytes; 0 for the other codes. */
static inline uint32_t vs_cm_mtu_bytes(uint8_t code)
{
	return code >= VS_CM_MTU_256 && code <= VS_CM_MTU_4096 ? 128u << code : 0;
}

/* ---- RDMA-CM: IP addressing on top of CM (Annex A11) ---- */

/* A service id of RDMA-CM is 0x0000000001, the IP protocol (port space), and a 16-bit port. */
#define VS_RDMACM_SERVICE_PREFIX UINT64_C(0x0000000001000000)
#define VS_RDMACM_SERVICE_MASK UINT64_C(0xffffffffff000000)
#define VS_RDMACM_HDR_LEN 36u /* at the start of the private data of REQ and SIDR_REQ */

enum vs_rdmacm_port_space {
	VS_RDMACM_PS_TCP = 0x06, /* reliable connections */
	VS_RDMACM_PS_UDP = 0x11, /* datagrams: SIDR */
	VS_RDMACM_PS_IB = 0x3f,  /* Linux: any QP type */
};

static inline bool vs_rdmacm_is_service(uint64_t service_id)
{
	return (service_id & VS_RDMACM_SERVICE_MASK) == VS_RDMACM_SERVICE_PREFIX;
}

/* Only for a service id of RDMA-CM. */
static inline uint8_t vs_rdmacm_port_space(uint64_t service_id)
{
	return (uint8_t)(service_id >> 16);
}

static inline uint16_t vs_rdmacm_port(uint64_t service_id)
{
	return (uint16_t)service_id;
}

static inline uint64_t vs_rdmacm_service(uint8_t port_space, uint16_t port)
{
	return VS_RDMACM_SERVICE_PREFIX | (uint64_t)port_space << 16 | port;
}

/* "TCP", "UDP", "IB"; NULL for other protocols. Static. */
const char *vs_rdmacm_port_space_name(uint8_t port_space);

/* The header that RDMA-CM puts in front of the consumer's private data. */
struct vs_rdmacm_hdr {
	uint8_t major, minor;     /* 4 bits each; 0.0 is the one version there is */
	uint8_t ip_version;       /* 4 bits: 4 or 6 */
	uint8_t rsv;              /* 4 bits */
	uint16_t src_port;        /* the destination's is in the service id */
	uint8_t src[16], dst[16]; /* IPv6; IPv4 is in the last 4 bytes, the 12 before are 0 */
};

/* 0, or VS_ERR_SHORT (`h` untouched) when `len` < VS_RDMACM_HDR_LEN. Any content is accepted. */
int vs_rdmacm_parse(struct vs_rdmacm_hdr *h, const uint8_t *data, size_t len);

/* 0, or VS_ERR_INVAL (`data` untouched) when a value needs more than its 4 bits. */
int vs_rdmacm_build(const struct vs_rdmacm_hdr *h, uint8_t data[VS_RDMACM_HDR_LEN]);

/* A version and IP version that Annex A11 knows: without it, the private data are something else. */
bool vs_rdmacm_hdr_is_known(const struct vs_rdmacm_hdr *h);

#endif
