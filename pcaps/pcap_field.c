/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_field.c - fields of a packet by name: rewriting (--set) and packets from the command line.
 *
 * One row per place where a field can stand. Rows with one name are places of the same thing (the R_Key of RETH and
 * of AtomicETH), or its forms (an IPv4 and an IPv6 address), of which the value that is given chooses one.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "pcap_common.h"
#include "vs/psn.h"

enum form { FORM_NUMBER, FORM_MAC, FORM_IPV4, FORM_IPV6 };

#define V2_IPV4 (1u << VS_ENCAP_ROCEV2_IPV4)
#define V2_IPV6 (1u << VS_ENCAP_ROCEV2_IPV6)
#define GRH (1u << VS_ENCAP_ROCEV1 | 1u << VS_ENCAP_IB_GRH)
#define NATIVE (1u << VS_ENCAP_IB | 1u << VS_ENCAP_IB_GRH | 1u << VS_ENCAP_IB_RAW)
#define ANY_ENCAP 0xffffffffu

struct vp_field {
	const char *name;
	enum form form;
	size_t off;
	uint8_t size, bits;
	uint32_t encaps; /* those that have it */
	uint32_t flags;  /* VS_PKT_HAS_* that it takes */
	uint32_t hdrs;   /* one of these */
	bool both_ends;  /* of source and destination: only with an old value */
};

#define AT(member) offsetof(struct vs_pkt, member), sizeof(((struct vs_pkt *)0)->member)
#define MAC_ROW(name, member, both)                                                \
	{                                                                          \
		name, FORM_MAC, AT(member), 48, ANY_ENCAP, VS_PKT_HAS_ETH, 0, both \
	}
#define NET_ROW(name, member, bits, encaps)                              \
	{                                                                \
		name, FORM_NUMBER, AT(member), bits, encaps, 0, 0, false \
	}
#define BTH_ROW(name, member, bits)                                                          \
	{                                                                                    \
		name, FORM_NUMBER, AT(bth.member), bits, ANY_ENCAP, VS_PKT_HAS_BTH, 0, false \
	}
#define EXT_ROW(name, member, bits, hdr)                                                       \
	{                                                                                      \
		name, FORM_NUMBER, AT(ext.member), bits, ANY_ENCAP, VS_PKT_HAS_BTH, hdr, false \
	}
#define IPV4_ROW(name, member, both)                                      \
	{                                                                 \
		name, FORM_IPV4, AT(ipv4.member), 32, V2_IPV4, 0, 0, both \
	}
#define IPV6_ROW(name, member, encaps, both)                             \
	{                                                                \
		name, FORM_IPV6, AT(grh.member), 128, encaps, 0, 0, both \
	}

