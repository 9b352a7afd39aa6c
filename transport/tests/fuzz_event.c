/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_event.c - libFuzzer on the .vst reader: no input crashes it, and what it takes for an event comes back the
 * same when it is written and read again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vs/vst.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEADER "{\"vst\":\"0.1\",\"clock\":\"sim\",\"unit\":\"ns\"}\n"

/* Line, read and written again: the same line. */
static void require_stable(const char *line)
{
	static char text[VS_VST_LINE_MAX + sizeof(HEADER)], again[VS_VST_LINE_MAX + 1];
	struct vs_vst_reader *r;
	struct vs_event ev;
	FILE *f;

	snprintf(text, sizeof(text), HEADER "%s", line);
	f = fmemopen(text, strlen(text), "r");
	if (f == NULL)
		abort();
	r = vs_vst_open(f, NULL);
	if (r == NULL || vs_vst_next(r, &ev, NULL) != 1 || vs_vst_format(&ev, again, sizeof(again)) < 0 ||
	    strcmp(line, again) != 0)
		abort();
	vs_vst_close(r);
	fclose(f);
}

/* The same bytes behind the head of a packed trace: whatever they are, the lines that are made of them stay in it. */
static void unpack_too(const uint8_t *data, size_t size)
{
	const struct vs_vst_header h = {.clock = "sim"};
	size_t cap = size + 1024, n;
	uint8_t *buf = malloc(cap), *whole;
	static FILE *null;

	if (null == NULL)
		null = fopen("/dev/null", "w");
	n = buf != NULL && null != NULL ? vs_pack_header(&h, buf, cap) : 0;
	if (n == 0)
		abort();
	memcpy(buf + n, data, size);
	whole = realloc(buf, n + size); /* so that a sanitizer sees its end */
	if (whole == NULL || vs_unpack(whole, n + size, null) != VS_OK)
		abort();
	(void)vs_unpack(data, size, null);
	free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char line[VS_VST_LINE_MAX + 1];
	struct vs_vst_error err;
	struct vs_vst_reader *r;
	struct vs_event ev;
	FILE *f;
	int rc;

	if (size == 0)
		return 0;
	unpack_too(data, size);
	f = fmemopen((void *)(uintptr_t)data, size, "r");
	if (f == NULL)
		return 0;
	r = vs_vst_open(f, &err);
	if (r == NULL && (err.line != 1 || err.text[0] == '\0'))
		abort();
	while (r != NULL && (rc = vs_vst_next(r, &ev, &err)) != 0) {
		if (rc < 0 && (err.line < 2 || err.text[0] == '\0'))
			abort();
		if (rc == 1 && vs_vst_format(&ev, line, sizeof(line)) > 0)
			require_stable(line);
	}
	vs_vst_close(r);
	fclose(f);
	return 0;
}
