/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* psn.h - PSNs against time: what is collected (psn.c) and drawn (psn_svg.c). */
#ifndef VT_PSN_H
#define VT_PSN_H

#include "trace.h"

enum vt_psn_kind { VT_PSN_SENT, VT_PSN_AGAIN, VT_PSN_LOST, VT_PSN_ACKED, VT_PSN_NAK, VT_PSN_RNR, VT_PSN_TIMER };

struct vt_psn_point {
	uint64_t t_ns; /* since the start of the trace */
	int64_t psn;   /* from the first PSN on, without the circle */
	enum vt_psn_kind kind;
	bool inferred;
};

struct vt_psn_graph {
	size_t qp; /* the requester */
	uint32_t first;
	int64_t newest;
	struct vt_psn_point *point; /* in the order of events */
	size_t n, cap;
};

const char *vt_psn_kind_name(enum vt_psn_kind kind);
void vt_psn_svg(const struct vt_psn_graph *g, const struct vt_model *m, FILE *f);

#endif
