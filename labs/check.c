/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * check.c - does it hold? Predictions first (wrong is fine, blank is not), then the compiler, then every script of the
 * lab against a run of the program of its own, then the answers that have to be right.
 *
 * A script may begin with "# args: WORDS": the arguments of the program, with $seed and the names of its vectors. Its
 * lines "# holds: EXPRESSION == EXPRESSION" are claims on the record and on what the program printed (truth.c).
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "forensics.h"
#include "streams.h"

static bool predicted(const struct vl_session *s, const struct vl_lab *lab, struct vl_question q[VL_QUESTIONS])
{
	char path[PATH_MAX];

	vl_work(s, lab, "predict.txt", path);
	if (vl_predictions(path, q) < 0)
		return false;
	for (unsigned i = 1; i < VL_QUESTIONS; i++) {
		if (q[i].number == 0 || q[i].answer[0] != '\0')
			continue;
		printf(T("Lab %s: question %u of predict.txt has no answer. Wrong is fine, blank is not.\n",
			 "실습 %s: predict.txt의 %u번에 답이 없습니다. 틀려도 되지만 비워 두면 안 됩니다.\n"),
		       lab->id, i);
		return false;
	}
	return true;
}

static bool answers_are_right(const struct vl_session *s, const struct vl_lab *lab, const struct vl_entry *e,
			      const struct vl_question q[VL_QUESTIONS])
{
	bool right = true;

	for (unsigned i = 1; i < VL_QUESTIONS; i++) {
		char normal[VL_TEXT], hash[VL_HASH];
		bool same = false;

		if (e->answer[i][0] == '\0')
			continue;
		vl_normalize(q[i].answer, normal);
		vl_hash_answer(&s->progress, lab->id, i, normal, hash);
		same = strcmp(hash, e->answer[i]) == 0;
		for (int step = -1; step <= 1 && !same; step++) { /* of those for which two digits are enough */
			vl_rounded(q[i].answer, step, normal);
			vl_hash_answer(&s->progress, lab->id, i, normal, hash);
			same = strcmp(hash, e->answer[i]) == 0;
		}
		if (!same)
			printf(T("Lab %s: the answer to question %u is not right: %s\n",
				 "실습 %s: %u번 답이 맞지 않습니다: %s\n"),
			       lab->id, i, q[i].answer);
		right &= same;
	}
	if (!right)
		printf(T("  look      vs-lab show %s\n  stuck?    vs-lab hint %s\n",
			 "  보기      vs-lab show %s\n  막혔으면  vs-lab hint %s\n"),
		       lab->id, lab->id);
	return right;
}

/* What was made must be destroyed: the events of making and of the end come in pairs. */
static const char *leak(const struct vs_record *record, const struct vl_lab *lab)
{
	static const struct {
		enum vs_event_type made, gone;
		unsigned ret;
		const char *what;
	} rows[] = {{VS_EV_VERB_CREATE_QP, VS_EV_VERB_DESTROY_QP, 0, "ibv_create_qp"},
		    {VS_EV_VERB_REG_MR, VS_EV_VERB_DEREG_MR, 1, "ibv_reg_mr"},
		    {VS_EV_DEV_CREATE_CQ, VS_EV_DEV_DESTROY_CQ, 1, "ibv_create_cq"},
		    {VS_EV_DEV_ALLOC_PD, VS_EV_DEV_DEALLOC_PD, 0, "ibv_alloc_pd"}};
	size_t n;
	const struct vs_event *ev = vs_record_events(record, &n);

	for (unsigned r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		long open = 0;

		/* librdmacm keeps one protection domain for each device as long as the process lives. */
		if (rows[r].made == VS_EV_DEV_ALLOC_PD && strstr(lab->libs, "rdmacm") != NULL)
			continue;
		for (size_t i = 0; i < n; i++)
			open += ev[i].type == rows[r].made                                ? 1
				: ev[i].type == rows[r].gone && ev[i].a[rows[r].ret] == 0 ? -1
											  : 0;
		if (open > 0)
			return rows[r].what;
	}
	return NULL;
}

/* "# args: WORDS" of a script; false: the lab's own. */
static bool args_of(const char *text, char args[VL_TEXT])
{
	const char *at = strstr(text, "# args:");

	if (at == NULL || (at != text && at[-1] != '\n'))
		return false;
	(void)snprintf(args, VL_TEXT, "%.*s", (int)strcspn(at + 7, "\n"), at + 7);
	return true;
}

