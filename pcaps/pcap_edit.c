/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_edit.c - vs-pcap edit: faults (vs/fault.h), rewriting, ICRC repair and splitting of a capture.
 *
 * What a rule matches is the packet as it is in the file. Then, in this order: rewriting and ICRC repair (what a
 * sender would have done), mark and damage (what a wire does), copies, and where the packet goes in time
 * (pcap_late.c).
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pcap_common.h"
#include "pcap_late.h"
#include "vs/fault.h"

#define CMD "edit"
#define NODES_MAX 64

enum split { SPLIT_NONE, SPLIT_QP, SPLIT_TIME };

struct edit {
	const char *in, *out;
	struct vp_sets sets;
	bool fix_icrc;
	enum split split;
	uint64_t window_ns;
	int64_t start_ns; /* of the first frame */
	bool started;
	struct vs_fault_set *faults;
	uint64_t seed;
	struct vs_fault_rule rule[VS_FAULT_MAX_RULES];
	size_t n_rules, n_nodes;
	struct {
		char name[VS_FAULT_NODE], address[VP_ADDR_TEXT];
	} node[NODES_MAX];
	struct vp_out *writer;
	struct vp_late *late;
	uint8_t buf[VP_FRAME_MAX];
	uint64_t frames, rdma, dropped, copied, corrupted, marked, fixed, lost, supers;
};

/* ---- options ---- */

static int add_rule(struct edit *e, const char *text)
{
	struct vs_fault_error err;

	if (e->n_rules == VS_FAULT_MAX_RULES)
		return vp_fail(CMD, "more than %d operations", VS_FAULT_MAX_RULES);
	if (vs_fault_parse(text, strlen(text), &e->rule[e->n_rules], &err) != 0)
		return vp_fail(CMD, "'%s', column %u: %s", text, err.column, err.text);
	e->n_rules++;
	return VP_OK;
}

static int add_node(struct edit *e, const char *text)
{
	const char *eq = strchr(text, '=');
	uint8_t b[16];
	struct vp_addr a = {0};

	if (e->n_nodes == NODES_MAX)
		return vp_fail(CMD, "more than %d nodes", NODES_MAX);
	if (!eq || eq == text || eq - text >= VS_FAULT_NODE || strlen(eq + 1) >= VP_ADDR_TEXT)
		return vp_fail(CMD, "--node %s: write NAME=ADDRESS, NAME of at most %d bytes", text, VS_FAULT_NODE - 1);
	if (inet_pton(AF_INET, eq + 1, b) == 1)
		a.kind = VP_ADDR_IPV4;
	else if (inet_pton(AF_INET6, eq + 1, b) == 1)
		a.kind = VP_ADDR_IPV6;
	else if (strncmp(eq + 1, "LID:0x", 6) != 0)
		return vp_fail(CMD, "--node %s: %s is no address: IPv4, IPv6, GID or LID:0x0001", text, eq + 1);
	snprintf(e->node[e->n_nodes].name, VS_FAULT_NODE, "%.*s", (int)(eq - text), text);
	snprintf(e->node[e->n_nodes].address, VP_ADDR_TEXT, "%s", eq + 1);
	if (a.kind != VP_ADDR_NONE) { /* in the one form that packets are compared in */
		memcpy(a.b, b, a.kind == VP_ADDR_IPV4 ? 4 : 16);
		vp_addr_text(&a, e->node[e->n_nodes].address);
	}
	e->n_nodes++;
	return VP_OK;
}

static int set_split(struct edit *e, const char *text)
{
	if (strcmp(text, "qp") == 0) {
		e->split = SPLIT_QP;
		return VP_OK;
	}
	if (strncmp(text, "time:", 5) == 0 && vs_cli_duration(text + 5, &e->window_ns) && e->window_ns > 0) {
		e->split = SPLIT_TIME;
		return VP_OK;
	}
	return vp_fail(CMD, "--split-by %s: write qp, or time:T like time:10ms", text);
}

