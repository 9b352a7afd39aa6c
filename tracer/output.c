/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* output.c - text from a trace or a packet, harmless in a table, in JSON and in XML. */
#include <string.h>

#include "trace.h"

void vt_put_padded(FILE *f, const char *text, unsigned width)
{
	vs_cli_put_safe(f, text);
	for (const char *c = text; *c != '\0' && width > 0; c++)
		width -= ((unsigned char)*c & 0xc0) != 0x80; /* bytes that go on with a character take no column */
	fprintf(f, "%*s", (int)width, "");
}

void vt_put_json_part(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s != '\0') {
		size_t n = vs_cli_char_len(s);

		if (n == 0 || *s == '<') /* '<': JSON stands in HTML too */
			fprintf(f, "\\u%04x", *s < 0x80 ? *s : 0xfffdu);
		else if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else
			fwrite(s, 1, n, f);
		s += n == 0 ? 1 : n;
	}
}

void vt_put_json(FILE *f, const char *text)
{
	fputc('"', f);
	vt_put_json_part(f, text);
	fputc('"', f);
}

void vt_put_xml(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s != '\0') {
		size_t n = vs_cli_char_len(s);

		if (n == 0 || strchr("<>&\"'", *s) != NULL)
			fprintf(f, "&#%u;", n == 0 ? 0xfffdu : *s);
		else
			fwrite(s, 1, n, f);
		s += n == 0 ? 1 : n;
	}
}
