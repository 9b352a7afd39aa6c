/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * findings.c - what a learner says of the captures in findings.txt: for each "capture N" its fault, the first bad
 * frame, the side at fault, and a display filter that takes in the bad frames and no other.
 *
 * A start of tshark costs a third of a second, so all filters are tried in one: the captures stand one behind the other
 * in one file, and each filter holds for its part of it alone. Only where tshark refuses is each one tried by itself,
 * to say which; VS_LAB_EACH=1 always does (check-labs.sh compares the two).
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "forensics.h"

struct finding {
	char fault[VL_TEXT], frame[VL_TEXT], side[VL_TEXT], filter[VL_FILTER];
	bool named;                /* all but the filter are right, as with all captures before */
	bool taken[VL_FRAMES + 1]; /* by the filter */
};
struct findings {
	struct finding of[VL_SCENES];
	char dir[VS_PROGRAM_PATH], all[VS_PROGRAM_PATH + 16],
		out[VS_PROGRAM_PATH + 16]; /* for what tshark reads and says */
};

/* ---- findings.txt ---- */

static void take_value(char *to, size_t cap, const char *from)
{
	from += strspn(from, " \t");
	(void)snprintf(to, cap, "%s", from);
	for (size_t n = strlen(to); n > 0 && isspace((unsigned char)to[n - 1]); n--)
		to[n - 1] = '\0';
}

static bool read_findings(const char *path, unsigned scenes, struct finding of[VL_SCENES])
{
	char *text = vl_read(path, NULL), *save = NULL;
	struct finding *f = NULL;

	if (text == NULL) {
		vl_complain(T("%s is not there: vs-lab reset brings it back",
			      "%s 파일이 없습니다: vs-lab reset으로 되살리세요"),
			    path);
		return false;
	}
	for (char *line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
		static const char *const key[] = {"fault:", "frame:", "side:", "filter:"};
		const char *at = line + strspn(line, " \t");
		unsigned n;

		if (sscanf(at, "capture %u", &n) == 1 && n >= 1 && n <= scenes)
			f = &of[n - 1];
		for (unsigned k = 0; f != NULL && k < 4; k++)
			if (strncmp(at, key[k], strlen(key[k])) == 0)
				take_value(k == 0   ? f->fault
					   : k == 1 ? f->frame
					   : k == 2 ? f->side
						    : f->filter,
					   k == 3 ? VL_FILTER : VL_TEXT, at + strlen(key[k]));
	}
	free(text);
	return true;
}

/* ---- words ---- */

static bool not_yet(const struct vl_lab *lab, unsigned n)
{
	printf(T("Lab %s: not yet.\n  capture %u: ", "실습 %s: 아직입니다.\n  캡처 %u: "), lab->id, n);
	return false;
}

static bool same_word(const char *a, const char *b)
{
	char x[VL_TEXT], y[VL_TEXT];

	vl_normalize(a, x);
	vl_normalize(b, y);
	return strcmp(x, y) == 0;
}

/* Is what stands there right, the filter apart? `tell`: say what is not. */
static bool words_hold(const struct vl_lab *lab, const struct vl_scene *sc, const struct finding *f, unsigned n,
		       bool tell)
{
	unsigned long frame = strtoul(f->frame, NULL, 0);
	bool fault = same_word(f->fault, sc->fault), side = same_word(f->side, sc->side);

	if (!tell)
		return fault && side && frame == sc->first;
	if (fault && side && frame == sc->first)
		return true;
	(void)not_yet(lab, n);
	if (f->fault[0] == '\0')
		printf(T("no fault is named\n", "장애 이름이 없습니다\n"));
	else if (!fault)
		printf(T("the fault is not %s\n", "장애는 %s이(가) 아닙니다\n"), f->fault);
	else if (f->side[0] == '\0')
		printf(T("no side is named\n", "책임 있는 쪽이 없습니다\n"));
	else if (!side)
		printf(T("the side at fault is not %s\n", "책임 있는 쪽은 %s이(가) 아닙니다\n"), f->side);
	else if (frame == 0)
		printf(T("no frame is named\n", "프레임 번호가 없습니다\n"));
	else if (frame <= sc->n && sc->shot[frame - 1].bad)
		printf(T("frame %lu is bad, but not the first\n", "프레임 %lu은(는) 이상하지만 첫 번째가 아닙니다\n"),
		       frame);
	else
		printf(T("frame %lu is not bad itself: does it complain of one before it, or was nothing wrong yet?\n",
			 "프레임 %lu 자체는 이상하지 않습니다. 앞의 프레임에 대해 항의하는 것입니까, 아니면 아직 아무 "
			 "일도 "
			 "없었습니까?\n"),
		       frame);
	return false;
}

