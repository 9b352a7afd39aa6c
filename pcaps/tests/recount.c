/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * recount.c - what vs-pcap check --json counts, counted again by the words of the manual: every packet is kept, and
 * each is compared with all before it. It knows the codec, and nothing of the monitor that is compared with it.
 *
 *   recount FILE...        a line for each: NAME packets=N roce_packets=N icrc_bad=N flows=N ...
 *   recount -r SEED FILE   writes a capture of a few connections at random: losses, repeats, copies, jumps over the
 *                          wrap of the PSN, refusals, congestion notifications, damage
 *
 * Exit 0, or 2: a file can't be read or written. Segmentation-offload super-packets are not taken apart.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vs/icrc.h"
#include "vs/pktio.h"
#include "vs/psn.h"

#define HALF 0x800000
#define TURN 0x1000000
#define BUCKETS 65536u

static void die(const char *text)
{
	fprintf(stderr, "recount: %s\n", text);
	exit(2);
}

/* ---- what was there ---- */

struct flow {
	struct flow *next;
	uint8_t who[36]; /* source, destination, 16 bytes each; QP */
	bool any_id, several_ids;
	uint16_t id;
	uint64_t copies, again;  /* repeats with the bytes of another packet, and without */
	int64_t far[2], head[2]; /* PSNs that requests and responses went forward; the PSN where they stand */
	bool begun[2];
	int64_t due_least, due_most, last_response; /* of requests, of READ responses; -1: none */
};

struct packet {
	struct packet *next;
	const struct flow *flow;
	uint8_t opcode;
	uint32_t psn;
	int64_t far; /* where it stands on the way of its flow */
	uint16_t id;
	uint32_t len;
	uint8_t *bytes; /* BTH to ICRC */
};

struct count {
	struct flow *flows;
	struct packet *bucket[BUCKETS];
	uint64_t packets, roce, bad, n_flows, gaps, rnr, cnps, naks[5];
};

static struct flow *flow_of(struct count *c, const struct vs_pkt *p)
{
	uint8_t who[36] = {0};
	struct flow *f;

	if (p->encap == VS_ENCAP_ROCEV2_IPV4) {
		memcpy(who, p->ipv4.src, 4);
		memcpy(who + 16, p->ipv4.dst, 4);
	} else if (p->encap == VS_ENCAP_IB) {
		memcpy(who, &p->lrh.slid, 2);
		memcpy(who + 16, &p->lrh.dlid, 2);
	} else {
		memcpy(who, p->grh.sgid, 16);
		memcpy(who + 16, p->grh.dgid, 16);
	}
	memcpy(who + 32, &p->bth.destqp, 4);
	for (f = c->flows; f != NULL; f = f->next)
		if (memcmp(f->who, who, sizeof(who)) == 0)
			return f;
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		die("no memory");
	memcpy(f->who, who, sizeof(who));
	f->due_least = f->due_most = f->last_response = -1;
	f->next = c->flows;
	c->flows = f;
	c->n_flows++;
	return f;
}

/* ---- repeats ---- */

static int64_t ahead(uint32_t to, int64_t from)
{
	return ((int64_t)to - from + TURN) % TURN;
}

/* How far its flow has come with this packet; where the packet stands is this, or behind it. */
static int64_t walk(struct flow *f, bool response, uint32_t psn)
{
	const int64_t d = f->begun[response] ? ahead(psn, f->head[response]) : 0;

	if (f->begun[response] && d >= HALF)
		return f->far[response] - (TURN - d);
	f->begun[response] = true;
	f->far[response] += d;
	f->head[response] = psn;
	return f->far[response];
}

static bool same(const struct packet *a, const uint8_t *bytes, uint32_t len, uint16_t id)
{
	return a->id == id && a->len == len && memcmp(a->bytes, bytes, len) == 0;
}