struct checking {
	struct vl_session *s;
	const struct vl_lab *lab;
	struct vl_entry *e;
	struct vl_traces traces;
	char binary[PATH_MAX], vs_run[PATH_MAX];
	unsigned runs;
};

/* The words $NAME of a claim are the values that the vector "NAME=VALUE,..." has. */
static void fill_vector(const char *claim, size_t n, const char *vector, char out[2 * VL_TEXT])
{
	size_t used = 0;

	for (size_t i = 0; i < n && used + 1 < 2 * VL_TEXT;) {
		const char *value = NULL;
		size_t len = 0;

		for (const char *at = vector; claim[i] == '$' && *at != '\0' && value == NULL;) {
			size_t all = strcspn(at, ","), name = strcspn(at, "=");

			if (name < all && i + 1 + name <= n && memcmp(at, claim + i + 1, name) == 0) {
				value = at + name + 1;
				len = all - name - 1;
				i += name + 1;
			}
			at += all + (at[all] == ',');
		}
		if (value == NULL)
			out[used++] = claim[i++];
		else
			used += (size_t)snprintf(out + used, 2 * VL_TEXT - used, "%.*s", (int)len, value);
		used = used < 2 * VL_TEXT ? used : 2 * VL_TEXT - 1;
	}
	while (used > 0 && out[used - 1] == ' ')
		used--;
	out[used] = '\0';
}

/* The first line "# holds: CLAIM  # english | korean" that does not: it is put where that of a script would be. */
static bool claims_hold(struct checking *c, const char *text, const char *vector, const struct vs_program *p,
			struct vs_drill_result *res)
{
	static const char begin[] = "# holds: ";
	char claim[2 * VL_TEXT], left[VL_TEXT], right[VL_TEXT], *output = vl_read(c->traces.output, NULL);
	unsigned line = 1;
	int holds = 1;

	for (const char *at = text; *at != '\0' && holds == 1; line++) {
		size_t n = strcspn(at, "\n"), skip = sizeof(begin) - 1;

		if (n > skip && memcmp(at, begin, skip) == 0) {
			const char *said = at + skip, *comment = memchr(said, '#', n - skip);
			size_t len = comment != NULL ? (size_t)(comment - said) : n - skip;

			fill_vector(said, len, vector, claim);
			holds = vl_claim(claim, p->record, output, left, right);
			res->at.line = line;
			(void)snprintf(res->at.source, sizeof(res->at.source), "%.280s  %.*s", claim,
				       (int)(n - skip - len), comment != NULL ? comment : "");
			(void)snprintf(res->at.text, sizeof(res->at.text), T("%s is not %s", "%s: %s이(가) 아닙니다"),
				       left, right);
		}
		at += n + (at[n] == '\n');
	}
	free(output);
	if (holds < 0)
		vl_complain("%s: %s", res->at.source, "this claim can't be understood");
	return holds == 1;
}

static bool vector_holds(struct checking *c, const char *name, const char *text, const struct vs_drill *d,
			 unsigned vector)
{
	struct vs_drill_env env = {.seed = c->s->progress.seed, .device = getenv("VS_LAB_DEVICE")};
	struct vs_drill_result res;
	char seed[16], args[VL_TEXT], named[256] = "", script[512], *argv[32];
	struct vs_program p = {.vs_run = c->vs_run,
			       .trace = c->traces.trace,
			       .capture = c->traces.capture,
			       .output = c->traces.output};
	const char *leaked;
	bool held;

	if (!args_of(text, args))
		(void)snprintf(args, sizeof(args), "%s", c->lab->run);
	vl_arguments(args, c->binary, c->s->progress.seed, seed, argv);
	p.argv = argv;
	vs_drill_run_program(d, vector, &env, &p, &res);
	held = res.verdict == VS_VERDICT_PASS || res.verdict == VS_VERDICT_VARIANT;
	(void)vs_drill_vector_name(d, vector, named, sizeof(named));
	held = held && claims_hold(c, text, named, &p, &res);
	leaked = held ? leak(p.record, c->lab) : NULL;
	if (held && (p.code != 0 || p.late || leaked != NULL)) {
		held = false;
		res.at.line = 0;
		if (leaked != NULL)
			(void)snprintf(res.at.text, sizeof(res.at.text),
				       T("what %s made was never destroyed", "%s(으)로 만든 것을 없애지 않았습니다"),
				       leaked);
		else
			(void)snprintf(res.at.text, sizeof(res.at.text), "%s",
				       T("everything was as it should be, but the program did not end well",
					 "교환은 모두 맞지만 프로그램이 정상으로 끝나지 않았습니다"));
	}
	c->e->seen = held ? 0 : p.seen;
	c->runs++;
	(void)snprintf(script, sizeof(script), named[0] != '\0' ? "%.60s [%s]" : "%.60s", name, named);
	if (!held)
		vl_teach(c->s, c->lab, script, text, &res, &p, &c->traces);
	vs_program_clear(&p);
	return held;
}

