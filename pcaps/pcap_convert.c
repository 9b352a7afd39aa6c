/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_convert.c - vs-pcap convert: every RDMA packet in another encapsulation.
 *
 * From BTH to pad nothing changes. Addresses are mapped by pcap_map.h; traffic class, hop limit, flow label or UDP
 * source port, VLAN tags and priority or SL go over where the new headers have a place for them. Lengths, checksums
 * and CRCs are computed anew, so that every packet verifies, also one that did not before (they are counted).
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pcap_common.h"
#include "pcap_map.h"

#define CMD "convert"
#define NO_VLAN 0xffffffffu
#define VLAN_TPID 0x8100

struct convert {
	const char *in, *out;
	enum vs_encap encap;
	uint32_t vlan; /* NO_VLAN: tags stay */
	struct vp_map *map;
	uint64_t packets, other, raw, broken, fragments, lengths, repaired, supers;
	uint8_t buf[VP_FRAME_MAX];
};

static bool is_native(enum vs_encap e)
{
	return e == VS_ENCAP_IB || e == VS_ENCAP_IB_GRH;
}

/* ---- headers ---- */

/* What is not an address, in the words of the GRH. */
struct common {
	uint8_t tclass, hoplmt, sl;
	uint32_t flowlabel;
	uint16_t sport;
};

/* Flow label and source port carry the same entropy, as Linux maps them. */
static uint16_t port_of_label(uint32_t label)
{
	return (uint16_t)(0xc000 | ((label & 0x3fff) ^ label >> 14));
}

static void common_of(const struct vs_pkt *p, struct common *c)
{
	memset(c, 0, sizeof(*c));
	c->hoplmt = 64;
	c->sport = 0xc000;
	if (p->eth.vlan_count > 0)
		c->sl = (uint8_t)(p->eth.vlan[p->eth.vlan_count - 1].tci >> 13);
	if (is_native(p->encap))
		c->sl = p->lrh.sl;
	if (p->encap == VS_ENCAP_ROCEV2_IPV4) {
		c->tclass = p->ipv4.tos;
		c->hoplmt = p->ipv4.ttl;
	} else if (p->encap != VS_ENCAP_IB) {
		c->tclass = p->grh.tclass;
		c->hoplmt = p->grh.hoplmt;
		c->flowlabel = p->grh.flowlabel;
		c->sport = port_of_label(c->flowlabel);
	}
	if (p->encap == VS_ENCAP_ROCEV2_IPV4 || p->encap == VS_ENCAP_ROCEV2_IPV6)
		c->sport = p->udp.sport;
	if (p->encap == VS_ENCAP_ROCEV2_IPV4)
		c->flowlabel = p->udp.sport;
}

/* Tags and MACs of `p` when it has them, made ones otherwise; IPv4 has MACs of its own for groups. */
static void set_ethernet(const struct convert *v, const struct vs_pkt *p, const uint8_t sgid[16],
			 const uint8_t dgid[16], const struct common *c, struct vs_pkt *q)
{
	uint16_t ethertype = q->eth.ethertype;
	bool ipv4 = q->encap == VS_ENCAP_ROCEV2_IPV4;

	if (p->flags & VS_PKT_HAS_ETH) {
		q->eth = p->eth;
		if (dgid[0] == 0xff && ipv4 != (p->encap == VS_ENCAP_ROCEV2_IPV4))
			vp_map_mac(dgid, ipv4, q->eth.dst);
	} else {
		vp_map_mac(sgid, ipv4, q->eth.src);
		vp_map_mac(dgid, ipv4, q->eth.dst);
		q->eth.vlan_count = p->eth.vlan_count;
		memcpy(q->eth.vlan, p->eth.vlan, sizeof(q->eth.vlan));
	}
	q->eth.ethertype = ethertype;
	if (v->vlan != NO_VLAN) {
		q->eth.vlan_count = 1;
		q->eth.vlan[0].tpid = VLAN_TPID;
		q->eth.vlan[0].tci = (uint16_t)((c->sl & 7u) << 13 | v->vlan);
	}
}

