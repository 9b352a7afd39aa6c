/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_gen.c - vs-pcap gen: runs scenarios in the simulator and writes what the wire saw.
 *
 * A scenario runs once for each vector of its matrix. Into one file the runs go one after another, each from a whole
 * second on and with a seed of its own, so that its queue pairs differ from those before; into a folder every run
 * gets a file. Nothing appears before everything held.
 */
#include "pcap_gen.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CMD "gen"
#define START_NS INT64_C(1767225600000000000) /* 2026-01-01 00:00 UTC: the same scenario, the same bytes */
#define NS_PER_S INT64_C(1000000000)
#define NAME_MAX_LEN 200

struct capture {
	char *path;
	struct vs_writer *w;
	enum vs_writer_kind kind;
	json_t *facts; /* NULL: none are asked for */
};

struct gen {
	const char *out, *vector, *at;
	struct vs_drill_env env;
	bool folder, made_folder, facts, keep_failed, list;
	bool no_place; /* an output file can't be opened: the next one can't either */
	struct capture *capture;
	size_t n, cap;
	uint64_t runs, skipped, frames;
	int64_t start_ns; /* of the next run in the same file */
};

/* One scenario file. */
struct script {
	const char *path;
	char name[NAME_MAX_LEN + 1]; /* of the file, without folder and extension */
	struct vs_drill *d;
};

/* ---- messages ---- */

/* Several lines, as they are but for control characters. */
static void print_lines(const char *text)
{
	fflush(stdout);
	for (const char *c = text; *c; c++)
		fputc(((unsigned char)*c < 0x20 && *c != '\n' && *c != '\t') || *c == 0x7f ? '?' : *c, stderr);
}

static void print_error(const struct vs_drill_error *e, const char *path)
{
	char text[4 * VS_DRILL_TEXT];

	if (e->line == 0) {
		vp_complain(CMD, "%s: %s", path, e->text);
		return;
	}
	(void)vs_drill_error_format(e, path, text, sizeof(text));
	print_lines(text);
}

/* ---- scenarios in ---- */

static int read_text(const char *path, char **text, size_t *len)
{
	bool std_in = strcmp(path, "-") == 0;
	FILE *f = std_in ? stdin : fopen(path, "r");
	bool failed;

	if (!f)
		return vp_fail(CMD, "%s: can't be opened: %s", path, strerror(errno));
	*text = malloc(VS_DRILL_MAX_BYTES + 1);
	if (!*text) {
		if (!std_in)
			fclose(f);
		return vp_fail(CMD, "no memory");
	}
	errno = 0;
	*len = fread(*text, 1, VS_DRILL_MAX_BYTES + 1, f);
	failed = ferror(f);
	if (!std_in)
		fclose(f);
	if (!failed)
		return VP_OK;
	free(*text);
	return vp_fail(CMD, "%s: can't be read: %s", path, strerror(errno));
}

static void name_of(const char *path, char name[NAME_MAX_LEN + 1])
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
	size_t len = dot && dot != base ? (size_t)(dot - base) : strlen(base);

	if (strcmp(path, "-") == 0) {
		base = "scenario";
		len = strlen(base);
	}
	snprintf(name, NAME_MAX_LEN + 1, "%.*s", (int)(len < NAME_MAX_LEN ? len : NAME_MAX_LEN), base);
}

static int open_script(struct script *s, const char *path)
{
	struct vs_drill_error err;
	char *text;
	size_t len;
	int ret;

	*s = (struct script){.path = path};
	name_of(path, s->name);
	ret = read_text(path, &text, &len);
	if (ret != VP_OK)
		return ret;
	s->d = vs_drill_parse(text, len, &err);
	free(text);
	if (s->d)
		return VP_OK;
	print_error(&err, path);
	return VP_USAGE;
}

/* Are all parts of `wanted` ("mtu=256,len=5") among those of `name`? */
static bool has_parts(const char *name, const char *wanted)
{
	while (*wanted) {
		size_t len = strcspn(wanted, ",");
		const char *at = name;
		bool found = false;

		while (*at && !found) {
			size_t n = strcspn(at, ",");

			found = n == len && strncmp(at, wanted, n) == 0;
			at += n + (at[n] == ',');
		}
		if (!found)
			return false;
		wanted += len + (wanted[len] == ',');
	}
	return true;
}

