/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * forensics.c - labs of kind "forensics": no program, but captures of what went wrong, and findings.txt, in which the
 * learner says of each what it was. Every cases/NAME.drill is run in the simulator with the learner's seed; the name is
 * the fault, and its comments say the rest:
 *
 *   # side: A | B | network       who is at fault
 *   # bad: EVENT KEY=VALUE ...    the frames that are bad: those of these events (truth.c's words)
 *   # device: SETTINGS            of the devices (vs/drill.h)
 *
 * So what is right comes from what the devices and the wire say of themselves, never from the capture that the learner
 * reads, and is computed again for each check: nothing is kept that could be looked up. Which capture has which number,
 * and who of A and B has which address, differ from learner to learner.
 */
#include "forensics.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "vs/drill.h"
#include "vs/pktio.h"

#define START_NS INT64_C(1767225600000000000) /* 2026-01-01: the same seed, the same bytes */
#define APART_NS INT64_C(100000000000)        /* captures in one file */
#define PLACE "B"                             /* the captures are taken at the port of this node */

struct taking {
	struct vl_scene *scene;
	const char *bad;
	uint64_t seq, sent; /* events so far; pkt_id of the newest packet that the node sent */
	uint32_t arrived;   /* a frame that no event has told the pkt_id of yet; 0: none */
	uint64_t flagged[VL_FRAMES], flag_seq[VL_FRAMES];
	unsigned n_flagged;
	bool failed;
};

/* ---- one run ---- */

static void on_frame(void *ctx, const struct vs_drill_frame *f)
{
	struct taking *t = ctx;
	struct vl_scene *sc = t->scene;
	struct vl_shot *shot = &sc->shot[sc->n];

	if (strcmp(f->node, PLACE) != 0 || f->where == VS_TAP_LOST)
		return;
	if (sc->n == VL_FRAMES || (shot->data = malloc(f->len)) == NULL) {
		t->failed = true;
		return;
	}
	memcpy(shot->data, f->data, f->len);
	shot->len = (uint32_t)f->len;
	shot->t_ns = f->now_ns;
	shot->id = f->where == VS_TAP_SENT ? t->sent : 0;
	sc->n++;
	t->arrived = f->where == VS_TAP_SENT ? 0 : sc->n;
}

static uint64_t on_event(void *ctx, const struct vs_event *ev)
{
	struct taking *t = ctx;
	bool here = strcmp(ev->node, PLACE) == 0;

	t->seq++;
	if (here && ev->type == VS_EV_PKT_TX)
		t->sent = ev->pkt_id;
	if (here && t->arrived > 0 && (ev->type == VS_EV_PKT_RX || ev->type == VS_EV_PKT_DROP)) {
		t->scene->shot[t->arrived - 1].id = ev->pkt_id;
		t->arrived = 0;
	}
	for (unsigned i = 0; here && ev->type == VS_EV_PKT_TX && i < t->n_flagged; i++)
		t->scene->answers += ev->cause == t->flag_seq[i];
	if (ev->pkt_id != 0 && t->n_flagged < VL_FRAMES && vl_event_fits(ev, t->bad)) {
		t->flag_seq[t->n_flagged] = t->seq;
		t->flagged[t->n_flagged++] = ev->pkt_id;
	}
	return t->seq;
}

static void judge(struct taking *t)
{
	struct vl_scene *sc = t->scene;

	for (unsigned i = sc->n; i-- > 0;) {
		for (unsigned k = 0; k < t->n_flagged && !sc->shot[i].bad; k++)
			sc->shot[i].bad = sc->shot[i].id == t->flagged[k];
		if (!sc->shot[i].bad)
			continue;
		sc->first = i + 1;
		sc->bad++;
	}
}

/* The words behind "# KEY: " of a script. */
static void comment(const char *text, const char *key, char out[VL_TEXT])
{
	char start[32];
	const char *at;

	(void)snprintf(start, sizeof(start), "\n# %s: ", key);
	at = strstr(text, start);
	(void)snprintf(out, VL_TEXT, "%.*s", at != NULL ? (int)strcspn(at + strlen(start), "\n") : 0,
		       at != NULL ? at + strlen(start) : "");
}

/* Who of A and B has the first address. */
static bool swapped(uint32_t seed, unsigned scene)
{
	return (seed >> scene & 1) != 0;
}

static void swap_nodes(char *text)
{
	char *at = strstr(text, "\nnode A B");

	if (at != NULL) {
		at[6] = 'B';
		at[8] = 'A';
	}
}

