/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ccase_say.c - what a case in C has found; also in vs-agent, which runs some of them. */
#include "ccase.h"

#include <stdarg.h>

void vc_ccase_say(struct vs_drill_result *res, enum vs_verdict v, const char *format, ...)
{
	va_list ap;

	res->verdict = v;
	va_start(ap, format);
	(void)vsnprintf(res->at.text, sizeof(res->at.text), format, ap);
	va_end(ap);
}
