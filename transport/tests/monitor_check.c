/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * monitor_check.c - captures that show less than others: the second half alone, one direction alone, frames missing,
 * cut by a snap length, with a clock that stands still or runs backwards. What is claimed of them as a broken must-rule
 * has to be one that the whole capture shows too.
 *
 *   monitor_check FILE...
 *
 * Left out are captures that hold what no connection sends: other traffic that begins like RDMA, damaged frames (cut by
 * a snap length, nobody can tell), super-packets, and several connections with the same QP numbers and PSNs.
 *
 * Exit 0: no false claim. 1: one, and which. 2: a file can't be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "vs/icrc.h"
#include "vs/monitor.h"
#include "vs/pktio.h"

#define ROUNDS 20
#define SNAP 60u

enum view {
	WHOLE,
	SECOND_HALF,
	FROM_FIRST_SENDER,
	FROM_OTHERS,
	ONE_PERCENT,
	TEN_PERCENT,
	SNAPPED,
	STILL,
	BACKWARDS,
	VIEWS
};
static const char *const names[VIEWS] = {"whole",
					 "second half",
					 "one direction",
					 "the other direction",
					 "1 % of frames missing",
					 "10 % of frames missing",
					 "snapped",
					 "clock stands still",
					 "clock runs backwards"};

struct shot {
	struct vs_frame f;
	uint8_t *data;
};

struct file {
	const char *path;
	struct shot *shot;
	size_t n, cap;
};

struct judged {
	uint64_t found[VS_RULE_COUNT];
	char text[VS_RULE_COUNT][200];
};

static void on_finding(void *ctx, const struct vs_mon_finding *f)
{
	struct judged *j = ctx;

	if (j->found[f->rule]++ == 0)
		(void)snprintf(j->text[f->rule], sizeof(j->text[0]), "frame %u: %s", f->frame, f->text);
}

static void keep(struct file *c, const struct vs_frame *f)
{
	struct shot *s;

	if (c->n == c->cap) {
		c->cap = c->cap == 0 ? 1024 : 2 * c->cap;
		c->shot = realloc(c->shot, c->cap * sizeof(*c->shot));
		if (c->shot == NULL)
			exit(2);
	}
	s = &c->shot[c->n++];
	s->f = *f;
	s->data = malloc(f->caplen + 1);
	if (s->data == NULL)
		exit(2);
	memcpy(s->data, f->data, f->caplen);
	s->f.data = s->data;
}

static void load(struct file *c, const char *path)
{
	struct vs_io_error err;
	struct vs_capture *r = vs_capture_open(path, &err);
	struct vs_frame f;
	int ret = -1;

	*c = (struct file){.path = path};
	while (r != NULL && (ret = vs_capture_next(r, &f, &err)) == 1)
		keep(c, &f);
	vs_capture_close(r);
	if (ret != 0) {
		fprintf(stderr, "monitor_check: %s\n", err.text);
		exit(2);
	}
}

static void drop(struct file *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->shot[i].data);
	free(c->shot);
}

static bool same_sender(const struct vs_pkt *a, const struct vs_pkt *b)
{
	return memcmp(a->ipv4.src, b->ipv4.src, 4) == 0 && memcmp(a->grh.sgid, b->grh.sgid, 16) == 0 &&
	       a->lrh.slid == b->lrh.slid;
}

static bool seen(enum view v, size_t i, size_t n, bool first_sender, uint64_t *seed)
{
	switch (v) {
	case SECOND_HALF:
		return i >= n / 2;
	case FROM_FIRST_SENDER:
		return first_sender;
	case FROM_OTHERS:
		return !first_sender;
	case ONE_PERCENT:
		return vs_rand(seed) % 100 != 0;
	case TEN_PERCENT:
		return vs_rand(seed) % 10 != 0;
	default:
		return true;
	}
}

static void judge(const struct file *c, enum view v, uint64_t seed, struct judged *j)
{
	struct vs_monitor *m = vs_monitor_new(&(struct vs_monitor_attr){.ctx = j, .finding = on_finding});
	struct vs_pkt p, first;
	bool any = false;

	memset(j, 0, sizeof(*j));
	for (size_t i = 0; m != NULL && i < c->n; i++) {
		const struct vs_frame *f = &c->shot[i].f;
		const uint32_t caplen = v == SNAPPED && f->caplen > SNAP ? SNAP : f->caplen;
		struct vs_mon_packet in = {.frame = (uint32_t)f->number, .pkt = &p};
		struct vs_mon_result out;

		if (vs_pkt_parse(&p, f->link, f->ethertype, f->data, caplen, f->wirelen, 0) != VS_OK)
			continue;
		if (!any)
			first = p;
		any = true;
		if (!seen(v, i, c->n, same_sender(&p, &first), &seed))
			continue;
		in.time_ns = v == STILL ? 0 : v == BACKWARDS ? -f->time_ns : f->time_ns;
		in.icrc = p.flags & VS_PKT_HAS_BTH ? vs_icrc_check(&p, f->data, NULL) : VS_CRC_UNVERIFIED;
		in.vcrc = f->link == VS_LINK_IB ? vs_vcrc_check(&p, f->data, NULL) : VS_CRC_UNVERIFIED;
		vs_monitor_packet(m, &in, &out);
	}
	vs_monitor_free(m);
}

static bool left_out(const char *path)
{
	static const char *const list[] = {"foreign", "mirror", "malformed-crc", "gso", "rocev1"};
	const char *name = strrchr(path, '/');

	for (size_t i = 0; name != NULL && i < sizeof(list) / sizeof(list[0]); i++)
		if (strncmp(name + 1, list[i], strlen(list[i])) == 0 &&
		    strcmp(name + 1 + strlen(list[i]), ".pcap") == 0)
			return true;
	return false;
}

static unsigned compare(const struct file *c, enum view v, uint64_t seed, const struct judged *whole)
{
	static struct judged part;
	unsigned bad = 0;

	judge(c, v, seed, &part);
	for (unsigned r = 1; r < VS_RULE_COUNT; r++) {
		if (part.found[r] == 0 || whole->found[r] > 0 || vs_rule_info((enum vs_rule)r)->level != VS_RULE_MUST)
			continue;
		fprintf(stderr, "%s, %s, seed %llu: %s: %s\n", c->path, names[v], (unsigned long long)seed,
			vs_rule_info((enum vs_rule)r)->id, part.text[r]);
		bad++;
	}
	return bad;
}

int main(int argc, char **argv)
{
	static struct judged whole;
	unsigned bad = 0, files = 0, views = 0;

	for (int i = 1; i < argc; i++) {
		struct file c;

		if (left_out(argv[i]))
			continue;
		files++;
		load(&c, argv[i]);
		judge(&c, WHOLE, 1, &whole);
		for (enum view v = SECOND_HALF; v < VIEWS; v++) {
			const unsigned rounds = v == ONE_PERCENT || v == TEN_PERCENT ? ROUNDS : 1;

			for (unsigned k = 0; k < rounds; k++, views++)
				bad += compare(&c, v, 1 + k, &whole);
		}
		drop(&c);
	}
	printf("monitor_check: %u captures, %u views of them, %u false claims\n", files, views, bad);
	return files == 0 ? 2 : bad > 0;
}
