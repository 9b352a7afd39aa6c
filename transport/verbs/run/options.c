/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * options.c - the command line of vs-run. Whatever can be wrong with it is said here, before the program starts.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs/run/run.h"
#include "vs/dev.h"
#include "vs/fault.h"
#include "vs/udpio.h"

static const char usage[] =
	"usage: vs-run [options] [--] PROGRAM [ARGUMENT...]\n"
	"       vs-run --pair [options] [--] PROGRAM [ARGUMENT...]\n"
	"       vs-run --sim [options] [--] PROGRAM [ARGUMENT...]\n"
	"\n"
	"Runs a verbs program on the reference device ref0: no RDMA hardware, no kernel module, no privilege.\n"
	"\n"
	"  --ip ADDRESS       the device's address, IPv4 or IPv6 (up to four times; default: the first free "
	"127.0.0.N)\n"
	"  --mtu BYTES        largest path MTU: 256 512 1024 2048 4096 (default)\n"
	"  --set WORDS        what kind of device it is: cc (congestion control), e2e_credits, privileged_qkey, "
	"ack_every=N,\n"
	"                     window=N, max_rd_atomic=N, msn=N, pkeys=KEY,KEY\n"
	"  --pair             start a server and a client on two addresses: the client is the same program with the\n"
	"                     server's address appended, or what stands behind a '::', where @server is that address\n"
	"  --sim              two devices, ref0 (10.0.0.1) and ref1 (10.0.0.2), on a simulated wire inside the "
	"process: a\n"
	"                     virtual clock, so time-outs cost nothing and the same seed gives the same packets\n"
	"  --capture FILE     write what the device sends and receives as a capture (pcap)\n"
	"  --snaplen N        of each packet the first N bytes alone (54 to 65535; not with --sim)\n"
	"  --trace FILE       write what happens in the device as a .vst file, with --sim in both and between them;\n"
	"                     without it, %p in the name stands for the process, %n for the name of its side\n"
	"  --trace-memory     with --sim: the trace has the bytes of memory regions, too, as they are when a region "
	"goes\n"
	"  --fault RULE       lose, damage, delay ... packets: 'drop 3rd data from me', 'drop 1% any' (repeatable);\n"
	"                     with --sim the nodes are ref0 and ref1\n"
	"  --deviation NAME   commit a known defect of real devices (repeatable); with --sim, ref1:NAME: that one "
	"alone\n"
	"  --explain          say on stderr why a verb was refused or a completion failed\n"
	"  --counters         print the device's counters when the program ends\n"
	"  --seed N           keys and queue pair numbers derive from it (default: another one each time)\n"
	"  --no-gso           no segmentation offload: captures on lo then show single packets\n"
	"  --netns            in a network namespace of its own, where every address and port is free\n"
	"  --view             show the device below /sys/class/infiniband and /dev/infiniband, to this program alone\n"
	"  --allow-remote     take an address that other hosts can reach: RDMA has no authentication\n"
	"  --quiet            do not tell which address was taken\n"
	"  --help, --version\n"
	"\n"
	"Exit code: the program's; 125 when vs-run itself fails, 126 or 127 when the program can't be run or found.\n";

/* ---- values ---- */

static int check_mtu(const char *text)
{
	static const char *const known[] = {"256", "512", "1024", "2048", "4096"};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(text, known[i]) == 0)
			return 0;
	return run_fail("--mtu %s: write one of 256 512 1024 2048 4096", text);
}

/* The library gets it as a decimal number. */
static int take_seed(struct run_options *o, const char *text)
{
	static char decimal[24];
	uint64_t seed;

	if (!vs_cli_number(text, 0, UINT64_MAX, &seed))
		return run_fail("--seed %s: write a number, decimal or 0x hexadecimal", text);
	(void)snprintf(decimal, sizeof(decimal), "%" PRIu64, seed);
	o->seed = decimal;
	return 0;
}

static int check_fault(const char *text)
{
	struct vs_fault_rule rule;
	struct vs_fault_error err;

	if (strchr(text, '\n') != NULL)
		return run_fail("--fault: one rule, one line");
	if (vs_fault_parse(text, strlen(text), &rule, &err) != VS_OK)
		return run_fail("--fault '%s': column %u: %s", text, err.column, err.text);
	return 0;
}