/* ---- filters ---- */

/* It stands in brackets between others: its own have to close, and quotes too. */
static bool closes(const char *filter)
{
	int open = 0;
	bool quoted = false;

	for (; *filter != '\0' && open >= 0; filter++) {
		if (*filter == '"' && filter[-1] != '\\')
			quoted = !quoted;
		else if (!quoted)
			open += *filter == '(' ? 1 : *filter == ')' ? -1 : 0;
	}
	return open == 0 && !quoted;
}

static bool is_filter(const char *filter)
{
	return filter[0] != '\0' && strstr(filter, "frame.") == NULL && closes(filter);
}

/* One start of tshark; its lines are frame numbers. */
static bool tshark(struct findings *all, const char *filter)
{
	char vs_tshark[PATH_MAX];
	char *argv[] = {vs_tshark, "-2",     "-r", all->all,       "-Y", (char *)(uintptr_t)filter,
			"-T",      "fields", "-e", "frame.number", NULL};

	if (!vl_beside("vs-tshark", vs_tshark)) {
		vl_complain(T("vs-tshark is not beside vs-lab: run make, or install again",
			      "vs-lab 옆에 vs-tshark가 없습니다: make를 실행하거나 다시 설치하세요"));
		return false;
	}
	return vl_run(argv, all->out) == 0;
}

/* The numbers that tshark printed; those of the captures before count from 1 again. */
static void take_frames(struct findings *all, const struct vl_scenes *scenes, unsigned only)
{
	char *text = vl_read(all->out, NULL), *save = NULL;

	for (char *l = text != NULL ? strtok_r(text, "\n", &save) : NULL; l != NULL; l = strtok_r(NULL, "\n", &save)) {
		unsigned long n = strtoul(l, NULL, 10);
		unsigned i = only;

		for (i = only < scenes->n ? only : 0; only >= scenes->n && i < scenes->n && n > scenes->scene[i].n; i++)
			n -= scenes->scene[i].n;
		if (i < scenes->n && n > 0 && n <= VL_FRAMES)
			all->of[i].taken[n] = true;
	}
	free(text);
}

/* All in one: "(frame.number in {1..17} && (FILTER)) || ..." */
static bool together(struct findings *all, const struct vl_scenes *scenes)
{
	size_t cap = VL_SCENES * (VL_FILTER + 64), n = 0;
	char *text = malloc(cap);
	unsigned from = 1;
	bool good = text != NULL && vl_scenes_write(scenes, 0, scenes->n, all->all);

	for (unsigned i = 0; good && i < scenes->n; i++) {
		if (all->of[i].named && is_filter(all->of[i].filter))
			n += (size_t)snprintf(text + n, cap - n, "%s(frame.number in {%u..%u} && (%s))",
					      n > 0 ? " || " : "", from, from + scenes->scene[i].n - 1,
					      all->of[i].filter);
		from += scenes->scene[i].n;
	}
	if (good && n > 0)
		good = tshark(all, text);
	if (good && n > 0)
		take_frames(all, scenes, scenes->n);
	free(text);
	return good;
}

/* One by one. False: tshark does not take this one, and has said why. */
static bool alone(struct findings *all, const struct vl_scenes *scenes, unsigned i)
{
	if (!all->of[i].named || !is_filter(all->of[i].filter))
		return true;
	if (!vl_scenes_write(scenes, i, i + 1, all->all))
		return false;
	memset(all->of[i].taken, 0, sizeof(all->of[i].taken));
	if (!tshark(all, all->of[i].filter))
		return false;
	take_frames(all, scenes, i);
	return true;
}

static void put_words_of_tshark(const struct findings *all)
{
	char *text = vl_read(all->out, NULL);

	for (const char *c = text; c != NULL && *c != '\0'; c++)
		putchar((unsigned char)*c < 0x20 && *c != '\n' ? '?' : *c);
	free(text);
}

