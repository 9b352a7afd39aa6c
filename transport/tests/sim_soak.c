/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sim_soak.c - random work on a simulated network under random faults (soak.h), one seed after the other.
 *
 *   sim_soak [--seeds N | --seconds N | --packets N] [--first N]    many runs: so many, or until time or packets are up
 *   sim_soak --seed N [--verbose] [--capture FILE] [--trace FILE]   one run; its events; its packets; a .vst file
 *   --deviation NAME                                                with a defect in every device: it should be found
 *   --monitor                                                       the monitor watches (instead of --capture): all
 *                                                                   that it claims is false; what it found, by rule
 *
 * Exit 0: no violation. 1: one was found: what, where, and the command that replays it. 2: usage.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "soak.h"
#include "vs/pktio.h"
#include "vs/vst.h"

struct totals {
	uint64_t seeds, packets, lost, requests, steps, faults[VS_FAULT_HOLD + 1], group_copies, recoveries, renewals;
};

static void capture(void *ctx, uint64_t now_ns, int node, enum vs_tap_where where, enum vs_link link,
		    const uint8_t *frame, size_t len)
{
	struct soak *s = ctx;
	struct vs_io_error err;

	(void)node;
	(void)link;
	if (where == VS_TAP_SENT &&
	    vs_writer_put(s->writer, (int64_t)now_ns, frame, (uint32_t)len, (uint32_t)len, &err) < 0)
		violated(s, "%s", err.text);
}

static void open_capture(struct soak *s)
{
	struct vs_io_error err;

	if (s->opt.capture == NULL)
		return;
	s->writer = vs_writer_open(s->opt.capture, s->ib ? VS_WRITER_ERF_IB : VS_WRITER_ETHERNET, &err);
	if (s->writer == NULL) {
		fprintf(stderr, "sim_soak: %s\n", err.text);
		exit(2);
	}
	vs_sim_set_tap(s->sim, capture, s);
}

static void open_trace(struct soak *s)
{
	struct vs_vst_header h = {.clock = "sim", .build = VS_VERSION, .has_seed = true, .seed = s->opt.seed};

	if (s->opt.trace == NULL)
		return;
	s->trace = fopen(s->opt.trace, "w");
	if (s->trace == NULL || vs_vst_put_header(&h, s->trace) != VS_OK) {
		fprintf(stderr, "sim_soak: %s can't be written: %s\n", s->opt.trace, strerror(errno));
		exit(2);
	}
}

/* Capture and trace are whole from here on. */
static void close_files(struct soak *s)
{
	struct vs_io_error err;

	if (s->trace != NULL && fclose(s->trace) != 0) {
		fprintf(stderr, "sim_soak: %s can't be written: %s\n", s->opt.trace, strerror(errno));
		exit(2);
	}
	s->trace = NULL;
	if (s->writer != NULL && vs_writer_close(s->writer, &err) < 0) {
		fprintf(stderr, "sim_soak: %s\n", err.text);
		exit(2);
	}
	s->writer = NULL;
}

/* Takes completions here and there; true when there were any. */
static bool poll_some(struct soak *s, bool all)
{
	uint64_t before = s->seen;

	for (int i = 0; i < s->n_hosts; i++) {
		struct host *h = &s->host[i];

		for (uint32_t c = 0; c < h->n_cq; c++)
			if (all || percent(&s->dice, 70))
				done_poll(s, h, c, all ? UINT32_MAX : between(&s->dice, 1, 40));
		done_async(s, h);
	}
	cm_events(s);
	return s->seen != before;
}

bool soak_step(struct soak *s, uint64_t limit_ns)
{
	bool more;

	s->in_step = true;
	more = vs_sim_step(s->sim, limit_ns);
	s->in_step = false;
	s->steps++;
	return more;
}

static void step_some(struct soak *s)
{
	uint32_t n = between(&s->dice, 1, 40);

	while (n-- > 0 && soak_step(s, VS_NEVER))
		;
}

