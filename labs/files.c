/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* files.c - small files, read and written whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vslab.h"

#define MOST (1u << 22)

char *vl_read(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t n = 0, room = 0;

	while (f != NULL && !feof(f) && !ferror(f) && n < MOST) {
		if (n + 4096 > room) {
			char *grown = realloc(text, room = room * 2 + 8192);

			if (grown == NULL)
				break;
			text = grown;
		}
		n += fread(text + n, 1, room - n - 1, f);
	}
	if (text != NULL)
		text[n] = '\0';
	if (f == NULL || ferror(f)) {
		free(text);
		text = NULL;
	}
	if (f != NULL)
		(void)fclose(f);
	if (len != NULL)
		*len = text != NULL ? n : 0;
	return text;
}

/* As a whole or not at all. */
bool vl_write(const char *path, const char *text, size_t len)
{
	char part[PATH_MAX];
	FILE *f;
	bool good;

	(void)snprintf(part, sizeof(part), "%.*s.part", PATH_MAX - 8, path);
	f = fopen(part, "w");
	good = f != NULL && fwrite(text, 1, len, f) == len;
	if (f != NULL && fclose(f) != 0)
		good = false;
	if (good && rename(part, path) == 0)
		return true;
	vl_complain(T("%s can't be written: %s", "%s 파일을 쓸 수 없습니다: %s"), path, strerror(errno));
	(void)remove(part);
	return false;
}

bool vl_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool vl_is_newer(const char *path, const char *than)
{
	struct stat a, b;

	if (stat(path, &a) != 0 || stat(than, &b) != 0)
		return false;
	return a.st_mtim.tv_sec > b.st_mtim.tv_sec ||
	       (a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec > b.st_mtim.tv_nsec);
}

bool vl_make_dirs(const char *path)
{
	char copy[PATH_MAX];

	(void)snprintf(copy, sizeof(copy), "%s", path);
	for (char *p = copy + 1; *p != '\0'; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		(void)mkdir(copy, 0777);
		*p = '/';
	}
	if (mkdir(copy, 0777) == 0 || errno == EEXIST)
		return true;
	vl_complain(T("%s can't be made: %s", "%s 폴더를 만들 수 없습니다: %s"), path, strerror(errno));
	return false;
}

void vl_localized(const char *dir, const char *stem, const char *end, char path[PATH_MAX])
{
	(void)snprintf(path, PATH_MAX, "%.*s/%s%s%s", PATH_MAX - 64, dir, stem, vl_korean ? ".ko" : "", end);
}
