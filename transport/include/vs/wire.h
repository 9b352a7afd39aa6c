/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * wire.h - bytes <-> struct vs_pkt, for native InfiniBand, RoCEv1 and RoCEv2.
 *
 * Decode, judge and encode are three jobs:
 *   vs_pkt_parse     accepts anything long enough and keeps what it saw, reserved bits, wrong
 *                    lengths and wrong CRCs included. It never refuses an illegal packet.
 *   vs_pkt_validate  lists the broken rules, each with a reason id (reason.h).
 *   vs_pkt_build     writes exactly what the struct says, legal or not; vs_pkt_seal fills in the
 *                    lengths, pad, checksums and CRCs that a legal packet would have.
 *
 * build(parse(b)) == b for every b that parses, the captured part of one that a snap length cut too;
 * parse(build(p)) == p (vs_pkt_equal) for every p whose header set is the one its opcode has, and whose
 * lengths and PadCnt say what is there (vs_pkt_seal with VS_SEAL_PAD | VS_SEAL_LEN).
 *
 * All integers in the structs are in host order. Nothing here allocates, reads a clock or does I/O.
 */
#ifndef VS_WIRE_H
#define VS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vs/err.h"
#include "vs/opcode.h"
#include "vs/reason.h"

#define VS_UDP_PORT_ROCE 4791u /* RoCEv2 destination port (Annex A17) */
#define VS_ETHERTYPE_ROCEV1 0x8915u
#define VS_ETHERTYPE_IPV4 0x0800u
#define VS_ETHERTYPE_IPV6 0x86ddu
#define VS_GRH_NXTHDR_IBA 0x1bu
#define VS_QPN_GSI 1u
#define VS_QPN_MULTICAST 0xffffffu
#define VS_GSI_QKEY 0x80010000u
#define VS_MTU_MAX 4096u
#define VS_DMALEN_MAX 0x80000000u /* 2^31 (C9-94) */
#define VS_MAX_VLAN 4             /* tags that are understood in front of the network header */

/* Where the first byte of a buffer stands. */
enum vs_link {
	VS_LINK_ETHERNET = 0, /* destination MAC */
	VS_LINK_ETHERTYPE,    /* the byte after an ethertype that the caller knows (SLL, SLL2) */
	VS_LINK_IP,           /* version nibble of IPv4 or IPv6 */
	VS_LINK_IB,           /* LRH of native InfiniBand, VCRC at the end */
	VS_LINK_GRH,          /* GRH of RoCEv1 */
	VS_LINK_BTH,          /* BTH; the ICRC is the last 4 bytes of the buffer */
};

/* What carries the packet. */
enum vs_encap {
	VS_ENCAP_BARE = 0, /* BTH only: the network header is not in the buffer */
	VS_ENCAP_IB,       /* LRH, no GRH */
	VS_ENCAP_IB_GRH,   /* LRH + GRH */
	VS_ENCAP_IB_RAW,   /* LRH + raw: LNH 0 (RWH + ethertype payload) or LNH 1 (raw IPv6); no BTH, no ICRC */
	VS_ENCAP_ROCEV1,
	VS_ENCAP_ROCEV2_IPV4,
	VS_ENCAP_ROCEV2_IPV6,
};

enum vs_lnh { VS_LNH_RAW = 0, VS_LNH_IPV6 = 1, VS_LNH_IBA_LOCAL = 2, VS_LNH_IBA_GLOBAL = 3 };

struct vs_vlan {
	uint16_t tpid; /* 0x8100, 0x88a8, 0x9100 or 0x9200 */
	uint16_t tci;
};

struct vs_eth {
	uint8_t dst[6], src[6];
	uint8_t vlan_count; /* 0 .. VS_MAX_VLAN */
	struct vs_vlan vlan[VS_MAX_VLAN];
	uint16_t ethertype; /* after the tags */
};

struct vs_lrh {
	uint8_t vl, lver, sl, rsv1, lnh, rsv2; /* 4, 4, 4, 2, 2, 5 bits */
	uint16_t dlid, pktlen, slid;           /* pktlen: 11 bits, 4-byte words, LRH through ICRC */
};