static int help(void)
{
	fputs("usage: vs-pcap edit FILE -o OUT [options] ['OPERATION'...]\n\n"
	      "Copies a capture with changes. Other traffic is copied as it is.\n\n"
	      "  OPERATION             'drop 3rd data', 'dup 1st READ_REQUEST', 'reorder 2 5th any', 'corrupt 2nd "
	      "bit=77',\n"
	      "                        'corrupt 1st icrc', 'delay all ack by 3ms', 'hold 4th by 1ms', 'mark every 10 "
	      "data',\n"
	      "                        each with from NODE, to NODE, qp=N, psn=N..M, iter=N: the notation of "
	      "vs/fault.h\n"
	      "                        and of vs-pcap(1). NODE is an address, or a name given by --node.\n"
	      "  --node NAME=ADDRESS   a name for from and to; needed for addresses longer than 15 bytes\n"
	      "  --seed N              for P% and damage to any bit (default 1)\n"
	      "  --set FIELD=VALUE     rewrites a field wherever it is; FIELD+=N, FIELD-=N, FIELD:OLD=VALUE; may be\n"
	      "                        repeated. Checksums and CRCs follow; an ICRC that was wrong stays wrong.\n"
	      "  --fix-icrc            gives every packet the right checksum and CRCs, before OPERATIONs act\n"
	      "  --split-by qp         a file for each destination and QP: OUT-ADDRESS-qp0xNNNNNN\n"
	      "  --split-by time:T     a file for each T (ns, us, ms, s) from the first frame on: OUT-00000, ...\n"
	      "  -o OUT                '-' is standard output; OUT appears when it is whole\n\nFields:\n",
	      stdout);
	vp_set_help(stdout);
	return vp_flush(CMD);
}

/* "" or an address, as packets have it, or a name that --node gives. */
static bool is_node(const struct edit *e, const char *name)
{
	uint8_t b[16];

	for (size_t i = 0; i < e->n_nodes; i++)
		if (strcmp(e->node[i].name, name) == 0)
			return true;
	return name[0] == '\0' || strncmp(name, "LID:0x", 6) == 0 || inet_pton(AF_INET, name, b) == 1 ||
	       inet_pton(AF_INET6, name, b) == 1;
}

/* An operation for a node that nobody has named would never act. */
static int check_nodes(const struct edit *e)
{
	for (size_t i = 0; i < e->n_rules; i++) {
		const struct vs_fault_rule *r = &e->rule[i];

		if (!is_node(e, r->from) || !is_node(e, r->to))
			return vp_fail(CMD, "'%s': %s is no address, and no --node gives it one", r->name,
				       is_node(e, r->from) ? r->to : r->from);
	}
	return VP_OK;
}

/* VP_OK: go on; -1: help was printed; otherwise the exit code. */
static int parse_options(struct edit *e, int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},         {"set", required_argument, NULL, 's'},
		{"fix-icrc", no_argument, NULL, 'f'},     {"split-by", required_argument, NULL, 'b'},
		{"node", required_argument, NULL, 'n'},   {"seed", required_argument, NULL, 'S'},
		{"output", required_argument, NULL, 'o'}, {0}};
	int opt, ret = VP_OK;

	opterr = 0;
	while (ret == VP_OK && (opt = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			return help() == VP_OK ? -1 : VP_USAGE;
		case 's':
			ret = vp_set_parse(&e->sets, CMD, optarg);
			break;
		case 'f':
			e->fix_icrc = true;
			break;
		case 'b':
			ret = set_split(e, optarg);
			break;
		case 'n':
			ret = add_node(e, optarg);
			break;
		case 'S':
			if (!vs_cli_number(optarg, 0, UINT64_MAX, &e->seed))
				ret = vp_fail(CMD, "--seed %s: is no number", optarg);
			break;
		case 'o':
			e->out = optarg;
			break;
		default:
			return vp_bad_option(CMD, argv, opt);
		}
	}
	if (ret != VP_OK)
		return ret;
	if (optind == argc)
		return vp_fail(CMD, "which FILE? See 'vs-pcap edit --help'");
	e->in = argv[optind++];
	if (!e->out)
		return vp_fail(CMD, "where to? -o OUT is missing");
	if (e->split != SPLIT_NONE && strcmp(e->out, "-") == 0)
		return vp_fail(CMD, "--split-by makes files: -o needs a name");
	while (ret == VP_OK && optind < argc)
		ret = add_rule(e, argv[optind++]);
	return ret == VP_OK ? check_nodes(e) : ret;
}

/* ---- one frame ---- */

static const char *node_name(const struct edit *e, const struct vp_addr *a, char text[VP_ADDR_TEXT])
{
	vp_addr_text(a, text);
	for (size_t i = 0; i < e->n_nodes; i++)
		if (strcmp(e->node[i].address, text) == 0)
			return e->node[i].name;
	return text;
}

