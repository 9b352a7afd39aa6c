/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * deviation.c - what the probes of deviations share: a call for each thing that most of them do.
 */
#include <string.h>

#include "deviation.h"

const uint8_t probe_mgid[16] = {[10] = 0xff, 0xff, 239, 1, 2, 3};

int probe_status(struct vs_cq *cq)
{
	struct vs_wc wc;

	return vs_cq_poll(cq, &wc, 1) == 1 ? (int)wc.status : -1;
}

int probe_async(struct rig *r)
{
	struct vs_async a;

	return vs_dev_poll_async(r->dev, &a) == 1 ? (int)a.type : -1;
}

int probe_next(struct rig *r, uint8_t *syn)
{
	struct vs_pkt p;

	if (!rig_out(r, &p))
		return -1;
	if (syn != NULL)
		*syn = p.hdrs & VS_HDR_AETH ? p.ext.aeth.syndrome : 0xff;
	return p.bth.opcode;
}

int probe_post(struct rig *r, enum vs_wr_opcode op, uint64_t id, uint32_t len, unsigned flags)
{
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, op, id, &sge, 0, len);

	wr.flags = flags;
	return vs_qp_post_send(r->qp, &wr);
}

struct vs_mw *probe_window(struct rig *r)
{
	int err;

	return vs_mw_alloc(r->pd, VS_MW_TYPE_2, &err);
}

int probe_bind(struct rig *r, struct vs_mw *mw, uint8_t key, uint64_t addr, uint64_t len)
{
	struct vs_send_wr wr = {.wr_id = 1, .opcode = VS_WR_BIND_MW, .flags = VS_SEND_SIGNALED};

	wr.bind.mw = mw;
	wr.bind.mr = r->mr;
	wr.bind.rkey = key;
	wr.bind.addr = addr;
	wr.bind.length = len;
	wr.bind.access = VS_ACCESS_REMOTE_WRITE;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
	rig_drain(r);
	return probe_status(r->scq);
}

void probe_send_mcast(struct rig *r)
{
	struct vs_qp_attr a = rig_attr(r);
	struct vs_sge sge;
	struct vs_send_wr wr = rig_wr(r, VS_WR_SEND, 1, &sge, 0, 8);
	int err;

	memcpy(a.av.dgid, probe_mgid, 16);
	wr.ud.ah = vs_ah_create(r->pd, &a.av, &err);
	wr.ud.remote_qpn = VS_QPN_MULTICAST;
	wr.ud.remote_qkey = 0x11111111;
	ck_assert_int_eq(vs_qp_post_send(r->qp, &wr), VS_OK);
}