/* GRH, and the IPv6 header of RoCEv2: the same layout. */
struct vs_grh {
	uint8_t ipver, tclass;
	uint32_t flowlabel; /* 20 bits */
	uint16_t paylen;    /* bytes after this header, through the ICRC */
	uint8_t nxthdr, hoplmt;
	uint8_t sgid[16], dgid[16];
};

struct vs_ipv4 {
	uint8_t version, ihl, tos, ttl, protocol; /* ihl in 4-byte words, 5 .. 15 */
	uint16_t total_len, id, frag, csum;       /* frag: 3 flag bits and 13 offset bits as on the wire */
	uint8_t src[4], dst[4];
	uint8_t options[40]; /* (ihl - 5) * 4 bytes are used */
};

struct vs_udp {
	uint16_t sport, dport, len, csum;
};

struct vs_bth {
	uint8_t opcode;
	bool se, migreq, fecn, becn, ackreq;
	uint8_t padcnt, tver, resv6, resv7; /* 2, 4, 6, 7 bits */
	uint16_t pkey;
	uint32_t destqp, psn; /* 24 bits */
};

struct vs_rwh {
	uint16_t rsv, etype;
};

/* Headers after the BTH. Only those in vs_pkt.hdrs mean anything. */
struct vs_ext {
	uint8_t dcext[8], dcceth[16];
	/* one header, one line */
	/* clang-format off */
	struct { uint8_t rsv; uint32_t eecontext; } rdeth;
	struct { uint8_t rsv; uint32_t xrcsrq; } xrceth;
	struct { uint32_t qkey; uint8_t rsv; uint32_t srcqp; } deth;
	struct { uint32_t rsv; uint8_t sel, plt; } feth; /* 26, 2, 4 bits */
	struct { uint64_t va; uint32_t rkey, dmalen; } reth;
	struct { uint8_t syndrome; uint32_t msn; } aeth;
	struct { uint64_t va; uint32_t rkey; uint64_t swapadd, compare; } atomiceth;
	/* clang-format on */
	uint64_t atomicack_origdata;
	uint32_t immdt;
	uint32_t ieth_rkey;
};

/* What parse found beside the fields; also set by hand to build illegal packets. */
enum vs_pkt_flag {
	VS_PKT_SNAPPED = 1u << 0,     /* the capture cut the packet: fewer bytes than were on the wire */
	VS_PKT_FRAGMENT = 1u << 1,    /* first fragment of an IP datagram: the rest is in other packets */
	VS_PKT_HDR_MISSING = 1u << 2, /* the packet ends before the headers that its opcode has */
	VS_PKT_HAS_ICRC = 1u << 3,    /* `icrc` holds the 4 bytes */
	VS_PKT_HAS_VCRC = 1u << 4,    /* `vcrc` holds the 2 bytes */
	VS_PKT_HAS_BTH = 1u << 5,
	VS_PKT_HAS_ETH = 1u << 6,
	VS_PKT_HAS_RWH = 1u << 7,
};

struct vs_pkt {
	enum vs_encap encap;
	uint32_t flags; /* set of enum vs_pkt_flag */
	uint32_t hdrs;  /* set of enum vs_hdr that are present in `ext` */

	struct vs_eth eth;   /* VS_PKT_HAS_ETH; without it, tags mean that the bytes begin behind the first TPID */
	struct vs_lrh lrh;   /* VS_ENCAP_IB* */
	struct vs_grh grh;   /* VS_ENCAP_IB_GRH, ROCEV1; the IPv6 header for ROCEV2_IPV6 */
	struct vs_ipv4 ipv4; /* VS_ENCAP_ROCEV2_IPV4 */
	struct vs_udp udp;   /* VS_ENCAP_ROCEV2_* */
	struct vs_rwh rwh;   /* VS_PKT_HAS_RWH */
	struct vs_bth bth;   /* VS_PKT_HAS_BTH */
	struct vs_ext ext;

