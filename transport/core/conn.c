/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * conn.c - connections: the calls of the application, their timers, the events that come back.
 *
 *   active                                        passive
 *   vs_connect     REQ ->   REQ_SENT              REQ_RCVD    event REQUEST
 *                           REP_RCVD     <- REP   REP_SENT    vs_accept
 *   vs_conn_establish RTU -> ESTABLISHED          ESTABLISHED event ESTABLISHED (RTU, or data before it)
 *   vs_disconnect  DREQ ->  DREQ_SENT             TIMEWAIT    event DISCONNECTED, DREP
 *                           TIMEWAIT ... CLOSED               event TIMEWAIT_EXIT
 *
 * What was sent and not answered is sent again after the response timeout, max_cm_retries times.
 */
#include "conn.h"

static const char *const state_names[] = {
	"IDLE",     "REQ_SENT",      "REQ_RCVD",      "MRA_REQ_SENT", "MRA_REQ_RCVD", "REP_SENT",
	"REP_RCVD", "MRA_REP_SENT",  "MRA_REP_RCVD",  "ESTABLISHED",  "DREQ_SENT",    "DREQ_RCVD",
	"TIMEWAIT", "SIDR_REQ_SENT", "SIDR_REQ_RCVD", "CLOSED",
};
static const char *const event_names[] = {
	"request",      "response",      "established",  "rejected",      "unreachable",
	"disconnected", "timewait_exit", "sidr_request", "sidr_response",
};

/* ---- life ---- */

int vs_conn_init(struct vs_dev *dev)
{
	struct vs_conn_state_block *b = vs_alloc(dev, sizeof(*b));

	if (b == NULL)
		return VS_ERR_NOSPACE;
	dev->conn = b;
	vs_list_init(&b->conns);
	vs_list_init(&b->listeners);
	vs_list_init(&b->pool);
	b->slots = 1;
	while (b->slots < dev->attr.max_qp)
		b->slots <<= 1;
	b->slot = vs_alloc(dev, b->slots * sizeof(struct vs_conn *));
	b->gsi.dev = dev;
	b->gsi.qpn = VS_QPN_GSI;
	b->gsi.type = VS_QPT_GSI;
	b->next_tid = vs_random(dev);
	b->psn = (uint32_t)vs_random(dev) & VS_PSN_MASK;
	return b->slot != NULL ? VS_OK : VS_ERR_NOSPACE;
}

void vs_conn_fini(struct vs_dev *dev)
{
	struct vs_conn_state_block *b = dev->conn;

	if (b == NULL)
		return;
	while (b->slot != NULL && !vs_list_empty(&b->conns))
		vs_conn_free(VS_CONTAINER(b->conns.next, struct vs_conn, link));
	while (!vs_list_empty(&b->pool)) {
		struct vs_conn *c = VS_CONTAINER(b->pool.next, struct vs_conn, link);

		vs_list_del(&c->link);
		vs_timer_unreserve(dev, 1);
		vs_free(dev, c, sizeof(*c));
	}
	while (!vs_list_empty(&b->listeners))
		vs_unlisten(VS_CONTAINER(b->listeners.next, struct vs_listener, link));
	vs_free(dev, b->slot, b->slots * sizeof(struct vs_conn *));
	vs_free(dev, b, sizeof(*b));
	dev->conn = NULL;
}

/* Fills the pool up to `want`: REQs arrive inside the four calls, where nothing is allocated. False: no memory. */
static bool fill_pool(struct vs_dev *dev, uint32_t want)
{
	struct vs_conn_state_block *b = dev->conn;

	while (b->pooled < want && b->pooled + b->count < b->slots) {
		struct vs_conn *c = vs_alloc(dev, sizeof(*c));

		if (c == NULL)
			return false;
		if (vs_timer_reserve(dev, 1) != VS_OK) {
			vs_free(dev, c, sizeof(*c));
			return false;
		}
		vs_list_init(&c->link);
		vs_list_add_tail(&b->pool, &c->link);
		b->pooled++;
	}
	return true;
}

struct vs_conn *vs_conn_new(struct vs_dev *dev)
{
	struct vs_conn_state_block *b = dev->conn;
	struct vs_conn *c;
	uint32_t r;

