/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * event.c - event channels, each an eventfd that counts the events in its queue; what the engine's connections say
 * becomes events of librdmacm.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "verbs/cm/cm.h"

/* ---- channels ---- */

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct cm_channel *ch;

	if (cm_start() != 0)
		return NULL;
	ch = calloc(1, sizeof(*ch));
	if (ch == NULL)
		return NULL;
	ch->tail = &ch->head;
	ch->channel.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (ch->channel.fd >= 0) {
		cm.link->channel(ch->channel.fd, true);
		return &ch->channel;
	}
	free(ch);
	return NULL;
}

/*
 * Some programs (rping) destroy a channel on which a thread of theirs waits for ever, or is just about to, and with it
 * the process when that finds the descriptor closed. With a kernel's device it is in time, but for one in a
 * million; here the last few stay open, so that it waits as ever.
 */
static struct rdma_event_channel *bury(struct rdma_event_channel *channel)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct rdma_event_channel *last[8];
	static unsigned n;
	struct rdma_event_channel *oldest;

	pthread_mutex_lock(&lock);
	oldest = last[n];
	last[n] = channel;
	n = (n + 1) % (sizeof(last) / sizeof(last[0]));
	pthread_mutex_unlock(&lock);
	return oldest;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	struct rdma_event_channel *oldest;

	cm.link->channel(channel->fd, false);
	oldest = bury(channel);
	if (oldest == NULL)
		return;
	close(oldest->fd);
	free(oldest);
}

