/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * packet.h - between the files about packets: field.c (fields, sequence numbers, opcodes), net.c (what is in front of
 * the BTH), packet.c (making), cm_packet.c (connection management), match.c (matching).
 */
#ifndef VS_DRILL_PACKET_H
#define VS_DRILL_PACKET_H

#include "run.h"
#include "vs/mad.h"
#include "vs/psn.h"

/* False: the packet has no such field. */
bool dr_set_field(struct vs_pkt *p, int id, uint64_t v);
uint64_t dr_largest(int id);
bool dr_net_field(const struct vs_pkt *p, int id, uint64_t *v);
bool dr_set_net_field(struct vs_pkt *p, int id, uint64_t v);
uint64_t dr_net_largest(int id);
/* An address: how many bytes, 0 without one. `mapped` is room for an IPv4 address as a GID. */
size_t dr_net_bytes(const struct vs_pkt *p, int id, uint8_t mapped[16], const uint8_t **bytes);
bool dr_set_net_bytes(struct vs_pkt *p, int id, const uint8_t *bytes);
bool dr_is_length(int id); /* what sealing fills in, and a line may say otherwise */
bool dr_is_sum(int id);
bool dr_udp_sum_is_valid(const struct vs_pkt *p, char *why, size_t cap);
bool dr_set_valid_udp_sum(struct vs_pkt *p);
/* Takes `cut` bytes from the end of a packet; lengths and the IP checksum say so. Bytes left, 0: it can't be cut so. */
size_t dr_cut(uint8_t *frame, size_t len, const struct vs_pkt *p, uint64_t cut);
/* A field that is the same in both directions. */
bool dr_plain(const struct option *o);
/* psn=: the first one, and how many. */
bool dr_psn_range(struct run *r, const struct stmt *st, uint32_t *first, uint32_t *count);
/* The opcode of packet k of n. */
uint8_t dr_opcode_at(const struct stmt *st, uint32_t k, uint32_t n);
bool dr_start_packet(struct run *r, const struct stmt *st, struct vs_pkt *p, uint8_t op);
/* Everything that is said of it and stands in it as it is. */
bool dr_plain_fields(struct run *r, const struct stmt *st, struct vs_pkt *p);
bool dr_put(struct run *r, const struct stmt *st, struct vs_pkt *p, unsigned seal);
bool dr_send_cm(struct run *r, const struct stmt *st);
/* What a script says for a field, as it stands in the message: an MTU in bytes becomes its code. */
uint64_t dr_cm_value(const struct vs_cm_field *f, uint64_t v);
uint64_t dr_mad_value(const struct vs_mad *m, int field); /* enum dr_mad */
bool dr_parse_cm(const struct vs_pkt *p, struct vs_cm_msg *m);

#endif