/* Nothing is in flight and nobody has anything to do. */
static void check_stuck(struct soak *s)
{
	if (vs_sim_busy(s->sim))
		return;
	work_receives(s, true);
	if (vs_sim_busy(s->sim) || poll_some(s, true))
		return;
	for (uint32_t i = 0; i < s->n_qps; i++) {
		const struct qp *q = &s->qp[i];

		REQUIRE(s, q->draining != DRAIN_ASKED || q->doomed, "QP %u is never drained", i);
		REQUIRE(s, q->draining != NO_DRAIN || q->unsignaled > 0 || q->sends.n == 0,
			"QP %u: %u requests never complete", i, q->sends.n);
	}
}

static void run(struct soak *s)
{
	uint64_t idle = 0;

	world_make(s);
	open_capture(s);
	monitor_begin(s);
	cm_wait(s);
	work_receives(s, false);
	while (s->posted < s->wanted || work_left(s)) {
		uint64_t before = s->posted + s->seen;

		if (s->posted < s->wanted && !s->closing)
			work_some(s);
		else
			work_close(s);
		work_receives(s, percent(&s->dice, 5));
		beside_some(s);
		step_some(s);
		poll_some(s, percent(&s->dice, 10));
		check_stuck(s);
		idle = s->posted + s->seen == before ? idle + 1 : 0;
		/* No more room for new requests, or every QP is dead: what was posted comes to its end. */
		if (idle > 2000)
			s->closing = true;
		REQUIRE(s, idle < 2000000, "%llu of %llu requests complete and no more",
			(unsigned long long)s->completed, (unsigned long long)s->posted);
		if (percent(&s->dice, 2))
			mem_check(s, &s->host[below(&s->dice, (uint32_t)s->n_hosts)], "meanwhile");
		if (s->closing && !work_left(s))
			break;
	}
	/* What is still on its way arrives before anything is judged for good. */
	work_receives(s, true);
	while (soak_step(s, VS_NEVER))
		;
	poll_some(s, true);
}

static const char *mood_name(enum mood m)
{
	static const char *const names[] = {"no faults", "faults that retries survive", "faults without mercy",
					    "bad requests"};

	return names[m];
}

static void describe(const struct soak *s, FILE *f)
{
	fprintf(f, "  %s; %d hosts, %s, %u QPs", mood_name(s->mood), s->n_hosts,
		s->ib_local ? "InfiniBand local"
		: s->ib     ? "InfiniBand global"
			    : "RoCE",
		s->n_qps);
	for (uint32_t i = 0; i < s->n_qps; i += 2)
		fprintf(f, "%s%s %u%s", i == 0 ? ": " : ", ",
			s->qp[i].type == VS_QPT_RC   ? "RC"
			: s->qp[i].type == VS_QPT_UC ? "UC"
						     : "UD",
			s->qp[i].mtu,
			s->ib || s->qp[i].type == VS_QPT_UD
				? ""
				: (const char *[]){" v4", " v6", " v1"}[s->qp[i].gid_index]);
	fprintf(f, "\n%s", s->faults != NULL ? s->faults : "");
}

