/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * judge.c - the monitor beside a run: rules of level must that a device under test broke on the wire.
 *
 * What the script's peer sends breaks rules on purpose, and is not judged.
 */
#include "conform.h"

#include <string.h>

#include "vs/icrc.h"
#include "vs/monitor.h"

struct judge {
	const struct vc_record *r;
	struct vc_violation *v;
};

static bool is_among(const char *rules, const char *id)
{
	size_t n = strlen(id);

	for (; *rules != '\0'; rules += strcspn(rules, ","), rules += *rules == ',')
		if (strncmp(rules, id, n) == 0 && (rules[n] == ',' || rules[n] == '\0'))
			return true;
	return false;
}

static void on_finding(void *ctx, const struct vs_mon_finding *f)
{
	struct judge *j = ctx;
	const struct vs_rule_info *info = vs_rule_info(f->rule);
	struct vc_violation *v = j->v;

	size_t at = strlen(v->rules);

	if (info->level != VS_RULE_MUST || f->frame == 0 || f->frame > j->r->n || !j->r->frame[f->frame - 1].ours)
		return;
	if (!is_among(v->rules, info->id))
		(void)snprintf(v->rules + at, sizeof(v->rules) - at, "%s%s", at > 0 ? "," : "", info->id);
	if (v->found)
		return;
	v->found = true;
	(void)snprintf(v->rule, sizeof(v->rule), "%s", info->id);
	(void)snprintf(v->clause, sizeof(v->clause), "%s", info->clause);
	(void)snprintf(v->text, sizeof(v->text), "frame %u: %s", f->frame, f->text);
}

void vc_judge(const struct vc_record *r, struct vc_violation *v)
{
	struct judge j = {r, v};
	const struct vs_monitor_attr attr = {.ctx = &j, .finding = on_finding};
	struct vs_monitor *m;

	*v = (struct vc_violation){.found = false};
	m = vs_monitor_new(&attr);
	for (size_t i = 0; m != NULL && i < r->n; i++) {
		const struct vc_frame *f = &r->frame[i];
		struct vs_mon_packet in = {.frame = (uint32_t)i + 1, .time_ns = (int64_t)f->t_ns};
		struct vs_mon_result out;
		struct vs_pkt pkt;

		if (vs_pkt_parse(&pkt, f->link, 0, f->data, f->len, f->len, 0) != VS_OK)
			continue;
		in.pkt = &pkt;
		in.icrc = vs_icrc_check(&pkt, f->data, NULL);
		in.vcrc = f->link == VS_LINK_IB ? vs_vcrc_check(&pkt, f->data, NULL) : VS_CRC_UNVERIFIED;
		vs_monitor_packet(m, &in, &out);
	}
	if (m != NULL)
		vs_monitor_end(m);
	vs_monitor_free(m);
}