static bool repeat(struct count *c, struct flow *f, const struct vs_pkt *p, const uint8_t *bytes, uint32_t len)
{
	const bool response = vs_opcodes[p->bth.opcode].flags & VS_OPF_R, v4 = p->encap == VS_ENCAP_ROCEV2_IPV4;
	struct packet **head = &c->bucket[(p->bth.psn * 31 + p->bth.opcode) % BUCKETS], *q;
	const int64_t at = walk(f, response, p->bth.psn);
	bool before = false, copy = false;

	for (q = *head; q != NULL; q = q->next) {
		if (q->flow != f || q->opcode != p->bth.opcode || q->psn != p->bth.psn ||
		    f->far[response] - q->far > HALF)
			continue;
		before = true;
		copy |= v4 && same(q, bytes, len, p->ipv4.id);
	}
	q = malloc(sizeof(*q));
	if (q == NULL || (q->bytes = malloc(len + 1)) == NULL)
		die("no memory");
	memcpy(q->bytes, bytes, len);
	q->next = *head;
	q->flow = f;
	q->opcode = p->bth.opcode;
	q->psn = p->bth.psn;
	q->far = at;
	q->id = p->ipv4.id;
	q->len = len;
	*head = q;
	f->copies += copy;
	f->again += before && !copy;
	return before;
}

/* ---- gaps ---- */

static bool connected(uint8_t opcode)
{
	return opcode >> 5 == 0 || opcode >> 5 == 1 || opcode >> 5 == 5; /* RC, UC, XRC */
}

static bool gap(struct flow *f, const struct vs_pkt *p)
{
	const uint8_t op = p->bth.opcode & 0x1f;
	const int64_t at = p->bth.psn;
	bool missing;

	if (op >= 0x0d && op <= 0x10) { /* READ response First, Middle, Last, Only */
		missing = f->last_response >= 0 && (op == 0x0e || op == 0x0f) &&
			  ahead(p->bth.psn, f->last_response) < HALF && ahead(p->bth.psn, f->last_response) > 1;
		f->last_response = at;
		return missing;
	}
	if (op == 0x11 || op == 0x12)
		return false;
	if (f->due_least >= 0 && ahead(p->bth.psn, f->due_least) >= HALF)
		return false; /* behind */
	missing = f->due_least >= 0 && ahead(p->bth.psn, f->due_most) > 0 && ahead(p->bth.psn, f->due_most) < HALF;
	f->due_least = (at + 1) % TURN;
	f->due_most = f->due_least;
	if (op == 0x0c || op == 0x1c) { /* READ request, FLUSH: as many PSNs as responses */
		const uint32_t len = op == 0x0c ? p->ext.reth.dmalen & 0x7fffffff : 0;
		int64_t n = len > 256 ? ((int64_t)len + 255) / 256 : 1;

		f->due_most = (at + (n < 0x400000 ? n : 0x400000)) % TURN;
	}
	return missing;
}

/* ---- a file ---- */

static void transport(struct count *c, const struct vs_pkt *p, const uint8_t *data)
{
	struct flow *f = flow_of(c, p);
	const uint8_t op = p->bth.opcode, syndrome = p->ext.aeth.syndrome;
	const bool ack = op == 0x11 || op == 0x51 || op == 0xb1, cnp = op == 0x81 || op == 0x80;

	if (p->encap == VS_ENCAP_ROCEV2_IPV4) {
		f->several_ids |= f->any_id && f->id != p->ipv4.id;
		f->id = p->ipv4.id;
		f->any_id = true;
	}
	c->cnps += op == 0x81;
	if ((ack || cnp || !repeat(c, f, p, data + p->bth_off, p->end_off - p->bth_off)) &&
	    vs_opcodes[op].name != NULL && connected(op))
		c->gaps += gap(f, p);
	if (!(p->hdrs & VS_HDR_AETH))
		return;
	if (syndrome >> 5 == 1)
		c->rnr++;
	if (syndrome >> 5 == 3)
		c->naks[(syndrome & 0x1f) < 4 ? syndrome & 0x1f : 4]++;
}

