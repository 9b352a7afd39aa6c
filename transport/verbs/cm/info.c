/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * info.c - rdma_getaddrinfo, over the C library's; names of events.
 */
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/cm/cm.h"

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const name[] = {
		"RDMA_CM_EVENT_ADDR_RESOLVED",  "RDMA_CM_EVENT_ADDR_ERROR",      "RDMA_CM_EVENT_ROUTE_RESOLVED",
		"RDMA_CM_EVENT_ROUTE_ERROR",    "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
		"RDMA_CM_EVENT_CONNECT_ERROR",  "RDMA_CM_EVENT_UNREACHABLE",     "RDMA_CM_EVENT_REJECTED",
		"RDMA_CM_EVENT_ESTABLISHED",    "RDMA_CM_EVENT_DISCONNECTED",    "RDMA_CM_EVENT_DEVICE_REMOVAL",
		"RDMA_CM_EVENT_MULTICAST_JOIN", "RDMA_CM_EVENT_MULTICAST_ERROR", "RDMA_CM_EVENT_ADDR_CHANGE",
		"RDMA_CM_EVENT_TIMEWAIT_EXIT",
	};

	return (unsigned)event < sizeof(name) / sizeof(name[0]) ? name[event] : "UNKNOWN EVENT";
}

/* ---- addresses ---- */

static void to_hints(struct addrinfo *ai, const struct rdma_addrinfo *rai)
{
	memset(ai, 0, sizeof(*ai));
	if (rai->ai_flags & RAI_PASSIVE)
		ai->ai_flags |= AI_PASSIVE;
	if (rai->ai_flags & RAI_NUMERICHOST)
		ai->ai_flags |= AI_NUMERICHOST;
	ai->ai_family = rai->ai_family;
	ai->ai_socktype = rai->ai_qp_type == IBV_QPT_UD ? SOCK_DGRAM : SOCK_STREAM;
	if (rai->ai_qp_type == 0 && rai->ai_port_space == RDMA_PS_UDP)
		ai->ai_socktype = SOCK_DGRAM;
}

static int copy_addr(struct sockaddr **to, socklen_t *to_len, const struct sockaddr *from, socklen_t len)
{
	*to = malloc(len);
	if (*to == NULL)
		return EAI_MEMORY;
	memcpy(*to, from, len);
	*to_len = len;
	return 0;
}

static int fill(struct rdma_addrinfo *r, const struct rdma_addrinfo *hints, const struct addrinfo *ai)
{
	bool ud = ai->ai_socktype == SOCK_DGRAM, is_passive = (hints->ai_flags & RAI_PASSIVE) != 0;
	int rc;

	r->ai_flags = hints->ai_flags;
	r->ai_family = ai->ai_family;
	r->ai_qp_type = hints->ai_qp_type != 0 ? hints->ai_qp_type : ud ? IBV_QPT_UD : IBV_QPT_RC;
	r->ai_port_space = hints->ai_port_space != 0 ? hints->ai_port_space : ud ? RDMA_PS_UDP : RDMA_PS_TCP;
	if (is_passive)
		rc = copy_addr(&r->ai_src_addr, &r->ai_src_len, ai->ai_addr, ai->ai_addrlen);
	else
		rc = copy_addr(&r->ai_dst_addr, &r->ai_dst_len, ai->ai_addr, ai->ai_addrlen);
	if (rc == 0 && ai->ai_canonname != NULL)
		*(is_passive ? &r->ai_src_canonname : &r->ai_dst_canonname) = strdup(ai->ai_canonname);
	if (rc == 0 && !is_passive && hints->ai_src_len > 0)
		rc = copy_addr(&r->ai_src_addr, &r->ai_src_len, hints->ai_src_addr, hints->ai_src_len);
	return rc;
}

/* Without a name the addresses in the hints are meant. */
static int from_hints(struct rdma_addrinfo *r, const struct rdma_addrinfo *hints)
{
	int rc = 0;

	r->ai_flags = hints->ai_flags;
	r->ai_family = hints->ai_family;
	r->ai_qp_type = hints->ai_qp_type;
	r->ai_port_space = hints->ai_port_space;
	if (hints->ai_dst_len > 0)
		rc = copy_addr(&r->ai_dst_addr, &r->ai_dst_len, hints->ai_dst_addr, hints->ai_dst_len);
	if (rc == 0 && hints->ai_src_len > 0)
		rc = copy_addr(&r->ai_src_addr, &r->ai_src_len, hints->ai_src_addr, hints->ai_src_len);
	return rc;
}

static int look_up(struct rdma_addrinfo *r, const char *node, const char *service, const struct rdma_addrinfo *hints)
{
	struct addrinfo ai, *found;
	int rc;

	to_hints(&ai, hints);
	rc = getaddrinfo(node, service, &ai, &found);
	if (rc != 0)
		return rc;
	rc = fill(r, hints, found);
	freeaddrinfo(found);
	return rc;
}

static void free_one(struct rdma_addrinfo *r)
{
	free(r->ai_src_addr);
	free(r->ai_dst_addr);
	free(r->ai_src_canonname);
	free(r->ai_dst_canonname);
	free(r->ai_route);
	free(r->ai_connect);
	free(r);
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res)
{
	static const struct rdma_addrinfo none = {.ai_port_space = RDMA_PS_TCP};
	struct rdma_addrinfo *r;
	int rc;

	if (service == NULL && node == NULL && hints == NULL)
		return cm_fail(EINVAL);
	if (hints == NULL)
		hints = &none;
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return EAI_MEMORY;
	rc = node != NULL || service != NULL ? look_up(r, node, service, hints) : from_hints(r, hints);
	if (rc != 0) {
		free_one(r);
		return rc;
	}
	*res = r;
	return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	while (res != NULL) {
		struct rdma_addrinfo *next = res->ai_next;

		free_one(res);
		res = next;
	}
}