static bool is_node(const char *name, const char *a, const char *b)
{
	return name[0] == '\0' || strcmp(name, a) == 0 || strcmp(name, b) == 0;
}

/* Known when all options are: what the nodes are called. */
static int check_fault_nodes(const struct run_options *o, const char *text)
{
	const char *a = o->sim ? "ref0" : "me", *b = o->sim ? "ref1" : "peer";
	struct vs_fault_rule rule;

	if (vs_fault_parse(text, strlen(text), &rule, NULL) != VS_OK)
		return RUN_FAILED; /* checked before */
	if (!is_node(rule.from, a, b) || !is_node(rule.to, a, b))
		return run_fail("--fault '%s': nodes are called %s and %s %s", text, a, b,
				o->sim ? "with --sim" : "here");
	return 0;
}

static int check_deviation(const char *text)
{
	const char *name = text;

	if (strncmp(text, "ref0:", 5) == 0 || strncmp(text, "ref1:", 5) == 0)
		name += 5;
	if (vs_deviation_by_name(name) != VS_DEVIATION_COUNT)
		return 0;
	fprintf(stderr, "vs-run: --deviation %s: there is none of that name; they are", name);
	for (int i = 0; i < VS_DEVIATION_COUNT; i++)
		fprintf(stderr, " %s", vs_deviation_name((enum vs_deviation)i));
	fputc('\n', stderr);
	return RUN_FAILED;
}

bool run_parse_ip(const char *text, uint8_t gid[16])
{
	memset(gid, 0, 16);
	if (inet_pton(AF_INET, text, gid + 12) == 1) {
		gid[10] = gid[11] = 0xff;
		return true;
	}
	return inet_pton(AF_INET6, text, gid) == 1;
}

static bool is_loopback(const uint8_t gid[16])
{
	static const uint8_t v6[16] = {[15] = 1};

	return gid[10] == 0xff && gid[0] == 0 ? gid[12] == 127 : memcmp(gid, v6, 16) == 0;
}

static int check_ip(const struct run_options *o, const char *text)
{
	uint8_t gid[16], other[16];

	if (!run_parse_ip(text, gid))
		return run_fail("--ip %s: is no address: write one like 127.0.0.2 or ::1", text);
	for (unsigned i = 0; i < o->n_ip; i++)
		if (run_parse_ip(o->ip[i], other) && memcmp(gid, other, 16) == 0)
			return run_fail("--ip %s: given twice", text);
	return 0;
}

static int absolute(const char *option, const char **path)
{
	char *full, *cwd;
	size_t len;

	if ((*path)[0] == '/')
		return 0;
	cwd = getcwd(NULL, 0);
	len = cwd != NULL ? strlen(cwd) + strlen(*path) + 2 : 0;
	full = cwd != NULL ? malloc(len) : NULL;
	if (full == NULL) {
		free(cwd);
		return run_fail("--%s %s: the current folder has no name (%s)", option, *path, strerror(errno));
	}
	snprintf(full, len, "%s/%s", cwd, *path);
	free(cwd);
	*path = full; /* for as long as the process lives */
	return 0;
}

/* ---- options ---- */

enum {
	OPT_IP = 256,
	OPT_MTU,
	OPT_PAIR,
	OPT_SIM,
	OPT_CAPTURE,
	OPT_SNAPLEN,
	OPT_TRACE,
	OPT_FAULT,
	OPT_DEVIATION,
	OPT_EXPLAIN,
	OPT_COUNTERS,
	OPT_TRACE_MEMORY,
	OPT_SET,
	OPT_SEED,
	OPT_NO_GSO,
	OPT_NETNS,
	OPT_VIEW,
	OPT_ALLOW_REMOTE,
	OPT_QUIET,
	OPT_HELP,
	OPT_VERSION
};