/* A line "# ko: TITLE" has the title in Korean. */
static void put_title(const char *text, const struct vs_drill *d)
{
	const char *ko = strstr(text, "\n# ko: ");

	if (vl_korean && ko != NULL)
		printf("  ok  %.*s\n", (int)strcspn(ko + 7, "\n"), ko + 7);
	else
		printf("  ok  %s\n", vs_drill_title(d));
}

static bool script_holds(struct checking *c, const char *path)
{
	struct vs_drill_error err;
	char *raw = vl_read(path, NULL), message[1200];
	char *text = raw != NULL ? vl_fill(c->lab, c->s->progress.seed, raw) : NULL;
	struct vs_drill *d = text != NULL ? vs_drill_parse(text, strlen(text), &err) : NULL;
	const char *name = strrchr(path, '/') + 1;
	bool holds = d != NULL;

	if (text != NULL && d == NULL) {
		(void)vs_drill_error_format(&err, path, message, sizeof(message));
		vl_complain("%s", message);
	}
	for (unsigned v = 0; d != NULL && v < vs_drill_vectors(d) && holds; v++)
		holds = vector_holds(c, name, text, d, v);
	if (holds)
		put_title(text, d);
	vs_drill_free(d);
	free(text);
	free(raw);
	return holds;
}

static bool scripts_hold(struct checking *c)
{
	char pattern[PATH_MAX];
	glob_t g;
	bool holds = true;

	(void)snprintf(pattern, sizeof(pattern), "%.*s/check*.drill", PATH_MAX - 32, c->lab->dir);
	if (!vl_beside("vs-run", c->vs_run)) {
		vl_complain(T("vs-run is not beside vs-lab: run make, or install again",
			      "vs-lab 옆에 vs-run이 없습니다: make를 실행하거나 다시 설치하세요"));
		return false;
	}
	if (glob(pattern, 0, NULL, &g) != 0)
		return true;
	for (size_t i = 0; i < g.gl_pathc && holds; i++)
		holds = script_holds(c, g.gl_pathv[i]);
	globfree(&g);
	return holds;
}

/* "NAME: VALUE", which the lab's file `truth` reads as out[NAME]. */
static bool is_for_truth(const char *truth, const char *line, size_t n)
{
	const char *colon = memchr(line, ':', n);
	char name[64];

	if (truth == NULL || colon == NULL || colon == line)
		return false;
	(void)snprintf(name, sizeof(name), "out[%.*s]", (int)(colon - line < 48 ? colon - line : 48), line);
	return strstr(truth, name) != NULL;
}

/* What a check says is for the learner, but for what questions are about. */
static void put_output(const struct checking *c)
{
	char path[PATH_MAX], *truth, *text = vl_read(c->traces.output, NULL);

	(void)snprintf(path, sizeof(path), "%.*s/truth", PATH_MAX - 16, c->lab->dir);
	truth = vl_read(path, NULL);
	for (const char *at = text != NULL ? text : ""; *at != '\0';) {
		size_t n = strcspn(at, "\n") + 1;

		n -= at[n - 1] == '\0';
		if (!is_for_truth(truth, at, n))
			(void)fwrite(at, 1, n, stdout);
		at += n;
	}
	free(truth);
	free(text);
}

