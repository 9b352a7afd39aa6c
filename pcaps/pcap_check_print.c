/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pcap_check_print.c - what vs-pcap check says, as text and as JSON. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "pcap_check.h"

#define LINES_PER_RULE 10u
#define FLOWS_SHOWN 20u
#define NAKS 5

static const char *const nak_names[NAKS] = {"psn_sequence", "invalid_request", "remote_access", "remote_operational",
					    "other"};

/* Rules that were broken, worst first, then by the first frame. */
static unsigned by_weight(const struct vp_check *c, uint8_t order[VS_RULE_COUNT])
{
	unsigned n = 0;

	for (unsigned r = 1; r < VS_RULE_COUNT; r++) {
		unsigned at = n;

		if (c->first[r] == NULL)
			continue;
		for (; at > 0; at--) {
			const unsigned o = order[at - 1];
			const enum vs_rule_level a = vs_rule_info((enum vs_rule)o)->level,
						 b = vs_rule_info((enum vs_rule)r)->level;

			if (a > b || (a == b && c->first[o]->frame <= c->first[r]->frame))
				break;
			order[at] = order[at - 1];
		}
		order[at] = (uint8_t)r;
		n++;
	}
	return n;
}

/* ---- text ---- */

static void line(const char *what, uint64_t n)
{
	if (n > 0)
		printf("  %-24s %" PRIu64 "\n", what, n);
}

static void print_counts(const struct vp_check *c)
{
	static const char *const causes[] = {NULL, "  asked for by a NAK", "  after an RNR NAK",
					     "  implied by an answer", "  by the ACK timer"};
	const struct vs_mon_totals *t = vs_monitor_totals(c->judge.mon);
	uint64_t sent_again = 0;
	char text[64];

	line("super-packets", c->judge.supers);
	line("bad ICRC", t->icrc_bad);
	line("retransmissions", t->retransmissions);
	/* of requests, with those whose first transmission is not in the capture: so of their own */
	for (unsigned i = 1; i < sizeof(causes) / sizeof(causes[0]); i++)
		sent_again += t->cause[i];
	line("requests sent again", sent_again);
	for (unsigned i = 1; i < sizeof(causes) / sizeof(causes[0]); i++)
		line(causes[i], t->cause[i]);
	line("network duplicates", t->network_duplicates);
	line("duplicate requests", t->duplicates);
	line("gaps", t->gaps);
	line("late", t->late);
	for (unsigned i = 0; i < NAKS; i++) {
		snprintf(text, sizeof(text), "NAK %s", i < 4 ? vs_nak_text((uint8_t)i) : "of another kind");
		line(text, t->naks[i]);
	}
	line("RNR NAKs", t->rnr_naks);
	line("implied NAKs", t->implied_naks);
	line("ghost acknowledgements", t->ghost_acks);
	line("CNPs", t->cnps);
	line("unacknowledged", t->unacknowledged);
	line("bytes useful", t->useful);
	line("bytes wasted", t->wasted);
}

