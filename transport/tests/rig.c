/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* rig.c - see rig.h. */
#include <stdlib.h>
#include <string.h>

#include "rig.h"

/* ---- memory, events ---- */

static void *rig_alloc(void *ctx, size_t size)
{
	struct rig *r = ctx;

	ck_assert_msg(!r->inside, "allocation inside one of the four calls");
	r->allocs++;
	r->bytes += size;
	return calloc(1, size);
}

static void rig_dealloc(void *ctx, void *p, size_t size)
{
	struct rig *r = ctx;

	ck_assert_uint_ge(r->bytes, size);
	r->allocs--;
	r->bytes -= size;
	free(p);
}

static uint64_t rig_emit(void *ctx, const struct vs_event *ev)
{
	struct rig *r = ctx;

	ck_assert_uint_lt(r->log_len, RIG_LOG);
	ck_assert_msg(ev->cause <= r->log_len, "%s: cause %llu is in the future", vs_event_info(ev->type)->name,
		      (unsigned long long)ev->cause);
	r->log[r->log_len] = *ev;
	r->log[r->log_len].seq = r->log_len + 1;
	return ++r->log_len;
}

static bool rig_neighbour(void *ctx, const uint8_t gid[16], uint8_t mac[6])
{
	(void)ctx;
	memcpy(mac, (const uint8_t[6]){2, 0, 0, 0, 0, 0}, 6);
	mac[5] = gid[15];
	return true;
}

/* ---- building ---- */

static void set_gid(const struct rig *r, uint8_t gid[16], uint8_t host)
{
	memset(gid, 0, 16);
	if (r->opt.ipv6 || r->opt.rocev1 || r->opt.ib || r->opt.ib_grh) {
		gid[0] = 0xfd;
	} else {
		gid[10] = gid[11] = 0xff;
		gid[12] = 10;
	}
	gid[15] = host;
}

static uint8_t pick(uint8_t v, uint8_t fallback)
{
	return v == RIG_ZERO ? 0 : v == 0 ? fallback : v;
}

struct vs_qp_attr rig_attr(const struct rig *r)
{
	const struct rig_opt *o = &r->opt;
	struct vs_qp_attr a = {.port_num = 1, .qkey = 0x11111111, .path_mtu = o->mtu != 0 ? o->mtu : VS_MTU_1024};

	a.access_flags = o->access != 0 ? o->access
					: VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC |
						  VS_ACCESS_FLUSH_GLOBAL | VS_ACCESS_FLUSH_PERSISTENT;
	a.dest_qpn = RIG_PEER_QPN;
	a.rq_psn = RIG_PEER_PSN;
	a.sq_psn = RIG_DUT_PSN;
	a.max_rd_atomic = a.max_dest_rd_atomic = pick(o->max_rd_atomic, 4);
	a.min_rnr_timer = pick(o->min_rnr_timer, 12);
	a.timeout = pick(o->timeout, 14);
	a.retry_cnt = pick(o->retry_cnt, 7);
	a.rnr_retry = pick(o->rnr_retry, 7);
	a.av.is_global = !o->ib;
	a.av.port = 1;
	a.av.dlid = 2;
	set_gid(r, a.av.dgid, 2);
	return a;
}

int rig_modify(struct vs_qp *qp, const struct vs_qp_attr *attr, uint32_t mask)
{
	return vs_qp_modify(qp, attr, mask);
}

static uint32_t usual_mask(enum vs_qp_type type, enum vs_qp_state to)
{
	bool rc = type == VS_QPT_RC, ud = type == VS_QPT_UD || type == VS_QPT_GSI;

	switch (to) {
	case VS_QPS_INIT:
		return VS_QP_STATE | VS_QP_PKEY_INDEX | (type != VS_QPT_GSI ? VS_QP_PORT : 0) |
		       (ud ? VS_QP_QKEY : VS_QP_ACCESS_FLAGS);
	case VS_QPS_RTR:
		if (ud)
			return VS_QP_STATE;
		return VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
		       (rc ? VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER : 0);
	case VS_QPS_RTS:
		return VS_QP_STATE | VS_QP_SQ_PSN |
		       (rc ? VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY | VS_QP_MAX_QP_RD_ATOMIC : 0);
	default:
		return VS_QP_STATE;
	}
}

