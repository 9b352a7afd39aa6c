/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * start.c - the folder of a learner's work on a lab: lab.c, lab.h, README, predict.txt. What is right is computed now,
 * from a run of the solution with the learner's seed, and kept as hashes.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "forensics.h"

static bool copy(const char *from, const char *to)
{
	size_t len;
	char *text = vl_read(from, &len);
	bool good = text != NULL && vl_write(to, text, len);

	if (text == NULL)
		vl_complain(T("%s can't be read: install again", "%s 파일을 읽을 수 없습니다: 다시 설치하세요"), from);
	free(text);
	return good;
}

static bool copy_filled(const struct vl_lab *lab, uint32_t seed, const char *from, const char *to)
{
	char *raw = vl_read(from, NULL), *text = raw != NULL ? vl_fill(lab, seed, raw) : NULL;
	bool good = text != NULL && vl_write(to, text, strlen(text));

	if (text == NULL)
		vl_complain(T("%s can't be read: install again", "%s 파일을 읽을 수 없습니다: 다시 설치하세요"), from);
	free(raw);
	free(text);
	return good;
}

static void keep_hashes(struct vl_session *s, const struct vl_lab *lab, const struct vl_truth t[VL_QUESTIONS])
{
	struct vl_entry *e = vl_entry(&s->progress, lab->id);
	char normal[VL_TEXT];

	for (unsigned q = 1; q < VL_QUESTIONS; q++) {
		e->answer[q][0] = '\0';
		if (t[q].question == 0 || !t[q].must)
			continue;
		if (t[q].rounded)
			vl_rounded(t[q].value, 0, normal);
		else
			vl_normalize(t[q].value, normal);
		vl_hash_answer(&s->progress, lab->id, q, normal, e->answer[q]);
	}
}

/* The captures into the folder of the work. */
static bool put_captures(struct vl_session *s, const struct vl_lab *lab)
{
	struct vl_scenes *all = vl_scenes_make(lab, s->progress.seed);
	bool good = all != NULL;

	for (unsigned i = 0; good && i < all->n; i++) {
		char name[32], path[PATH_MAX];

		(void)snprintf(name, sizeof(name), "capture-%u.pcap", i + 1);
		vl_work(s, lab, name, path);
		good = vl_scenes_write(all, i, i + 1, path);
	}
	vl_scenes_free(all);
	return good;
}

/* A run of the solution, in a folder of its own that goes again. */
static bool compute(struct vl_session *s, const struct vl_lab *lab)
{
	char dir[VS_PROGRAM_PATH], work[PATH_MAX], source[PATH_MAX], binary[VS_PROGRAM_PATH + 16];
	struct vl_traces t = {.trace = ""};
	struct vl_truth truth[VL_QUESTIONS];
	struct vs_program p = {.record = NULL};
	char *output = NULL;
	bool good;

	if (!vs_program_folder("vs-lab", dir)) {
		vl_complain(T("%s: no folder can be made there; TMPDIR names another place",
			      "%s: 폴더를 만들 수 없습니다. TMPDIR로 다른 곳을 지정하세요"),
			    dir);
		return false;
	}
	(void)snprintf(source, sizeof(source), "%.*s/solution/solution.c", PATH_MAX - 32, lab->dir);
	(void)snprintf(binary, sizeof(binary), "%s/solution", dir);
	vl_traces(s, lab, dir, &t);
	vl_work(s, lab, "", work);
	good = lab->observed ? vl_compile_observed(lab, binary) : vl_compile(lab, source, binary, work, true);
	if (!good)
		vl_complain(T("a program can't be compiled here: vs-lab doctor says what is missing",
			      "여기서는 프로그램을 컴파일할 수 없습니다: vs-lab doctor가 무엇이 없는지 알려 줍니다"));
	else if (!vl_has_record(lab))
		good = vl_unit_run(s, lab, binary, t.output) >= 0;
	else
		good = vl_plain_run(s, lab, binary, &t, &p);
	output = vl_read(t.output, NULL);
	good = good && vl_truths(lab, s->progress.seed, p.record, output, truth) >= 0;
	if (good)
		keep_hashes(s, lab, truth);
	vs_program_clear(&p);
	free(output);
	(void)remove(t.trace);
	(void)remove(t.capture);
	(void)remove(t.output);
	(void)remove(binary);
	(void)rmdir(dir);
	return good;
}

