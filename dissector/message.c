/* SPDX-License-Identifier: GPL-2.0-or-later */
/* message.c - the data of messages, put together from the payloads of their packets (message.h). */
#include "message.h"

#include <inttypes.h>

#include "vs/opcode.h"
#include "vs/psn.h"

#define LIMIT ((uint64_t)256 << 20)
#define DUMP_WIDTH 16u

/* What one packet brought. */
struct piece {
	uint32_t psn, frame;
	uint32_t at, len; /* bytes of message.data */
	uint32_t wire;    /* as on the wire: more than `len` when the capture cut it */
	uint8_t opcode;
};

struct message {
	uint32_t began; /* frame; 0: before the capture */
	uint32_t stream;
	char *from, *to;
	GArray *pieces; /* struct piece, by PSN */
	GByteArray *data;
};

struct rdma_messages {
	GPtrArray *all;     /* struct message, in the order in which they were first seen */
	GHashTable *by_key; /* key -> GPtrArray of the messages that it may be, in the same order */
	uint64_t bytes, left_out;
};

static void message_free(void *data)
{
	struct message *g = data;

	g_array_free(g->pieces, TRUE);
	g_byte_array_free(g->data, TRUE);
	g_free(g->from);
	g_free(g->to);
	g_free(g);
}

static void list_free(void *data)
{
	g_ptr_array_free(data, TRUE);
}

struct rdma_messages *rdma_messages_new(void)
{
	struct rdma_messages *m = g_new0(struct rdma_messages, 1);

	m->all = g_ptr_array_new_with_free_func(message_free);
	m->by_key = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, list_free);
	return m;
}

void rdma_messages_free(struct rdma_messages *m)
{
	if (m == NULL)
		return;
	g_hash_table_destroy(m->by_key);
	g_ptr_array_free(m->all, TRUE);
	g_free(m);
}

void rdma_messages_clear(struct rdma_messages *m)
{
	g_hash_table_remove_all(m->by_key);
	g_ptr_array_set_size(m->all, 0);
	m->bytes = m->left_out = 0;
}

/* ---- which message ---- */

static uint16_t kind(uint8_t opcode)
{
	return vs_opcodes[opcode].flags & (VS_OPF_S | VS_OPF_W | VS_OPF_D);
}

bool rdma_messages_has_data(const struct rdma_tap *t)
{
	const struct vs_mon_result *r;

	if (t->analysis == NULL || kind(t->opcode) == 0 || t->opcode == VS_OP_RC_READ_REQUEST)
		return false;
	r = &t->analysis->r;
	return r->class_ == VS_MON_NEW || r->class_ == VS_MON_LATE || r->class_ == VS_MON_RESPONSE;
}

/* Messages that began in one frame have one key: a segmentation-offload super-packet may begin several. */
static int64_t key_of(const struct rdma_tap *t)
{
	const struct vs_mon_result *r = &t->analysis->r;
	const uint64_t answer = (vs_opcodes[t->opcode].flags & VS_OPF_R) != 0;

	return (int64_t)(r->message != 0 ? (uint64_t)r->message << 1 | answer
					 : (uint64_t)1 << 40 | (uint64_t)r->stream << 1 | answer);
}

static GPtrArray *candidates(struct rdma_messages *m, int64_t key)
{
	GPtrArray *list = g_hash_table_lookup(m->by_key, &key);
	int64_t *kept;

	if (list == NULL) {
		list = g_ptr_array_new();
		kept = g_new(int64_t, 1);
		*kept = key;
		g_hash_table_insert(m->by_key, kept, list);
	}
	return list;
}

static uint32_t first_psn(const struct message *g)
{
	return g_array_index(g->pieces, struct piece, 0).psn;
}

static struct message *message_new(struct rdma_messages *m, const struct rdma_tap *t)
{
	struct message *g = g_new0(struct message, 1);
	char text[RDMA_ENDPOINT_LEN];

