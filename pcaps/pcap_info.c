/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_info.c - vs-pcap info: what is in a capture, as text or JSON.
 *
 * A flow is one direction: source, destination, destination QP. Both sides of a connection often use the same QP
 * number, so a number alone would mix them.
 */
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pcap_common.h"
#include "vs/icrc.h"

#define CMD "info"
#define BUCKETS 4096u
#define FLOWS_MAX 1000000u
#define NS_PER_S 1000000000

struct flow {
	struct flow *next, *later; /* in the bucket; by first appearance */
	struct vp_addr src, dst;
	uint32_t destqp, first_psn, last_psn;
	uint32_t encaps; /* set of 1 << enum vs_encap */
	uint64_t packets, bytes;
	int64_t first_ns, last_ns;
	uint64_t opcode[256];
};

struct summary {
	const char *path;
	const char *format, *linktype; /* link type of the newest frame */
	char linktypes[128];           /* of all of them */
	struct vs_capture_stats stats;
	uint64_t icrc[3], vcrc[3];  /* by enum vs_crc_status */
	uint64_t raw;               /* InfiniBand without BTH: in no flow */
	uint64_t supers, in_supers; /* segmentation-offload super-packets, and the packets in them */
	uint64_t n_flows;
	int64_t first_ns, last_ns; /* least and greatest */
	struct flow *bucket[BUCKETS], *flows, **tail;
};

static void summary_fini(struct summary *s)
{
	struct flow *next;

	for (struct flow *f = s->flows; f; f = next) {
		next = f->later;
		free(f);
	}
}

static uint32_t hash(const struct vp_addr *src, const struct vp_addr *dst, uint32_t qpn)
{
	uint32_t h = 2166136261u ^ qpn;

	for (unsigned i = 0; i < 16; i++)
		h = ((h ^ src->b[i]) * 16777619u ^ dst->b[i]) * 16777619u;
	return h ^ h >> 16;
}

/* NULL: no memory, or more flows than anyone could read. */
static struct flow *flow_of(struct summary *s, const struct vs_pkt *p)
{
	struct vp_addr src, dst;
	struct flow **head, *f;

	vp_addr_of(p, &src, &dst);
	head = &s->bucket[hash(&src, &dst, p->bth.destqp) % BUCKETS];
	for (f = *head; f; f = f->next)
		if (f->destqp == p->bth.destqp && vp_addr_equal(&f->src, &src) && vp_addr_equal(&f->dst, &dst))
			return f;
	if (s->n_flows == FLOWS_MAX)
		return NULL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->src = src;
	f->dst = dst;
	f->destqp = p->bth.destqp;
	f->next = *head;
	*head = f;
	*s->tail = f;
	s->tail = &f->later;
	s->n_flows++;
	return f;
}

/* One packet with a BTH, that takes `bytes` on the wire. False as flow_of says NULL. */
static bool count_packet(struct summary *s, int64_t time_ns, uint64_t bytes, const struct vs_pkt *p,
			 enum vs_crc_status icrc)
{
	struct flow *f;

	s->icrc[icrc]++;
	f = flow_of(s, p);
	if (!f)
		return false;
	if (f->packets++ == 0) {
		f->first_psn = p->bth.psn;
		f->first_ns = time_ns;
	}
	f->last_psn = p->bth.psn;
	f->last_ns = time_ns;
	f->bytes += bytes;
	f->encaps |= 1u << p->encap;
	f->opcode[p->bth.opcode]++;
	return true;
}

/* The packets of a super-packet, of which the first has `len` bytes. */
static bool count_super(struct summary *s, const struct vs_frame *fr, const struct vs_pkt *p,
			const struct vs_offload *o, uint32_t len)
{
	const uint32_t headers = fr->wirelen - o->len;
	struct vs_pkt seg;

	s->supers++;
	s->in_supers += vs_offload_count(o, len);
	for (uint32_t k = 0, off = 0; off < o->caplen; k++, off += len) {
		enum vs_crc_status icrc = VS_CRC_UNVERIFIED;

		len = vs_offload_next(o, off, len);
		if (vs_offload_packet(o, p, k, off, len, 0, &seg) != VS_OK)
			continue;
		if (seg.flags & VS_PKT_HAS_ICRC)
			icrc = vs_offload_icrc(o, k, off, seg.end_off, seg.icrc, NULL);
		if (!count_packet(s, fr->time_ns, (uint64_t)headers + (o->len - off < len ? o->len - off : len), &seg,
				  icrc))
			return false;
	}
	return true;
}

