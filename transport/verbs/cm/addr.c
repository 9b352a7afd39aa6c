/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * addr.c - IP addresses and ports. An address is one of this process's if it is one of the device's GIDs. Resolving
 * needs no ARP and no subnet manager: every address of RoCE is its own GID, so the events follow at once.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/cm/cm.h"

#define FIRST_PORT 32768u /* as Linux: net.ipv4.ip_local_port_range */
#define PORTS 28232u
#define RESOLVE_NS 20000000
#define BURST_NS 500000u

struct sockaddr *cm_src(struct cm_id *id)
{
	return &id->id.route.addr.src_addr;
}

struct sockaddr *cm_dst(struct cm_id *id)
{
	return &id->id.route.addr.dst_addr;
}

socklen_t cm_addr_len(const struct sockaddr *a)
{
	return a->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
	       : a->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					  : 0;
}

static const struct sockaddr_in *in4(const struct sockaddr *a)
{
	return (const struct sockaddr_in *)(const void *)a;
}

static const struct sockaddr_in6 *in6(const struct sockaddr *a)
{
	return (const struct sockaddr_in6 *)(const void *)a;
}

uint16_t cm_port(const struct sockaddr *a)
{
	return ntohs(a->sa_family == AF_INET6 ? in6(a)->sin6_port : in4(a)->sin_port);
}

static void set_port(struct sockaddr *a, uint16_t port)
{
	if (a->sa_family == AF_INET6)
		((struct sockaddr_in6 *)(void *)a)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)(void *)a)->sin_port = htons(port);
}

bool cm_is_any(const struct sockaddr *a)
{
	return a->sa_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&in6(a)->sin6_addr) : in4(a)->sin_addr.s_addr == 0;
}

void cm_gid_of(uint8_t gid[16], const struct sockaddr *a)
{
	if (a->sa_family == AF_INET6) {
		memcpy(gid, &in6(a)->sin6_addr, 16);
		return;
	}
	memset(gid, 0, 10);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, &in4(a)->sin_addr, 4);
}

bool cm_is_v4(const uint8_t gid[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid, mapped, sizeof(mapped)) == 0;
}

void cm_addr_of(struct sockaddr_storage *a, const uint8_t gid[16], uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (cm_is_v4(gid)) {
		a->ss_family = AF_INET;
		memcpy(&((struct sockaddr_in *)(void *)a)->sin_addr, gid + 12, 4);
	} else {
		a->ss_family = AF_INET6;
		memcpy(&((struct sockaddr_in6 *)(void *)a)->sin6_addr, gid, 16);
	}
	set_port((struct sockaddr *)(void *)a, port);
}

uint64_t cm_service_id(const struct cm_id *id, const struct sockaddr *a)
{
	return (uint64_t)id->id.ps << 16 | cm_port(a);
}

/* ---- this process's addresses ---- */

/* One of the addresses: entry `index` of a device's GID table. */
struct place {
	struct cm_device *dev; /* NULL: there is none */
	int index;
};

static const uint8_t *gid_at(const struct place *p)
{
	return cm_dev_attr(p->dev)->gids[p->index].gid;
}

/* Inside: index of the GID that is `gid`, or, with NULL, of the first of that family; -1. */
static int find_gid(const struct cm_device *dev, const uint8_t *gid, bool v4)
{
	const struct vs_dev_attr *a = cm_dev_attr(dev);

	for (int i = 0; i < VS_GID_TABLE_LEN; i++) {
		const struct vs_gid_entry *e = &a->gids[i];

		if (e->type != VS_GID_NONE && cm_is_v4(e->gid) == v4 && (gid == NULL || memcmp(e->gid, gid, 16) == 0))
			return i;
	}
	return -1;
}

/* Inside: the place of a GID, or, with NULL, the first of that family on a device other than `not_on`. */
static struct place find(const uint8_t *gid, bool v4, const struct cm_device *not_on)
{
	struct place p = {.dev = NULL};

	for (int i = 0; i < cm.n_devices && p.dev == NULL; i++) {
		p.index = find_gid(&cm.device[i], gid, v4);
		if (p.index >= 0 && &cm.device[i] != not_on)
			p.dev = &cm.device[i];
	}
	return p;
}

bool cm_is_own(const uint8_t gid[16])
{
	return find(gid, cm_is_v4(gid), NULL).dev != NULL;
}

