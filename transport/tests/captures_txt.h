/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * captures_txt.h - the decode that lies beside a recorded capture (NAME.txt beside NAME.pcap), made
 * when the capture was, by a program that shares nothing with ours.
 *
 * After a line that begins "# --- packets on the wire" there is one line per packet:
 *     2.470 ms B>A  RC_ACK   psn=000103 qp=000062 ACK credits=31 msn=1 plen=0
 * We write the same line from our parse and compare them as text, runs of blanks taken for one.
 */
#ifndef VS_TESTS_CAPTURES_TXT_H
#define VS_TESTS_CAPTURES_TXT_H

#include <stdbool.h>

#include "vs/pktio.h"

struct txt;

/* The decode beside `pcap_path`; NULL when there is none. */
struct txt *txt_open(const char *pcap_path);

/* Compares the next line with this packet; false, and both are printed, when they differ. */
bool txt_compare(struct txt *t, const struct vs_frame *f, const struct vs_pkt *p, enum vs_crc_status icrc);

/* False, and the first one is printed, when lines are left over. Frees `t` (NULL is fine). */
bool txt_close(struct txt *t);

/* Lines compared so far. */
unsigned txt_compared(const struct txt *t);

#endif
