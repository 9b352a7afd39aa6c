/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* export.h - the forms that `vs-trace export` writes. */
#ifndef VT_EXPORT_H
#define VT_EXPORT_H

#include "trace.h"

/* Chrome's trace event format, as Perfetto reads it. */
void vt_export_chrome(const struct vt_model *m, const struct vt_options *o, FILE *f);
/* One page with everything in it. False: no memory. */
bool vt_export_html(const struct vt_model *m, const struct vt_options *o, FILE *f);
/* The frames of the trace's capture that were asked for; an exit code. */
int vt_export_capture(const struct vt_model *m, const struct vt_options *o);

#endif