void cm_acquire(struct cm_id *id)
{
	struct rdma_addr *a = &id->id.route.addr;

	id->id.verbs = id->dev->context;
	id->id.port_num = 1;
	if (id->id.pd == NULL)
		id->id.pd = id->dev->pd;
	a->addr.ibaddr.pkey = htons(0xffff);
	cm_gid_of(a->addr.ibaddr.sgid.raw, &a->src_addr);
	if (a->dst_addr.sa_family != 0)
		cm_gid_of(a->addr.ibaddr.dgid.raw, &a->dst_addr);
}

/* ---- ports ---- */

/* Inside: may `id` have this port on the address that it has? */
static bool port_is_free(struct cm_id *id, uint16_t port)
{
	const struct sockaddr *own = cm_src(id);
	uint8_t a[16], b[16];

	cm_gid_of(a, own);
	for (struct cm_id *o = cm.ids; o != NULL; o = o->next) {
		const struct sockaddr *his = cm_src(o);

		if (o == id || o->id.ps != id->id.ps || his->sa_family == 0 || cm_port(his) != port)
			continue;
		if (o->reuse && id->reuse && o->service == NULL)
			continue;
		if (o->conn != NULL &&
		    !o->active) /* of a request: the listener's port, which another may listen on later */
			continue;
		cm_gid_of(b, his);
		if (his->sa_family == own->sa_family
			    ? cm_is_any(his) || cm_is_any(own) || memcmp(a, b, 16) == 0
			    : (cm_is_any(his) && his->sa_family == AF_INET6 && !o->v6_only) ||
				      (cm_is_any(own) && own->sa_family == AF_INET6 && !id->v6_only))
			return false;
	}
	return true;
}

/* Inside: the wanted port, or any; an errno. */
static int take_port(struct cm_id *id)
{
	uint16_t port = cm_port(cm_src(id));
	unsigned start;

	if (port != 0)
		return port_is_free(id, port) ? 0 : EADDRINUSE;
	start = (unsigned)(cm.link->random() % PORTS);
	for (unsigned i = 0; i < PORTS; i++) {
		port = (uint16_t)(FIRST_PORT + (start + i) % PORTS);
		if (port_is_free(id, port)) {
			set_port(cm_src(id), port);
			return 0;
		}
	}
	return EADDRNOTAVAIL;
}

/* The loopback address: whoever names it means this host, whatever address the process has. */
static bool is_loopback(const uint8_t gid[16])
{
	static const uint8_t v4[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}, v6[16] = {[15] = 1};

	return memcmp(gid, v4, 16) == 0 || memcmp(gid, v6, 16) == 0;
}

/*
 * Inside: which of the own addresses an address means. As Linux binds the loopback address to any device, here it is
 * the first own address.
 */
static struct place find_address(const struct sockaddr *addr)
{
	uint8_t gid[16];
	struct place p;

	cm_gid_of(gid, addr);
	p = find(gid, cm_is_v4(gid), NULL);
	return p.dev == NULL && is_loopback(gid) ? find(NULL, cm_is_v4(gid), NULL) : p;
}

/* Inside: an errno. */
static int bind_to(struct cm_id *id, const struct sockaddr *addr)
{
	struct place p = {.dev = NULL};
	int rc;

	if (!cm_is_any(addr)) {
		p = find_address(addr);
		if (p.dev == NULL)
			return EADDRNOTAVAIL;
	}
	memcpy(cm_src(id), addr, cm_addr_len(addr));
	if (p.dev != NULL)
		cm_addr_of(&id->id.route.addr.src_storage, gid_at(&p), cm_port(addr));
	rc = take_port(id);
	if (rc != 0) {
		memset(&id->id.route.addr.src_storage, 0, sizeof(id->id.route.addr.src_storage));
		return rc;
	}
	if (p.dev != NULL) {
		id->dev = p.dev;
		id->sgid_index = (uint8_t)p.index;
		cm_acquire(id);
	}
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *rid, struct sockaddr *addr)
{
	struct cm_id *id = cm_id(rid);
	int rc;

	if (addr == NULL || cm_addr_len(addr) == 0)
		return cm_fail(EAFNOSUPPORT);
	if (!cm_enter())
		return -1;
	rc = cm_src(id)->sa_family != 0 ? EINVAL : bind_to(id, addr);
	cm_leave();
	return cm_fail(rc);
}

int cm_bind_any(struct cm_id *id, sa_family_t family)
{
	struct sockaddr_storage any;

	memset(&any, 0, sizeof(any));
	any.ss_family = family;
	return cm_src(id)->sa_family != 0 ? 0 : rdma_bind_addr(&id->id, (struct sockaddr *)(void *)&any);
}

/* ---- resolving ---- */

