/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* record.c - the frames of one run, as they left who sent them. */
#include "conform.h"

#include <stdlib.h>
#include <string.h>

static void keep(struct vc_record *r, const struct vs_drill_frame *f)
{
	struct vc_frame *k = &r->frame[r->n];

	if (r->n == VC_FRAMES_MAX || (k->data = malloc(f->len)) == NULL) {
		r->more++;
		return;
	}
	memcpy(k->data, f->data, f->len);
	k->t_ns = f->now_ns;
	k->link = f->link;
	k->len = (uint32_t)f->len;
	k->lost = false;
	k->ours = strcmp(f->node, "peer") != 0;
	(void)snprintf(k->node, sizeof(k->node), "%s", f->node);
	if (!k->ours)
		vc_watch_sent(k);
	r->n++;
}

/* The newest frame with these bytes did not arrive. */
static void lost(struct vc_record *r, const struct vs_drill_frame *f)
{
	for (size_t i = r->n; i-- > 0;) {
		struct vc_frame *k = &r->frame[i];

		if (k->lost || k->len != f->len || memcmp(k->data, f->data, f->len) != 0)
			continue;
		k->lost = true;
		return;
	}
}

static void on_frame(void *ctx, const struct vs_drill_frame *f)
{
	if (f->where == VS_TAP_SENT)
		keep(ctx, f);
	else if (f->where == VS_TAP_LOST)
		lost(ctx, f);
}

void vc_record_attach(struct vc_record *r, struct vs_drill_env *env)
{
	vs_event_log_init(&r->log, VC_EVENTS_MAX);
	env->sink = vs_event_log_sink(&r->log, VS_LEVEL_BASE);
	env->tap = on_frame;
	env->tap_ctx = r;
}

void vc_record_clear(struct vc_record *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->frame[i].data);
	r->n = 0;
	r->more = 0;
	vs_event_log_free(&r->log);
}
