/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* spool.h - what the recorder left in a folder, made into .vst files (spool.c). */
#ifndef VT_SPOOL_H
#define VT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vt_spool_result {
	char name[64];    /* of the .vst, in the folder */
	char program[32]; /* who wrote it */
	char node[16];
	char device[32]; /* the first device that it opened; "": none */
	uint32_t pid;
	uint64_t events, calls, errors; /* calls that failed, completions with another status than success */
	uint64_t lost;                  /* records that are missing, for whatever reason */
	char note[160];                 /* what is missing, in words; "": nothing */
};

/*
 * Every rec-PID.spool in `dir` becomes calls-NODE-PID.vst, and goes. At most `cap` results; how many there are, or -1
 * with one line in `err`.
 */
int vt_spool_convert(const char *dir, struct vt_spool_result *out, size_t cap, char *err, size_t err_cap);

#endif