static void print_path(const char *path)
{
	for (const char *s = path; *s; s++)
		putchar((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s);
}

static void print_rule(const struct vp_check *c, enum vs_rule r, bool summary)
{
	const struct vs_rule_info *i = vs_rule_info(r);
	const uint64_t n = vs_monitor_totals(c->judge.mon)->by_rule[r];
	unsigned shown = 0;

	printf("%s  %s%s%s%s: %s\n", vs_rule_level_name(i->level), i->id, *i->clause ? " (" : "", i->clause,
	       *i->clause ? ")" : "", i->sentence);
	if (summary) {
		printf("    %" PRIu64 " time%s, first in frame %u\n", n, n == 1 ? "" : "s", c->first[r]->frame);
		return;
	}
	for (const struct vp_finding *f = c->first[r]; f != NULL && shown < LINES_PER_RULE; f = f->next, shown++)
		if (strcmp(f->text, i->sentence) == 0)
			printf("    frame %u\n", f->frame);
		else
			printf("    frame %u: %s\n", f->frame, f->text);
	if (n > shown)
		printf("    and %" PRIu64 " more\n", n - shown);
}

static bool print_flow(void *ctx, const struct vs_mon_flow_info *f)
{
	unsigned *left = ctx;
	char src[VP_ADDR_TEXT], dst[VP_ADDR_TEXT];
	struct vp_addr a = {.kind = f->addr_len == 4 ? VP_ADDR_IPV4 : f->addr_len == 2 ? VP_ADDR_LID : VP_ADDR_IPV6};
	struct vp_addr b = a;

	if (*left == 0)
		return false;
	--*left;
	memcpy(a.b, f->src, sizeof(a.b));
	memcpy(b.b, f->dst, sizeof(b.b));
	printf("  stream %u: %s -> %s QP 0x%06x: %" PRIu64 " packets, %" PRIu64 " bytes", f->stream,
	       vp_addr_text(&a, src), vp_addr_text(&b, dst), f->destqp, f->packets, f->bytes);
	if (f->mtu > 0)
		printf(", MTU %u", f->mtu);
	if (f->retransmissions > 0)
		printf(", %" PRIu64 " repeats", f->retransmissions);
	if (f->rtts > 0)
		printf(", RTT %.1f/%.1f/%.1f us", (double)f->rtt_min_ns / 1e3,
		       (double)f->rtt_sum_ns / (double)f->rtts / 1e3, (double)f->rtt_max_ns / 1e3);
	if (f->rnr_waits > 0)
		printf(", %" PRIu64 " RNR waits, %.3f ms", f->rnr_waits, (double)f->rnr_wait_ns / 1e6);
	if (f->outstanding > 0)
		printf(", %u unacknowledged", f->outstanding);
	puts(f->inferred ? " (direction inferred)" : "");
	return true;
}

void vp_check_text(const struct vp_check *c, bool summary)
{
	const struct vs_mon_totals *t = vs_monitor_totals(c->judge.mon);
	uint8_t order[VS_RULE_COUNT];
	const unsigned n = by_weight(c, order);
	unsigned left = FLOWS_SHOWN;

	print_path(c->path);
	printf(": %" PRIu64 " frames, %" PRIu64 " RDMA packets, %" PRIu64 " flow%s\n", c->judge.frames, c->judge.rdma,
	       t->flows, t->flows == 1 ? "" : "s");
	line("other traffic", c->judge.other);
	line("snapped", c->judge.snapped);
	line("too short", c->judge.broken);
	line("verbs events", t->events);
	print_counts(c);
	if (summary)
		vs_monitor_flows(c->judge.mon, print_flow, &left);
	if (n > 0)
		putchar('\n');
	for (unsigned i = 0; i < n; i++)
		print_rule(c, (enum vs_rule)order[i], summary);
	printf("%s%" PRIu64 " must, %" PRIu64 " should, %" PRIu64 " note\n", n > 0 ? "\n" : "", t->broken[VS_RULE_MUST],
	       t->broken[VS_RULE_SHOULD], t->broken[VS_RULE_NOTE]);
}

static const char *class_name(const struct vs_mon_result *r)
{
	static const char *const names[] = {
		"", "", "late", "retransmission", "copy of the network", "answer", "answer again", "ghost answer"};

	return names[r->class_];
}

static void print_cause(const struct vs_mon_result *r)
{
	static const char *const names[] = {"", "NAK PSN sequence error", "RNR NAK", "answer to a later request",
					    "ACK timer"};

	if (r->cause == VS_MON_CAUSE_NONE)
		return;
	printf(" (%s", names[r->cause]);
	if (r->cause_frame != 0)
		printf(", frame %u", r->cause_frame);
	if (r->cause == VS_MON_CAUSE_RNR && r->wait_us > 0)
		printf(", after %u us", r->wait_us);
	putchar(')');
}

void vp_check_packet(const struct vs_mon_packet *in, const struct vs_mon_result *r)
{
	const struct vs_bth *b = &in->pkt->bth;

	printf("%6u  stream %u  QP 0x%06x  PSN 0x%06x  %s", in->frame, r->stream, b->destqp, b->psn,
	       vs_opcodes[b->opcode].name != NULL ? vs_opcodes[b->opcode].name : "reserved opcode");
	if (r->flags & VS_MON_GAP)
		printf("  [%u missing before]", r->missing);
	if (*class_name(r))
		printf("  [%s", class_name(r));
	if (r->original != 0)
		printf(" of frame %u", r->original);
	if (r->request != 0)
		printf(" to frame %u", r->request);
	print_cause(r);
	if (*class_name(r))
		putchar(']');
	if (r->flags & (VS_MON_NAK | VS_MON_RNR))
		printf("  %s", r->flags & VS_MON_RNR ? "RNR NAK" : vs_nak_text(in->pkt->ext.aeth.syndrome & 0x1f));
	if (r->flags & VS_MON_RTT)
		printf("  RTT %.1f us", (double)r->rtt_ns / 1e3);
	if (r->outstanding > 0)
		printf("  %u outstanding", r->outstanding);
	for (unsigned i = 0; i < r->rules && i < VS_MON_RULES; i++)
		printf("  <%s>", vs_rule_info((enum vs_rule)r->rule[i])->id);
	putchar('\n');
}

void vp_check_progress(const struct vp_check *c, bool last)
{
	const struct vs_mon_totals *t = vs_monitor_totals(c->judge.mon);

	if (last) {
		fputs("\r\033[K", stderr);
		return;
	}
	fprintf(stderr,
		"\r\033[K%" PRIu64 " frames, %" PRIu64 " flows, %" PRIu64 " retransmissions, %" PRIu64 " must, %" PRIu64
		" should",
		c->judge.frames, t->flows, t->retransmissions, t->broken[VS_RULE_MUST], t->broken[VS_RULE_SHOULD]);
	fflush(stderr);
}

/* ---- JSON ---- */

static void set(json_t *j, const char *key, uint64_t v)
{
	json_object_set_new(j, key, json_integer((json_int_t)v));
}

static json_t *violations(const struct vp_check *c)
{
	json_t *list = json_array();
	uint8_t order[VS_RULE_COUNT];
	const unsigned n = by_weight(c, order);

	for (unsigned i = 0; i < n; i++) {
		const struct vs_rule_info *info = vs_rule_info((enum vs_rule)order[i]);

		for (const struct vp_finding *f = c->first[order[i]]; f != NULL; f = f->next) {
			json_t *j = json_object();

			json_object_set_new(j, "rule", json_string(info->id));
			json_object_set_new(j, "level", json_string(vs_rule_level_name(info->level)));
			set(j, "frame", f->frame);
			json_object_set_new(j, "text", json_string(f->text));
			json_array_append_new(list, j);
		}
	}
	return list;
}

json_t *vp_check_json(const struct vp_check *c)
{
	const struct vs_mon_totals *t = vs_monitor_totals(c->judge.mon);
	json_t *j = json_object(), *naks = json_object();

	set(j, "packets", c->judge.frames);
	set(j, "roce_packets", c->judge.rdma);
	set(j, "icrc_bad", t->icrc_bad);
	set(j, "flows", t->flows);
	set(j, "retransmissions", t->retransmissions);
	set(j, "duplicates", t->duplicates);
	set(j, "gaps", t->gaps);
	set(j, "network_duplicates", t->network_duplicates);
	for (unsigned i = 0; i < NAKS; i++)
		set(naks, nak_names[i], t->naks[i]);
	json_object_set_new(j, "naks", naks);
	set(j, "rnr_naks", t->rnr_naks);
	set(j, "cnps", t->cnps);
	json_object_set_new(j, "violations", violations(c));
	return j;
}

void vp_check_json_print(json_t *j)
{
	json_dumpf(j, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(j);
}
