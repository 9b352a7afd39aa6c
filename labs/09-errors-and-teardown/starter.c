/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 09: eight requests (wr_id 1 to 8), of which one goes wrong, in one of 20 ways (inject.h); every second one is
 * unsignaled. Out of what comes back: who failed first, and why? Then drain, reset, and use the queue pairs again.
 *
 *   CAUSE SEED   a name of inject.h
 */
#include "inject.h"

/* What is known of the end of a connection. */
struct report {
	unsigned completions; /* all of them, of both sides */
	struct ibv_wc a, b;   /* the first error of each side that is not a flush; status SUCCESS: there is none */
	unsigned markers_a, markers_b;
};

/* One completion of a side. */
static void take(struct report *r, int at_b, const struct ibv_wc *wc)
{
	struct ibv_wc *first = at_b ? &r->b : &r->a;

	r->completions++;
	/* TODO(1): this keeps the last error, whatever it is. And who counts the markers of drain? */
	if (wc->status != IBV_WC_SUCCESS)
		*first = *wc;
}

/*
 * Everything that was posted comes back: the queue pair goes to ERR (it may be there already), takes a marker in both
 * queues even so, and gives them back last.
 */
static void drain(struct report *r, int at_b)
{
	struct lab_side *s = at_b ? &b : &a;
	struct ibv_wc wc;

	/* TODO(2): nothing of what is still posted comes back like this: the queue pair may be well, and wait. */
	while (lab_poll(s, &wc))
		take(r, at_b, &wc);
}

/* The cause: what the responder says of itself is nearer to it than what it has told the requester. */
static const struct ibv_wc *cause_of(const struct report *r, int *at_b)
{
	/* TODO(3): and when B has failed as well? */
	*at_b = 0;
	return &r->a;
}

/* Where to look next: "local" at this request, "remote" at the other side's memory and rights, "receive" at its
 * receives, "path" at everything between. */
static const char *look_at(enum ibv_wc_status status)
{
	/* TODO(4) */
	(void)status;
	return "remote";
}

/* The same queue pairs once more, from RESET. */
static void again(void)
{
	/* TODO(5): to RESET, connect, hello. */
}

static void first_error(struct report *r)
{
	struct ibv_wc wc;

	while (r->a.status == IBV_WC_SUCCESS && lab_poll(&a, &wc))
		take(r, 0, &wc);
}

int main(int argc, char **argv)
{
	struct report r = {.completions = 0};
	const struct ibv_wc *wc;
	int at_b;

	inject(argc, argv);
	first_error(&r);
	drain(&r, 0);
	drain(&r, 1);
	wc = cause_of(&r, &at_b);
	printf("side: %s\nwr_id: %llu\nstatus: %d\nreason: %u\nlook: %s\ncompletions: %u\n", at_b ? b.name : a.name,
	       (unsigned long long)wc->wr_id, wc->status, wc->vendor_err, look_at(wc->status), r.completions);
	again();
	finish();
	return 0;
}