static const struct option options[] = {
	{"ip", required_argument, NULL, OPT_IP},
	{"mtu", required_argument, NULL, OPT_MTU},
	{"set", required_argument, NULL, OPT_SET},
	{"pair", no_argument, NULL, OPT_PAIR},
	{"capture", required_argument, NULL, OPT_CAPTURE},
	{"fault", required_argument, NULL, OPT_FAULT},
	{"deviation", required_argument, NULL, OPT_DEVIATION},
	{"explain", no_argument, NULL, OPT_EXPLAIN},
	{"counters", no_argument, NULL, OPT_COUNTERS},
	{"seed", required_argument, NULL, OPT_SEED},
	{"no-gso", no_argument, NULL, OPT_NO_GSO},
	{"netns", no_argument, NULL, OPT_NETNS},
	{"allow-remote", no_argument, NULL, OPT_ALLOW_REMOTE},
	{"sim", no_argument, NULL, OPT_SIM},
	{"snaplen", required_argument, NULL, OPT_SNAPLEN},
	{"trace", required_argument, NULL, OPT_TRACE},
	{"trace-memory", no_argument, NULL, OPT_TRACE_MEMORY},
	{"view", no_argument, NULL, OPT_VIEW},
	{"quiet", no_argument, NULL, OPT_QUIET},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static int take_list(const char *name, const char **list, unsigned *n, unsigned max, const char *value)
{
	if (*n == max)
		return run_fail("--%s: at most %u times", name, max);
	list[(*n)++] = value;
	return 0;
}

static int take_value(struct run_options *o, int opt, char *value)
{
	uint64_t n;
	int rc;

	switch (opt) {
	case OPT_IP:
		rc = check_ip(o, value);
		return rc != 0 ? rc : take_list("ip", o->ip, &o->n_ip, RUN_ADDRS, value);
	case OPT_MTU:
		o->mtu = value;
		return check_mtu(value);
	case OPT_SET:
		o->traits = value;
		return 0; /* the library knows the words */
	case OPT_CAPTURE:
		o->capture = value;
		return absolute("capture", &o->capture);
	case OPT_SNAPLEN:
		o->snaplen = value;
		return vs_cli_number(value, 54, 65535, &n)
			       ? 0
			       : run_fail("--snaplen %s: write a number of bytes, 54 to 65535", value);
	case OPT_TRACE:
		o->trace = value;
		return absolute("trace", &o->trace);
	case OPT_FAULT:
		rc = check_fault(value);
		return rc != 0 ? rc : take_list("fault", o->fault, &o->n_fault, RUN_RULES, value);
	case OPT_DEVIATION:
		rc = check_deviation(value);
		return rc != 0 ? rc : take_list("deviation", o->deviation, &o->n_deviation, RUN_RULES, value);
	default:
		return take_seed(o, value);
	}
}

static void take_flag(struct run_options *o, int opt)
{
	bool *flag = opt == OPT_PAIR           ? &o->pair
		     : opt == OPT_EXPLAIN      ? &o->explain
		     : opt == OPT_COUNTERS     ? &o->counters
		     : opt == OPT_TRACE_MEMORY ? &o->trace_memory
		     : opt == OPT_NO_GSO       ? &o->no_gso
		     : opt == OPT_NETNS        ? &o->netns
		     : opt == OPT_VIEW         ? &o->view
		     : opt == OPT_SIM          ? &o->sim
		     : opt == OPT_QUIET        ? &o->quiet
					       : &o->allow_remote;

	*flag = true;
}

/* What has no meaning together. */
static int check_together(const struct run_options *o)
{
	int rc = 0;

	if (o->sim && o->pair)
		return run_fail(
			"--sim --pair: the simulated wire is inside one process, which has both devices: no second "
			"process can be on it; without --pair, one program opens ref0 and ref1, without --sim two "
			"programs talk over sockets");
	if (o->sim && o->n_ip > 0)
		return run_fail("--sim --ip: addresses are fixed on the simulated wire: ref0 has 10.0.0.1 and fd00::1, "
				"ref1 10.0.0.2 and fd00::2; leave --ip out");
	if (o->sim && (o->netns || o->allow_remote))
		return run_fail("--sim %s: the simulated wire touches no network: leave it out",
				o->netns ? "--netns" : "--allow-remote");
	if (o->sim && o->no_gso)
		return run_fail("--sim --no-gso: nothing is offloaded on the simulated wire: leave it out");
	if (o->sim && o->view)
		return run_fail(
			"--sim --view: /sys and /dev can show one device of a host, not two of a process: leave "
			"--view out");
	if (!o->sim && o->trace != NULL && strstr(o->trace, "%p") == NULL)
		return run_fail(
			"--trace %s: on sockets every process writes a file of its own: put %%p, its number, into "
			"the name (and %%n for the name of its side), or add --sim",
			o->trace);
	if (o->snaplen != NULL && (o->capture == NULL || o->sim))
		return run_fail(
			"--snaplen: cuts what --capture FILE writes of packets on sockets: add that, leave --sim out");
	if (o->trace_memory && (o->trace == NULL || !o->sim))
		return run_fail("--trace-memory: the trace has the bytes: add --sim --trace FILE");
	for (unsigned i = 0; i < o->n_deviation; i++)
		if (!o->sim && strchr(o->deviation[i], ':') != NULL)
			return run_fail("--deviation %s: there is one device without --sim: leave %.5s out",
					o->deviation[i], o->deviation[i]);
	for (unsigned i = 0; rc == 0 && i < o->n_fault; i++)
		rc = check_fault_nodes(o, o->fault[i]);
	return rc;
}

int run_parse(struct run_options *o, int argc, char **argv)
{
	int opt, rc = 0;

	opterr = 0;
	while (rc == 0 && (opt = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
		switch (opt) {
		case OPT_HELP:
		case OPT_VERSION:
			fputs(opt == OPT_HELP ? usage : "vs-run (Verbscope) " VS_VERSION "\n", stdout);
			return vs_cli_flush(RUN_PROGRAM, NULL) == VS_CLI_OK ? 0 : RUN_FAILED;
		case '?':
		case ':':
			vs_cli_complain_option(RUN_PROGRAM, NULL, argv, opt);
			return RUN_FAILED;
		case OPT_IP:
		case OPT_MTU:
		case OPT_CAPTURE:
		case OPT_SNAPLEN:
		case OPT_TRACE:
		case OPT_FAULT:
		case OPT_DEVIATION:
		case OPT_SEED:
		case OPT_SET:
			rc = take_value(o, opt, optarg);
			break;
		default:
			take_flag(o, opt);
			break;
		}
	}
	if (rc == 0)
		rc = check_together(o);
	if (rc != 0)
		return rc;
	if (optind == argc)
		return run_fail(
			"no program to run: vs-run [options] -- PROGRAM [ARGUMENT...]; vs-run --help says more");
	o->argv = argv + optind;
	return -1;
}

/* ---- addresses ---- */

static bool is_free(const uint8_t gid[16], int *code, struct vs_io_error *err)
{
	struct vs_udpio_attr attr = {.n_addrs = 1};
	struct vs_udpio *u;

	memcpy(attr.addr[0], gid, 16);
	u = vs_udpio_open(&attr, code, err);
	vs_udpio_close(u);
	return u != NULL;
}

bool run_free_address(unsigned n, char text[16])
{
	for (unsigned i = 1; i < 255; i++) {
		struct vs_io_error err;
		uint8_t gid[16];
		int code;

		snprintf(text, 16, "127.0.0.%u", i);
		if (run_parse_ip(text, gid) && is_free(gid, &code, &err) && --n == 0)
			return true;
	}
	return false;
}

int run_check_addresses(const struct run_options *o)
{
	for (unsigned i = 0; i < o->n_ip; i++) {
		struct vs_io_error err;
		uint8_t gid[16];
		int code;

		if (!run_parse_ip(o->ip[i], gid))
			return RUN_FAILED; /* checked before */
		if (!is_loopback(gid) && !o->allow_remote && !o->netns)
			return run_fail(
				"--ip %s: other hosts can reach this address, and RDMA has no authentication: add "
				"--allow-remote if that is meant",
				o->ip[i]);
		if (!is_free(gid, &code, &err))
			return run_fail("--ip %s%s", err.text,
					code == VS_ERR_BUSY ? "; choose another --ip, or none, or add --netns" : "");
	}
	return 0;
}
