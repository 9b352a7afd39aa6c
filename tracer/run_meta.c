/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* run_meta.c - what `vs-trace run` says of a trace: meta.json, and lines on stderr. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

#define CMD "run"

const char *vt_run_device_text(const struct run *r)
{
	static const char *const text[] = {
		[RUN_AUTO] = "a device that is not known any more",
		[RUN_SYSTEM] = "the system's devices",
		[RUN_REF0] = "ref0 on sockets",
		[RUN_PAIR] = "ref0 on sockets, a server and a client",
		[RUN_SIM] = "ref0 and ref1 on the simulated wire",
	};

	return text[r->device];
}

const char *vt_run_unseen(const struct run *r)
{
	if (r->device == RUN_SYSTEM)
		return "calls alone were recorded: packets, their losses and accesses to memory can't be seen on this "
		       "device; "
		       "capture at a switch or with a mirrored port (on rdma_rxe: tcpdump -i NETDEV udp port 4791) and "
		       "add "
		       "that with 'vs-trace merge'";
	if (r->light)
		return "calls alone were recorded: no packets, no accesses to memory (--light)";
	return NULL;
}

static bool has_capture(const struct run *r)
{
	char path[PATH_MAX + 32];
	struct stat st;

	snprintf(path, sizeof(path), "%s/wire.pcap", r->dir);
	return stat(path, &st) == 0;
}

/* A command line may hold any bytes; JSON holds text. */
static json_t *text(const char *s)
{
	json_t *j = json_string(s);

	return j != NULL ? j : json_string("(not UTF-8)");
}

static json_t *process(const struct vt_spool_result *p)
{
	json_t *o = json_pack("{s:s, s:s, s:o, s:i, s:I, s:I, s:I}", "file", p->name, "node", p->node, "program",
			      text(p->program), "pid", (int)p->pid, "events", (json_int_t)p->events, "calls",
			      (json_int_t)p->calls, "errors", (json_int_t)p->errors);

	if (o != NULL && p->note[0] != '\0')
		(void)json_object_set_new(o, "missing", text(p->note));
	return o;
}

static json_t *meta(const struct run *r)
{
	json_t *command = json_array(), *processes = json_array(), *o;

	for (char **a = r->argv; *a != NULL; a++)
		(void)json_array_append_new(command, text(*a));
	for (int i = 0; i < r->n_processes; i++)
		(void)json_array_append_new(processes, process(&r->process[i]));
	o = json_pack("{s:s, s:s, s:o, s:i, s:o}", "vs-trace", VS_VERSION, "device", vt_run_device_text(r), "command",
		      command, "exit", r->code, "processes", processes);
	if (o != NULL && vt_run_unseen(r) != NULL)
		(void)json_object_set_new(o, "unseen", text(vt_run_unseen(r)));
	if (o != NULL && has_capture(r))
		(void)json_object_set_new(o, "capture", text("wire.pcap"));
	if (o != NULL && r->inject[0] != '\0')
		(void)json_object_set_new(o, "inject", text(r->inject));
	return o;
}

int vt_run_meta(const struct run *r)
{
	json_t *o = meta(r);
	char path[PATH_MAX + 32];
	struct vs_cli_file f;
	int rc = RUN_FAILED;

	snprintf(path, sizeof(path), "%s/meta.json", r->dir);
	if (o != NULL && vt_file_open(&f, CMD, path)) {
		(void)json_dumpf(o, f.f, JSON_INDENT(2));
		fputc('\n', f.f);
		rc = vs_cli_file_close(&f) == VT_OK ? 0 : RUN_FAILED;
	}
	json_decref(o);
	return rc;
}

void vt_run_tell(const struct run *r)
{
	uint64_t errors = 0;

	fprintf(stderr, "vs-trace: %s: on %s%s\n", r->dir, vt_run_device_text(r),
		has_capture(r) ? ", packets in wire.pcap" : "");
	for (int i = 0; i < r->n_processes; i++) {
		const struct vt_spool_result *p = &r->process[i];

		fprintf(stderr, "vs-trace:   %s (", p->node);
		vs_cli_put_safe(stderr, p->program);
		fprintf(stderr, ", pid %u): %llu records\n", p->pid, (unsigned long long)p->calls);
		if (p->note[0] != '\0')
			fprintf(stderr, "vs-trace:   %s: %s\n", p->node, p->note);
		errors += p->errors;
	}
	if (r->n_processes == 0)
		fprintf(stderr, "vs-trace: nothing was recorded: the program opened no RDMA device (or is linked "
				"statically)\n");
	if (vt_run_unseen(r) != NULL)
		fprintf(stderr, "vs-trace: %s\n", vt_run_unseen(r));
	if (errors > 0)
		fprintf(stderr, "vs-trace: %llu calls or completions failed: vs-trace why %s\n",
			(unsigned long long)errors, r->dir);
	else if (r->n_processes > 0)
		fprintf(stderr, "vs-trace: see it with vs-trace ladder %s\n", r->dir);
}
