/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_cm.c - connections through librdmacm: the calls and events of the language as its calls and events.
 *
 * The script brings its queue pairs itself, so ids have none: CONNECT_RESPONSE is the program's to answer, with
 * rdma_establish, after which the connection is established without an event. What librdmacm decides by itself (MTU,
 * first PSN, time-outs, retries, the Q_Key of datagram services) a script can't choose here.
 */
#define _GNU_SOURCE /* dladdr */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs_cm.h"
#include "vs/cm.h"

#define FIRST_PORT 0x4000u
#define PORTS 0x3fffu
#define RESOLVE_MS 2000
#define USUAL_PSN 0xfffffau /* what a script gets when it says nothing: conn.c of the language */
#define USUAL_TIMEOUT 18u
#define USUAL_RETRIES 3u

struct vc_conn {
	struct vc_conn *next;
	struct rdma_cm_id *id;
	int node;
	bool ud, active;
	uint64_t service, cookie; /* of a listener, and of the requests to it */
	uint32_t qpn;
	uint8_t responder_resources, initiator_depth; /* what this side has said */
};

struct vc_cm_waiting {
	struct vc_cm_waiting *next;
	int node;
	struct vs_conn_event ev;
};

static struct {
	bool tried;
#define X(ret, name, args) ret(*name) args;
	VC_RDMA_CALLS(X)
#undef X
} call;

/* ---- the library ---- */

static bool load(const struct vc_verbs *v)
{
	Dl_info where;
	char path[4096];
	void *lib;
	char *slash;

	(void)snprintf(path, sizeof(path), "librdmacm.so.1");
	if (v->reference && dladdr((void *)(uintptr_t)v->call.create_qp, &where) != 0) { /* beside its libibverbs */
		(void)snprintf(path, sizeof(path), "%.4000s", where.dli_fname);
		slash = strrchr(path, '/');
		(void)snprintf(slash != NULL ? slash + 1 : path, 32, "librdmacm.so.1");
	}
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
#define X(ret, name, args)                                                \
	{                                                                 \
		void *p = lib != NULL ? dlsym(lib, "rdma_" #name) : NULL; \
		if (p == NULL)                                            \
			return false;                                     \
		memcpy((void *)&call.name, &p, sizeof(p));                \
	}
	VC_RDMA_CALLS(X)
#undef X
	return true;
}

bool vc_cm_there(const struct vc_verbs *v)
{
	static bool there;

	if (v->link != NULL)
		return v->cm;
	if (!call.tried)
		there = load(v);
	call.tried = true;
	return there;
}

/* ---- addresses ---- */

static void to_sockaddr(struct sockaddr_storage *a, const uint8_t gid[16], bool v4, uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (v4) {
		struct sockaddr_in *in = (struct sockaddr_in *)(void *)a;

		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, gid + 12, 4);
	} else {
		struct sockaddr_in6 *in = (struct sockaddr_in6 *)(void *)a;

		in->sin6_family = AF_INET6;
		in->sin6_port = htons(port);
		memcpy(&in->sin6_addr, gid, 16);
	}
}

static void address_of(const struct vc_cm *cm, bool peer, uint16_t port, struct sockaddr_storage *a)
{
	to_sockaddr(a, peer ? cm->peer : cm->own, cm->v4, port);
}

static struct sockaddr *any(struct sockaddr_storage *a)
{
	return (struct sockaddr *)(void *)a;
}

/* ---- services ---- */

uint64_t vc_cm_service(struct vc_cm *cm, uint64_t script, bool ud)
{
	uint8_t space = ud ? VS_RDMACM_PS_UDP : VS_RDMACM_PS_TCP;
	uint64_t wire = vs_rdmacm_is_service(script)
				? script
				: vs_rdmacm_service(space, (uint16_t)(FIRST_PORT + script % PORTS));

	for (unsigned i = 0; i < cm->n_services; i++)
		if (cm->service[i].script == script && cm->service[i].wire == wire)
			return wire;
	if (cm->n_services == VC_CM_SERVICES)
		return 0;
	cm->service[cm->n_services].script = script;
	cm->service[cm->n_services++].wire = wire;
	return wire;
}

/* ---- ids ---- */

