/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* mkvst.c - the events of a scenario script, run in the simulator, as a .vst: mkvst SCRIPT > FILE. */
#include <stdio.h>
#include <stdlib.h>

#include "vs/drill.h"
#include "vs/vst.h"

static char *slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	long size;

	if (f != NULL && fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0) {
		rewind(f);
		text = malloc((size_t)size + 1);
		*len = text != NULL ? fread(text, 1, (size_t)size, f) : 0;
	}
	if (f != NULL)
		fclose(f);
	return text;
}

int main(int argc, char **argv)
{
	const struct vs_vst_header header = {.clock = "sim", .build = "test", .has_seed = true, .seed = 1};
	struct vs_drill_env env = {.seed = 1};
	struct vs_drill_result result;
	struct vs_drill_error err;
	struct vs_event_log log;
	struct vs_drill *d;
	size_t len = 0;
	char *text = argc == 2 ? slurp(argv[1], &len) : NULL;
	int rc;

	if (text == NULL) {
		fputs("usage: mkvst SCRIPT > FILE\n", stderr);
		return 2;
	}
	d = vs_drill_parse(text, len, &err);
	if (d == NULL) {
		fprintf(stderr, "mkvst: %s: line %u: %s\n", argv[1], err.line, err.text);
		return 2;
	}
	vs_event_log_init(&log, 0);
	env.sink = vs_event_log_sink(&log, VS_LEVEL_EXTRA);
	vs_drill_run_sim(d, 0, &env, &result);
	rc = vs_event_log_write(&log, &header, stdout);
	vs_event_log_free(&log);
	vs_drill_free(d);
	free(text);
	return rc == VS_OK && fflush(stdout) == 0 ? 0 : 1;
}