	const uint8_t *payload; /* borrowed from the parsed buffer, or from who builds; never freed here */
	uint32_t payload_len;   /* captured bytes, without pad */
	uint8_t pad_len;        /* pad bytes really present: may differ from bth.padcnt in a broken packet */
	uint8_t pad[3];
	uint32_t icrc; /* as a number read little-endian from the wire: the CRC-32 value itself */
	uint16_t vcrc; /* likewise */
	/*
	 * Borrowed: bytes after the packet proper (Ethernet padding, FCS). When the snap length fell into
	 * ICRC or VCRC: the part of it that was captured.
	 */
	const uint8_t *trailer;
	uint32_t trailer_len;
	uint32_t missing_len;         /* bytes of the packet that a snap length cut off; 0 without VS_PKT_SNAPPED */
	uint32_t payload_missing_len; /* how many of them are payload; 0 when a header is missing already */

	/* Where things stood in the parsed buffer; ignored by build and equal. */
	uint32_t net_off; /* LRH, GRH or IP header: where the ICRC begins */
	uint32_t bth_off;
	uint32_t payload_off;
	uint32_t end_off; /* first byte after the ICRC (or the last byte of the packet), before VCRC */
};

enum vs_parse_opt {
	VS_PARSE_DC = 1u << 0,       /* opcodes 0x40..0x5f are Mellanox DC, not RD */
	VS_PARSE_ANY_PORT = 1u << 1, /* take any UDP destination port for RoCEv2 */
	VS_PARSE_FRAGMENT = 1u << 2, /* what carries `buf` is a first fragment (IPv6, a tunnel) */
};

/*
 * Decodes one packet. `caplen` bytes at `buf`; `wirelen` >= caplen is what was on the wire (equal
 * unless a snap length cut it). `ethertype` matters for VS_LINK_ETHERTYPE only (VLAN tags are
 * peeled there too). `opt`: set of enum vs_parse_opt.
 *
 * 0: `p` is filled; payload and trailer point into `buf`, which must outlive them.
 * VS_ERR_NOT_RDMA: other traffic, later IP fragments included. VS_ERR_SHORT: RDMA, but not even a
 * BTH (for IB: an LRH) is there; VS_PKT_SNAPPED in p->flags tells whether the capture is to blame.
 * A packet that ends inside the headers its opcode has parses, with VS_PKT_HDR_MISSING (and
 * VS_PKT_SNAPPED when it was cut): the headers that are whole are in `hdrs`, what is left of the
 * bytes is in `payload`.
 *
 * How long the packet is comes from UDP length, GRH PayLen, LRH PktLen; what a buffer holds beyond
 * it is `trailer`. A length that promises more than there is (without a snap) is taken as all there
 * is, and validate says so.
 */
int vs_pkt_parse(struct vs_pkt *p, enum vs_link link, uint16_t ethertype, const uint8_t *buf, size_t caplen,
		 size_t wirelen, unsigned opt);

/*
 * The link that vs_pkt_parse needs to read what vs_pkt_build writes, and its ethertype when it is
 * VS_LINK_ETHERTYPE (0 otherwise): how a packet without Ethernet header is handed on.
 */
enum vs_link vs_pkt_link(const struct vs_pkt *p, uint16_t *ethertype);

/* Bytes that vs_pkt_build would write. */
size_t vs_pkt_size(const struct vs_pkt *p);

/*
 * Encodes exactly what the struct says into buf[0..cap). The number of bytes, or VS_ERR_NOSPACE
 * (nothing written), or VS_ERR_INVAL when a field does not fit its bits (a 25-bit PSN, vlan_count > VS_MAX_VLAN...).
 * A snapped packet builds to its captured bytes.
 */
int vs_pkt_build(const struct vs_pkt *p, uint8_t *buf, size_t cap);