static struct vc_conn *add_conn(struct vc_target *t, int node, struct rdma_cm_id *id, bool ud)
{
	struct vc_conn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	*c = (struct vc_conn){.next = t->cm->conns, .id = id, .node = node, .ud = ud};
	t->cm->conns = c;
	return c;
}

static struct vc_conn *new_conn(struct vc_target *t, int node, bool ud)
{
	struct rdma_cm_id *id = NULL;
	struct vc_conn *c;

	errno = 0;
	if (call.create_id(t->cm->channel, &id, NULL, ud ? RDMA_PS_UDP : RDMA_PS_TCP) != 0)
		return NULL;
	c = add_conn(t, node, id, ud);
	if (c == NULL)
		(void)call.destroy_id(id);
	return c;
}

static struct vc_conn *conn_of(const struct vc_cm *cm, const struct rdma_cm_id *id)
{
	struct vc_conn *c = cm->conns;

	while (c != NULL && c->id != id)
		c = c->next;
	return c;
}

static int done(int rc)
{
	return rc == 0 ? VS_OK : vc_error(errno != 0 ? errno : EINVAL);
}

/* ---- events ---- */

static void tell(struct vc_target *t, struct vc_conn *c, const struct vs_conn_event *ev)
{
	struct vc_cm_waiting *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return;
	w->node = c->node;
	w->ev = *ev;
	w->ev.conn = (struct vs_conn *)(void *)c; /* a handle: only handed back */
	*t->cm->last = w;
	t->cm->last = &w->next;
	t->heard++;
}

static void take_data(struct vs_conn_event *ev, const void *data, uint8_t len)
{
	ev->peer.private_len = len < sizeof(ev->private_data) ? len : (uint8_t)sizeof(ev->private_data);
	if (data != NULL)
		memcpy(ev->private_data, data, ev->peer.private_len);
	ev->peer.private_data = ev->private_data;
}

/* With which PSN the other side wants to hear us begin; librdmacm tells it with the way to RTS alone. */
static uint32_t first_psn(const struct vc_conn *c)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS};
	int mask = 0;

	return call.init_qp_attr(c->id, &a, &mask) == 0 ? a.sq_psn : 0;
}

static void take_conn(struct vs_conn_event *ev, const struct vc_conn *c, const struct rdma_conn_param *p)
{
	ev->peer.initiator_depth = p->responder_resources; /* what they start, we respond to */
	ev->peer.responder_resources = p->initiator_depth;
	ev->peer.rnr_retry = p->rnr_retry_count;
	ev->peer.retry_count = p->retry_count;
	ev->peer.qpn = p->qp_num;
	ev->peer.srq = p->srq != 0;
	if (!c->ud && (ev->type == VS_CONN_EV_REQUEST || ev->type == VS_CONN_EV_RESPONSE))
		ev->peer.starting_psn = first_psn(c);
	take_data(ev, p->private_data, p->private_data_len);
}

static void on_request(struct vc_target *t, const struct rdma_cm_event *e)
{
	const struct vc_conn *listener = conn_of(t->cm, e->listen_id);
	struct vs_conn_event ev = {.type = VS_CONN_EV_REQUEST};
	struct vc_conn *c = listener != NULL ? add_conn(t, listener->node, e->id, listener->ud) : NULL;

	if (c == NULL)
		return;
	c->cookie = ev.cookie = listener->cookie;
	ev.peer.service_id = listener->service;
	if (c->ud) {
		ev.type = VS_CONN_EV_SIDR_REQUEST;
		take_data(&ev, e->param.ud.private_data, e->param.ud.private_data_len);
	} else {
		take_conn(&ev, c, &e->param.conn);
	}
	tell(t, c, &ev);
}