static void file_key(const struct edit *e, const struct vs_frame *f, const struct vs_pkt *p, char key[VP_KEY_MAX])
{
	key[0] = '\0';
	if (e->split == SPLIT_TIME) {
		int64_t since = f->time_ns - e->start_ns;

		snprintf(key, VP_KEY_MAX, "%05" PRIu64, since < 0 ? 0 : (uint64_t)since / e->window_ns);
	} else if (e->split == SPLIT_QP && (!p || !(p->flags & VS_PKT_HAS_BTH))) {
		snprintf(key, VP_KEY_MAX, "other");
	} else if (e->split == SPLIT_QP) {
		char text[VP_ADDR_TEXT];
		struct vp_addr src, dst;

		vp_addr_of(p, &src, &dst);
		vp_addr_text(&dst, text);
		for (char *c = text; *c; c++)
			*c = *c == ':' ? '_' : *c;
		snprintf(key, VP_KEY_MAX, "%s-qp0x%06x", text, p->bth.destqp);
	}
}

static void mark(struct vs_pkt *p)
{
	if (p->encap == VS_ENCAP_ROCEV2_IPV4)
		p->ipv4.tos |= 3;
	else if (p->encap == VS_ENCAP_ROCEV2_IPV6)
		p->grh.tclass |= 3;
	else /* no ECN there */
		p->bth.fecn = true;
}

/* e->buf := the frame after rewriting, repair and mark. False: it stays as it was. */
static bool rebuild(struct edit *e, const struct vs_frame *f, const struct vs_pkt *seen, bool marked)
{
	struct vs_pkt p = *seen;
	uint32_t error = vp_icrc_error(&p, f->data);
	struct vs_offload o;
	bool changed = false, fix = e->fix_icrc;

	/* A super-packet is many packets, each with CRC and numbers of its own. */
	if ((e->sets.n > 0 || fix) && vp_super_of(seen, f, &o) > 0) {
		fix = false;
		e->supers++;
	} else {
		changed = vp_set_apply(&e->sets, &p);
	}
	if (marked)
		mark(&p);
	if (!changed && !marked && !fix)
		return false;
	if (vp_reseal(&p, fix ? 0 : error) != 0 || vs_pkt_build(&p, e->buf, sizeof(e->buf)) != (int)f->caplen) {
		e->lost++;
		return false;
	}
	e->marked += marked;
	e->fixed += fix && error != 0;
	return true;
}

static void damage(struct edit *e, const struct vs_pkt *p, uint32_t caplen, uint32_t bit)
{
	size_t at = p->bth_off + bit / 8;

	if (at >= caplen) /* beyond the snap length */
		return;
	e->buf[at] ^= (uint8_t)(1u << bit % 8);
	e->corrupted++;
}

/* The packet `p` of frame `f`, judged and changed. */
static int edit_packet(struct edit *e, const struct vs_frame *f, const struct vs_pkt *p)
{
	char from[VP_ADDR_TEXT], to[VP_ADDR_TEXT];
	struct vp_late_frame out = {.time_ns = f->time_ns, .caplen = f->caplen, .wirelen = f->wirelen};
	struct vs_fault_verdict v;

	e->rdma++;
	vp_addr_of(p, &out.src, &out.dst);
	vs_fault_judge(e->faults, p, p->end_off - p->bth_off, node_name(e, &out.src, from), node_name(e, &out.dst, to),
		       &v);
	file_key(e, f, p, out.key);
	if (v.drop) {
		e->dropped++;
		return VP_OK;
	}
	if (!rebuild(e, f, p, v.mark))
		memcpy(e->buf, f->data, f->caplen);
	if (v.corrupt)
		damage(e, p, f->caplen, v.corrupt_bit);
	out.data = e->buf;
	out.delay_ns = v.delay_ns;
	out.hold_ns = v.hold_ns;
	out.passes = v.reorder;
	for (uint32_t i = 0; i <= v.copies; i++) {
		int ret = vp_late_put(e->late, &out);

		if (ret != VP_OK)
			return ret;
		e->copied += i > 0;
		out.passes = 0; /* a copy is not overtaken with its original */
	}
	return VP_OK;
}

static int edit_frame(struct edit *e, const struct vs_frame *f)
{
	struct vs_pkt p;
	char key[VP_KEY_MAX];
	int ret;

	e->frames++;
	if (!e->started)
		e->start_ns = f->time_ns;
	e->started = true;
	ret = vp_late_until(e->late, f->time_ns);
	if (ret != VP_OK)
		return ret;
	ret = vs_pkt_parse(&p, f->link, f->ethertype, f->data, f->caplen, f->wirelen, 0);
	if (ret == 0 && (p.flags & VS_PKT_HAS_BTH))
		return edit_packet(e, f, &p);
	file_key(e, f, NULL, key);
	return vp_out_put(e->writer, key, f->time_ns, f->data, f->caplen, f->wirelen);
}

