/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rdmacm_abi.c - connections as a program sees them that was built against the installed librdmacm: linked with
 * -lrdmacm, run under vs-run. Both ends are in this process, on one address.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define WAIT_MS 10000

/* ---- two ends that see every event ---- */

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener, *client, *server;
static struct sockaddr_storage own;

static struct sockaddr *own_addr(void)
{
	return (struct sockaddr *)(void *)&own;
}

/* The address that the device has. */
static void find_own(void)
{
	struct ibv_context **list = rdma_get_devices(NULL);
	struct sockaddr_in *in = (struct sockaddr_in *)(void *)&own;
	union ibv_gid gid;

	ck_assert_ptr_nonnull(list);
	ck_assert_int_eq(ibv_query_gid(list[0], 1, 0, &gid), 0);
	rdma_free_devices(list);
	in->sin_family = AF_INET;
	memcpy(&in->sin_addr, gid.raw + 12, 4);
}

/* The next event, which must be this one; with a limit, since the descriptor can be polled. */
static struct rdma_cm_event *expect(enum rdma_cm_event_type type)
{
	struct pollfd p = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *e;

	ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
	ck_assert_int_eq(rdma_get_cm_event(channel, &e), 0);
	ck_assert_str_eq(rdma_event_str(e->event), rdma_event_str(type));
	return e;
}

static void expect_and_ack(enum rdma_cm_event_type type)
{
	ck_assert_int_eq(rdma_ack_cm_event(expect(type)), 0);
}

static void listen_here(enum rdma_port_space ps)
{
	channel = rdma_create_event_channel();
	ck_assert_ptr_nonnull(channel);
	find_own();
	ck_assert_int_eq(rdma_create_id(channel, &listener, "the listener", ps), 0);
	ck_assert_int_eq(rdma_bind_addr(listener, own_addr()), 0);
	ck_assert_int_eq(rdma_listen(listener, 8), 0);
	ck_assert_uint_ne(rdma_get_src_port(listener), 0);
}

static void resolve(enum rdma_port_space ps)
{
	((struct sockaddr_in *)(void *)&own)->sin_port = rdma_get_src_port(listener);
	ck_assert_int_eq(rdma_create_id(channel, &client, NULL, ps), 0);
	ck_assert_int_eq(rdma_resolve_addr(client, NULL, own_addr(), 1000), 0);
	expect_and_ack(RDMA_CM_EVENT_ADDR_RESOLVED);
	ck_assert_ptr_nonnull(client->verbs);
	ck_assert_int_eq(rdma_resolve_route(client, 1000), 0);
	expect_and_ack(RDMA_CM_EVENT_ROUTE_RESOLVED);
	ck_assert_int_eq(client->route.num_paths, 1);
}

static void give_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {.qp_type = id->qp_type, .cap = {8, 8, 1, 1, 16}};

	ck_assert_int_eq(rdma_create_qp(id, NULL, &init), 0);
}

/* Up to the request, with `text` beside it. */
static void request(enum rdma_port_space ps, const char *text)
{
	struct rdma_conn_param p = {.private_data = text,
				    .private_data_len = (uint8_t)(strlen(text) + 1),
				    .responder_resources = 3,
				    .initiator_depth = 2,
				    .retry_count = 5,
				    .rnr_retry_count = 6};
	struct rdma_cm_event *e;

	listen_here(ps);
	resolve(ps);
	give_qp(client);
	ck_assert_int_eq(rdma_connect(client, &p), 0);
	e = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
	ck_assert_ptr_eq(e->listen_id, listener);
	ck_assert_str_eq(e->id->context, "the listener");
	server = e->id;
	if (ps == RDMA_PS_TCP) {
		ck_assert_str_eq(e->param.conn.private_data, text);
		ck_assert_uint_eq(e->param.conn.private_data_len, 56);
		ck_assert_uint_eq(e->param.conn.responder_resources, 2); /* what they start, we respond to */
		ck_assert_uint_eq(e->param.conn.initiator_depth, 3);
		ck_assert_uint_eq(e->param.conn.qp_num, client->qp->qp_num);
	} else {
		ck_assert_str_eq(e->param.ud.private_data, text);
	}
	ck_assert_int_eq(rdma_ack_cm_event(e), 0);
	ck_assert_mem_eq(&server->route.addr.dst_sin.sin_addr, &client->route.addr.src_sin.sin_addr, 4);
	ck_assert_uint_eq(rdma_get_dst_port(server), rdma_get_src_port(client));
	ck_assert_uint_eq(rdma_get_src_port(server), rdma_get_src_port(listener));
}

