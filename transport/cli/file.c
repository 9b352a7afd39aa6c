/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* file.c - files that are written whole: who looks sees the old one or the new one, never half of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* The temporary file; NULL with errno. */
static FILE *open_part(struct vs_cli_file *f, enum vs_cli_mode mode)
{
	int fd = mkstemp(f->part); /* 0600 */
	mode_t mask;
	FILE *file;

	if (fd < 0) {
		free(f->part); /* there is nothing to remove */
		f->part = NULL;
		return NULL;
	}
	if (mode == VS_CLI_PUBLIC) {
		mask = umask(0);
		(void)umask(mask);
		(void)fchmod(fd, 0666 & ~mask);
	}
	file = fdopen(fd, "w");
	if (file == NULL) {
		(void)unlink(f->part);
		close(fd);
	}
	return file;
}

bool vs_cli_file_open(struct vs_cli_file *f, const char *program, const char *cmd, const char *path,
		      enum vs_cli_mode mode)
{
	size_t cap = path != NULL ? strlen(path) + 16 : 0;
	struct stat st;

	*f = (struct vs_cli_file){.program = program, .cmd = cmd, .f = stdout};
	if (path == NULL || strcmp(path, "-") == 0)
		return true;
	f->path = strdup(path);
	f->part = malloc(cap);
	if (f->path == NULL || f->part == NULL) {
		vs_cli_complain(program, cmd, "no memory");
		vs_cli_file_abort(f);
		return false;
	}
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) { /* a FIFO, /dev/null: straight */
		free(f->part);
		f->part = NULL;
		f->f = fopen(path, "w");
	} else {
		(void)snprintf(f->part, cap, "%s.XXXXXX", path);
		f->f = open_part(f, mode);
	}
	if (f->f == NULL) {
		vs_cli_complain(program, cmd, "%s: can't be written (%s)", path, strerror(errno));
		vs_cli_file_abort(f);
		return false;
	}
	return true;
}

void vs_cli_file_abort(struct vs_cli_file *f)
{
	if (f->f != NULL && f->f != stdout) {
		(void)fclose(f->f);
		if (f->part != NULL)
			(void)unlink(f->part);
	}
	free(f->path);
	free(f->part);
	*f = (struct vs_cli_file){0};
}

int vs_cli_file_close(struct vs_cli_file *f)
{
	bool bad;
	int rc = VS_CLI_OK;

	if (f->path == NULL)
		return vs_cli_flush(f->program, f->cmd);
	bad = fflush(f->f) != 0 || ferror(f->f) || (f->part != NULL && fsync(fileno(f->f)) != 0);
	if (bad)
		rc = vs_cli_fail(f->program, f->cmd, "%s: can't be written (%s)", f->path,
				 strerror(errno ? errno : EIO));
	else if (f->part != NULL && rename(f->part, f->path) != 0)
		rc = vs_cli_fail(f->program, f->cmd, "%s: can't be put in place (%s)", f->path, strerror(errno));
	if (rc == VS_CLI_OK) {
		free(f->part); /* nothing to remove any more */
		f->part = NULL;
	}
	vs_cli_file_abort(f);
	return rc;
}
