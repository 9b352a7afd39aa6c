/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * html.c - one page that holds everything: the report as data, and the script that shows it (report.html).
 *
 * The data stand in a <script type="application/json">: only "<" must not, which JSON can write otherwise. The page
 * puts texts into the document as texts, never as markup.
 */
#include "conform.h"

#include <stdlib.h>
#include <string.h>

extern const char *const vc_html_line[]; /* made of report.html; NULL at the end */

#define PLACE "@REPORT@"

static int put_escaped(const char *buf, size_t len, void *f)
{
	for (size_t i = 0; i < len; i++) {
		if (buf[i] == '<')
			fputs("\\u003c", f);
		else
			fputc(buf[i], f);
	}
	return ferror((FILE *)f) ? -1 : 0;
}

bool vc_put_html(void *report, FILE *f)
{
	for (const char *const *l = vc_html_line; *l != NULL; l++) {
		const char *at = strstr(*l, PLACE);

		if (at == NULL) {
			fputs(*l, f);
			continue;
		}
		(void)fwrite(*l, 1, (size_t)(at - *l), f);
		if (json_dump_callback(report, put_escaped, f, JSON_COMPACT) != 0)
			return false;
		fputs(at + strlen(PLACE), f);
	}
	return true;
}
