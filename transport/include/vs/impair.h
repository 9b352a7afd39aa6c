/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * impair.h - what faults (vs/fault.h) leave of the packets on a way between two ends, and when. Time is handed in;
 * frames come out through a call, those that wait when their time has come.
 */
#ifndef VS_IMPAIR_H
#define VS_IMPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vs/fault.h"

struct vs_impair;

/* A frame goes on, to the far end (`out`) or to the near one; it is valid during the call. */
typedef void vs_impair_fn(void *ctx, bool out, const uint8_t *frame, size_t len);

/* Frames begin as `link` says; `near` and `far` are the nodes in the rules. NULL: no memory. */
struct vs_impair *vs_impair_new(uint64_t seed, enum vs_link link, const char *near, const char *far, vs_impair_fn *pass,
				void *ctx);
void vs_impair_free(struct vs_impair *im); /* NULL is fine; what waits is lost */
/* One more rule. 0, or negative and *err. */
int vs_impair_add(struct vs_impair *im, const char *text, size_t len, struct vs_fault_error *err);
void vs_impair_clear(struct vs_impair *im); /* no rules any more; what waits goes on waiting */
/* The name of a rule that has never acted; NULL: there is none. One that acts by chance had its chance. */
const char *vs_impair_idle(const struct vs_impair *im);
/*
 * Judges a frame on its way and passes on what is left of it, now or later. What is no RDMA passes. False: it was
 * dropped.
 */
bool vs_impair_frame(struct vs_impair *im, bool out, const uint8_t *frame, size_t len, uint64_t now_ns);
void vs_impair_expire(struct vs_impair *im, uint64_t now_ns); /* those whose time has come */
uint64_t vs_impair_deadline(const struct vs_impair *im);      /* the next such time; UINT64_MAX: nothing waits */

#endif