/* Inside: the own address from which `dst` is reached; an errno. The port of an earlier binding stays. */
static int choose_source(struct cm_id *id, const struct sockaddr *dst)
{
	struct sockaddr_storage own;
	uint8_t gid[16];
	uint16_t port = cm_src(id)->sa_family != 0 ? cm_port(cm_src(id)) : 0;
	struct place p;

	if (cm_src(id)->sa_family != 0 && !cm_is_any(cm_src(id)))
		return cm_src(id)->sa_family == dst->sa_family ? 0 : EINVAL;
	cm_gid_of(gid, dst);
	p = find(NULL, cm_is_v4(gid), NULL);
	/* To the address of one device from the other, if there is one. */
	if (p.dev != NULL && cm.n_devices > 1 && find_gid(p.dev, gid, cm_is_v4(gid)) >= 0)
		p = find(NULL, cm_is_v4(gid), p.dev);
	if (p.dev == NULL)
		return EADDRNOTAVAIL;
	cm_addr_of(&own, gid_at(&p), port);
	memset(&id->id.route.addr.src_storage, 0, sizeof(own));
	return bind_to(id, (const struct sockaddr *)(const void *)&own);
}

/* Inside: somebody has this address; on the simulated wire that is known, and a group is nobody's. */
static bool is_there(const struct cm_id *id, const struct sockaddr *dst)
{
	const struct vs_dev_attr *a = cm_dev_attr(id->dev);
	uint8_t gid[16], mac[6];

	cm_gid_of(gid, dst);
	return cm_is_any(dst) || gid[0] == 0xff || (cm_is_v4(gid) && gid[12] >> 4 == 0xe) || a->neighbour == NULL ||
	       a->neighbour(a->neighbour_ctx, gid, mac);
}

void cm_find_listener(struct cm_id *id)
{
	uint8_t gid[16];
	struct sockaddr_storage who;

	cm_gid_of(gid, cm_dst(id));
	id->to_this_host = id->to_this_host || is_loopback(gid);
	if (!id->to_this_host || !cm_host_find(cm_service_id(id, cm_dst(id)), gid))
		return;
	cm_addr_of(&who, gid, cm_port(cm_dst(id)));
	memcpy(cm_dst(id), &who, cm_addr_len(cm_dst(id)));
	cm_acquire(id);
}

/* Inside: on the simulated wire "this host" is where somebody listens; if nobody does, the first device. */
static void this_process(const struct cm_id *id, struct sockaddr_storage *dst)
{
	const struct sockaddr *d = (const struct sockaddr *)(const void *)dst;
	uint8_t gid[16];
	struct place p;

	cm_gid_of(gid, d);
	if (cm.n_devices < 2 || !(cm_is_any(d) || is_loopback(gid)))
		return;
	for (struct cm_id *o = cm.ids; o != NULL; o = o->next) {
		const struct sockaddr *his = cm_src(o);

		if (o->service == NULL || o->id.ps != id->id.ps || his->sa_family != d->sa_family ||
		    cm_port(his) != cm_port(d) || cm_is_any(his))
			continue;
		memcpy(dst, his, cm_addr_len(his));
		return;
	}
	p = find(NULL, d->sa_family == AF_INET, NULL);
	if (p.dev != NULL)
		cm_addr_of(dst, gid_at(&p), cm_port(d));
}