/* 0: fine. */
static int one(const struct options *opt, struct totals *t)
{
	static struct soak s;
	const struct vs_sim_stats *st;

	memset(&s, 0, sizeof(s));
	s.opt = *opt;
	s.dice.state = opt->seed;
	s.next_id = 1;
	s.events = percent(&s.dice, 25);
	open_trace(&s);
	if (s.events || opt->verbose || opt->trace != NULL)
		s.watch = watch_new(&s);
	if (setjmp(s.out) == 0) {
		run(&s);
		monitor_judge(&s);
		st = vs_sim_stats(s.sim);
		t->packets += st->sent;
		t->lost += st->lost;
		for (int a = 0; a <= VS_FAULT_HOLD; a++)
			t->faults[a] += st->faults[a];
		t->requests += s.posted;
		t->group_copies += s.group_copies;
		t->recoveries += s.recoveries;
		t->renewals += s.renewals;
		t->steps += s.steps;
		t->seeds++;
		if (opt->verbose)
			describe(&s, stdout);
		world_end(&s);
		monitor_end(&s);
		close_files(&s);
		watch_free(s.watch);
		return 0;
	}
	fflush(stdout);
	fprintf(stderr, "sim_soak: seed %llu, step %llu, %llu ns: %s\n", (unsigned long long)opt->seed,
		(unsigned long long)s.steps, s.sim != NULL ? (unsigned long long)vs_sim_now(s.sim) : 0ull, s.why);
	describe(&s, stderr);
	fprintf(stderr, "  replay: sim_soak --seed %llu --verbose --capture FILE\n", (unsigned long long)opt->seed);
	close_files(&s);
	return 1;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void report(const struct totals *t, uint64_t first, double seconds)
{
	printf("sim_soak: seeds %llu to %llu: %llu packets, %llu lost (%llu dropped, %llu corrupted), %llu copied, "
	       "%llu overtaken, %llu delayed, %llu requests, %llu copies to groups, %llu times back from SQE, %llu "
	       "regions renewed in %.1f s: no violation\n",
	       (unsigned long long)first, (unsigned long long)(first + t->seeds - 1), (unsigned long long)t->packets,
	       (unsigned long long)t->lost, (unsigned long long)t->faults[VS_FAULT_DROP],
	       (unsigned long long)t->faults[VS_FAULT_CORRUPT], (unsigned long long)t->faults[VS_FAULT_DUP],
	       (unsigned long long)t->faults[VS_FAULT_REORDER], (unsigned long long)t->faults[VS_FAULT_DELAY],
	       (unsigned long long)t->requests, (unsigned long long)t->group_copies, (unsigned long long)t->recoveries,
	       (unsigned long long)t->renewals, seconds);
}

static int usage(void)
{
	fprintf(stderr,
		"usage: sim_soak [--seeds N | --seconds N | --packets N] [--first N] [--deviation NAME] [--monitor]\n"
		"       sim_soak --seed N [--verbose] [--capture FILE] [--trace FILE] [--deviation NAME] "
		"[--monitor]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct options opt = {0};
	struct totals t = {0};
	uint64_t seeds = 1000, first = 1, seconds = 0, packets = 0;
	double start = now_s();
	bool single = false;

	for (int i = 1; i < argc; i++) {
		uint64_t *value = strcmp(argv[i], "--seeds") == 0     ? &seeds
				  : strcmp(argv[i], "--first") == 0   ? &first
				  : strcmp(argv[i], "--seconds") == 0 ? &seconds
				  : strcmp(argv[i], "--packets") == 0 ? &packets
				  : strcmp(argv[i], "--seed") == 0    ? &opt.seed
								      : NULL;

		if (strcmp(argv[i], "--verbose") == 0) {
			opt.verbose = true;
			continue;
		}
		if (strcmp(argv[i], "--monitor") == 0) {
			opt.monitor = true;
			continue;
		}
		if (i + 1 == argc)
			return usage();
		if (strcmp(argv[i], "--deviation") == 0) {
			enum vs_deviation d = vs_deviation_by_name(argv[++i]);

			if (d == VS_DEVIATION_COUNT)
				return usage();
			opt.deviations |= 1ull << d;
			continue;
		}
		if (strcmp(argv[i], "--capture") == 0 || strcmp(argv[i], "--trace") == 0) {
			bool capture_file = argv[i][2] == 'c';

			*(capture_file ? &opt.capture : &opt.trace) = argv[++i];
			continue;
		}
		if (value == NULL || !vs_cli_number(argv[i + 1], 0, UINT64_MAX, value))
			return usage();
		single |= value == &opt.seed;
		i++;
	}
	if (single) {
		if (one(&opt, &t) != 0)
			return 1;
		report(&t, opt.seed, now_s() - start);
		if (opt.monitor)
			monitor_report(stdout);
		return 0;
	}
	for (uint64_t k = 0; packets > 0   ? t.packets < packets
			     : seconds > 0 ? now_s() - start < (double)seconds
					   : k < seeds;
	     k++) {
		opt.seed = first + k;
		if (one(&opt, &t) != 0)
			return 1;
	}
	report(&t, first, now_s() - start);
	if (opt.monitor)
		monitor_report(stdout);
	return 0;
}
