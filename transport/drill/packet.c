/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * packet.c - making the packets that the peer sends. What a line does not say has its usual value.
 */
#include <stdlib.h>

#include "packet.h"

#define TOO_LONG 4u /* bytes over what is allowed, which a script may send all the same */

static const enum vs_encap encaps[] = {VS_ENCAP_ROCEV2_IPV4, VS_ENCAP_ROCEV2_IPV6, VS_ENCAP_ROCEV1, VS_ENCAP_IB,
				       VS_ENCAP_IB_GRH};

/* ---- making ---- */

static void address(struct run *r, struct vs_pkt *p, const struct vs_av *to, const struct vs_av *from)
{
	memcpy(p->eth.dst, to->dmac, 6);
	memcpy(p->eth.src, from->dmac, 6);
	p->lrh.dlid = to->dlid;
	p->lrh.slid = from->dlid;
	memcpy(p->ipv4.dst, to->dgid + 12, 4);
	memcpy(p->ipv4.src, from->dgid + 12, 4);
	memcpy(p->grh.dgid, to->dgid, 16);
	memcpy(p->grh.sgid, from->dgid, 16);
	p->udp.sport = 0xc000;
	if (r->p->vlan >= 0 && p->flags & VS_PKT_HAS_ETH) {
		p->eth.vlan_count = 1;
		p->eth.vlan[0] = (struct vs_vlan){0x8100, (uint16_t)r->p->vlan};
	}
}

static void to_group(struct vs_pkt *p, const uint8_t group[16], int encap)
{
	uint8_t gid[16];

	dr_group_gid(group, encap, gid);
	p->bth.destqp = VS_QPN_MULTICAST;
	memcpy(p->grh.dgid, gid, 16);
	memcpy(p->ipv4.dst, gid + 12, 4);
	p->lrh.dlid = 0xc000;
	memcpy(p->eth.dst, (const uint8_t[]){0x33, 0x33}, 2);
	memcpy(p->eth.dst + 2, gid + 12, 4);
	if (encap == EN_ROCEV2_IPV4) {
		memcpy(p->eth.dst, (const uint8_t[]){1, 0, 0x5e}, 3);
		p->eth.dst[3] = gid[13] & 0x7f;
	}
}

/* To the node at the other end, or the one that to= names, or a group. */
bool dr_start_packet(struct run *r, const struct stmt *st, struct vs_pkt *p, uint8_t op)
{
	const struct option *to = dr_opt(st, K_TO), *group = dr_opt(st, K_MGID);
	const struct obj *dest = to != NULL && to->v.kind == V_OBJECT ? to->v.obj
				 : st->obj != NULL                    ? st->obj->peer
								      : NULL;
	const struct option *said = dr_opt(st, K_ENCAP);
	struct vs_av there, here;
	int encap, node = dest != NULL ? dest->node : to != NULL && to->v.kind == V_NODE ? to->v.word : 0;

	for (unsigned i = 0; dest == NULL && to == NULL && i < r->p->n_nodes; i++)
		if (r->p->node[i].engine) {
			node = (int)i;
			break;
		}
	encap = said != NULL ? said->v.word : dest != NULL && dest->peer != NULL ? dr_rt(r, dest)->encap : r->encap;
	vs_pkt_init(p, encaps[encap], op, encap < EN_IB);
	if (r->t->ops->av(r->t, node, encap, &there) < 0 || r->t->ops->av(r->t, st->node, encap, &here) < 0) {
		dr_broken(r, st, st->column, "there is no way to that node");
		return false;
	}
	address(r, p, &there, &here);
	p->bth.destqp = dest != NULL ? dr_rt(r, dest)->qpn : 0;
	p->ext.deth.srcqp = st->obj != NULL ? dr_rt(r, st->obj)->qpn : 0;
	p->ext.deth.qkey = dest != NULL ? dr_rt(r, dest)->qkey : 0;
	p->ext.aeth.syndrome = 0x1f;
	if (group == NULL)
		return true;
	to_group(p, group->v.bytes, encap);
	return true;
}

static bool set_option(struct run *r, const struct stmt *st, const struct option *o, struct vs_pkt *p)
{
	uint64_t v = 1;
	bool done;

	if (o->v.kind == V_NUMBER && !dr_eval(r, st, o->v.e, &v))
		return false;
	if (o->key->id == K_MSN && o->v.relative)
		v &= VS_PSN_MASK;
	if (o->key->id == K_RKEY)
		v &= UINT32_MAX; /* ~key */
	if (o->v.kind == V_NUMBER && v > dr_largest(o->key->id)) {
		dr_broken(r, st, o->column, "%s is at most 0x%llx", o->key->name,
			  (unsigned long long)dr_largest(o->key->id));
		return false;
	}
	if (o->v.kind == V_BYTES)
		done = dr_set_net_bytes(p, o->key->id, o->v.bytes);
	else if (o->v.kind == V_FLAG && o->key->kind == KK_SUM)
		done = dr_set_valid_udp_sum(p);
	else
		done = dr_set_field(p, o->key->id, v);
	if (!done)
		dr_broken(r, st, o->column, "such a packet has no %s", o->key->name);
	return done;
}

