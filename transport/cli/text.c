/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* text.c - text that others wrote, so that a terminal only shows it. */
#include "cli/cli.h"
#include "event/internal.h"

size_t vs_cli_char_len(const unsigned char *s)
{
	if (s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0)) /* C0, DEL, C1 */
		return 0;
	if (s[0] == 0xe2 && s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae)))
		return 0; /* line separators, marks and overrides of direction */
	if (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9)
		return 0; /* isolates */
	return vs_utf8_len(s);
}

static void put(FILE *f, const char *text, bool lines)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s != '\0') {
		size_t n = lines && (*s == '\n' || *s == '\t') ? 1 : vs_cli_char_len(s);

		if (n == 0)
			fputc('?', f);
		else
			fwrite(s, 1, n, f);
		s += n == 0 ? 1 : n;
	}
}

void vs_cli_put_safe(FILE *f, const char *text)
{
	put(f, text, false);
}

void vs_cli_put_lines(FILE *f, const char *text)
{
	put(f, text, true);
}
