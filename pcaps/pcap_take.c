/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_take.c - records the frames and the events of one run of a scenario. */
#include "pcap_gen.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "vs/verbs.h"

void vp_take_init(struct vp_take *t, const char *at)
{
	*t = (struct vp_take){.at = at};
	for (unsigned i = 0; i < VP_SECTIONS; i++)
		t->tail[i] = &t->tally[i];
	t->last_mark = &t->marks;
}

void vp_take_fini(struct vp_take *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->shot[i].data);
	free(t->shot);
	for (unsigned i = 0; i < VP_SECTIONS; i++) {
		while (t->tally[i] != NULL) {
			struct vp_tally *gone = t->tally[i];

			t->tally[i] = gone->next;
			free(gone);
		}
	}
	while (t->marks != NULL) {
		struct vp_mark *gone = t->marks;

		t->marks = gone->next;
		free(gone);
	}
	vp_take_init(t, t->at);
}

/* ---- frames ---- */

static void keep(struct vp_take *t, const struct vs_drill_frame *f)
{
	struct vp_shot *s;

	if (t->n == t->cap) {
		size_t more = t->cap == 0 ? 256 : 2 * t->cap;
		struct vp_shot *grown = realloc(t->shot, more * sizeof(*grown));

		if (grown == NULL) {
			t->failed = true;
			return;
		}
		t->shot = grown;
		t->cap = more;
	}
	s = &t->shot[t->n];
	*s = (struct vp_shot){.t_ns = f->now_ns, .link = f->link, .len = (uint32_t)f->len, .data = malloc(f->len)};
	if (s->data == NULL) {
		t->failed = true;
		return;
	}
	memcpy(s->data, f->data, f->len);
	t->n++;
}

/* The newest frame with these bytes did not arrive. */
static void forget(struct vp_take *t, const struct vs_drill_frame *f)
{
	t->lost++;
	for (size_t i = t->n; i-- > 0;) {
		struct vp_shot *s = &t->shot[i];

		if (s->lost || s->len != f->len || memcmp(s->data, f->data, f->len) != 0)
			continue;
		s->lost = true;
		return;
	}
}

static void on_frame(void *ctx, const struct vs_drill_frame *f)
{
	struct vp_take *t = ctx;
	bool here = t->at != NULL && strcmp(t->at, f->node) == 0;

	t->at_seen |= here;
	if (t->failed)
		return;
	if (f->where == VS_TAP_LOST)
		forget(t, f);
	else if (t->at != NULL ? here : f->where == VS_TAP_SENT)
		keep(t, f);
}

/* ---- events ---- */

__attribute__((format(printf, 3, 4))) static void count(struct vp_take *t, enum vp_section s, const char *format, ...)
{
	struct vp_tally *y;
	char name[sizeof(y->name)];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(name, sizeof(name), format, ap);
	va_end(ap);
	for (y = t->tally[s]; y != NULL; y = y->next) {
		if (strcmp(y->name, name) == 0) {
			y->n++;
			return;
		}
	}
	y = calloc(1, sizeof(*y));
	if (y == NULL) {
		t->failed = true;
		return;
	}
	memcpy(y->name, name, sizeof(name));
	y->n = 1;
	*t->tail[s] = y;
	t->tail[s] = &y->next;
}

static void mark(struct vp_take *t, const char *text)
{
	size_t len = strlen(text) + 1;
	struct vp_mark *m = malloc(sizeof(*m) + len);

	if (m == NULL) {
		t->failed = true;
		return;
	}
	m->next = NULL;
	m->frame = t->n;
	memcpy(m->text, text, len);
	*t->last_mark = m;
	t->last_mark = &m->next;
}

static const char *string(uint64_t a)
{
	return (const char *)(uintptr_t)a;
}

static const char *reason(uint64_t a)
{
	return vs_reason_info((enum vs_reason)a)->id;
}

static uint64_t on_event(void *ctx, const struct vs_event *ev)
{
	struct vp_take *t = ctx;

	switch (ev->type) {
	case VS_EV_CQE:
		count(t, VP_COMPLETIONS, "%s %s %s", ev->node, vs_wc_opcode_name((enum vs_wc_opcode)ev->a[1]),
		      vs_wc_status_name((enum vs_wc_status)ev->a[0]));
		break;
	case VS_EV_ASYNC:
		count(t, VP_ASYNC, "%s %s", ev->node, vs_async_name((enum vs_async_type)ev->a[0]));
		break;
	case VS_EV_PKT_DROP:
	case VS_EV_UD_DROP:
		count(t, VP_DROPS, "%s %s", ev->node, reason(ev->a[0]));
		break;
	case VS_EV_RC_REFUSE:
		count(t, VP_REFUSED, "%s %s", ev->node, reason(ev->a[0]));
		break;
	case VS_EV_RC_RETRY:
		count(t, VP_RETRIES, "%s %s", ev->node, string(ev->a[1]));
		break;
	case VS_EV_CM_EVENT:
		count(t, VP_CM_EVENTS, "%s %s", ev->node, string(ev->a[1]));
		break;
	case VS_EV_RC_DUPLICATE:
		t->duplicates++;
		break;
	case VS_EV_MARK:
		mark(t, string(ev->a[0]));
		break;
	default:
		break;
	}
	return ++t->seq;
}

void vp_take_attach(struct vp_take *t, struct vs_drill_env *env)
{
	env->tap = on_frame;
	env->tap_ctx = t;
	env->sink = (struct vs_event_sink){.emit = on_event, .ctx = t, .level = VS_LEVEL_BASE};
}
