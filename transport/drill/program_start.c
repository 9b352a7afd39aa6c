/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * program_start.c - the program of the target `program`, started by vs-run on the simulated wire, with the faults of
 * the script. It is ended when it takes too long: virtual time costs nothing, so a program that does is stuck.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "program.h"
#include "vs/err.h"

#define MAX_ARGS 128u
#define MAX_RULE 256u
#define LIMIT_MS \
	30000u /* of real time, for a program that waits; one that works has a third of it, of the processor's */

struct command {
	char *arg[MAX_ARGS + 1];
	unsigned n;
	char *kept[MAX_ARGS]; /* those that are ours */
	unsigned n_kept;
	bool full;
};

const char *program_device(int node)
{
	return node == 0 ? "ref0" : "ref1";
}

int program_node(const char *device)
{
	return strcmp(device, "ref0") == 0 ? 0 : strcmp(device, "ref1") == 0 ? 1 : -1;
}

static void add(struct command *c, const char *text, size_t len)
{
	char *copy = c->n < MAX_ARGS ? malloc(len + 1) : NULL;

	if (copy == NULL) {
		c->full = true;
		return;
	}
	memcpy(copy, text, len);
	copy[len] = '\0';
	c->kept[c->n_kept++] = c->arg[c->n++] = copy;
}

static void add_option(struct command *c, const char *name, const char *value)
{
	if (value == NULL)
		return;
	add(c, name, strlen(name));
	add(c, value, strlen(value));
}

static void add_list(struct command *c, const char *name, const char *const *list)
{
	for (; list != NULL && *list != NULL; list++)
		add_option(c, name, *list);
}

/* The rule as vs-run knows the nodes: "from A" is "from ref0". False: it says what only a script can. */
static bool translate(const struct program *p, const struct stmt *st, char rule[MAX_RULE])
{
	const char *at = st->text, *end = st->text + st->text_len;
	size_t used = 0;

	while (at < end) {
		size_t len = 0;
		const char *word = at;
		int node = -1;

		while (at + len < end && at[len] != ' ')
			len++;
		if (len > 4 && (memcmp(word, "psn=+", 5) == 0 || memcmp(word, "qp=", 3) == 0))
			return false;
		for (unsigned i = 0; i < p->n_nodes; i++)
			if (strlen(p->node[i].name) == len && memcmp(p->node[i].name, word, len) == 0)
				node = (int)i;
		if (node >= 0) {
			word = program_device(node);
			at += len;
			len = strlen(word);
		} else {
			at += len;
		}
		if (used + len + 2 > MAX_RULE)
			return false;
		memcpy(rule + used, word, len);
		used += len;
		while (at < end && *at == ' ')
			at++;
		if (at < end)
			rule[used++] = ' ';
	}
	rule[used] = '\0';
	return true;
}

static bool add_faults(struct command *c, const struct dr_setup *s, char *why, size_t cap)
{
	char rule[MAX_RULE];

	for (const struct stmt *st = s->p->first; st != NULL; st = st->next) {
		if (st->kind == S_LINK || st->kind == S_DEVICE || st->kind == S_FAULT_NONE) {
			(void)snprintf(
				why, cap,
				"the wire of a program is as vs-run --sim makes it: no link, device, fault none");
			return false;
		}
		if (st->kind != S_FAULT)
			continue;
		if (!translate(s->p, st, rule)) {
			(void)snprintf(why, cap,
				       "a fault of a program counts packets: psn=+ and qp= are not known yet");
			return false;
		}
		add_option(c, "--fault", rule);
	}
	return true;
}

/* A word $NAME of the command is the value that the vector "NAME=VALUE,..." has for it. */
static void add_word(struct command *c, const char *word, const char *vector)
{
	size_t n = strlen(word);

	for (const char *at = vector; word[0] == '$' && *at != '\0';) {
		size_t len = strcspn(at, ","), name = strcspn(at, "=");

		if (name + 1 == n && name < len && memcmp(at, word + 1, name) == 0) {
			add(c, at + name + 1, len - name - 1);
			return;
		}
		at += len + (at[len] == ',');
	}
	add(c, word, n);
}

/* deviation=NAME,NAME of env->device */
static void add_deviations(struct command *c, const char *text)
{
	if (text == NULL || strncmp(text, "deviation=", 10) != 0)
		return;
	for (text += 10; *text != '\0';) {
		size_t n = strcspn(text, ",");

		add(c, "--deviation", 11);
		add(c, text, n);
		text += n + (text[n] == ',');
	}
}

