/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * remote_cm.c - connections of a device behind an agent: the calls of librdmacm are made there, what is on the wire is
 * put into the words of the script here (verbs_cm_wire.c).
 */
#include <stdlib.h>
#include <string.h>

#include "remote.h"
#include "verbs_cm.h"

/* A connection is the number that the agent gave it. */
static void *conn_of(uint64_t number)
{
	return (void *)(uintptr_t)number;
}

static struct ag_line *about(struct dr_target *dt, const char *verb, const void *conn)
{
	struct ag_line *l = vc_remote_request(dt, verb);

	ag_put_num(l, (uint64_t)(uintptr_t)conn);
	return l;
}

static void put_param(struct ag_line *l, const struct vs_conn_param *p)
{
	struct vs_conn_param copy = *p;

	ag_io_conn(&(struct ag_io){.out = l}, &copy, NULL);
}

static int r_listen(struct dr_target *dt, int node, uint64_t service, uint64_t cookie)
{
	struct vc_target *t = vc_self(dt);
	bool ud = vc_cm_listens_ud(t, cookie);
	struct ag_line *l = vc_remote_request(dt, "cm_listen");

	if (vc_cm_service(t->cm, service, ud) == 0)
		return VS_ERR_NOSPACE;
	ag_put_num(l, (uint64_t)node);
	ag_put_num(l, service);
	ag_put_num(l, cookie);
	ag_put_num(l, ud);
	return vc_remote_ask_nothing(dt);
}

static int start(struct dr_target *dt, const char *verb, int node, const struct vs_conn_param *p, bool ud, void **conn)
{
	struct ag_line *l = vc_remote_request(dt, verb);
	struct ag_words w;
	int rc;

	*conn = NULL;
	if (vc_cm_service(vc_self(dt)->cm, p->service_id, ud) == 0)
		return VS_ERR_NOSPACE;
	ag_put_num(l, (uint64_t)node);
	put_param(l, p);
	rc = vc_remote_ask(dt, &w);
	if (rc != VS_OK)
		return rc;
	*conn = conn_of(ag_get_num(&w, UINT32_MAX));
	return vc_remote_read_all(dt, &w);
}

static int r_connect(struct dr_target *dt, int node, const struct vs_conn_param *p, void **conn)
{
	return start(dt, "cm_connect", node, p, false, conn);
}

static int r_sidr_resolve(struct dr_target *dt, int node, const struct vs_conn_param *p, void **conn)
{
	return start(dt, "cm_sidr_resolve", node, p, true, conn);
}

static int r_accept(struct dr_target *dt, void *conn, const struct vs_conn_param *p)
{
	put_param(about(dt, "cm_accept", conn), p);
	return vc_remote_ask_nothing(dt);
}

static int r_establish(struct dr_target *dt, void *conn)
{
	(void)about(dt, "cm_establish", conn);
	return vc_remote_ask_nothing(dt);
}

static int r_reject(struct dr_target *dt, void *conn, uint16_t reason, const void *private_data, uint8_t len)
{
	struct ag_line *l = about(dt, "cm_reject", conn);

	ag_put_num(l, reason);
	ag_put_bytes(l, private_data, len);
	return vc_remote_ask_nothing(dt);
}

static int r_mra(struct dr_target *dt, void *conn, uint8_t service_timeout)
{
	ag_put_num(about(dt, "cm_mra", conn), service_timeout);
	return vc_remote_ask_nothing(dt);
}

static int r_sidr_reply(struct dr_target *dt, void *conn, uint32_t status, const struct vs_conn_param *p)
{
	struct ag_line *l = about(dt, "cm_sidr_reply", conn);

	ag_put_num(l, status);
	put_param(l, p);
	return vc_remote_ask_nothing(dt);
}

static int r_disconnect(struct dr_target *dt, void *conn)
{
	(void)about(dt, "cm_disconnect", conn);
	return vc_remote_ask_nothing(dt);
}

static int r_conn_attr(struct dr_target *dt, void *conn, enum vs_qp_state to, const struct vs_conn_param *p,
		       struct vs_qp_attr *a, uint32_t *mask)
{
	static const struct vs_conn_param none;
	struct ag_line *l = about(dt, "cm_attr", conn);
	struct ag_words w;
	int rc;

	ag_put_num(l, (uint64_t)to);
	ag_put_num(l, p != NULL);
	put_param(l, p != NULL ? p : &none);
	rc = vc_remote_ask(dt, &w);
	if (rc != VS_OK)
		return rc;
	ag_io_attr(&(struct ag_io){.in = &w}, a);
	*mask = (uint32_t)ag_get_num(&w, UINT32_MAX);
	return vc_remote_read_all(dt, &w);
}

static int r_conn_event(struct dr_target *dt, int node, struct vs_conn_event *e)
{
	struct vc_news v;

	if (!vc_remote_take(vc_self(dt)->remote, W_CONN, NULL, node, &v))
		return 0;
	*e = v.conn;
	e->peer.private_data = e->private_data;
	return 1;
}

bool vc_remote_cm_heard(struct vc_news *v, struct ag_words *w)
{
	uint8_t data[UINT8_MAX];

	v->kind = W_CONN;
	v->conn.conn = conn_of(ag_get_num(w, UINT32_MAX));
	v->conn.type = (enum vs_conn_event_type)ag_get_num(w, UINT8_MAX);
	v->conn.cookie = ag_get_num(w, MAX_OBJECTS);
	v->conn.status = (uint32_t)ag_get_num(w, UINT32_MAX);
	ag_io_conn(&(struct ag_io){.in = w}, &v->conn.peer, data);
	if (!ag_at_end(w) || v->conn.peer.private_len > sizeof(v->conn.private_data))
		return false;
	memcpy(v->conn.private_data, data, v->conn.peer.private_len);
	return true;
}

bool vc_remote_cm_open(struct vc_target *t, char *why, size_t cap)
{
	struct ag_line *l;

	t->cm = calloc(1, sizeof(*t->cm));
	if (t->cm == NULL)
		return false;
	t->cm->salt = vc_cm_salt(t->v);
	l = vc_remote_request(&t->t, "cm");
	ag_put_num(l, (uint64_t)t->setup.encap);
	ag_put_bytes(l, t->v->peer->gid[t->setup.encap], 16);
	if (vc_remote_ask_nothing(&t->t) != VS_OK) {
		(void)snprintf(why, cap, "librdmacm can't be used where the agent is");
		return false;
	}
	t->ops.listen = r_listen;
	t->ops.connect = r_connect;
	t->ops.accept = r_accept;
	t->ops.establish = r_establish;
	t->ops.reject = r_reject;
	t->ops.mra = r_mra;
	t->ops.sidr_resolve = r_sidr_resolve;
	t->ops.sidr_reply = r_sidr_reply;
	t->ops.disconnect = r_disconnect;
	t->ops.conn_event = r_conn_event;
	t->ops.conn_attr = r_conn_attr;
	return true;
}

void vc_remote_cm_close(struct vc_target *t)
{
	if (t->cm == NULL)
		return;
	vc_cm_part(t);
	free(t->cm);
	t->cm = NULL;
}