static void connect_both(void)
{
	struct rdma_conn_param p = {
		.private_data = "yes", .private_data_len = 4, .responder_resources = 2, .initiator_depth = 3};
	struct rdma_cm_event *e;

	request(RDMA_PS_TCP, "hello");
	give_qp(server);
	ck_assert_int_eq(rdma_accept(server, &p), 0);
	e = expect(RDMA_CM_EVENT_ESTABLISHED);
	ck_assert_ptr_eq(e->id, client);
	ck_assert_str_eq(e->param.conn.private_data, "yes");
	ck_assert_int_eq(rdma_ack_cm_event(e), 0);
	e = expect(RDMA_CM_EVENT_ESTABLISHED);
	ck_assert_ptr_eq(e->id, server);
	ck_assert_int_eq(rdma_ack_cm_event(e), 0);
}

static void destroy(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
}

static void destroy_all(void)
{
	destroy(client);
	destroy(server);
	destroy(listener);
	rdma_destroy_event_channel(channel);
}

/* ---- */

START_TEST(what_was_negotiated_is_what_the_queue_pairs_do)
{
	struct ibv_qp_attr a, b;
	struct ibv_qp_init_attr init;

	connect_both();
	ck_assert_int_eq(ibv_query_qp(client->qp, &a, 0, &init), 0);
	ck_assert_int_eq(ibv_query_qp(server->qp, &b, 0, &init), 0);
	ck_assert_int_eq(a.qp_state, IBV_QPS_RTS);
	ck_assert_int_eq(b.qp_state, IBV_QPS_RTS);
	ck_assert_uint_eq(a.dest_qp_num, server->qp->qp_num);
	ck_assert_uint_eq(b.dest_qp_num, client->qp->qp_num);
	ck_assert_uint_eq(a.sq_psn, b.rq_psn);
	ck_assert_uint_eq(b.sq_psn, a.rq_psn);
	ck_assert_uint_eq(a.max_rd_atomic, 2);
	ck_assert_uint_eq(a.max_dest_rd_atomic, 3);
	ck_assert_uint_eq(b.max_rd_atomic, 3);
	ck_assert_uint_eq(b.max_dest_rd_atomic, 2);
	ck_assert_uint_eq(b.retry_cnt, 5);
	ck_assert_uint_eq(b.rnr_retry, 6);
	ck_assert_uint_eq(a.timeout, b.timeout);
	destroy_all();
}
END_TEST

