/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * monitor_check.c - captures that show less than others, or show it otherwise: a half alone, one direction alone,
 * frames missing, twice, in another order or the other way round, cut by a snap length, with a clock that stands still,
 * jumps or runs backwards. What is claimed of them as a broken must-rule has to be one that the whole capture shows
 * too.
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
	FIRST_HALF,
	SECOND_HALF,
	FROM_FIRST_SENDER,
	FROM_OTHERS,
	ONE_PERCENT,
	TEN_PERCENT,
	SNAPPED,
	STILL,
	BACKWARDS,
	JUMPS_BACK,
	SWAPPED,
	REVERSED,
	TWICE,
	OVERTAKEN,
	HALF_MISSING,
	VIEWS
};
static const char *const names[VIEWS] = {"whole",
					 "first half",
					 "second half",
					 "one direction",
					 "the other direction",
					 "1 % of frames missing",
					 "10 % of frames missing",
					 "snapped",
					 "clock stands still",
					 "clock runs backwards",
					 "clock jumps back",
					 "sources and destinations swapped",
					 "last frame first",
					 "every frame twice",
					 "one frame in ten overtaken",
					 "half of the frames missing"};

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
	case FIRST_HALF:
		return i < n / 2;
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
	case HALF_MISSING:
		return vs_rand(seed) % 2 != 0;
	default:
		return true;
	}
}

static int64_t time_of(enum view v, const struct vs_frame *f, size_t i, size_t n)
{
	switch (v) {
	case STILL:
		return 0;
	case BACKWARDS:
		return -f->time_ns;
	case JUMPS_BACK:
		return f->time_ns - (int64_t)(4 * i / n) * 1000000;
	default:
		return f->time_ns;
	}
}

static void swap_bytes(void *a, void *b, size_t n)
{
	uint8_t t[16];

	memcpy(t, a, n);
	memcpy(a, b, n);
	memcpy(b, t, n);
}

/* Everything goes the other way. */
static void swap_addresses(struct vs_pkt *p)
{
	swap_bytes(p->ipv4.src, p->ipv4.dst, 4);
	swap_bytes(p->grh.sgid, p->grh.dgid, 16);
	swap_bytes(&p->lrh.slid, &p->lrh.dlid, sizeof(p->lrh.slid));
}

/* The order in which frames are shown. */
static size_t *order_of(enum view v, size_t n, uint64_t *seed)
{
	size_t *order = malloc((n + 1) * sizeof(*order));

	if (order == NULL)
		exit(2);
	for (size_t i = 0; i < n; i++)
		order[i] = v == REVERSED ? n - 1 - i : i;
	for (size_t i = 0; v == OVERTAKEN && i + 1 < n; i++)
		if (vs_rand(seed) % 10 == 0) {
			const size_t t = order[i];

			order[i] = order[i + 1];
			order[++i] = t;
		}
	return order;
}

static void show(struct vs_monitor *m, enum view v, const struct vs_frame *f, struct vs_pkt *p, int64_t time_ns)
{
	struct vs_mon_packet in = {.frame = (uint32_t)f->number, .pkt = p, .time_ns = time_ns};
	struct vs_mon_result out;

	in.icrc = p->flags & VS_PKT_HAS_BTH ? vs_icrc_check(p, f->data, NULL) : VS_CRC_UNVERIFIED;
	in.vcrc = f->link == VS_LINK_IB ? vs_vcrc_check(p, f->data, NULL) : VS_CRC_UNVERIFIED;
	if (v == SWAPPED)
		swap_addresses(p);
	vs_monitor_packet(m, &in, &out);
	if (v == TWICE)
		vs_monitor_packet(m, &in, &out);
}

static void judge(const struct file *c, enum view v, uint64_t seed, struct judged *j)
{
	struct vs_monitor *m = vs_monitor_new(&(struct vs_monitor_attr){.ctx = j, .finding = on_finding});
	size_t *order = order_of(v, c->n, &seed);
	struct vs_pkt p, first;
	bool any = false;

	memset(j, 0, sizeof(*j));
	for (size_t i = 0; m != NULL && i < c->n; i++) {
		const struct vs_frame *f = &c->shot[order[i]].f;
		const uint32_t caplen = v == SNAPPED && f->caplen > SNAP ? SNAP : f->caplen;

		if (vs_pkt_parse(&p, f->link, f->ethertype, f->data, caplen, f->wirelen, 0) != VS_OK)
			continue;
		if (!any)
			first = p;
		any = true;
		if (seen(v, i, c->n, same_sender(&p, &first), &seed))
			show(m, v, f, &p, time_of(v, f, i, c->n));
	}
	free(order);
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
		if (v == SWAPPED && r == VS_RULE_SRC_MCAST) /* a group that datagrams went to */
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
		for (enum view v = FIRST_HALF; v < VIEWS; v++) {
			const bool random = v == ONE_PERCENT || v == TEN_PERCENT || v == OVERTAKEN || v == HALF_MISSING;
			const unsigned rounds = random ? ROUNDS : 1;

			for (unsigned k = 0; k < rounds; k++, views++)
				bad += compare(&c, v, 1 + k, &whole);
		}
		drop(&c);
	}
	printf("monitor_check: %u captures, %u views of them, %u false claims\n", files, views, bad);
	return files == 0 ? 2 : bad > 0;
}
