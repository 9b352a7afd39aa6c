/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sim_cm.c - connections from one simulated device to the other through librdmacm.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include "sim_ends.h"

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener, *client, *server;

static struct sockaddr_storage address(const char *text, uint16_t port)
{
	struct sockaddr_storage out;
	struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&out;

	memset(&out, 0, sizeof(out));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
	} else {
		ck_assert_int_eq(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
	}
	return out;
}

static struct sockaddr *generic(struct sockaddr_storage *s)
{
	return (struct sockaddr *)(void *)s;
}

static struct rdma_cm_event expect(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e, copy;

	ck_assert_int_eq(rdma_get_cm_event(channel, &e), 0);
	ck_assert_str_eq(rdma_event_str(e->event), rdma_event_str(type));
	copy = *e;
	ck_assert_int_eq(rdma_ack_cm_event(e), 0);
	return copy;
}

static void listen_on(const char *text)
{
	struct sockaddr_storage addr = address(text, 7174);

	channel = rdma_create_event_channel();
	ck_assert_ptr_nonnull(channel);
	ck_assert_int_eq(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(listener, generic(&addr)), 0);
	ck_assert_int_eq(rdma_listen(listener, 8), 0);
}

static void resolve(const char *text, uint16_t port)
{
	struct sockaddr_storage addr = address(text, port);

	ck_assert_int_eq(rdma_create_id(channel, &client, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_resolve_addr(client, NULL, generic(&addr), 2000), 0);
	(void)expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	ck_assert_int_eq(rdma_resolve_route(client, 2000), 0);
	(void)expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void give_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};

	ck_assert_int_eq(rdma_create_qp(id, NULL, &init), 0);
}

static void connect_both(void)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7};

	give_qp(client);
	ck_assert_int_eq(rdma_connect(client, &param), 0);
	server = expect(RDMA_CM_EVENT_CONNECT_REQUEST).id;
	give_qp(server);
	ck_assert_int_eq(rdma_accept(server, &param), 0);
	/* Which of the two comes first depends on who is heard of first. */
	ck_assert_ptr_eq(expect(RDMA_CM_EVENT_ESTABLISHED).id, client);
	ck_assert_ptr_eq(expect(RDMA_CM_EVENT_ESTABLISHED).id, server);
}

