/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* flow.c - one sender and its reliable connection to the receiver, which it keeps full of WRITEs. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static enum vs_mtu mtu_of(const struct net_config *c)
{
	unsigned bytes = c->mtu != 0 ? c->mtu : 1024;

	return bytes >= 4096   ? VS_MTU_4096
	       : bytes >= 2048 ? VS_MTU_2048
	       : bytes >= 1024 ? VS_MTU_1024
	       : bytes >= 512  ? VS_MTU_512
			       : VS_MTU_256;
}

static int connect(struct net *net, struct vs_qp *qp, const struct vs_qp *peer, int peer_node)
{
	struct vs_qp_attr a = {.state = VS_QPS_INIT, .port_num = 1, .access_flags = VS_ACCESS_REMOTE_WRITE};
	int rc = vs_qp_modify(qp, &a, VS_QP_STATE | VS_QP_PORT | VS_QP_PKEY_INDEX | VS_QP_ACCESS_FLAGS);

	a.state = VS_QPS_RTR;
	a.path_mtu = mtu_of(net->config);
	a.dest_qpn = vs_qp_num(peer);
	a.max_dest_rd_atomic = 1;
	a.min_rnr_timer = 1;
	rc |= vs_sim_av(net->sim, peer_node, 0, &a.av);
	rc |= vs_qp_modify(qp, &a,
			   VS_QP_STATE | VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN |
				   VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER);
	a.state = VS_QPS_RTS;
	a.timeout = (uint8_t)(net->config->timeout != 0 ? net->config->timeout : 6);
	a.retry_cnt = 7;
	a.max_rd_atomic = 1;
	return rc | vs_qp_modify(qp, &a,
				 VS_QP_STATE | VS_QP_SQ_PSN | VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY |
					 VS_QP_MAX_QP_RD_ATOMIC);
}

/* One end: a protection domain, a queue for completions, memory, a queue pair. NULL: no memory. */
static struct vs_qp *end(struct vs_dev *dev, uint8_t *memory, struct vs_cq **cq, struct vs_mr **mr)
{
	struct vs_mr_attr m = {.addr = (uintptr_t)memory,
			       .length = NET_MESSAGE,
			       .iova = (uintptr_t)memory,
			       .access = VS_ACCESS_LOCAL_WRITE | VS_ACCESS_REMOTE_WRITE};
	struct vs_qp_init in = {.type = VS_QPT_RC, .cap = {NET_DEPTH, 1, 1, 1, 0}, .sq_sig_all = true};
	int err;
	struct vs_pd *pd = vs_pd_create(dev, &err);

	*cq = vs_cq_create(dev, 2 * NET_DEPTH, 0, &err);
	*mr = pd != NULL ? vs_mr_reg(pd, &m, &err) : NULL;
	in.send_cq = in.recv_cq = *cq;
	return *cq != NULL && *mr != NULL ? vs_qp_create(pd, &in, &err) : NULL;
}

int net_flow_open(struct net *net, unsigned i)
{
	struct net_stream *f = &net->flow[i];
	int here = net->host[i].node, there = net->host[net->config->senders].node;
	struct vs_cq *unused;

	f->memory = calloc(2, NET_MESSAGE);
	if (f->memory == NULL)
		return 1;
	memset(f->memory, 'A' + (int)i, NET_MESSAGE);
	f->limit = net->config->gbps;
	f->here = end(vs_sim_dev(net->sim, here), f->memory, &f->cq, &f->from);
	f->there = end(vs_sim_dev(net->sim, there), f->memory + NET_MESSAGE, &unused, &f->to);
	return f->here == NULL || f->there == NULL || connect(net, f->here, f->there, there) != 0 ||
	       connect(net, f->there, f->here, here) != 0;
}

void net_flow_go_on(struct net_stream *f)
{
	struct vs_sge sge = {.addr = (uintptr_t)f->memory, .length = NET_MESSAGE, .lkey = vs_mr_lkey(f->from)};
	struct vs_send_wr wr = {.opcode = VS_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1};
	struct vs_wc wc[32];
	int n;

	if (!f->open || f->dead)
		return;
	while ((n = vs_cq_poll(f->cq, wc, 32)) > 0) {
		for (int i = 0; i < n; i++) {
			f->dead |= wc[i].status != VS_WC_SUCCESS;
			f->done += wc[i].status == VS_WC_SUCCESS;
			f->posted--;
		}
	}
	wr.rdma.remote_addr = (uintptr_t)f->memory + NET_MESSAGE;
	wr.rdma.rkey = vs_mr_rkey(f->to);
	while (!f->dead && f->posted < NET_DEPTH && vs_qp_post_send(f->here, &wr) == VS_OK)
		f->posted++;
}

void net_flow_count(struct net *net, unsigned i, double us)
{
	const struct net_stream *f = &net->flow[i];
	const struct vs_dev *dev = vs_sim_dev(net->sim, net->host[i].node);
	struct net_flow *r = &net->result->flow[i];

	r->gbps = (double)(f->done - f->before) * NET_MESSAGE * 8 / (us * 1000);
	r->naks = vs_dev_counter(dev, VS_CNT_RCVD_SEQ_ERR);
	r->timeouts = vs_dev_counter(dev, VS_CNT_LOCAL_ACK_TIMEOUT_ERR);
	r->dead = f->dead;
}
