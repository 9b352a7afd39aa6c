/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * main.c - bench-report RECORDS OUT: writes OUT.json and OUT.html of the records that bench/run.sh gathered. Part of
 * `make bench`, not installed.
 *
 * Exit code: 0 all were measured and none missed its aim, 1 one failed or missed it (the files are there), 2 there is
 * no report.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "report.h"

static int write_file(const json_t *doc, const char *out, const char *suffix)
{
	char path[4096];
	struct vs_cli_file file;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", out, suffix) >= sizeof(path))
		return vs_cli_fail(PROGRAM, NULL, "%s: the name is too long", out);
	if (!vs_cli_file_open(&file, PROGRAM, NULL, path, VS_CLI_PUBLIC))
		return VS_CLI_USAGE;
	if (strcmp(suffix, ".json") == 0) {
		(void)json_dumpf(doc, file.f, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
		(void)fputc('\n', file.f);
	} else {
		report_put_page(doc, file.f);
	}
	return vs_cli_file_close(&file);
}

/* 1: something was not as it should be. */
static int judge(const json_t *doc)
{
	const json_t *b;
	size_t i;
	int rc = VS_CLI_OK;

	json_array_foreach (json_object_get(doc, "benchmarks"), i, b) {
		const char *verdict = report_text(b, "verdict");

		if (strcmp(verdict, "ok") != 0 && strcmp(verdict, "skipped") != 0)
			rc = VS_CLI_FINDING;
	}
	return rc;
}

int main(int argc, char **argv)
{
	json_t *doc;
	int rc;

	if (argc != 3 || argv[1][0] == '-')
		return vs_cli_fail(PROGRAM, NULL, "usage: bench-report RECORDS OUT (make bench runs it)");
	doc = report_read(argv[1]);
	if (doc == NULL)
		return VS_CLI_USAGE;
	rc = write_file(doc, argv[2], ".json");
	if (rc == VS_CLI_OK)
		rc = write_file(doc, argv[2], ".html");
	if (rc == VS_CLI_OK)
		rc = judge(doc);
	json_decref(doc);
	return rc;
}