static void print(const struct count *c, const char *path)
{
	const char *name = strrchr(path, '/');
	uint64_t retransmissions = 0, copies = 0;

	for (const struct flow *f = c->flows; f != NULL; f = f->next) {
		retransmissions += f->again + (f->several_ids ? 0 : f->copies);
		copies += f->several_ids ? f->copies : 0;
	}
	printf("%s packets=%" PRIu64 " roce_packets=%" PRIu64 " icrc_bad=%" PRIu64 " flows=%" PRIu64
	       " retransmissions=%" PRIu64 " gaps=%" PRIu64 " network_duplicates=%" PRIu64,
	       name != NULL ? name + 1 : path, c->packets, c->roce, c->bad, c->n_flows, retransmissions, c->gaps,
	       copies);
	printf(" psn_sequence=%" PRIu64 " invalid_request=%" PRIu64 " remote_access=%" PRIu64
	       " remote_operational=%" PRIu64 " other=%" PRIu64 " rnr_naks=%" PRIu64 " cnps=%" PRIu64 "\n",
	       c->naks[0], c->naks[1], c->naks[2], c->naks[3], c->naks[4], c->rnr, c->cnps);
}

static void release(struct count *c)
{
	while (c->flows != NULL) {
		struct flow *gone = c->flows;

		c->flows = gone->next;
		free(gone);
	}
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (c->bucket[i] != NULL) {
			struct packet *gone = c->bucket[i];

			c->bucket[i] = gone->next;
			free(gone->bytes);
			free(gone);
		}
	}
	free(c);
}

static void recount(const char *path)
{
	struct vs_io_error err;
	struct vs_capture *file = vs_capture_open(path, &err);
	struct count *c = calloc(1, sizeof(*c));
	struct vs_frame f;
	struct vs_pkt p;
	int ret = -1;

	if (c == NULL)
		die("no memory");
	while (file != NULL && (ret = vs_capture_next(file, &f, &err)) == 1) {
		c->packets++;
		if (vs_pkt_parse(&p, f.link, f.ethertype, f.data, f.caplen, f.wirelen, 0) != VS_OK)
			continue;
		c->roce++;
		if (!(p.flags & VS_PKT_HAS_BTH))
			continue;
		if (vs_icrc_check(&p, f.data, NULL) == VS_CRC_BAD)
			c->bad++;
		else
			transport(c, &p, f.data);
	}
	vs_capture_close(file);
	if (ret != 0)
		die(err.text);
	print(c, path);
	release(c);
}

/* ---- a capture at random ---- */

#define KEPT 8192u /* more than the monitor remembers in detail */
#define FRAME_MAX 2048u
#define SIDES 6u
#define PACKETS 30000u

static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % n;
}

/* One direction of a connection. */
struct side {
	enum vs_encap encap;
	uint8_t from, to;
	uint32_t qp, psn[2]; /* of requests, of responses */
	bool ids;
	uint16_t id;
	struct vs_pkt sent[KEPT]; /* to be repeated */
	uint32_t n;
};

static uint8_t opcode_at_random(bool response)
{
	static const uint8_t requests[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x04, 0x06, 0x07, 0x07,
					   0x08, 0x0a, 0x0c, 0x0c, 0x13, 0x14, 0x24, 0x64},
			     responses[] = {0x0d, 0x0e, 0x0e, 0x0f, 0x10, 0x11, 0x11, 0x11, 0x12};

	return response ? responses[below(sizeof(responses))] : requests[below(sizeof(requests))];
}