static const struct vp_field fields[] = {
	MAC_ROW("mac.src", eth.src, false),
	MAC_ROW("mac.dst", eth.dst, false),
	MAC_ROW("mac", eth.src, true),
	MAC_ROW("mac", eth.dst, true),
	IPV4_ROW("ip.src", src, false),
	IPV6_ROW("ip.src", sgid, V2_IPV6, false),
	IPV4_ROW("ip.dst", dst, false),
	IPV6_ROW("ip.dst", dgid, V2_IPV6, false),
	IPV4_ROW("ip", src, true),
	IPV4_ROW("ip", dst, true),
	IPV6_ROW("ip", sgid, V2_IPV6, true),
	IPV6_ROW("ip", dgid, V2_IPV6, true),
	NET_ROW("ip.id", ipv4.id, 16, V2_IPV4),
	NET_ROW("tclass", ipv4.tos, 8, V2_IPV4),
	NET_ROW("tclass", grh.tclass, 8, V2_IPV6 | GRH),
	NET_ROW("ttl", ipv4.ttl, 8, V2_IPV4),
	NET_ROW("ttl", grh.hoplmt, 8, V2_IPV6 | GRH),
	NET_ROW("flowlabel", grh.flowlabel, 20, V2_IPV6 | GRH),
	NET_ROW("sport", udp.sport, 16, V2_IPV4 | V2_IPV6),
	NET_ROW("dport", udp.dport, 16, V2_IPV4 | V2_IPV6),
	IPV6_ROW("gid.src", sgid, GRH, false),
	IPV6_ROW("gid.dst", dgid, GRH, false),
	IPV6_ROW("gid", sgid, GRH, true),
	IPV6_ROW("gid", dgid, GRH, true),
	NET_ROW("lid.src", lrh.slid, 16, NATIVE),
	NET_ROW("lid.dst", lrh.dlid, 16, NATIVE),
	NET_ROW("sl", lrh.sl, 4, NATIVE),
	NET_ROW("vl", lrh.vl, 4, NATIVE),
	BTH_ROW("qp", destqp, 24),
	BTH_ROW("psn", psn, 24),
	BTH_ROW("pkey", pkey, 16),
	BTH_ROW("ackreq", ackreq, 1),
	BTH_ROW("se", se, 1),
	BTH_ROW("migreq", migreq, 1),
	BTH_ROW("fecn", fecn, 1),
	BTH_ROW("becn", becn, 1),
	BTH_ROW("tver", tver, 4),
	EXT_ROW("rkey", reth.rkey, 32, VS_HDR_RETH),
	EXT_ROW("rkey", atomiceth.rkey, 32, VS_HDR_ATOMICETH),
	EXT_ROW("va", reth.va, 64, VS_HDR_RETH),
	EXT_ROW("va", atomiceth.va, 64, VS_HDR_ATOMICETH),
	EXT_ROW("dmalen", reth.dmalen, 32, VS_HDR_RETH),
	EXT_ROW("swapadd", atomiceth.swapadd, 64, VS_HDR_ATOMICETH),
	EXT_ROW("compare", atomiceth.compare, 64, VS_HDR_ATOMICETH),
	EXT_ROW("syndrome", aeth.syndrome, 8, VS_HDR_AETH),
	EXT_ROW("msn", aeth.msn, 24, VS_HDR_AETH),
	EXT_ROW("orig", atomicack_origdata, 64, VS_HDR_ATOMICACKETH),
	EXT_ROW("imm", immdt, 32, VS_HDR_IMMDT),
	EXT_ROW("inv", ieth_rkey, 32, VS_HDR_IETH),
	EXT_ROW("qkey", deth.qkey, 32, VS_HDR_DETH),
	EXT_ROW("srcqp", deth.srcqp, 24, VS_HDR_DETH),
	EXT_ROW("xrcsrq", xrceth.xrcsrq, 24, VS_HDR_XRCETH),
	EXT_ROW("eecontext", rdeth.eecontext, 24, VS_HDR_RDETH),
	EXT_ROW("plt", feth.plt, 4, VS_HDR_FETH),
	EXT_ROW("sel", feth.sel, 2, VS_HDR_FETH),
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static uint64_t max_of(const struct vp_field *f)
{
	return f->bits >= 64 ? UINT64_MAX : (1ull << f->bits) - 1;
}

void vp_set_help(FILE *out)
{
	const char *last = "";
	int column = 80;

	for (size_t i = 0; i < FIELDS; i++) {
		if (strcmp(fields[i].name, last) == 0 || fields[i].both_ends)
			continue;
		last = fields[i].name;
		if (column + (int)strlen(last) + 1 > 78)
			column = fprintf(out, "%s   ", column == 80 ? "" : "\n");
		column += fprintf(out, " %s", last);
	}
	fputs("\n  With an old value also mac, ip, gid: at either end. Addresses as ever, numbers decimal or 0x hex.\n",
	      out);
}

/* ---- values ---- */

static bool parse_mac(const char *text, uint8_t b[16])
{
	unsigned v[6];
	int end = 0;

	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &end) != 6 ||
	    text[end] != '\0' || strlen(text) > 17)
		return false;
	for (unsigned i = 0; i < 6; i++)
		b[i] = (uint8_t)v[i];
	return true;
}

static bool parse_value(const struct vp_field *f, const char *text, struct vp_value *v)
{
	memset(v, 0, sizeof(*v));
	switch (f->form) {
	case FORM_NUMBER:
		return vs_cli_number(text, 0, max_of(f), &v->n);
	case FORM_MAC:
		return parse_mac(text, v->b);
	case FORM_IPV4:
		return inet_pton(AF_INET, text, v->b) == 1;
	case FORM_IPV6:
		return inet_pton(AF_INET6, text, v->b) == 1;
	}
	return false;
}

