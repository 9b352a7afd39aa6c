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
	/* TODO(1): this is enough on a perfect wire. What else is new when something is acknowledged? */
	r->una = psn;
	if (r->una == r->end)
		r->status = SUCCESS;
}

/* TODO(2): what goes out next, and how often may that be? */
static void go_back(struct requester *r, uint32_t psn)
{
	(void)r;
	(void)psn;
}

void on_ack(struct requester *r, uint32_t psn)
{
	if (outstanding(r, psn))
		advance(r, psn_next(psn));
}

/* TODO(3): the other side waits for this PSN. It says two things at once. */
void on_nak(struct requester *r, uint32_t psn)
{
	(void)r;
	(void)psn;
}

/* TODO(4): nothing has come for too long. */
void on_timeout(struct requester *r)
{
	go_back(r, r->una);
}
