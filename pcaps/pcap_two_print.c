/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_two_print.c - what vs-pcap check says of two captures of the same traffic. */
#include <inttypes.h>

#include "pcap_two.h"

#define LINES 20u

static const char *name(const struct vp_two *t, unsigned side)
{
	return t->side[side].check.path;
}

static void between(const struct vp_two *t, unsigned side)
{
	const struct vp_two_side *s = &t->side[side], *o = &t->side[1 - side];

	printf("%c to %c: %" PRIu64 " packets arrived, %" PRIu64 " were lost", "AB"[side], "BA"[side], s -> delays,
	       s -> fate[VP_LOST]);
	if (s->damaged > 0)
		printf(", %" PRIu64 " damaged", s->damaged);
	if (s->overtaken > 0)
		printf(", %" PRIu64 " overtaken", s->overtaken);
	if (o->fate[VP_COPIED] > 0)
		printf(", %" PRIu64 " copied", o->fate[VP_COPIED]);
	if (o->fate[VP_MISSED] > 0)
		printf(", %" PRIu64 " not in %c, which missed them", o->fate[VP_MISSED], "AB"[side]);
	if (s->delays > 0 && t->offset_known) {
		const int64_t offset = side == 0 ? t->offset_ns : -t->offset_ns;

		printf("; %.1f to %.1f us on the way", (double)(s->delay_min_ns - offset) / 1e3,
		       (double)(s->delay_max_ns - offset) / 1e3);
	}
	putchar('\n');
}

static void lost(const struct vp_two *t, unsigned side)
{
	const struct vp_two_side *s = &t->side[side];
	uint64_t shown = 0;

	for (size_t i = 0; i < s->n && shown < LINES; i++) {
		const struct vp_two_packet *p = &s->packet[i];

		if (p->fate != VP_LOST)
			continue;
		shown++;
		printf("    frame %u of %c: %s to QP 0x%06x, PSN 0x%06x, lost on the way to %c", p->frame, "AB"[side],
		       vs_opcodes[p->opcode].name != NULL ? vs_opcodes[p->opcode].name : "reserved opcode", p->destqp,
		       p->psn, "BA"[side]);
		if (p->again != VP_NONE)
			printf("; sent again in frame %u", s->packet[p->again].frame);
		putchar('\n');
	}
	if (s->fate[VP_LOST] > shown)
		printf("    and %" PRIu64 " more\n", s->fate[VP_LOST] - shown);
}

static void clocks(const struct vp_two *t)
{
	if (!t->offset_known)
		printf("clocks: packets went one way alone, so their difference is not known (%.3f us with the way)\n",
		       (double)t->offset_ns / 1e3);
	else if (t->error_ns < 0)
		printf("clocks: B is about %.3f us ahead of A, and they ran apart by %.3f us meanwhile\n",
		       (double)t->offset_ns / 1e3, (double)-t->error_ns * 2 / 1e3);
	else
		printf("clocks: B is %.3f us ahead of A, +- %.3f us\n", (double)t->offset_ns / 1e3,
		       (double)t->error_ns / 1e3);
}

void vp_two_text(const struct vp_two *t, bool summary)
{
	for (unsigned side = 0; side < 2; side++) {
		printf("%c: ", "AB"[side]);
		vp_check_text(&t->side[side].check, summary);
		putchar('\n');
	}
	printf("A and B: %" PRIu64 " packets are in both", t->matched);
	if (t->side[0].fate[VP_OUTSIDE] + t->side[1].fate[VP_OUTSIDE] > 0)
		printf(", %" PRIu64 " from before or after the other capture",
		       t->side[0].fate[VP_OUTSIDE] + t->side[1].fate[VP_OUTSIDE]);
	putchar('\n');
	if (t->matched == 0) {
		printf("nothing is in both: these are not captures of the same traffic (%s, %s)\n", name(t, 0),
		       name(t, 1));
		return;
	}
	clocks(t);
	for (unsigned side = 0; side < 2; side++) {
		between(t, side);
		if (!summary)
			lost(t, side);
	}
}

/* ---- JSON ---- */

static void set(json_t *j, const char *key, int64_t v)
{
	json_object_set_new(j, key, json_integer((json_int_t)v));
}

static json_t *lost_json(const struct vp_two_side *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++) {
		json_t *j;

		if (s->packet[i].fate != VP_LOST)
			continue;
		j = json_object();
		set(j, "frame", s->packet[i].frame);
		set(j, "psn", s->packet[i].psn);
		if (s->packet[i].again != VP_NONE)
			set(j, "again", s->packet[s->packet[i].again].frame);
		json_array_append_new(list, j);
	}
	return list;
}

static json_t *way_json(const struct vp_two *t, unsigned side)
{
	const struct vp_two_side *s = &t->side[side], *o = &t->side[1 - side];
	json_t *j = json_object();

	set(j, "arrived", (int64_t)s->delays);
	set(j, "damaged", (int64_t)s->damaged);
	set(j, "overtaken", (int64_t)s->overtaken);
	set(j, "copied", (int64_t)o->fate[VP_COPIED]);
	set(j, "missed", (int64_t)o->fate[VP_MISSED]);
	json_object_set_new(j, "lost", lost_json(s));
	return j;
}

void vp_two_json(const struct vp_two *t)
{
	json_t *j = json_object(), *b = json_object();

	json_object_set_new(j, "a", vp_check_json(&t->side[0].check));
	json_object_set_new(j, "b", vp_check_json(&t->side[1].check));
	set(b, "matched", (int64_t)t->matched);
	if (t->offset_known) {
		set(b, "offset_ns", t->offset_ns);
		set(b, "offset_error_ns", t->error_ns);
	}
	json_object_set_new(b, "a_to_b", way_json(t, 0));
	json_object_set_new(b, "b_to_a", way_json(t, 1));
	json_object_set_new(j, "between", b);
	vp_check_json_print(j);
}