/* Host order in the struct: numbers are moved through a type of their size. */
static uint64_t get_number(const struct vp_field *f, const struct vs_pkt *p)
{
	const uint8_t *at = (const uint8_t *)p + f->off;
	uint16_t h;
	uint32_t w;
	uint64_t d;

	switch (f->size) {
	case 1:
		return *at;
	case 2:
		memcpy(&h, at, sizeof(h));
		return h;
	case 4:
		memcpy(&w, at, sizeof(w));
		return w;
	default:
		memcpy(&d, at, sizeof(d));
		return d;
	}
}

static void put_number(const struct vp_field *f, struct vs_pkt *p, uint64_t v)
{
	uint8_t *at = (uint8_t *)p + f->off;
	uint16_t h = (uint16_t)v;
	uint32_t w = (uint32_t)v;

	switch (f->size) {
	case 1:
		*at = (uint8_t)v;
		break;
	case 2:
		memcpy(at, &h, sizeof(h));
		break;
	case 4:
		memcpy(at, &w, sizeof(w));
		break;
	default:
		memcpy(at, &v, sizeof(v));
	}
}

static bool has(const struct vp_field *f, const struct vs_pkt *p)
{
	return (f->encaps & 1u << p->encap) && (p->flags & f->flags) == f->flags &&
	       (f->hdrs == 0 || (p->hdrs & f->hdrs));
}

/* ---- notation ---- */

static const struct vp_field *first_row(const char *name, size_t len)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (strlen(fields[i].name) == len && memcmp(fields[i].name, name, len) == 0)
			return &fields[i];
	return NULL;
}

static bool same_name(const struct vp_field *f, const char *name)
{
	return f < fields + FIELDS && strcmp(f->name, name) == 0;
}

static int unknown(const char *cmd, const char *name)
{
	const char *names[FIELDS + 1], *near;

	for (size_t i = 0; i < FIELDS; i++)
		names[i] = fields[i].name;
	names[FIELDS] = NULL;
	near = vs_cli_nearest(name, names);
	if (near)
		return vp_fail(cmd, "no such field: %s (did you mean %s?)", name, near);
	return vp_fail(cmd, "no such field: %s: 'vs-pcap %s --help' lists them", name, cmd);
}

static int bad_value(const char *cmd, const struct vp_field *f, const char *text)
{
	switch (f->form) {
	case FORM_MAC:
		return vp_fail(cmd, "%s: %s is no MAC address like 02:00:00:00:00:01", f->name, text);
	case FORM_IPV4:
	case FORM_IPV6:
		return vp_fail(cmd, "%s: %s is no address", f->name, text);
	default:
		return vp_fail(cmd, "%s: %s is no number from 0 to 0x%" PRIx64, f->name, text, max_of(f));
	}
}

/* The row whose form takes these values; NULL with a message. */
static const struct vp_field *choose_row(const char *cmd, const struct vp_field *first, const char *old,
					 const char *value, struct vp_set *set)
{
	for (const struct vp_field *f = first; same_name(f, first->name); f++) {
		if (!parse_value(f, value, &set->value))
			continue;
		if (!old || parse_value(f, old, &set->old))
			return f;
	}
	if (old && parse_value(first, value, &set->value))
		bad_value(cmd, first, old);
	else
		bad_value(cmd, first, value);
	return NULL;
}