bool dr_plain_fields(struct run *r, const struct stmt *st, struct vs_pkt *p)
{
	for (const struct option *o = st->opt; o != NULL; o = o->next)
		/* IHL before the lengths, which have room for options then, and behind them: it may be too small */
		if (dr_plain(o) && !o->late && (!dr_is_length(o->key->id) || o->key->id == K_IHL) &&
		    !dr_is_sum(o->key->id) && !set_option(r, st, o, p))
			return false;
	return true;
}

/* Lengths, or sums, that are not those of the packet. */
static bool other_than_sealed(struct run *r, const struct stmt *st, struct vs_pkt *p, bool late, bool (*which)(int))
{
	for (const struct option *o = st->opt; o != NULL; o = o->next)
		if (dr_plain(o) && o->late == late && which(o->key->id) && !set_option(r, st, o, p))
			return false;
	return true;
}

static bool any(int id)
{
	return !dr_is_length(id) && !dr_is_sum(id);
}

/* then ...: what is changed on the way, behind the back of the ICRC. */
static bool change_late(struct run *r, const struct stmt *st, struct vs_pkt *p, uint8_t *buf, size_t cap)
{
	const struct option *o = st->opt;

	while (o != NULL && !o->late)
		o = o->next;
	if (o == NULL)
		return true;
	if (!other_than_sealed(r, st, p, true, any) || !other_than_sealed(r, st, p, true, dr_is_length))
		return false;
	if (vs_pkt_seal(p, VS_SEAL_CSUM, buf, cap) != VS_OK || !other_than_sealed(r, st, p, false, dr_is_sum) ||
	    !other_than_sealed(r, st, p, true, dr_is_sum) || vs_pkt_seal(p, VS_SEAL_VCRC, buf, cap) != VS_OK)
		dr_broken(r, st, o->column, "the packet can't be changed so");
	return !r->failed;
}

static bool seal(struct run *r, const struct stmt *st, struct vs_pkt *p, unsigned what, uint8_t *buf, size_t cap)
{
	const struct option *icrc = dr_opt(st, K_ICRC);
	bool ok = vs_pkt_seal(p, what & (VS_SEAL_PAD | VS_SEAL_LEN), buf, cap) == VS_OK;

	if (icrc != NULL && icrc->v.kind == V_NUMBER) /* any headers may have one that is said */
		what &= ~(unsigned)VS_SEAL_ICRC;
	ok = ok && other_than_sealed(r, st, p, false, dr_is_length);
	ok = ok && vs_pkt_seal(p, what & VS_SEAL_CSUM, buf, cap) == VS_OK;
	ok = ok && other_than_sealed(r, st, p, false, dr_is_sum);
	ok = ok && vs_pkt_seal(p, what & (VS_SEAL_ICRC | VS_SEAL_VCRC), buf, cap) == VS_OK;
	if (ok && dr_opt(st, K_UDP_SUM) != NULL && dr_opt(st, K_UDP_SUM)->v.kind == V_FLAG)
		ok = dr_set_valid_udp_sum(p); /* once more: it covers the ICRC */
	if (!ok && !r->failed)
		dr_broken(r, st, st->column,
			  "the packet can't be made: it is too long, or has headers without an ICRC");
	return ok;
}

/* The key of the region that va= names, when rkey= is not said. */
static void key_of_region(struct run *r, const struct stmt *st, struct vs_pkt *p)
{
	const struct option *va = dr_opt(st, K_VA);
	const struct expr *e = va != NULL && dr_opt(st, K_RKEY) == NULL ? va->v.e : NULL;

	while (e != NULL && e->kind != E_OBJECT)
		e = e->l;
	if (e != NULL && e->obj->kind == O_MR)
		(void)dr_set_field(p, K_RKEY, dr_rt(r, e->obj)->mem.rkey);
}

