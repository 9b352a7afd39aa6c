/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * impair.c - faults on the way, in the notation of vs/fault.h: what this process sends and what it receives is judged
 * once each (vs/impair.h). In `from` and `to` of a rule, nodes are "me" and "peer".
 */
#include <string.h>

#include "verbs/ref.h"
#include "vs/impair.h"

struct vs_impair *ref_impair_new(const struct ref_config *config, vs_impair_fn *pass, void *ctx)
{
	struct vs_impair *im = vs_impair_new(config->seed, VS_LINK_IP, "me", "peer", pass, ctx);

	for (unsigned i = 0; im != NULL && i < config->n_faults; i++) {
		struct vs_fault_error err;

		if (vs_impair_add(im, config->fault[i], strlen(config->fault[i]), &err) == VS_OK)
			continue;
		ref_say("VS_FAULT: \"%s\": column %u: %s", config->fault[i], err.column, err.text);
		vs_impair_free(im);
		return NULL;
	}
	return im;
}
