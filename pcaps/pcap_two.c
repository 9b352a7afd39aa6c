/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_two.c - two captures of the same traffic: which packet of one is which of the other, how far the clocks are
 * apart, where packets were lost.
 *
 * A packet is known again by what the way leaves alone: addresses, IP ID, transport headers, lengths. Where several are
 * alike (a sender without IP IDs repeats one), they are matched in order, those that time fits best. Whoever sends is
 * near one of the captures: seen from there the difference of times is larger, by the way there and back. From packets
 * both ways the difference of the clocks is known to half of that.
 */
#include "pcap_two.h"

#include <stdlib.h>
#include <string.h>

#define CMD "check"

/* ---- collecting ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0xff51afd7ed558ccd);
	return h ^ h >> 29;
}

static uint64_t mix_addr(uint64_t h, const struct vp_addr *a)
{
	uint64_t w[2];

	memcpy(w, a->b, sizeof(w));
	return mix(mix(mix(h, a->kind), w[0]), w[1]);
}

/* What a router may change is not in it (TTL, ECN, MACs, VLAN), nor the ICRC: damage is to be recognised. */
static uint64_t print_of(const struct vs_pkt *p, const struct vp_addr *src, const struct vp_addr *dst)
{
	uint64_t h = mix_addr(mix_addr(p->bth.opcode, src), dst);

	h = mix(h, (uint64_t)p->bth.destqp << 32 | p->bth.psn);
	h = mix(h,
		(uint64_t)p->bth.ackreq << 40 | (uint64_t)p->bth.se << 41 | (p->payload_len + p->payload_missing_len));
	if (p->encap == VS_ENCAP_ROCEV2_IPV4)
		h = mix(h, p->ipv4.id);
	if (p->hdrs & VS_HDR_RETH)
		h = mix(mix(h, p->ext.reth.va), (uint64_t)p->ext.reth.rkey << 32 | p->ext.reth.dmalen);
	if (p->hdrs & VS_HDR_AETH)
		h = mix(h, (uint64_t)p->ext.aeth.syndrome << 24 | p->ext.aeth.msn);
	if (p->hdrs & VS_HDR_DETH)
		h = mix(h, p->ext.deth.srcqp);
	return h;
}

static bool grow(void **array, size_t n, uint32_t *cap, size_t size)
{
	const uint32_t more = *cap == 0 ? 64 : 2 * *cap;
	void *grown;

	if (n < *cap)
		return true;
	grown = realloc(*array, more * size);
	if (grown == NULL)
		return false;
	*array = grown;
	*cap = more;
	return true;
}

/* VP_NONE: no memory. */
static uint32_t source_of(struct vp_two *t, const struct vp_addr *a)
{
	void *array = t->source;

	for (uint32_t i = 0; i < t->sources; i++)
		if (vp_addr_equal(&t->source[i].addr, a))
			return i;
	if (!grow(&array, t->sources, &t->sources_cap, sizeof(*t->source)))
		return VP_NONE;
	t->source = array;
	t->source[t->sources] = (struct vp_two_source){.addr = *a};
	return t->sources++;
}

struct collector {
	struct vp_two *two;
	struct vp_two_side *side;
};

static void collect(void *ctx, const struct vs_mon_packet *in, const struct vs_mon_result *out)
{
	struct collector *c = ctx;
	struct vp_two_side *s = c->side;
	const struct vs_pkt *p = in->pkt;
	struct vp_addr src, dst;
	void *array = s->packet;
	uint32_t cap = (uint32_t)s->cap, source;

	(void)out;
	if (!(p->flags & VS_PKT_HAS_BTH))
		return;
	vp_addr_of(p, &src, &dst);
	source = source_of(c->two, &src);
	if (source == VP_NONE || !grow(&array, s->n, &cap, sizeof(*s->packet))) {
		s->no_memory = true;
		return;
	}
	s->packet = array;
	s->cap = cap;
	s->packet[s->n++] = (struct vp_two_packet){.print = print_of(p, &src, &dst),
						   .time_ns = in->time_ns,
						   .frame = in->frame,
						   .psn = p->bth.psn,
						   .destqp = p->bth.destqp,
						   .source = source,
						   .mate = VP_NONE,
						   .again = VP_NONE,
						   .opcode = p->bth.opcode,
						   .bad = in->icrc == VS_CRC_BAD};
}

