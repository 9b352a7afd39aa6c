/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * reason.c - reasons.def as an array, looked up by number and by id.
 */
#include "vs/reason.h"

#define VS_REASON(ID, id_, severity_, clause_, sentence_) \
	[VS_REASON_##ID] = {                              \
		.id = (id_),                              \
		.clause = (clause_),                      \
		.sentence = (sentence_),                  \
		.severity = VS_SEV_##severity_,           \
	},

static const struct vs_reason_info reasons[VS_REASON_COUNT] = {
	[VS_REASON_NONE] = {.id = "none", .clause = "", .sentence = "nothing is wrong", .severity = VS_SEV_NOTE},
#include "reasons.def"
};

const struct vs_reason_info *vs_reason_info(enum vs_reason r)
{
	return (unsigned)r < VS_REASON_COUNT ? &reasons[r] : &reasons[VS_REASON_NONE];
}

static bool id_equal(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

enum vs_reason vs_reason_by_id(const char *id)
{
	for (unsigned r = VS_REASON_NONE + 1; r < VS_REASON_COUNT; r++)
		if (id_equal(reasons[r].id, id))
			return (enum vs_reason)r;
	return VS_REASON_NONE;
}