	g->began = t->analysis->r.message;
	g->stream = t->analysis->r.stream;
	rdma_endpoint_format(text, sizeof(text), &t->src, t->src_qp_known, t->src_qp);
	g->from = g_strdup(text);
	rdma_endpoint_format(text, sizeof(text), &t->dst, true, t->dest_qp);
	g->to = g_strdup(text);
	g->pieces = g_array_new(FALSE, FALSE, sizeof(struct piece));
	g->data = g_byte_array_new();
	g_ptr_array_add(m->all, g);
	return g;
}

static bool has_beginning(const struct message *g)
{
	return vs_opcodes[g_array_index(g->pieces, struct piece, 0).opcode].flags & VS_OPF_B;
}

/* That which begins nearest before this PSN, else the first of them. */
static struct message *nearest(const GPtrArray *list, uint32_t psn)
{
	struct message *best = NULL;

	for (unsigned i = 0; i < list->len; i++) {
		struct message *g = g_ptr_array_index(list, i);

		if (best == NULL || (vs_psn_le(first_psn(g), psn) && vs_psn_gt(first_psn(g), first_psn(best))))
			best = g;
	}
	return best;
}

/* The responses to a known READ may begin again in its middle; any other packet that begins a message begins a new one.
 */
static struct message *message_of(struct rdma_messages *m, const struct rdma_tap *t)
{
	const bool again = kind(t->opcode) == VS_OPF_D && t->analysis->r.message != 0;
	const bool begins = (vs_opcodes[t->opcode].flags & VS_OPF_B) != 0 && !again;
	GPtrArray *list = candidates(m, key_of(t));
	struct message *g = nearest(list, t->psn);

	if (g == NULL || (begins && has_beginning(g) && first_psn(g) != t->psn)) {
		g = message_new(m, t);
		g_ptr_array_add(list, g);
	}
	return g;
}

void rdma_messages_add(struct rdma_messages *m, uint32_t frame, const struct rdma_tap *t)
{
	struct piece p = {.psn = t->psn, .frame = frame, .wire = t->payload_len, .opcode = t->opcode};
	struct message *g;
	unsigned i;

	if (!rdma_messages_has_data(t))
		return;
	g = message_of(m, t);
	for (i = g->pieces->len; i > 0; i--) { /* nearly always at the end */
		const int32_t behind = vs_psn_diff(t->psn, g_array_index(g->pieces, struct piece, i - 1).psn);

		if (behind == 0)
			return;
		if (behind > 0)
			break;
	}
	p.at = g->data->len;
	p.len = t->payload_cap;
	if (m->bytes + p.len > LIMIT) {
		m->left_out += p.len;
		p.len = 0;
	}
	m->bytes += p.len;
	g_byte_array_append(g->data, t->payload, p.len);
	g_array_insert_val(g->pieces, i, p);
}

/* ---- as text ---- */

static const char *kind_name(uint8_t opcode)
{
	switch (kind(opcode)) {
	case VS_OPF_S:
		return "SEND";
	case VS_OPF_W:
		return "RDMA WRITE";
	default:
		return "RDMA READ";
	}
}

/* 70 columns: as many as Wireshark's text windows have. */
static void dump_line(GString *s, uint64_t offset, const uint8_t *b, uint32_t len)
{
	g_string_append_printf(s, "%04" PRIx64, offset);
	for (uint32_t i = 0; i < DUMP_WIDTH; i++)
		if (i < len)
			g_string_append_printf(s, " %02x", b[i]);
		else
			g_string_append(s, "   ");
	g_string_append(s, "  ");
	for (uint32_t i = 0; i < len; i++)
		g_string_append_c(s, (char)(b[i] >= 0x20 && b[i] < 0x7f ? b[i] : '.'));
	g_string_append_c(s, '\n');
}

/* Bytes that stand one after another. */
struct run {
	uint64_t offset; /* of the first in the message */
	GByteArray *bytes;
};

static void run_end(GString *s, struct run *r, uint64_t next)
{
	for (uint32_t i = 0; i < r->bytes->len; i += DUMP_WIDTH)
		dump_line(s, r->offset + i, r->bytes->data + i, MIN(DUMP_WIDTH, r->bytes->len - i));
	g_byte_array_set_size(r->bytes, 0);
	r->offset = next;
}