void rig_to(struct rig *r, struct vs_qp *qp, enum vs_qp_state state)
{
	static const enum vs_qp_state way[] = {VS_QPS_INIT, VS_QPS_RTR, VS_QPS_RTS};
	struct vs_qp_attr a = rig_attr(r);
	struct vs_qp_init init;
	unsigned i;

	vs_qp_query(qp, NULL, &init);
	for (i = 0; i < 3 && vs_qp_state(qp) < (state < VS_QPS_RTS ? state : VS_QPS_RTS); i++) {
		int rc;

		if (vs_qp_state(qp) >= way[i])
			continue;
		a.state = way[i];
		rc = vs_qp_modify(qp, &a, usual_mask(init.type, way[i]));
		ck_assert_msg(rc == VS_OK, "to %s: %s", vs_qp_state_name(way[i]),
			      vs_reason_info(vs_dev_refusal(r->dev))->id);
	}
	if (state > VS_QPS_RTS) {
		a.state = state;
		ck_assert_int_eq(vs_qp_modify(qp, &a, VS_QP_STATE), VS_OK);
	}
}

struct vs_qp *rig_qp(struct rig *r, const struct vs_qp_init *init)
{
	int err;
	struct vs_qp *qp = vs_qp_create(r->pd, init, &err);

	ck_assert_msg(qp != NULL, "create_qp: %s", vs_reason_info(vs_dev_refusal(r->dev))->id);
	return qp;
}

struct vs_mr *rig_mr(struct rig *r, struct vs_pd *pd, uint32_t offset, uint64_t len, uint32_t access)
{
	uint64_t addr = (uintptr_t)r->mem + offset;
	struct vs_mr_attr a = {addr, len, addr, access};
	int err;
	struct vs_mr *mr = vs_mr_reg(pd, &a, &err);

	ck_assert_ptr_nonnull(mr);
	return mr;
}

/*
 * VS_RIG_DEVIATION=NAME makes every rig commit that defect: `make check-deviations` sees which rows turn red.
 */
static uint64_t deviation_of_environment(void)
{
	const char *name = getenv("VS_RIG_DEVIATION");
	enum vs_deviation d;

	if (name == NULL || *name == '\0')
		return 0;
	d = vs_deviation_by_name(name);
	ck_assert_msg(d != VS_DEVIATION_COUNT, "VS_RIG_DEVIATION: there is no deviation %s", name);
	return 1ull << d;
}

static struct vs_dev_attr dev_attr(struct rig *r)
{
	struct vs_dev_attr a = r->opt.dev;
	bool ib = r->opt.ib || r->opt.ib_grh;

	a.name = "dut";
	a.allocator = (struct vs_allocator){rig_alloc, rig_dealloc, r};
	if (a.dma.read == NULL)
		a.dma = vs_dma_host;
	a.sink = (struct vs_event_sink){.emit = rig_emit, .ctx = r, .level = VS_LEVEL_EXTRA};
	a.seed = a.seed != 0 ? a.seed : 1;
	a.deviations |= r->opt.deviations | deviation_of_environment();
	a.link_layer = ib ? VS_LL_INFINIBAND : VS_LL_ETHERNET;
	memcpy(a.mac, (const uint8_t[6]){2, 0, 0, 0, 0, 1}, 6);
	a.lid = 1;
	a.node_guid = 0x0200000000000001ull;
	if (a.gids[0].type == VS_GID_NONE) {
		set_gid(r, a.gids[0].gid, 1);
		a.gids[0].type = ib ? VS_GID_IB : r->opt.rocev1 ? VS_GID_ROCEV1 : VS_GID_ROCEV2;
	}
	if (a.pkeys[0] == 0)
		a.pkeys[0] = 0xffff;
	a.neighbour = rig_neighbour;
	return a;
}