/* flip= and cut=: the finished bytes. */
static bool damage(struct run *r, const struct stmt *st, uint8_t *buf, int *n)
{
	const struct option *flip = dr_opt(st, K_FLIP), *cut = dr_opt(st, K_CUT);
	struct vs_pkt q;
	size_t left = 0;
	uint64_t v;
	bool ok;

	if (flip == NULL && cut == NULL)
		return true;
	ok = vs_pkt_parse(&q, r->encap < EN_IB ? VS_LINK_ETHERNET : VS_LINK_IB, 0, buf, (size_t)*n, (size_t)*n,
			  VS_PARSE_ANY_PORT) == VS_OK;
	if (flip != NULL) {
		if (!dr_eval(r, st, flip->v.e, &v))
			return false;
		if (!ok || v / 8 >= (uint64_t)*n - q.bth_off) {
			dr_broken(r, st, flip->column, "the packet has no bit %llu", (unsigned long long)v);
			return false;
		}
		buf[q.bth_off + v / 8] ^= (uint8_t)(0x80 >> v % 8);
	}
	if (cut == NULL)
		return true;
	if (!dr_eval(r, st, cut->v.e, &v))
		return false;
	left = ok ? dr_cut(buf, (size_t)*n, &q, v) : 0;
	if (left == 0)
		dr_broken(r, st, cut->column, "%llu bytes can't be cut from the packet", (unsigned long long)v);
	*n = (int)left;
	return left > 0;
}

/* icrc= and vcrc=: bad, or a number. */
static bool other_crcs(struct run *r, const struct stmt *st, struct vs_pkt *p, unsigned what, uint8_t *buf, size_t cap)
{
	const struct option *icrc = dr_opt(st, K_ICRC), *vcrc = dr_opt(st, K_VCRC);
	uint64_t v = 0;

	if (icrc != NULL && icrc->v.kind == V_NUMBER && !dr_eval(r, st, icrc->v.e, &v))
		return false;
	if (icrc != NULL) {
		p->icrc = icrc->v.kind == V_NUMBER ? (uint32_t)v : p->icrc ^ 0xdeadbeef;
		(void)vs_pkt_seal(p, what & VS_SEAL_VCRC, buf, cap);
	}
	if (!change_late(r, st, p, buf, cap))
		return false;
	if (vcrc == NULL)
		return true;
	if (vcrc->v.kind == V_NUMBER && !dr_eval(r, st, vcrc->v.e, &v))
		return false;
	p->vcrc = vcrc->v.kind == V_NUMBER ? (uint16_t)v : p->vcrc ^ 0xdead;
	if (!(p->flags & VS_PKT_HAS_VCRC))
		dr_broken(r, st, vcrc->column, "such a packet has no vcrc");
	return !r->failed;
}

bool dr_put(struct run *r, const struct stmt *st, struct vs_pkt *p, unsigned what)
{
	uint8_t buf[VS_FRAME_MAX + 64];
	int n;

	if (!dr_step(r) || !seal(r, st, p, what, buf, sizeof(buf)))
		return false;
	if (!other_crcs(r, st, p, what, buf, sizeof(buf)))
		return false;
	n = vs_pkt_build(p, buf, sizeof(buf));
	if (n > 0 && !damage(r, st, buf, &n))
		return false;
	if (n <= 0 || n > VS_FRAME_MAX || r->t->ops->send(r->t, buf, (size_t)n) < 0) {
		dr_broken(r, st, st->column, "the packet can't be sent: it is too long, or too many are on their way");
		return false;
	}
	if (st->as != NULL) {
		struct seen s = {.time = r->t->ops->now(r->t), .node = st->node};

		s.parsed = true;
		s.frame = buf;
		s.len = (size_t)n;
		dr_keep(r, st, &s);
	}
	return true;
}

static bool remember_data(struct run *r, const uint8_t *bytes, uint32_t len)
{
	if (len > r->data_cap) {
		uint8_t *p = realloc(r->data, len);

		if (p == NULL)
			return false;
		r->data = p;
		r->data_cap = len;
	}
	if (len > 0)
		memmove(r->data, bytes, len);
	r->data_len = len;
	return true;
}

static bool one_packet(struct run *r, const struct stmt *st, uint32_t k, uint32_t n, uint32_t psn, uint32_t mtu)
{
	uint8_t op = dr_opcode_at(st, k, n);
	uint32_t from = st->word >= OP_SEND && st->word <= OP_READ_RESPONSE ? k * mtu : 0;
	const struct option *ackreq = dr_opt(st, K_ACKREQ);
	struct vs_pkt p;

	if (!dr_start_packet(r, st, &p, op))
		return false;
	p.bth.psn = psn;
	if (p.hdrs & VS_HDR_RETH)
		p.ext.reth.dmalen = r->data_len;
	key_of_region(r, st, &p);
	if (st->word == OP_NAK)
		p.ext.aeth.syndrome = st->word2 == 0x100 ? 0x20 : (uint8_t)(0x60 | st->word2);
	if (n == 1 || from == 0 || st->word < OP_SEND) {
		if (!dr_plain_fields(r, st, &p))
			return false;
	} else if (p.hdrs & VS_HDR_AETH && dr_opt(st, K_MSN) != NULL) {
		uint64_t v;

		if (!dr_value(r, st, K_MSN, 0, VS_PSN_MASK, &v))
			return false;
		p.ext.aeth.msn = (uint32_t)v;
	}
	if (ackreq != NULL && n > 1 && st->word >= OP_SEND)
		p.bth.ackreq = k + 1 == n;
	if (dr_opt(st, K_DATA) != NULL && from < r->data_len) {
		p.payload = r->data + from;
		p.payload_len = r->data_len - from < mtu || st->word < OP_SEND ? r->data_len - from : mtu;
	}
	return dr_put(r, st, &p, dr_opt(st, K_PADCNT) != NULL ? VS_SEAL_ALL & ~(unsigned)VS_SEAL_PAD : VS_SEAL_ALL);
}

