/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ah.c - address vectors and address handles.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/ref.h"

/* As the kernel and devices: the bits that the field does not have are not looked at, and UCX leaves some there. */
#define FLOW_LABEL_BITS 0xfffffu

#define VERSION_IPV6 6u

void ref_av(struct vs_av *av, const struct ibv_ah_attr *a)
{
	*av = (struct vs_av){.is_global = a->is_global != 0,
			     .sgid_index = a->grh.sgid_index,
			     .flow_label = a->grh.flow_label & FLOW_LABEL_BITS,
			     .hop_limit = a->grh.hop_limit,
			     .traffic_class = a->grh.traffic_class,
			     .dlid = a->dlid,
			     .sl = a->sl,
			     .src_path_bits = a->src_path_bits,
			     .port = a->port_num};
	memcpy(av->dgid, a->grh.dgid.raw, 16);
}

void ref_ah_attr(struct ibv_ah_attr *a, const struct vs_av *av)
{
	memset(a, 0, sizeof(*a));
	memcpy(a->grh.dgid.raw, av->dgid, 16);
	a->grh.sgid_index = av->sgid_index;
	a->grh.flow_label = av->flow_label;
	a->grh.hop_limit = av->hop_limit;
	a->grh.traffic_class = av->traffic_class;
	a->dlid = av->dlid;
	a->sl = av->sl;
	a->src_path_bits = av->src_path_bits;
	a->is_global = av->is_global;
	a->port_num = av->port;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ref_ah *ah = calloc(1, sizeof(*ah));
	struct vs_av av;
	int err = VS_ERR_INVAL;

	if (ah == NULL || !ref_enter()) {
		free(ah);
		return NULL;
	}
	ref_av(&av, attr);
	ah->vs = vs_ah_create(ref_pd(pd)->vs, &av, &err);
	if (ah->vs == NULL)
		(void)ref_refuse(ref_pd(pd)->dev, "ibv_create_ah", err);
	ref_leave_quiet();
	if (ah->vs == NULL) {
		free(ah);
		return NULL;
	}
	ah->dev = ref_pd(pd)->dev;
	ah->ah.context = pd->context;
	ah->ah.pd = pd;
	return &ah->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	int rc;

	if (!ref_enter())
		return errno;
	rc = ref_error(ref_ah(ah)->dev, "ibv_destroy_ah", vs_ah_destroy(ref_ah(ah)->vs));
	ref_leave_quiet();
	if (rc == 0)
		free(ah);
	return rc;
}

/* ---- the way back to a sender ---- */

/* Index of one of the device's GIDs; -1. */
static int gid_index(const struct vs_dev *dev, const uint8_t gid[16])
{
	int found = -1;

	if (!ref_enter())
		return -1;
	for (int i = 0; i < VS_GID_TABLE_LEN && found < 0; i++) {
		const struct vs_gid_entry *e = &vs_dev_attr(dev)->gids[i];

		if (e->type != VS_GID_NONE && memcmp(e->gid, gid, 16) == 0)
			found = i;
	}
	ref_leave_quiet();
	return found;
}

static void map_ipv4(uint8_t gid[16], const uint8_t ip[4])
{
	memset(gid, 0, 10);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, ip, 4);
}

/* Sender and receiver of what a GRH area holds: a GRH or IPv6 header, or 20 bytes and an IPv4 header. */
static void read_grh(const struct ibv_grh *grh, struct ibv_ah_attr *a, uint8_t own[16])
{
	const uint8_t *b = (const uint8_t *)grh;
	uint32_t vtf = be32toh(grh->version_tclass_flow);

	a->grh.hop_limit = UINT8_MAX;
	if (vtf >> 28 == VERSION_IPV6) {
		memcpy(a->grh.dgid.raw, grh->sgid.raw, 16);
		memcpy(own, grh->dgid.raw, 16);
		a->grh.traffic_class = (uint8_t)(vtf >> 20);
		a->grh.flow_label = vtf & 0xfffff;
		return;
	}
	map_ipv4(a->grh.dgid.raw, b + 20 + 12);
	map_ipv4(own, b + 20 + 16);
	a->grh.traffic_class = b[20 + 1];
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc, struct ibv_grh *grh,
			struct ibv_ah_attr *ah_attr)
{
	uint8_t own[16];
	int index;

	memset(ah_attr, 0, sizeof(*ah_attr));
	ah_attr->dlid = wc->slid;
	ah_attr->sl = wc->sl;
	ah_attr->src_path_bits = wc->dlid_path_bits;
	ah_attr->port_num = port_num;
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	ah_attr->is_global = 1;
	read_grh(grh, ah_attr, own);
	index = gid_index(ref_dev(context), own);
	/* A multicast address is nobody's: the first address answers. */
	if (index < 0 && (own[0] == 0xff || (own[12] & 0xf0) == 0xe0))
		index = 0;
	if (index < 0) {
		errno = EINVAL;
		return -1;
	}
	ah_attr->grh.sgid_index = (uint8_t)index;
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attr;

	return ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) == 0 ? ibv_create_ah(pd, &attr) : NULL;
}

int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
				uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
	const struct vs_dev_attr *a;
	bool known;

	if (!ref_enter())
		return -1;
	a = vs_dev_attr(ref_dev(context));
	known = a->neighbour != NULL && a->neighbour(a->neighbour_ctx, attr->grh.dgid.raw, eth_mac);
	ref_leave_quiet();
	*vid = UINT16_MAX; /* no VLAN */
	if (!known)
		errno = EINVAL;
	return known ? 0 : -1;
}