static void on_answer(struct vc_target *t, struct vc_conn *c, const struct rdma_cm_event *e)
{
	struct vs_conn_event ev = {.status = e->status > 0 ? (uint32_t)e->status : 0};

	switch (e->event) {
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		ev.type = VS_CONN_EV_RESPONSE;
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		ev.type = c->ud ? VS_CONN_EV_SIDR_RESPONSE : VS_CONN_EV_ESTABLISHED;
		break;
	case RDMA_CM_EVENT_REJECTED:
		ev.type = VS_CONN_EV_REJECTED;
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		ev.type = c->ud && e->status > 0 ? VS_CONN_EV_SIDR_RESPONSE : VS_CONN_EV_UNREACHABLE;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		ev.type = VS_CONN_EV_DISCONNECTED;
		ev.status = e->status != 0 ? VS_CONN_NO_ANSWER : 0;
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		ev.type = VS_CONN_EV_TIMEWAIT_EXIT;
		break;
	default:
		return;
	}
	if (c->ud) {
		ev.peer.qpn = e->param.ud.qp_num;
		ev.peer.qkey = e->param.ud.qkey;
		take_data(&ev, e->param.ud.private_data, e->param.ud.private_data_len);
	} else {
		take_conn(&ev, c, &e->param.conn);
	}
	tell(t, c, &ev);
}

