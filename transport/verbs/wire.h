/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * wire.h - what the engine's packets travel on. A wire is told which engine it serves and does the rest; the engine's
 * owner calls it with the engine's lock held. On sockets time is real and there is one device; the simulated wire has
 * two, and a clock that virtual.c moves.
 */
#ifndef VS_VERBS_WIRE_H
#define VS_VERBS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vs/dev.h"
#include "vs/impair.h"

struct ref_wire;
struct ref_config;
struct vs_sim;

enum ref_sent {
	REF_SENT_ALL,
	REF_SENT_SOME,   /* there is more, but receive first */
	REF_SENT_NO_ROOM /* what is left waits for receivers that are full: call again soon */
};

struct ref_wire_ops {
	/* Hands what has arrived to the engine, at most about `max` packets; how many. Does not block. */
	unsigned (*receive)(struct ref_wire *w, unsigned max, uint64_t now_ns);
	/* Takes what the engine has to send, or a good part of it. */
	enum ref_sent (*send)(struct ref_wire *w, uint64_t now_ns);
	/* When it wants to be called although nothing arrives; VS_NEVER. */
	uint64_t (*deadline)(const struct ref_wire *w);
	uint64_t (*now)(const struct ref_wire *w);
	/* Makes a device, of which the wire fills in what it knows better; it goes with the wire. NULL with a vs_err.
	 */
	struct vs_dev *(*create)(struct ref_wire *w, struct vs_dev_attr *attr, int *err);
	/* Takes packets to a multicast GID, too; 0 or an errno. And one join less. NULL: it takes them anyway. */
	int (*join)(struct ref_wire *w, const uint8_t gid[16]);
	void (*leave)(struct ref_wire *w, const uint8_t gid[16]);
	void (*counters)(const struct ref_wire *w); /* its own, on stderr; NULL: none */
	void (*close)(struct ref_wire *w);
	/* One rule more, NULL: none any more; 0, or an errno with `why`. And one that never acted, or NULL. NULL: it
	 * can't. */
	int (*fault)(struct ref_wire *w, const char *rule, char *why, size_t cap);
	const char *(*idle_fault)(const struct ref_wire *w);
};

struct ref_wire {
	const struct ref_wire_ops *ops;
	int fd; /* readable when packets wait; -1: none */
};

/* NULL after a line on stderr; *err is an errno then. */
struct ref_wire *ref_wire_udp(const struct ref_config *config, int *err);
struct ref_wire *ref_wire_sim(const struct ref_config *config, int *err);
struct vs_sim *ref_wire_sim_of(struct ref_wire *w);

/* Faults on the way. NULL: no memory or a rule is wrong (said on stderr). */
struct vs_impair *ref_impair_new(const struct ref_config *config, vs_impair_fn *pass, void *ctx);

#endif
