/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* msg.c - the structures of the verbs as words of a line, and changes of memory: see msg.h. */
#include "msg.h"

#include <string.h>

void ag_io_device(struct ag_io *io, struct ag_device *d)
{
	if (io->out != NULL)
		ag_put_word(io->out, d->name);
	else
		(void)ag_get_word(io->in, d->name);
	ag_flag(io, &d->reference);
	for (size_t i = 0; i < sizeof(d->limit) / sizeof(d->limit[0]); i++)
		AG_FIELD(io, d->limit[i]);
	AG_FIELD(io, d->max_mcast);
	ag_flag(io, &d->atomic);
	ag_flag(io, &d->atomic_write);
	ag_flag(io, &d->cm);
	for (unsigned i = 0; i < VC_PEER_ENCAPS; i++) {
		ag_flag(io, &d->gids.has[i]);
		AG_FIELD(io, d->gids.index[i]);
		ag_array(io, d->gids.gid[i], 16);
	}
}

static void io_sges(struct ag_io *io, struct vs_sge *sge, uint32_t *n)
{
	AG_FIELD(io, *n);
	if (*n > AG_SGES) {
		if (io->out != NULL)
			io->out->full = true;
		else
			io->in->bad = true;
		*n = 0;
	}
	for (uint32_t i = 0; i < *n; i++) {
		AG_FIELD(io, sge[i].addr);
		AG_FIELD(io, sge[i].length);
		AG_FIELD(io, sge[i].lkey);
	}
}

static void io_inline(struct ag_io *io, struct ag_send *s)
{
	if (io->out != NULL) {
		ag_put_bytes(io->out, s->data, s->wr.inline_len);
		return;
	}
	s->wr.inline_len = (uint32_t)ag_get_bytes(io->in, s->data, sizeof(s->data));
	s->wr.inline_data = s->data;
}

void ag_io_send(struct ag_io *io, struct ag_send *s)
{
	struct vs_send_wr *w = &s->wr;

	AG_FIELD(io, w->wr_id);
	AG_FIELD(io, w->opcode);
	AG_FIELD(io, w->flags);
	io_sges(io, s->sge, &w->num_sge);
	io_inline(io, s);
	AG_FIELD(io, w->imm_data);
	AG_FIELD(io, w->invalidate_rkey);
	AG_FIELD(io, w->rdma.remote_addr);
	AG_FIELD(io, w->rdma.rkey);
	AG_FIELD(io, w->atomic.compare_add);
	AG_FIELD(io, w->atomic.swap);
	AG_FIELD(io, s->ah);
	AG_FIELD(io, w->ud.remote_qpn);
	AG_FIELD(io, w->ud.remote_qkey);
	AG_FIELD(io, s->mw);
	AG_FIELD(io, s->mr);
	AG_FIELD(io, w->bind.rkey);
	AG_FIELD(io, w->bind.addr);
	AG_FIELD(io, w->bind.length);
	AG_FIELD(io, w->bind.access);
	AG_FIELD(io, w->flush.length);
	AG_FIELD(io, w->flush.plt);
	AG_FIELD(io, w->flush.sel);
	if (io->in != NULL)
		w->sg_list = s->sge;
}

void ag_io_recv(struct ag_io *io, struct ag_recv *r)
{
	AG_FIELD(io, r->wr.wr_id);
	io_sges(io, r->sge, &r->wr.num_sge);
	if (io->in != NULL)
		r->wr.sg_list = r->sge;
}

void ag_io_cap(struct ag_io *io, struct vs_qp_cap *c)
{
	AG_FIELD(io, c->max_send_wr);
	AG_FIELD(io, c->max_recv_wr);
	AG_FIELD(io, c->max_send_sge);
	AG_FIELD(io, c->max_recv_sge);
	AG_FIELD(io, c->max_inline_data);
}

void ag_io_qp(struct ag_io *io, struct ag_qp *q)
{
	AG_FIELD(io, q->pd);
	AG_FIELD(io, q->init.type);
	AG_FIELD(io, q->send_cq);
	AG_FIELD(io, q->recv_cq);
	AG_FIELD(io, q->srq);
	ag_io_cap(io, &q->init.cap);
	ag_flag(io, &q->init.sq_sig_all);
}

void ag_io_av(struct ag_io *io, struct vs_av *av)
{
	ag_flag(io, &av->is_global);
	ag_array(io, av->dgid, 16);
	AG_FIELD(io, av->sgid_index);
	AG_FIELD(io, av->flow_label);
	AG_FIELD(io, av->hop_limit);
	AG_FIELD(io, av->traffic_class);
	AG_FIELD(io, av->dlid);
	AG_FIELD(io, av->sl);
	AG_FIELD(io, av->src_path_bits);
	AG_FIELD(io, av->port);
	ag_array(io, av->dmac, 6);
	ag_flag(io, &av->has_vlan);
	AG_FIELD(io, av->vlan_id);
}

