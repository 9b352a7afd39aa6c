/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * watch.c - what a worker is about, written where the runner can read it when the worker can't say it any more: which
 * packet went to the device last, and whether the device said that it has failed.
 */
#include "conform.h"

#include <sys/mman.h>

static struct vc_watch *watch; /* of this process; NULL: nobody looks */

struct vc_watch *vc_watch_new(void)
{
	void *p = mmap(NULL, sizeof(struct vc_watch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p != MAP_FAILED ? p : NULL;
}

void vc_watch_free(struct vc_watch *w)
{
	if (w != NULL)
		(void)munmap(w, sizeof(*w));
}

void vc_watch_use(struct vc_watch *w)
{
	watch = w;
}

void vc_watch_begin(void)
{
	if (watch != NULL)
		watch->sent[0] = '\0';
}

void vc_watch_sent(const struct vc_frame *f)
{
	if (watch != NULL)
		vc_packet_text(f, watch->sent, sizeof(watch->sent));
}

void vc_watch_failed(void)
{
	if (watch != NULL)
		watch->failed = true;
}
