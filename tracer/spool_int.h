/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* spool_int.h - what spool.c, spool_read.c, spool_events.c and spool_merge.c share: one spool on its way to a .vst. */
#ifndef VT_SPOOL_INT_H
#define VT_SPOOL_INT_H

#include <stdio.h>

#include "recorder/rec.h"
#include "spool.h"
#include "vs/vst.h"

#define SPOOL_CONTEXTS 65

struct spool {
	struct rec_head head;
	char node[16];
	char device[SPOOL_CONTEXTS][32]; /* by context */
	struct rec create;               /* the newest REC_CREATE_QP */
	uint32_t access;                 /* of the newest REC_MODIFY_QP */
	uint32_t sges;                   /* bytes of the SGEs beyond the first, of the post that comes */
	char text[128];
	uint64_t seq;
	/* The trace of the simulated devices, which the calls are put into: read so far, and its seqs as they are now.
	 */
	struct vs_vst_reader *merged;
	struct vs_event next;
	bool has_next;
	uint64_t *now_is;
	size_t cap_now;
	FILE *f;
	char part[1024];    /* its name until it is whole */
	int error;          /* the first errno of a write */
	long whole, before; /* lengths of the file that are known to be on the disk: the newest, and the one before */
	uint64_t unsaved;   /* events since then */
	uint64_t missing;   /* events for which the disk had no room */
	struct vt_spool_result *out;
};

/* The name in events of whoever called with this context. */
const char *spool_node(const struct spool *s, uint8_t ctx);
void spool_put(struct spool *s, struct vs_event *ev); /* gives it its seq */
void spool_record(struct spool *s, const struct rec *r);

/* ---- spool_read.c ---- */

#define SPOOL_RINGS 256u

struct spool_chunk { /* of words, as far as it is read */
	const uint8_t *at;
	size_t left; /* bytes */
	bool squeezed;
	uint32_t plain, run; /* words that are left of an item */
	uint64_t first;      /* of a run */
};

struct spool_ring { /* one, as far as it is read */
	uint32_t ring;
	size_t scan; /* where in the spool its next chunk is looked for */
	struct spool_chunk chunk;
	size_t rest, n_rest; /* words of what a killed program had in it */
	union rec_words like[REC_LIKE];
	bool has[REC_LIKE];
	uint64_t t;     /* of the newest record, as it stands there */
	uint64_t again; /* the word that says how the next one is different, if it is the same once more; or 0 */
	struct rec next;
	bool has_next;
};

struct spool_look { /* both clocks at once */
	uint64_t ticks, ns;
};

struct spool_reader {
	struct {
		uint64_t *word; /* from malloc; spool_close frees it */
		size_t n;
		uint64_t at; /* words of this ring before them */
	} rest[SPOOL_RINGS]; /* to be set before spool_open: what rings hold that is not in the spool */
	const uint8_t *at;   /* the chunks */
	size_t n;
	uint64_t words; /* of rings in them */
	bool in_ticks;
	struct spool_look *look;
	size_t n_looks;
	struct spool_ring *ring;
	unsigned n_rings;
	struct spool_ring *within; /* what it told last belongs to what it tells next */
	uint64_t within_t;
};

/* `r` is zero but for `rest`; `n` bytes behind the head of a spool, which outlive it. False: no memory. */
bool spool_open(struct spool_reader *r, const uint8_t *bytes, size_t n, bool in_ticks);
void spool_close(struct spool_reader *r); /* also when it was not opened */
void spool_rewind(struct spool_reader *r);
/* The next record of all; behind a REC_QP_PATH the REC_QP_GID that belongs to it, else pair[1] is nothing. */
bool spool_next(struct spool_reader *r, struct rec pair[2]);

/* spool_merge.c: the trace of the devices, `f`, is put between the calls; false: it is none. */
bool spool_merge_begin(struct spool *s, FILE *f);
void spool_merge_until(struct spool *s, uint64_t device_seq); /* its events up to there */
void spool_merge_end(struct spool *s);

#endif