START_TEST(data_go_through_and_both_hear_of_the_end)
{
	static char out[16] = "over the wire", in[16];
	struct ibv_mr *mr_in, *mr_out;
	struct ibv_wc wc;

	connect_both();
	mr_in = rdma_reg_msgs(server, in, sizeof(in));
	mr_out = rdma_reg_msgs(client, out, sizeof(out));
	ck_assert_int_eq(rdma_post_recv(server, NULL, in, sizeof(in), mr_in), 0);
	ck_assert_int_eq(rdma_post_send(client, NULL, out, sizeof(out), mr_out, IBV_SEND_SIGNALED), 0);
	ck_assert_int_eq(rdma_get_recv_comp(server, &wc), 1);
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_str_eq(in, out);
	ck_assert_int_eq(rdma_disconnect(client), 0);
	expect_and_ack(RDMA_CM_EVENT_DISCONNECTED);
	expect_and_ack(RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_int_eq(rdma_disconnect(server), 0); /* it has been told: not an error */
	ck_assert_int_eq(server->qp->state, IBV_QPS_ERR);
	expect_and_ack(RDMA_CM_EVENT_TIMEWAIT_EXIT);
	rdma_dereg_mr(mr_in);
	rdma_dereg_mr(mr_out);
	destroy_all();
}
END_TEST

START_TEST(a_reject_brings_its_reason_and_words)
{
	struct rdma_cm_event *e;

	request(RDMA_PS_TCP, "may I?");
	ck_assert_int_eq(rdma_reject(server, "no", 3), 0);
	e = expect(RDMA_CM_EVENT_REJECTED);
	ck_assert_ptr_eq(e->id, client);
	ck_assert_int_eq(e->status, 28);
	ck_assert_str_eq(e->param.conn.private_data, "no");
	ck_assert_int_eq(rdma_ack_cm_event(e), 0);
	ck_assert_int_eq(client->qp->state, IBV_QPS_ERR);
	destroy_all();
}
END_TEST

START_TEST(a_request_that_nobody_fetched_is_rejected_with_its_listener)
{
	struct rdma_event_channel *other;

	listen_here(RDMA_PS_TCP);
	resolve(RDMA_PS_TCP);
	other = rdma_create_event_channel();
	ck_assert_int_eq(rdma_migrate_id(listener, other), 0);
	give_qp(client);
	ck_assert_int_eq(rdma_connect(client, NULL), 0);
	ck_assert_int_eq(poll(&(struct pollfd){.fd = listener->channel->fd, .events = POLLIN}, 1, WAIT_MS), 1);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(other);
	expect_and_ack(RDMA_CM_EVENT_REJECTED);
	destroy(client);
}
END_TEST

START_TEST(where_nobody_listens_the_reason_is_8)
{
	struct rdma_cm_event *e;

	listen_here(RDMA_PS_TCP);
	resolve(RDMA_PS_TCP);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
	give_qp(client);
	ck_assert_int_eq(rdma_connect(client, NULL), 0);
	e = expect(RDMA_CM_EVENT_REJECTED);
	ck_assert_int_eq(e->status, 8);
	ck_assert_int_eq(rdma_ack_cm_event(e), 0);
	destroy(client);
}
END_TEST

START_TEST(a_datagram_service_tells_its_queue_pair)
{
	struct rdma_cm_event *e;
	struct rdma_conn_param p = {.private_data = "here", .private_data_len = 5};

	request(RDMA_PS_UDP, "where?");
	give_qp(server);
	ck_assert_int_eq(server->qp->state, IBV_QPS_RTS);
	p.qp_num = server->qp->qp_num;
	ck_assert_int_eq(rdma_accept(server, &p), 0);
	e = expect(RDMA_CM_EVENT_ESTABLISHED);
	ck_assert_ptr_eq(e->id, client);
	ck_assert_uint_eq(e->param.ud.qp_num, server->qp->qp_num);
	ck_assert_uint_eq(e->param.ud.qkey, RDMA_UDP_QKEY);
	ck_assert_str_eq(e->param.ud.private_data, "here");
	ck_assert_int_eq(rdma_ack_cm_event(e), 0);
	destroy_all();
}
END_TEST

START_TEST(a_taken_port_and_a_foreign_address_are_refused)
{
	struct sockaddr_in other = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000201)};
	struct rdma_cm_id *second;

	listen_here(RDMA_PS_TCP);
	((struct sockaddr_in *)(void *)&own)->sin_port = rdma_get_src_port(listener);
	ck_assert_int_eq(rdma_create_id(channel, &second, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(second, own_addr()), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	ck_assert_int_eq(rdma_bind_addr(second, (struct sockaddr *)(void *)&other), -1);
	ck_assert_int_eq(errno, EADDRNOTAVAIL);
	ck_assert_int_eq(rdma_destroy_id(second), 0);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
}
END_TEST

START_TEST(who_listens_on_all_addresses_gets_the_requests_of_each)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct rdma_cm_id *wild;

	listen_here(RDMA_PS_TCP);
	any.sin_port = rdma_get_src_port(listener);
	ck_assert_int_eq(rdma_create_id(channel, &wild, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(wild, (struct sockaddr *)(void *)&any), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	any.sin_port = 0;
	ck_assert_int_eq(rdma_bind_addr(wild, (struct sockaddr *)(void *)&any), 0);
	ck_assert_ptr_null(wild->verbs); /* no device is known yet */
	ck_assert_int_eq(rdma_listen(wild, 0), 0);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
	listener = wild; /* requests of any own address are its */
	resolve(RDMA_PS_TCP);
	give_qp(client);
	ck_assert_int_eq(rdma_connect(client, NULL), 0);
	expect_and_ack(RDMA_CM_EVENT_CONNECT_REQUEST);
	ck_assert_int_eq(rdma_destroy_id(wild), 0);
	destroy(client);
}
END_TEST

START_TEST(more_than_the_backlog_is_rejected)
{
	struct rdma_cm_id *more[2];
	struct rdma_cm_event *e;

	channel = rdma_create_event_channel();
	find_own();
	ck_assert_int_eq(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(listener, own_addr()), 0);
	ck_assert_int_eq(rdma_listen(listener, 1), 0);
	ck_assert_int_eq(rdma_migrate_id(listener, rdma_create_event_channel()), 0);
	for (int i = 0; i < 2; i++) {
		resolve(RDMA_PS_TCP);
		give_qp(client);
		more[i] = client;
	}
	ck_assert_int_eq(rdma_connect(more[0], NULL), 0);
	ck_assert_int_eq(poll(&(struct pollfd){.fd = listener->channel->fd, .events = POLLIN}, 1, WAIT_MS), 1);
	ck_assert_int_eq(rdma_connect(more[1], NULL), 0);
	e = expect(RDMA_CM_EVENT_REJECTED);
	ck_assert_ptr_eq(e->id, more[1]);
	ck_assert_int_eq(e->status, 3); /* no resources available */
	ck_assert_int_eq(rdma_ack_cm_event(e), 0);
	destroy(more[0]);
	destroy(more[1]);
}
END_TEST

START_TEST(a_channel_can_be_asked_without_waiting)
{
	struct rdma_cm_event *e;

	listen_here(RDMA_PS_TCP);
	ck_assert_int_eq(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(rdma_get_cm_event(channel, &e), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
}
END_TEST

START_TEST(what_is_not_there_says_so)
{
	errno = 0;
	ck_assert_int_eq(rsocket(AF_INET, SOCK_STREAM, 0), -1);
	ck_assert_int_eq(errno, ENOSYS);
	listen_here(RDMA_PS_TCP);
	ck_assert_int_eq(rdma_set_option(listener, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, "", 0), -1);
	ck_assert_int_eq(errno, ENOSYS);
	ck_assert_int_eq(rdma_listen(listener, 1), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("rdmacm_abi");
	TCase *tc = tcase_create("librdmacm");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, what_was_negotiated_is_what_the_queue_pairs_do);
	tcase_add_test(tc, data_go_through_and_both_hear_of_the_end);
	tcase_add_test(tc, a_reject_brings_its_reason_and_words);
	tcase_add_test(tc, a_request_that_nobody_fetched_is_rejected_with_its_listener);
	tcase_add_test(tc, where_nobody_listens_the_reason_is_8);
	tcase_add_test(tc, a_datagram_service_tells_its_queue_pair);
	tcase_add_test(tc, a_taken_port_and_a_foreign_address_are_refused);
	tcase_add_test(tc, who_listens_on_all_addresses_gets_the_requests_of_each);
	tcase_add_test(tc, more_than_the_backlog_is_rejected);
	tcase_add_test(tc, a_channel_can_be_asked_without_waiting);
	tcase_add_test(tc, what_is_not_there_says_so);
	suite_add_tcase(s, tc);
	return s;
}