static void part(void)
{
	ck_assert_int_eq(rdma_disconnect(client), 0);
	(void)expect(RDMA_CM_EVENT_DISCONNECTED);
	(void)expect(RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(client);
	rdma_destroy_qp(server);
	ck_assert_int_eq(rdma_destroy_id(client), 0);
	ck_assert_int_eq(rdma_destroy_id(server), 0);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
}

static const struct {
	const char *listen, *connect, *client, *server;
} pairs[] = {{"10.0.0.2", "10.0.0.2", "ref0", "ref1"},
	     {"0.0.0.0", "10.0.0.2", "ref0", "ref1"},
	     {"0.0.0.0", "10.0.0.1", "ref1", "ref0"},
	     {"fd00::1", "fd00::1", "ref1", "ref0"},
	     {"::", "fd00::2", "ref0", "ref1"},
	     {"127.0.0.1", "127.0.0.1", "ref1", "ref0"},
	     {"0.0.0.0", "127.0.0.1", "ref1", "ref0"},
	     {"10.0.0.2", "0.0.0.0", "ref0", "ref1"},
	     {"::1", "::1", "ref1", "ref0"}};

START_TEST(an_address_of_one_device_is_reached_from_the_other)
{
	uint64_t word = 0x5a5a5a5a, there = 0;
	struct ibv_mr *from, *to;
	struct ibv_recv_wr recv = {.num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {.num_sge = 1, .opcode = IBV_WR_SEND}, *bad_send;
	struct ibv_sge sge[2];

	listen_on(pairs[_i].listen);
	resolve(pairs[_i].connect, 7174);
	connect_both();
	ck_assert_str_eq(ibv_get_device_name(client->verbs->device), pairs[_i].client);
	ck_assert_str_eq(ibv_get_device_name(server->verbs->device), pairs[_i].server);
	from = ibv_reg_mr(client->pd, &word, sizeof(word), 0);
	to = ibv_reg_mr(server->pd, &there, sizeof(there), IBV_ACCESS_LOCAL_WRITE);
	sge[0] = (struct ibv_sge){(uintptr_t)&word, 8, from->lkey};
	sge[1] = (struct ibv_sge){(uintptr_t)&there, 8, to->lkey};
	send.sg_list = &sge[0];
	recv.sg_list = &sge[1];
	ck_assert_int_eq(ibv_post_recv(server->qp, &recv, &bad_recv), 0);
	ck_assert_int_eq(ibv_post_send(client->qp, &send, &bad_send), 0);
	ck_assert_int_eq(poll_for(server->recv_cq).status, IBV_WC_SUCCESS);
	ck_assert_uint_eq(there, word);
	ck_assert_int_eq(ibv_dereg_mr(from) | ibv_dereg_mr(to), 0);
	part();
}
END_TEST

START_TEST(both_devices_are_listed_with_their_addresses)
{
	struct sockaddr_storage second = address("10.0.0.2", 0), foreign = address("10.0.0.3", 0);
	struct ibv_context **list;
	int n = 0;

	channel = rdma_create_event_channel();
	list = rdma_get_devices(&n);
	ck_assert_int_eq(n, 2);
	ck_assert_str_eq(ibv_get_device_name(list[1]->device), "ref1");
	ck_assert_ptr_null(list[2]);
	ck_assert_int_eq(rdma_create_id(channel, &client, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(client, generic(&foreign)), -1);
	ck_assert_int_eq(rdma_bind_addr(client, generic(&second)), 0);
	ck_assert_ptr_eq(client->verbs, list[1]);
	rdma_free_devices(list);
	ck_assert_int_eq(rdma_destroy_id(client), 0);
	rdma_destroy_event_channel(channel);
}
END_TEST

START_TEST(where_nobody_is_the_answer_costs_no_time)
{
	struct sockaddr_storage nobody = address("10.0.0.3", 7174);

	listen_on("10.0.0.1");
	resolve("10.0.0.2", 7175);
	give_qp(client);
	ck_assert_int_eq(rdma_connect(client, NULL), 0);
	ck_assert_int_eq(expect(RDMA_CM_EVENT_REJECTED).status, 8); /* invalid service id */
	rdma_destroy_qp(client);
	ck_assert_int_eq(rdma_destroy_id(client), 0);
	ck_assert_int_eq(rdma_create_id(channel, &client, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_resolve_addr(client, NULL, generic(&nobody), 2000), 0);
	ck_assert_int_eq(expect(RDMA_CM_EVENT_ADDR_ERROR).status, -EHOSTUNREACH);
	ck_assert_int_eq(rdma_destroy_id(client), 0);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
}
END_TEST

static void *serve(void *arg)
{
	struct rdma_event_channel *ch = arg;
	struct rdma_cm_event *e;
	struct rdma_cm_id *id = NULL;

	for (int i = 0; i < 3; i++) {
		static const enum rdma_cm_event_type want[] = {RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_ESTABLISHED,
							       RDMA_CM_EVENT_DISCONNECTED};

		ck_assert_int_eq(rdma_get_cm_event(ch, &e), 0);
		ck_assert_str_eq(rdma_event_str(e->event), rdma_event_str(want[i]));
		id = e->id;
		ck_assert_int_eq(rdma_ack_cm_event(e), 0);
		if (i > 0)
			continue;
		give_qp(id);
		ck_assert_int_eq(rdma_accept(id, NULL), 0);
	}
	rdma_destroy_qp(id);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	return NULL;
}

START_TEST(server_and_client_are_threads)
{
	struct rdma_event_channel *servers;
	pthread_t thread;

	listen_on("10.0.0.2");
	servers = channel;
	ck_assert_int_eq(pthread_create(&thread, NULL, serve, servers), 0);
	channel = rdma_create_event_channel();
	resolve("10.0.0.2", 7174);
	give_qp(client);
	ck_assert_int_eq(rdma_connect(client, NULL), 0);
	(void)expect(RDMA_CM_EVENT_ESTABLISHED);
	ck_assert_int_eq(rdma_disconnect(client), 0);
	(void)expect(RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	rdma_destroy_qp(client);
	ck_assert_int_eq(rdma_destroy_id(client), 0);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(servers);
	rdma_destroy_event_channel(channel);
}
END_TEST

void add_connections(Suite *s)
{
	TCase *tc = tcase_create("librdmacm");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, an_address_of_one_device_is_reached_from_the_other, 0,
			    (int)(sizeof(pairs) / sizeof(pairs[0])));
	tcase_add_test(tc, both_devices_are_listed_with_their_addresses);
	tcase_add_test(tc, server_and_client_are_threads);
	tcase_add_test(tc, where_nobody_is_the_answer_costs_no_time);
	suite_add_tcase(s, tc);
}
