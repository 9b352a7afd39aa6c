/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_facts.c - the facts of a recorded run, as JSON (docs/man/vs-pcap.1, "gen").
 *
 * What the frames show is counted by the contract that vs-pcap check keeps too: a repeat is a packet, ACK and CNP
 * apart, whose source, destination, destination QP, opcode and PSN were there before; frames with a bad ICRC count
 * as that and as nothing else. What happened beside the wire (completions, drops) comes from the simulator.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pcap_gen.h"
#include "vs/cm.h"
#include "vs/icrc.h"
#include "vs/mad.h"
#include "vs/psn.h"

#define BUCKETS 8192u
#define KEY_OF_A_KIND 4u /* key frames that are listed of each kind; of broken rules four times as many */
#define SMALLEST_MTU 256u
#define EXCHANGE_MAX 48u /* lines */

enum { NAK_OTHER = 4, NAK_NAMES };
static const char *const nak_names[NAK_NAMES] = {"psn_sequence", "invalid_request", "remote_access",
						 "remote_operational", "other"};

/* One direction: source, destination, destination QP. */
struct flow {
	struct flow *next;
	struct vp_addr src, dst;
	uint32_t destqp;
	bool requests, responses;    /* seen */
	uint32_t next_psn, last_psn; /* of requests: the least and the greatest PSN that may come next */
	uint32_t read_psn;           /* of the last READ response */
	uint32_t newest_psn[2];      /* of requests, of responses */
	bool any[2];
	bool ids_vary;
	int32_t ip_id; /* -1: none yet */
};

struct seen {
	struct seen *next;
	const struct flow *flow;
	uint8_t opcode;
	uint32_t psn;
	const struct vp_shot *shot;
};

enum kind { K_LOST, K_NAK, K_RNR, K_REPEAT, K_CNP, K_CE, K_CRC, K_CM, K_RULE, K_GAP, KINDS };

struct facts {
	const struct vp_take *take;
	struct flow *flows;
	struct seen *bucket[BUCKETS];
	uint64_t rdma, icrc_bad, vcrc_bad, n_flows, retransmissions, network_duplicates, gaps, rnr, cnps, ce;
	uint64_t naks[NAK_NAMES], opcode[256], wrapped;
	unsigned listed[KINDS];
	json_t *encaps, *vlans, *cm, *broken, *notes, *key, *exchange;
	char line[120]; /* of the exchange that is being counted */
	uint64_t in_line;
	bool failed;
};

/* ---- lists ---- */

__attribute__((format(printf, 2, 3))) static void add_line(json_t *list, const char *format, ...)
{
	char text[200];
	va_list ap;
	json_t *j;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	j = json_string(text);
	json_array_append_new(list, j != NULL ? j : json_string("?"));
}

static void count_name(json_t *object, const char *name)
{
	json_object_set_new(object, name, json_integer(json_integer_value(json_object_get(object, name)) + 1));
}

static bool worth_listing(struct facts *f, enum kind k)
{
	return f->listed[k]++ < (k == K_RULE ? 4 * KEY_OF_A_KIND : KEY_OF_A_KIND);
}

static const char *opcode_name(uint8_t opcode, char text[32])
{
	if (vs_opcodes[opcode].name != NULL)
		return vs_opcodes[opcode].name;
	(void)snprintf(text, 32, "opcode 0x%02x", opcode);
	return text;
}

/* ---- flows, repeats, gaps ---- */

static struct flow *flow_of(struct facts *f, const struct vs_pkt *p)
{
	struct flow *w;
	struct vp_addr src, dst;

	vp_addr_of(p, &src, &dst);
	for (w = f->flows; w != NULL; w = w->next)
		if (w->destqp == p->bth.destqp && vp_addr_equal(&w->src, &src) && vp_addr_equal(&w->dst, &dst))
			return w;
	w = calloc(1, sizeof(*w));
	if (w == NULL) {
		f->failed = true;
		return NULL;
	}
	w->src = src;
	w->dst = dst;
	w->destqp = p->bth.destqp;
	w->ip_id = -1;
	w->next = f->flows;
	f->flows = w;
	f->n_flows++;
	return w;
}

