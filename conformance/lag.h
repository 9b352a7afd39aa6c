/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* lag.h - how late this process was, and its clock. */
#ifndef CONFORM_LAG_H
#define CONFORM_LAG_H

#include <stdbool.h>
#include <stdint.h>

struct vc_lag {
	uint64_t longest_ns;           /* what was found */
	uint64_t looked_ns;            /* when somebody looked, or is going to; 0: nobody has, or nobody should have */
	uint64_t window_ns, waited_ns; /* when, and what the threads had waited for processors by then */
};
/* The longest that threads had to wait within some milliseconds; all of them together. */
void vc_lag_watch(struct vc_lag *l, uint64_t now, bool at_once);
/* Somebody looks now. */
void vc_lag_looked(struct vc_lag *l, uint64_t now);
/* Nobody means to look before that. */
void vc_lag_rests(struct vc_lag *l, uint64_t until);
uint64_t vc_now_ns(void); /* CLOCK_MONOTONIC */

#endif
