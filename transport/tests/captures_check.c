/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * captures_check.c - real traffic through the codec, frame by frame:
 *   captures_check --expected FILE FOLDER...
 *
 * For every RDMA frame of every capture: build(parse(frame)) gives the same bytes, parse of these
 * gives an equal packet, the CRCs are checked, the rules are asked, and where a decode in words lies
 * beside the capture our parse must say the same (captures_txt.h). Then the totals are compared with
 * FILE, which has one line per capture:
 *   folder/name  rdma other  icrc-good icrc-bad icrc-unverified  vcrc-good vcrc-bad  [rule=count ...]
 * A capture that is not listed must have good CRCs only, snapped frames excepted, and no broken rule
 * that is an error. A listed one that is missing from a folder is a failure.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "captures_txt.h"
#include "vs/icrc.h"
#include "vs/pktio.h"

#define MAX_FILES 512
#define RULES_LEN 256

struct totals {
	unsigned rdma, other;
	unsigned icrc[3], vcrc[3]; /* by enum vs_crc_status */
	char rules[RULES_LEN];     /* " id=count" for each, in the order of reasons.def */
};

struct expected {
	char name[128]; /* folder/name */
	struct totals t;
	bool seen;
};

static struct expected expected[MAX_FILES];
static unsigned expected_count, failures, files_done, lines_compared, without_txt;
static char no_txt[2048];

static void print_totals(const char *head, const struct totals *t)
{
	printf("  %s rdma %u, other %u, icrc good %u bad %u unverified %u, vcrc good %u bad %u, rules%s\n", head,
	       t->rdma, t->other, t->icrc[VS_CRC_GOOD], t->icrc[VS_CRC_BAD], t->icrc[VS_CRC_UNVERIFIED],
	       t->vcrc[VS_CRC_GOOD], t->vcrc[VS_CRC_BAD], t->rules[0] ? t->rules : " none");
}

/* ---- the list ---- */

static int load_expected(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[512];

	if (!f) {
		fprintf(stderr, "captures_check: %s can't be opened: check the path after --expected\n", path);
		return -1;
	}
	for (unsigned n = 1; fgets(line, sizeof(line), f); n++) {
		struct expected *e = &expected[expected_count];
		int off = 0;

		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (expected_count == MAX_FILES ||
		    sscanf(line, "%127s %u %u %u %u %u %u %u%n", e->name, &e->t.rdma, &e->t.other,
			   &e->t.icrc[VS_CRC_GOOD], &e->t.icrc[VS_CRC_BAD], &e->t.icrc[VS_CRC_UNVERIFIED],
			   &e->t.vcrc[VS_CRC_GOOD], &e->t.vcrc[VS_CRC_BAD], &off) != 8) {
			fprintf(stderr, "captures_check: %s:%u: not a name and seven numbers\n", path, n);
			fclose(f);
			return -1;
		}
		for (char *word = strtok(line + off, " \t\n"); word; word = strtok(NULL, " \t\n"))
			if (strlen(e->t.rules) + strlen(word) + 2 < RULES_LEN)
				strcat(strcat(e->t.rules, " "), word);
		expected_count++;
	}
	fclose(f);
	return 0;
}

static struct expected *find_expected(const char *name)
{
	for (unsigned i = 0; i < expected_count; i++)
		if (strcmp(expected[i].name, name) == 0)
			return &expected[i];
	return NULL;
}

static void compare_totals(const char *name, const struct totals *t, const struct vs_capture_stats *st, unsigned errors)
{
	struct expected *e = find_expected(name);

	if (e) {
		e->seen = true;
		if (t->rdma == e->t.rdma && t->other == e->t.other &&
		    memcmp(t->icrc, e->t.icrc, sizeof(t->icrc)) == 0 &&
		    t->vcrc[VS_CRC_GOOD] == e->t.vcrc[VS_CRC_GOOD] && t->vcrc[VS_CRC_BAD] == e->t.vcrc[VS_CRC_BAD] &&
		    strcmp(t->rules, e->t.rules) == 0)
			return;
		printf("%s: not as expected\n", name);
		print_totals("expected", &e->t);
		print_totals("found   ", t);
		failures++;
		return;
	}
	if (t->icrc[VS_CRC_BAD] || t->vcrc[VS_CRC_BAD] || t->icrc[VS_CRC_UNVERIFIED] > st->snapped || errors) {
		printf("%s: not listed, and not all good\n", name);
		print_totals("found", t);
		failures++;
	}
}

