/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* model_capture.c - captures. */
#include "model_build.h"

bool vt_model_add_capture(struct vt_model *m, const char *path, char *err, size_t cap)
{
	(void)m;
	return vt_err(err, cap, "%s: no .vst file: captures are not read yet", path);
}
