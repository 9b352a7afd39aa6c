/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* report.c - vs-trace report: options, and the report as text. */
#include "report.h"

#include <string.h>

#define CMD "report"

static int help(void)
{
	fputs("usage: vs-trace report [options] TRACE\n\n"
	      "Counts, for each queue pair: requests and how they ended, bytes, goodput, what was sent again and why, "
	      "NAKs,\n"
	      "timers, delays (median, 99th percentile, maximum), where the time went; and the findings of the "
	      "monitor.\n\n"
	      "  --json  one JSON object\n" VT_OPTIONS_HELP,
	      stdout);
	return vt_flush(CMD);
}

static uint64_t number(const json_t *j, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(j, key));
}

static const char *text(const json_t *j, const char *key)
{
	const char *t = json_string_value(json_object_get(j, key));

	return t != NULL ? t : "";
}

static void bits(uint64_t bps, char buf[32])
{
	if (bps >= 1000000000)
		(void)snprintf(buf, 32, "%.3g Gbit/s", (double)bps / 1e9);
	else if (bps >= 1000000)
		(void)snprintf(buf, 32, "%.3g Mbit/s", (double)bps / 1e6);
	else
		(void)snprintf(buf, 32, "%.3g kbit/s", (double)bps / 1e3);
}

/* "a 3, b 1" */
static void put_counts(FILE *f, json_t *j)
{
	const char *key, *sep = "";
	json_t *v;

	json_object_foreach (j, key, v) {
		fputs(sep, f);
		vs_cli_put_safe(f, key);
		fprintf(f, " %lld", (long long)json_integer_value(v));
		sep = ", ";
	}
}

static void put_delay(FILE *f, const json_t *times, const char *key, const char *what)
{
	const json_t *d = json_object_get(times, key);
	char p50[32], p99[32], max[32], sum[32];

	if (d == NULL)
		return;
	fprintf(f, "    %-34s %10s %10s %10s %12s\n", what, vt_duration_text(number(d, "p50"), p50),
		vt_duration_text(number(d, "p99"), p99), vt_duration_text(number(d, "max"), max),
		vt_duration_text(number(d, "sum"), sum));
}

static void put_times(FILE *f, const json_t *times)
{
	char t[32];

	if (json_object_size(times) > 2)
		fprintf(f, "    %-34s %10s %10s %10s %12s\n", "where the time went", "p50", "p99", "max", "sum");
	put_delay(f, times, "queued", "queued: post to first packet");
	put_delay(f, times, "sending", "sending: first to last packet");
	put_delay(f, times, "answer", "answer: last packet to its answer");
	put_delay(f, times, "completion", "in all: post to completion");
	put_delay(f, times, "unpolled", "unpolled: completion to poll");
	if (number(times, "ack_timer") != 0)
		fprintf(f, "    %-34s %43s %s\n", "waiting for the ACK timer", "",
			vt_duration_text(number(times, "ack_timer"), t));
	if (number(times, "rnr_timer") != 0)
		fprintf(f, "    %-34s %43s %s\n", "asked to wait by RNR NAKs", "",
			vt_duration_text(number(times, "rnr_timer"), t));
}

static void put_qp(FILE *f, const json_t *q)
{
	const json_t *again = json_object_get(q, "again");
	char rate[32], span[32];

	fputc('\n', f);
	vs_cli_put_safe(f, text(q, "qp"));
	if (*text(q, "peer") != '\0') {
		fputs(" to ", f);
		vs_cli_put_safe(f, text(q, "peer"));
	}
	fprintf(f, "\n    requests    %llu: %llu done, %llu failed, %llu open",
		(unsigned long long)number(q, "requests"), (unsigned long long)number(q, "completed"),
		(unsigned long long)number(q, "failed"), (unsigned long long)number(q, "open"));
	if (json_object_size(json_object_get(q, "status")) > 0) {
		fputs(" (", f);
		put_counts(f, json_object_get(q, "status"));
		fputc(')', f);
	}
	if (number(q, "receives") > 0)
		fprintf(f, "; %llu receives", (unsigned long long)number(q, "receives"));
	bits(number(q, "goodput_bps"), rate);
	fprintf(f, "\n    bytes       %llu in %s: %s\n", (unsigned long long)number(q, "bytes"),
		vt_duration_text(number(q, "span"), span), rate);
	fprintf(f, "    packets     %llu sent, %llu of them answers; %llu lost, %llu dropped at the other end\n",
		(unsigned long long)number(q, "packets"), (unsigned long long)number(q, "answers"),
		(unsigned long long)number(q, "lost"), (unsigned long long)number(q, "dropped"));
	if (number(again, "packets") > 0) {
		fprintf(f, "    sent again  %llu packets (%.1f%%), %llu bytes: ",
			(unsigned long long)number(again, "packets"),
			100 * json_real_value(json_object_get(again, "ratio")),
			(unsigned long long)number(again, "bytes"));
		put_counts(f, json_object_get(again, "why"));
		fputc('\n', f);
	}
	if (number(q, "naks") + number(q, "rnr_naks") + number(q, "timeouts") > 0)
		fprintf(f, "    was told    %llu NAKs, %llu RNR NAKs; its ACK timer ran out %llu times\n",
			(unsigned long long)number(q, "naks"), (unsigned long long)number(q, "rnr_naks"),
			(unsigned long long)number(q, "timeouts"));
	put_times(f, json_object_get(q, "times"));
}

static void report_text(const json_t *j, FILE *f)
{
	char span[32];
	const json_t *v;
	size_t i;

	vs_cli_put_safe(f, text(j, "trace"));
	fprintf(f, ": %llu events in %s\n", (unsigned long long)number(j, "events"),
		vt_duration_text(number(j, "span"), span));
	json_array_foreach (json_object_get(j, "missing"), i, v)
		fprintf(f, "(%s)\n", json_string_value(v));
	json_array_foreach (json_object_get(j, "qps"), i, v)
		put_qp(f, v);
	if (json_array_size(json_object_get(j, "findings")) > 0)
		fputs("\nFindings of the monitor\n", f);
	json_array_foreach (json_object_get(j, "findings"), i, v) {
		fprintf(f, "    %6llu  %-6s  ", (unsigned long long)number(v, "n"), text(v, "level"));
		vs_cli_put_safe(f, text(v, "rule"));
		fprintf(f, ": %s%s%s\n", text(v, "sentence"), *text(v, "clause") != '\0' ? ", " : "",
			text(v, "clause"));
	}
}

static int show(struct vt_model *m, const struct vt_options *o, bool json)
{
	json_t *j = vt_report_of(m, o);
	struct vs_cli_file out;

	if (j == NULL)
		return vt_fail(CMD, "no memory");
	if (!vt_file_open(&out, CMD, o->out)) {
		json_decref(j);
		return VT_USAGE;
	}
	if (json) {
		(void)json_dumpf(j, out.f, JSON_INDENT(1));
		fputc('\n', out.f);
	} else {
		report_text(j, out.f);
	}
	json_decref(j);
	return vs_cli_file_close(&out);
}

int vt_report(int argc, char **argv)
{
	return vt_command(CMD, argc, argv, help, show);
}
