/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_agent.c - libFuzzer target: what vs-conform and vs-agent read of each other.
 *
 * The first byte says whose reader it is. A: the rest are requests, to an agent whose device does nothing. G: they are
 * what comes instead of a greeting. Otherwise they are what an agent says while the runner makes the calls of a small
 * case. Nothing that comes may do more than end the session.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../agent/agent.h"
#include "../remote.h"
#include "fuzz_device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int nowhere(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/null", O_RDWR);
	return fd;
}

static void to_agent(const uint8_t *data, size_t size)
{
	static struct ag_session s;
	static struct vc_verbs v;

	ag_session_reset(&s, nowhere());
	fuzz_device(&v);
	s.v = &v;
	strcpy(s.opened, "fake0");
	s.greeted = true;
	while (size > 0) {
		size_t cap;
		char *space = ag_reader_space(&s.reader, &cap);
		size_t n = size < cap ? size : cap;

		if (n == 0)
			abort();
		memcpy(space, data, n);
		ag_reader_got(&s.reader, n);
		ag_session_hear(&s);
		(void)ag_session_step(&s);
		data += n;
		size -= n;
	}
	ag_run_end(&s);
}

/* Those that need what the others made. */
/* Connections, in the run of a script that makes some. */
static void connections(struct dr_target *t)
{
	struct vs_conn_param p = {.service_id = 7, .private_data = "ab", .private_len = 2};
	struct vs_qp_attr attr;
	struct vs_conn_event e;
	char why[128] = "";
	uint32_t mask;
	void *conn;

	if (!vc_remote_cm_open(vc_self(t), why, sizeof(why)))
		return;
	(void)t->ops->listen(t, 0, 7, 0);
	(void)t->ops->connect(t, 0, &p, &conn);
	(void)t->ops->sidr_resolve(t, 0, &p, &conn);
	(void)t->ops->conn_attr(t, conn, VS_QPS_RTR, NULL, &attr, &mask);
	(void)t->ops->accept(t, conn, &p);
	(void)t->ops->establish(t, conn);
	(void)t->ops->reject(t, conn, 28, "ab", 2);
	(void)t->ops->mra(t, conn, 3);
	(void)t->ops->sidr_reply(t, conn, 0, &p);
	(void)t->ops->disconnect(t, conn);
	vc_remote_hear(vc_self(t), true);
	while (t->ops->conn_event(t, 0, &e) == 1)
		;
}

static void more_calls(struct dr_target *t, void *cq, void *srq, struct dr_memory *m)
{
	struct vs_srq_attr attr = {8, 1, 1};
	const struct vs_av av = {.is_global = true, .port = 1};
	void *mw = NULL, *ah = NULL;

	(void)t->ops->cq_resize(t, cq, 32);
	t->ops->cq_arm(t, cq, false);
	if (srq != NULL) {
		const struct vs_recv_wr wr = {.wr_id = 2};

		(void)t->ops->srq_modify(t, srq, &attr, VS_SRQ_LIMIT);
		t->ops->srq_query(t, srq, &attr);
		(void)t->ops->post_recv(t, NULL, srq, &wr);
	}
	if (m->h != NULL)
		(void)t->ops->mr_rereg(t, m, VS_REREG_ACCESS, NULL, 3, 0, m->len);
	if (t->ops->mw_alloc(t, 0, NULL, VS_MW_TYPE_2, &mw) >= 0)
		(void)t->ops->mw_rkey(t, mw, true);
	(void)t->ops->ah_create(t, 0, NULL, &av, &ah);
	(void)t->ops->counter(t, 0, (enum vs_counter)1);
	(void)vc_remote_lag_ns(vc_self(t));
}

/* One of everything, as far as the answers allow. */
static void calls(struct dr_target *t)
{
	const struct vs_srq_attr srq_attr = {4, 1, 0};
	struct vs_qp_init init = {.type = VS_QPT_RC, .cap = {4, 4, 1, 1, 0}};
	struct vs_qp_attr attr = {.state = VS_QPS_INIT};
	struct dr_memory m = {.len = 300};
	struct vs_wc wc;
	struct vs_async a;
	void *cq = NULL, *srq = NULL, *qp = NULL, *found;
	uint32_t qpn;

	if (t->ops->cq_create(t, 0, 16, NULL, &cq) < 0)
		return;
	if (t->ops->mr_reg(t, 0, NULL, 1, &m) >= 0) {
		memset(m.bytes, 0xee, m.len);
		t->ops->mr_written(t, &m);
		t->ops->mr_read(t, &m);
	}
	(void)t->ops->srq_create(t, 0, NULL, &srq_attr, &srq);
	init.send_cq = init.recv_cq = cq;
	init.srq = srq;
	if (t->ops->qp_create(t, 0, NULL, &init, &qp, &qpn) >= 0) {
		struct vs_sge sge = {m.addr, 16, m.lkey};
		struct vs_send_wr wr = {.wr_id = 1, .opcode = VS_WR_SEND, .sg_list = &sge, .num_sge = 1};

		(void)t->ops->qp_modify(t, qp, &attr, VS_QP_STATE);
		(void)t->ops->post_send(t, qp, &wr);
		t->ops->qp_query(t, qp, &attr, &init);
		(void)t->ops->qp_state(t, qp);
	}
	more_calls(t, cq, srq, &m);
	connections(t);
	if (qp != NULL)
		(void)t->ops->destroy_object(t, O_QP, qp);
	vc_remote_step(vc_self(t), vc_now_ns() + 1000);
	for (unsigned i = 0; i < 3; i++) {
		while (t->ops->cq_poll(t, cq, &wc) == 1 || t->ops->async(t, 0, &a) == 1 ||
		       t->ops->comp_event(t, 0, &found) == 1)
			(void)t->ops->when(t);
		vc_remote_hear(vc_self(t), i == 0);
	}
}

static void to_runner(const uint8_t *data, size_t size, bool greeting)
{
	static struct vc_target t;
	static struct vc_link link;
	static struct vc_verbs v;
	static struct vc_peer peer;
	static struct program prog = {.n_nodes = 2, .node = {{"dut", true}, {"peer", false}}};
	static const struct vs_drill_env env;
	int fd[2];

	if (size > 32768 || pipe(fd) != 0)
		return;
	(void)fcntl(fd[0], F_SETFL, O_NONBLOCK);
	if (write(fd[1], data, size) != (ssize_t)size)
		abort();
	close(fd[1]);
	memset(&t, 0, sizeof(t));
	memset(&link, 0, sizeof(link));
	link.pid = -1;
	link.to = nowhere();
	link.from = fd[0];
	link.err = -1;
	link.hello_ns = link.timeout_ns = 1000000000;
	v.link = &link;
	v.peer = &peer;
	t.v = &v;
	t.setup.p = &prog;
	t.setup.env = &env;
	t.t.ops = &t.ops;
	vc_object_ops(&t.ops);
	vc_remote_ops(&t.ops);
	if (greeting)
		vc_link_greet(&link, "x");
	if (vc_remote_open(&t, t.lacks, sizeof(t.lacks)))
		calls(&t.t);
	vc_remote_close(&t);
	close(fd[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] == 'A')
		to_agent(data + 1, size - 1);
	else
		to_runner(data + 1, size - 1, data[0] == 'G');
	return 0;
}
