/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * soak_monitor.c - the monitor watches a run of sim_soak. The engine keeps the rules, so a must-rule that is claimed to
 * be broken is a false claim: where all frames are seen as they are sent, at each host, and at each host by captures
 * that miss one frame in a hundred or a whole direction. Where a run has events, they are held against its packets.
 */
#include <stdlib.h>
#include <string.h>

#include "soak.h"
#include "vs/icrc.h"
#include "vs/monitor.h"

enum { ALL_SENT, AT_HOSTS, FRAMES_MISSING, ONE_DIRECTION, VIEWS };
static const char *const view_names[VIEWS] = {"all frames as they are sent", "at each host", "1 % of frames missing",
					      "what arrives alone"};

struct judge {
	struct soak *s;
	struct vs_monitor *mon[VIEWS];
	struct dice dice;
	uint32_t frame;
	uint64_t now_ns;
	int view; /* that is being fed */
};

static uint64_t found[VIEWS][VS_RULE_COUNT];

static void on_finding(void *ctx, const struct vs_mon_finding *f)
{
	struct judge *j = ctx;

	found[j->view][f->rule]++;
	if (j->s->opt.verbose && j->view == ALL_SENT)
		printf("  frame %u (%u): %s: %s\n", f->frame, f->other, vs_rule_info(f->rule)->id, f->text);
	/* the events of a run are all there, and so are its packets: what is held against them is a fault */
	if (f->rule >= VS_RULE_COMPLETION_STATUS && j->s->opt.deviations == 0)
		violated(j->s, "monitor: events: %s: %s", vs_rule_info(f->rule)->id, f->text);
	/* damage on the way is nobody's fault; with a defect in the devices, findings are what is wanted */
	if (vs_rule_info(f->rule)->level != VS_RULE_MUST || f->rule == VS_RULE_ICRC_BAD ||
	    f->rule == VS_RULE_VCRC_BAD || j->s->opt.deviations != 0)
		return;
	violated(j->s, "monitor (%s): frame %u: %s: %s", view_names[j->view], f->frame, vs_rule_info(f->rule)->id,
		 f->text);
}

static void feed(struct judge *j, int view, struct vs_mon_packet *in)
{
	struct vs_mon_result out;

	j->view = view;
	vs_monitor_packet(j->mon[view], in, &out);
}

static void on_frame(void *ctx, uint64_t now_ns, int node, enum vs_tap_where where, enum vs_link link,
		     const uint8_t *frame, size_t len)
{
	struct soak *s = ctx;
	struct judge *j = s->judge;
	struct vs_mon_packet in = {.frame = ++j->frame, .time_ns = (int64_t)now_ns, .vcrc = VS_CRC_UNVERIFIED};
	struct vs_pkt p;

	if (where == VS_TAP_LOST || vs_pkt_parse(&p, link, 0, frame, len, len, 0) != VS_OK)
		return;
	in.pkt = &p;
	in.icrc = p.flags & VS_PKT_HAS_BTH ? vs_icrc_check(&p, frame, NULL) : VS_CRC_UNVERIFIED;
	if (where == VS_TAP_SENT)
		feed(j, ALL_SENT, &in);
	in.vantage = (uint8_t)node;
	feed(j, AT_HOSTS, &in);
	if (!percent(&j->dice, 1))
		feed(j, FRAMES_MISSING, &in);
	if (where == VS_TAP_RECEIVED)
		feed(j, ONE_DIRECTION, &in);
}

void monitor_begin(struct soak *s)
{
	struct judge *j;

	if (!s->opt.monitor)
		return;
	s->judge = j = calloc(1, sizeof(*j));
	REQUIRE(s, j != NULL, "no memory");
	j->s = s;
	j->dice.state = s->opt.seed;
	for (int v = 0; v < VIEWS; v++) {
		j->mon[v] = vs_monitor_new(&(struct vs_monitor_attr){.ctx = j, .finding = on_finding});
		REQUIRE(s, j->mon[v] != NULL, "no memory");
	}
	vs_sim_set_tap(s->sim, on_frame, s);
}

void monitor_event(struct soak *s, const struct vs_event *ev)
{
	if (s->judge != NULL)
		vs_monitor_event(s->judge->mon[ALL_SENT], ev);
}

void monitor_judge(struct soak *s)
{
	if (s->judge == NULL)
		return;
	s->judge->view = ALL_SENT;
	vs_monitor_end(s->judge->mon[ALL_SENT]);
}

void monitor_end(struct soak *s)
{
	if (s->judge == NULL)
		return;
	for (int v = 0; v < VIEWS; v++)
		vs_monitor_free(s->judge->mon[v]);
	free(s->judge);
	s->judge = NULL;
}

void monitor_report(FILE *f)
{
	for (int v = 0; v < VIEWS; v++) {
		fprintf(f, "  monitor, %s:", view_names[v]);
		for (unsigned r = 1; r < VS_RULE_COUNT; r++)
			if (found[v][r] > 0)
				fprintf(f, " %s %llu", vs_rule_info((enum vs_rule)r)->id,
					(unsigned long long)found[v][r]);
		fputc('\n', f);
	}
}
