/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* same_rule.h - whether two rules for faults are the same, for the tests and the fuzzer of their notation. */
#ifndef VS_TESTS_SAME_RULE_H
#define VS_TESTS_SAME_RULE_H

#include <string.h>

#include "vs/fault.h"

static inline bool same_rule(const struct vs_fault_rule *a, const struct vs_fault_rule *b)
{
	return strcmp(a->name, b->name) == 0 && a->action == b->action && a->times == b->times &&
	       a->time_ns == b->time_ns && a->corrupt_bit == b->corrupt_bit && a->count == b->count &&
	       a->first == b->first && a->last == b->last && a->per_million == b->per_million && a->what == b->what &&
	       strcmp(a->from, b->from) == 0 && strcmp(a->to, b->to) == 0 && a->qpn == b->qpn &&
	       a->has_qpn == b->has_qpn && a->has_psn == b->has_psn && a->psn_first == b->psn_first &&
	       a->psn_last == b->psn_last && a->iter == b->iter && a->seen == b->seen && a->hits == b->hits;
}

#endif