struct sums {
	uint64_t wire, captured;
	uint32_t missing, first_frame, last_frame;
	bool has_begin, has_end;
};

static struct sums sum(const struct message *g)
{
	const struct piece *p = &g_array_index(g->pieces, struct piece, 0);
	const uint32_t n = g->pieces->len;
	struct sums a = {.first_frame = UINT32_MAX};

	a.has_begin = has_beginning(g);
	a.has_end = vs_opcodes[p[n - 1].opcode].flags & VS_OPF_E;
	for (uint32_t i = 0; i < n; i++) {
		a.wire += p[i].wire;
		a.captured += p[i].len;
		a.first_frame = MIN(a.first_frame, p[i].frame);
		a.last_frame = MAX(a.last_frame, p[i].frame);
		if (i > 0)
			a.missing += (uint32_t)(vs_psn_diff(p[i].psn, p[i - 1].psn) - 1);
	}
	return a;
}

static void heading(GString *s, const struct message *g, const struct sums *a)
{
	const struct piece *p = &g_array_index(g->pieces, struct piece, 0);

	g_string_append_printf(s, "Stream %u, ", g->stream);
	if (g->began != 0)
		g_string_append_printf(s, "message that began in frame %u\n", g->began);
	else
		g_string_append(s, "message that began before the capture\n");
	g_string_append_printf(s, "%s %s, %" PRIu64 " byte%s in %u packet%s",
			       vs_transport_name(vs_opcode_transport(p->opcode)), kind_name(p->opcode), a->wire,
			       a->wire == 1 ? "" : "s", g->pieces->len, g->pieces->len == 1 ? "" : "s");
	if (a->first_frame == a->last_frame)
		g_string_append_printf(s, ", frame %u\n", a->first_frame);
	else
		g_string_append_printf(s, ", frames %u to %u\n", a->first_frame, a->last_frame);
	g_string_append_printf(s, "%s -> %s, PSN %u\n", g->from, g->to, p->psn);
}

static void body(GString *s, const struct message *g)
{
	struct run r = {.bytes = g_byte_array_new()};
	const struct piece *before = NULL;
	uint64_t offset = 0;

	for (uint32_t i = 0; i < g->pieces->len; i++) {
		const struct piece *p = &g_array_index(g->pieces, struct piece, i);
		const int32_t lost = before != NULL ? vs_psn_diff(p->psn, before->psn) - 1 : 0;

		if (lost > 0) {
			run_end(s, &r, offset);
			g_string_append_printf(s, "[%d packet%s missing here]\n", lost, lost == 1 ? " is" : "s are");
		}
		g_byte_array_append(r.bytes, g->data->data + p->at, p->len);
		offset += p->wire;
		if (p->len < p->wire) {
			run_end(s, &r, offset);
			g_string_append_printf(s, "[%u bytes of frame %u are not in the capture]\n", p->wire - p->len,
					       p->frame);
		}
		before = p;
	}
	run_end(s, &r, offset);
	g_byte_array_free(r.bytes, TRUE);
}

char *rdma_messages_text(const struct rdma_messages *m, uint32_t began)
{
	GString *s = g_string_new(NULL);

	for (unsigned i = 0; i < m->all->len; i++) {
		const struct message *g = g_ptr_array_index(m->all, i);
		struct sums a;

		if (began != 0 && g->began != began)
			continue;
		a = sum(g);
		if (s->len > 0)
			g_string_append_c(s, '\n');
		heading(s, g, &a);
		if (!a.has_begin)
			g_string_append(s, "[the beginning is missing]\n");
		body(s, g);
		if (!a.has_end)
			g_string_append(s, "[the end is missing]\n");
	}
	if (m->left_out > 0)
		g_string_append_printf(s, "\n[%" PRIu64 " more bytes are left out: follow fewer messages]\n",
				       m->left_out);
	if (s->len == 0)
		g_string_append(s, "No data: no SEND, RDMA WRITE or RDMA READ response of it is in the capture.\n");
	return g_string_free(s, FALSE);
}
