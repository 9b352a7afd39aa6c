/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_fault.c - libFuzzer on the notation of faults: no text crashes the parser, an error has its column inside
 * the text, and a rule that is taken is the same when it is written and read again.
 */
#include <stdlib.h>
#include <string.h>

#include "same_rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vs_fault_rule r, again;
	struct vs_fault_error err;
	char text[1200];
	int n;

	if (vs_fault_parse((const char *)data, size, &r, &err) != VS_OK) {
		if (err.column < 1 || err.column > size + 1 || err.text[0] == '\0' ||
		    memchr(err.text, '\0', sizeof(err.text)) == NULL)
			abort();
		return 0;
	}
	n = vs_fault_format(&r, text, sizeof(text));
	if (n <= 0 || strlen(text) != (size_t)n || vs_fault_parse(text, (size_t)n, &again, &err) != VS_OK ||
	    !same_rule(&r, &again))
		abort();
	return 0;
}