/* ---- captures out ---- */

static char *capture_path(const struct gen *g, const struct script *s, const char *vector)
{
	size_t cap = strlen(g->out) + NAME_MAX_LEN + strlen(vector) + 16, from;
	char *path = malloc(cap);

	if (!path)
		return NULL;
	if (!g->folder) {
		snprintf(path, cap, "%s", g->out);
		return path;
	}
	from = (size_t)snprintf(path, cap, "%s%s", g->out, g->out[strlen(g->out) - 1] == '/' ? "" : "/");
	snprintf(path + from, cap - from, "%s%s%s.pcap", s->name, *vector ? "-" : "", vector);
	for (char *c = path + from; *c; c++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789=,._+-", *c))
			*c = '_';
	return path;
}

static struct capture *new_capture(struct gen *g)
{
	if (g->n == g->cap) {
		size_t more = g->cap ? 2 * g->cap : 16;
		struct capture *grown = realloc(g->capture, more * sizeof(*grown));

		if (!grown)
			return NULL;
		g->capture = grown;
		g->cap = more;
	}
	g->capture[g->n] = (struct capture){.path = NULL};
	return &g->capture[g->n];
}

static int open_capture(struct gen *g, const struct script *s, const char *vector, enum vs_writer_kind kind)
{
	struct capture *c = new_capture(g);
	struct vs_io_error err;

	if (!c || !(c->path = capture_path(g, s, vector)))
		return vp_fail(CMD, "no memory");
	c->kind = kind;
	for (size_t i = 0; i < g->n; i++) {
		if (strcmp(g->capture[i].path, c->path) == 0) {
			vp_complain(CMD, "%s: two scenarios would become this file: give them different names",
				    c->path);
			free(c->path);
			return VP_USAGE;
		}
	}
	c->w = vs_writer_open(c->path, kind, &err);
	if (!c->w) {
		g->no_place = true;
		free(c->path);
		return vp_fail(CMD, "%s", err.text);
	}
	g->n++;
	return VP_OK;
}

static int put_frames(struct gen *g, const struct vp_take *t, struct vs_writer *w)
{
	int64_t start = g->folder ? START_NS : g->start_ns;
	struct vs_io_error err;

	for (size_t i = 0; i < t->n; i++) {
		const struct vp_shot *s = &t->shot[i];

		if (vs_writer_put(w, start + (int64_t)s->t_ns, s->data, s->len, s->len, &err) != 0)
			return vp_fail(CMD, "%s", err.text);
	}
	if (t->n > 0)
		g->start_ns = start + ((int64_t)t->shot[t->n - 1].t_ns / NS_PER_S + 2) * NS_PER_S;
	g->frames += t->n;
	return VP_OK;
}

static int keep_run(struct gen *g, const struct script *s, const char *vector, const struct vp_take *t,
		    const struct vs_drill_result *res)
{
	bool native = t->n > 0 ? t->shot[0].link == VS_LINK_IB : g->env.encap && strncmp(g->env.encap, "ib", 2) == 0;
	enum vs_writer_kind kind = native ? VS_WRITER_ERF_IB : VS_WRITER_ETHERNET;
	struct vp_run_info info = {.scenario = s->name,
				   .id = vs_drill_id(s->d),
				   .title = vs_drill_title(s->d),
				   .vector = vector,
				   .verdict = vs_verdict_name(res->verdict),
				   .variant = res->variant,
				   .seed = g->env.seed};
	struct capture *c;

	if (native && g->env.vlan)
		return vp_fail(CMD, "%s: is native InfiniBand, which has no VLAN tags: leave --vlan out", s->path);
	if ((g->folder || g->n == 0) && open_capture(g, s, vector, kind) != VP_OK)
		return VP_USAGE;
	c = &g->capture[g->n - 1];
	if (c->kind != kind)
		return vp_fail(CMD,
			       "%s: one file can't hold Ethernet and native InfiniBand: write to a folder (-o DIR/) or "
			       "choose one with --encap",
			       s->path);
	if (g->facts && c->facts)
		return vp_fail(CMD, "--facts is for one run a file: write to a folder (-o DIR/) or choose a --vector");
	if (g->facts && !(c->facts = vp_facts(t, &info)))
		return vp_fail(CMD, "no memory");
	return put_frames(g, t, c->w);
}

/* ---- runs ---- */

static void say_which(const struct script *s, const char *vector)
{
	vp_complain(CMD, "%s%s%s%s: %s does not hold: %s", s->path, *vector ? "[" : "", vector, *vector ? "]" : "",
		    vs_drill_id(s->d), vs_drill_title(s->d));
}

/* VP_OK: there is something to keep. */
static int judge(struct gen *g, const struct script *s, const char *vector, const struct vs_drill_result *res)
{
	if (res->verdict == VS_VERDICT_PASS || res->verdict == VS_VERDICT_VARIANT)
		return VP_OK;
	if (res->verdict == VS_VERDICT_SKIP) {
		vp_complain(CMD, "%s: skipped: %s", s->path, res->at.text);
		g->skipped++;
		return VP_OK;
	}
	print_error(&res->at, s->path);
	if (res->verdict == VS_VERDICT_ERROR)
		return VP_USAGE;
	say_which(s, vector);
	return VP_FAILED;
}

static int run_vector(struct gen *g, const struct script *s, unsigned v, const char *vector)
{
	struct vs_drill_env env = g->env;
	struct vs_drill_result res;
	struct vp_take take;
	int ret;

	vp_take_init(&take, g->at);
	vp_take_attach(&take, &env);
	if (!g->folder)
		env.seed += g->runs;
	vs_drill_run_sim(s->d, v, &env, &res);
	g->runs++;
	ret = judge(g, s, vector, &res);
	if (take.failed)
		ret = vp_fail(CMD, "no memory");
	else if (g->at && !take.at_seen && res.verdict <= VS_VERDICT_VARIANT)
		ret = vp_fail(CMD, "%s: nothing passes a node %s", s->path, g->at);
	else if (res.verdict != VS_VERDICT_SKIP && (ret == VP_OK || (ret == VP_FAILED && g->keep_failed))) {
		int kept = keep_run(g, s, vector, &take, &res);

		ret = kept > ret ? kept : ret;
	}
	vp_take_fini(&take);
	return ret;
}

static int run_script(struct gen *g, const struct script *s)
{
	unsigned vectors = vs_drill_vectors(s->d), chosen = 0;
	int worst = VP_OK;

	for (unsigned v = 0; v < vectors && worst != VP_USAGE; v++) {
		char name[256] = "";
		int ret;

		(void)vs_drill_vector_name(s->d, v, name, sizeof(name));
		if (g->vector && !has_parts(name, g->vector))
			continue;
		chosen++;
		if (g->list) {
			printf("%s%s%s  %s: %s\n", s->path, vectors > 1 ? " --vector " : "", name, vs_drill_id(s->d),
			       vs_drill_title(s->d));
			continue;
		}
		ret = run_vector(g, s, v, vectors > 1 ? name : "");
		worst = ret > worst ? ret : worst;
	}
	if (chosen > 0)
		return worst;
	return vp_fail(CMD, "%s: no vector is %s: 'vs-pcap gen --list %s' shows them", s->path, g->vector, s->path);
}

/* ---- the end ---- */

/* The name of the facts of a capture, with `more` behind it; NULL: no memory. */
static char *facts_name(const struct capture *c, const char *more)
{
	const char *slash = strrchr(c->path, '/'), *dot = strrchr(c->path, '.');
	size_t stem = dot && (!slash || dot > slash + 1) ? (size_t)(dot - c->path) : strlen(c->path);
	size_t cap = stem + sizeof(".expect.json.part");
	char *name = malloc(cap);

	if (name)
		snprintf(name, cap, "%.*s.expect.json%s", (int)stem, c->path, more);
	return name;
}

static int facts_failed(const char *name, const char *path)
{
	return vp_fail(CMD, "%s: can't be written: %s", name ? name : path, strerror(errno ? errno : ENOMEM));
}

/* The facts beside their place; on failure nothing is there. */
static int write_facts(const struct capture *c, const char *part)
{
	FILE *f = part ? fopen(part, "w") : NULL;
	bool good = f && json_dumpf(c->facts, f, JSON_INDENT(2)) == 0 && fputc('\n', f) != EOF;
	int e = errno;

	if (f && fclose(f) != 0) {
		e = errno;
		good = false;
	}
	if (good)
		return VP_OK;
	errno = e;
	facts_failed(part, c->path);
	if (f)
		unlink(part);
	return VP_USAGE;
}

/* The facts are whole before the capture appears, and appear after it. */
static int close_capture(struct capture *c)
{
	char *part = c->facts ? facts_name(c, ".part") : NULL, *name = c->facts ? facts_name(c, "") : NULL;
	struct vs_io_error err;
	int ret = c->facts ? write_facts(c, part) : VP_OK;

	if (ret != VP_OK)
		vs_writer_abort(c->w);
	else if (vs_writer_close(c->w, &err) != 0)
		ret = vp_fail(CMD, "%s", err.text);
	else if (c->facts && (!name || rename(part, name) != 0))
		ret = facts_failed(name, c->path);
	if (ret != VP_OK && part)
		unlink(part);
	free(part);
	free(name);
	return ret;
}

/* All captures appear, or with `ret` as it is none. */
static int close_captures(struct gen *g, int ret, bool keep)
{
	for (size_t i = 0; i < g->n; i++) {
		struct capture *c = &g->capture[i];

		if (!keep) {
			vs_writer_abort(c->w);
		} else if (close_capture(c) != VP_OK) {
			ret = VP_USAGE;
			keep = false;
		}
		free(c->path);
		json_decref(c->facts);
	}
	free(g->capture);
	return ret;
}

static void summarise(const struct gen *g)
{
	FILE *out = strcmp(g->out, "-") == 0 ? stderr : stdout;

	fprintf(out, "%s: ", g->out);
	if (g->folder)
		fprintf(out, "%zu capture%s, ", g->n, g->n == 1 ? "" : "s");
	fprintf(out, "%" PRIu64 " frame%s of %" PRIu64 " run%s\n", g->frames, g->frames == 1 ? "" : "s",
		g->runs - g->skipped, g->runs - g->skipped == 1 ? "" : "s");
}

static int run_all(struct gen *g, char **paths, int n)
{
	int worst = VP_OK;
	size_t files;

	for (int i = 0; i < n && !g->no_place; i++) {
		struct script s;
		int ret = open_script(&s, paths[i]);

		if (ret == VP_OK)
			ret = run_script(g, &s);
		vs_drill_free(s.d);
		worst = ret > worst ? ret : worst;
	}
	if (g->list)
		return worst;
	files = g->n;
	worst = close_captures(g, worst, worst == VP_OK || (worst == VP_FAILED && g->keep_failed));
	if (g->made_folder)
		(void)rmdir(g->out); /* it goes again when it is empty */
	if (worst == VP_OK && files == 0)
		return VP_NOTHING;
	if (worst == VP_OK)
		summarise(g);
	return worst;
}

/* ---- the command line ---- */

static int help(void)
{
	fputs("usage: vs-pcap gen SCENARIO... -o FILE|DIR/ [options]\n\n"
	      "Runs scenario scripts (.drill; - is standard input) in the simulator and writes the packets as a "
	      "capture:\n"
	      "pcap with nanoseconds, ERF for native InfiniBand. The same scenario and seed give the same bytes.\n\n"
	      "  -o FILE         all runs into one file, one after another\n"
	      "  -o DIR/         one file for each run: SCENARIO.pcap, with a matrix SCENARIO-mtu=256.pcap\n"
	      "  --encap NAME    ib, ib-grh, rocev1, rocev2-ipv4, rocev2-ipv6 instead of what the scenario says\n"
	      "  --vlan ID       tag every frame with this VLAN, 1 to 4094\n"
	      "  --seed N        another choice of QP numbers, keys and random faults (0)\n"
	      "  --vector V      of a matrix this vector alone, or those that have this in common: mtu=256\n"
	      "  --at NODE       what NODE sends and gets; otherwise every frame as it leaves its sender, those that\n"
	      "                  are lost too\n"
	      "  --facts         beside each capture NAME.expect.json: what is in it, and what happened\n"
	      "  --keep-failed   write the capture of a scenario whose claim does not hold too\n"
	      "  --list          print the scenarios and their vectors, run nothing\n\n"
	      "Exit codes: 1 a claim does not hold, 2 usage, a wrong script or environment, 127 all were skipped.\n",
	      stdout);
	return vp_flush(CMD);
}

static int set_option(struct gen *g, int opt)
{
	uint64_t n = 0;

	switch (opt) {
	case 'o':
		g->out = optarg;
		return VP_OK;
	case 'e':
		if (vp_encap_by_name(optarg) == VS_ENCAP_BARE)
			return vp_fail(CMD, "--encap %s: is none of ib, ib-grh, rocev1, rocev2-ipv4, rocev2-ipv6",
				       optarg);
		g->env.encap = optarg;
		return VP_OK;
	case 'v':
		if (!vs_cli_number(optarg, 0, 4094, &n) || n == 0)
			return vp_fail(CMD, "--vlan %s: is no number from 1 to 4094", optarg);
		g->env.vlan = (uint16_t)n;
		return VP_OK;
	case 's':
		if (!vs_cli_number(optarg, 0, UINT64_MAX - UINT32_MAX, &g->env.seed))
			return vp_fail(CMD, "--seed %s: is no number", optarg);
		return VP_OK;
	case 'm':
		g->vector = optarg;
		return VP_OK;
	case 'a':
		g->at = optarg;
		return VP_OK;
	case 'f':
		g->facts = true;
		return VP_OK;
	case 'k':
		g->keep_failed = true;
		return VP_OK;
	default:
		g->list = true;
		return VP_OK;
	}
}

/* "DIR/", or a folder that is there. One level is made. */
static int choose_folder(struct gen *g)
{
	size_t len = strlen(g->out);
	struct stat st;
	bool slash = len > 0 && g->out[len - 1] == '/', there = stat(g->out, &st) == 0;

	if (len == 0)
		return vp_fail(CMD, "-o: where to? A FILE or a DIR/");
	if (there)
		g->folder = S_ISDIR(st.st_mode);
	else if (slash)
		g->folder = g->made_folder = mkdir(g->out, 0777) == 0;
	if (slash && !g->folder)
		return vp_fail(CMD, "%s: is no folder and can't be made one: %s", g->out, strerror(errno));
	if (g->facts && (strcmp(g->out, "-") == 0 || (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))))
		return vp_fail(CMD, "--facts stands beside a file: -o FILE or DIR/");
	return VP_OK;
}

