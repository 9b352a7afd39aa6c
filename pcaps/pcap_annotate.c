/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_annotate.c - vs-pcap annotate: a copy of a capture in which the packets carry what the monitor found, as
 * comments that any Wireshark shows.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "pcap_check.h"

#define CMD "annotate"
#define MARK "Verbscope: " /* comments that begin so are ours: a second run replaces them */
#define TEXT 600

struct annotate {
	struct vp_judge judge;
	struct vs_copy *copy;
	uint64_t frames, findings; /* with comments; broken rules */
	uint64_t last;             /* the newest frame with comments */
	bool full;                 /* one had no room for all */
};

struct words {
	char text[TEXT];
	size_t len;
};

/* ---- sentences ---- */

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(w->text + w->len, sizeof(w->text) - w->len, format, ap);
	va_end(ap);
	if (n > 0)
		w->len = w->len + (size_t)n < sizeof(w->text) ? w->len + (size_t)n : sizeof(w->text) - 1;
}

static void say_cause(struct words *w, const struct vs_mon_result *r)
{
	switch (r->cause) {
	case VS_MON_CAUSE_NAK:
		say(w, ": the NAK PSN sequence error in frame %u asked for it", r->cause_frame);
		break;
	case VS_MON_CAUSE_RNR:
		say(w, ": the receiver was not ready (RNR NAK in frame %u)", r->cause_frame);
		if (r->wait_us > 0)
			say(w, ", %u us before", r->wait_us);
		break;
	case VS_MON_CAUSE_IMPLIED:
		say(w, ": the answer to a later request in frame %u implies that this one was lost", r->cause_frame);
		break;
	case VS_MON_CAUSE_TIMEOUT:
		say(w, ": nothing asked for it, so the ACK timer must have run out");
		break;
	default:
		break;
	}
}

static void say_again(struct words *w, const struct vs_mon_result *r)
{
	if (r->flags & VS_MON_READ_PART)
		say(w, "asks again for the rest of a READ");
	else
		say(w, "retransmission");
	if (r->original != 0)
		say(w, " of frame %u", r->original);
	if (r->iter > 2)
		say(w, " (transmission %u)", r->iter);
	say_cause(w, r);
	if (r->flags & VS_MON_DUPLICATE)
		say(w, "; its responder had executed it already");
}

static void say_class(struct words *w, const struct vs_mon_result *r)
{
	switch (r->class_) {
	case VS_MON_RETRANSMISSION:
		say_again(w, r);
		break;
	case VS_MON_NETWORK_DUP:
		say(w, "the same packet as frame %u, IP ID included: the network or the capture copied it",
		    r->original);
		break;
	case VS_MON_LATE:
		say(w, "late: packets behind it were there before, so it was overtaken or lost and sent again");
		break;
	case VS_MON_DUP_ACK:
		say(w, "acknowledges once more what was acknowledged");
		break;
	case VS_MON_GHOST_ACK:
		say(w, "ghost acknowledgement: it covers less than an answer before it");
		break;
	default:
		break;
	}
}

/* What this packet is to those before it; "" when there is nothing to be said. */
static void describe(struct words *w, const struct vs_mon_packet *in, const struct vs_mon_result *r)
{
	*w = (struct words){0};
	say_class(w, r);
	if (r->flags & VS_MON_GAP)
		say(w, "%sat least %u packet%s missing before it", w->len > 0 ? "; " : "", r->missing,
		    r->missing == 1 ? " is" : "s are");
	if (r->flags & VS_MON_NAK)
		say(w, "%sNAK %s for PSN 0x%06x", w->len > 0 ? "; " : "",
		    vs_nak_text(in->pkt->ext.aeth.syndrome & 0x1f), in->pkt->bth.psn);
	if (r->flags & VS_MON_RNR)
		say(w, "%sRNR NAK for PSN 0x%06x: no receive was posted, wait %s", w->len > 0 ? "; " : "",
		    in->pkt->bth.psn, vs_rnr_timer_text(in->pkt->ext.aeth.syndrome & 0x1f));
	if (w->len > 0 && r->flags & (VS_MON_NAK | VS_MON_RNR) && r->request != 0)
		say(w, ", to frame %u", r->request);
	if (r->flags & VS_MON_IMPLIED_NAK)
		say(w, "%simplies that an earlier READ or atomic was not answered", w->len > 0 ? "; " : "");
	if (r->flags & VS_MON_UNASKED)
		say(w, "%sanswers what was not seen to be asked", w->len > 0 ? "; " : "");
	if (w->len > 0 && r->flags & VS_MON_INFERRED)
		say(w, " (direction inferred)");
}

/* ---- comments ---- */