static bool set_network(struct convert *v, const uint8_t sgid[16], const uint8_t dgid[16], const struct common *c,
			struct vs_pkt *q)
{
	q->grh.tclass = c->tclass;
	q->grh.hoplmt = c->hoplmt;
	q->grh.flowlabel = c->flowlabel;
	q->udp.sport = c->sport;
	if (q->encap == VS_ENCAP_ROCEV2_IPV4) {
		q->ipv4.tos = c->tclass;
		q->ipv4.ttl = c->hoplmt;
		return vp_map_ipv4(v->map, sgid, q->ipv4.src) && vp_map_ipv4(v->map, dgid, q->ipv4.dst);
	}
	memcpy(q->grh.sgid, sgid, 16);
	memcpy(q->grh.dgid, dgid, 16);
	if (q->encap == VS_ENCAP_ROCEV2_IPV6) {
		vp_map_ipv6(sgid, q->grh.sgid);
		vp_map_ipv6(dgid, q->grh.dgid);
	}
	if (!is_native(q->encap))
		return true;
	q->lrh.sl = c->sl & 0xf;
	return vp_map_lid(v->map, sgid, &q->lrh.slid) && vp_map_lid(v->map, dgid, &q->lrh.dlid);
}

/* Where old and new agree, the header stays as it is. */
static void keep_network(const struct vs_pkt *p, struct vs_pkt *q)
{
	if (is_native(p->encap) && is_native(q->encap)) {
		q->lrh.vl = p->lrh.vl;
		q->lrh.slid = p->lrh.slid;
		q->lrh.dlid = p->lrh.dlid;
	}
	if (p->encap != q->encap)
		return;
	q->grh = p->grh;
	q->ipv4 = p->ipv4;
}

/* False: the map is full. */
static bool set_headers(struct convert *v, const struct vs_pkt *p, struct vs_pkt *q)
{
	uint8_t sgid[16], dgid[16];
	struct vp_addr src, dst;
	struct common c;

	vs_pkt_init(q, v->encap, p->bth.opcode, !is_native(v->encap));
	q->flags |= p->flags & VS_PKT_HDR_MISSING;
	q->hdrs = p->hdrs;
	q->bth = p->bth;
	q->ext = p->ext;
	q->payload = p->payload;
	q->payload_len = p->payload_len;
	q->pad_len = p->pad_len;
	memcpy(q->pad, p->pad, sizeof(q->pad));
	common_of(p, &c);
	vp_addr_of(p, &src, &dst);
	vp_map_gid(&src, sgid);
	vp_map_gid(&dst, dgid);
	if (!set_network(v, sgid, dgid, &c, q))
		return false;
	keep_network(p, q);
	if (!is_native(v->encap))
		set_ethernet(v, p, sgid, dgid, &c, q);
	return true;
}

/* ---- packets ---- */

/*
 * A packet that a snap length cut: the lengths are those of the whole packet, the bytes those that are there. Its
 * length on the wire, or 0 when it can't be told.
 */
static uint32_t seal_snapped(struct convert *v, const struct vs_pkt *p, struct vs_pkt *q)
{
	struct vs_pkt whole = *q;

	if (p->flags & VS_PKT_HDR_MISSING)
		return 0;
	whole.payload_len += p->payload_missing_len;
	whole.pad_len = p->bth.padcnt;
	if (vs_pkt_seal(&whole, VS_SEAL_LEN | VS_SEAL_CSUM, v->buf, sizeof(v->buf)) != 0)
		return 0;
	q->lrh = whole.lrh;
	q->grh = whole.grh;
	q->ipv4 = whole.ipv4;
	q->udp = whole.udp;
	q->flags |= VS_PKT_SNAPPED;
	q->flags &= ~(uint32_t)(VS_PKT_HAS_ICRC | VS_PKT_HAS_VCRC);
	return (uint32_t)vs_pkt_size(&whole);
}

