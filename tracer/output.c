/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* output.c - files that are written whole and for their owner alone; text that does no harm. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/internal.h"
#include "trace.h"

bool vt_file_open(struct vt_file *f, const char *cmd, const char *path)
{
	size_t cap = path != NULL ? strlen(path) + 16 : 0;
	struct stat st;
	int fd;

	*f = (struct vt_file){.cmd = cmd, .f = stdout};
	if (path == NULL || strcmp(path, "-") == 0)
		return true;
	f->path = strdup(path);
	f->part = malloc(cap);
	if (f->path == NULL || f->part == NULL) {
		vt_complain(cmd, "no memory");
		vt_file_abort(f);
		return false;
	}
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) { /* a FIFO, /dev/null: straight */
		free(f->part);
		f->part = NULL;
		f->f = fopen(path, "w");
	} else {
		(void)snprintf(f->part, cap, "%s.XXXXXX", path);
		fd = mkstemp(f->part); /* 0600 */
		f->f = fd >= 0 ? fdopen(fd, "w") : NULL;
	}
	if (f->f == NULL) {
		vt_complain(cmd, "%s: can't be written (%s)", path, strerror(errno));
		vt_file_abort(f);
		return false;
	}
	return true;
}

void vt_file_abort(struct vt_file *f)
{
	if (f->f != NULL && f->f != stdout) {
		fclose(f->f);
		if (f->part != NULL)
			unlink(f->part);
	}
	free(f->path);
	free(f->part);
	*f = (struct vt_file){0};
}

int vt_file_close(struct vt_file *f)
{
	bool bad;
	int rc = VT_OK;

	if (f->path == NULL)
		return vt_flush(f->cmd);
	bad = fflush(f->f) != 0 || ferror(f->f) || (f->part != NULL && fsync(fileno(f->f)) != 0);
	if (bad)
		rc = vt_fail(f->cmd, "%s: can't be written (%s)", f->path, strerror(errno ? errno : EIO));
	else if (f->part != NULL && rename(f->part, f->path) != 0)
		rc = vt_fail(f->cmd, "%s: can't be put in place (%s)", f->path, strerror(errno));
	if (rc == VT_OK) {
		free(f->part); /* nothing to remove any more */
		f->part = NULL;
	}
	vt_file_abort(f);
	return rc;
}

/* ---- text ---- */

/* Bytes of the UTF-8 character at s; 0: it is none, or one that commands a terminal or turns text around. */
static size_t utf8_len(const unsigned char *s)
{
	if (s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0)) /* C0, DEL, C1 */
		return 0;
	if (s[0] == 0xe2 && s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae)))
		return 0; /* line separators, marks and overrides of direction */
	if (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9)
		return 0; /* isolates */
	return vs_utf8_len(s);
}

void vt_put_safe(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s != '\0') {
		size_t n = utf8_len(s);

		if (n == 0)
			fputc('?', f);
		else
			fwrite(s, 1, n, f);
		s += n == 0 ? 1 : n;
	}
}

void vt_put_padded(FILE *f, const char *text, unsigned width)
{
	vt_put_safe(f, text);
	for (const char *c = text; *c != '\0' && width > 0; c++)
		width -= ((unsigned char)*c & 0xc0) != 0x80; /* bytes that go on with a character take no column */
	fprintf(f, "%*s", (int)width, "");
}

void vt_put_json_part(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s != '\0') {
		size_t n = utf8_len(s);

		if (n == 0 || *s == '<') /* '<': JSON stands in HTML too */
			fprintf(f, "\\u%04x", *s < 0x80 ? *s : 0xfffdu);
		else if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else
			fwrite(s, 1, n, f);
		s += n == 0 ? 1 : n;
	}
}

void vt_put_json(FILE *f, const char *text)
{
	fputc('"', f);
	vt_put_json_part(f, text);
	fputc('"', f);
}

void vt_put_xml(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s != '\0') {
		size_t n = utf8_len(s);

		if (n == 0 || strchr("<>&\"'", *s) != NULL)
			fprintf(f, "&#%u;", n == 0 ? 0xfffdu : *s);
		else
			fwrite(s, 1, n, f);
		s += n == 0 ? 1 : n;
	}
}
