/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* number.c - numbers and times of a command line: the whole word or nothing, and no octal numbers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

bool vs_cli_number(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
	unsigned long long v;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoull(text, &end, text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10);
	if (errno != 0 || *end != '\0' || v < least || v > most)
		return false;
	*value = v;
	return true;
}

bool vs_cli_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double v;

	if (*text < '0' || *text > '9' || text[1] == 'x' || text[1] == 'X')
		return false;
	v = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		v *= units[i].ns;
		if (!(v >= 0 && v < 9e18))
			return false;
		*ns = (uint64_t)(v + 0.5);
		return true;
	}
	return false;
}
