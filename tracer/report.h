/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* report.h - what is counted of a trace: the contract of `vs-trace report --json` (docs/man/vs-trace.1). */
#ifndef VT_REPORT_H
#define VT_REPORT_H

#include <jansson.h>

#include "trace.h"

/* {"trace", "span", "missing", "qps": [...], "findings": [...]}; times are nanoseconds. */
json_t *vt_report_of(const struct vt_model *m, const struct vt_options *o);

#endif
