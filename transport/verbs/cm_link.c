/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cm_link.c - the door through which our librdmacm.so.1 reaches the engine of this process.
 */
#include <time.h>

#include "verbs/cm_link.h"
#include "verbs/ref.h"

static void attach(void (*deliver)(void))
{
	pthread_mutex_lock(&ref.lock);
	ref.deliver_conn = deliver;
	pthread_mutex_unlock(&ref.lock);
}

static struct vs_dev *device(struct ibv_context *context)
{
	return ref_dev(context);
}

/* splitmix64: PSNs and ports that nobody guesses, but the same for the same seed. */
static uint64_t draw(void)
{
	static uint64_t state;
	uint64_t z;

	if (state == 0)
		state = ref.config.seed ^ 0x72646d61636d0001ull;
	z = state += 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static int qp_attr(const struct vs_dev *dev, const struct vs_conn *c, enum ibv_qp_state to, struct ibv_qp_attr *attr,
		   int *mask)
{
	struct vs_qp_attr a;
	uint32_t m;
	int rc = vs_conn_qp_attr(c, (enum vs_qp_state)to, &a, &m);

	if (rc != VS_OK)
		return ref_error(dev, "rdma_init_qp_attr", rc);
	attr->qp_state = to;
	attr->path_mtu = (enum ibv_mtu)a.path_mtu;
	attr->rq_psn = a.rq_psn;
	attr->sq_psn = a.sq_psn;
	attr->dest_qp_num = a.dest_qpn;
	attr->qp_access_flags = a.access_flags;
	ref_ah_attr(&attr->ah_attr, &a.av);
	attr->pkey_index = a.pkey_index;
	attr->max_rd_atomic = a.max_rd_atomic;
	attr->max_dest_rd_atomic = a.max_dest_rd_atomic;
	attr->min_rnr_timer = a.min_rnr_timer;
	attr->port_num = a.port_num;
	attr->timeout = a.timeout;
	attr->retry_cnt = a.retry_cnt;
	attr->rnr_retry = a.rnr_retry;
	*mask = (int)m;
	return 0;
}

/* ---- time ---- */

static bool is_virtual(void)
{
	return ref.sim != NULL;
}

static void signal_channel(void)
{
	if (ref.sim != NULL)
		ref_virtual_signal();
}

static int wait_for(int fd)
{
	return ref.sim != NULL ? ref_virtual_wait(fd) : 0;
}

/* Outside. */
static uint64_t now(void)
{
	uint64_t t;

	if (ref.sim == NULL)
		return ref_real_now();
	pthread_mutex_lock(&ref.lock);
	t = ref.sim != NULL ? ref_now() : 0;
	pthread_mutex_unlock(&ref.lock);
	return t;
}

static void sleep_for(uint64_t ns)
{
	const struct timespec ts = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};

	if (ref.sim != NULL)
		ref_virtual_sleep(ns);
	else
		(void)nanosleep(&ts, NULL);
}

const struct ref_cm_link *ref_cm_link(void)
{
	static const struct ref_cm_link link = {.enter = ref_enter,
						.leave = ref_leave,
						.send = ref_send,
						.attach = attach,
						.device = device,
						.random = draw,
						.error = ref_error,
						.qp_attr = qp_attr,
						.ah_attr = ref_ah_attr,
						.is_virtual = is_virtual,
						.channel = ref_fd_own,
						.signal = signal_channel,
						.wait = wait_for,
						.now = now,
						.sleep = sleep_for,
						.dev_attr = vs_dev_attr,
						.listen = vs_listen,
						.unlisten = vs_unlisten,
						.connect = vs_connect,
						.sidr_resolve = vs_sidr_resolve,
						.accept = vs_accept,
						.establish = vs_conn_establish,
						.reject = vs_reject,
						.disconnect = vs_disconnect,
						.sidr_reply = vs_sidr_reply,
						.state = vs_conn_state,
						.peer_gone = vs_conn_peer_gone,
						.destroy = vs_conn_destroy,
						.poll = vs_dev_poll_conn};

	return &link;
}