/* ---- the whole ---- */

/* Writable frames: Ethernet, IP, IB; cooked headers are gone. */
static bool writable(const struct vs_frame *f)
{
	return f->link != VS_LINK_ETHERTYPE;
}

static int run(struct edit *e, struct vs_capture *c)
{
	struct vs_io_error err;
	struct vs_frame f;
	int ret, kind = vp_writer_kind(vs_capture_linktype(c));

	if (kind < 0)
		return vp_fail(CMD,
			       "%s: captures of link type %s can't be written: 'vs-pcap convert' makes Ethernet of it",
			       e->in, vs_capture_linktype(c));
	e->writer = vp_out_new(CMD, e->out, (enum vs_writer_kind)kind);
	e->late = e->writer ? vp_late_new(CMD, e->writer) : NULL;
	if (!e->late || (e->split == SPLIT_NONE && vp_out_open(e->writer, "") != VP_OK))
		return VP_USAGE;
	while ((ret = vs_capture_next(c, &f, &err)) == 1) {
		if (!writable(&f) || f.caplen > VP_FRAME_MAX) {
			e->lost++;
			continue;
		}
		if (vp_writer_kind(vs_capture_linktype(c)) != kind)
			return vp_fail(CMD,
				       "%s: frame %" PRIu64
				       " has link type %s, unlike those before, and a pcap has one: "
				       "'vs-pcap convert' makes Ethernet of all",
				       e->in, f.number, vs_capture_linktype(c));
		ret = edit_frame(e, &f);
		if (ret != VP_OK)
			return ret;
	}
	if (ret != 0) {
		vp_fail(CMD, "%s: nothing was written", err.text);
		return VP_FAILED;
	}
	return vp_late_end(e->late);
}

static void report(const struct edit *e, size_t files)
{
	FILE *out = strcmp(e->out, "-") == 0 ? stderr : stdout;
	const struct vs_fault_rule *r;

	fprintf(out, "%" PRIu64 " frames, %" PRIu64 " of them RDMA; %zu file%s written\n", e->frames, e->rdma, files,
		files == 1 ? "" : "s");
	if (e->sets.n > 0)
		fprintf(out, "rewritten: %" PRIu64 "\n", e->sets.packets);
	if (e->fix_icrc)
		fprintf(out, "ICRC repaired: %" PRIu64 "\n", e->fixed);
	if (e->supers > 0)
		fprintf(out,
			"neither rewritten nor repaired, because they are super-packets of segmentation offload: "
			"%" PRIu64 " ('vs-pcap convert' takes them apart)\n",
			e->supers);
	if (e->lost > 0)
		fprintf(out, "left out or as they were, because they can't be written: %" PRIu64 "\n", e->lost);
	for (int i = 0; (r = vs_fault_set_rule(e->faults, i)); i++)
		fprintf(out, "%s: acted on %" PRIu64 " of %" PRIu64 " matching packets\n", r->name, r->hits, r->seen);
	if (e->n_rules > 0)
		fprintf(out, "dropped %" PRIu64 ", copies %" PRIu64 ", damaged %" PRIu64 ", marked %" PRIu64 "\n",
			e->dropped, e->copied, e->corrupted, e->marked);
}

static int edit(struct edit *e)
{
	struct vs_io_error err;
	struct vs_capture *c = vs_capture_open(e->in, &err);
	size_t files;
	int ret;

	if (!c)
		return vp_fail(CMD, "%s", err.text);
	ret = run(e, c);
	vs_capture_close(c);
	vp_late_free(e->late);
	if (ret != VP_OK) {
		vp_out_abort(e->writer);
		return ret;
	}
	files = vp_out_files(e->writer);
	ret = vp_out_close(e->writer);
	if (ret != VP_OK)
		return ret;
	report(e, files);
	return vp_flush(CMD);
}

int vp_edit(int argc, char **argv)
{
	struct edit *e = calloc(1, sizeof(*e));
	void *mem = malloc(vs_fault_set_size());
	int ret;

	if (!e || !mem) {
		free(mem);
		free(e);
		return vp_fail(CMD, "no memory");
	}
	e->seed = 1;
	ret = parse_options(e, argc, argv);
	if (ret == VP_OK) {
		e->faults = vs_fault_set_init(mem, e->seed);
		for (size_t i = 0; i < e->n_rules; i++)
			vs_fault_set_add(e->faults, &e->rule[i]);
		ret = edit(e);
	}
	free(mem);
	free(e);
	return ret < 0 ? VP_OK : ret;
}