static void note_ip_id(struct flow *w, const struct vs_pkt *p)
{
	if (p->encap != VS_ENCAP_ROCEV2_IPV4)
		return;
	w->ids_vary |= w->ip_id >= 0 && w->ip_id != p->ipv4.id;
	w->ip_id = p->ipv4.id;
}

static bool repeats(const struct vs_pkt *p)
{
	return p->bth.opcode != VS_OP_CNP && p->bth.opcode != VS_OP_CNP_IB && p->bth.opcode != VS_OP_RC_ACKNOWLEDGE &&
	       p->bth.opcode != VS_OP_RD_ACKNOWLEDGE && p->bth.opcode != VS_OP_XRC_ACKNOWLEDGE;
}

/* The newest packet like this one, and this one is remembered. */
static const struct vp_shot *seen_before(struct facts *f, const struct flow *w, const struct vs_pkt *p,
					 const struct vp_shot *shot)
{
	struct seen **head = &f->bucket[(p->bth.psn * 257u + p->bth.opcode) % BUCKETS], *s;

	for (s = *head; s != NULL; s = s->next) {
		const struct vp_shot *before = s->shot;

		if (s->flow != w || s->opcode != p->bth.opcode || s->psn != p->bth.psn)
			continue;
		s->shot = shot;
		return before;
	}
	s = malloc(sizeof(*s));
	if (s == NULL) {
		f->failed = true;
		return NULL;
	}
	*s = (struct seen){*head, w, p->bth.opcode, p->bth.psn, shot};
	*head = s;
	return NULL;
}

