/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * id.c - ids: making and destroying them. A process that ends lets its connections go in order, as the kernel does for
 * one whose descriptor is closed: the peer hears of it. Since here the connection manager ends with the process, it
 * waits for the answer; when a DREQ got lost, for the next one.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs/cm/cm.h"

#define END_WAIT_MS 5000 /* a response timeout and some more */

struct cm cm = {.listening = -1};

int cm_fail(int error)
{
	if (error == 0)
		return 0;
	errno = error;
	return -1;
}

bool cm_enter(void)
{
	if (cm.link != NULL)
		return cm.link->enter();
	errno = ENODEV;
	return false;
}

void cm_leave(void)
{
	cm.link->leave();
}

static int open_one(const struct ref_cm_link *link, struct cm_device *d, struct ibv_device *device)
{
	d->context = ibv_open_device(device);
	if (d->context == NULL)
		return -1;
	d->vs = link->device(d->context);
	d->pd = ibv_alloc_pd(d->context);
	return d->pd != NULL ? 0 : -1;
}

static void close_devices(void)
{
	int why = errno;

	for (int i = 0; i < CM_DEVICES; i++) {
		if (cm.device[i].pd != NULL)
			ibv_dealloc_pd(cm.device[i].pd);
		if (cm.device[i].context != NULL)
			ibv_close_device(cm.device[i].context);
		cm.device[i] = (struct cm_device){NULL, NULL, NULL};
	}
	errno = why;
}

static int open_devices(void)
{
	const struct ref_cm_link *link = ref_cm_link();
	int n = 0, rc = 0;
	struct ibv_device **list = ibv_get_device_list(&n);

	if (list == NULL || n < 1 || n > CM_DEVICES)
		rc = cm_fail(ENODEV);
	for (int i = 0; i < n && rc == 0; i++)
		rc = open_one(link, &cm.device[i], list[i]);
	if (list != NULL)
		ibv_free_device_list(list);
	if (rc != 0) {
		close_devices();
		return -1;
	}
	cm.n_devices = n;
	cm.link = link;
	link->attach(cm_deliver);
	return 0;
}

/* Connections without an id, whose DREQ is not answered yet. */
static struct parting {
	struct vs_conn *conn;
	struct cm_peer watched;
	struct parting *next;
} * partings;

/*
 * A child has neither the engine nor the threads of its parent: it begins anew when it calls us. What it has inherited
 * of ids does nothing more, and leaves the parent's descriptors alone.
 */
static void after_fork_in_child(void)
{
	for (struct cm_id *id = cm.ids; id != NULL; id = id->next) {
		struct cm_channel *ch = cm_channel(id->id.channel);

		id->conn = NULL;
		id->service = NULL;
		if (ch == NULL)
			continue;
		ch->head = NULL;
		ch->tail = &ch->head;
	}
	for (struct cm_service *s = cm.services; s != NULL; s = s->next)
		cm_forget_names(s);
	if (cm.listening >= 0)
		close(cm.listening);
	cm = (struct cm){.listening = -1};
	partings = NULL;
	cm_host_forget();
}

int cm_start(void)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	static bool hooked;
	int rc;

	pthread_mutex_lock(&once);
	if (!hooked)
		hooked = pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
	rc = cm.link != NULL ? 0 : open_devices();
	pthread_mutex_unlock(&once);
	return rc;
}

struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **list = cm_start() == 0 ? calloc(CM_DEVICES + 1, sizeof(struct ibv_context *)) : NULL;

	if (num_devices != NULL)
		*num_devices = list != NULL ? cm.n_devices : 0;
	for (int i = 0; list != NULL && i < cm.n_devices; i++)
		list[i] = cm.device[i].context;
	return list;
}

void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}

/* ---- making ---- */

struct cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
			enum ibv_qp_type type)
{
	struct cm_id *id = calloc(1, sizeof(*id));

	if (id == NULL)
		return NULL;
	id->id.channel = channel;
	id->id.context = context;
	id->id.ps = ps;
	id->id.qp_type = type;
	id->ack_timeout = CM_ACK_TIMEOUT;
	if (type == IBV_QPT_UD)
		id->qkey = RDMA_UDP_QKEY;
	return id;
}

void cm_id_link(struct cm_id *id)
{
	id->psn = (uint32_t)cm.link->random() & 0xffffff;
	id->next = cm.ids;
	cm.ids = id;
}

int cm_id_create(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context, enum rdma_port_space ps,
		 enum ibv_qp_type type)
{
	struct rdma_event_channel *own = NULL;
	struct cm_id *id;

