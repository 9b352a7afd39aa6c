/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* options.c - the command line of a run. */
#include "conform.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIM_BUDGET_MS 20000u
#define VERBS_BUDGET_MS 60000u

enum {
	OPT_CASES = 256,
	OPT_FILE,
	OPT_DEVICE,
	OPT_AGENT,
	OPT_PEER,
	OPT_PROGRAM,
	OPT_ENCAP,
	OPT_JSON,
	OPT_TAP,
	OPT_JUNIT,
	OPT_HTML,
	OPT_DEVIATIONS,
	OPT_PROFILE,
	OPT_COVERAGE,
	OPT_BESIDE,
	OPT_STRICT,
	OPT_HAZARDOUS,
	OPT_SEED,
	OPT_BUDGET,
	OPT_LIST,
	OPT_EXPLAIN,
	OPT_CHECK,
	OPT_VERSION
};

static const struct option longopts[] = {
	{"cases", required_argument, NULL, OPT_CASES},
	{"file", required_argument, NULL, OPT_FILE},
	{"device", required_argument, NULL, OPT_DEVICE},
	{"agent", required_argument, NULL, OPT_AGENT},
	{"program", required_argument, NULL, OPT_PROGRAM},
	{"peer", required_argument, NULL, OPT_PEER},
	{"encap", required_argument, NULL, OPT_ENCAP},
	{"json", required_argument, NULL, OPT_JSON},
	{"tap", required_argument, NULL, OPT_TAP},
	{"junit", required_argument, NULL, OPT_JUNIT},
	{"html", required_argument, NULL, OPT_HTML},
	{"deviations", required_argument, NULL, OPT_DEVIATIONS},
	{"profile-out", required_argument, NULL, OPT_PROFILE},
	{"coverage", required_argument, NULL, OPT_COVERAGE},
	{"beside", required_argument, NULL, OPT_BESIDE},
	{"strict", no_argument, NULL, OPT_STRICT},
	{"hazardous", no_argument, NULL, OPT_HAZARDOUS},
	{"seed", required_argument, NULL, OPT_SEED},
	{"budget", required_argument, NULL, OPT_BUDGET},
	{"jobs", required_argument, NULL, 'j'},
	{"list", no_argument, NULL, OPT_LIST},
	{"explain", no_argument, NULL, OPT_EXPLAIN},
	{"check", no_argument, NULL, OPT_CHECK},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static const char help_text[] =
	"usage: vs-conform [options] [CASE...]\n"
	"       vs-conform diff BEFORE.json AFTER.json\n"
	"       vs-conform doctor [DEVICE...]\n"
	"\n"
	"Runs the conformance suite against a device, and gives a verdict per rule. CASE is an id (RSP-017), one of "
	"its\n"
	"vectors (RSP-017[mtu=256]), a group (RSP) or a pattern with * and ?; without any, the whole suite is run.\n"
	"\n"
	"  --device NAME      sim (the simulator; usual), sim:SETTINGS, ref0 (the reference device), or a device of "
	"the\n"
	"                     installed libibverbs\n"
	"  --agent COMMAND    the device is where this command starts vs-agent: 'ssh user@host vs-agent'\n"
	"  --peer P           who talks to a device:\n"
	"    udp:ADDR           a UDP socket of this host (ref0: chosen)\n"
	"    raw:IFACE,ip=ADDR  a host that exists in frames alone, sent and captured at an interface (CAP_NET_RAW);\n"
	"                       also ip6=ADDR, mac=MAC, vlan=N, count=N\n"
	"    unix:PATH,remote=PATH,ip=ADDR  such a host behind AF_UNIX datagrams, for virtual machines; with count=N\n"
	"                       a % in both paths is the number of the process\n"
	"    bridge:END,END     nobody: it is between two devices (two --agent, or --device NAME,NAME), and does to\n"
	"                       their packets what faults of scripts say; END is IFACE, or unix:PATH,remote=PATH\n"
	"    loop               nobody, so that only cases with two ends are run: both on the device, or on\n"
	"                       two (two --agent, or --device NAME,NAME)\n"
	"  --program CMD      a program that makes the calls itself, on the simulated wire; scripts (--file) say what "
	"it "
	"has\n"
	"                     to do; a word $NAME is the value of that name in the vector\n"
	"  --encap E          rocev2-ipv4, rocev2-ipv6, rocev1, ib, ib-grh: overrides the scripts\n"
	"  --json FILE        all results, for programs and for comparing\n"
	"  --html FILE        one page that shows everything, without a network\n"
	"  --junit FILE, --tap FILE  results for other programs ('-': standard output)\n"
	"  --deviations FILE  what is known to differ: FAIL becomes XFAIL, PASS becomes XPASS\n"
	"  --profile-out FILE which of the allowed variants the device chose\n"
	"  --coverage FILE    table of the inventory: row, file, result; --beside REPORT.json adds a column "
	"(repeatable)\n"
	"  --strict           advice counts as a rule\n"
	"  --hazardous        run cases that have crashed or hung devices\n"
	"  --list             print the cases that are chosen, and stop\n"
	"  --explain          print what the cases that are chosen are about, and stop\n"
	"  --check            look for mistakes in the case files themselves, and stop\n"
	"  --cases DIR        folder with inventory.tsv and cases/\n"
	"  --file F           run this script, wherever it is (repeatable)\n"
	"  -j, --jobs N       processes (one for each processor; on a device two)\n"
	"  --budget TIME      most time for one vector, in seconds (20; on a device 60)\n"
	"  --seed N           of random queue pair numbers and keys (0)\n"
	"  -q, --quiet        failures and the summary alone    -v, --verbose  every vector\n"
	"  -h, --help, --version\n"
	"\n"
	"Exit codes: 0 everything held, 1 something did not, 2 usage or environment, 127 everything was skipped.\n";

static bool number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *v)
{
	if (vs_cli_number(text, least, most, v))
		return true;
	vc_complain("--%s %s: it takes a number from %llu to %llu", name, text, (unsigned long long)least,
		    (unsigned long long)most);
	return false;
}