static void make(struct side *s, struct vs_pkt *p)
{
	static const int32_t steps[] = {1, 1, 1, 1, 1, 1, 1, 2, 3, 17}, leaps[] = {5000, 70000, 0x3fff00};
	static const uint8_t syndromes[] = {0x1f, 0x1f, 0x00, 0x60, 0x61, 0x62, 0x63, 0x64, 0x2e};
	static const uint8_t zero[256];
	const bool response = below(3) == 0;
	const uint8_t op = below(40) == 0 ? VS_OP_CNP : opcode_at_random(response);

	vs_pkt_init(p, s->encap, op, true);
	p->ipv4.src[3] = p->grh.sgid[15] = s->from;
	p->ipv4.dst[3] = p->grh.dgid[15] = s->to;
	p->bth.destqp = s->qp;
	p->bth.ackreq = (uint8_t)below(2);
	if (op != VS_OP_CNP) {
		p->bth.psn = s->psn[response];
		s->psn[response] = vs_psn_add(s->psn[response], below(1000) == 0 ? leaps[below(3)] : steps[below(10)]);
		if (vs_opcodes[op].payload != VS_PAYLOAD_NONE) {
			p->payload = zero;
			p->payload_len = below(64) * 4;
		}
	}
	p->ext.reth.dmalen = below(4) == 0 ? below(100000) : p->payload_len;
	p->ext.reth.va = below(65536) * 8u;
	if (p->hdrs & VS_HDR_AETH) {
		p->ext.aeth.syndrome = syndromes[below(sizeof(syndromes))];
		p->ext.aeth.msn = below(TURN);
	}
}

static void put(struct vs_writer *w, struct side *s, struct vs_pkt *p, bool same_id)
{
	static uint8_t frame[FRAME_MAX], scratch[FRAME_MAX];
	static int64_t now_ns = 1000000000;
	struct vs_io_error err;
	int len;

	if (!same_id)
		p->ipv4.id = s->ids ? ++s->id : 0;
	len = vs_pkt_seal(p, VS_SEAL_ALL, scratch, sizeof(scratch));
	if (len == 0)
		len = vs_pkt_build(p, frame, sizeof(frame));
	if (len < 0)
		die("a packet can't be built");
	if (below(50) == 0)
		frame[len - 1] ^= 0x10;
	now_ns += below(20000);
	if (vs_writer_put(w, now_ns, frame, (uint32_t)len, (uint32_t)len, &err) != 0)
		die(err.text);
}

static void write_random(const char *path)
{
	struct vs_io_error err;
	struct vs_writer *w = vs_writer_open(path, VS_WRITER_ETHERNET, &err);
	struct side *side = calloc(SIDES, sizeof(*side));

	if (w == NULL || side == NULL)
		die(err.text);
	for (unsigned i = 0; i < SIDES; i++)
		side[i] = (struct side){.encap = i < 4 ? VS_ENCAP_ROCEV2_IPV4 : VS_ENCAP_ROCEV2_IPV6,
					.from = (uint8_t)(1 + (i & 1)),
					.to = (uint8_t)(2 - (i & 1)),
					.qp = 0x11 + i / 2,
					.psn = {below(TURN), below(TURN)},
					.ids = i < 2 || i == 3};
	for (unsigned i = 0; i < PACKETS; i++) {
		struct side *s = &side[below(3) > 0 ? 0 : below(SIDES)] /* one is busy */;
		struct vs_pkt p;

		if (s->n > 0 && below(5) == 0) {
			/* of long ago, again; or the newest, copied */
			const bool copy = below(3) == 0;
			const uint32_t back = copy ? 0 : below(s->n < KEPT ? s->n : KEPT);

			p = s->sent[(s->n - 1 - back) % KEPT];
			put(w, s, &p, copy);
			continue;
		}
		make(s, &p);
		if (below(30) == 0)
			continue; /* lost */
		put(w, s, &p, false);
		s->sent[s->n++ % KEPT] = p;
	}
	free(side);
	if (vs_writer_close(w, &err) != 0)
		die(err.text);
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "-r") == 0) {
		seed = strtoull(argv[2], NULL, 10) * 2 + 1;
		write_random(argv[3]);
		return 0;
	}
	if (argc < 2)
		die("usage: recount FILE..., recount -r SEED FILE");
	for (int i = 1; i < argc; i++)
		recount(argv[i]);
	return 0;
}
