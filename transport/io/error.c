/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* error.c - errors of capture files: one line that says what, where and what to do. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "io/internal.h"

#define NAME_MAX_SHOWN 160 /* of a longer path only the end is shown */

void vs_io_ok(struct vs_io_error *err)
{
	if (err) {
		err->text[0] = '\0';
		err->frame = 0;
	}
}

int vs_io_fail(struct vs_io_error *err, int code, uint64_t frame, const char *name, const char *fmt, ...)
{
	size_t len = strlen(name), off;
	const char *dots = "";
	va_list ap;

	if (!err)
		return code;
	if (len > NAME_MAX_SHOWN) {
		name += len - NAME_MAX_SHOWN;
		dots = "...";
	}
	off = (size_t)snprintf(err->text, sizeof(err->text), "%s%s: ", dots, name);
	va_start(ap, fmt);
	vsnprintf(err->text + off, sizeof(err->text) - off, fmt, ap);
	va_end(ap);
	for (char *p = err->text; *p; p++) /* a file name may hold anything */
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	err->frame = frame;
	return code;
}

const char *vs_io_advice(int e, bool writing)
{
	switch (e) {
	case ENOENT:
		return writing ? "make the directory first" : "check the path";
	case ENOTDIR:
		return "check the path";
	case EACCES:
	case EPERM:
		return writing ? "choose a directory that you may write to" : "ask for read permission, or copy it";
	case ENOSPC:
	case EDQUOT:
		return "make room, or choose another disk";
	case EFBIG:
		return "raise the file size limit (ulimit -f)";
	case EROFS:
		return "choose a directory that is not read-only";
	case EMFILE:
	case ENFILE:
		return "raise the limit of open files (ulimit -n)";
	case ENAMETOOLONG:
		return "choose a shorter name";
	case EPIPE:
		return "the reader of the pipe went away";
	default:
		return "check the disk";
	}
}
