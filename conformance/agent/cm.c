/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cm.c - requests about connections: calls of librdmacm where the device is. Connections are numbers, in the order in
 * which the runner hears of them.
 */
#include <errno.h>
#include <string.h>

#include "../verbs_cm.h"
#include "agent.h"

static void *conn_of(struct ag_session *s, struct ag_words *w)
{
	uint32_t n = (uint32_t)ag_get_num(w, AG_CONNS);

	w->bad |= n == 0 || n > s->conns;
	return w->bad ? NULL : s->conn[n - 1];
}

/* 0: there are too many. */
static uint32_t number_of(struct ag_session *s, void *conn)
{
	uint32_t n = 0;

	while (n < s->conns && s->conn[n] != conn)
		n++;
	if (n == s->conns && n < AG_CONNS)
		s->conn[s->conns++] = conn;
	return n < s->conns ? n + 1 : 0;
}

void ag_cm_look(struct ag_session *s, int node)
{
	struct vs_conn_event e;
	uint32_t n;

	while (s->t->ops.conn_event(&s->t->t, node, &e) == 1) {
		n = number_of(s, e.conn);
		if (n == 0)
			continue;
		ag_start(&s->line, "!");
		ag_put_num(&s->line, vc_now_ns());
		ag_put_word(&s->line, "conn");
		ag_put_num(&s->line, (uint64_t)node);
		ag_put_num(&s->line, n);
		ag_put_num(&s->line, (uint64_t)e.type);
		ag_put_num(&s->line, e.cookie);
		ag_put_num(&s->line, e.status);
		ag_io_conn(&(struct ag_io){.out = &s->line}, &e.peer, e.private_data);
		ag_say(s);
	}
}

/* cm ENCAP PEER: connections in this run, with a peer of that address. */
static int call_cm(struct ag_session *s, struct ag_words *w)
{
	int encap = (int)ag_get_num(w, VC_PEER_ENCAPS - 1);
	uint8_t peer[16] = {0};

	ag_array(&(struct ag_io){.in = w}, peer, 16);
	if (!ag_at_end(w) || s->t->cm != NULL)
		return AG_WRONG;
	if (!vc_cm_there(s->v))
		return vc_lacks(s->t, VC_NO_CM);
	errno = 0;
	return vc_cm_open(s->t, encap, peer) ? AG_DONE : vc_error(errno != 0 ? errno : ENOMEM);
}

static int call_listen(struct ag_session *s, struct ag_words *w)
{
	int n = ag_node(s, w);
	uint64_t service = ag_get_num(w, UINT64_MAX), cookie = ag_get_num(w, UINT64_MAX);
	bool ud = ag_get_num(w, 1) != 0;

	if (!ag_at_end(w) || s->t->cm == NULL)
		return AG_WRONG;
	return vc_cm_listen(s->t, n, service, cookie, ud);
}

static int connect_by(struct ag_session *s, struct ag_words *w, bool ud)
{
	struct vs_conn_param p = {.service_id = 0};
	uint8_t data[UINT8_MAX];
	int n = ag_node(s, w), rc;
	void *conn = NULL;

	ag_io_conn(&(struct ag_io){.in = w}, &p, data);
	if (!ag_at_end(w) || s->t->cm == NULL)
		return AG_WRONG;
	rc = (ud ? s->t->ops.sidr_resolve : s->t->ops.connect)(&s->t->t, n, &p, &conn);
	if (rc == VS_OK)
		ag_put_num(&s->args, number_of(s, conn));
	return rc;
}

static int call_connect(struct ag_session *s, struct ag_words *w)
{
	return connect_by(s, w, false);
}

static int call_sidr_resolve(struct ag_session *s, struct ag_words *w)
{
	return connect_by(s, w, true);
}

static int call_accept(struct ag_session *s, struct ag_words *w)
{
	void *conn = conn_of(s, w);
	struct vs_conn_param p = {.service_id = 0};
	uint8_t data[UINT8_MAX];

	ag_io_conn(&(struct ag_io){.in = w}, &p, data);
	return ag_at_end(w) ? s->t->ops.accept(&s->t->t, conn, &p) : AG_WRONG;
}

static int call_establish(struct ag_session *s, struct ag_words *w)
{
	void *conn = conn_of(s, w);

	return ag_at_end(w) ? s->t->ops.establish(&s->t->t, conn) : AG_WRONG;
}

static int call_reject(struct ag_session *s, struct ag_words *w)
{
	void *conn = conn_of(s, w);
	uint16_t reason = (uint16_t)ag_get_num(w, UINT16_MAX);
	uint8_t data[UINT8_MAX];
	uint8_t len = (uint8_t)ag_get_bytes(w, data, sizeof(data));

	return ag_at_end(w) ? s->t->ops.reject(&s->t->t, conn, reason, data, len) : AG_WRONG;
}

static int call_mra(struct ag_session *s, struct ag_words *w)
{
	void *conn = conn_of(s, w);
	uint8_t timeout = (uint8_t)ag_get_num(w, UINT8_MAX);

	return ag_at_end(w) ? s->t->ops.mra(&s->t->t, conn, timeout) : AG_WRONG;
}

static int call_sidr_reply(struct ag_session *s, struct ag_words *w)
{
	void *conn = conn_of(s, w);
	uint32_t status = (uint32_t)ag_get_num(w, UINT32_MAX);
	struct vs_conn_param p = {.service_id = 0};
	uint8_t data[UINT8_MAX];

	ag_io_conn(&(struct ag_io){.in = w}, &p, data);
	return ag_at_end(w) ? s->t->ops.sidr_reply(&s->t->t, conn, status, &p) : AG_WRONG;
}

static int call_disconnect(struct ag_session *s, struct ag_words *w)
{
	void *conn = conn_of(s, w);

	return ag_at_end(w) ? s->t->ops.disconnect(&s->t->t, conn) : AG_WRONG;
}

/* cm_attr CONN STATE WITH PARAM: 0 for WITH when nothing is said of what is going to be accepted. */
static int call_attr(struct ag_session *s, struct ag_words *w)
{
	void *conn = conn_of(s, w);
	enum vs_qp_state to = (enum vs_qp_state)ag_get_num(w, VS_QPS_COUNT - 1);
	bool with = ag_get_num(w, 1) != 0;
	struct vs_conn_param p = {.service_id = 0};
	struct vs_qp_attr a = {.state = VS_QPS_RESET};
	uint8_t data[UINT8_MAX];
	uint32_t mask = 0;
	int rc;

	ag_io_conn(&(struct ag_io){.in = w}, &p, data);
	if (!ag_at_end(w))
		return AG_WRONG;
	rc = s->t->ops.conn_attr(&s->t->t, conn, to, with ? &p : NULL, &a, &mask);
	if (rc != VS_OK)
		return rc;
	ag_io_attr(&(struct ag_io){.out = &s->args}, &a);
	ag_put_num(&s->args, mask);
	return AG_DONE;
}

ag_call_fn *ag_cm_find(const char *name)
{
	static const struct {
		const char *name;
		ag_call_fn *fn;
	} calls[] = {
		{"cm", call_cm},
		{"cm_listen", call_listen},
		{"cm_connect", call_connect},
		{"cm_sidr_resolve", call_sidr_resolve},
		{"cm_accept", call_accept},
		{"cm_establish", call_establish},
		{"cm_reject", call_reject},
		{"cm_mra", call_mra},
		{"cm_sidr_reply", call_sidr_reply},
		{"cm_disconnect", call_disconnect},
		{"cm_attr", call_attr},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(name, calls[i].name) == 0)
			return calls[i].fn;
	return NULL;
}
