/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * remote_device.c - which device the agent has; a new agent in the place of one that died, so that this costs one case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ccase.h"
#include "remote.h"

#define TRIES 3u /* agents that can't be had one after the other: then there is none */
#define TIMEOUT_NS UINT64_C(20000000000)

/* What vc_verbs knows of a device that is in this process. */
static void adopt(struct vc_verbs *v, const struct ag_device *d)
{
	struct ibv_device_attr *a = &v->attr;

	*a = (struct ibv_device_attr){
		.max_qp = d->limit[DR_MAX_QP],
		.max_cq = d->limit[DR_MAX_CQ],
		.max_mr = d->limit[DR_MAX_MR],
		.max_mw = d->limit[DR_MAX_MW],
		.max_srq = d->limit[DR_MAX_SRQ],
		.max_ah = d->limit[DR_MAX_AH],
		.max_pd = d->limit[DR_MAX_PD],
		.max_qp_wr = d->limit[DR_MAX_QP_WR],
		.max_srq_wr = d->limit[DR_MAX_SRQ_WR],
		.max_cqe = d->limit[DR_MAX_CQE],
		.max_sge = d->limit[DR_MAX_SGE],
		.max_qp_rd_atom = d->limit[DR_MAX_RD_ATOMIC],
		.max_mcast_grp = (int)(d->max_mcast & INT32_MAX),
		.atomic_cap = d->atomic ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE,
	};
	v->reference = d->reference;
	v->atomic_write = d->atomic_write;
	v->cm = d->cm;
	v->gids = d->gids;
}

static bool ask_for_device(struct vc_verbs *v, const char *name, char *why, size_t cap)
{
	struct ag_device d = {.reference = false};
	struct ag_words w;
	int code;

	ag_put_word(vc_link_begin(v->link, "device"), *name != '\0' ? name : "-");
	switch (vc_link_ask(v->link, &w, &code)) {
	case VC_ANSWER_OK:
		ag_io_device(&(struct ag_io){.in = &w}, &d);
		if (!ag_at_end(&w))
			vc_link_nonsense(v->link);
		break;
	case VC_ANSWER_FAILED:
		(void)snprintf(why, cap, "%s", ag_get_text(&w));
		return false;
	default:
		break;
	}
	if (v->link->over[0] != '\0') {
		(void)snprintf(why, cap, "%s", v->link->over);
		return false;
	}
	adopt(v, &d);
	return true;
}

bool vc_remote_connect(struct vc_verbs *v, const struct vc_options *o, char *why, size_t cap)
{
	static unsigned failures;
	static char reason[640];
	char number[16];
	uint64_t budget = o->budget_ms * 1000000; /* of a case: who hangs is to be named before that is over */

	if (v->link != NULL && v->link->over[0] == '\0')
		return true;
	vc_link_close(v->link);
	v->link = NULL;
	if (failures < TRIES) {
		(void)snprintf(number, sizeof(number), "%u", o->worker);
		(void)setenv("VS_WORKER", number, 1); /* so that each of several commands has a host of its own */
		v->link = vc_link_open(o->agent, budget - budget / 8, budget / 2 < TIMEOUT_NS ? budget / 2 : TIMEOUT_NS,
				       reason, sizeof(reason));
		if (v->link != NULL && ask_for_device(v, o->verbs, reason, sizeof(reason))) {
			failures = 0;
			return true;
		}
		failures++;
	}
	if (failures == TRIES)
		vc_watch_failed();
	vc_link_close(v->link);
	v->link = NULL;
	(void)snprintf(why, cap, "%s", reason);
	return false;
}

void vc_remote_ccase(const struct vc_options *o, const char *id, struct vs_drill_result *res)
{
	char why[640] = "";
	struct vc_verbs *v = vc_verbs_open(o, why, sizeof(why));
	struct ag_words w;
	enum vs_verdict verdict;
	int code;

	if (v == NULL) {
		vc_ccase_say(res, VS_VERDICT_ERROR, "%s", why);
		return;
	}
	ag_put_word(vc_link_begin(v->link, "ccase"), id);
	if (vc_link_ask(v->link, &w, &code) == VC_ANSWER_OK) {
		verdict = (enum vs_verdict)ag_get_num(&w, VS_VERDICT_ERROR);
		vc_ccase_say(res, verdict, "%s", ag_get_text(&w));
		if (!ag_at_end(&w))
			vc_link_nonsense(v->link);
	} else if (v->link->over[0] == '\0') {
		vc_ccase_say(res, VS_VERDICT_ERROR, "the agent can't run it: %s", ag_get_text(&w));
	}
	if (v->link->over[0] != '\0')
		vc_ccase_say(res, VS_VERDICT_ERROR, "%s", v->link->over);
}