static bool build(struct command *c, const struct vs_program *p, const struct dr_setup *s,
		  const struct vs_drill_env *env, const char *vector, char *why, size_t cap)
{
	char seed[24];

	(void)snprintf(seed, sizeof(seed), "%llu", (unsigned long long)env->seed);
	add(c, p->vs_run, strlen(p->vs_run));
	add(c, "--sim", 5);
	add(c, "--quiet", 7);
	add(c, "--explain", 9);
	add(c, "--trace-memory", 14);
	add_option(c, "--seed", seed);
	add_option(c, "--trace", p->trace);
	add_option(c, "--capture", p->capture);
	add_list(c, "--fault", p->fault);
	add_list(c, "--deviation", p->deviation);
	add_deviations(c, env->device);
	if (!add_faults(c, s, why, cap))
		return false;
	add(c, "--", 2);
	for (char *const *w = p->argv; *w != NULL; w++)
		add_word(c, *w, vector);
	if (c->full)
		(void)snprintf(why, cap, "the command has more than %u words", MAX_ARGS);
	return !c->full;
}

/* In the child. */
_Noreturn static void become(const struct command *c, const char *output, unsigned limit_ms)
{
	const struct rlimit cpu = {limit_ms / 3000 + 1, limit_ms / 3000 + 2};
	int in = open("/dev/null", O_RDONLY), out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	(void)setpgid(0, 0);
	(void)setrlimit(RLIMIT_CPU, &cpu);
	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(125);
	execv(c->arg[0], c->arg);
	_exit(127);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/*
 * Ends the program, and not vs-run, which then keeps what is whole of the record: what a program did before it got
 * stuck is worth knowing.
 */
static void end_program(pid_t vs_run)
{
	char path[64];
	FILE *f;
	long pid;

	(void)snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", (long)vs_run, (long)vs_run);
	f = fopen(path, "r");
	while (f != NULL && fscanf(f, "%ld", &pid) == 1)
		(void)kill((pid_t)pid, SIGKILL);
	if (f != NULL)
		(void)fclose(f);
}

/* Does one of its processes want to go on, and only has no processor? Then it is not waiting for anything. */
static bool is_starved(pid_t group)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	bool starved = false;

	while (proc != NULL && !starved && (e = readdir(proc)) != NULL) {
		char path[64], line[512] = "", state = ' ';
		const char *rest;
		int of = 0;
		FILE *f;

		(void)snprintf(path, sizeof(path), "/proc/%.20s/stat", e->d_name);
		f = e->d_name[0] >= '0' && e->d_name[0] <= '9' ? fopen(path, "r") : NULL;
		if (f == NULL)
			continue;
		rest = fgets(line, sizeof(line), f) != NULL ? strrchr(line, ')') : NULL;
		starved = rest != NULL && sscanf(rest + 1, " %c %*d %d", &state, &of) == 2 && of == group &&
			  (state == 'R' || state == 'D');
		(void)fclose(f);
	}
	if (proc != NULL)
		(void)closedir(proc);
	return starved;
}

/* Waits for the child, but not for ever: ten times the limit, as long as it lacks nothing but a processor. */
static int wait_for(pid_t pid, unsigned limit_ms, bool *late)
{
	uint64_t end = now_ms() + limit_ms, last = now_ms() + 10 * (uint64_t)limit_ms;
	unsigned pause_us = 200;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (now_ms() >= end && !*late && now_ms() < last && is_starved(pid)) {
			end = now_ms() + 500;
		} else if (now_ms() >= end) {
			if (*late)
				(void)kill(-pid, SIGKILL);
			else
				end_program(pid);
			*late = true;
			end = now_ms() + 3000;
		}
		(void)usleep(pause_us);
		pause_us = pause_us < 5000 ? pause_us * 2 : pause_us;
	}
	status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	*late |= status == 128 + SIGXCPU;
	return status;
}

bool program_start(struct vs_program *p, const struct dr_setup *s, const struct vs_drill_env *env, const char *vector,
		   char *why, size_t cap)
{
	unsigned limit_ms = p->limit_ms != 0 ? p->limit_ms : LIMIT_MS;
	struct command c = {.n = 0};
	bool good = build(&c, p, s, env, vector, why, cap);
	pid_t pid = -1;

	p->late = false;
	(void)remove(p->trace);
	(void)remove(p->capture);
	if (good) {
		pid = fork();
		if (pid == 0)
			become(&c, p->output, limit_ms);
		if (pid < 0)
			(void)snprintf(why, cap, "%s can't be started: %s", p->vs_run, strerror(errno));
	}
	if (pid > 0)
		p->code = wait_for(pid, limit_ms, &p->late);
	for (unsigned i = 0; i < c.n_kept; i++)
		free(c.kept[i]);
	return pid > 0;
}

bool vs_program_folder(const char *name, char path[VS_PROGRAM_PATH])
{
	const char *dir = getenv("TMPDIR");
	int n = snprintf(path, VS_PROGRAM_PATH, "%s/%s-XXXXXX", dir != NULL && dir[0] != '\0' ? dir : "/tmp", name);

	if (n < (int)VS_PROGRAM_PATH && mkdtemp(path) != NULL)
		return true;
	*strrchr(path, '/') = '\0';
	return false;
}
