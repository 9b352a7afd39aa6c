/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* run_options.c - the command line of `vs-trace run`: what is wrong with it is said before the program starts. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/rule.h"
#include "run.h"
#include "vs/fault.h"

#define CMD "run"

static const char usage[] =
	"usage: vs-trace run [options] [--] PROGRAM [ARGUMENT...]\n"
	"\n"
	"Runs a verbs program, records what it calls, and leaves a folder for the other commands. The program is not\n"
	"changed. It runs on the system's RDMA devices, or, where there are none, on the reference device ref0, which\n"
	"tells of every packet and every access to memory.\n"
	"\n"
	"  -o DIR            the folder (default: trace); one that an earlier run left is emptied\n"
	"  --ref0            on ref0, over sockets, though there are other devices\n"
	"  --pair            the same, a server and a client, as 'vs-run --pair' starts them (PROGRAM ... :: CLIENT "
	"...)\n"
	"  --sim             on two simulated devices and a virtual clock, as 'vs-run --sim'\n"
	"  --system          on the system's devices, though there is none\n"
	"  --inject RULE     let calls fail, or change what they are given: 'post_send:errno=ENOMEM:when=3',\n"
	"                    'post_send:rkey^=0x100', 'post_recv:skip:when=2+', 'destroy_qp:kill'; with --pair\n"
	"                    'server@...' or 'client@...' (repeatable)\n"
	"  --payload N       keep the first N bytes that each request sends (default: none)\n"
	"  --light           record calls alone: no events of the device, no capture\n"
	"  --fault --deviation --set --seed --mtu --ip --netns --view --no-gso --allow-remote   as vs-run has them\n"
	"  --help\n"
	"\n"
	"Exit code: the program's; 125 when vs-trace itself fails, 126 or 127 when the program can't be run or "
	"found.\n";

enum { OPT_REF0 = 256, OPT_PAIR, OPT_SIM, OPT_SYSTEM, OPT_INJECT, OPT_PAYLOAD, OPT_LIGHT, OPT_PASS, OPT_PASS_FLAG };

