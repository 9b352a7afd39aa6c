/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * gid.c - the port: attributes, GIDs (one per own address, RoCEv2), the P_Key table.
 */
#include <endian.h>
#include <net/if.h>
#include <string.h>

#include "verbs/identity.h"
#include "verbs/ref.h"

#undef ibv_query_port /* a macro that calls the operation; the symbol is for old programs, with a shorter struct */

#define SHORT_PORT_ATTR offsetof(struct ibv_port_attr, port_cap_flags2)
#define PHYS_LINK_DOWN 3
#define PHYS_LINK_UP 5
#define WIDTH_4X 2
#define SPEED_10G 4

static void fill_port(const struct vs_dev *dev, struct ibv_port_attr *p)
{
	const struct vs_dev_attr *a = vs_dev_attr(dev);

	memset(p, 0, sizeof(*p));
	p->state = ref.link_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
	p->max_mtu = IBV_MTU_4096;
	p->active_mtu = (enum ibv_mtu)a->active_mtu;
	p->gid_tbl_len = VS_GID_TABLE_LEN;
	p->port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
	p->max_msg_sz = 0x80000000u;
	p->bad_pkey_cntr = (uint32_t)vs_dev_counter(dev, VS_CNT_BAD_PKEY);
	p->qkey_viol_cntr = (uint32_t)vs_dev_counter(dev, VS_CNT_QKEY_VIOL);
	do
		p->pkey_tbl_len++;
	while (p->pkey_tbl_len < VS_PKEY_TABLE_LEN && a->pkeys[p->pkey_tbl_len] != 0);
	p->max_vl_num = 1;
	p->active_width = WIDTH_4X;
	p->active_speed = SPEED_10G;
	p->phys_state = ref.link_down ? PHYS_LINK_DOWN : PHYS_LINK_UP;
	p->link_layer = IBV_LINK_LAYER_ETHERNET;
	p->flags = IBV_QPF_GRH_REQUIRED;
}

int ref_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	struct ibv_port_attr full;

	if (port != 1)
		return EINVAL;
	if (!ref_enter())
		return errno;
	fill_port(ref_dev(context), &full);
	ref_leave_quiet();
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *port_attr)
{
	return ref_query_port(context, port_num, (struct ibv_port_attr *)(void *)port_attr, SHORT_PORT_ATTR);
}

/* 0 and the entry; ENODATA for an empty place; EINVAL outside the table. */
static int read_gid(struct ibv_context *context, uint32_t port, uint32_t index, struct vs_gid_entry *e)
{
	memset(e, 0, sizeof(*e));
	if (port != 1 || index >= VS_GID_TABLE_LEN)
		return EINVAL;
	if (!ref_enter())
		return EIO;
	*e = vs_dev_attr(ref_dev(context))->gids[index];
	ref_leave_quiet();
	return e->type == VS_GID_NONE ? ENODATA : 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	struct vs_gid_entry e;
	int rc = read_gid(context, port_num, (uint32_t)index, &e);

	if (rc == ENODATA) /* an empty place reads as zeroes */
		memset(gid, 0, sizeof(*gid));
	else if (rc == 0)
		memcpy(gid, e.gid, 16);
	if (rc == 0 || rc == ENODATA)
		return 0;
	errno = rc;
	return -1;
}

static uint32_t type_of(const struct vs_gid_entry *e)
{
	return e->type == VS_GID_ROCEV2 ? IBV_GID_TYPE_ROCE_V2
	       : e->type == VS_GID_IB   ? IBV_GID_TYPE_IB
					: IBV_GID_TYPE_ROCE_V1;
}

static void fill_entry(struct ibv_gid_entry *out, uint32_t index, const struct vs_gid_entry *e)
{
	char name[IF_NAMESIZE];

	memset(out, 0, sizeof(*out));
	memcpy(out->gid.raw, e->gid, 16);
	out->gid_index = index;
	out->port_num = 1;
	out->gid_type = type_of(e);
	ref_interface_of(e->gid, name);
	out->ndev_ifindex = if_nametoindex(name);
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t entry_size)
{
	struct ibv_gid_entry full;
	struct vs_gid_entry e;
	int rc = flags != 0 ? EINVAL : read_gid(context, port_num, gid_index, &e);

	if (rc != 0)
		return rc;
	fill_entry(&full, gid_index, &e);
	memcpy(entry, &full, entry_size < sizeof(full) ? entry_size : sizeof(full));
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags, size_t entry_size)
{
	size_t n = 0;

	if (flags != 0)
		return -EINVAL;
	for (uint32_t i = 0; i < VS_GID_TABLE_LEN; i++) {
		struct ibv_gid_entry full;
		struct vs_gid_entry e;

		if (read_gid(context, 1, i, &e) != 0)
			continue;
		if (n == max_entries)
			return -EINVAL;
		fill_entry(&full, i, &e);
		memcpy((char *)entries + n * entry_size, &full, entry_size < sizeof(full) ? entry_size : sizeof(full));
		n++;
	}
	return (ssize_t)n;
}

/* Private to rdma-core, but ibv_devinfo and pyverbs call it: 0 IB or RoCEv1, 1 RoCEv2. */
__attribute__((visibility("default"))) int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num,
							      unsigned int index, unsigned int *type);
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index, unsigned int *type)
{
	struct vs_gid_entry e;
	int rc = read_gid(context, port_num, index, &e);

	if (rc == ENODATA) {
		*type = 0;
		return 0;
	}
	if (rc != 0) {
		errno = rc;
		return -1;
	}
	*type = e.type == VS_GID_ROCEV2;
	return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	if (port_num != 1 || index < 0 || index >= VS_PKEY_TABLE_LEN) {
		errno = EINVAL;
		return -1;
	}
	if (!ref_enter())
		return -1;
	*pkey = htobe16(vs_dev_attr(ref_dev(context))->pkeys[index]);
	ref_leave_quiet();
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	for (int i = 0; i < VS_PKEY_TABLE_LEN; i++) {
		__be16 here;

		if (ibv_query_pkey(context, port_num, i, &here) != 0)
			return -1;
		if (here == pkey)
			return i;
	}
	errno = ENOENT;
	return -1;
}
