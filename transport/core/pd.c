/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pd.c - protection domains, address handles, and what makes an address vector usable.
 */
#include "core.h"

struct vs_pd *vs_pd_create(struct vs_dev *dev, int *err)
{
	const uint64_t made[] = {0};
	struct vs_pd *pd = NULL;

	if (dev->n_pd < dev->attr.max_pd)
		pd = vs_alloc(dev, sizeof(*pd));
	if (pd == NULL) {
		*err = vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_PD);
		return NULL;
	}
	pd->dev = dev;
	vs_list_init(&pd->link);
	vs_list_add_tail(&dev->pds, &pd->link);
	dev->n_pd++;
	vs_ev(dev, VS_EV_DEV_ALLOC_PD, NULL, 0, 1, made);
	*err = VS_OK;
	return pd;
}

void vs_pd_free(struct vs_pd *pd)
{
	struct vs_dev *dev = pd->dev;

	vs_list_del(&pd->link);
	dev->n_pd--;
	vs_free(dev, pd, sizeof(*pd));
}

int vs_pd_destroy(struct vs_pd *pd)
{
	int rc = pd->users > 0 ? vs_refuse(pd->dev, VS_ERR_BUSY, VS_REASON_IN_USE) : VS_OK;
	const uint64_t a[] = {(uint64_t)(int64_t)rc};

	vs_ev(pd->dev, VS_EV_DEV_DEALLOC_PD, NULL, 0, 1, a);
	if (rc == VS_OK)
		vs_pd_free(pd);
	return rc;
}

static bool is_zero(const uint8_t *p, size_t n)
{
	while (n > 0 && *p == 0) {
		p++;
		n--;
	}
	return n == 0;
}

/* 01:00:5e for IPv4 groups (::ffff:224.0.0.0/4), 33:33 for ff00::/8; false: no multicast GID. */
static bool mcast_mac(const uint8_t gid[16], uint8_t mac[6])
{
	static const uint8_t v4mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	if (gid[0] == 0xff) {
		mac[0] = mac[1] = 0x33;
		memcpy(mac + 2, gid + 12, 4);
		return true;
	}
	if (memcmp(gid, v4mapped, sizeof(v4mapped)) != 0 || (gid[12] & 0xf0) != 0xe0)
		return false;
	mac[0] = 0x01;
	mac[1] = 0x00;
	mac[2] = 0x5e;
	mac[3] = gid[13] & 0x7f;
	mac[4] = gid[14];
	mac[5] = gid[15];
	return true;
}

bool vs_gid_is_mcast(const uint8_t gid[16])
{
	uint8_t mac[6];

	return mcast_mac(gid, mac);
}

enum vs_reason vs_av_resolve(struct vs_dev *dev, struct vs_av *av)
{
	bool ethernet = dev->attr.link_layer == VS_LL_ETHERNET;

	if (av->port != 1)
		return VS_REASON_PORT_NUM;
	if (av->sl > (ethernet ? 7 : 15))
		return VS_REASON_AV_SL;
	if (av->flow_label > 0xfffff || (av->has_vlan && av->vlan_id > 0xfff))
		return VS_REASON_AV_RANGE;
	if (!av->is_global)
		return ethernet ? VS_REASON_AV_NOT_GLOBAL : VS_REASON_NONE;
	if (av->sgid_index >= VS_GID_TABLE_LEN || dev->attr.gids[av->sgid_index].type == VS_GID_NONE)
		return VS_REASON_GID_INDEX;
	if (is_zero(av->dgid, sizeof(av->dgid)))
		return VS_REASON_AV_DGID;
	if (!ethernet || !is_zero(av->dmac, sizeof(av->dmac)) || mcast_mac(av->dgid, av->dmac))
		return VS_REASON_NONE;
	if (dev->attr.neighbour == NULL || !dev->attr.neighbour(dev->attr.neighbour_ctx, av->dgid, av->dmac))
		return VS_REASON_AV_NEIGHBOUR;
	return VS_REASON_NONE;
}

struct vs_ah *vs_ah_create(struct vs_pd *pd, const struct vs_av *av, int *err)
{
	struct vs_dev *dev = pd->dev;
	struct vs_av resolved = *av;
	enum vs_reason r = vs_av_resolve(dev, &resolved);
	struct vs_ah *ah;

	if (r == VS_REASON_NONE && VS_DEVIATES(dev, AH_ROCEV1_REFUSED) && resolved.is_global &&
	    dev->attr.gids[resolved.sgid_index].type == VS_GID_ROCEV1)
		r = VS_REASON_AV_NEIGHBOUR;
	if (r != VS_REASON_NONE) {
		*err = vs_refuse(dev, VS_ERR_INVAL, r);
		return NULL;
	}
	ah = dev->n_ah < dev->attr.max_ah ? vs_alloc(dev, sizeof(*ah)) : NULL;
	if (ah == NULL) {
		*err = vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_AH);
		return NULL;
	}
	ah->dev = dev;
	ah->pd = pd;
	ah->av = resolved;
	vs_list_init(&ah->link);
	vs_list_add_tail(&dev->ahs, &ah->link);
	dev->n_ah++;
	pd->users++;
	*err = VS_OK;
	return ah;
}

void vs_ah_free(struct vs_ah *ah)
{
	struct vs_dev *dev = ah->dev;

	ah->pd->users--;
	dev->n_ah--;
	vs_list_del(&ah->link);
	vs_free(dev, ah, sizeof(*ah));
}

int vs_ah_destroy(struct vs_ah *ah)
{
	vs_ah_free(ah);
	return VS_OK;
}
