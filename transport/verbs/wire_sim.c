/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * wire_sim.c - two devices on the simulated wire (vs/sim.h): ref0 at 10.0.0.1 and fd00::1, ref1 at 10.0.0.2 and
 * fd00::2, joined by one link. Faults, the capture and the trace are the simulation's; virtual.c moves its clock.
 */
#include <stdlib.h>
#include <string.h>

#include "verbs/identity.h"
#include "verbs/ref.h"
#include "vs/pktio.h"
#include "vs/sim.h"

#define START_NS 1000u /* 0 means "no time" in places */

/* As the port says of itself: 4X of 10 Gbit/s. A microsecond is a short cable and a switch. */
static const struct vs_sim_link link_attr = {.latency_ns = 1000, .rate_bps = 40000000000u};

struct wire_sim {
	struct ref_wire wire; /* must be first */
	struct vs_sim *sim;
	struct vs_writer *capture; /* NULL: none */
	struct ref_trace *trace;   /* NULL: none */
	bool capture_broken;
	unsigned n_devs;
};

static struct wire_sim *self(struct ref_wire *w)
{
	return (struct wire_sim *)w;
}

struct vs_sim *ref_wire_sim_of(struct ref_wire *w)
{
	return self(w)->sim;
}

/* What leaves a device, before faults act: as a port that is mirrored shows it. */
static void tap(void *ctx, uint64_t now_ns, int node, enum vs_tap_where where, enum vs_link link, const uint8_t *frame,
		size_t len)
{
	struct wire_sim *w = ctx;
	struct vs_io_error err;

	(void)node;
	(void)link;
	if (where != VS_TAP_SENT || w->capture_broken)
		return;
	if (vs_writer_put(w->capture, (int64_t)(REF_SIM_EPOCH_NS + now_ns), frame, (uint32_t)len, (uint32_t)len,
			  &err) != VS_OK) {
		w->capture_broken = true;
		ref_say("%s", err.text);
	}
}

/* ---- what every wire does ---- */

static uint64_t now(const struct ref_wire *wire)
{
	return vs_sim_now(((const struct wire_sim *)wire)->sim);
}

static void gids(struct vs_dev_attr *attr, uint8_t host)
{
	attr->gids[0] =
		(struct vs_gid_entry){.gid = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = host}, .type = VS_GID_ROCEV2};
	attr->gids[1] = (struct vs_gid_entry){.gid = {[0] = 0xfd, [15] = host}, .type = VS_GID_ROCEV2};
}

static struct vs_dev *create(struct ref_wire *wire, struct vs_dev_attr *attr, int *err)
{
	struct wire_sim *w = self(wire);
	int host;

	gids(attr, (uint8_t)(w->n_devs + 1));
	attr->node_guid =
		UINT64_C(0x0200fffffe000001) + w->n_devs; /* as ibv_get_device_guid says before there is a device */
	attr->seed = 0;                                   /* two devices, two seeds: the simulation derives them */
	host = vs_sim_add_host(w->sim, attr);
	if (host >= 0 && ++w->n_devs == REF_DEVICES) {
		*err = vs_sim_connect(w->sim, 0, 1, &link_attr);
		if (*err != VS_OK)
			return NULL;
	}
	*err = host < 0 ? host : VS_OK;
	return vs_sim_dev(w->sim, host);
}

static void say_counter(const char *name, uint64_t n)
{
	if (n > 0)
		ref_say("counter wire %-24s %llu", name, (unsigned long long)n);
}

static void counters(const struct ref_wire *wire)
{
	const struct vs_sim_stats *s = vs_sim_stats(((const struct wire_sim *)wire)->sim);

	say_counter("frames_sent", s->sent);
	say_counter("frames_received", s->received);
	say_counter("frames_lost", s->lost);
	say_counter("virtual_time_ns", now(wire));
}

static void close_wire(struct ref_wire *wire)
{
	struct wire_sim *w = self(wire);
	struct vs_io_error err;

	if (!ref.forked) /* a child keeps its copy: its objects point into it */
		vs_sim_destroy(w->sim);
	ref_trace_close(w->trace, !ref.forked);
	if (w->capture != NULL && ref.forked)
		vs_writer_forget(w->capture);
	else if (w->capture != NULL && vs_writer_close(w->capture, &err) != VS_OK)
		ref_say("%s", err.text);
	free(w);
}

/* ---- opening ---- */

struct files {
	struct wire_sim *w;
	const struct ref_config *config;
	int rc;
};

static void *open_files(void *arg)
{
	struct files *f = arg;
	struct vs_io_error err;

	if (f->config->capture != NULL) {
		f->w->capture = vs_writer_open_kept(f->config->capture, VS_WRITER_ETHERNET, &err);
		if (f->w->capture == NULL) {
			ref_say("%s", err.text);
			f->rc = EIO;
		}
	}
	if (f->rc == 0 && f->config->trace != NULL)
		f->w->trace = ref_trace_open(f->config, "sim", &f->rc);
	return NULL;
}

/*
 * What these files take of the heap depends on their names, and on whether they exist. Another thread has another heap:
 * so the program's memory, and with it the addresses in its packets, lies where it lay the last time.
 */
static int open_files_apart(struct wire_sim *w, const struct ref_config *c)
{
	struct files f = {w, c, 0};
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, open_files, &f);

	if (rc == 0)
		(void)pthread_join(thread, NULL);
	return rc != 0 ? rc : f.rc;
}

static int open_sim(struct wire_sim *w, const struct ref_config *c)
{
	struct vs_sim_attr attr = {.seed = c->seed, .start_ns = START_NS};
	int err;

	if (w->trace != NULL)
		attr.sink = ref_trace_sink(w->trace);
	w->sim = vs_sim_create(&attr, &err);
	if (w->sim == NULL)
		return ENOMEM;
	if (w->capture != NULL)
		vs_sim_set_tap(w->sim, tap, w);
	for (unsigned i = 0; i < c->n_faults; i++) {
		struct vs_fault_error fault = {.text = "too many rules"};

		if (vs_sim_fault(w->sim, c->fault[i], &fault) < 0) {
			ref_say("VS_FAULT: \"%s\": column %u: %s", c->fault[i], fault.column, fault.text);
			return EINVAL;
		}
	}
	return 0;
}

static void abandon(struct wire_sim *w)
{
	vs_sim_destroy(w->sim);
	ref_trace_close(w->trace, false);
	if (w->capture != NULL)
		vs_writer_abort(w->capture);
	free(w);
}

struct ref_wire *ref_wire_sim(const struct ref_config *config, int *err)
{
	static const struct ref_wire_ops ops = {
		.now = now, .create = create, .counters = counters, .close = close_wire};
	struct wire_sim *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		*err = ENOMEM;
		return NULL;
	}
	w->wire = (struct ref_wire){.ops = &ops, .fd = -1};
	*err = open_files_apart(w, config);
	if (*err == 0)
		*err = open_sim(w, config);
	if (*err != 0) {
		abandon(w);
		return NULL;
	}
	if (!config->quiet)
		ref_say("this process is ref0 (10.0.0.1) and ref1 (10.0.0.2) on a simulated wire, seed %llu",
			(unsigned long long)config->seed);
	return &w->wire;
}