static void enqueue(struct cm_channel *ch, struct cm_event *e)
{
	const uint64_t one = 1;

	e->next = NULL;
	*ch->tail = e;
	ch->tail = &e->next;
	cm.link->signal();
	if (write(ch->channel.fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
		return; /* 2^64 - 2 events wait: it is readable */
}

/* Counts the descriptor down by one without waiting. False: somebody else was faster. */
static bool count_down(const struct cm_channel *ch)
{
	struct pollfd p = {.fd = ch->channel.fd, .events = POLLIN};
	uint64_t one;

	return poll(&p, 1, 0) == 1 && read(ch->channel.fd, &one, sizeof(one)) == (ssize_t)sizeof(one);
}

struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
	struct cm_event *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->event.id = &id->id;
	e->event.event = type;
	e->event.status = status;
	e->owner = id;
	return e;
}

void cm_event_push(struct cm_event *e)
{
	enqueue(cm_channel(e->owner->id.channel), e);
}

/* A request that nobody has seen yet goes with its listener. */
static void drop(struct cm_event *e)
{
	if (e->event.listen_id != NULL) {
		struct cm_id *id = cm_id(e->event.id);

		id->id.channel = NULL; /* no other event of it is there */
		cm_id_unlink(id);
		free(id->id.route.path_rec);
		free(id);
	}
	free(e);
}

void cm_events_move(struct cm_id *id, struct cm_channel *to)
{
	struct cm_channel *ch = cm_channel(id->id.channel);
	struct cm_event *e, *all;

	if (ch == NULL)
		return;
	all = ch->head;
	ch->head = NULL;
	ch->tail = &ch->head;
	while ((e = all) != NULL) {
		all = e->next;
		if (e->owner != id) {
			e->next = NULL;
			*ch->tail = e;
			ch->tail = &e->next;
			continue;
		}
		(void)count_down(ch);
		if (to != NULL)
			enqueue(to, e);
		else
			drop(e);
	}
}

/* ---- from the engine ---- */

static void conn_param(struct cm_event *e, const struct vs_conn_event *from, uint8_t skip, uint8_t len)
{
	struct rdma_conn_param *p = &e->event.param.conn;

	memcpy(e->data, from->private_data + skip, len);
	/* What they start we respond to, and the other way round. */
	p->responder_resources = from->peer.initiator_depth;
	p->initiator_depth = from->peer.responder_resources;
	p->flow_control = from->peer.flow_control;
	p->retry_count = from->peer.retry_count;
	p->rnr_retry_count = from->peer.rnr_retry;
	p->srq = from->peer.srq;
	p->qp_num = from->peer.qpn;
	p->private_data = len > 0 ? e->data : NULL;
	p->private_data_len = len;
}

static void ud_param(struct cm_event *e, const struct vs_conn_event *from, uint8_t skip, uint8_t len)
{
	struct rdma_ud_param *p = &e->event.param.ud;

	memcpy(e->data, from->private_data + skip, len);
	cm.link->ah_attr(&p->ah_attr, &from->peer.path);
	p->qp_num = from->peer.qpn;
	p->qkey = from->peer.qkey;
	p->private_data = len > 0 ? e->data : NULL;
	p->private_data_len = len;
}

/* An id for whoever wants to connect. */
static struct cm_id *requested(struct cm_device *dev, struct cm_id *listener, const struct vs_conn_event *from,
			       const struct vs_rdmacm_hdr *h)
{
	struct cm_id *id = cm_id_new(listener->id.channel, listener->id.context, listener->id.ps, listener->id.qp_type);
	uint8_t gid[2][16];

	if (id == NULL)
		return NULL;
	memcpy(gid[0], h->dst, 16);
	memcpy(gid[1], h->src, 16);
	for (int i = 0; h->ip_version == 4 && i < 2; i++)
		gid[i][10] = gid[i][11] = 0xff;
	cm_addr_of(&id->id.route.addr.src_storage, gid[0], cm_port(cm_src(listener)));
	cm_addr_of(&id->id.route.addr.dst_storage, gid[1], h->src_port);
	id->conn = from->conn;
	cm_host_watch(&id->watched, from->peer.path.dgid);
	id->peer = from->peer;
	id->sgid_index = from->peer.path.sgid_index;
	id->responder_resources = from->peer.initiator_depth;
	id->initiator_depth = from->peer.responder_resources;
	id->resolved = true;
	id->dev = dev;
	cm_acquire(id);
	if (listener->id.pd != NULL && listener->id.pd->context == id->id.verbs)
		id->id.pd = listener->id.pd;
	cm_id_link(id);
	return id;
}

/* Nobody is there, or it can't be taken. */
static void refuse(const struct vs_conn_event *from, uint16_t reason)
{
	const struct vs_conn_param nothing = {.private_len = 0};

	if (from->type == VS_CONN_EV_REQUEST)
		(void)cm.link->reject(from->conn, reason, NULL, 0);
	else
		(void)cm.link->sidr_reply(from->conn, VS_CM_SIDR_REJECT, &nothing);
	cm.link->destroy(from->conn);
	cm.link->send();
}

static void request(struct cm_device *dev, const struct vs_conn_event *from)
{
	const struct cm_service *s = (const struct cm_service *)(uintptr_t)from->cookie;
	bool ud = from->type == VS_CONN_EV_SIDR_REQUEST;
	struct vs_rdmacm_hdr h;
	struct cm_id *listener, *id;
	struct cm_event *e;

	if (vs_rdmacm_parse(&h, from->private_data, sizeof(from->private_data)) != VS_OK ||
	    !vs_rdmacm_hdr_is_known(&h)) {
		refuse(from, VS_CM_REJ_UNSUPPORTED);
		return;
	}
	listener = cm_listener_for(s, &h);
	if (listener == NULL || cm_is_ud(listener) != ud) {
		refuse(from, VS_CM_REJ_SERVICE_ID);
		return;
	}
	id = listener->pending < (unsigned)listener->backlog ? requested(dev, listener, from, &h) : NULL;
	e = id != NULL ? cm_event_new(id, RDMA_CM_EVENT_CONNECT_REQUEST, 0) : NULL;
	if (e == NULL) {
		if (id != NULL) {
			id->conn = NULL;
			cm_id_unlink(id);
			free(id->id.route.path_rec);
			free(id);
		}
		refuse(from, VS_CM_REJ_NO_RESOURCES);
		return;
	}
	e->event.listen_id = &listener->id;
	e->owner = listener;
	listener->pending++;
	if (ud)
		ud_param(e, from, VS_RDMACM_HDR_LEN, CM_SIDR_PRIVATE);
	else
		conn_param(e, from, VS_RDMACM_HDR_LEN, CM_REQ_PRIVATE);
	cm_event_push(e);
}

/* What the engine says of a connection, in librdmacm's words; false: nothing that a program hears. */
static bool translate(const struct cm_id *id, const struct vs_conn_event *from, enum rdma_cm_event_type *type,
		      int *status, uint8_t *len)
{
	*status = 0;
	*len = 0;
	switch (from->type) {
	case VS_CONN_EV_RESPONSE:
		*type = RDMA_CM_EVENT_CONNECT_RESPONSE;
		*len = CM_REP_PRIVATE;
		return true;
	case VS_CONN_EV_ESTABLISHED: /* on the active side the REP was that */
		*type = RDMA_CM_EVENT_ESTABLISHED;
		return !id->active;
	case VS_CONN_EV_REJECTED:
		*type = RDMA_CM_EVENT_REJECTED;
		*status = (int)from->status;
		*len = CM_REJ_PRIVATE;
		return true;
	case VS_CONN_EV_UNREACHABLE:
		*type = RDMA_CM_EVENT_UNREACHABLE;
		*status = -ETIMEDOUT;
		return true;
	case VS_CONN_EV_DISCONNECTED:
		*type = RDMA_CM_EVENT_DISCONNECTED;
		*status = from->status == VS_CONN_NO_ANSWER ? -ETIMEDOUT : 0;
		return true;
	case VS_CONN_EV_TIMEWAIT_EXIT:
		*type = RDMA_CM_EVENT_TIMEWAIT_EXIT;
		return !cm_is_ud(id) && !id->rejected;
	case VS_CONN_EV_SIDR_RESPONSE:
		*type = from->status == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_UNREACHABLE;
		*status = (int)from->status;
		*len = CM_SIDR_REP_PRIVATE;
		return true;
	default:
		return false;
	}
}

/* By the connection: an event may be older than the cookie, which was the listener's first. */
static struct cm_id *id_of(const struct vs_conn *c)
{
	struct cm_id *id = cm.ids;

	while (id != NULL && id->conn != c)
		id = id->next;
	return id;
}

static void one(struct cm_device *dev, const struct vs_conn_event *from)
{
	struct cm_id *id;
	enum rdma_cm_event_type type;
	struct cm_event *e;
	uint8_t len;
	int status;

	if (from->type == VS_CONN_EV_REQUEST || from->type == VS_CONN_EV_SIDR_REQUEST) {
		request(dev, from);
		return;
	}
	id = id_of(from->conn);
	if (id == NULL && from->type == VS_CONN_EV_DISCONNECTED)
		cm_parted(from->conn);
	if (id != NULL && from->type == VS_CONN_EV_REJECTED && from->status == VS_CM_REJ_SERVICE_ID &&
	    cm_host_knocks(id))
		return;
	if (id == NULL || !translate(id, from, &type, &status, &len) || (e = cm_event_new(id, type, status)) == NULL)
		return;
	if (from->type == VS_CONN_EV_SIDR_RESPONSE)
		ud_param(e, from, 0, len);
	else
		conn_param(e, from, 0, len);
	cm_event_push(e);
}

void cm_deliver(void)
{
	struct vs_conn_event e;

	for (int i = 0; i < cm.n_devices; i++)
		while (cm.link->poll(cm.device[i].vs, &e))
			one(&cm.device[i], &e);
}

/* ---- to the program ---- */

/* The REP is there: our QP goes to RTS, and the RTU to the peer. Who has no QP here calls rdma_establish. */
static void connected(struct cm_event *e)
{
	struct cm_id *id = cm_id(e->event.id);
	int rc;

	if (id->id.qp == NULL)
		return;
	rc = cm_qp_to_rtr(id, -1);
	if (rc == 0)
		rc = cm_qp_to_rts(id, -1);
	if (!cm_enter())
		rc = -1;
	else {
		if (rc == 0)
			rc = cm_fail(cm.link->error(id->dev->vs, "rdma_connect", cm.link->establish(id->conn)));
		else
			(void)cm.link->reject(id->conn, VS_CM_REJ_CONSUMER, NULL, 0);
		cm_leave();
	}
	e->event.event = rc == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_ERROR;
	e->event.status = rc == 0 ? 0 : -errno;
	if (rc != 0)
		(void)cm_qp_to_err(id);
}

/* What has to be done before the program sees it. */
static void prepare(struct cm_event *e)
{
	struct cm_id *id = cm_id(e->event.id);
	int rc;

	switch (e->event.event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		/* Requests of an endpoint become endpoints. */
		if (e->owner->sync && rdma_migrate_id(&id->id, NULL) != 0)
			e->event.status = -errno;
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		connected(e);
		break;
	case RDMA_CM_EVENT_REJECTED:
		(void)cm_qp_to_err(id);
		break;
	case RDMA_CM_EVENT_MULTICAST_JOIN:
		rc = cm_mcast_joined(e);
		if (rc != 0) {
			e->event.event = RDMA_CM_EVENT_MULTICAST_ERROR;
			e->event.status = -rc;
		}
		break;
	default:
		break;
	}
}

/* Inside: the oldest event; NULL when a count was left by one that is gone. */
static struct cm_event *dequeue(struct cm_channel *ch)
{
	struct cm_event *e = ch->head;

	if (e == NULL)
		return NULL;
	ch->head = e->next;
	if (ch->head == NULL)
		ch->tail = &ch->head;
	e->owner->events_taken++;
	if (e->event.listen_id != NULL)
		e->owner->pending--;
	return e;
}

/* In virtual time: never in the kernel, where this thread would not move the clock. NULL with errno. */
static struct cm_event *take_virtually(struct cm_channel *ch)
{
	struct cm_event *e;
	bool counted;

	for (;;) {
		if (cm.link->wait(ch->channel.fd) != 0 || !cm_enter())
			return NULL;
		counted = count_down(ch);
		e = counted ? dequeue(ch) : NULL;
		cm_leave();
		if (e != NULL)
			return e;
		if (!counted && (fcntl(ch->channel.fd, F_GETFL) & O_NONBLOCK)) {
			errno = EAGAIN;
			return NULL;
		}
	}
}

static struct cm_event *take(struct cm_channel *ch)
{
	struct cm_event *e;
	uint64_t count;

	do {
		if (read(ch->channel.fd, &count, sizeof(count)) != (ssize_t)sizeof(count) || !cm_enter())
			return NULL;
		e = dequeue(ch);
		cm_leave();
	} while (e == NULL);
	return e;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct cm_event *e;

	if (event == NULL)
		return cm_fail(EINVAL);
	e = cm.link->is_virtual() ? take_virtually(cm_channel(channel)) : take(cm_channel(channel));
	if (e == NULL)
		return -1;
	prepare(e);
	*event = &e->event;
	return 0;
}

int cm_complete(struct cm_id *id)
{
	struct rdma_cm_id *rid = &id->id;

	if (!id->sync)
		return 0;
	if (rid->event != NULL) {
		(void)rdma_ack_cm_event(rid->event);
		rid->event = NULL;
	}
	if (rdma_get_cm_event(rid->channel, &rid->event) != 0)
		return -1;
	if (rid->event->status == 0)
		return 0;
	if (rid->event->event == RDMA_CM_EVENT_REJECTED)
		return cm_fail(ECONNREFUSED);
	return cm_fail(abs(rid->event->status));
}

int cm_tell(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
	struct cm_event *e = cm_event_new(id, type, status);

	if (e == NULL)
		return -1;
	if (!cm_enter()) {
		free(e);
		return -1;
	}
	cm_event_push(e);
	cm_leave();
	return cm_complete(id);
}