	if (vs_list_empty(&b->pool))
		return NULL;
	c = VS_CONTAINER(b->pool.next, struct vs_conn, link);
	vs_list_del(&c->link);
	b->pooled--;
	do
		r = (uint32_t)vs_random(dev);
	while (r == 0 || b->slot[r & (b->slots - 1)] != NULL);
	memset(c, 0, sizeof(*c));
	c->dev = dev;
	c->local_id = r;
	b->slot[r & (b->slots - 1)] = c;
	b->count++;
	vs_timer_init(&c->timer, VS_TIMER_CONN, c);
	vs_list_init(&c->link);
	vs_list_add_tail(&b->conns, &c->link);
	return c;
}

void vs_conn_free(struct vs_conn *c)
{
	struct vs_dev *dev = c->dev;
	struct vs_conn_state_block *b = dev->conn;
	uint32_t i, keep = b->event_head;

	vs_timer_stop(dev, &c->timer);
	b->slot[c->local_id & (b->slots - 1)] = NULL;
	b->count--;
	vs_list_del(&c->link);
	for (i = b->event_head; i != b->event_tail; i++)
		if (b->event[i % VS_CONN_EVENTS].conn != c)
			b->event[keep++ % VS_CONN_EVENTS] = b->event[i % VS_CONN_EVENTS];
	b->event_tail = keep;
	vs_list_add_tail(&b->pool, &c->link);
	b->pooled++;
}

struct vs_conn *vs_conn_find(const struct vs_dev *dev, uint32_t local_id)
{
	const struct vs_conn_state_block *b = dev->conn;
	struct vs_conn *c = b->slot[local_id & (b->slots - 1)];

	return c != NULL && c->local_id == local_id ? c : NULL;
}

struct vs_listener *vs_listener_find(const struct vs_dev *dev, uint64_t service_id)
{
	const struct vs_node *head = &dev->conn->listeners, *n;

	for (n = head->next; n != head; n = n->next) {
		struct vs_listener *l = VS_CONTAINER(n, struct vs_listener, link);

		if (l->service_id == service_id)
			return l;
	}
	return NULL;
}

void vs_conn_set_state(struct vs_conn *c, enum vs_conn_state to)
{
	const uint64_t a[] = {c->local_id, (uint64_t)(uintptr_t)state_names[c->state],
			      (uint64_t)(uintptr_t)state_names[to]};

	if (c->state == to)
		return;
	vs_ev(c->dev, VS_EV_CM_STATE, NULL, c->dev->cause, 3, a);
	c->state = to;
}

void vs_conn_close(struct vs_conn *c)
{
	vs_timer_stop(c->dev, &c->timer);
	vs_conn_set_state(c, VS_CONN_CLOSED);
	if (c->orphan)
		vs_conn_free(c);
}

void vs_conn_timewait(struct vs_conn *c)
{
	/* Twice the packet lifetime plus the peer's ACK delay: what the ACK timeout stands for. */
	uint8_t code = c->active ? c->param.local_ack_timeout : c->peer.local_ack_timeout;

	vs_conn_set_state(c, VS_CONN_TIMEWAIT);
	vs_timer_set(c->dev, &c->timer, c->dev->now_ns + 2 * vs_cm_timeout_ns(code));
}

/* ---- events ---- */

bool vs_conn_events_crowded(const struct vs_dev *dev)
{
	return dev->conn->event_tail - dev->conn->event_head >= VS_CONN_EVENTS * 3 / 4;
}

void vs_conn_event_push(struct vs_conn *c, enum vs_conn_event_type type, uint32_t status, const void *private_data,
			uint8_t len)
{
	struct vs_conn_state_block *b = c->dev->conn;
	const uint64_t a[] = {c->local_id, (uint64_t)(uintptr_t)event_names[type], status};
	struct vs_conn_event *e;

	vs_ev(c->dev, VS_EV_CM_EVENT, NULL, c->dev->cause, 3, a);
	if (c->orphan || b->event_tail - b->event_head == VS_CONN_EVENTS)
		return;
	e = &b->event[b->event_tail++ % VS_CONN_EVENTS];
	memset(e, 0, sizeof(*e));
	e->type = type;
	e->conn = c;
	e->cookie = c->cookie;
	e->status = status;
	e->peer = c->peer;
	e->peer.private_len = len;
	if (len > 0)
		memcpy(e->private_data, private_data, len);
}