enum vs_seal {
	VS_SEAL_PAD = 1u << 0,  /* padcnt, pad_len and zero pad from payload_len */
	VS_SEAL_LEN = 1u << 1,  /* LRH PktLen, GRH/IPv6 PayLen, IPv4 total length, UDP length; IHL when under 5 */
	VS_SEAL_CSUM = 1u << 2, /* IPv4 header checksum; UDP checksum := 0 */
	VS_SEAL_ICRC = 1u << 3,
	VS_SEAL_VCRC = 1u << 4,
	VS_SEAL_ALL = 0x1f
};
#define VS_SEAL_ROOM 9u /* most bytes that sealing adds to a packet: 3 of pad, ICRC, VCRC */

/*
 * Fills in what follows from the rest of the packet; what is not asked for stays. Also turns on
 * VS_PKT_HAS_ICRC / VS_PKT_HAS_VCRC where the encapsulation has them. For the CRCs it needs `scratch`, at
 * least vs_pkt_size(p) + VS_SEAL_ROOM bytes, because they run over the encoded bytes; NULL and 0 will do otherwise.
 * 0, VS_ERR_NOSPACE or VS_ERR_INVAL (as build; a snapped packet; a length that has no room in its
 * field). The ICRC of VS_ENCAP_BARE stays, since the network header is not known.
 */
int vs_pkt_seal(struct vs_pkt *p, unsigned what, uint8_t *scratch, size_t cap);

/* The checksum that this IPv4 header should have, options included (RFC 791). */
uint16_t vs_ipv4_csum(const struct vs_ipv4 *h);

/*
 * Fills `p` with a legal skeleton: `encap`, the header set of `opcode`, IPVer 6, NxtHdr, TTL 64,
 * DF, ports, P_Key 0xffff, LNH, the payload of a CNP ... Addresses, QPN, PSN and payload are the
 * caller's, and lengths and CRCs those of vs_pkt_seal. VS_ENCAP_IB_RAW: LRH and RWH, no BTH.
 * With `ethernet`, an Ethernet header in front (RoCE encapsulations only).
 */
void vs_pkt_init(struct vs_pkt *p, enum vs_encap encap, uint8_t opcode, bool ethernet);

/* Equal in everything that reaches the wire (payload and trailer by content, offsets ignored), for packets that build.
 */
bool vs_pkt_equal(const struct vs_pkt *a, const struct vs_pkt *b);

/*
 * Broken rules of this packet alone (nothing that needs its neighbours), most basic first. Writes
 * at most `cap` of them (in the order of reasons.def, each once), returns how many there are. CRCs are
 * not computed here: pass what vs_icrc_check said, or VS_CRC_UNVERIFIED to leave them out.
 * A segmentation-offload super-packet is many packets in one frame: judge its segments, not the frame.
 */
size_t vs_pkt_validate(const struct vs_pkt *p, enum vs_crc_status icrc, enum vs_crc_status vcrc, enum vs_reason *out,
		       size_t cap);

/* ---- small meanings of fields, shared by everyone who prints or judges them ---- */

enum vs_aeth_type { VS_AETH_ACK = 0, VS_AETH_RNR = 1, VS_AETH_RESERVED = 2, VS_AETH_NAK = 3 };
enum vs_nak { VS_NAK_PSN_SEQ = 0, VS_NAK_INV_REQ = 1, VS_NAK_REM_ACCESS = 2, VS_NAK_REM_OP = 3, VS_NAK_INV_RD = 4 };

static inline enum vs_aeth_type vs_aeth_type(uint8_t syndrome)
{
	return (enum vs_aeth_type)((syndrome >> 5) & 3);
}

#define VS_CREDITS_UNLIMITED 0xffffffffu
/* Credit code 0..31 -> receive credits; VS_CREDITS_UNLIMITED for 31 ("no credit limit"). */
uint32_t vs_aeth_credits(uint8_t code);
/* RNR NAK timer code 0..31 -> nanoseconds (Table 45: 655.36 ms for 0, 0.01 ms for 1, ...). */
uint64_t vs_rnr_timer_ns(uint8_t code);
/* The same as text: "655.36 ms"; static. */
const char *vs_rnr_timer_text(uint8_t code);
/* NAK code 0..31 -> "PSN sequence error", ...; "reserved" above 4; static. */
const char *vs_nak_text(uint8_t code);

#endif