static bool is_stdout(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

static bool take_path(char ***list, size_t *n, char *path)
{
	char **grown = realloc(*list, (*n + 1) * sizeof(*grown));

	if (grown == NULL)
		return vc_complain("no memory"), false;
	*list = grown;
	grown[(*n)++] = path;
	return true;
}

static bool take_device(struct vc_options *o, const char *text)
{
	o->name = text;
	o->device = o->verbs = NULL;
	if (strncmp(text, "sim:", 4) == 0)
		o->device = text + 4;
	else if (strcmp(text, "sim") != 0)
		o->verbs = text;
	return true;
}

static bool take_peer(struct vc_options *o, const char *text)
{
	char why[256];

	o->peer = text;
	if (vc_peer_spec_read(&o->peer_at, text, why, sizeof(why)))
		return true;
	vc_complain("--peer %s: %s", text, why);
	return false;
}

/* A second one has the other of two devices. */
static bool take_agent(struct vc_options *o, const char *text)
{
	if (o->agents[1] != NULL) {
		vc_complain("--agent %s: there are two already, and a script has a device for its first node and one "
			    "for all others",
			    text);
		return false;
	}
	o->agents[o->agents[0] != NULL] = text;
	o->agent = o->agents[0];
	return true;
}

static bool take_encap(struct vc_options *o, const char *text)
{
	static const char *const names[] = {"rocev2-ipv4", "rocev2-ipv6", "rocev1", "ib", "ib-grh"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			o->encap = text;
			return true;
		}
	}
	vc_complain("--encap %s: it is one of rocev2-ipv4, rocev2-ipv6, rocev1, ib, ib-grh", text);
	return false;
}

static bool take(struct vc_options *o, int opt, char **argv)
{
	uint64_t v = 0;

	switch (opt) {
	case OPT_CASES:
		o->dir = optarg;
		return true;
	case OPT_FILE:
		return take_path(&o->file, &o->n_files, optarg);
	case OPT_BESIDE:
		return take_path(&o->beside, &o->n_beside, optarg);
	case OPT_DEVICE:
		return take_device(o, optarg);
	case OPT_AGENT:
		return take_agent(o, optarg);
	case OPT_PEER:
		return take_peer(o, optarg);
	case OPT_PROGRAM:
		o->program = o->name = optarg;
		return true;
	case OPT_ENCAP:
		return take_encap(o, optarg);
	case OPT_JSON:
		o->json = optarg;
		return true;
	case OPT_TAP:
		o->tap = optarg;
		return true;
	case OPT_JUNIT:
		o->junit = optarg;
		return true;
	case OPT_HTML:
		o->html = optarg;
		return true;
	case OPT_DEVIATIONS:
		o->deviations = optarg;
		return true;
	case OPT_PROFILE:
		o->profile_out = optarg;
		return true;
	case OPT_COVERAGE:
		o->coverage = optarg;
		return true;
	case OPT_STRICT:
		return o->strict = true;
	case OPT_HAZARDOUS:
		return o->hazardous = true;
	case OPT_LIST:
		return o->list = true;
	case OPT_EXPLAIN:
		return o->explain = true;
	case OPT_CHECK:
		return o->check = true;
	case 'q':
		return o->quiet = true;
	case 'v':
		return o->verbose = true;
	case OPT_SEED:
		return number("seed", optarg, 0, UINT64_MAX - 1, &o->seed);
	case OPT_BUDGET:
		if (!number("budget", optarg, 1, 86400, &v))
			return false;
		o->budget_ms = v * 1000;
		return true;
	case 'j':
		if (!number("jobs", optarg, 1, 64, &v))
			return false;
		o->jobs = (unsigned)v;
		return true;
	default:
		vs_cli_complain_option(VC_PROGRAM, NULL, argv, opt);
		return false;
	}
}