static void comment(struct annotate *a, uint64_t frame, const char *text)
{
	if (vs_copy_comment(a->copy, text) != VS_OK)
		a->full = true;
	a->frames += frame != a->last;
	a->last = frame;
}

static void on_finding(void *ctx, const struct vs_mon_finding *f)
{
	const struct vs_rule_info *i = vs_rule_info(f->rule);
	struct words w = {0};

	say(&w, "[%s] %s%s%s%s: %s", vs_rule_level_name(i->level), i->id, *i->clause ? " (" : "", i->clause,
	    *i->clause ? ")" : "", i->sentence);
	if (strcmp(f->text, i->sentence) != 0)
		say(&w, ": %s", f->text);
	((struct annotate *)ctx)->findings++;
	comment(ctx, f->frame, w.text);
}

static void on_packet(void *ctx, const struct vs_mon_packet *in, const struct vs_mon_result *r)
{
	struct words w;

	describe(&w, in, r);
	if (w.len > 0)
		comment(ctx, in->frame, w.text);
}

/* ---- the command ---- */

static int help(void)
{
	fputs("usage: vs-pcap annotate FILE -o OUT.pcapng\n\n"
	      "Copies a capture and puts what 'vs-pcap check' finds into comments on the packets, which any Wireshark\n"
	      "shows (filter: frame.comment contains \"Verbscope\"). Frames, times, and everything else that a pcapng\n"
	      "holds stay as they are; comments of an earlier run are replaced. - is standard input or output.\n\n"
	      "  -o OUT      the copy: always a pcapng\n\n"
	      "Exit code: 0 done, 1 the file is damaged (what stands before the damage is copied), 2 it can't be\n"
	      "opened or written, 127 there is no RDMA in it (it is copied).\n",
	      stdout);
	return vp_flush(CMD);
}

static void report(const struct annotate *a, const char *out)
{
	const struct vs_copy_stats s = vs_copy_stats(a->copy);

	if (s.bare > 0)
		vp_complain(CMD,
			    "%s: %" PRIu64 " frames are Simple Packet Blocks, which hold no comments: convert the "
			    "capture with editcap first to have them",
			    out, s.bare);
	if (a->full)
		vp_complain(CMD, "%s: a frame has no room for all comments", out);
}

/* VP_OK; VP_FAILED: damaged, what was read before is copied; VP_USAGE: can't be written. */
static int annotate(struct annotate *a, const char *out, char *summary, size_t size)
{
	struct vs_io_error read_err, err;
	struct vs_frame f;
	int ret;

	while ((ret = vs_copy_next(a->copy, &f, &read_err)) == 1)
		vp_judge_frame(&a->judge, &f);
	report(a, out);
	(void)snprintf(summary, size, "%" PRIu64 " frames, %" PRIu64 " with comments, %" PRIu64 " broken rules",
		       vs_copy_stats(a->copy).frames, a->frames, a->findings);
	if (vs_copy_close(a->copy, &err) != VS_OK)
		return vp_fail(CMD, "%s", err.text);
	if (ret == 0)
		return VP_OK;
	vp_complain(CMD, "%s", read_err.text);
	return VP_FAILED;
}

static int run(const char *file, const char *out)
{
	struct annotate a = {.judge = {.packet = on_packet}};
	struct vs_monitor_attr attr = {.ctx = &a, .finding = on_finding};
	struct vs_io_error err;
	char summary[120];
	int ret;

	a.judge.ctx = &a;
	a.judge.mon = vs_monitor_new(&attr);
	if (a.judge.mon == NULL)
		return vp_fail(CMD, "no memory");
	a.copy = vs_copy_open(file, out, MARK, &err);
	if (a.copy == NULL) {
		vs_monitor_free(a.judge.mon);
		return vp_fail(CMD, "%s", err.text);
	}
	ret = annotate(&a, out, summary, sizeof(summary));
	vs_monitor_free(a.judge.mon);
	if (ret == VP_USAGE)
		return ret;
	if (strcmp(out, "-") != 0)
		printf("%s\n", summary);
	if (vp_flush(CMD) != VP_OK)
		return VP_USAGE;
	return ret == VP_OK && a.judge.rdma == 0 && a.judge.broken == 0 ? VP_NOTHING : ret;
}

int vp_annotate(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'}, {"output", required_argument, NULL, 'o'}, {0}};
	const char *out = NULL;
	int opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (opt == 'o')
			out = optarg;
		else
			return opt == 'h' ? help() : vp_bad_option(CMD, argv, opt);
	}
	if (argc - optind != 1 || out == NULL)
		return vp_fail(CMD, "needs one FILE, and -o OUT.pcapng: see 'vs-pcap annotate --help'");
	return run(argv[optind], out);
}
