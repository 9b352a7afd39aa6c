/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* mcast.c - multicast groups: which UD QPs of this device are attached to which MGID. */
#include "core.h"

struct vs_mcast_group *vs_mcast_find(struct vs_dev *dev, const uint8_t mgid[16])
{
	uint32_t i;

	for (i = 0; i < dev->attr.max_mcast_grp; i++)
		if (dev->mcast[i].count > 0 && memcmp(dev->mcast[i].mgid, mgid, sizeof(dev->mcast[i].mgid)) == 0)
			return &dev->mcast[i];
	return NULL;
}

static struct vs_mcast_group *find_free(struct vs_dev *dev)
{
	uint32_t i;

	for (i = 0; i < dev->attr.max_mcast_grp; i++)
		if (dev->mcast[i].count == 0)
			return &dev->mcast[i];
	return NULL;
}

static bool attached(const struct vs_mcast_group *g, const struct vs_qp *qp)
{
	uint32_t i;

	for (i = 0; i < g->count; i++)
		if (g->qp[i] == qp)
			return true;
	return false;
}

int vs_qp_attach_mcast(struct vs_qp *qp, const uint8_t mgid[16], uint16_t mlid)
{
	struct vs_dev *dev = qp->dev;
	struct vs_mcast_group *g = vs_mcast_find(dev, mgid);

	(void)mlid; /* RoCE has none; on native IB the switch is the simulation's business */
	if (qp->type != VS_QPT_UD && !VS_DEVIATES(dev, MCAST_ANY_QP))
		return vs_refuse(dev, VS_ERR_INVAL, VS_REASON_MCAST_QP_TYPE);
	if (!vs_gid_is_mcast(mgid))
		return vs_refuse(dev, VS_ERR_INVAL, VS_REASON_MCAST_GID);
	if (g != NULL && attached(g, qp))
		return VS_OK;
	if (g == NULL) {
		g = find_free(dev);
		if (g == NULL)
			return vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_MCAST);
		memcpy(g->mgid, mgid, sizeof(g->mgid));
	}
	if (g->count == dev->attr.max_mcast_qp_attach)
		return vs_refuse(dev, VS_ERR_NOSPACE, VS_REASON_LIMIT_MCAST);
	g->qp[g->count++] = qp;
	qp->mcast_groups++;
	return VS_OK;
}

static bool detach(struct vs_mcast_group *g, struct vs_qp *qp)
{
	uint32_t i;

	for (i = 0; i < g->count; i++) {
		if (g->qp[i] != qp)
			continue;
		memmove(&g->qp[i], &g->qp[i + 1], (g->count - i - 1) * sizeof(struct vs_qp *));
		g->count--;
		qp->mcast_groups--;
		return true;
	}
	return false;
}

int vs_qp_detach_mcast(struct vs_qp *qp, const uint8_t mgid[16], uint16_t mlid)
{
	struct vs_mcast_group *g = vs_mcast_find(qp->dev, mgid);

	(void)mlid;
	if (g == NULL || !detach(g, qp))
		return vs_refuse(qp->dev, VS_ERR_INVAL, VS_REASON_MCAST_GID);
	return VS_OK;
}