static bool count(struct summary *s, const struct vs_frame *fr, const struct vs_pkt *p)
{
	bool native = p->encap == VS_ENCAP_IB || p->encap == VS_ENCAP_IB_GRH || p->encap == VS_ENCAP_IB_RAW;
	enum vs_crc_status icrc;
	struct vs_offload o;
	uint32_t len;

	if (native)
		s->vcrc[vs_vcrc_check(p, fr->data, NULL)]++;
	if (!(p->flags & VS_PKT_HAS_BTH)) {
		s->raw++;
		return true;
	}
	icrc = vs_icrc_check(p, fr->data, NULL);
	len = vp_super_of(p, fr, &o);
	if (len > 0)
		return count_super(s, fr, p, &o, len);
	if (icrc != VS_CRC_GOOD && (p->flags & VS_PKT_HAS_ICRC) &&
	    vs_offload_of(p, fr->data, fr->caplen, fr->wirelen, &o) && vs_offload_lengths_zero(&o)) {
		/* A mismatch proves nothing while lengths are still to be filled in. */
		icrc = vs_offload_icrc(&o, 0, 0, p->end_off - p->bth_off, p->icrc, NULL);
		icrc = icrc == VS_CRC_GOOD ? VS_CRC_GOOD : VS_CRC_UNVERIFIED;
	}
	return count_packet(s, fr->time_ns, fr->wirelen, p, icrc);
}

/* Interfaces of a pcapng have link types of their own: their names, once each, as they are met. */
static void add_linktype(struct summary *s, const char *name)
{
	const char *at = strstr(s->linktypes, name);
	const size_t len = strlen(s->linktypes), n = strlen(name);

	if (name == s->linktype)
		return;
	s->linktype = name;
	while (at != NULL && ((at > s->linktypes && at[-1] != ' ') || (at[n] != '\0' && at[n] != ',')))
		at = strstr(at + 1, name);
	if (at == NULL)
		snprintf(s->linktypes + len, sizeof(s->linktypes) - len, "%s%s", len > 0 ? ", " : "", name);
}

/* VP_OK; VP_FAILED: damaged, what was read before is counted; VP_USAGE: can't be opened, nothing to print. */
static int read_file(struct summary *s, const char *path)
{
	struct vs_io_error err;
	struct vs_capture *c = vs_capture_open(path, &err);
	struct vs_frame f;
	struct vs_pkt p;
	int ret, code = VP_OK;

	memset(s, 0, sizeof(*s));
	s->path = path;
	s->tail = &s->flows;
	if (!c)
		return vp_fail(CMD, "%s", err.text);
	while ((ret = vs_capture_next(c, &f, &err)) == 1) {
		s->first_ns = s->stats.frames == 0 || f.time_ns < s->first_ns ? f.time_ns : s->first_ns;
		s->last_ns = s->stats.frames == 0 || f.time_ns > s->last_ns ? f.time_ns : s->last_ns;
		s->stats.frames++;
		add_linktype(s, vs_capture_linktype(c));
		ret = vs_pkt_parse(&p, f.link, f.ethertype, f.data, f.caplen, f.wirelen, 0);
		if (ret == VS_ERR_NOT_RDMA) {
			s->stats.other++;
			continue;
		}
		s->stats.snapped += (p.flags & VS_PKT_SNAPPED) != 0;
		if (ret != 0) {
			s->stats.broken++;
			continue;
		}
		s->stats.rdma++;
		if (!count(s, &f, &p)) {
			vs_capture_close(c);
			return vp_fail(CMD, "%s: has more flows than fit: split it with 'vs-pcap edit'", path);
		}
	}
	s->format = vs_capture_format(c);
	if (s->linktypes[0] == '\0') /* no frame is there */
		add_linktype(s, vs_capture_linktype(c));
	vs_capture_close(c);
	if (ret != 0) {
		vp_fail(CMD, "%s", err.text);
		code = VP_FAILED;
	}
	return code;
}

/* ---- text ---- */