int vs_dev_poll_conn(struct vs_dev *dev, struct vs_conn_event *e)
{
	struct vs_conn_state_block *b = dev->conn;

	if (b == NULL || b->event_head == b->event_tail)
		return 0;
	*e = b->event[b->event_head++ % VS_CONN_EVENTS];
	e->peer.private_data = e->private_data;
	return 1;
}

/* ---- the application's calls ---- */

static enum vs_reason check_param(struct vs_dev *dev, const struct vs_conn_param *p, uint8_t private_max)
{
	if (p->qpn > 0xffffff || p->starting_psn > VS_PSN_MASK || p->retry_count > 7 || p->rnr_retry > 7 ||
	    p->local_ack_timeout > 31 || p->cm_response_timeout > 31 || p->max_cm_retries > 15 ||
	    p->private_len > private_max || (p->private_len > 0 && p->private_data == NULL) ||
	    p->responder_resources > dev->attr.max_rd_atomic || p->initiator_depth > dev->attr.max_rd_atomic)
		return VS_REASON_CONN_PARAM;
	return VS_REASON_NONE;
}

/* The call's own event: the cause of all that it does, until end_call. VS_OK, or refused for `r`. */
static int begin_call(struct vs_conn *c, enum vs_event_type type, uint64_t with, enum vs_reason r)
{
	int rc = r == VS_REASON_NONE ? VS_OK : vs_refuse(c->dev, VS_ERR_INVAL, r);
	const uint64_t a[] = {c->local_id, with, (uint64_t)(int64_t)rc};

	c->dev->cause = vs_ev(c->dev, type, NULL, 0, 3, a);
	return rc;
}

static int end_call(struct vs_conn *c, int rc)
{
	c->dev->cause = 0;
	return rc;
}

struct vs_listener *vs_listen(struct vs_dev *dev, uint64_t service_id, uint64_t cookie, int *err)
{
	struct vs_listener *l = NULL;

	if (dev->conn == NULL)
		*err = vs_refuse(dev, VS_ERR_UNSUPPORTED, VS_REASON_CONN_STATE);
	else if (vs_listener_find(dev, service_id) != NULL)
		*err = vs_refuse(dev, VS_ERR_BUSY, VS_REASON_SERVICE_TAKEN);
	else if (!fill_pool(dev, dev->attr.cm_backlog) || (l = vs_alloc(dev, sizeof(*l))) == NULL)
		*err = vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_CONN);
	if (l == NULL)
		return NULL;
	l->dev = dev;
	l->service_id = service_id;
	l->cookie = cookie;
	vs_list_init(&l->link);
	vs_list_add_tail(&dev->conn->listeners, &l->link);
	*err = VS_OK;
	return l;
}

void vs_unlisten(struct vs_listener *l)
{
	vs_list_del(&l->link);
	vs_free(l->dev, l, sizeof(*l));
}

static struct vs_conn *begin(struct vs_dev *dev, const struct vs_conn_param *p, uint64_t cookie, uint8_t private_max,
			     int *err)
{
	enum vs_reason r = check_param(dev, p, private_max);
	struct vs_av path = p->path;
	struct vs_conn *c;

	if (r == VS_REASON_NONE)
		r = vs_av_resolve(dev, &path);
	if (dev->conn == NULL)
		r = VS_REASON_CONN_STATE;
	if (r != VS_REASON_NONE) {
		*err = vs_refuse(dev, VS_ERR_INVAL, r);
		return NULL;
	}
	(void)fill_pool(dev, 1);
	c = vs_conn_new(dev);
	if (c == NULL) {
		*err = vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_CONN);
		return NULL;
	}
	c->active = true;
	c->cookie = cookie;
	c->service_id = p->service_id;
	c->param = *p;
	c->path = path;
	*err = VS_OK;
	return c;
}

struct vs_conn *vs_connect(struct vs_dev *dev, const struct vs_conn_param *p, uint64_t cookie, int *err)
{
	struct vs_conn *c = begin(dev, p, cookie, 92, err);

	if (c == NULL)
		return NULL;
	(void)begin_call(c, VS_EV_VERB_CONNECT, p->service_id, VS_REASON_NONE);
	vs_conn_set_state(c, VS_CONN_REQ_SENT);
	vs_conn_send_req(c, p);
	dev->cause = 0;
	return c;
}

