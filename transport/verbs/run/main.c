/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * vs-run - runs any verbs program on the reference device, unprivileged: the library in front of its libibverbs.
 */
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>

#include "verbs/run/run.h"

/* A program that may leave a capture behind is waited for. */
static int run_and_wait(const struct run_options *o)
{
	int status, code = 0;
	pid_t pid = run_spawn(NULL, o->argv, -1, &code);

	if (pid < 0)
		return code;
	status = vs_cli_wait(pid);
	if (o->capture != NULL)
		vs_cli_salvage_capture(RUN_PROGRAM, o->capture);
	if (o->trace != NULL)
		vs_cli_salvage_trace(RUN_PROGRAM, o->trace);
	return run_code(status);
}

/* What stands below /sys must be known now, so the address is chosen here. */
static int view(struct run_options *o)
{
	static char first[16];

	if (o->n_ip == 0) {
		if (!run_free_address(1, first))
			return run_fail(
				"--view: every 127.0.0.N:4791 is taken: rdma_rxe owns the port on every address "
				"while it is loaded; add --netns");
		o->ip[o->n_ip++] = first;
		o->may_move = true; /* nobody has asked for it: a second process gets another */
		if (!o->quiet)
			fprintf(stderr, "vs-run: this program's device is %s\n", first);
	}
	return run_view(o->ip, o->n_ip);
}

int main(int argc, char **argv)
{
	struct run_options o = {0};
	int rc = run_parse(&o, argc, argv);

	if (rc >= 0)
		return rc;
	if (o.netns && (rc = run_netns(&o)) != 0)
		return rc;
	if ((rc = run_check_addresses(&o)) != 0)
		return rc;
	if (o.view && !o.pair && (rc = view(&o)) != 0)
		return rc;
	if ((rc = run_environment(&o)) != 0)
		return rc;
	if (o.pair)
		return run_pair(&o);
	if (o.sim && (rc = run_same_addresses(o.argv)) != 0)
		return rc;
	return o.capture != NULL || o.trace != NULL ? run_and_wait(&o) : run_exec(o.argv);
}