/* ---- one frame ---- */

static void complain(const char *name, const struct vs_frame *f, const char *what)
{
	printf("%s: frame %" PRIu64 ": %s\n", name, f->number, what);
	failures++;
}

/* The bytes that were parsed, from the struct alone; and the struct again from these. */
static void check_round_trip(const char *name, const struct vs_frame *f, const struct vs_pkt *p)
{
	static uint8_t b[1 << 18];
	uint32_t from = p->flags & VS_PKT_HAS_ETH ? 0 : p->net_off;
	int n = vs_pkt_build(p, b, sizeof(b));
	struct vs_pkt again;

	if (n < 0 || (uint32_t)n != f->caplen - from || memcmp(b, f->data + from, (size_t)n) != 0) {
		complain(name, f, "build(parse(frame)) is not the frame");
		return;
	}
	if (from != 0)
		return; /* behind a cooked header the first byte is another one */
	if (vs_pkt_parse(&again, f->link, f->ethertype, b, (size_t)n, f->wirelen, 0) != 0 || !vs_pkt_equal(p, &again))
		complain(name, f, "parse(build(packet)) is not the packet");
}

struct rules {
	unsigned count[VS_REASON_COUNT];
	unsigned errors; /* rules that no conforming device breaks */
};

static void check_frame(const char *name, const struct vs_frame *f, const struct vs_pkt *p, struct totals *t,
			struct rules *r, struct txt *txt)
{
	enum vs_crc_status icrc = vs_icrc_check(p, f->data, NULL), vcrc = vs_vcrc_check(p, f->data, NULL);
	enum vs_reason broken[VS_REASON_COUNT];
	size_t n = vs_pkt_validate(p, icrc, vcrc, broken, VS_REASON_COUNT);

	check_round_trip(name, f, p);
	t->rdma++;
	t->icrc[icrc]++;
	if (p->encap == VS_ENCAP_IB || p->encap == VS_ENCAP_IB_GRH || p->encap == VS_ENCAP_IB_RAW)
		t->vcrc[vcrc]++; /* nobody else has one */
	for (size_t i = 0; i < n; i++) {
		r->count[broken[i]]++;
		r->errors += vs_reason_info(broken[i])->severity == VS_SEV_ERROR;
	}
	if (icrc == VS_CRC_UNVERIFIED && !(p->flags & VS_PKT_SNAPPED) && p->flags & VS_PKT_HAS_BTH)
		complain(name, f, "whole, and yet its ICRC is not verified");
	if (icrc == VS_CRC_GOOD && p->flags & VS_PKT_SNAPPED)
		complain(name, f, "cut, and yet its ICRC is good");
	if (txt && !txt_compare(txt, f, p, icrc))
		failures++;
}

/* ---- one file ---- */

static void format_rules(struct totals *t, const struct rules *r)
{
	size_t len = 0;

	for (unsigned i = 0; i < VS_REASON_COUNT; i++)
		if (r->count[i] && len < RULES_LEN)
			len += (size_t)snprintf(t->rules + len, RULES_LEN - len, " %s=%u",
						vs_reason_info((enum vs_reason)i)->id, r->count[i]);
}

/* The last two parts of a path: rxe/rc_send_v4.pcap. */
static const char *short_name(const char *path)
{
	const char *p = path + strlen(path);

	for (int slashes = 0; p > path; p--)
		if (p[-1] == '/' && ++slashes == 2)
			break;
	return p;
}

static void print_row(const char *name, const struct vs_capture_stats *st, const struct totals *t,
		      const struct txt *txt)
{
	char decode[16] = "-";

	if (txt)
		snprintf(decode, sizeof(decode), "%u", txt_compared(txt));
	printf("%-42s %6" PRIu64 " %5" PRIu64 " %5" PRIu64 " %5" PRIu64 " %5" PRIu64
	       " %6u %4u %5u %5u %4u %5u %6s %s\n",
	       name, st->frames, st->rdma, st->other, st->broken, st->snapped, t->icrc[VS_CRC_GOOD],
	       t->icrc[VS_CRC_BAD], t->icrc[VS_CRC_UNVERIFIED], t->vcrc[VS_CRC_GOOD], t->vcrc[VS_CRC_BAD],
	       t->vcrc[VS_CRC_UNVERIFIED], decode, t->rules[0] ? t->rules + 1 : "");
}