struct vs_conn *vs_sidr_resolve(struct vs_dev *dev, const struct vs_conn_param *p, uint64_t cookie, int *err)
{
	struct vs_conn *c = begin(dev, p, cookie, 216, err);

	if (c == NULL)
		return NULL;
	c->sidr = true;
	(void)begin_call(c, VS_EV_VERB_SIDR_RESOLVE, p->service_id, VS_REASON_NONE);
	vs_conn_set_state(c, VS_CONN_SIDR_REQ_SENT);
	vs_conn_send_sidr_req(c, p);
	dev->cause = 0;
	return c;
}

static void accept_as(struct vs_conn *c, const struct vs_conn_param *p)
{
	(void)fill_pool(c->dev, c->dev->attr.cm_backlog); /* whoever is accepted leaves room for the next */
	c->param = *p;
	/* Never more than the peer has: it may lower, not raise. */
	c->param.responder_resources =
		p->responder_resources < c->peer.initiator_depth ? p->responder_resources : c->peer.initiator_depth;
	c->param.initiator_depth =
		p->initiator_depth < c->peer.responder_resources ? p->initiator_depth : c->peer.responder_resources;
	vs_conn_set_state(c, VS_CONN_REP_SENT);
	vs_conn_send_rep(c, &c->param);
	c->param.private_data = NULL;
	c->param.private_len = 0;
}

int vs_accept(struct vs_conn *c, const struct vs_conn_param *p)
{
	bool asked = c->state == VS_CONN_REQ_RCVD || c->state == VS_CONN_MRA_REQ_SENT;
	int rc = begin_call(c, VS_EV_VERB_ACCEPT, p->qpn, asked ? check_param(c->dev, p, 196) : VS_REASON_CONN_STATE);

	if (rc == VS_OK)
		accept_as(c, p);
	return end_call(c, rc);
}

int vs_conn_establish(struct vs_conn *c)
{
	bool answered = c->state == VS_CONN_REP_RCVD || c->state == VS_CONN_MRA_REP_SENT;
	int rc = begin_call(c, VS_EV_VERB_ESTABLISH, c->param.qpn, answered ? VS_REASON_NONE : VS_REASON_CONN_STATE);

	if (rc == VS_OK) {
		vs_conn_set_state(c, VS_CONN_ESTABLISHED);
		vs_conn_send_rtu(c);
		c->dev->cause = c->sent_cause;
		vs_conn_event_push(c, VS_CONN_EV_ESTABLISHED, 0, NULL, 0);
	}
	return end_call(c, rc);
}

/* Is there a message that a REJ would answer now? */
static bool can_reject(const struct vs_conn *c)
{
	return c->state == VS_CONN_REQ_RCVD || c->state == VS_CONN_MRA_REQ_SENT || c->state == VS_CONN_REP_RCVD ||
	       c->state == VS_CONN_MRA_REP_SENT;
}

static void reject_as(struct vs_conn *c, uint16_t reason, const void *private_data, uint8_t len)
{
	vs_conn_send_rej(c, c->active ? VS_CM_REJ_OF_REP : VS_CM_REJ_OF_REQ, reason, private_data, len);
	vs_conn_timewait(c); /* duplicates of the REQ get the same REJ */
}

int vs_reject(struct vs_conn *c, uint16_t reason, const void *private_data, uint8_t len)
{
	enum vs_reason r = VS_REASON_NONE;
	int rc;

	if (!can_reject(c))
		r = VS_REASON_CONN_STATE;
	else if (len > 148 || (len > 0 && private_data == NULL))
		r = VS_REASON_CONN_PARAM;
	rc = begin_call(c, VS_EV_VERB_REJECT, reason, r);
	if (rc == VS_OK)
		reject_as(c, reason, private_data, len);
	return end_call(c, rc);
}

int vs_conn_mra(struct vs_conn *c, uint8_t service_timeout)
{
	bool of_req = c->state == VS_CONN_REQ_RCVD, of_rep = c->state == VS_CONN_REP_RCVD;
	enum vs_reason r = service_timeout > 31 ? VS_REASON_CONN_PARAM
			   : of_req || of_rep   ? VS_REASON_NONE
						: VS_REASON_CONN_STATE;
	int rc = begin_call(c, VS_EV_VERB_MRA, service_timeout, r);

	if (rc == VS_OK) {
		vs_conn_set_state(c, of_req ? VS_CONN_MRA_REQ_SENT : VS_CONN_MRA_REP_SENT);
		vs_conn_send_mra(c, of_req ? VS_CM_MRA_OF_REQ : VS_CM_MRA_OF_REP, service_timeout);
	}
	return end_call(c, rc);
}

