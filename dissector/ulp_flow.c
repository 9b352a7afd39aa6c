/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ulp_flow.c - what is known of a flow (source address, destination address, destination QP), and
 * its SEND messages: which packets make one up, and the whole of it.
 *
 * Only the first pass asks; what it finds is stored with the frame (struct ulp_verdict). A message
 * goes on with the PSN that follows: packets that were sent again are passed over, and one that was
 * lost is waited for, since the sender goes back to it.
 */
#include "ulp.h"

#include "vs/psn.h"

struct ulp_message {
	wmem_array_t *bytes, *frames;
};

static wmem_map_t *flows; /* source, destination, destination QP -> struct ulp_flow */
static int hf_message, hf_segment;

struct ulp_flow *ulp_flow_find(const packet_info *pinfo, uint32_t qp, bool create)
{
	struct ulp_key k;
	struct ulp_flow *f;

	if (!create && wmem_map_size(flows) == 0)
		return NULL;
	memset(&k, 0, sizeof(k));
	k.a = ulp_addr(&pinfo->src);
	k.b = ulp_addr(&pinfo->dst);
	k.n = qp;
	f = wmem_map_lookup(flows, &k);
	if (f == NULL && create) {
		f = wmem_new0(wmem_file_scope(), struct ulp_flow);
		wmem_map_insert(flows, wmem_memdup(wmem_file_scope(), &k, sizeof(k)), f);
	}
	return f;
}

/* ---- the message that is on its way ---- */

static void message_drop(struct ulp_flow *f)
{
	if (f->message != NULL) {
		wmem_destroy_array(f->message->bytes);
		wmem_destroy_array(f->message->frames);
		wmem_free(wmem_file_scope(), f->message);
	}
	f->message = NULL;
	f->open = NULL;
}

static void message_append(struct ulp_message *m, const packet_info *pinfo, const struct ulp_bytes *b)
{
	uint32_t frame = pinfo->num;

	if (b->len > 0)
		wmem_array_append(m->bytes, b->p, b->len);
	wmem_array_append_one(m->frames, frame);
}

/* A First packet that is the rule's. */
static enum ulp_piece message_begin(struct rdma_ctx *c, struct ulp_flow *f, const struct ulp_rule *r,
				    const struct ulp_bytes *b)
{
	if (!(r->flags & (ULP_MULTI | ULP_WHOLE)))
		return ULP_PACKET;
	f->first_psn = c->pkt.bth.psn;
	f->next_psn = vs_psn_add(c->pkt.bth.psn, 1);
	if (r->flags & ULP_MULTI) {
		f->open = r;
		return ULP_PACKET;
	}
	if (b->cap != b->len) /* cut by the capture: what there is of it */
		return ULP_PACKET;
	f->open = r;
	f->message = wmem_new(wmem_file_scope(), struct ulp_message);
	f->message->bytes = wmem_array_new(wmem_file_scope(), 1);
	f->message->frames = wmem_array_new(wmem_file_scope(), sizeof(uint32_t));
	message_append(f->message, c->pinfo, b);
	return ULP_PART;
}

/* A Middle or Last packet. */
static enum ulp_piece message_go_on(struct rdma_ctx *c, struct ulp_flow *f, const struct ulp_bytes *b,
				    const struct ulp_message **whole)
{
	if (f->next_psn != c->pkt.bth.psn) /* sent again, or after a loss: the missing one will come */
		return ULP_NOTHING;
	/* A dissector that puts messages together by itself loses its way where PSNs wrap. */
	if (b->cap != b->len || (f->message == NULL && c->pkt.bth.psn == 0)) {
		message_drop(f);
		return ULP_NOTHING;
	}
	f->next_psn = vs_psn_add(f->next_psn, 1);
	if (f->message != NULL)
		message_append(f->message, c->pinfo, b);
	if (!b->whole)
		return f->message != NULL ? ULP_PART : ULP_PACKET;
	*whole = f->message;
	f->message = NULL;
	f->open = NULL;
	return *whole != NULL ? ULP_LAST : ULP_PACKET;
}

static enum ulp_piece send_piece(struct rdma_ctx *c, const struct ulp_rule *r, const struct ulp_bytes *b,
				 const struct ulp_message **whole)
{
	bool first = (vs_opcodes[c->pkt.bth.opcode].flags & VS_OPF_B) != 0;
	struct ulp_flow *f = ulp_flow_find(c->pinfo, c->pkt.bth.destqp, first && !b->whole);

	if (first) {
		if (f != NULL && f->open == r && !b->whole && f->first_psn == c->pkt.bth.psn)
			return ULP_NOTHING; /* sent again */
		if (f != NULL)
			message_drop(f);
		if (!r->fits(b))
			return ULP_NOTHING;
		return b->whole || f == NULL ? ULP_PACKET : message_begin(c, f, r, b);
	}
	if (f != NULL && f->open == r)
		return message_go_on(c, f, b, whole);
	return (r->flags & (ULP_ALL | ULP_WHOLE)) == ULP_ALL ? ULP_PACKET : ULP_NOTHING;
}

enum ulp_piece ulp_flow_piece(struct rdma_ctx *c, const struct ulp_rule *r, const struct ulp_bytes *b,
			      const struct ulp_message **whole)
{
	const uint16_t flags = vs_opcodes[c->pkt.bth.opcode].flags;

	*whole = NULL;
	if (flags & VS_OPF_S)
		return send_piece(c, r, b, whole);
	if ((r->flags & ULP_ALL) || ((r->flags & ULP_RDMA) && (flags & (VS_OPF_W | VS_OPF_D))))
		return ULP_PACKET;
	return ULP_NOTHING;
}

/* ---- showing ---- */

tvbuff_t *ulp_message_tvb(struct rdma_ctx *c, tvbuff_t *tvb, const struct ulp_message *m)
{
	uint32_t len = wmem_array_get_count(m->bytes), count = wmem_array_get_count(m->frames);
	tvbuff_t *whole = tvb_new_child_real_data(tvb, wmem_array_get_raw(m->bytes), len, (int)len);

	add_new_data_source(c->pinfo, whole, "SEND message");
	if (c->tree == NULL)
		return whole;
	proto_item_set_generated(proto_tree_add_uint(c->tree, hf_message, whole, 0, (int)len, len));
	for (uint32_t i = 0; i + 1 < count; i++)
		proto_item_set_generated(proto_tree_add_uint(c->tree, hf_segment, tvb, 0, 0,
							     *(uint32_t *)wmem_array_index(m->frames, i)));
	return whole;
}

void ulp_flow_register(int proto)
{
	static hf_register_info hf[] = {
		{&hf_message,
		 {"SEND message, bytes", "rdma.ulp.message", FT_UINT32, BASE_DEC, NULL, 0,
		  "The SEND message that this packet completes was put together for its upper layer", HFILL}},
		{&hf_segment,
		 {"SEND message, also in frame", "rdma.ulp.message.frame", FT_FRAMENUM, BASE_NONE, NULL, 0,
		  "An earlier packet of the SEND message that this one completes", HFILL}},
	};

	proto_register_field_array(proto, hf, array_length(hf));
	flows = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), ulp_key_hash, ulp_key_equal);
}
