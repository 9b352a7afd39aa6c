/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * progress.c - what this learner has done: a text file in the folder of the work. The seed is drawn once, so that keys,
 * lengths and answers are the learner's own and stay the same.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vslab.h"

static bool find_home(char home[PATH_MAX])
{
	const char *dir = getenv("VS_LAB_DIR"), *user = getenv("HOME");

	if (dir != NULL && dir[0] == '/')
		(void)snprintf(home, PATH_MAX, "%.*s", PATH_MAX - 128, dir);
	else if (dir != NULL && dir[0] != '\0') {
		vl_complain(T("VS_LAB_DIR=%s: write the whole path, from /",
			      "VS_LAB_DIR=%s: /로 시작하는 전체 경로를 쓰세요"),
			    dir);
		return false;
	} else if (user != NULL && user[0] == '/')
		(void)snprintf(home, PATH_MAX, "%.*s/verbscope-labs", PATH_MAX - 128, user);
	else {
		vl_complain(T("HOME is not set: VS_LAB_DIR says where your work is to be",
			      "HOME이 없습니다: VS_LAB_DIR로 작업 폴더를 지정하세요"));
		return false;
	}
	return true;
}

struct vl_entry *vl_entry(struct vl_progress *p, const char *id)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->entry[i].id, id) == 0)
			return &p->entry[i];
	if (p->n == VL_LABS)
		return &p->entry[0];
	(void)snprintf(p->entry[p->n].id, sizeof(p->entry[0].id), "%.3s", id);
	return &p->entry[p->n++];
}

static void read_line(struct vl_progress *p, const char *line)
{
	char id[4], hash[VL_HASH];
	unsigned started, passed, hints, question;
	unsigned long long seen;
	struct vl_entry *e;

	if (sscanf(line, "seed %u", &p->seed) == 1 || sscanf(line, "salt %32s", p->salt) == 1)
		return;
	if (sscanf(line, "lab %3s %u %u %u %llu", id, &started, &passed, &hints, &seen) == 5) {
		e = vl_entry(p, id);
		e->started = started != 0;
		e->passed = passed != 0;
		e->hints = hints;
		e->seen = (size_t)seen;
	} else if (sscanf(line, "answer %3s %u %64s", id, &question, hash) == 3 && question < VL_QUESTIONS) {
		(void)snprintf(vl_entry(p, id)->answer[question], VL_HASH, "%s", hash);
	}
}

/* 32 bits that can be typed again, and a salt. */
static bool draw(struct vl_progress *p)
{
	FILE *f = fopen("/dev/urandom", "r");
	uint8_t bytes[20] = {0};
	bool good = f != NULL && fread(bytes, 1, sizeof(bytes), f) == sizeof(bytes);

	if (f != NULL)
		(void)fclose(f);
	memcpy(&p->seed, bytes, 4);
	p->seed |= 1; /* never 0 */
	for (unsigned i = 0; i < 16; i++)
		(void)snprintf(p->salt + 2 * i, 3, "%02x", bytes[4 + i]);
	if (!good)
		vl_complain(T("/dev/urandom can't be read", "/dev/urandom을 읽을 수 없습니다"));
	return good;
}

static void file_of(const struct vl_progress *p, char path[PATH_MAX])
{
	(void)snprintf(path, PATH_MAX, "%.*s/.progress", PATH_MAX - 16, p->home);
}

bool vl_progress_read(struct vl_progress *p, uint32_t seed)
{
	char path[PATH_MAX], *text, *save = NULL;

	*p = (struct vl_progress){.seed = 0};
	if (!find_home(p->home))
		return false;
	file_of(p, path);
	text = vl_read(path, NULL);
	for (char *l = text != NULL ? strtok_r(text, "\n", &save) : NULL; l != NULL; l = strtok_r(NULL, "\n", &save))
		read_line(p, l);
	free(text);
	if ((p->seed == 0 || p->salt[0] == '\0') && !draw(p))
		return false;
	if (seed != 0)
		p->seed = seed;
	return true;
}

bool vl_progress_write(const struct vl_progress *p)
{
	char path[PATH_MAX], *text = NULL;
	size_t len = 0;
	FILE *f = vl_make_dirs(p->home) ? open_memstream(&text, &len) : NULL;
	bool good;

	if (f == NULL)
		return false;
	fprintf(f, "seed %u\nsalt %s\n", p->seed, p->salt);
	for (size_t i = 0; i < p->n; i++) {
		const struct vl_entry *e = &p->entry[i];

		fprintf(f, "lab %s %d %d %u %llu\n", e->id, e->started, e->passed, e->hints,
			(unsigned long long)e->seen);
		for (unsigned q = 0; q < VL_QUESTIONS; q++)
			if (e->answer[q][0] != '\0')
				fprintf(f, "answer %s %u %s\n", e->id, q, e->answer[q]);
	}
	good = fclose(f) == 0;
	file_of(p, path);
	good = good && vl_write(path, text, len);
	free(text);
	return good;
}

void vl_work(const struct vl_session *s, const struct vl_lab *lab, const char *file, char path[PATH_MAX])
{
	(void)snprintf(path, PATH_MAX, "%.*s/%s%s%s", PATH_MAX - 192, s->progress.home, lab->name,
		       file[0] != '\0' ? "/" : "", file);
}