/* ---- matching ---- */

struct sort_key {
	uint64_t print;
	uint32_t index;
};

static int by_print(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	if (x->print != y->print)
		return x->print < y->print ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static struct sort_key *sorted(const struct vp_two_side *s)
{
	struct sort_key *k = malloc((s->n + 1) * sizeof(*k));

	for (size_t i = 0; k != NULL && i < s->n; i++)
		k[i] = (struct sort_key){s->packet[i].print, (uint32_t)i};
	if (k != NULL)
		qsort(k, s->n, sizeof(*k), by_print);
	return k;
}

static int64_t difference(const struct vp_two *t, uint32_t i, uint32_t k)
{
	int64_t d;

	if (__builtin_sub_overflow(t->side[1].packet[k].time_ns, t->side[0].packet[i].time_ns, &d))
		return INT64_MAX;
	return d;
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static void pair(struct vp_two *t, uint32_t i, uint32_t k)
{
	t->side[0].packet[i].mate = k;
	t->side[1].packet[k].mate = i;
	t->matched++;
}

/* Alike packets, na of one and nb of the other: in order, the surplus where times fit least. */
static void pair_group(struct vp_two *t, const struct sort_key *a, size_t na, const struct sort_key *b, size_t nb)
{
	const int64_t usual = t->source[t->side[0].packet[a->index].source].median_ns;
	size_t i = 0, k = 0;

	while (i < na && k < nb) {
		const uint64_t now = distance(difference(t, a[i].index, b[k].index), usual);

		if (na - i > nb - k && distance(difference(t, a[i + 1].index, b[k].index), usual) < now)
			i++;
		else if (nb - k > na - i && distance(difference(t, a[i].index, b[k + 1].index), usual) < now)
			k++;
		else
			pair(t, a[i++].index, b[k++].index);
	}
}

static size_t alike(const struct sort_key *k, size_t n)
{
	size_t i = 1;

	while (i < n && k[i].print == k[0].print)
		i++;
	return i;
}

/* Groups of one and one at first, from which the usual difference of times is known; then the others. */
static void match(struct vp_two *t, const struct sort_key *a, const struct sort_key *b, bool simple)
{
	size_t na, nb, n = t->side[0].n, m = t->side[1].n;

	while (n > 0 && m > 0) {
		na = alike(a, n);
		nb = alike(b, m);
		if (a->print == b->print && (na == 1 && nb == 1) == simple)
			pair_group(t, a, na, b, nb);
		if (a->print <= b->print) {
			if (a->print == b->print) {
				b += nb;
				m -= nb;
			}
			a += na;
			n -= na;
		} else {
			b += nb;
			m -= nb;
		}
	}
}

/* ---- clocks, and who is near whom ---- */

static int by_value(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static bool medians(struct vp_two *t)
{
	const struct vp_two_side *a = &t->side[0];
	int64_t *d = malloc((a->n + 1) * sizeof(*d));

	for (uint32_t s = 0; d != NULL && s < t->sources; s++) {
		size_t n = 0;

		for (size_t i = 0; i < a->n; i++)
			if (a->packet[i].source == s && a->packet[i].mate != VP_NONE)
				d[n++] = difference(t, (uint32_t)i, a->packet[i].mate);
		t->source[s].matched = n;
		if (n == 0)
			continue;
		qsort(d, n, sizeof(*d), by_value);
		t->source[s].median_ns = d[n / 2];
	}
	free(d);
	return d != NULL;
}

/* A source that one capture alone knows is near that one. */
static uint8_t only_side(const struct vp_two *t, uint32_t s)
{
	for (size_t k = 0; k < t->side[0].n; k++)
		if (t->side[0].packet[k].source == s)
			return 0;
	return 1;
}

/*
 * Whose packets take longest from the first to the second is near the first. Where packets go one way alone, the side
 * that saw more of them is where they come from.
 */
static void sides(struct vp_two *t)
{
	int64_t least = INT64_MAX, most = INT64_MIN;
	uint32_t known = 0;

	for (uint32_t s = 0; s < t->sources; s++) {
		if (t->source[s].matched == 0)
			continue;
		known++;
		if (t->source[s].median_ns < least)
			least = t->source[s].median_ns;
		if (t->source[s].median_ns > most)
			most = t->source[s].median_ns;
	}
	t->same_place = known > 1 && least == most;
	for (uint32_t s = 0; s < t->sources; s++) {
		struct vp_two_source *o = &t->source[s];

		if (o->matched == 0)
			o->side = only_side(t, s);
		else if (known > 1)
			o->side = distance(o->median_ns, most) > distance(o->median_ns, least);
		else
			o->side = t->side[1].n > t->side[0].n;
	}
}

static void clocks(struct vp_two *t)
{
	const struct vp_two_side *a = &t->side[0];
	int64_t upper = INT64_MAX, lower = INT64_MIN;

	for (size_t i = 0; i < a->n; i++) {
		int64_t d;

		if (a->packet[i].mate == VP_NONE)
			continue;
		d = difference(t, (uint32_t)i, a->packet[i].mate);
		if (t->source[a->packet[i].source].side == 0 && d < upper)
			upper = d;
		if (t->source[a->packet[i].source].side == 1 && d > lower)
			lower = d;
	}
	if (t->same_place) { /* both ways look the same: no way lies between them */
		t->offset_known = true;
		t->offset_ns = upper;
		return;
	}
	t->offset_known = upper != INT64_MAX && lower != INT64_MIN;
	if (t->offset_known) {
		t->error_ns = (upper - lower) / 2;
		t->offset_ns = lower + t->error_ns;
	} else {
		t->offset_ns = upper != INT64_MAX ? upper : lower != INT64_MIN ? lower : 0;
	}
}

/* ---- what became of each ---- */

/*
 * Could the other capture have seen it? Its frames alone tell when it ran. What was lost just before the first of them
 * is known by having been sent again.
 */
static bool within(const struct vp_two *t, unsigned side, const struct vp_two_packet *p)
{
	const struct vp_two_side *s = &t->side[side];
	const struct vp_judge *other = &t->side[1 - side].check.judge;
	const struct vp_two_source *from = &t->source[p->source];
	const int64_t d = from->matched > 0 ? from->median_ns : t->offset_ns;
	int64_t there;

	if (p->again != VP_NONE && s->packet[p->again].mate != VP_NONE)
		return true;
	if (__builtin_add_overflow(p->time_ns, side == 0 ? d : -d, &there))
		return false;
	return other->frames > 0 && there >= other->first_ns && there <= other->last_ns;
}

/* Was a packet like it matched? Then this is one more of it. */
static bool has_matched_twin(const struct vp_two_side *s, const struct sort_key *k, size_t at)
{
	for (size_t i = at; i < s->n && k[i].print == k[at].print; i++)
		if (s->packet[k[i].index].mate != VP_NONE)
			return true;
	for (size_t i = at; i > 0 && k[i - 1].print == k[at].print; i--)
		if (s->packet[k[i - 1].index].mate != VP_NONE)
			return true;
	return false;
}

static void decide(struct vp_two *t, unsigned side, const struct sort_key *k)
{
	struct vp_two_side *s = &t->side[side];

	for (size_t i = 0; i < s->n; i++) {
		struct vp_two_packet *p = &s->packet[k[i].index];
		const bool sent_here = t->source[p->source].side == side;

		if (p->mate != VP_NONE)
			p->fate = VP_MATCHED;
		else if (!within(t, side, p))
			p->fate = VP_OUTSIDE;
		else if (sent_here)
			p->fate = VP_LOST;
		else
			p->fate = has_matched_twin(s, k, i) ? VP_COPIED : VP_MISSED;
		s->fate[p->fate]++;
	}
}

static uint64_t kind_of(const struct vp_two_packet *p)
{
	return mix(mix(p->source, p->destqp), (uint64_t)p->opcode << 32 | p->psn);
}

/* The next of its kind in the same capture. False: no memory. */
static bool sent_again(struct vp_two_side *s)
{
	struct sort_key *k = malloc((s->n + 1) * sizeof(*k));

	for (size_t i = 0; k != NULL && i < s->n; i++)
		k[i] = (struct sort_key){kind_of(&s->packet[i]), (uint32_t)i};
	if (k != NULL)
		qsort(k, s->n, sizeof(*k), by_print);
	for (size_t i = 0; k != NULL && i + 1 < s->n; i++)
		if (k[i].print == k[i + 1].print)
			s->packet[k[i].index].again = k[i + 1].index;
	free(k);
	return k != NULL;
}

static void delays(struct vp_two *t, unsigned side)
{
	struct vp_two_side *s = &t->side[side];
	const struct vp_two_side *o = &t->side[1 - side];
	uint32_t newest = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct vp_two_packet *p = &s->packet[i];
		int64_t d;

		if (p->mate == VP_NONE || t->source[p->source].side != side)
			continue;
		d = o->packet[p->mate].time_ns - p->time_ns;
		if (s->delays == 0 || d < s->delay_min_ns)
			s->delay_min_ns = d;
		if (s->delays == 0 || d > s->delay_max_ns)
			s->delay_max_ns = d;
		s->delays++;
		s->damaged += !p->bad && o->packet[p->mate].bad;
		s->overtaken += p->mate < newest;
		if (p->mate > newest)
			newest = p->mate;
	}
}

bool vp_two_compare(struct vp_two *t)
{
	struct sort_key *a = sorted(&t->side[0]), *b = sorted(&t->side[1]);
	bool ok = a != NULL && b != NULL;

	if (ok) {
		match(t, a, b, true);
		ok = medians(t);
		match(t, a, b, false);
	}
	ok = ok && medians(t);
	if (ok) {
		sides(t);
		clocks(t);
		for (unsigned side = 0; side < 2; side++) {
			ok &= sent_again(&t->side[side]);
			decide(t, side, side == 0 ? a : b);
			delays(t, side);
		}
	}
	free(a);
	free(b);
	return ok;
}

/* ---- the command ---- */

static int read_side(struct vp_two *t, unsigned side, const char *path)
{
	struct vp_two_side *s = &t->side[side];
	struct collector c = {t, s};
	int ret;

	if (!vp_check_begin(&s->check, path))
		return vp_fail(CMD, "no memory");
	s->check.judge.ctx = &c;
	s->check.judge.packet = collect;
	ret = vp_check_read(&s->check, path, false);
	s->check.judge.ctx = NULL;
	s->check.judge.packet = NULL;
	if (s->no_memory || s->check.no_memory)
		return vp_fail(CMD, "%s: no memory for its packets", path);
	return ret;
}

static int verdict(const struct vp_two *t)
{
	for (unsigned side = 0; side < 2; side++)
		if (vs_monitor_totals(t->side[side].check.judge.mon)->broken[VS_RULE_MUST] > 0)
			return VP_FAILED;
	return t->side[0].n > 0 || t->side[1].n > 0 ? VP_OK : VP_NOTHING;
}

int vp_two_run(const char *a, const char *b, bool json, bool summary)
{
	const char *const path[2] = {a, b};
	struct vp_two t = {0};
	int worst = VP_OK, ret;

	for (unsigned side = 0; side < 2 && worst != VP_USAGE; side++) {
		ret = read_side(&t, side, path[side]);
		worst = ret > worst ? ret : worst;
	}
	if (worst != VP_USAGE && !vp_two_compare(&t))
		worst = vp_fail(CMD, "no memory to compare %s and %s", a, b);
	if (worst != VP_USAGE) {
		if (json)
			vp_two_json(&t);
		else
			vp_two_text(&t, summary);
		ret = vp_flush(CMD);
		worst = ret > worst ? ret : worst;
	}
	if (worst == VP_OK)
		worst = verdict(&t);
	for (unsigned side = 0; side < 2; side++) {
		vp_check_end(&t.side[side].check);
		free(t.side[side].packet);
	}
	free(t.source);
	return worst;
}
