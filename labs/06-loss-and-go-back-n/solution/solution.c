/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Lab 06: a requester that repeats what was lost. requester.h has the rules. */
#include "requester.h"

bool transmit(struct requester *r, uint32_t *psn)
{
	if (r->status != RUNNING || r->next == r->end)
		return false;
	*psn = r->next;
	r->next = psn_next(r->next);
	if (psn_diff(r->next, r->sent) > 0)
		r->sent = r->next;
	return true;
}

static bool outstanding(const struct requester *r, uint32_t psn)
{
	return r->status == RUNNING && psn_diff(psn, r->una) >= 0 && psn_diff(psn, r->sent) < 0;
}

/* Everything before `psn` is acknowledged. */
static void advance(struct requester *r, uint32_t psn)
{
	if (psn == r->una)
		return;
	r->una = psn;
	r->left = r->retry_cnt;
	if (psn_diff(r->next, r->una) < 0)
		r->next = r->una;
	if (r->una == r->end)
		r->status = SUCCESS;
}

static void go_back(struct requester *r, uint32_t psn)
{
	if (r->left == 0) {
		r->status = RETRY_EXC_ERR;
		return;
	}
	r->left--;
	r->next = psn;
}

void on_ack(struct requester *r, uint32_t psn)
{
	if (outstanding(r, psn))
		advance(r, psn_next(psn));
}

void on_nak(struct requester *r, uint32_t psn)
{
	if (!outstanding(r, psn))
		return;
	advance(r, psn);
	go_back(r, psn);
}

void on_timeout(struct requester *r)
{
	if (r->status == RUNNING && r->una != r->sent)
		go_back(r, r->una);
}