/* A lab of functions has headers of its own, and maybe a finished program. */
static bool copy_headers(struct vl_session *s, const struct vl_lab *lab)
{
	char to[PATH_MAX], from[PATH_MAX];
	DIR *d = opendir(lab->dir);
	const struct dirent *e;
	bool good = d != NULL;

	while (good && (e = readdir(d)) != NULL) {
		size_t n = strlen(e->d_name);

		if ((n < 3 || strcmp(e->d_name + n - 2, ".h") != 0) && strcmp(e->d_name, "observe.c") != 0)
			continue;
		(void)snprintf(from, sizeof(from), "%.*s/%.200s", PATH_MAX - 256, lab->dir, e->d_name);
		vl_work(s, lab, e->d_name, to);
		good = copy(from, to);
	}
	if (d != NULL)
		(void)closedir(d);
	return good;
}

/* What the learner changes, and what it includes. */
static bool put_starter(struct vl_session *s, const struct vl_lab *lab)
{
	char from[PATH_MAX], to[PATH_MAX];

	vl_work(s, lab, vl_product(lab), to);
	if (vl_is(lab, "forensics")) {
		vl_localized(lab->dir, "findings", ".txt", from);
		return copy(from, to);
	}
	(void)snprintf(from, sizeof(from), "%.*s/starter.c", PATH_MAX - 16, lab->dir);
	if (!copy(from, to))
		return false;
	(void)snprintf(from, sizeof(from), "%.*s/../include/lab.h", PATH_MAX - 32, lab->dir);
	vl_work(s, lab, "lab.h", to);
	return copy(from, to) && copy_headers(s, lab);
}

static bool fill_folder(struct vl_session *s, const struct vl_lab *lab)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (!put_starter(s, lab))
		return false;
	(void)snprintf(from, sizeof(from), "%.*s/../include/net.h", PATH_MAX - 32, lab->dir);
	vl_work(s, lab, "net.h", to);
	if (strstr(lab->libs, "vs-net") != NULL && !copy(from, to))
		return false;
	vl_localized(lab->dir, "predict", ".txt", from);
	vl_work(s, lab, "predict.txt", to);
	if (!copy_filled(lab, s->progress.seed, from, to))
		return false;
	vl_localized(lab->dir, "README", ".md", from);
	vl_work(s, lab, "README.md", to);
	return copy_filled(lab, s->progress.seed, from, to);
}

int vl_start(struct vl_session *s, const struct vl_lab *lab)
{
	struct vl_entry *e = vl_entry(&s->progress, lab->id);
	char dir[PATH_MAX], program[PATH_MAX];

	vl_work(s, lab, "", dir);
	vl_work(s, lab, vl_product(lab), program);
	if (vl_exists(program)) {
		printf(T("%s is there already, and stays as it is. vs-lab reset %s begins anew.\n",
			 "%s 폴더가 이미 있으니 그대로 둡니다. 처음부터 다시 하려면 vs-lab reset %s\n"),
		       dir, lab->id);
		return VL_OK;
	}
	if (!vl_make_dirs(dir) || !(vl_is(lab, "forensics") ? put_captures(s, lab) : compute(s, lab)) ||
	    !fill_folder(s, lab))
		return VL_USAGE;
	e->started = true;
	if (!vl_progress_write(&s->progress))
		return VL_USAGE;
	printf(T("Lab %s: %s (about %u minutes)\n\n  cd %s\n\n"
		 "Read README.md, answer predict.txt, then change %s until this is green:\n\n  vs-lab check %s\n",
		 "실습 %s: %s (약 %u분)\n\n  cd %s\n\n"
		 "README.md를 읽고 predict.txt에 답한 다음, 아래 검사가 통과할 때까지 %s 파일을 고치세요:\n\n  vs-lab "
		 "check %s\n"),
	       lab->id, lab->title[vl_korean], lab->minutes, dir, vl_product(lab), lab->id);
	return VL_OK;
}

/* The old work is kept beside, with a number. */
int vl_reset(struct vl_session *s, const struct vl_lab *lab)
{
	struct vl_entry *e = vl_entry(&s->progress, lab->id);
	char dir[PATH_MAX], kept[PATH_MAX + 16];

	vl_work(s, lab, "", dir);
	if (vl_exists(dir)) {
		unsigned n = 1;

		do
			(void)snprintf(kept, sizeof(kept), "%s.old-%u", dir, n++);
		while (vl_exists(kept));
		if (rename(dir, kept) != 0) {
			vl_complain(T("%s can't be moved", "%s 폴더를 옮길 수 없습니다"), dir);
			return VL_USAGE;
		}
		printf(T("Your work of before is in %s\n", "이전 작업은 %s에 있습니다\n"), kept);
	}
	e->hints = 0;
	e->passed = false;
	e->seen = 0;
	return vl_start(s, lab);
}