static bool can_disconnect(const struct vs_conn *c)
{
	return c->state == VS_CONN_ESTABLISHED || c->state == VS_CONN_REP_SENT || c->state == VS_CONN_MRA_REP_RCVD;
}

void vs_conn_ask_disconnect(struct vs_conn *c)
{
	vs_conn_set_state(c, VS_CONN_DREQ_SENT);
	vs_conn_send_dreq(c);
}

int vs_disconnect(struct vs_conn *c)
{
	int rc = begin_call(c, VS_EV_VERB_DISCONNECT, c->param.qpn,
			    can_disconnect(c) ? VS_REASON_NONE : VS_REASON_CONN_STATE);

	if (rc == VS_OK)
		vs_conn_ask_disconnect(c);
	return end_call(c, rc);
}

int vs_sidr_reply(struct vs_conn *c, uint32_t status, const struct vs_conn_param *p)
{
	enum vs_reason r = check_param(c->dev, p, 136);
	int rc;

	if (c->state != VS_CONN_SIDR_REQ_RCVD)
		r = VS_REASON_CONN_STATE;
	else if (status > 255)
		r = VS_REASON_CONN_PARAM;
	rc = begin_call(c, VS_EV_VERB_SIDR_REPLY, status, r);
	if (rc == VS_OK) {
		vs_conn_send_sidr_rep(c, status, p);
		vs_conn_timewait(c); /* duplicates of the request get the same reply */
	}
	return end_call(c, rc);
}

void vs_conn_set_cookie(struct vs_conn *c, uint64_t cookie)
{
	c->cookie = cookie;
}

enum vs_conn_state vs_conn_state(const struct vs_conn *c)
{
	return c->state;
}

int vs_conn_qp_attr(const struct vs_conn *c, enum vs_qp_state to, struct vs_qp_attr *attr, uint32_t *mask)
{
	uint8_t ird = c->param.responder_resources, ord = c->param.initiator_depth;
	bool uc = c->active ? c->param.uc : c->peer.uc; /* the REQ says it */

	memset(attr, 0, sizeof(*attr));
	attr->state = to;
	*mask = VS_QP_STATE;
	if (c->active) { /* the REP has the last word */
		ird = c->peer.initiator_depth < ird ? c->peer.initiator_depth : ird;
		ord = c->peer.responder_resources < ord ? c->peer.responder_resources : ord;
	}
	switch (to) {
	case VS_QPS_INIT:
		attr->port_num = 1;
		attr->access_flags = VS_ACCESS_REMOTE_WRITE | VS_ACCESS_REMOTE_READ | VS_ACCESS_REMOTE_ATOMIC;
		*mask |= VS_QP_PORT | VS_QP_PKEY_INDEX | VS_QP_ACCESS_FLAGS;
		return VS_OK;
	case VS_QPS_RTR:
		attr->av = c->path;
		attr->path_mtu = c->active ? c->param.path_mtu : c->peer.path_mtu;
		attr->dest_qpn = c->peer.qpn;
		attr->rq_psn = c->param.starting_psn; /* what a REQ or REP names is where its receiver begins */
		attr->max_dest_rd_atomic = ird;
		attr->min_rnr_timer = 12; /* 0.64 ms */
		*mask |= VS_QP_AV | VS_QP_PATH_MTU | VS_QP_DEST_QPN | VS_QP_RQ_PSN;
		if (!uc)
			*mask |= VS_QP_MAX_DEST_RD_ATOMIC | VS_QP_MIN_RNR_TIMER;
		return VS_OK;
	case VS_QPS_RTS:
		attr->timeout = c->active ? c->param.local_ack_timeout : c->peer.local_ack_timeout;
		attr->retry_cnt = c->active ? c->param.retry_count : c->peer.retry_count;
		attr->rnr_retry = c->peer.rnr_retry; /* what the peer said in REQ or REP */
		attr->sq_psn = c->peer.starting_psn;
		attr->max_rd_atomic = ord;
		*mask |= VS_QP_SQ_PSN;
		if (!uc)
			*mask |= VS_QP_TIMEOUT | VS_QP_RETRY_CNT | VS_QP_RNR_RETRY | VS_QP_MAX_QP_RD_ATOMIC;
		return VS_OK;
	default:
		return VS_ERR_INVAL;
	}
}

