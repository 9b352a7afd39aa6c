/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * program.c - the target `program`: a program of the user's is run on the simulated wire, once for each vector, and
 * what it did is held against the script (vs/program.h). What it sent is handed on as a run of the simulator would do
 * it.
 */
#include "vs/program.h"
#include "conform.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WORDS 64u

/* vs-run stands beside this program, built or installed. */
static bool find_vs_run(char path[4096])
{
	ssize_t n = readlink("/proc/self/exe", path, 4096 - 16);
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL)
		return false;
	strcpy(slash + 1, "vs-run");
	return access(path, X_OK) == 0;
}

/* The command at its blanks; there is no quoting. */
static bool split(char *text, char *words[MAX_WORDS + 1])
{
	unsigned n = 0;

	for (char *w = strtok(text, " \t"); w != NULL; w = strtok(NULL, " \t")) {
		if (n == MAX_WORDS)
			return false;
		words[n++] = w;
	}
	words[n] = NULL;
	return n > 0;
}

/* For the monitor, the ladder and the reports. */
static void hand_on(const struct vs_drill_env *env, const struct vs_record *record)
{
	size_t n, frame = 0;
	const struct vs_event *ev = vs_record_events(record, &n);
	struct vs_frame f;

	for (size_t i = 0; i < n; i++) {
		if (env->sink.emit != NULL && vs_event_info((enum vs_event_type)ev[i].type)->level <= env->sink.level)
			(void)env->sink.emit(env->sink.ctx, &ev[i]);
		if (ev[i].type != VS_EV_PKT_TX || !vs_record_frame(record, frame++, &f) || env->tap == NULL)
			continue;
		env->tap(env->tap_ctx,
			 &(struct vs_drill_frame){ev[i].t_ns, ev[i].node, VS_TAP_SENT, f.link, f.data, f.caplen});
	}
}

static void fail(struct vs_drill_result *res, enum vs_verdict v, const char *text)
{
	*res = (struct vs_drill_result){.verdict = v};
	(void)snprintf(res->at.text, sizeof(res->at.text), "%s", text);
}

static void run_in(const char *dir, const char *vs_run, char **words, const struct vc_case *c, unsigned vector,
		   const struct vs_drill_env *env, struct vs_drill_result *res)
{
	char trace[VS_PROGRAM_PATH + 16], capture[VS_PROGRAM_PATH + 16], output[VS_PROGRAM_PATH + 16];
	struct vs_program p = {vs_run, words, trace, capture, output, NULL, NULL, 0, NULL, false, 0, 0};

	(void)snprintf(trace, sizeof(trace), "%s/trace.vst", dir);
	(void)snprintf(capture, sizeof(capture), "%s/wire.pcap", dir);
	(void)snprintf(output, sizeof(output), "%s/output", dir);
	vs_drill_run_program(c->d, vector, env, &p, res);
	if (p.record != NULL)
		hand_on(env, p.record);
	if (res->verdict == VS_VERDICT_PASS && p.late)
		fail(res, VS_VERDICT_FAIL, "the program did not end");
	else if (res->verdict == VS_VERDICT_PASS && p.code != 0) {
		fail(res, VS_VERDICT_FAIL, "");
		(void)snprintf(res->at.text, sizeof(res->at.text), "the program ended with exit code %d", p.code);
	}
	vs_program_clear(&p);
	(void)remove(trace);
	(void)remove(capture);
	(void)remove(output);
}

void vc_program_run(const struct vc_options *o, const struct vc_case *c, unsigned vector,
		    const struct vs_drill_env *env, struct vs_drill_result *res)
{
	char vs_run[4096], dir[VS_PROGRAM_PATH], *words[MAX_WORDS + 1], *text = strdup(o->program);

	if (text == NULL || !split(text, words))
		fail(res, VS_VERDICT_ERROR, "--program: a command of 1 to 64 words");
	else if (!find_vs_run(vs_run))
		fail(res, VS_VERDICT_ERROR, "vs-run is not beside vs-conform: run make, or install again");
	else if (!vs_program_folder("vs-conform", dir))
		fail(res, VS_VERDICT_ERROR, "no folder for its traces can be made: TMPDIR says where");
	else {
		run_in(dir, vs_run, words, c, vector, env, res);
		(void)rmdir(dir);
	}
	free(text);
}