/* VP_OK also when the packet was left out and counted. `wrong`: its ICRC is. */
static int convert_packet(struct convert *v, struct vs_writer *w, int64_t time_ns, const struct vs_pkt *p, bool wrong)
{
	struct vs_io_error err;
	struct vs_pkt q;
	uint32_t wirelen;
	int n;

	if (!(p->flags & VS_PKT_HAS_BTH) || (p->flags & VS_PKT_FRAGMENT)) {
		*(p->flags & VS_PKT_FRAGMENT ? &v->fragments : &v->raw) += 1;
		return VP_OK;
	}
	if (p->payload_len + p->payload_missing_len > VS_MTU_MAX) {
		v->lengths++;
		return VP_OK;
	}
	if (!set_headers(v, p, &q))
		return vp_fail(CMD, "%s: more than %d addresses: split it first", v->in, VP_MAP_MAX);
	if (p->flags & VS_PKT_SNAPPED) {
		wirelen = seal_snapped(v, p, &q);
	} else {
		q.flags |= VS_PKT_HAS_ICRC;
		n = vs_pkt_seal(&q, VS_SEAL_ALL & ~(unsigned)VS_SEAL_PAD, v->buf, sizeof(v->buf));
		wirelen = n == 0 ? (uint32_t)vs_pkt_size(&q) : 0;
	}
	n = wirelen > 0 ? vs_pkt_build(&q, v->buf, sizeof(v->buf)) : -1;
	if (n < 0 || (is_native(v->encap) && (wirelen - 2) % 4 != 0)) {
		v->broken++;
		return VP_OK;
	}
	v->packets++;
	v->repaired += wrong;
	if (vs_writer_put(w, time_ns, v->buf, (uint32_t)n, wirelen, &err) != 0)
		return vp_fail(CMD, "%s", err.text);
	return VP_OK;
}

/* A super-packet becomes the packets that it holds; the first has `len` bytes. */
static int convert_super(struct convert *v, struct vs_writer *w, const struct vs_frame *f, const struct vs_pkt *p,
			 const struct vs_offload *o, uint32_t len)
{
	struct vs_pkt seg;

	v->supers++;
	for (uint32_t k = 0, off = 0; off < o->caplen; k++, off += len) {
		int ret;

		len = vs_offload_next(o, off, len);
		if (vs_offload_packet(o, p, k, off, len, 0, &seg) != VS_OK) {
			v->broken++;
			continue;
		}
		ret = convert_packet(v, w, f->time_ns, &seg, vp_super_icrc_error(o, &seg, k, off) != 0);
		if (ret != VP_OK)
			return ret;
	}
	return VP_OK;
}

static int convert_all(struct convert *v, struct vs_capture *c, struct vs_writer *w)
{
	struct vs_io_error err;
	struct vs_offload o;
	struct vs_frame f;
	struct vs_pkt p;
	uint32_t len;
	int ret;

	while ((ret = vs_capture_next_pkt(c, &f, &p, 0, &err)) == 1) {
		len = vp_super_of(&p, &f, &o);
		ret = len > 0 ? convert_super(v, w, &f, &p, &o, len)
			      : convert_packet(v, w, f.time_ns, &p, vp_icrc_error(&p, f.data) != 0);
		if (ret != VP_OK)
			return ret;
	}
	if (ret != 0) {
		vp_fail(CMD, "%s: nothing was written", err.text);
		return VP_FAILED;
	}
	v->other = vs_capture_stats(c).other;
	v->broken += vs_capture_stats(c).broken;
	return VP_OK;
}

static void line(FILE *out, const char *what, uint64_t n)
{
	if (n > 0)
		fprintf(out, "  %" PRIu64 " %s\n", n, what);
}

static void report(const struct convert *v)
{
	FILE *out = v->out && strcmp(v->out, "-") == 0 ? stderr : stdout;
	uint64_t left = v->other + v->raw + v->fragments + v->lengths + v->broken;

	fprintf(out, "%" PRIu64 " packets in %s, %" PRIu64 " left out\n", v->packets, vp_encap_name(v->encap), left);
	line(out, "left out: other traffic", v->other);
	line(out, "left out: InfiniBand without BTH", v->raw);
	line(out, "left out: IP fragments", v->fragments);
	line(out, "super-packets of segmentation offload, taken apart", v->supers);
	line(out, "left out: more than 4096 bytes of payload", v->lengths);
	line(out, "left out: too short, cut inside the headers, or of a length that does not fit", v->broken);
	line(out, "had a wrong ICRC and have a right one now", v->repaired);
}