static void make_qp(struct rig *r)
{
	struct vs_srq_attr srq = {.max_wr = 64, .max_sge = 4};
	struct vs_qp_init init = {.type = r->opt.type != 0 ? r->opt.type : VS_QPT_RC,
				  .send_cq = r->scq,
				  .recv_cq = r->rcq,
				  .cap = {64, 64, 4, 4, 128},
				  .sq_sig_all = r->opt.sq_sig_all,
				  .cookie = 0xc0071e};
	int err;

	if (r->opt.use_srq) {
		r->srq = vs_srq_create(r->pd, &srq, 0x5a, &err);
		ck_assert_ptr_nonnull(r->srq);
		init.srq = r->srq;
	}
	r->qp = rig_qp(r, &init);
	if (!r->opt.stay_in_reset)
		rig_to(r, r->qp, r->opt.state != VS_QPS_RESET ? r->opt.state : VS_QPS_RTS);
}

struct rig *rig_new(const struct rig_opt *opt)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct vs_dev_attr a;
	struct vs_mr_attr mr;
	int err;

	ck_assert_ptr_nonnull(r);
	if (opt != NULL)
		r->opt = *opt;
	r->log = calloc(RIG_LOG, sizeof(r->log[0]));
	r->mem = malloc(RIG_MEM);
	memset(r->mem, 0xee, RIG_MEM);
	r->now = 1000;
	a = dev_attr(r);
	r->dev = vs_dev_create(&a, &err);
	ck_assert_msg(r->dev != NULL, "create device: %s", vs_err_name(err));
	vs_dev_set_now(r->dev, r->now);
	r->pd = vs_pd_create(r->dev, &err);
	r->scq = vs_cq_create(r->dev, 256, 0x5c, &err);
	r->rcq = vs_cq_create(r->dev, 256, 0x4c, &err);
	mr = (struct vs_mr_attr){(uintptr_t)r->mem, RIG_MEM, (uintptr_t)r->mem,
				 VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ |
					 VS_ACCESS_REMOTE_ATOMIC | VS_ACCESS_MW_BIND | VS_ACCESS_FLUSH_GLOBAL |
					 VS_ACCESS_FLUSH_PERSISTENT};
	r->mr = vs_mr_reg(r->pd, &mr, &err);
	ck_assert_ptr_nonnull(r->mr);
	make_qp(r);
	return r;
}

void rig_free(struct rig *r)
{
	vs_dev_destroy(r->dev);
	ck_assert_msg(r->allocs == 0 && r->bytes == 0, "leak: %llu blocks, %llu bytes", (unsigned long long)r->allocs,
		      (unsigned long long)r->bytes);
	free(r->mem);
	free(r->log);
	free(r);
}

/* ---- verbs ---- */

int rig_post_recv(struct rig *r, uint64_t wr_id, uint32_t offset, uint32_t len)
{
	struct vs_sge sge = {(uintptr_t)r->mem + offset, len, vs_mr_lkey(r->mr)};
	struct vs_recv_wr wr = {wr_id, &sge, 1};

	vs_dev_set_now(r->dev, r->now);
	return r->srq != NULL ? vs_srq_post_recv(r->srq, &wr) : vs_qp_post_recv(r->qp, &wr);
}

struct vs_send_wr rig_wr(struct rig *r, enum vs_wr_opcode op, uint64_t wr_id, struct vs_sge *sge, uint32_t offset,
			 uint32_t len)
{
	struct vs_send_wr wr = {.wr_id = wr_id, .opcode = op, .flags = VS_SEND_SIGNALED, .sg_list = sge, .num_sge = 1};

	*sge = (struct vs_sge){(uintptr_t)r->mem + offset, len, vs_mr_lkey(r->mr)};
	wr.rdma.remote_addr = RIG_PEER_VA;
	wr.rdma.rkey = RIG_PEER_RKEY;
	wr.imm_data = 0x1badcafe;
	wr.invalidate_rkey = RIG_PEER_RKEY;
	wr.atomic.compare_add = 5;
	wr.atomic.swap = 9;
	wr.flush.plt = 1;
	wr.flush.length = len;
	return wr;
}