int vp_set_parse(struct vp_sets *s, const char *cmd, const char *text)
{
	char name[160], *eq, *old;
	const struct vp_field *f;
	struct vp_set *set = &s->set[s->n];
	bool minus = false;

	if (s->n == VP_SET_MAX)
		return vp_fail(cmd, "more than %d rewritings", VP_SET_MAX);
	if (strlen(text) >= sizeof(name))
		return vp_fail(cmd, "%.40s...: is too long", text);
	snprintf(name, sizeof(name), "%s", text);
	eq = strchr(name, '=');
	if (!eq || eq == name || eq[1] == '\0')
		return vp_fail(cmd, "%s: write FIELD=VALUE, FIELD+=N, FIELD-=N or FIELD:OLD=VALUE", text);
	*eq = '\0';
	set->kind = VP_ASSIGN;
	if (eq[-1] == '+' || eq[-1] == '-') {
		set->kind = VP_ADD;
		minus = eq[-1] == '-';
		eq[-1] = '\0';
	}
	old = strchr(name, ':');
	if (old) {
		if (set->kind == VP_ADD)
			return vp_fail(cmd, "%s: an old value goes with '=' alone", text);
		*old++ = '\0';
		set->kind = VP_MAP;
	}
	f = first_row(name, strlen(name));
	if (!f)
		return unknown(cmd, name);
	if (f->both_ends && !old)
		return vp_fail(cmd, "%s: which end? Write %s.src, %s.dst, or %s:OLD=VALUE", text, name, name, name);
	if (set->kind == VP_ADD && f->form != FORM_NUMBER)
		return vp_fail(cmd, "%s: only numbers can be added to", text);
	set->field = choose_row(cmd, f, old, eq + 1, set);
	if (!set->field)
		return VP_USAGE;
	if (minus)
		set->value.n = 0 - set->value.n;
	s->n++;
	return VP_OK;
}

/* ---- applying ---- */

static bool apply_number(const struct vp_set *set, const struct vp_field *f, struct vs_pkt *p)
{
	uint64_t was = get_number(f, p), v = set->value.n;

	if (set->kind == VP_MAP && was != set->old.n)
		return false;
	if (set->kind == VP_ADD && f->off == offsetof(struct vs_pkt, bth.psn))
		v = vs_psn_add((uint32_t)was, (int32_t)(uint32_t)v);
	else if (set->kind == VP_ADD)
		v = (was + v) & max_of(f);
	put_number(f, p, v);
	return v != was;
}

static bool apply_bytes(const struct vp_set *set, const struct vp_field *f, struct vs_pkt *p)
{
	uint8_t *at = (uint8_t *)p + f->off;

	if (set->kind == VP_MAP && memcmp(at, set->old.b, f->size) != 0)
		return false;
	if (memcmp(at, set->value.b, f->size) == 0)
		return false;
	memcpy(at, set->value.b, f->size);
	return true;
}

static bool apply_one(const struct vp_set *set, struct vs_pkt *p, bool *found)
{
	bool changed = false;

	assert(set->field != NULL);
	for (const struct vp_field *f = set->field; same_name(f, set->field->name); f++) {
		if (f->form != set->field->form || !has(f, p))
			continue;
		*found = true;
		changed |= f->form == FORM_NUMBER ? apply_number(set, f, p) : apply_bytes(set, f, p);
	}
	return changed;
}

bool vp_set_apply(struct vp_sets *s, struct vs_pkt *p)
{
	bool changed = false, found;

	for (size_t i = 0; i < s->n; i++)
		changed |= apply_one(&s->set[i], p, &found);
	s->packets += changed;
	return changed;
}

int vp_set_assign(const char *cmd, const char *text, struct vs_pkt *p)
{
	struct vp_sets one = {0};
	bool found = false;

	if (vp_set_parse(&one, cmd, text) != VP_OK)
		return VP_USAGE;
	if (one.set[0].kind != VP_ASSIGN)
		return vp_fail(cmd, "%s: write FIELD=VALUE", text);
	apply_one(&one.set[0], p, &found);
	if (!found)
		return vp_fail(cmd, "%s: a packet of %s in %s has no such field", text, vs_opcodes[p->bth.opcode].name,
			       vp_encap_name(p->encap));
	return VP_OK;
}

bool vp_set_frame(struct vp_sets *s, const struct vs_frame *f, uint8_t *buf)
{
	struct vs_pkt p;
	struct vs_offload o;
	uint32_t error;
	uint64_t packets = s->packets;

	if (s->n == 0 || vs_pkt_parse(&p, f->link, f->ethertype, f->data, f->caplen, f->wirelen, 0) != 0)
		return false;
	if (vp_super_of(&p, f, &o) > 0) {
		s->supers++;
		return false;
	}
	error = vp_icrc_error(&p, f->data);
	if (!vp_set_apply(s, &p))
		return false;
	if (vp_reseal(&p, error) != 0 || vs_pkt_build(&p, buf, VP_FRAME_MAX) != (int)f->caplen) {
		s->packets = packets;
		return false;
	}
	return true;
}
