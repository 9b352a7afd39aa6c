/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ccase.c - the list of cases in C. */
#include "ccase.h"

const struct vc_ccase *const vc_ccases[] = {&vc_ccase_cq_destroy, &vc_ccase_qp_destroy, &vc_ccase_cq_ex,
					    &vc_ccase_limits,     &vc_ccase_walk,       NULL};