static const struct option options[] = {
	{"ref0", no_argument, NULL, OPT_REF0},
	{"pair", no_argument, NULL, OPT_PAIR},
	{"sim", no_argument, NULL, OPT_SIM},
	{"system", no_argument, NULL, OPT_SYSTEM},
	{"inject", required_argument, NULL, OPT_INJECT},
	{"payload", required_argument, NULL, OPT_PAYLOAD},
	{"light", no_argument, NULL, OPT_LIGHT},
	{"fault", required_argument, NULL, OPT_PASS},
	{"deviation", required_argument, NULL, OPT_PASS},
	{"set", required_argument, NULL, OPT_PASS},
	{"seed", required_argument, NULL, OPT_PASS},
	{"mtu", required_argument, NULL, OPT_PASS},
	{"ip", required_argument, NULL, OPT_PASS},
	{"netns", no_argument, NULL, OPT_PASS_FLAG},
	{"view", no_argument, NULL, OPT_PASS_FLAG},
	{"no-gso", no_argument, NULL, OPT_PASS_FLAG},
	{"allow-remote", no_argument, NULL, OPT_PASS_FLAG},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int bad(const char *text)
{
	vt_complain(CMD, "%s", text);
	return RUN_FAILED;
}

static int add_word(struct run *r, const char *word)
{
	if (r->n_words == RUN_WORDS)
		return bad("too many options for vs-run");
	r->word[r->n_words++] = word;
	return 0;
}

static int pass(struct run *r, const char *name, const char *value)
{
	static char dashed[RUN_WORDS][24];
	unsigned i = r->n_words;

	if (i + 2 > RUN_WORDS)
		return bad("too many options for vs-run");
	snprintf(dashed[i], sizeof(dashed[i]), "--%s", name);
	r->fault = r->fault || strcmp(name, "fault") == 0;
	(void)add_word(r, dashed[i]);
	return value != NULL ? add_word(r, value) : 0;
}

static int take_inject(struct run *r, const char *value)
{
	const char *at = strchr(value, '@');
	struct rec_rule rule;
	char why[600];
	size_t len = strlen(r->inject);

	if (!rec_rule_parse(at != NULL ? at + 1 : value, &rule, why, sizeof(why))) {
		vt_complain(CMD, "--inject '%s': %s", value, why);
		return RUN_FAILED;
	}
	if (strchr(value, '\n') != NULL || len + strlen(value) + 2 > sizeof(r->inject))
		return bad("--inject: one rule, one line, and not that many");
	snprintf(r->inject + len, sizeof(r->inject) - len, "%s\n", value);
	return 0;
}

static int take_device(struct run *r, int opt)
{
	enum run_device d = opt == OPT_REF0   ? RUN_REF0
			    : opt == OPT_PAIR ? RUN_PAIR
			    : opt == OPT_SIM  ? RUN_SIM
					      : RUN_SYSTEM;

	if (r->device != RUN_AUTO && r->device != d)
		return bad("--ref0, --pair, --sim, --system: choose one");
	r->device = d;
	return 0;
}

static int take(struct run *r, int opt, const char *name)
{
	uint64_t n;

	switch (opt) {
	case 'o':
		snprintf(r->dir, sizeof(r->dir), "%s", optarg);
		return 0;
	case OPT_INJECT:
		return take_inject(r, optarg);
	case OPT_PAYLOAD:
		r->payload = optarg;
		return vs_cli_number(optarg, 0, 4096, &n) ? 0 : bad("--payload: write a number of bytes, at most 4096");
	case OPT_LIGHT:
		r->light = true;
		return 0;
	case OPT_PASS:
	case OPT_PASS_FLAG:
		return pass(r, name, opt == OPT_PASS ? optarg : NULL);
	default:
		return take_device(r, opt);
	}
}

/* ---- what follows from it ---- */

static bool has_devices(void)
{
	DIR *d = opendir("/sys/class/infiniband");
	bool any = false;
	const struct dirent *e;

	while (d != NULL && !any && (e = readdir(d)) != NULL)
		any = e->d_name[0] != '.';
	if (d != NULL)
		closedir(d);
	return any;
}

static int choose_device(struct run *r)
{
	if (r->device == RUN_AUTO)
		r->device = has_devices() ? RUN_SYSTEM : RUN_REF0;
	if (r->device == RUN_SYSTEM && r->n_words > 0) {
		vt_complain(CMD, "%s is for the reference device: add --ref0, --pair or --sim", r->word[0]);
		return RUN_FAILED;
	}
	return 0;
}

static bool is_ours(const char *name)
{
	size_t n = strlen(name);

	return strcmp(name, "meta.json") == 0 || strcmp(name, "wire.pcap") == 0 || strncmp(name, "rec-", 4) == 0 ||
	       (n > 4 && strcmp(name + n - 4, ".vst") == 0) || (n > 5 && strcmp(name + n - 5, ".part") == 0);
}

/* New, empty, or what an earlier run left and nothing else. */
static int empty_folder(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	const char *other = NULL;
	char path[PATH_MAX + 260];

	while (d != NULL && other == NULL && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && !is_ours(e->d_name))
			other = e->d_name;
	if (other != NULL)
		vt_complain(CMD, "%s: holds %s, which is no trace: name another folder with -o", dir, other);
	if (d != NULL && other == NULL)
		rewinddir(d);
	while (d != NULL && other == NULL && (e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (is_ours(e->d_name))
			(void)unlink(path);
	}
	if (d != NULL)
		closedir(d);
	return d != NULL && other == NULL ? 0 : RUN_FAILED;
}

static int make_folder(struct run *r)
{
	char full[PATH_MAX];

	if (mkdir(r->dir, 0700) != 0 && errno != EEXIST) {
		vt_complain(CMD, "%s: can't be made (%s): name another folder with -o", r->dir, strerror(errno));
		return RUN_FAILED;
	}
	if (realpath(r->dir, full) == NULL || strlen(full) > 400 || strpbrk(full, "%\n") != NULL) {
		vt_complain(CMD, "%s: a folder's name can't be that: choose another with -o", r->dir);
		return RUN_FAILED;
	}
	memcpy(r->dir, full, strlen(full) + 1);
	return empty_folder(r->dir);
}

int vt_run_parse(struct run *r, int argc, char **argv)
{
	int opt, rc = 0, index = 0;

	snprintf(r->dir, sizeof(r->dir), "trace");
	opterr = 0;
	optind = 1;
	while (rc == 0 && (opt = getopt_long(argc, argv, "+:o:h", options, &index)) != -1) {
		if (opt == 'h') {
			fputs(usage, stdout);
			return vt_flush(CMD);
		}
		if (opt == '?' || opt == ':') {
			vt_complain_option(CMD, argv, opt);
			return RUN_FAILED;
		}
		rc = take(r, opt, opt >= 256 ? options[index].name : "");
	}
	if (rc != 0)
		return rc;
	if (optind == argc)
		return bad("no program to run: vs-trace run [options] -- PROGRAM [ARGUMENT...]");
	r->argv = argv + optind;
	rc = choose_device(r);
	if (rc == 0)
		rc = make_folder(r);
	return rc != 0 ? rc : -1;
}