static bool same_bytes(const struct vp_shot *a, const struct vp_shot *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static bool is_connected(uint8_t opcode)
{
	enum vs_transport t = vs_opcode_transport(opcode);

	return t == VS_TRANSPORT_RC || t == VS_TRANSPORT_UC || t == VS_TRANSPORT_XRC;
}

/* A request beyond the one that was to come. A READ takes as many PSNs as it has responses. */
static bool request_gap(struct flow *w, const struct vs_pkt *p)
{
	bool read = vs_opcodes[p->bth.opcode].response == VS_RESPONSE_READ;
	bool gap = w->requests && vs_psn_gt(p->bth.psn, w->last_psn);
	uint32_t most = read ? vs_psn_count(p->ext.reth.dmalen & 0x7fffffffu, SMALLEST_MTU) : 1;

	if (w->requests && vs_psn_lt(p->bth.psn, w->next_psn))
		return false;
	w->requests = true;
	w->next_psn = vs_psn_add(p->bth.psn, 1);
	w->last_psn = vs_psn_add(p->bth.psn, (int32_t)(most < 0x400000 ? most : 0x400000));
	return gap;
}

/* A Middle or Last READ response that does not follow the one before it. */
static bool response_gap(struct flow *w, const struct vs_pkt *p)
{
	const struct vs_opcode_info *op = &vs_opcodes[p->bth.opcode];
	bool gap = w->responses && !(op->flags & VS_OPF_B) && vs_psn_gt(p->bth.psn, vs_psn_add(w->read_psn, 1));

	w->responses = true;
	w->read_psn = p->bth.psn;
	return gap;
}

static bool is_gap(struct flow *w, const struct vs_pkt *p)
{
	unsigned flags = vs_opcodes[p->bth.opcode].flags;

	if (!is_connected(p->bth.opcode))
		return false;
	if (flags & VS_OPF_Q)
		return request_gap(w, p);
	return flags & VS_OPF_R && flags & VS_OPF_D && response_gap(w, p);
}

/* Does the way from the newest PSN to this one lead over 0? */
static bool wraps(struct flow *w, const struct vs_pkt *p)
{
	bool response = vs_opcodes[p->bth.opcode].flags & VS_OPF_R, wrap = false;
	uint32_t *newest = &w->newest_psn[response];

	if (!is_connected(p->bth.opcode))
		return false;
	if (!w->any[response] || vs_psn_gt(p->bth.psn, *newest)) {
		wrap = w->any[response] &&
		       vs_psn_in(0, vs_psn_add(*newest, 1), (uint32_t)vs_psn_diff(p->bth.psn, *newest));
		*newest = p->bth.psn;
	}
	w->any[response] = true;
	return wrap;
}

/* ---- who sends what, like lines counted ---- */

static void end_line(struct facts *f)
{
	if (f->in_line == 1)
		add_line(f->exchange, "%s", f->line);
	else if (f->in_line > 1)
		add_line(f->exchange, "%s x %" PRIu64, f->line, f->in_line);
	f->in_line = 0;
}

static void tell(struct facts *f, const struct vs_pkt *p)
{
	char line[sizeof(f->line)], text[32], addr[VP_ADDR_TEXT];
	struct vp_addr src, dst;

	vp_addr_of(p, &src, &dst);
	(void)snprintf(line, sizeof(line), "%s: %s", vp_addr_text(&src, addr), opcode_name(p->bth.opcode, text));
	if (f->in_line > 0 && strcmp(line, f->line) == 0) {
		f->in_line++;
		return;
	}
	end_line(f);
	if (json_array_size(f->exchange) >= EXCHANGE_MAX)
		return;
	memcpy(f->line, line, sizeof(line));
	f->in_line = 1;
}

/* ---- one frame ---- */

static void count_aeth(struct facts *f, const struct vs_pkt *p, size_t number)
{
	uint8_t s = p->ext.aeth.syndrome;
	unsigned code = s & 0x1f;

	if (vs_aeth_type(s) == VS_AETH_RNR) {
		f->rnr++;
		if (worth_listing(f, K_RNR))
			add_line(f->key, "%zu: RNR NAK, wait %s, PSN 0x%06x", number, vs_rnr_timer_text((uint8_t)code),
				 p->bth.psn);
	} else if (vs_aeth_type(s) == VS_AETH_NAK) {
		f->naks[code < NAK_OTHER ? code : NAK_OTHER]++;
		if (worth_listing(f, K_NAK))
			add_line(f->key, "%zu: NAK %s, PSN 0x%06x", number, vs_nak_text((uint8_t)code), p->bth.psn);
	}
}

static void count_cm(struct facts *f, const struct vs_pkt *p, size_t number)
{
	const struct vs_cm_info *info;
	struct vs_cm_msg m;
	struct vs_mad mad;
	char name[48];

	if (p->bth.opcode != VS_OP_UD_SEND_ONLY || p->bth.destqp != VS_QPN_GSI ||
	    vs_mad_parse(&mad, p->payload, p->payload_len) != 0 || mad.mgmt_class != VS_MAD_CLASS_CM)
		return;
	info = vs_cm_info(mad.attribute_id);
	if (info == NULL ||
	    vs_cm_parse(&m, mad.attribute_id, p->payload + VS_MAD_HDR_LEN, p->payload_len - VS_MAD_HDR_LEN) != 0)
		return;
	(void)snprintf(name, sizeof(name), "%s", info->abbrev);
	if (m.attribute == VS_CM_ATTR_REJ)
		(void)snprintf(name, sizeof(name), "%s, reason %u", info->abbrev, m.rej.reason);
	count_name(f->cm, name);
	if (f->listed[K_CM]++ < 2 * KEY_OF_A_KIND)
		add_line(f->key, "%zu: CM %s", number, name);
}

static void count_transport(struct facts *f, const struct vs_pkt *p, const struct vp_shot *shot, size_t number)
{
	struct flow *w = flow_of(f, p);
	const struct vp_shot *before;
	char text[32];

	if (w == NULL)
		return;
	note_ip_id(w, p);
	f->opcode[p->bth.opcode]++;
	f->wrapped += wraps(w, p);
	tell(f, p);
	before = repeats(p) ? seen_before(f, w, p, shot) : NULL;
	if (before != NULL) {
		if (w->ids_vary && same_bytes(before, shot))
			f->network_duplicates++;
		else
			f->retransmissions++;
		if (worth_listing(f, K_REPEAT))
			add_line(f->key, "%zu: %s again, PSN 0x%06x", number, opcode_name(p->bth.opcode, text),
				 p->bth.psn);
	} else if (is_gap(w, p)) {
		f->gaps++;
		if (worth_listing(f, K_GAP))
			add_line(f->key, "%zu: something is missing before PSN 0x%06x", number, p->bth.psn);
	}
	if (p->hdrs & VS_HDR_AETH)
		count_aeth(f, p, number);
	if (p->bth.opcode == VS_OP_CNP) {
		f->cnps++;
		if (worth_listing(f, K_CNP))
			add_line(f->key, "%zu: CNP to QP 0x%06x", number, p->bth.destqp);
	}
	count_cm(f, p, number);
}

static void count_rules(struct facts *f, const struct vs_pkt *p, enum vs_crc_status icrc, enum vs_crc_status vcrc,
			size_t number)
{
	enum vs_reason why[VS_REASON_WIRE_LAST];
	size_t n = vs_pkt_validate(p, icrc, vcrc, why, VS_REASON_WIRE_LAST);

	for (size_t i = 0; i < n && i < VS_REASON_WIRE_LAST; i++) {
		const struct vs_reason_info *info = vs_reason_info(why[i]);

		if (why[i] == VS_REASON_IP_ECN_CE) {
			f->ce++;
			if (worth_listing(f, K_CE))
				add_line(f->key, "%zu: marked on its way (ECN CE)", number);
			continue;
		}
		add_line(info->severity == VS_SEV_NOTE ? f->notes : f->broken, "%zu: %s", number, info->id);
		if (why[i] != VS_REASON_ICRC_BAD && worth_listing(f, K_RULE))
			add_line(f->key, "%zu: %s", number, info->sentence);
	}
}

static void count_frame(struct facts *f, const struct vp_shot *shot, size_t number)
{
	enum vs_crc_status icrc = VS_CRC_UNVERIFIED, vcrc = VS_CRC_UNVERIFIED;
	struct vs_pkt p;
	char text[32];

	if (vs_pkt_parse(&p, shot->link, 0, shot->data, shot->len, shot->len, 0) != 0)
		return;
	f->rdma++;
	count_name(f->encaps, vp_encap_name(p.encap));
	for (unsigned i = 0; p.flags & VS_PKT_HAS_ETH && i < p.eth.vlan_count; i++) {
		(void)snprintf(text, sizeof(text), "%u", p.eth.vlan[i].tci & 0xfffu);
		count_name(f->vlans, text);
	}
	if (shot->link == VS_LINK_IB)
		vcrc = vs_vcrc_check(&p, shot->data, NULL);
	if (p.flags & VS_PKT_HAS_BTH)
		icrc = vs_icrc_check(&p, shot->data, NULL);
	f->vcrc_bad += vcrc == VS_CRC_BAD;
	if (shot->lost && worth_listing(f, K_LOST))
		add_line(f->key, "%zu: lost on the way: %s, PSN 0x%06x", number, opcode_name(p.bth.opcode, text),
			 p.bth.psn);
	count_rules(f, &p, icrc, vcrc, number);
	if (icrc == VS_CRC_BAD) {
		f->icrc_bad++;
		if (worth_listing(f, K_CRC))
			add_line(f->key, "%zu: ICRC is wrong", number);
	} else if (p.flags & VS_PKT_HAS_BTH) {
		count_transport(f, &p, shot, number);
	}
}

/* ---- JSON ---- */

static json_t *tally(const struct vp_take *t, enum vp_section s)
{
	json_t *j = json_object();

	for (const struct vp_tally *y = t->tally[s]; y != NULL; y = y->next)
		json_object_set_new(j, y->name, json_integer((json_int_t)y->n));
	return j;
}

static void set(json_t *j, const char *key, uint64_t v)
{
	json_object_set_new(j, key, json_integer((json_int_t)v));
}

static void set_text(json_t *j, const char *key, const char *text)
{
	json_t *s;

	if (text == NULL || *text == '\0')
		return;
	s = json_string(text);
	json_object_set_new(j, key, s != NULL ? s : json_string("?"));
}

static void wire_json(const struct facts *f, json_t *j)
{
	json_t *naks = json_object(), *ops = json_object();
	char text[32];

	set(j, "packets", f->take->n);
	set(j, "roce_packets", f->rdma);
	json_object_set(j, "encapsulations", f->encaps);
	json_object_set(j, "vlans", f->vlans);
	set(j, "icrc_bad", f->icrc_bad);
	set(j, "vcrc_bad", f->vcrc_bad);
	set(j, "flows", f->n_flows);
	set(j, "retransmissions", f->retransmissions);
	set(j, "duplicates", f->take->duplicates);
	set(j, "gaps", f->gaps);
	set(j, "network_duplicates", f->network_duplicates);
	for (unsigned i = 0; i < NAK_NAMES; i++)
		set(naks, nak_names[i], f->naks[i]);
	json_object_set_new(j, "naks", naks);
	set(j, "rnr_naks", f->rnr);
	set(j, "cnps", f->cnps);
	set(j, "ce_marked", f->ce);
	set(j, "psn_wraps", f->wrapped);
	for (unsigned op = 0; op < 256; op++)
		if (f->opcode[op] > 0)
			set(ops, opcode_name((uint8_t)op, text), f->opcode[op]);
	json_object_set_new(j, "opcodes", ops);
	json_object_set(j, "cm_messages", f->cm);
	json_object_set(j, "broken_rules", f->broken);
	json_object_set(j, "notes", f->notes);
	json_object_set(j, "exchange", f->exchange);
}

static void run_json(const struct vp_take *t, json_t *j)
{
	static const char *const names[VP_SECTIONS] = {"completions", "async_events", "drops",
						       "refused",     "retries",      "cm_events"};

	set(j, "lost", t->lost);
	for (unsigned s = 0; s < VP_SECTIONS; s++)
		json_object_set_new(j, names[s], tally(t, (enum vp_section)s));
}

static json_t *build(const struct facts *f, const struct vp_run_info *info)
{
	json_t *j = json_object(), *run = json_object();

	set_text(j, "scenario", info->scenario);
	set_text(j, "case", info->id);
	set_text(j, "title", info->title);
	set_text(j, "vector", info->vector);
	set(j, "seed", info->seed);
	set_text(j, "at", f->take->at);
	wire_json(f, j);
	json_object_set(j, "key_frames", f->key);
	set_text(run, "verdict", info->verdict);
	set_text(run, "variant", info->variant);
	run_json(f->take, run);
	json_object_set_new(j, "run", run);
	return j;
}

/* Where nothing is out of the ordinary, the first packet of each opcode is what there is to be seen. */
static void list_opcodes(struct facts *f)
{
	bool listed[256] = {false};
	char text[32];

	for (size_t i = 0; i < f->take->n; i++) {
		const struct vp_shot *s = &f->take->shot[i];
		struct vs_pkt p;

		if (vs_pkt_parse(&p, s->link, 0, s->data, s->len, s->len, 0) != 0 || !(p.flags & VS_PKT_HAS_BTH) ||
		    listed[p.bth.opcode])
			continue;
		listed[p.bth.opcode] = true;
		add_line(f->key, "%zu: %s, PSN 0x%06x", i + 1, opcode_name(p.bth.opcode, text), p.bth.psn);
	}
}

static void free_facts(struct facts *f)
{
	while (f->flows != NULL) {
		struct flow *gone = f->flows;

		f->flows = gone->next;
		free(gone);
	}
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (f->bucket[i] != NULL) {
			struct seen *gone = f->bucket[i];

			f->bucket[i] = gone->next;
			free(gone);
		}
	}
	json_decref(f->encaps);
	json_decref(f->vlans);
	json_decref(f->exchange);
	json_decref(f->cm);
	json_decref(f->broken);
	json_decref(f->notes);
	json_decref(f->key);
	free(f);
}

json_t *vp_facts(const struct vp_take *t, const struct vp_run_info *info)
{
	struct facts *f = calloc(1, sizeof(*f));
	const struct vp_mark *m = t->marks;
	json_t *j;

	if (f == NULL)
		return NULL;
	f->take = t;
	f->encaps = json_object();
	f->vlans = json_object();
	f->exchange = json_array();
	f->cm = json_object();
	f->broken = json_array();
	f->notes = json_array();
	f->key = json_array();
	for (size_t i = 0; i < t->n; i++) {
		for (; m != NULL && m->frame <= i; m = m->next)
			add_line(f->key, "%zu: %s", i + 1, m->text);
		count_frame(f, &t->shot[i], i + 1);
	}
	end_line(f);
	if (json_array_size(f->key) == 0)
		list_opcodes(f);
	j = f->failed ? NULL : build(f, info);
	free_facts(f);
	return j;
}
