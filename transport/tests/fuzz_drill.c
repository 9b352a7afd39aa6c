/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_drill.c - libFuzzer on scenario scripts: no text crashes the parser, an error points into the text, and a
 * script that is taken runs to a verdict.
 */
#include <stdlib.h>
#include <string.h>

#include "vs/drill.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vs_drill_error err;
	struct vs_drill_env env = {.max_steps = 20000}; /* a run that goes on for ever finds nothing new */
	struct vs_drill_result res;
	struct vs_drill *d = vs_drill_parse((const char *)data, size, &err);
	char buf[2048];

	if (d == NULL) {
		if (err.text[0] == '\0' || memchr(err.text, '\0', sizeof(err.text)) == NULL || err.line > size + 1 ||
		    err.column > strlen(err.source) + 2)
			abort();
		(void)vs_drill_error_format(&err, "f", buf, sizeof(buf));
		return 0;
	}
	vs_drill_run_sim(d, 0, &env, &res);
	if ((res.verdict == VS_VERDICT_FAIL || res.verdict == VS_VERDICT_ERROR) && res.at.text[0] == '\0')
		abort();
	vs_drill_free(d);
	return 0;
}