/* --device says which of its devices; nothing: the one that it has. */
static bool behind_agent(struct vc_options *o)
{
	if (o->device != NULL || strchr(o->name, ' ') != NULL || strlen(o->name) >= 64) {
		vc_complain("--agent goes with --device NAME, a device of that host, or without any");
		return false;
	}
	if (o->verbs == NULL)
		o->verbs = o->name = "";
	if (*o->name == '\0')
		o->name = "agent";
	return true;
}

/* Two agents, or two devices of this host: with a bridge between them, or with nobody who sees their wire. */
static bool two_devices(struct vc_options *o)
{
	static char names[128];
	bool bridge = o->peer_at.kind == VC_PEER_BRIDGE, loop = o->peer != NULL && o->peer_at.kind == VC_PEER_NONE;
	char *second;

	if (o->verbs != NULL && strlen(o->verbs) < sizeof(names) && strchr(o->verbs, ',') != NULL) {
		(void)snprintf(names, sizeof(names), "%s", o->verbs);
		second = strchr(names, ',');
		*second = '\0';
		o->devices[0] = names;
		o->devices[1] = second + 1;
	}
	o->two = o->agents[1] != NULL || (o->agents[0] == NULL && o->devices[1] != NULL);
	if (bridge && !o->two)
		vc_complain("--peer %s: a bridge is between two devices: --agent COMMAND --agent COMMAND, or "
			    "--device NAME,NAME",
			    o->peer);
	else if (o->two && !bridge && !loop)
		vc_complain("%s %s: two devices take --peer bridge:END,END between them, or --peer loop",
			    o->agents[1] != NULL ? "--agent" : "--device",
			    o->agents[1] != NULL ? o->agents[1] : o->verbs);
	else if (o->two && o->agents[1] == NULL && strcmp(o->devices[0], "ref0") == 0)
		vc_complain("--device %s: ref0 is one device in a process; --agent vs-agent twice makes two", o->verbs);
	else
		return true;
	return false;
}

/* One for each processor; cases on a device wait most of the time. A peer at one address can be in one process. */
static bool choose_jobs(struct vc_options *o)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	bool own_peer = o->verbs != NULL && o->peer_at.kind != VC_PEER_NONE;

	if (own_peer && o->jobs > o->peer_at.count) {
		vc_complain("--jobs %u: --peer %s is for %u process%s%s", o->jobs, o->peer, o->peer_at.count,
			    o->peer_at.count > 1 ? "es" : "",
			    o->peer_at.kind == VC_PEER_UDP ? "" : ": count= says how many there are");
		return false;
	}
	if (o->jobs == 0)
		o->jobs = (cores > 0 && cores <= 32 ? (unsigned)cores : 1u) * (o->verbs != NULL ? 2u : 1u);
	if (own_peer && o->jobs > o->peer_at.count)
		o->jobs = o->peer_at.count;
	return true;
}

bool vc_options_read(struct vc_options *o, int argc, char **argv, int *exit_code)
{
	int opt;

	*o = (struct vc_options){.name = "sim", .jobs = 0, .budget_ms = 0};
	*exit_code = VC_USAGE;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":j:qvh", longopts, NULL)) != -1) {
		if (opt == 'h' || opt == OPT_VERSION) {
			fputs(opt == 'h' ? help_text : "vs-conform (Verbscope) " VS_VERSION "\n", stdout);
			*exit_code = vc_flush();
			return false;
		}
		if (!take(o, opt, argv))
			return false;
	}
	o->pattern = argv + optind;
	o->n_patterns = (size_t)(argc - optind);
	if (!two_devices(o) || (o->agent != NULL && !behind_agent(o)))
		return false;
	o->silent = is_stdout(o->json) || is_stdout(o->tap) || is_stdout(o->junit) || is_stdout(o->html);
	if (!choose_jobs(o))
		return false;
	if (o->budget_ms == 0)
		o->budget_ms = o->verbs != NULL ? VERBS_BUDGET_MS : SIM_BUDGET_MS;
	o->usual_dir = o->dir == NULL;
	if (o->usual_dir)
		o->dir = vc_suite_default();
	if (o->dir != NULL)
		return true;
	vc_complain("there are no cases here: --cases names the folder with inventory.tsv and cases/");
	return false;
}

void vc_options_free(struct vc_options *o)
{
	free(o->file);
	free(o->beside);
}