static bool filter_holds(const struct vl_lab *lab, const struct vl_scene *sc, const struct finding *f, unsigned n)
{
	unsigned missed = 0, more = 0;

	for (unsigned i = 1; i <= sc->n; i++) {
		missed += sc->shot[i - 1].bad && !f->taken[i];
		more += !sc->shot[i - 1].bad && f->taken[i];
	}
	if (is_filter(f->filter) && missed == 0 && more == 0) {
		printf(T("  ok  capture %u: %s, frame %u, %s, and the filter takes in %u frame(s)\n",
			 "  ok  캡처 %u: %s, 프레임 %u, %s, 필터가 고르는 프레임 %u개\n"),
		       n, sc->fault, sc->first, sc->side, sc->bad);
		return true;
	}
	(void)not_yet(lab, n);
	if (f->filter[0] == '\0')
		printf(T("no filter is there\n", "필터가 없습니다\n"));
	else if (strstr(f->filter, "frame.") != NULL)
		printf(T("the filter names frames: it must say what makes them bad, for the next capture too\n",
			 "필터가 프레임을 지목합니다. 다음 캡처에서도 쓸 수 있게, 무엇이 이상한지를 말해야 합니다\n"));
	else if (!is_filter(f->filter))
		printf(T("the filter has brackets or quotes that do not close\n",
			 "필터의 괄호나 따옴표가 닫히지 않았습니다\n"));
	else
		printf(T("the filter misses %u of the %u bad frames, and takes in %u that are not\n",
			 "필터가 놓친 이상한 프레임: %u개 (모두 %u개), 잘못 고른 정상 프레임: %u개\n"),
		       missed, sc->bad, more);
	return false;
}

static bool filters_hold(const struct vl_lab *lab, const struct vl_scenes *scenes, struct findings *all)
{
	bool each = getenv("VS_LAB_EACH") != NULL;

	if (!each && together(all, scenes))
		return true;
	for (unsigned i = 0; i < scenes->n; i++) {
		if (alone(all, scenes, i))
			continue;
		(void)not_yet(lab, i + 1);
		printf(T("tshark does not take the filter: %s\n", "tshark가 필터를 받아들이지 않습니다: %s\n"),
		       all->of[i].filter);
		put_words_of_tshark(all);
		return false;
	}
	return true;
}

static bool judge(const struct vl_lab *lab, const struct vl_scenes *scenes, struct findings *all)
{
	if (!filters_hold(lab, scenes, all))
		return false;
	for (unsigned i = 0; i < scenes->n; i++)
		if (!words_hold(lab, &scenes->scene[i], &all->of[i], i + 1, true) ||
		    !filter_holds(lab, &scenes->scene[i], &all->of[i], i + 1))
			return false;
	return true;
}

bool vl_findings_hold(const struct vl_session *s, const struct vl_lab *lab, const struct vl_scenes *scenes)
{
	struct findings *all = calloc(1, sizeof(*all));
	char path[PATH_MAX];
	bool holds = false;

	vl_work(s, lab, "findings.txt", path);
	if (all == NULL || !read_findings(path, scenes->n, all->of)) {
		free(all);
		return false;
	}
	for (unsigned i = 0; i < scenes->n; i++)
		all->of[i].named = (i == 0 || all->of[i - 1].named) &&
				   words_hold(lab, &scenes->scene[i], &all->of[i], i + 1, false);
	if (!vs_program_folder("vs-lab", all->dir)) {
		vl_complain(T("%s: no folder can be made there; TMPDIR names another place",
			      "%s: 폴더를 만들 수 없습니다. TMPDIR로 다른 곳을 지정하세요"),
			    all->dir);
	} else {
		(void)snprintf(all->all, sizeof(all->all), "%s/all.pcap", all->dir);
		(void)snprintf(all->out, sizeof(all->out), "%s/frames", all->dir);
		holds = judge(lab, scenes, all);
		(void)remove(all->all);
		(void)remove(all->out);
		(void)rmdir(all->dir);
	}
	if (!holds)
		printf(T("  look      vs-lab show %s\n  stuck?    vs-lab hint %s\n",
			 "  보기      vs-lab show %s\n  막혔으면  vs-lab hint %s\n"),
		       lab->id, lab->id);
	free(all);
	return holds;
}