static void check_file(const char *path)
{
	const char *name = short_name(path);
	struct totals t = {0};
	struct rules r = {0};
	struct vs_capture_stats st;
	struct vs_io_error err;
	struct vs_capture *c = vs_capture_open(path, &err);
	struct txt *txt;
	struct vs_frame f;
	struct vs_pkt p;
	int ret;

	files_done++;
	if (!c) {
		printf("%s\n", err.text);
		failures++;
		return;
	}
	txt = txt_open(path);
	while ((ret = vs_capture_next_pkt(c, &f, &p, 0, &err)) == 1)
		check_frame(name, &f, &p, &t, &r, txt);
	if (ret < 0) {
		printf("%s\n", err.text);
		failures++;
	}
	st = vs_capture_stats(c);
	t.other = (unsigned)st.other;
	format_rules(&t, &r);
	print_row(name, &st, &t, txt);
	lines_compared += txt_compared(txt);
	if (!txt) {
		without_txt++;
		snprintf(no_txt + strlen(no_txt), sizeof(no_txt) - strlen(no_txt), " %s", name);
	}
	failures += !txt_close(txt);
	compare_totals(name, &t, &st, r.errors);
	vs_capture_close(c);
}

/* ---- folders ---- */

static int is_capture(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return dot && (strcmp(dot, ".pcap") == 0 || strcmp(dot, ".pcapng") == 0 || strcmp(dot, ".gz") == 0);
}

/* A decode beside no capture: its scenario sent no packet. */
static void report_lone_txt(const char *folder)
{
	struct dirent **list;
	int n = scandir(folder, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char path[512];
		size_t len = strlen(list[i]->d_name);
		FILE *f;

		if (len > 4 && strcmp(list[i]->d_name + len - 4, ".txt") == 0) {
			snprintf(path, sizeof(path), "%s/%.*s.pcap", folder, (int)len - 4, list[i]->d_name);
			f = fopen(path, "rb");
			if (f)
				fclose(f);
			else
				printf("%s/%s: can't be compared, no capture lies beside it\n", folder,
				       list[i]->d_name);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

static void check_folder(const char *folder)
{
	struct dirent **list;
	int n = scandir(folder, &list, is_capture, alphasort);
	const char *base = strrchr(folder, '/');
	size_t len;

	if (n < 0) {
		printf("%s: can't be read: name a folder with captures in it\n", folder);
		failures++;
		return;
	}
	for (int i = 0; i < n; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
		check_file(path);
		free(list[i]);
	}
	free(list);
	report_lone_txt(folder);
	base = base ? base + 1 : folder;
	len = strlen(base);
	for (unsigned i = 0; i < expected_count; i++)
		if (strncmp(expected[i].name, base, len) == 0 && expected[i].name[len] == '/' && !expected[i].seen) {
			printf("%s: listed, and not there\n", expected[i].name);
			failures++;
		}
}

int main(int argc, char **argv)
{
	if (argc < 4 || strcmp(argv[1], "--expected") != 0) {
		fprintf(stderr, "usage: captures_check --expected FILE FOLDER...\n");
		return 2;
	}
	if (load_expected(argv[2]) != 0)
		return 2;
	printf("%-42s %6s %5s %5s %5s %5s %6s %4s %5s %5s %4s %5s %6s %s\n", "", "", "", "", "", "", "icrc", "",
	       "unver-", "vcrc", "", "unver-", "lines", "");
	printf("%-42s %6s %5s %5s %5s %5s %6s %4s %5s %5s %4s %5s %6s %s\n", "capture", "frames", "rdma", "other",
	       "short", "snap", "good", "bad", "ified", "good", "bad", "ified", "equal", "rules");
	for (int i = 3; i < argc; i++)
		check_folder(argv[i]);
	if (without_txt)
		printf("no decode lies beside:%s\n", no_txt);
	printf("%u captures, %u lines of decode compared, %u failures\n", files_done, lines_compared, failures);
	return failures ? 1 : 0;
}