static int convert(struct convert *v)
{
	struct vs_io_error err;
	struct vs_capture *c = vs_capture_open(v->in, &err);
	struct vs_writer *w = NULL;
	int ret = VP_USAGE;

	if (c)
		w = vs_writer_open(v->out, is_native(v->encap) ? VS_WRITER_ERF_IB : VS_WRITER_ETHERNET, &err);
	if (!w) {
		vs_capture_close(c);
		return vp_fail(CMD, "%s", err.text);
	}
	v->map = vp_map_new();
	ret = v->map ? convert_all(v, c, w) : vp_fail(CMD, "no memory");
	vp_map_free(v->map);
	vs_capture_close(c);
	if (ret != VP_OK) {
		vs_writer_abort(w);
		return ret;
	}
	if (vs_writer_close(w, &err) != 0)
		return vp_fail(CMD, "%s", err.text);
	report(v);
	return vp_flush(CMD);
}

static int help(void)
{
	fputs("usage: vs-pcap convert FILE -o OUT --encap ib|ib-grh|rocev1|rocev2-ipv4|rocev2-ipv6 [--vlan ID]\n\n"
	      "Puts every RDMA packet into another encapsulation. Addresses are mapped in the same way each time\n"
	      "(vs-pcap(1) has the rules); lengths, checksums, ICRC and VCRC are computed anew; time stamps stay. "
	      "Other\n"
	      "traffic is counted and left out. OUT is pcap with nanoseconds, for ib and ib-grh with ERF records.\n\n"
	      "  --vlan ID   tags every packet with this VLAN (0..4094), instead of the tags that it has\n"
	      "  -o OUT      '-' is standard output; OUT appears when it is whole\n",
	      stdout);
	return vp_flush(CMD);
}

static int set_encap(struct convert *v, const char *name)
{
	v->encap = vp_encap_by_name(name);
	if (v->encap == VS_ENCAP_BARE)
		return vp_fail(CMD, "--encap %s: is none of ib, ib-grh, rocev1, rocev2-ipv4, rocev2-ipv6", name);
	return VP_OK;
}

static int set_vlan(struct convert *v, const char *text)
{
	uint64_t id;

	if (!vs_cli_number(text, 0, 4094, &id))
		return vp_fail(CMD, "--vlan %s: is no number from 0 to 4094", text);
	v->vlan = (uint32_t)id;
	return VP_OK;
}

/* VP_OK: go on; -1: help was printed; otherwise the exit code. */
static int parse_options(struct convert *v, int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
						{"encap", required_argument, NULL, 'e'},
						{"vlan", required_argument, NULL, 'v'},
						{"output", required_argument, NULL, 'o'},
						{0}};
	int opt, ret = VP_OK;

	opterr = 0;
	while (ret == VP_OK && (opt = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (opt == 'h')
			return help() == VP_OK ? -1 : VP_USAGE;
		if (opt == 'e')
			ret = set_encap(v, optarg);
		else if (opt == 'v')
			ret = set_vlan(v, optarg);
		else if (opt == 'o')
			v->out = optarg;
		else
			return vp_bad_option(CMD, argv, opt);
	}
	if (ret != VP_OK)
		return ret;
	if (optind + 1 != argc)
		return vp_fail(CMD, "%s FILE: see 'vs-pcap convert --help'", optind == argc ? "which" : "only one");
	v->in = argv[optind];
	if (!v->out)
		return vp_fail(CMD, "where to? -o OUT is missing");
	if (v->encap == VS_ENCAP_BARE)
		return vp_fail(CMD, "into what? --encap is missing");
	if (v->vlan != NO_VLAN && is_native(v->encap))
		return vp_fail(CMD, "--vlan: native InfiniBand has no VLAN tags");
	return VP_OK;
}

int vp_convert(int argc, char **argv)
{
	struct convert *v = calloc(1, sizeof(*v));
	int ret;

	if (!v)
		return vp_fail(CMD, "no memory");
	v->vlan = NO_VLAN;
	ret = parse_options(v, argc, argv);
	if (ret == VP_OK)
		ret = convert(v);
	free(v);
	return ret < 0 ? VP_OK : ret;
}
