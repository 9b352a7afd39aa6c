/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * run.h - the inside of vs-run.
 *
 *   main.c     what is asked for, and who does it
 *   options.c  the command line: everything is checked before the program starts
 *   start.c    the environment for the library, starting, waiting, exit codes
 *   pair.c     a server and a client on two addresses
 *   netns.c    namespaces, a network of their own
 *   view.c     /sys and /dev with the device in them;  sysfs.c: the files
 *   repeat.c   the same addresses every time
 */
#ifndef VS_VERBS_RUN_H
#define VS_VERBS_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/cli.h"

#define RUN_FAILED VS_CLI_FAILED /* as env(1): vs-run itself failed */
#define RUN_ADDRS 4
#define RUN_RULES 16

struct run_options {
	const char *ip[RUN_ADDRS];
	unsigned n_ip;
	const char *mtu, *seed, *traits;
	const char *capture, *trace; /* absolute */
	const char *snaplen;
	const char *fault[RUN_RULES], *deviation[RUN_RULES];
	unsigned n_fault, n_deviation;
	bool sim, counters, explain, no_gso, quiet, pair, netns, view, may_move, allow_remote, trace_memory;
	char **argv; /* the program and its arguments */
};

/* One line on stderr: "vs-run: ...". Returns RUN_FAILED. */
#define RUN_PROGRAM "vs-run"
#define run_fail(...) (vs_cli_complain(RUN_PROGRAM, NULL, __VA_ARGS__), run_failed())
static inline int run_failed(void)
{
	return RUN_FAILED;
}

/* -1: go on; otherwise the exit code (help and version are 0). */
int run_parse(struct run_options *o, int argc, char **argv);
/* ::ffff:a.b.c.d for IPv4. False: no address. */
bool run_parse_ip(const char *text, uint8_t gid[16]);
/* Addresses are local, free, and on loopback unless allowed; 0 or RUN_FAILED. */
int run_check_addresses(const struct run_options *o);
/* The n-th (from 1) free loopback address as text; false: there are not so many. */
bool run_free_address(unsigned n, char text[16]);

/* Sets the variables that the library reads. 0 or RUN_FAILED. */
int run_environment(const struct run_options *o);
/* Becomes the program; returns only when that is impossible: 126 or 127, said on stderr. */
int run_exec(char **argv);
/*
 * Starts it as a child. view: the address of the device that it sees below /sys, or NULL. out >= 0: its stdout and
 * stderr. -1 after a line on stderr, with *code.
 */
pid_t run_spawn(const char *view, char **argv, int out, int *code);
/* Exit code of what waitpid said. */
int run_code(int status);

int run_pair(const struct run_options *o);
/* The namespaces that CLONE_NEW... name, for an ordinary user inside a user namespace. 0 or RUN_FAILED. */
int run_unshare(int flags, const char *option);
int run_netns(const struct run_options *o);
/* Shows this process, and what it starts, a device with these addresses below /sys and /dev. 0 or RUN_FAILED. */
int run_view(const char *const *ip, unsigned n_ip);
/* The files in /sys/class/infiniband and /sys/class/infiniband_verbs, which `at` is. False with errno. */
bool run_sysfs_device(int at, const uint8_t gid[][16], unsigned n);
bool run_sysfs_verbs(int at);
/* Before the program starts, with --sim: its memory gets the same addresses every time. 0 or RUN_FAILED. */
int run_same_addresses(char **argv);

#endif