static bool run(struct vl_scene *sc, char *text, uint64_t seed, bool swap)
{
	struct vs_drill_error err;
	struct vs_drill_result res;
	char bad[VL_TEXT], side[VL_TEXT], device[VL_TEXT];
	struct taking *t = calloc(1, sizeof(*t));
	struct vs_drill_env env = {.seed = seed, .tap = on_frame, .tap_ctx = t};
	struct vs_drill *d;

	comment(text, "bad", bad);
	comment(text, "side", side);
	comment(text, "device", device);
	if (swap)
		swap_nodes(text);
	(void)snprintf(sc->side, sizeof(sc->side), "%s",
		       strcmp(side, "network") == 0 ? "network"
		       : (side[0] == 'B') != swap   ? "10.0.0.2"
						    : "10.0.0.1");
	if (t == NULL)
		return vl_complain("no memory"), false;
	d = vs_drill_parse(text, strlen(text), &err);
	if (d == NULL) {
		vl_complain("%s: %u: %s", sc->fault, err.line, err.text);
		free(t);
		return false;
	}
	*t = (struct taking){.scene = sc, .bad = bad};
	env.sink = (struct vs_event_sink){.emit = on_event, .ctx = t, .level = VS_LEVEL_EXTRA};
	env.device = device[0] != '\0' ? device : NULL;
	vs_drill_run_sim(d, 0, &env, &res);
	judge(t);
	vs_drill_free(d);
	if (res.verdict != VS_VERDICT_PASS || t->failed || sc->bad == 0)
		vl_complain("%s: %u: %s", sc->fault, res.at.line,
			    res.verdict != VS_VERDICT_PASS ? res.at.text : "no frame is bad");
	t->failed |= res.verdict != VS_VERDICT_PASS || sc->bad == 0;
	seed = t->failed;
	free(t);
	return seed == 0;
}

/* ---- all of them ---- */

/* A permutation of 0 .. n - 1 that the seed says. */
static void shuffle(uint32_t seed, unsigned order[VL_SCENES], unsigned n)
{
	uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + 13;

	for (unsigned i = 0; i < n; i++)
		order[i] = i;
	for (unsigned i = n; i > 1; i--) {
		unsigned k, was = order[i - 1];

		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		k = (unsigned)(x >> 33) % i;
		order[i - 1] = order[k];
		order[k] = was;
	}
}

static bool make(const struct vl_lab *lab, uint32_t seed, struct vl_scenes *all, const glob_t *g)
{
	unsigned order[VL_SCENES] = {0};

	all->n = (unsigned)g->gl_pathc;
	shuffle(seed, order, all->n);
	for (unsigned i = 0; i < all->n; i++) {
		const char *path = g->gl_pathv[order[i]], *base = strrchr(path, '/') + 1;
		char *raw = vl_read(path, NULL), *text = raw != NULL ? vl_fill(lab, seed, raw) : NULL;
		struct vl_scene *sc = &all->scene[i];
		bool good;

		(void)snprintf(sc->fault, sizeof(sc->fault), "%.*s", (int)strcspn(base, "."), base);
		good = text != NULL && run(sc, text, (uint64_t)seed * VL_SCENES + i, swapped(seed, i));
		free(raw);
		free(text);
		if (!good)
			return false;
	}
	return true;
}

struct vl_scenes *vl_scenes_make(const struct vl_lab *lab, uint32_t seed)
{
	struct vl_scenes *all = calloc(1, sizeof(*all));
	char pattern[PATH_MAX];
	glob_t g;

	(void)snprintf(pattern, sizeof(pattern), "%.*s/cases/*.drill", PATH_MAX - 32, lab->dir);
	if (all == NULL || glob(pattern, 0, NULL, &g) != 0) {
		vl_complain(T("%s: there are no cases: install again", "%s: 사례가 없습니다: 다시 설치하세요"),
			    lab->dir);
		free(all);
		return NULL;
	}
	if (g.gl_pathc > VL_SCENES || !make(lab, seed, all, &g)) {
		vl_scenes_free(all);
		all = NULL;
	}
	globfree(&g);
	return all;
}

void vl_scenes_free(struct vl_scenes *all)
{
	for (unsigned i = 0; all != NULL && i < all->n; i++)
		for (unsigned k = 0; k < all->scene[i].n; k++)
			free(all->scene[i].shot[k].data);
	free(all);
}

/* ---- captures out ---- */

static bool put(struct vs_writer *w, const struct vl_scene *sc, int64_t start)
{
	struct vs_io_error err;

	for (unsigned i = 0; i < sc->n; i++) {
		const struct vl_shot *s = &sc->shot[i];

		if (vs_writer_put(w, start + (int64_t)s->t_ns, s->data, s->len, s->len, &err) != 0) {
			vl_complain("%s", err.text);
			return false;
		}
	}
	return true;
}

bool vl_scenes_write(const struct vl_scenes *all, unsigned from, unsigned to, const char *path)
{
	struct vs_io_error err;
	struct vs_writer *w = vs_writer_open(path, VS_WRITER_ETHERNET, &err);
	bool good = w != NULL;

	if (!good)
		vl_complain("%s", err.text);
	for (unsigned i = from; good && i < to; i++)
		good = put(w, &all->scene[i], START_NS + (int64_t)(i - from) * APART_NS);
	if (w != NULL && !good) {
		vs_writer_abort(w);
	} else if (w != NULL && vs_writer_close(w, &err) != 0) {
		vl_complain("%s", err.text);
		good = false;
	}
	return good;
}

/* "NAME_bad: 3", "NAME_answers: 1": what out[] in the lab's truth reads. */
bool vl_scenes_tell(const struct vl_scenes *all, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	bool good = f != NULL;

	for (unsigned i = 0; good && i < all->n; i++)
		fprintf(f, "%s_bad: %u\n%s_answers: %u\n", all->scene[i].fault, all->scene[i].bad, all->scene[i].fault,
			all->scene[i].answers);
	good = good && fclose(f) == 0 && vl_write(path, text, len);
	free(text);
	return good;
}