int vp_gen(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
						{"output", required_argument, NULL, 'o'},
						{"encap", required_argument, NULL, 'e'},
						{"vlan", required_argument, NULL, 'v'},
						{"seed", required_argument, NULL, 's'},
						{"vector", required_argument, NULL, 'm'},
						{"at", required_argument, NULL, 'a'},
						{"facts", no_argument, NULL, 'f'},
						{"keep-failed", no_argument, NULL, 'k'},
						{"list", no_argument, NULL, 'l'},
						{0}};
	struct gen g = {.start_ns = START_NS};
	int opt, ret;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (opt == 'h')
			return help();
		if (opt == '?' || opt == ':')
			return vp_bad_option(CMD, argv, opt);
		ret = set_option(&g, opt);
		if (ret != VP_OK)
			return ret;
	}
	if (optind == argc)
		return vp_fail(CMD, "which SCENARIO? See 'vs-pcap gen --help'");
	if (!g.out && !g.list)
		return vp_fail(CMD, "where to? -o FILE for one capture, -o DIR/ for one each");
	if (!g.list && choose_folder(&g) != VP_OK)
		return VP_USAGE;
	ret = run_all(&g, argv + optind, argc - optind);
	opt = vp_flush(CMD);
	return opt > ret ? opt : ret;
}