bool dr_send(struct run *r, const struct stmt *st)
{
	const struct option *data = dr_opt(st, K_DATA);
	uint32_t mtu = st->obj != NULL ? dr_rt(r, st->obj)->mtu : 1024, first, n, len = 0;
	const uint8_t *bytes = NULL;

	if (st->word == OP_CM)
		return dr_send_cm(r, st);
	if (!dr_psn_range(r, st, &first, &n))
		return false;
	if (data != NULL && !dr_bytes(r, st, &data->v, &bytes, &len))
		return false;
	if (len > VS_MTU_MAX + TOO_LONG && st->word < OP_SEND) {
		dr_broken(r, st, data->column, "one packet carries at most %u bytes", VS_MTU_MAX);
		return false;
	}
	if (data != NULL && !remember_data(r, bytes, len)) {
		dr_broken(r, st, st->column, "no memory");
		return false;
	}
	if (data == NULL)
		r->data_len = 0;
	if (st->word >= OP_SEND && st->word <= OP_READ_RESPONSE) {
		uint32_t need = vs_psn_count(len, mtu);

		if (dr_opt(st, K_PSN)->v.e2 != NULL && n != need) {
			dr_broken(r, st, dr_opt(st, K_PSN)->column, "%u bytes are %u packets of MTU %u, not %u", len,
				  need, mtu, n);
			return false;
		}
		n = need;
	}
	for (uint32_t k = 0; k < n; k++)
		if (!one_packet(r, st, k, n, vs_psn_add(first, (int32_t)k), mtu))
			return false;
	return true;
}

bool dr_again(struct run *r, const struct stmt *st)
{
	const struct rt_obj *o = dr_rt(r, st->obj);

	if (!o->made)
		dr_broken(r, st, st->word_column, "%s was not seen yet", st->obj->name);
	else if (dr_step(r) && r->t->ops->send(r->t, o->frame, o->len) < 0)
		dr_broken(r, st, st->column, "the packet can't be sent: too many are on their way");
	return !r->failed;
}

bool dr_send_raw(struct run *r, const struct stmt *st)
{
	const struct option *flip = dr_opt(st, K_FLIP);
	struct vs_pkt p, q;
	uint8_t buf[4096 + 256];

	if (st->word && flip == NULL && dr_opt(st, K_ICRC) == NULL) {
		if (r->t->ops->send(r->t, st->bytes, st->len) >= 0)
			return true;
		dr_broken(r, st, st->column, "the frame can't be sent");
		return false;
	}
	memcpy(buf, st->bytes, st->len);
	if (st->word) {
		if (vs_pkt_parse(&q, r->encap < EN_IB ? VS_LINK_ETHERNET : VS_LINK_IB, 0, buf, st->len, st->len, 0) ==
		    VS_OK)
			return dr_put(r, st, &q, 0);
		dr_broken(r, st, st->word_column, "this is no RDMA packet: icrc= and flip= have nothing to act on");
		return false;
	}
	if (!dr_start_packet(r, st, &p, buf[0]))
		return false;
	memset(buf + st->len, 0, 4);
	if (vs_pkt_parse(&q, VS_LINK_BTH, 0, buf, st->len + 4, st->len + 4, 0) != VS_OK) {
		dr_broken(r, st, st->word_column, "a BTH has 12 bytes");
		return false;
	}
	p.bth = q.bth;
	p.ext = q.ext;
	p.hdrs = q.hdrs;
	p.flags |= q.flags & VS_PKT_HDR_MISSING;
	p.payload = q.payload;
	p.payload_len = q.payload_len;
	p.pad_len = q.pad_len;
	memcpy(p.pad, q.pad, 3);
	return dr_put(r, st, &p, VS_SEAL_LEN | VS_SEAL_CSUM | VS_SEAL_ICRC | VS_SEAL_VCRC);
}