/* The check is a program itself. */
static bool unit_holds(struct checking *c)
{
	int rc = vl_unit_run(c->s, c->lab, c->binary, c->traces.output);

	if (rc < 0)
		return false;
	put_output(c);
	if (rc == 0)
		return true;
	if (rc >= 128)
		printf(T("  program   it crashed (signal %d)\n", "  프로그램  비정상 종료했습니다 (시그널 %d)\n"),
		       rc - 128);
	printf(T("Lab %s: not yet.\n  stuck?    vs-lab hint %s\n",
		 "실습 %s: 아직입니다.\n  막혔으면  vs-lab hint %s\n"),
	       c->lab->id, c->lab->id);
	return false;
}

/* The run of which show tells, and of which the questions are. */
static void last_run(struct checking *c)
{
	struct vs_program p;

	char observed[PATH_MAX];
	const char *binary = c->binary;

	if (!vl_has_record(c->lab))
		return;
	if (c->lab->observed) {
		vl_work(c->s, c->lab, "observe.bin", observed);
		if (!vl_compile_observed(c->lab, observed))
			return;
		binary = observed;
	}
	if (vl_plain_run(c->s, c->lab, binary, &c->traces, &p))
		vs_program_clear(&p);
}

static void congratulate(struct vl_session *s, const struct vl_lab *lab)
{
	char path[PATH_MAX], *text;

	printf(T("Lab %s: done.\n\n", "실습 %s: 통과했습니다.\n\n"), lab->id);
	vl_observations(s, lab);
	vl_localized(lab->dir, "card", ".md", path);
	text = vl_read(path, NULL);
	printf("\n%s", text != NULL ? text : "");
	free(text);
}

/* Findings instead of a program. */
static int check_findings(struct vl_session *s, const struct vl_lab *lab, struct vl_entry *e)
{
	struct vl_question q[VL_QUESTIONS];
	struct vl_scenes *all;
	struct vl_traces t;
	bool holds;

	if (!predicted(s, lab, q))
		return VL_OPEN;
	all = vl_scenes_make(lab, s->progress.seed);
	if (all == NULL)
		return VL_USAGE;
	vl_traces(s, lab, NULL, &t);
	holds = vl_findings_hold(s, lab, all) && vl_scenes_tell(all, t.output);
	vl_scenes_free(all);
	e->passed |= holds;
	if (!vl_progress_write(&s->progress))
		return VL_USAGE;
	if (holds)
		congratulate(s, lab);
	return holds ? VL_OK : VL_OPEN;
}

int vl_check(struct vl_session *s, const struct vl_lab *lab)
{
	struct checking c = {.s = s, .lab = lab, .e = vl_entry(&s->progress, lab->id)};
	struct vl_question q[VL_QUESTIONS];
	char source[PATH_MAX], work[PATH_MAX];
	bool holds, warmup = strcmp(lab->kind, "warmup") == 0;

	if (!c.e->started) {
		vl_complain(T("lab %s is not started: vs-lab start %s",
			      "실습 %s은(는) 아직 시작하지 않았습니다: vs-lab start %s"),
			    lab->id, lab->id);
		return VL_USAGE;
	}
	if (vl_is(lab, "forensics"))
		return check_findings(s, lab, c.e);
	vl_work(s, lab, "lab.c", source);
	vl_work(s, lab, "", work);
	vl_work(s, lab, "lab.bin", c.binary);
	vl_traces(s, lab, NULL, &c.traces);
	if (!warmup && !predicted(s, lab, q))
		return VL_OPEN;
	if (!vl_is_newer(c.binary, source) && !vl_compile(lab, source, c.binary, work, false)) {
		printf(T("Lab %s: lab.c does not compile.\n", "실습 %s: lab.c가 컴파일되지 않습니다.\n"), lab->id);
		return VL_OPEN;
	}
	if (warmup) { /* its questions are about a run: there is one before they are answered */
		last_run(&c);
		if (!predicted(s, lab, q))
			return VL_OPEN;
	}
	holds = vl_is(lab, "unit") || vl_is(lab, "scoreboard") ? unit_holds(&c) : scripts_hold(&c);
	if (!holds && lab->observed) /* what is finished can be looked at, whatever the functions do */
		last_run(&c);
	if (holds) {
		last_run(&c);
		holds = answers_are_right(s, lab, c.e, q);
	}
	c.e->passed |= holds;
	if (!vl_progress_write(&s->progress))
		return VL_USAGE;
	if (holds)
		congratulate(s, lab);
	return holds ? VL_OK : VL_OPEN;
}
