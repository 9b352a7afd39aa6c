/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* deviation.c - names of the defects that can be committed on request (deviations.def). */
#include "core.h"

const char *vs_deviation_name(enum vs_deviation d)
{
#define VS_DEVIATION(ID, name, known_bug, text, must, may) [VS_DEVIATION_##ID] = name,
	static const char *const names[VS_DEVIATION_COUNT] = {
#include "deviations.def"
	};

	return (unsigned)d < VS_DEVIATION_COUNT ? names[d] : "?";
}

enum vs_deviation vs_deviation_by_name(const char *name)
{
	unsigned i;

	for (i = 0; i < VS_DEVIATION_COUNT; i++)
		if (strcmp(vs_deviation_name((enum vs_deviation)i), name) == 0)
			break;
	return (enum vs_deviation)i;
}
