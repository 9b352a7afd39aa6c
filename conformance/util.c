/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* util.c - messages, files in, files out, processes that end. */
#include "conform.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAP_MS 3000u

void vc_put_safe(FILE *f, const char *text)
{
	for (; *text != '\0'; text++)
		fputc(((unsigned char)*text < 0x20 && *text != '\n' && *text != '\t') || *text == 0x7f ? '?' : *text,
		      f);
}

void vc_complain(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fflush(stdout);
	fputs("vs-conform: ", stderr);
	vc_put_safe(stderr, text);
	fputc('\n', stderr);
}

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

/* Written in place: standard output, devices, pipes of the shell. */
static bool goes_straight(const char *path)
{
	return strcmp(path, "-") == 0 || (access(path, F_OK) == 0 && strncmp(path, "/dev/", 5) == 0);
}

/* The file that is written before it gets its name. NULL: no memory. */
static char *temporary(const char *path)
{
	size_t cap = strlen(path) + 16;
	char *temp = malloc(cap);

	if (temp != NULL)
		(void)snprintf(temp, cap, "%s.%ld", path, (long)getpid());
	return temp;
}

int vc_try_file(const char *path)
{
	char *temp = temporary(path);
	struct stat st;
	FILE *f;

	errno = 0;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
	} else if (goes_straight(path)) {
		free(temp);
		return VC_OK;
	} else if (temp != NULL && (f = fopen(temp, "w")) != NULL) {
		fclose(f);
		(void)unlink(temp);
		free(temp);
		return VC_OK;
	}
	vc_complain("%s: can't be written: %s", path, errno != 0 ? strerror(errno) : "no memory");
	free(temp);
	return VC_USAGE;
}

int vc_write_file(const char *path, bool (*put)(void *ctx, FILE *f), void *ctx)
{
	bool straight = goes_straight(path);
	char *temp = temporary(path);
	bool ok = false;
	FILE *f = NULL;

	if (temp != NULL) {
		errno = 0;
		f = strcmp(path, "-") == 0 ? stdout : fopen(straight ? path : temp, "w");
	}
	if (f != NULL) {
		ok = put(ctx, f);
		ok = fflush(f) == 0 && ok && !ferror(f);
		if (f != stdout)
			ok = fclose(f) == 0 && ok;
		if (!straight && (!ok || rename(temp, path) != 0)) {
			int why = errno;

			ok = false;
			(void)unlink(temp);
			errno = why;
		}
	}
	if (!ok)
		vc_complain("%s: can't be written: %s", path, errno != 0 ? strerror(errno) : "no memory");
	free(temp);
	return ok ? VC_OK : VC_USAGE;
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
