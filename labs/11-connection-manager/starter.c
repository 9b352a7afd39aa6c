/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Lab 11: the connection manager. What lab 02 did by hand and by a pipe, librdmacm does with datagrams between the QP 1
 * of both devices. B refuses A at one port and says in private data at which other one it is welcome; there they
 * connect.
 */
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>

#include "lab.h"

#define BUSY_PORT 7471 /* here B refuses, and names the other port */

static char a_buf[64] = "hello", b_buf[64];
static struct rdma_event_channel *channel; /* of both sides: whose event it is, its id says */

static void must(int rc, const char *what)
{
	if (rc != 0)
		lab_must(errno, what);
}

/*
 * The next event, of whichever side; it must be this one. Returns its id; a port that the other side sent along as
 * private data (two bytes, network order) goes to *port, which may be NULL.
 */
static struct rdma_cm_id *event(enum rdma_cm_event_type want, uint16_t *port)
{
	struct rdma_cm_event *e;
	struct rdma_cm_id *id;

	must(rdma_get_cm_event(channel, &e), "rdma_get_cm_event");
	if (e->event != want) {
		fprintf(stderr, "%s came (status %d), not %s\n", rdma_event_str(e->event), e->status,
			rdma_event_str(want));
		exit(1);
	}
	id = e->id;
	if (port != NULL && e->param.conn.private_data != NULL && e->param.conn.private_data_len >= sizeof(*port)) {
		memcpy(port, e->param.conn.private_data, sizeof(*port));
		*port = ntohs(*port);
	}
	must(rdma_ack_cm_event(e), "rdma_ack_cm_event");
	return id;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};

	must(rdma_create_qp(id, NULL, &init), "rdma_create_qp");
}

/* What the letters of lab 02 said beside QPN, PSN, GID and MTU: those the connection manager finds out by itself. */
static struct rdma_conn_param terms(void)
{
	return (struct rdma_conn_param){
		.responder_resources = 4, .initiator_depth = 4, .retry_count = 7, .rnr_retry_count = 7};
}

/* Of B: device ref1 has 10.0.0.2. */
static struct sockaddr_in address(uint16_t port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(port)};

	(void)inet_pton(AF_INET, "10.0.0.2", &addr.sin_addr);
	return addr;
}

static struct rdma_cm_id *listen_at(uint16_t port)
{
	struct sockaddr_in addr = address(port);
	struct rdma_cm_id *id;

	must(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(rdma_bind_addr(id, (struct sockaddr *)&addr), "rdma_bind_addr");
	must(rdma_listen(id, 4), "rdma_listen");
	return id;
}

/* An id that knows the way to B, and has a queue pair. NULL: not written yet. */
static struct rdma_cm_id *reach(uint16_t port)
{
	struct sockaddr_in addr = address(port);

	/* TODO(1): a new id on the channel (RDMA_PS_TCP). Resolve the address, then the route; each ends with an event
	 * (event() waits for it). Then make_qp(). All calls end with 0 or have errno: must(). */
	(void)addr;
	(void)make_qp;
	(void)event;
	return NULL;
}

static void drop(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	must(rdma_destroy_id(id), "rdma_destroy_id");
}

/* A asks at the busy port; B refuses and says where A is welcome. Returns the port that A was told. */
static uint16_t refused(uint16_t better)
{
	struct rdma_conn_param param = terms();
	struct rdma_cm_id *a = reach(BUSY_PORT);
	uint16_t word = htons(better), told = 0;

	if (a == NULL)
		return better;
	/* TODO(2): A connects with these terms. B gets an event whose id is a new one, for this request; it rejects
	 * that with `word` as private data and destroys the id. A's event has the port. */
	(void)param;
	(void)word;
	drop(a);
	printf("refused; told to come to port %u\n", told);
	return told;
}

/* A asks, B accepts. */
static void meet(uint16_t port, struct rdma_cm_id **a, struct rdma_cm_id **b)
{
	struct rdma_conn_param param = terms();

	*a = reach(port);
	/* TODO(3): A connects. B's request has an id of its own, *b, which needs a queue pair before B accepts with the
	 * same terms. Both sides are told when they are connected. */
	(void)b;
	(void)param;
}

static struct ibv_wc done(struct ibv_cq *cq)
{
	struct lab_side side = {.name = "a side", .cq = cq};

	return lab_done(&side);
}

/* Given: one message, as in lab 02. */
static void hello(struct rdma_cm_id *a, struct rdma_cm_id *b)
{
	struct ibv_mr *ma = ibv_reg_mr(a->pd, a_buf, sizeof(a_buf), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *mb = ibv_reg_mr(b->pd, b_buf, sizeof(b_buf), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge from = {.addr = (uintptr_t)a_buf, .length = 6, .lkey = ma->lkey};
	struct ibv_sge to = {.addr = (uintptr_t)b_buf, .length = sizeof(b_buf), .lkey = mb->lkey};
	struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = &to, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {
		.wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad_send;

	lab_must(ibv_post_recv(b->qp, &recv, &bad_recv), "ibv_post_recv");
	lab_must(ibv_post_send(a->qp, &send, &bad_send), "ibv_post_send");
	(void)done(a->send_cq);
	(void)done(b->recv_cq);
	printf("B received: %s\n", b_buf);
	lab_must(ibv_dereg_mr(ma), "ibv_dereg_mr");
	lab_must(ibv_dereg_mr(mb), "ibv_dereg_mr");
}

static void part(struct rdma_cm_id *a, struct rdma_cm_id *b)
{
	/* TODO(4): A disconnects; both are told. Then both ids go, with their queue pairs. */
	(void)a;
	(void)b;
}

/* Given: a connection, a message, the end of it; and at once again, while time-wait goes on for the first. */
static void twice(uint16_t port)
{
	for (unsigned i = 0; i < 2; i++) {
		struct rdma_cm_id *a = NULL, *b = NULL;

		meet(port, &a, &b);
		if (a == NULL || b == NULL)
			return;
		printf("A is queue pair 0x%06x\n", a->qp->qp_num);
		hello(a, b);
		part(a, b);
	}
}

int main(int argc, char **argv)
{
	uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
	uint16_t port = (uint16_t)(7472 + seed % 100);
	struct rdma_cm_id *busy, *welcome;

	channel = rdma_create_event_channel();
	lab_need(channel, "rdma_create_event_channel");
	busy = listen_at(BUSY_PORT);
	welcome = listen_at(port);
	if (argc > 2 && strcmp(argv[2], "meet") == 0) /* A knows already */
		twice(port);
	else
		twice(refused(port));
	must(rdma_destroy_id(busy), "rdma_destroy_id");
	must(rdma_destroy_id(welcome), "rdma_destroy_id");
	rdma_destroy_event_channel(channel);
	return 0;
}
