/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ccase.c - the list of cases in C. */
#include "ccase.h"

#include <stdarg.h>

const struct vc_ccase *const vc_ccases[] = {&vc_ccase_cq_destroy, &vc_ccase_qp_destroy, &vc_ccase_walk, NULL};

void vc_ccase_say(struct vs_drill_result *res, enum vs_verdict v, const char *format, ...)
{
	va_list ap;

	res->verdict = v;
	va_start(ap, format);
	(void)vsnprintf(res->at.text, sizeof(res->at.text), format, ap);
	va_end(ap);
}