void ag_io_attr(struct ag_io *io, struct vs_qp_attr *a)
{
	AG_FIELD(io, a->state);
	AG_FIELD(io, a->cur_state);
	AG_FIELD(io, a->path_mtu);
	AG_FIELD(io, a->qkey);
	AG_FIELD(io, a->rq_psn);
	AG_FIELD(io, a->sq_psn);
	AG_FIELD(io, a->dest_qpn);
	AG_FIELD(io, a->access_flags);
	ag_io_av(io, &a->av);
	AG_FIELD(io, a->pkey_index);
	AG_FIELD(io, a->en_sqd_async_notify);
	AG_FIELD(io, a->sq_draining);
	AG_FIELD(io, a->max_rd_atomic);
	AG_FIELD(io, a->max_dest_rd_atomic);
	AG_FIELD(io, a->min_rnr_timer);
	AG_FIELD(io, a->port_num);
	AG_FIELD(io, a->timeout);
	AG_FIELD(io, a->retry_cnt);
	AG_FIELD(io, a->rnr_retry);
}

void ag_io_srq(struct ag_io *io, struct vs_srq_attr *a)
{
	AG_FIELD(io, a->max_wr);
	AG_FIELD(io, a->max_sge);
	AG_FIELD(io, a->srq_limit);
}

void ag_io_wc(struct ag_io *io, struct vs_wc *wc)
{
	AG_FIELD(io, wc->wr_id);
	AG_FIELD(io, wc->status);
	AG_FIELD(io, wc->opcode);
	AG_FIELD(io, wc->vendor_err);
	AG_FIELD(io, wc->byte_len);
	AG_FIELD(io, wc->imm_data);
	AG_FIELD(io, wc->invalidated_rkey);
	AG_FIELD(io, wc->qp_num);
	AG_FIELD(io, wc->src_qp);
	AG_FIELD(io, wc->wc_flags);
	AG_FIELD(io, wc->pkey_index);
	AG_FIELD(io, wc->slid);
	AG_FIELD(io, wc->sl);
	AG_FIELD(io, wc->dlid_path_bits);
}

void ag_io_conn(struct ag_io *io, struct vs_conn_param *p, uint8_t *data)
{
	AG_FIELD(io, p->service_id);
	ag_flag(io, &p->uc);
	ag_io_av(io, &p->path);
	AG_FIELD(io, p->path_mtu);
	AG_FIELD(io, p->qpn);
	AG_FIELD(io, p->starting_psn);
	AG_FIELD(io, p->responder_resources);
	AG_FIELD(io, p->initiator_depth);
	AG_FIELD(io, p->retry_count);
	AG_FIELD(io, p->rnr_retry);
	AG_FIELD(io, p->local_ack_timeout);
	AG_FIELD(io, p->cm_response_timeout);
	AG_FIELD(io, p->max_cm_retries);
	AG_FIELD(io, p->qkey);
	ag_flag(io, &p->srq);
	ag_flag(io, &p->flow_control);
	if (io->out != NULL) {
		ag_put_bytes(io->out, p->private_data, p->private_len);
		return;
	}
	p->private_len = (uint8_t)ag_get_bytes(io->in, data, UINT8_MAX);
	p->private_data = data;
}

static bool has_text(const struct vs_event_info *info)
{
	for (unsigned i = 0; i < info->nargs; i++)
		if (info->args[i].kind == VS_ARG_STR)
			return true;
	return false;
}

void ag_io_event(struct ag_io *io, struct vs_event *ev)
{
	const struct vs_event_info *info;
	char name[AG_WORD_MAX];

	if (io->out != NULL) {
		ag_put_word(io->out, vs_event_info((enum vs_event_type)ev->type)->name);
	} else {
		(void)ag_get_word(io->in, name);
		ev->type = (uint16_t)vs_event_by_name(name);
	}
	info = vs_event_info((enum vs_event_type)ev->type);
	if (ev->type == VS_EV_NONE || has_text(info)) {
		if (io->out != NULL)
			io->out->full = true;
		else
			io->in->bad = true;
		return;
	}
	ag_flag(io, &ev->has_wr);
	AG_FIELD(io, ev->wr_id);
	AG_FIELD(io, ev->qpn);
	for (unsigned i = 0; i < info->nargs; i++)
		AG_FIELD(io, ev->a[i]);
}

/* How far from `at` on the bytes differ; a few that are the same between two that differ are taken along. */
static uint32_t differ(const uint8_t *now, const uint8_t *known, uint32_t at, uint32_t len)
{
	uint32_t end = at, same = 0;

	for (; at < len && same < 16; at++) {
		if (now[at] == known[at]) {
			same++;
			continue;
		}
		same = 0;
		end = at + 1;
	}
	return end;
}

bool ag_changed(const uint8_t *now, uint8_t *known, uint32_t len, uint32_t *at, struct ag_piece *p)
{
	uint32_t end, equal;

	while (len - *at >= 256 && memcmp(now + *at, known + *at, 256) == 0)
		*at += 256;
	while (*at < len && now[*at] == known[*at])
		(*at)++;
	if (*at == len)
		return false;
	end = differ(now, known, *at, len);
	for (equal = *at + 1; equal < end && now[equal] == now[*at];)
		equal++;
	p->off = *at;
	p->fill = equal - *at > 32;
	p->len = p->fill ? equal - *at : end - *at < AG_CHUNK ? end - *at : AG_CHUNK;
	memcpy(known + p->off, now + p->off, p->len);
	*at += p->len;
	return true;
}