	if (cm_start() != 0)
		return -1;
	if (channel == NULL && (channel = own = rdma_create_event_channel()) == NULL)
		return -1;
	id = cm_id_new(channel, context, ps, type);
	if (id == NULL || !cm_enter()) {
		if (own != NULL)
			rdma_destroy_event_channel(own);
		free(id);
		return -1;
	}
	id->sync = own != NULL;
	cm_id_link(id);
	cm_leave();
	*out = &id->id;
	return 0;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context, enum rdma_port_space ps)
{
	switch (ps) {
	case RDMA_PS_TCP:
	case RDMA_PS_IB:
		return cm_id_create(channel, id, context, ps, IBV_QPT_RC);
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return cm_id_create(channel, id, context, ps, IBV_QPT_UD);
	default:
		return cm_fail(EPROTONOSUPPORT);
	}
}

/* ---- destroying ---- */

static void part(const struct cm_id *id)
{
	struct parting *p = NULL;
	struct vs_conn *c = id->conn;

	if (cm.link->state(c) == VS_CONN_ESTABLISHED)
		(void)cm.link->disconnect(c);
	if (cm.link->state(c) == VS_CONN_DREQ_SENT)
		p = calloc(1, sizeof(*p));
	if (p == NULL) {
		cm.link->destroy(c);
		return;
	}
	p->conn = c;
	p->watched = id->watched;
	p->next = partings;
	partings = p;
}

void cm_parted(struct vs_conn *c)
{
	for (struct parting **at = &partings, *p; (p = *at) != NULL; at = &p->next) {
		if (p->conn != c)
			continue;
		*at = p->next;
		free(p);
		cm.link->destroy(c);
		return;
	}
}

bool cm_partings_look(struct cm_answer *a)
{
	for (struct parting *p = partings; p != NULL; p = p->next)
		cm_host_look(p->conn, &p->watched, a);
	return partings != NULL;
}

/* Whoever waits for an answer gets one. */
static void let_go(struct cm_id *id)
{
	const struct vs_conn_param nothing = {.private_len = 0};

	if (id->conn == NULL)
		return;
	if (cm_is_ud(id) && cm.link->state(id->conn) == VS_CONN_SIDR_REQ_RCVD)
		(void)cm.link->sidr_reply(id->conn, VS_CM_SIDR_REJECT, &nothing);
	part(id);
	id->conn = NULL;
}

void cm_id_unlink(struct cm_id *id)
{
	struct cm_id **at;

	cm_unlisten(id);
	cm_events_move(id, NULL);
	let_go(id);
	for (at = &cm.ids; *at != NULL; at = &(*at)->next) {
		if (*at == id) {
			*at = id->next;
			break;
		}
	}
}

static pthread_mutex_t ack_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t acked = PTHREAD_COND_INITIALIZER;

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	struct cm_event *e = (struct cm_event *)event;

	if (event == NULL)
		return cm_fail(EINVAL);
	pthread_mutex_lock(&ack_lock);
	e->owner->events_acked++;
	pthread_cond_broadcast(&acked);
	pthread_mutex_unlock(&ack_lock);
	free(e);
	return 0;
}

static void wait_for_acks(struct cm_id *id)
{
	pthread_mutex_lock(&ack_lock);
	while (id->events_acked != id->events_taken)
		pthread_cond_wait(&acked, &ack_lock);
	pthread_mutex_unlock(&ack_lock);
}

int rdma_destroy_id(struct rdma_cm_id *rid)
{
	struct cm_id *id = cm_id(rid);

	cm_mcast_leave_all(id);
	if (!cm_enter())
		return -1;
	cm_id_unlink(id);
	cm_leave();
	if (rid->event != NULL)
		(void)rdma_ack_cm_event(rid->event);
	wait_for_acks(id);
	if (id->sync)
		rdma_destroy_event_channel(rid->channel);
	free(rid->route.path_rec);
	free(id->qp_init_attr);
	free(id);
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *rid, struct rdma_event_channel *channel)
{
	struct rdma_event_channel *own = NULL, *old = rid->channel;
	struct cm_id *id = cm_id(rid);
	bool was_sync = id->sync;

	if (was_sync && channel == NULL)
		return 0;
	if (channel == NULL && (channel = own = rdma_create_event_channel()) == NULL)
		return -1;
	if (was_sync && rid->event != NULL) {
		(void)rdma_ack_cm_event(rid->event);
		rid->event = NULL;
	}
	if (!cm_enter()) {
		if (own != NULL)
			rdma_destroy_event_channel(own);
		return -1;
	}
	cm_events_move(id, cm_channel(channel));
	rid->channel = channel;
	id->sync = own != NULL;
	cm_leave();
	if (was_sync)
		rdma_destroy_event_channel(old);
	return 0;
}

static bool partings_left(void)
{
	bool left;

	if (!cm_enter())
		return false;
	left = partings != NULL;
	cm_leave();
	return left;
}

__attribute__((destructor)) static void end_of_process(void)
{
	if (cm.link == NULL || !cm_enter())
		return;
	for (struct cm_id *id = cm.ids; id != NULL; id = id->next)
		let_go(id);
	cm_leave();
	for (int i = 0; partings_left() && i < END_WAIT_MS; i++)
		cm.link->sleep(1000000);
	cm_host_stop();
}
