/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* util.c - messages, files in, files out, processes that end. */
#include "conform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAP_MS 3000u

char *vc_read_file(const char *path, size_t most, size_t *len)
{
	FILE *f = fopen(path, "r");
	char *buf = malloc(most + 1);
	size_t n;

	if (f == NULL || buf == NULL) {
		vc_complain("%s: can't be opened: %s", path, strerror(errno));
		if (f != NULL)
			fclose(f);
		free(buf);
		return NULL;
	}
	errno = 0;
	n = fread(buf, 1, most, f);
	if (ferror(f)) {
		vc_complain("%s: can't be read: %s", path, strerror(errno));
		fclose(f);
		free(buf);
		return NULL;
	}
	fclose(f);
	buf[n] = '\0';
	if (len != NULL)
		*len = n;
	return buf;
}

int vc_try_file(const char *path)
{
	struct vs_cli_file f;
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return VC_OK; /* a pipe, /dev/stdout: whoever reads there must not see its end now */
	if (!vs_cli_file_open(&f, VC_PROGRAM, NULL, path, VS_CLI_PUBLIC))
		return VC_USAGE;
	vs_cli_file_abort(&f);
	return VC_OK;
}

int vc_write_file(const char *path, bool (*put)(void *ctx, FILE *f), void *ctx)
{
	struct vs_cli_file f;

	if (!vs_cli_file_open(&f, VC_PROGRAM, NULL, path, VS_CLI_PUBLIC))
		return VC_USAGE;
	errno = 0;
	if (put(ctx, f.f))
		return vs_cli_file_close(&f);
	vc_complain("%s: can't be written (%s)", path, errno != 0 ? strerror(errno) : "no memory");
	vs_cli_file_abort(&f);
	return VC_USAGE;
}

bool vc_reap(pid_t pid, int *status)
{
	const struct timespec nap = {0, 1000000};

	for (unsigned i = 0; i < REAP_MS; i++) {
		pid_t got = waitpid(pid, status, WNOHANG);

		if (got == pid || (got < 0 && errno != EINTR))
			return got == pid;
		(void)nanosleep(&nap, NULL);
	}
	return false;
}
