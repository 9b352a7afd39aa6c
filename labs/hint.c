/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * hint.c - hints are questions before they are answers: 1 a question, 2 the rule, 3 where in the file, 4 pseudo-code, 5
 * the way from the starter to the solution (forensics: a script that finds what there is to find).
 */
#include <stdlib.h>

#include "vslab.h"

static bool put_file(const char *path)
{
	char *text = vl_read(path, NULL);

	if (text != NULL)
		fputs(text, stdout);
	else
		vl_complain(T("%s can't be read: install again", "%s 파일을 읽을 수 없습니다: 다시 설치하세요"), path);
	free(text);
	return text != NULL;
}

static bool put_solution(const struct vl_lab *lab)
{
	char from[PATH_MAX], to[PATH_MAX],
		*argv[] = {"diff", "-u", "--label", "starter.c", "--label", "solution.c", from, to, NULL};

	if (vl_is(lab, "forensics")) {
		(void)snprintf(from, sizeof(from), "%.*s/solution/solve.sh", PATH_MAX - 32, lab->dir);
		return put_file(from);
	}
	(void)snprintf(from, sizeof(from), "%.*s/starter.c", PATH_MAX - 16, lab->dir);
	(void)snprintf(to, sizeof(to), "%.*s/solution/solution.c", PATH_MAX - 32, lab->dir);
	return vl_run(argv, NULL) <= 1;
}

int vl_hint(struct vl_session *s, const struct vl_lab *lab)
{
	struct vl_entry *e = vl_entry(&s->progress, lab->id);
	char dir[PATH_MAX], stem[16], path[PATH_MAX];
	unsigned n = e->hints < VL_HINTS ? e->hints + 1 : VL_HINTS;
	bool good;

	if (!e->started) {
		vl_complain(T("lab %s is not started: vs-lab start %s",
			      "실습 %s은(는) 아직 시작하지 않았습니다: vs-lab start %s"),
			    lab->id, lab->id);
		return VL_USAGE;
	}
	for (unsigned i = 1; i <= n; i++) {
		printf(T("--- hint %u of %u ---\n", "--- 힌트 %u / %u ---\n"), i, VL_HINTS);
		(void)snprintf(dir, sizeof(dir), "%.*s/hints", PATH_MAX - 16, lab->dir);
		(void)snprintf(stem, sizeof(stem), "%u", i);
		vl_localized(dir, stem, ".md", path);
		good = i == VL_HINTS ? put_solution(lab) : put_file(path);
		if (!good)
			return VL_USAGE;
	}
	e->hints = n;
	return vl_progress_write(&s->progress) ? VL_OK : VL_USAGE;
}