int rig_post(struct rig *r, enum vs_wr_opcode op, uint64_t wr_id, uint32_t offset, uint32_t len)
{
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, op, wr_id, &sge, offset, len);

	vs_dev_set_now(r->dev, r->now);
	return vs_qp_post_send(r->qp, &wr);
}

/* ---- the peer's packets ---- */

const uint8_t *rig_pattern(uint32_t psn)
{
	static uint8_t buf[VS_MTU_MAX + 64];
	uint64_t s = 0x9e3779b97f4a7c15ull ^ psn;
	size_t i;

	for (i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(vs_rand(&s) >> 32);
	return buf;
}

static enum vs_encap rig_encap(const struct rig *r)
{
	if (r->opt.ib)
		return VS_ENCAP_IB;
	if (r->opt.ib_grh)
		return VS_ENCAP_IB_GRH;
	if (r->opt.rocev1)
		return VS_ENCAP_ROCEV1;
	return r->opt.ipv6 ? VS_ENCAP_ROCEV2_IPV6 : VS_ENCAP_ROCEV2_IPV4;
}

struct vs_pkt rig_pkt(struct rig *r, uint8_t opcode, uint32_t psn)
{
	struct vs_pkt p;

	vs_pkt_init(&p, rig_encap(r), opcode, !r->opt.ib && !r->opt.ib_grh);
	memcpy(p.eth.dst, (const uint8_t[6]){2, 0, 0, 0, 0, 1}, 6);
	memcpy(p.eth.src, (const uint8_t[6]){2, 0, 0, 0, 0, 2}, 6);
	p.lrh.dlid = 1;
	p.lrh.slid = 2;
	memcpy(p.ipv4.src, (const uint8_t[4]){10, 0, 0, 2}, 4);
	memcpy(p.ipv4.dst, (const uint8_t[4]){10, 0, 0, 1}, 4);
	set_gid(r, p.grh.sgid, 2);
	set_gid(r, p.grh.dgid, 1);
	p.udp.sport = 0xc123;
	p.bth.pkey = 0xffff;
	p.bth.destqp = r->qp != NULL ? vs_qp_num(r->qp) : 0;
	p.bth.psn = psn & VS_PSN_MASK;
	p.bth.ackreq = (vs_opcodes[opcode].flags & VS_OPF_Q) && opcode >> 5 == VS_TRANSPORT_RC;
	p.bth.migreq = true;
	return p;
}

void rig_in_bytes(struct rig *r, const uint8_t *buf, size_t len)
{
	r->inside = true;
	vs_dev_input(r->dev, r->opt.ib || r->opt.ib_grh ? VS_LINK_IB : VS_LINK_ETHERNET, buf, len, NULL, r->now);
	r->inside = false;
}

void rig_in_raw(struct rig *r, const struct vs_pkt *p)
{
	uint8_t buf[VS_FRAME_MAX + 4096];
	int n = vs_pkt_build(p, buf, sizeof(buf));

	ck_assert_int_gt(n, 0);
	rig_in_bytes(r, buf, (size_t)n);
}

void rig_in(struct rig *r, struct vs_pkt *p)
{
	uint8_t scratch[VS_FRAME_MAX + 4096];

	ck_assert_int_eq(vs_pkt_seal(p, VS_SEAL_ALL, scratch, sizeof(scratch)), VS_OK);
	rig_in_raw(r, p);
}

void rig_in_send(struct rig *r, uint8_t opcode, uint32_t psn, uint32_t len)
{
	struct vs_pkt p = rig_pkt(r, opcode, psn);

	p.payload = rig_pattern(psn);
	p.payload_len = len;
	p.ext.immdt = 0x01020304;
	p.ext.ieth_rkey = 0xdead0000;
	rig_in(r, &p);
}

void rig_in_write(struct rig *r, uint8_t opcode, uint32_t psn, uint64_t va, uint32_t rkey, uint32_t dmalen,
		  uint32_t len)
{
	struct vs_pkt p = rig_pkt(r, opcode, psn);

	p.ext.reth.va = va;
	p.ext.reth.rkey = rkey;
	p.ext.reth.dmalen = dmalen;
	p.ext.immdt = 0x01020304;
	p.payload = rig_pattern(psn);
	p.payload_len = len;
	rig_in(r, &p);
}

void rig_in_read(struct rig *r, uint32_t psn, uint64_t va, uint32_t rkey, uint32_t len)
{
	rig_in_write(r, VS_OP_RC_READ_REQUEST, psn, va, rkey, len, 0);
}

void rig_in_ack(struct rig *r, uint32_t psn, uint8_t syndrome, uint32_t msn)
{
	struct vs_pkt p = rig_pkt(r, VS_OP_RC_ACKNOWLEDGE, psn);

	p.ext.aeth.syndrome = syndrome;
	p.ext.aeth.msn = msn & VS_PSN_MASK;
	rig_in(r, &p);
}

void rig_in_read_response(struct rig *r, uint8_t opcode, uint32_t psn, uint32_t len, uint32_t msn)
{
	struct vs_pkt p = rig_pkt(r, opcode, psn);

	p.ext.aeth.syndrome = 0x1f;
	p.ext.aeth.msn = msn & VS_PSN_MASK;
	p.payload = rig_pattern(psn);
	p.payload_len = len;
	rig_in(r, &p);
}

void rig_in_atomic(struct rig *r, uint8_t opcode, uint32_t psn, uint64_t va, uint32_t rkey, uint64_t swapadd,
		   uint64_t compare)
{
	struct vs_pkt p = rig_pkt(r, opcode, psn);

	p.ext.atomiceth.va = va;
	p.ext.atomiceth.rkey = rkey;
	p.ext.atomiceth.swapadd = swapadd;
	p.ext.atomiceth.compare = compare;
	rig_in(r, &p);
}

void rig_in_op(struct rig *r, int kind, uint32_t psn, uint64_t va, uint32_t rkey)
{
	if (kind == 0)
		rig_in_write(r, VS_OP_RC_WRITE_ONLY, psn, va, rkey, 8, 8);
	else if (kind == 1)
		rig_in_read(r, psn, va, rkey, 8);
	else
		rig_in_atomic(r, VS_OP_RC_FETCH_ADD, psn, va, rkey, 1, 0);
}

/* ---- the DUT's packets ---- */

bool rig_out(struct rig *r, struct vs_pkt *p)
{
	struct vs_pkt_meta meta;

	r->inside = true;
	r->frame_len = vs_dev_output(r->dev, r->frame, sizeof(r->frame), &meta, r->now);
	r->inside = false;
	if (r->frame_len == 0)
		return false;
	ck_assert_int_eq(vs_pkt_parse(p, r->opt.ib || r->opt.ib_grh ? VS_LINK_IB : VS_LINK_ETHERNET, 0, r->frame,
				      r->frame_len, r->frame_len, 0),
			 VS_OK);
	ck_assert_int_eq(vs_icrc_check(p, r->frame, NULL), VS_CRC_GOOD);
	return true;
}

struct vs_pkt rig_expect(struct rig *r, uint8_t opcode, uint32_t psn)
{
	struct vs_pkt p;

	ck_assert_msg(rig_out(r, &p), "no packet, expected %s psn=%06x", vs_opcodes[opcode].name, psn & VS_PSN_MASK);
	ck_assert_msg(p.bth.opcode == opcode && p.bth.psn == (psn & VS_PSN_MASK),
		      "got %s psn=%06x (syndrome %02x), expected %s psn=%06x", vs_opcodes[p.bth.opcode].name, p.bth.psn,
		      p.hdrs & VS_HDR_AETH ? p.ext.aeth.syndrome : 0xff, vs_opcodes[opcode].name, psn & VS_PSN_MASK);
	return p;
}

void rig_expect_ack(struct rig *r, uint32_t psn, uint32_t msn)
{
	struct vs_pkt p = rig_expect(r, VS_OP_RC_ACKNOWLEDGE, psn);

	ck_assert_msg(vs_aeth_type(p.ext.aeth.syndrome) == VS_AETH_ACK, "syndrome %02x, expected an ACK",
		      p.ext.aeth.syndrome);
	ck_assert_uint_eq(p.ext.aeth.msn, msn & VS_PSN_MASK);
}

void rig_expect_nak(struct rig *r, uint32_t psn, uint8_t syndrome, uint32_t msn)
{
	struct vs_pkt p = rig_expect(r, VS_OP_RC_ACKNOWLEDGE, psn);

	ck_assert_msg(p.ext.aeth.syndrome == syndrome, "syndrome %02x, expected %02x", p.ext.aeth.syndrome, syndrome);
	ck_assert_uint_eq(p.ext.aeth.msn, msn & VS_PSN_MASK);
}

void rig_expect_silence(struct rig *r)
{
	struct vs_pkt p;

	if (rig_out(r, &p))
		ck_abort_msg("expected silence, got %s psn=%06x syndrome %02x", vs_opcodes[p.bth.opcode].name,
			     p.bth.psn, p.hdrs & VS_HDR_AETH ? p.ext.aeth.syndrome : 0xff);
}

unsigned rig_drain(struct rig *r)
{
	struct vs_pkt p;
	unsigned n = 0;

	while (rig_out(r, &p))
		n++;
	return n;
}

bool rig_next_timer(struct rig *r, uint64_t limit)
{
	uint64_t deadline = vs_dev_deadline(r->dev);

	if (deadline == VS_NEVER || deadline > r->now + limit)
		return false;
	if (deadline > r->now)
		r->now = deadline;
	r->inside = true;
	vs_dev_expire(r->dev, r->now);
	r->inside = false;
	return true;
}

void rig_advance(struct rig *r, uint64_t ns)
{
	uint64_t end = r->now + ns;

	while (rig_next_timer(r, end - r->now))
		;
	r->now = end;
	vs_dev_set_now(r->dev, r->now);
}

/* ---- completions, events ---- */

struct vs_wc rig_expect_wc(struct rig *r, struct vs_cq *cq, uint64_t wr_id, enum vs_wc_status status)
{
	struct vs_wc wc;

	ck_assert_msg(vs_cq_poll(cq, &wc, 1) == 1, "no completion, expected wr_id %llu %s", (unsigned long long)wr_id,
		      vs_wc_status_name(status));
	ck_assert_msg(wc.wr_id == wr_id && wc.status == status, "got wr_id %llu %s (%s), expected %llu %s",
		      (unsigned long long)wc.wr_id, vs_wc_status_name(wc.status),
		      vs_reason_info((enum vs_reason)wc.vendor_err)->id, (unsigned long long)wr_id,
		      vs_wc_status_name(status));
	ck_assert_uint_eq(wc.qp_num, vs_qp_num(r->qp));
	return wc;
}

void rig_expect_no_wc(struct rig *r)
{
	struct vs_wc wc;

	ck_assert_msg(vs_cq_poll(r->scq, &wc, 1) != 1, "unexpected send completion %llu %s",
		      (unsigned long long)wc.wr_id, vs_wc_status_name(wc.status));
	ck_assert_msg(vs_cq_poll(r->rcq, &wc, 1) != 1, "unexpected receive completion %llu %s",
		      (unsigned long long)wc.wr_id, vs_wc_status_name(wc.status));
}

void rig_expect_async(struct rig *r, enum vs_async_type type)
{
	struct vs_async a;

	ck_assert_msg(vs_dev_poll_async(r->dev, &a) == 1, "no async event, expected %s", vs_async_name(type));
	ck_assert_msg(a.type == type, "async event %s, expected %s", vs_async_name(a.type), vs_async_name(type));
}

void rig_expect_no_async(struct rig *r)
{
	struct vs_async a;

	if (vs_dev_poll_async(r->dev, &a) == 1)
		ck_abort_msg("unexpected async event %s", vs_async_name(a.type));
}

unsigned rig_count_events(const struct rig *r, enum vs_event_type type)
{
	unsigned n = 0;
	uint32_t i;

	for (i = 0; i < r->log_len; i++)
		n += r->log[i].type == type;
	return n;
}

uint64_t rig_counter(const struct rig *r, enum vs_counter c)
{
	return vs_dev_counter(r->dev, c);
}
