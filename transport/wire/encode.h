/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * encode.h - how long the parts of a packet are when it is written. Internal to transport/wire.
 *
 * A packet is eth + net + body + VCRC + trailer.
 */
#ifndef VS_WIRE_ENCODE_H
#define VS_WIRE_ENCODE_H

#include "vs/wire.h"

size_t vs_enc_eth_size(const struct vs_pkt *p);            /* Ethernet header and tags */
size_t vs_enc_net_size(const struct vs_pkt *p);            /* LRH, GRH or IP, UDP */
size_t vs_enc_body_size(const struct vs_pkt *p);           /* RWH, BTH .. ICRC */
size_t vs_enc_ipv4_size(const struct vs_ipv4 *h);          /* with options; 20 .. 60 whatever the IHL says */
uint8_t *vs_enc_ipv4(const struct vs_ipv4 *h, uint8_t *b); /* writes it, returns the byte behind */

#endif
