/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ref0_victim.h - queue pairs and memory that anybody may attack, in the process that the soak's hub is: what may be
 * written stands between pages that nobody can touch, and beside regions that nobody was allowed to write to.
 */
#ifndef REF0_VICTIM_H
#define REF0_VICTIM_H

#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>

/* Makes them, towards `peer`, and writes their numbers, keys and addresses, one a line, for verbs_hostile. */
void victim_make(struct ibv_context *ctx, const union ibv_gid *peer, FILE *targets);
/* To be called again and again: takes completions and events, checks memory, revives what an attack has ended. */
void victim_tend(void);
/* Checks, says what has happened; fails when nothing has reached the queue pairs. */
void victim_end(void);

#endif