/* Takes what came. `wanted`, of `who`: true when that was among it. */
static bool hear(struct vc_target *t, const struct vc_conn *who, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *e;
	bool found = false;

	while (!found && call.get_cm_event(t->cm->channel, &e) == 0) {
		struct vc_conn *c = conn_of(t->cm, e->id);

		found = who != NULL && c == who && e->event == wanted;
		if (!found && e->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			on_request(t, e);
		else if (!found && c != NULL)
			on_answer(t, c, e);
		(void)call.ack_cm_event(e);
	}
	return found;
}

static bool await(struct vc_target *t, const struct vc_conn *c, enum rdma_cm_event_type wanted)
{
	struct pollfd fd = {.fd = t->cm->channel->fd, .events = POLLIN};
	uint64_t until = vc_now_ns() + RESOLVE_MS * UINT64_C(1000000);

	while (!hear(t, c, wanted)) {
		if (vc_now_ns() > until)
			return false;
		(void)poll(&fd, 1, 10);
	}
	return true;
}

static int t_conn_event(struct dr_target *dt, int node, struct vs_conn_event *e)
{
	struct vc_target *t = vc_self(dt);
	struct vc_cm_waiting **at;

	if (t->cm == NULL)
		return 0;
	(void)hear(t, NULL, RDMA_CM_EVENT_ADDR_RESOLVED);
	for (at = &t->cm->first; *at != NULL; at = &(*at)->next) {
		struct vc_cm_waiting *w = *at;

		if (w->node != node)
			continue;
		*at = w->next;
		if (t->cm->last == &w->next)
			t->cm->last = at;
		*e = w->ev;
		e->peer.private_data = e->private_data;
		free(w);
		return 1;
	}
	return 0;
}

/* ---- calls ---- */

/* What the script asks for and librdmacm decides by itself; NULL: nothing. */
static const char *beyond_connect(const struct vs_conn_param *p)
{
	if (p->max_cm_retries != USUAL_RETRIES || p->cm_response_timeout != USUAL_TIMEOUT)
		return "rdma_connect takes neither time-out nor number of retries: rdma_cm has its own";
	if (p->starting_psn != USUAL_PSN)
		return "rdma_cm draws the first PSN itself";
	return NULL;
}

static struct rdma_conn_param param(const struct vc_conn *c, const struct vs_conn_param *p)
{
	return (struct rdma_conn_param){.private_data = p->private_data,
					.private_data_len = p->private_len,
					.responder_resources = p->responder_resources,
					.initiator_depth = p->initiator_depth,
					.flow_control = 1,
					.retry_count = p->retry_count,
					.rnr_retry_count = p->rnr_retry,
					.qp_num = c->qpn};
}

bool vc_cm_listens_ud(const struct vc_target *t, uint64_t cookie)
{
	return cookie > 0 && t->setup.p->obj[cookie - 1]->type == VS_QPT_UD;
}

int vc_cm_listen(struct vc_target *t, int node, uint64_t service, uint64_t cookie, bool ud)
{
	uint64_t wire = vc_cm_service(t->cm, service, ud);
	struct vc_conn *c = wire != 0 ? new_conn(t, node, ud) : NULL;
	struct sockaddr_storage own;

	if (c == NULL)
		return VS_ERR_NOSPACE;
	c->service = service;
	c->cookie = cookie;
	address_of(t->cm, false, (uint16_t)wire, &own);
	if (call.bind_addr(c->id, any(&own)) != 0)
		return done(-1);
	return done(call.listen(c->id, 0));
}

static int t_listen(struct dr_target *dt, int node, uint64_t service, uint64_t cookie)
{
	struct vc_target *t = vc_self(dt);

	return vc_cm_listen(t, node, service, cookie, vc_cm_listens_ud(t, cookie));
}

static int start(struct vc_target *t, int node, const struct vs_conn_param *p, bool ud, void **conn)
{
	uint64_t wire = vc_cm_service(t->cm, p->service_id, ud);
	struct vc_conn *c = wire != 0 ? new_conn(t, node, ud) : NULL;
	struct sockaddr_storage from, to;
	struct rdma_conn_param cp;

	*conn = c;
	if (c == NULL)
		return VS_ERR_NOSPACE;
	c->active = true;
	c->qpn = p->qpn;
	c->responder_resources = p->responder_resources;
	c->initiator_depth = p->initiator_depth;
	address_of(t->cm, false, 0, &from);
	address_of(t->cm, true, (uint16_t)wire, &to);
	if (call.resolve_addr(c->id, any(&from), any(&to), RESOLVE_MS) != 0)
		return done(-1);
	if (!await(t, c, RDMA_CM_EVENT_ADDR_RESOLVED) || call.resolve_route(c->id, RESOLVE_MS) != 0 ||
	    !await(t, c, RDMA_CM_EVENT_ROUTE_RESOLVED))
		return vc_lacks(t, "librdmacm does not find the way to the peer");
	cp = param(c, p);
	return done(call.connect(c->id, &cp));
}

static int t_connect(struct dr_target *dt, int node, const struct vs_conn_param *p, void **conn)
{
	const char *why = beyond_connect(p);

	*conn = NULL;
	return why != NULL ? vc_lacks(vc_self(dt), why) : start(vc_self(dt), node, p, false, conn);
}

static int t_sidr_resolve(struct dr_target *dt, int node, const struct vs_conn_param *p, void **conn)
{
	const char *why = beyond_connect(p);

	*conn = NULL;
	return why != NULL ? vc_lacks(vc_self(dt), why) : start(vc_self(dt), node, p, true, conn);
}

static int t_accept(struct dr_target *dt, void *conn, const struct vs_conn_param *p)
{
	struct vc_conn *c = conn;
	struct rdma_conn_param cp;

	if (p->starting_psn != USUAL_PSN)
		return vc_lacks(vc_self(dt), "rdma_cm draws the first PSN itself");
	c->qpn = p->qpn;
	cp = param(c, p);
	cp.responder_resources = c->responder_resources;
	cp.initiator_depth = c->initiator_depth;
	return done(call.accept(c->id, &cp));
}

static int t_establish(struct dr_target *dt, void *conn)
{
	struct vc_conn *c = conn;
	const struct vs_conn_event ev = {.type = VS_CONN_EV_ESTABLISHED};
	int rc = done(call.establish(c->id));

	if (rc == VS_OK)
		tell(vc_self(dt), c, &ev); /* librdmacm: the call has said so */
	return rc;
}

static int t_reject(struct dr_target *dt, void *conn, uint16_t reason, const void *private_data, uint8_t len)
{
	if (reason != VS_CM_REJ_CONSUMER)
		return vc_lacks(vc_self(dt), "rdma_reject has one reason, 28");
	return done(call.reject(((struct vc_conn *)conn)->id, private_data, len));
}

static int t_mra(struct dr_target *dt, void *conn, uint8_t service_timeout)
{
	(void)conn;
	(void)service_timeout;
	return vc_lacks(vc_self(dt), "rdma_cm has no call for an MRA");
}

static int t_sidr_reply(struct dr_target *dt, void *conn, uint32_t status, const struct vs_conn_param *p)
{
	struct vc_conn *c = conn;
	struct rdma_conn_param cp;

	if (status == VS_CM_SIDR_REJECT)
		return done(call.reject(c->id, p->private_data, p->private_len));
	if (status != VS_CM_SIDR_OK)
		return vc_lacks(vc_self(dt), "rdma_cm answers a look-up with status 0 or 2");
	if (p->qkey != RDMA_UDP_QKEY)
		return vc_lacks(vc_self(dt), "rdma_cm gives all datagram services the Q_Key 0x01234567");
	c->qpn = p->qpn;
	cp = param(c, p);
	return done(call.accept(c->id, &cp));
}

static int t_disconnect(struct dr_target *dt, void *conn)
{
	(void)dt;
	return done(call.disconnect(((struct vc_conn *)conn)->id));
}

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static int t_conn_attr(struct dr_target *dt, void *conn, enum vs_qp_state to, const struct vs_conn_param *p,
		       struct vs_qp_attr *a, uint32_t *mask)
{
	struct ibv_qp_attr attr = {.qp_state = (enum ibv_qp_state)to};
	struct vc_conn *c = conn;
	int ibv_mask = 0;

	(void)dt;
	if (call.init_qp_attr(c->id, &attr, &ibv_mask) != 0)
		return done(-1);
	/* Who accepts grants as much as was asked for, and no more than he wants to. */
	if (p != NULL && to == VS_QPS_RTR) {
		c->responder_resources = least(p->responder_resources, attr.max_dest_rd_atomic);
		c->initiator_depth = p->initiator_depth;
	}
	attr.max_dest_rd_atomic = least(attr.max_dest_rd_atomic, c->responder_resources);
	attr.max_rd_atomic = least(attr.max_rd_atomic, c->initiator_depth);
	vc_qp_attr_of(a, &attr);
	*mask = (uint32_t)ibv_mask;
	return VS_OK;
}

/* Data came before the RTU: a program tells librdmacm, which can't see it. */
static int t_async(struct dr_target *dt, int node, struct vs_async *a)
{
	struct vc_target *t = vc_self(dt);
	int rc = vc_async(dt, node, a);
	const struct vh *qp = a->object;

	if (rc != 1 || a->type != VS_EVENT_COMM_EST || qp == NULL || t->cm == NULL)
		return rc;
	for (const struct vc_conn *c = t->cm->conns; c != NULL; c = c->next)
		if (!c->ud && qp->qp != NULL && c->qpn == qp->qp->qp_num)
			(void)call.notify(c->id, IBV_EVENT_COMM_EST);
	return rc;
}

/* ---- a run ---- */

bool vc_cm_open(struct vc_target *t, int encap, const uint8_t peer[16])
{
	struct vc_cm *cm = calloc(1, sizeof(*cm));

	if (cm == NULL)
		return false;
	cm->last = &cm->first;
	cm->salt = vc_cm_salt(t->v);
	cm->v4 = encap == EN_ROCEV2_IPV4;
	memcpy(cm->own, t->v->gids.gid[encap], 16);
	memcpy(cm->peer, peer, 16);
	cm->channel = call.create_event_channel();
	if (cm->channel == NULL) {
		free(cm);
		return false;
	}
	(void)fcntl(cm->channel->fd, F_SETFL, fcntl(cm->channel->fd, F_GETFL) | O_NONBLOCK);
	t->cm = cm;
	t->ops.listen = t_listen;
	t->ops.connect = t_connect;
	t->ops.accept = t_accept;
	t->ops.establish = t_establish;
	t->ops.reject = t_reject;
	t->ops.mra = t_mra;
	t->ops.sidr_resolve = t_sidr_resolve;
	t->ops.sidr_reply = t_sidr_reply;
	t->ops.disconnect = t_disconnect;
	t->ops.conn_event = t_conn_event;
	t->ops.conn_attr = t_conn_attr;
	t->ops.async = t_async;
	return true;
}

void vc_cm_close(struct vc_target *t)
{
	struct vc_cm *cm = t->cm;

	if (cm == NULL)
		return;
	(void)hear(t, NULL, RDMA_CM_EVENT_ADDR_RESOLVED); /* requests that nobody has taken have ids, too */
	while (cm->conns != NULL) {
		struct vc_conn *c = cm->conns;

		cm->conns = c->next;
		(void)call.destroy_id(c->id);
		free(c);
	}
	call.destroy_event_channel(cm->channel);
	vc_cm_part(t);
	while (cm->first != NULL) {
		struct vc_cm_waiting *w = cm->first;

		cm->first = w->next;
		free(w);
	}
	free(cm);
	t->cm = NULL;
}