void vs_conn_destroy(struct vs_conn *c)
{
	struct vs_dev *dev = c->dev;

	(void)begin_call(c, VS_EV_VERB_DESTROY_CONN, (uint64_t)(uintptr_t)state_names[c->state], VS_REASON_NONE);
	c->orphan = true;
	if (can_disconnect(c))
		vs_conn_ask_disconnect(c);
	else if (can_reject(c))
		reject_as(c, VS_CM_REJ_CONSUMER, NULL, 0);
	else if (c->state != VS_CONN_DREQ_SENT && c->state != VS_CONN_TIMEWAIT)
		vs_conn_free(c);
	dev->cause = 0;
}

void vs_conn_peer_gone(struct vs_conn *c)
{
	c->dev->cause = c->sent_cause;
	switch (c->state) {
	case VS_CONN_REQ_SENT:
	case VS_CONN_MRA_REQ_RCVD:
		vs_conn_event_push(c, VS_CONN_EV_REJECTED, VS_CM_REJ_SERVICE_ID, NULL, 0);
		vs_conn_close(c);
		break;
	case VS_CONN_SIDR_REQ_SENT:
		vs_conn_event_push(c, VS_CONN_EV_SIDR_RESPONSE, VS_CM_SIDR_UNSUPPORTED, NULL, 0);
		vs_conn_close(c);
		break;
	case VS_CONN_ESTABLISHED:
	case VS_CONN_REP_SENT:
	case VS_CONN_MRA_REP_RCVD:
	case VS_CONN_DREQ_SENT:
		vs_conn_timewait(c);
		vs_conn_event_push(c, VS_CONN_EV_DISCONNECTED, 0, NULL, 0);
		break;
	default: /* our turn: what we say next will find nobody */
		break;
	}
	c->dev->cause = 0;
}

/* ---- timers ---- */

static void unreachable(struct vs_conn *c)
{
	bool dreq = c->state == VS_CONN_DREQ_SENT;

	if (dreq) { /* the peer is gone: so is the connection */
		vs_conn_timewait(c);
		vs_conn_event_push(c, VS_CONN_EV_DISCONNECTED, VS_CONN_NO_ANSWER, NULL, 0);
		return;
	}
	vs_conn_event_push(c, VS_CONN_EV_UNREACHABLE, 0, NULL, 0);
	vs_conn_close(c);
}

void vs_conn_timer(struct vs_conn *c)
{
	c->dev->cause = c->sent_cause; /* what was said last led here */
	switch (c->state) {
	case VS_CONN_TIMEWAIT:
		vs_conn_event_push(c, VS_CONN_EV_TIMEWAIT_EXIT, 0, NULL, 0);
		vs_conn_close(c);
		break;
	case VS_CONN_REQ_SENT:
	case VS_CONN_REP_SENT:
	case VS_CONN_DREQ_SENT:
	case VS_CONN_SIDR_REQ_SENT:
	case VS_CONN_MRA_REQ_RCVD: /* the time that the MRA asked for is over */
	case VS_CONN_MRA_REP_RCVD:
		if (c->retries_left == 0) {
			unreachable(c);
			break;
		}
		c->retries_left--;
		vs_conn_send_again(c);
		vs_timer_set(c->dev, &c->timer, c->dev->now_ns + c->timeout_ns);
		break;
	default:
		break;
	}
}

void vs_conn_comm_est(struct vs_qp *qp)
{
	struct vs_conn_state_block *b = qp->dev->conn;
	struct vs_node *n;

	if (b == NULL)
		return;
	for (n = b->conns.next; n != &b->conns; n = n->next) {
		struct vs_conn *c = VS_CONTAINER(n, struct vs_conn, link);

		if (c->active || c->param.qpn != qp->qpn ||
		    (c->state != VS_CONN_REP_SENT && c->state != VS_CONN_MRA_REP_RCVD))
			continue;
		vs_timer_stop(c->dev, &c->timer);
		vs_conn_set_state(c, VS_CONN_ESTABLISHED);
		vs_conn_event_push(c, VS_CONN_EV_ESTABLISHED, 0, NULL, 0);
		return;
	}
}