static int resolve(struct cm_id *id, const struct sockaddr *src, const struct sockaddr *wanted)
{
	struct sockaddr_storage to;
	const struct sockaddr *dst = (const struct sockaddr *)(const void *)&to;
	int rc = 0;

	if (id->conn != NULL || id->service != NULL)
		return EINVAL;
	memset(&to, 0, sizeof(to));
	memcpy(&to, wanted, cm_addr_len(wanted));
	this_process(id, &to);
	if (src != NULL && src->sa_family != 0 && cm_src(id)->sa_family == 0)
		rc = bind_to(id, src);
	if (rc == 0)
		rc = choose_source(id, dst);
	if (rc == 0 && !is_there(id, dst))
		rc = EHOSTUNREACH;
	if (rc != 0)
		return rc;
	memset(&id->id.route.addr.dst_storage, 0, sizeof(id->id.route.addr.dst_storage));
	memcpy(cm_dst(id), dst, cm_addr_len(dst));
	if (cm_is_any(dst)) { /* this host */
		struct sockaddr_storage self;

		cm_addr_of(&self, id->id.route.addr.addr.ibaddr.sgid.raw, cm_port(dst));
		memcpy(cm_dst(id), &self, cm_addr_len(dst));
	}
	cm_acquire(id);
	cm_find_listener(id);
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *rid, struct sockaddr *src_addr, struct sockaddr *dst_addr, int timeout_ms)
{
	struct cm_id *id = cm_id(rid);
	int rc;

	(void)timeout_ms;
	if (dst_addr == NULL || cm_addr_len(dst_addr) == 0 ||
	    (src_addr != NULL && src_addr->sa_family != 0 && cm_addr_len(src_addr) == 0))
		return cm_fail(EAFNOSUPPORT);
	if (!cm_enter())
		return -1;
	rc = resolve(id, src_addr, dst_addr);
	cm_leave();
	if (rc == EADDRNOTAVAIL && src_addr == NULL) /* no device leads there */
		return cm_tell(id, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
	if (rc == EHOSTUNREACH)
		return cm_tell(id, RDMA_CM_EVENT_ADDR_ERROR, -rc);
	return rc != 0 ? cm_fail(rc) : cm_tell(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
}

static int make_path_record(struct cm_id *id)
{
	const struct rdma_ib_addr *ib = &id->id.route.addr.addr.ibaddr;
	struct ibv_sa_path_rec *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return ENOMEM;
	p->sgid = ib->sgid;
	p->dgid = ib->dgid;
	p->pkey = ib->pkey;
	p->reversible = 1;
	p->numb_path = 1;
	p->hop_limit = 64;
	p->traffic_class = id->tos;
	p->mtu_selector = p->rate_selector = p->packet_life_time_selector = 2; /* exactly */
	p->mtu = (uint8_t)cm_dev_attr(id->dev)->active_mtu;
	p->rate = IBV_RATE_40_GBPS;
	p->packet_life_time = CM_ACK_TIMEOUT - 1;
	free(id->id.route.path_rec);
	id->id.route.path_rec = p;
	id->id.route.num_paths = 1;
	return 0;
}

/*
 * On a real device the way to a peer takes time, which programs count on: see host.c. On this host the listener itself
 * is waited for. Elsewhere time passes; many at once wait once.
 */
static void take_time(const struct sockaddr *dst)
{
	static _Atomic uint64_t last;

	if (dst->sa_family != 0 && cm_host_has(dst))
		return;
	if (cm.link->now() - last > BURST_NS)
		cm.link->sleep(RESOLVE_NS);
	last = cm.link->now();
}

int rdma_resolve_route(struct rdma_cm_id *rid, int timeout_ms)
{
	struct cm_id *id = cm_id(rid);
	int rc;

	(void)timeout_ms;
	take_time(cm_dst(id));
	if (!cm_enter())
		return -1;
	rc = rid->verbs == NULL || cm_dst(id)->sa_family == 0 ? EINVAL : make_path_record(id);
	id->resolved = rc == 0;
	cm_leave();
	return rc != 0 ? cm_fail(rc) : cm_tell(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

void cm_path(const struct cm_id *id, struct vs_av *av)
{
	*av = (struct vs_av){
		.is_global = true, .sgid_index = id->sgid_index, .hop_limit = 64, .traffic_class = id->tos, .port = 1};
	memcpy(av->dgid, id->id.route.addr.addr.ibaddr.dgid.raw, 16);
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return htons(cm_port(cm_src(cm_id(id))));
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return htons(cm_port(cm_dst(cm_id(id))));
}

/* ---- options ---- */

static int option_id(struct cm_id *id, int name, const void *value, size_t len)
{
	int on = 0;

	switch (name) {
	case RDMA_OPTION_ID_TOS:
		if (len != sizeof(uint8_t))
			return EINVAL;
		id->tos = *(const uint8_t *)value;
		return 0;
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		if (len != sizeof(uint8_t) || *(const uint8_t *)value > 31)
			return EINVAL;
		id->ack_timeout = *(const uint8_t *)value;
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
	case RDMA_OPTION_ID_AFONLY:
		if (len != sizeof(on) || id->id.qp != NULL)
			return EINVAL;
		memcpy(&on, value, sizeof(on));
		*(name == RDMA_OPTION_ID_AFONLY ? &id->v6_only : &id->reuse) = on != 0;
		return 0;
	default:
		return ENOSYS;
	}
}

int rdma_set_option(struct rdma_cm_id *rid, int level, int optname, void *optval, size_t optlen)
{
	int rc;

	if (level != RDMA_OPTION_ID) /* path records are for fabrics with a subnet manager */
		return cm_fail(ENOSYS);
	if (optval == NULL)
		return cm_fail(EINVAL);
	if (!cm_enter())
		return -1;
	rc = option_id(cm_id(rid), optname, optval, optlen);
	cm_leave();
	return cm_fail(rc);
}
