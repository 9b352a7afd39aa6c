/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* build.c - compiling a learner's program, and running it. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "streams.h"

/* What is run can know the language: VS_LAB_LANG. */
int vl_run(char *const argv[], const char *output)
{
	const struct rlimit busy = {20, 21};
	pid_t pid;
	int status = 0;

	(void)fflush(stdout);
	(void)setenv("VS_LAB_LANG", T("en", "ko"), 1);
	pid = fork();
	if (pid < 0) {
		vl_complain("%s: %s", argv[0], strerror(errno));
		return -1;
	}
	if (pid == 0) {
		int out = output != NULL ? open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

		if (output != NULL && (out < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0))
			_exit(125);
		(void)setrlimit(RLIMIT_CPU, &busy); /* a program that does not end, */
		(void)alarm(300);                   /* or waits; a machine may have other things to do */
		execvp(argv[0], argv);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct libraries {
	char words[VL_TEXT], net[PATH_MAX], rpath[PATH_MAX + 16];
};

/* Those that the lab names; our own one is where this program is. Up to 44 words in all. */
static unsigned add_libraries(const struct vl_lab *lab, struct libraries *l, char *argv[], unsigned n)
{
	char *save = NULL;

	(void)snprintf(l->words, sizeof(l->words), "%s", lab->libs);
	for (char *w = strtok_r(l->words, " ", &save); w != NULL && n < 44; w = strtok_r(NULL, " ", &save)) {
		if (strcmp(w, "-lvs-net") == 0 && vl_beside("../lib/verbscope/libvs-net.so", l->net)) {
			(void)snprintf(l->rpath, sizeof(l->rpath), "-Wl,-rpath,%.*s",
				       (int)(strrchr(l->net, '/') - l->net), l->net);
			argv[n++] = l->rpath;
			w = l->net;
		}
		argv[n++] = w;
	}
	return n;
}

/* The words of a command of the compiler. */
struct command {
	char *argv[48];
	unsigned n;
	char include[PATH_MAX + 32], own[PATH_MAX + 32], flags[256], words[256];
	struct libraries libs;
};

/* Warnings are part of the lesson; the compiler's own words are shown. VS_LAB_CFLAGS: more of them. */
static void begin(struct command *c, const struct vl_lab *lab)
{
	const char *cc = getenv("CC") != NULL ? getenv("CC") : "cc", *more = getenv("VS_LAB_CFLAGS");
	char *save = NULL;

	c->n = 0;
	(void)snprintf(c->include, sizeof(c->include), "-I%s/../include", lab->dir);
	(void)snprintf(c->own, sizeof(c->own), "-I%s", lab->dir);
	(void)snprintf(c->flags, sizeof(c->flags), "%s -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -g -O1 %s", cc,
		       more != NULL ? more : "");
	(void)snprintf(c->words, sizeof(c->words), "%s", c->flags);
	for (char *w = strtok_r(c->words, " ", &save); w != NULL && c->n < 24; w = strtok_r(NULL, " ", &save))
		c->argv[c->n++] = w;
	c->argv[c->n++] = c->include;
	c->argv[c->n++] = c->own;
}

static void add(struct command *c, const char *word)
{
	if (c->n < 44)
		c->argv[c->n++] = (char *)(uintptr_t)word;
}

static bool end(struct command *c, const char *out, bool quiet)
{
	add(c, "-o");
	add(c, out);
	c->argv[c->n] = NULL;
	return vl_run(c->argv, quiet ? "/dev/null" : NULL) == 0;
}

static uint32_t digest(uint32_t h, const char *text)
{
	for (; text != NULL && *text != '\0'; text++)
		h = (h ^ (uint8_t)*text) * 16777619u;
	return h;
}

/*
 * The check of a unit, compiled once: most of what the compiler has to do would be the same each time. It is kept in
 * the folder of the work, under a name that says from what it was made.
 */
static bool check_object(const struct vl_lab *lab, const char *dir, char object[PATH_MAX], bool quiet)
{
	char path[PATH_MAX + 32], part[PATH_MAX];
	uint32_t h = 2166136261u;
	glob_t g = {.gl_pathc = 0};
	struct command c;

	begin(&c, lab);
	(void)snprintf(path, sizeof(path), "%s/*.[ch]", lab->dir);
	if (glob(path, 0, NULL, &g) != 0)
		return false;
	(void)snprintf(path, sizeof(path), "%s/../include/*.h", lab->dir);
	(void)glob(path, GLOB_APPEND, NULL, &g);
	h = digest(h, c.flags);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		char *text = vl_read(g.gl_pathv[i], NULL);

		h = digest(h, text);
		free(text);
	}
	globfree(&g);
	(void)snprintf(object, PATH_MAX, "%.*s/.check-%08x.o", PATH_MAX - 32, dir, h);
	if (vl_exists(object))
		return true;
	(void)snprintf(part, sizeof(part), "%.*s.part", PATH_MAX - 8, object);
	(void)snprintf(path, sizeof(path), "%s/check.c", lab->dir);
	add(&c, "-c");
	add(&c, path);
	return end(&c, part, quiet) && rename(part, object) == 0;
}

/* All that a scoreboard consists of, but the starter. */
static void add_scoreboard(struct command *c, const struct vl_lab *lab, glob_t *g)
{
	char pattern[PATH_MAX + 32];

	(void)snprintf(pattern, sizeof(pattern), "%s/*.c", lab->dir);
	if (glob(pattern, 0, NULL, g) != 0)
		return;
	for (size_t i = 0; i < g->gl_pathc; i++)
		if (strcmp(strrchr(g->gl_pathv[i], '/'), "/starter.c") != 0)
			add(c, g->gl_pathv[i]);
}

/* `check`: the compiled check of a unit, or NULL. */
static bool compile(const struct vl_lab *lab, const char *source, const char *binary, const char *check, bool quiet)
{
	struct command c;
	glob_t g = {.gl_pathc = 0};
	bool good;

	begin(&c, lab);
	add(&c, source);
	if (vl_is(lab, "scoreboard"))
		add_scoreboard(&c, lab, &g);
	if (check != NULL)
		add(&c, check);
	else
		add(&c, "-libverbs");
	c.n = add_libraries(lab, &c.libs, c.argv, c.n);
	good = end(&c, binary, quiet);
	globfree(&g);
	return good;
}

bool vl_compile(const struct vl_lab *lab, const char *source, const char *binary, const char *work, bool quiet)
{
	char object[PATH_MAX];

	if (!vl_is(lab, "unit"))
		return compile(lab, source, binary, NULL, quiet);
	return check_object(lab, work, object, quiet) && compile(lab, source, binary, object, quiet);
}

bool vl_compile_observed(const struct vl_lab *lab, const char *binary)
{
	char source[PATH_MAX];

	(void)snprintf(source, sizeof(source), "%.*s/observe.c", PATH_MAX - 16, lab->dir);
	return vl_is_newer(binary, source) || compile(lab, source, binary, NULL, false);
}

void vl_arguments(char *text, const char *binary, uint32_t seed, char seed_text[16], char *argv[32])
{
	char *save = NULL;
	unsigned n = 0;

	(void)snprintf(seed_text, 16, "%u", seed);
	argv[n++] = (char *)(uintptr_t)binary;
	for (char *w = strtok_r(text, " \t\r\n", &save); w != NULL && n < 31; w = strtok_r(NULL, " \t\r\n", &save))
		argv[n++] = strcmp(w, "$seed") == 0 ? seed_text : w;
	argv[n] = NULL;
}

void vl_traces(const struct vl_session *s, const struct vl_lab *lab, const char *dir, struct vl_traces *t)
{
	char work[PATH_MAX];

	vl_work(s, lab, "", work);
	if (dir == NULL)
		dir = work;
	(void)snprintf(t->trace, sizeof(t->trace), "%.*s/run.vst", PATH_MAX - 32, dir);
	(void)snprintf(t->capture, sizeof(t->capture), "%.*s/lab-%s.pcap", PATH_MAX - 32, dir, lab->id);
	(void)snprintf(t->output, sizeof(t->output), "%.*s/output.txt", PATH_MAX - 32, dir);
}

/* Whatever the program does: nothing is claimed of it. The lab's fault stands behind. */
static const char anything[] = "case RUN \"the run that the questions are about\"\n"
			       "node A B\n"
			       "waive leftover_completion \"nothing is claimed\"\n"
			       "waive leftover_async \"nothing is claimed\"\n"
			       "waive leftover_call \"nothing is claimed\"\n"
			       "waive unused_fault \"nothing is claimed\"\n"
			       "wait 1us\n";

/* The script of a run of which nothing is claimed; NULL with a message. `fault` is some rules with ; between. */
static struct vs_drill *plain_script(const struct vl_lab *lab, uint32_t seed)
{
	char text[sizeof(anything) + 4 * VL_TEXT], rules[VL_TEXT], *save = NULL;
	char *fault = vl_fill(lab, seed, lab->fault);
	struct vs_drill_error err;
	struct vs_drill *d = NULL;
	size_t n = (size_t)snprintf(text, sizeof(text), "%s", anything);

	(void)snprintf(rules, sizeof(rules), "%s", fault != NULL ? fault : "");
	free(fault);
	for (char *r = strtok_r(rules, ";", &save); r != NULL; r = strtok_r(NULL, ";", &save))
		n += (size_t)snprintf(text + n, sizeof(text) - n, "fault %s\n", r + strspn(r, " "));
	d = vs_drill_parse(text, n, &err);
	if (d == NULL)
		vl_complain("%s: %s", lab->name, err.text);
	return d;
}

bool vl_plain_run(const struct vl_session *s, const struct vl_lab *lab, const char *binary, const struct vl_traces *t,
		  struct vs_program *p)
{
	struct vs_drill *d = plain_script(lab, s->progress.seed);
	struct vs_drill_env env = {.seed = s->progress.seed};
	struct vs_drill_result res;
	char vs_run[PATH_MAX], seed[16], args[VL_TEXT], *filled, *argv[32];

	if (d == NULL)
		return false;
	if (!vl_beside("vs-run", vs_run)) {
		vl_complain(T("vs-run is not beside vs-lab: run make, or install again",
			      "vs-lab 옆에 vs-run이 없습니다: make를 실행하거나 다시 설치하세요"));
		vs_drill_free(d);
		return false;
	}
	filled = vl_fill(lab, s->progress.seed, lab->run);
	(void)snprintf(args, sizeof(args), "%s", filled != NULL ? filled : "");
	free(filled);
	vl_arguments(args, binary, s->progress.seed, seed, argv);
	*p = (struct vs_program){
		.vs_run = vs_run, .argv = argv, .trace = t->trace, .capture = t->capture, .output = t->output};
	vs_drill_run_program(d, 0, &env, p, &res);
	p->vs_run = NULL;
	p->argv = NULL;
	vs_drill_free(d);
	if (p->record != NULL)
		return true;
	vl_complain("%s", res.at.text);
	return false;
}

/* VS_LAB_CLEAN: how many runs of devices that keep the rules. */
static int scoreboard_run(uint32_t seed, char *binary, char *seed_text, const char *output)
{
	const char *few = getenv("VS_LAB_CLEAN");
	unsigned long clean = few != NULL ? strtoul(few, NULL, 10) : VL_CLEAN_RUNS;
	char dir[VS_PROGRAM_PATH], runs[VS_PROGRAM_PATH + 16], vs_run[PATH_MAX];
	char *argv[] = {vs_run, "--sim", "--quiet", "--seed", seed_text, binary, seed_text, runs, NULL};
	int rc = -1;

	if (!vs_program_folder("vs-lab", dir)) {
		vl_complain(T("%s: no folder can be made there; TMPDIR names another place",
			      "%s: 폴더를 만들 수 없습니다. TMPDIR로 다른 곳을 지정하세요"),
			    dir);
		return -1;
	}
	(void)snprintf(runs, sizeof(runs), "%s/runs", dir);
	if (!vl_beside("vs-run", vs_run))
		vl_complain(T("vs-run is not beside vs-lab: run make, or install again",
			      "vs-lab 옆에 vs-run이 없습니다: make를 실행하거나 다시 설치하세요"));
	else if (vl_streams_write(runs, seed, clean < VL_CLEAN_RUNS ? (unsigned)clean : VL_CLEAN_RUNS))
		rc = vl_run(argv, output);
	(void)remove(runs);
	(void)remove(dir);
	return rc;
}

int vl_unit_run(const struct vl_session *s, const struct vl_lab *lab, const char *binary, const char *output)
{
	char seed[16], name[PATH_MAX], *argv[] = {name, seed, NULL};

	(void)snprintf(seed, sizeof(seed), "%u", s->progress.seed);
	(void)snprintf(name, sizeof(name), "%s", binary);
	return vl_is(lab, "scoreboard") ? scoreboard_run(s->progress.seed, name, seed, output) : vl_run(argv, output);
}