static void print_seconds(int64_t ns)
{
	const char *sign = ns < 0 ? "-" : "";
	uint64_t v = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	printf("%s%" PRIu64 ".%09" PRIu64 " s", sign, v / NS_PER_S, v % NS_PER_S);
}

static void print_time(int64_t ns)
{
	time_t sec = (time_t)(ns / NS_PER_S - (ns % NS_PER_S < 0));
	char text[40] = "?";
	struct tm tm;

	if (gmtime_r(&sec, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	printf("%s.%09" PRId64 " UTC", text, ((ns % NS_PER_S) + NS_PER_S) % NS_PER_S);
}

static void opcode_name(unsigned op, char name[48])
{
	if (vs_opcodes[op].name)
		snprintf(name, 48, "%s", vs_opcodes[op].name);
	else
		snprintf(name, 48, "opcode 0x%02x", op);
}

static void print_flow(const struct flow *f)
{
	char src[VP_ADDR_TEXT], dst[VP_ADDR_TEXT], name[48];
	const char *sep = "";

	printf("  %s -> %s QP 0x%06x: %" PRIu64 " packet%s, %" PRIu64 " bytes, ", vp_addr_text(&f->src, src),
	       vp_addr_text(&f->dst, dst), f->destqp, f->packets, f->packets == 1 ? "" : "s", f->bytes);
	print_seconds(f->last_ns - f->first_ns);
	printf("\n    PSN 0x%06x .. 0x%06x, ", f->first_psn, f->last_psn);
	for (unsigned e = 0; e < 32; e++)
		if (f->encaps & 1u << e) {
			printf("%s%s", sep, vp_encap_name((enum vs_encap)e));
			sep = ", ";
		}
	printf("\n    from ");
	print_time(f->first_ns);
	printf(" to ");
	print_time(f->last_ns);
	putchar('\n');
	for (unsigned op = 0; op < 256; op++)
		if (f->opcode[op] > 0) {
			opcode_name(op, name);
			printf("    %8" PRIu64 "  %s\n", f->opcode[op], name);
		}
}

static void print_crc(const char *name, const uint64_t *n)
{
	printf("  %s: %" PRIu64 " good, %" PRIu64 " bad, %" PRIu64 " unverified\n", name, n[VS_CRC_GOOD], n[VS_CRC_BAD],
	       n[VS_CRC_UNVERIFIED]);
}

static void print_text(const struct summary *s)
{
	const struct vs_capture_stats *n = &s->stats;

	for (const char *c = s->path; *c; c++)
		putchar((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
	printf(": %s, %s\n", s->format, s->linktypes);
	printf("  frames: %" PRIu64 ", RDMA %" PRIu64 ", other %" PRIu64 ", snapped %" PRIu64 ", broken %" PRIu64 "\n",
	       n->frames, n->rdma, n->other, n->snapped, n->broken);
	if (n->frames > 0) {
		printf("  time: ");
		print_time(s->first_ns);
		printf(", ");
		print_seconds(s->last_ns - s->first_ns);
		putchar('\n');
	}
	print_crc("ICRC", s->icrc);
	if (s->vcrc[0] + s->vcrc[1] + s->vcrc[2] > 0)
		print_crc("VCRC", s->vcrc);
	if (s->raw > 0)
		printf("  raw: %" PRIu64 " InfiniBand packets without BTH\n", s->raw);
	if (s->supers > 0)
		printf("  offload: %" PRIu64 " super-packets that hold %" PRIu64 " packets\n", s->supers, s->in_supers);
	printf("  flows: %" PRIu64 "\n", s->n_flows);
	for (const struct flow *f = s->flows; f; f = f->later)
		print_flow(f);
}

/* ---- JSON ---- */

static json_t *number(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static json_t *crc_json(const uint64_t *n)
{
	return json_pack("{s:I, s:I, s:I}", "good", (json_int_t)n[VS_CRC_GOOD], "bad", (json_int_t)n[VS_CRC_BAD],
			 "unverified", (json_int_t)n[VS_CRC_UNVERIFIED]);
}

static json_t *flow_json(const struct flow *f)
{
	char src[VP_ADDR_TEXT], dst[VP_ADDR_TEXT], name[48];
	json_t *j = json_object(), *ops = json_object(), *encaps = json_array();

	for (unsigned e = 0; e < 32; e++)
		if (f->encaps & 1u << e)
			json_array_append_new(encaps, json_string(vp_encap_name((enum vs_encap)e)));
	for (unsigned op = 0; op < 256; op++)
		if (f->opcode[op] > 0) {
			opcode_name(op, name);
			json_object_set_new(ops, name, number(f->opcode[op]));
		}
	json_object_set_new(j, "src", json_string(vp_addr_text(&f->src, src)));
	json_object_set_new(j, "dst", json_string(vp_addr_text(&f->dst, dst)));
	json_object_set_new(j, "destqp", number(f->destqp));
	json_object_set_new(j, "packets", number(f->packets));
	json_object_set_new(j, "bytes", number(f->bytes));
	json_object_set_new(j, "first_psn", number(f->first_psn));
	json_object_set_new(j, "last_psn", number(f->last_psn));
	json_object_set_new(j, "first_time_ns", json_integer(f->first_ns));
	json_object_set_new(j, "last_time_ns", json_integer(f->last_ns));
	json_object_set_new(j, "duration_ns", json_integer(f->last_ns - f->first_ns));
	json_object_set_new(j, "encapsulations", encaps);
	json_object_set_new(j, "opcodes", ops);
	return j;
}

static json_t *summary_json(const struct summary *s)
{
	json_t *j = json_object(), *flows = json_array(), *path = json_string(s->path);

	for (const struct flow *f = s->flows; f; f = f->later)
		json_array_append_new(flows, flow_json(f));
	json_object_set_new(j, "file", path ? path : json_string("?")); /* no UTF-8 */
	json_object_set_new(j, "format", json_string(s->format));
	json_object_set_new(j, "linktype", json_string(s->linktypes));
	json_object_set_new(j, "frames", number(s->stats.frames));
	json_object_set_new(j, "rdma", number(s->stats.rdma));
	json_object_set_new(j, "other", number(s->stats.other));
	json_object_set_new(j, "snapped", number(s->stats.snapped));
	json_object_set_new(j, "broken", number(s->stats.broken));
	json_object_set_new(j, "raw", number(s->raw));
	json_object_set_new(j, "super_packets", number(s->supers));
	json_object_set_new(j, "packets_in_super_packets", number(s->in_supers));
	if (s->stats.frames > 0) {
		json_object_set_new(j, "first_time_ns", json_integer(s->first_ns));
		json_object_set_new(j, "duration_ns", json_integer(s->last_ns - s->first_ns));
	}
	json_object_set_new(j, "icrc", crc_json(s->icrc));
	json_object_set_new(j, "vcrc", crc_json(s->vcrc));
	json_object_set_new(j, "flows", flows);
	return j;
}

static int help(void)
{
	fputs("usage: vs-pcap info [--json] FILE...\n\n"
	      "Counts the frames of each capture (pcap or pcapng, gzipped or not; - is standard input), how many CRCs "
	      "are\n"
	      "right, and for each flow (source, destination, destination QP) packets, bytes, opcodes, the first and "
	      "last\n"
	      "PSN and time, and encapsulations.\n\n"
	      "  --json   one JSON object {\"files\": [...]}; times in ns since 1970\n\n"
	      "Exit code: 1 when a file is damaged (what comes before is counted), 2 when one can't be opened.\n",
	      stdout);
	return vp_flush(CMD);
}

int vp_info(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
	json_t *files = json_array();
	bool json = false;
	int opt, worst = VP_OK;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (opt == 'j') {
			json = true;
			continue;
		}
		json_decref(files);
		return opt == 'h' ? help() : vp_bad_option(CMD, argv, opt);
	}
	if (optind == argc) {
		json_decref(files);
		return vp_fail(CMD, "which FILE? See 'vs-pcap info --help'");
	}
	for (int i = optind; i < argc; i++) {
		struct summary s;
		int ret = read_file(&s, argv[i]);

		if (ret != VP_USAGE && json)
			json_array_append_new(files, summary_json(&s));
		else if (ret != VP_USAGE)
			print_text(&s);
		summary_fini(&s);
		worst = ret > worst ? ret : worst;
	}
	if (json) {
		json_t *root = json_pack("{s:O}", "files", files);

		json_dumpf(root, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(root);
	}
	json_decref(files);
	opt = vp_flush(CMD);
	return opt > worst ? opt : worst;
}
