/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_cm.h - connections of the target `verbs`: the device's side calls librdmacm, the script's peer speaks the
 * messages of the connection manager.
 *
 *   verbs_cm.c       the calls and events of librdmacm as those of the language: where the device is
 *   verbs_cm_wire.c  messages between the words of the script and those of rdma_cm: where its peer is
 *
 * Both are in this process, or the former behind an agent (remote_cm.c).
 *
 * librdmacm chooses what the InfiniBand specification leaves to programs. A service is a port of an IP address, so a
 * script's service that is none has one lent to it; the private data of a REQ and a SIDR_REQ begin with the addresses
 * (Annex A11), which the script then neither writes nor sees. Services that the script itself names as rdma_cm does
 * (0x1060000 and a TCP port, 0x1110000 and a UDP port) stay as they are, header included.
 */
#ifndef CONFORM_VERBS_CM_H
#define CONFORM_VERBS_CM_H

#include <rdma/rdma_cma.h>

#include "verbs.h"

#define VC_RDMA_CALLS(X)                                                                                     \
	X(struct rdma_event_channel *, create_event_channel, (void))                                         \
	X(void, destroy_event_channel, (struct rdma_event_channel *))                                        \
	X(int, create_id, (struct rdma_event_channel *, struct rdma_cm_id **, void *, enum rdma_port_space)) \
	X(int, destroy_id, (struct rdma_cm_id *))                                                            \
	X(int, bind_addr, (struct rdma_cm_id *, struct sockaddr *))                                          \
	X(int, listen, (struct rdma_cm_id *, int))                                                           \
	X(int, resolve_addr, (struct rdma_cm_id *, struct sockaddr *, struct sockaddr *, int))               \
	X(int, resolve_route, (struct rdma_cm_id *, int))                                                    \
	X(int, connect, (struct rdma_cm_id *, struct rdma_conn_param *))                                     \
	X(int, accept, (struct rdma_cm_id *, struct rdma_conn_param *))                                      \
	X(int, reject, (struct rdma_cm_id *, const void *, uint8_t))                                         \
	X(int, establish, (struct rdma_cm_id *))                                                             \
	X(int, disconnect, (struct rdma_cm_id *))                                                            \
	X(int, notify, (struct rdma_cm_id *, enum ibv_event_type))                                           \
	X(int, init_qp_attr, (struct rdma_cm_id *, struct ibv_qp_attr *, int *))                             \
	X(int, get_cm_event, (struct rdma_event_channel *, struct rdma_cm_event **))                         \
	X(int, ack_cm_event, (struct rdma_cm_event *))

/* Makes the ids of the peer those of this run. */
static inline uint32_t vc_cm_salt(const struct vc_verbs *v)
{
	return 0x9e3779b9u * (v->runs + 1);
}

#define VC_CM_IDS 64u
#define VC_CM_SERVICES 16u

struct vc_conn;
struct vc_cm_waiting;

/* What a run has of connections. */
struct vc_cm {
	/* the calls */
	struct rdma_event_channel *channel;
	struct vc_conn *conns;
	struct vc_cm_waiting *first, **last; /* events that nobody has asked for yet */
	uint8_t own[16], peer[16];           /* addresses, as GIDs */
	bool v4;
	/* the wire */
	uint32_t salt;          /* makes the peer's ids those of this run */
	uint32_t id[VC_CM_IDS]; /* that the peer has used, as on the wire */
	unsigned n_ids;
	struct {
		uint64_t script, wire;
	} service[VC_CM_SERVICES];
	unsigned n_services;
};

/* ---- verbs_cm.c ---- */

/* librdmacm for this device, which may be behind an agent. */
bool vc_cm_there(const struct vc_verbs *v);
/* Connections of a run, with a peer of that address. False: errno. */
bool vc_cm_open(struct vc_target *t, int encap, const uint8_t peer[16]);
void vc_cm_close(struct vc_target *t);
/* What the operation `listen` does, for who knows already whether it is about datagrams. */
int vc_cm_listen(struct vc_target *t, int node, uint64_t service, uint64_t cookie, bool ud);
bool vc_cm_listens_ud(const struct vc_target *t, uint64_t cookie);
/* The service on the wire, the same on both sides. 0: there are too many in this script. */
uint64_t vc_cm_service(struct vc_cm *cm, uint64_t script, bool ud);

/* ---- verbs_cm_wire.c ---- */

/*
 * A frame of the peer in the words of rdma_cm, in `out` (of as many bytes). NULL, or what rdma_cm has no words for.
 */
const char *vc_cm_to_device(struct vc_target *t, const uint8_t *frame, size_t len, uint8_t *out);
/*
 * A frame of the device in those of the script. False: it belongs to an earlier run, or to none of a script that makes
 * no connections, and has been answered.
 */
bool vc_cm_to_script(struct vc_target *t, const uint8_t *frame, size_t len, uint8_t *out);
/* Connections have been left: says yes to their DREQs, for a moment. */
void vc_cm_part(struct vc_target *t);

#endif
