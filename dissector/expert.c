/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expert.c - broken rules as expert items.
 *
 * One expert field per row of reasons.def, named rdma.reason.<id>, so that the plugin, the library
 * and every other tool give the same name and the same sentence to the same fault. The header that
 * a rule is about follows from the first word of its id.
 */
#include "rdma.h"

static expert_field ei_reason[VS_REASON_WIRE_LAST + 1];
static uint8_t place_of[VS_REASON_WIRE_LAST + 1]; /* enum rdma_place */

#define RDMA_SEV_NOTE PI_NOTE
#define RDMA_SEV_WARN PI_WARN
#define RDMA_SEV_ERROR PI_ERROR

/* The group is set when registering: it follows from the id. */
#define VS_REASON(ID, id, severity, clause, sentence) \
	{&ei_reason[VS_REASON_##ID], {"rdma.reason." id, PI_PROTOCOL, RDMA_SEV_##severity, sentence, EXPFILL}},
#define VS_ENGINE_REASON(ID, id, severity, clause, sentence) /* the engine's own: never in a packet */
static ei_register_info ei[] = {
#include "reasons.def"
};

static const struct {
	const char *prefix;
	enum rdma_place place;
} places[] = {
	{"lrh_", RDMA_AT_LRH},       {"grh_", RDMA_AT_GRH},         {"bth_", RDMA_AT_BTH},
	{"pad_", RDMA_AT_PAD},       {"payload_", RDMA_AT_PAYLOAD}, {"pkt_align", RDMA_AT_PAYLOAD},
	{"reth_", RDMA_AT_RETH},     {"aeth_", RDMA_AT_AETH},       {"atomic_", RDMA_AT_ATOMICETH},
	{"deth_", RDMA_AT_DETH},     {"ud_", RDMA_AT_DETH},         {"rdeth_", RDMA_AT_RDETH},
	{"xrceth_", RDMA_AT_XRCETH}, {"feth_", RDMA_AT_FETH},       {"cnp_", RDMA_AT_PAYLOAD},
	{"mad_", RDMA_AT_PAYLOAD},
};

static enum rdma_place place_by_id(const char *id)
{
	for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
		if (strncmp(id, places[i].prefix, strlen(places[i].prefix)) == 0)
			return places[i].place;
	return RDMA_AT_ROOT; /* IP, UDP, CRCs and the packet as a whole */
}

static int group_by_id(const char *id)
{
	if (strstr(id, "crc_bad") != NULL || strstr(id, "_csum") != NULL)
		return PI_CHECKSUM;
	if (strcmp(id, "ip_ecn_ce") == 0)
		return PI_SEQUENCE;
	return PI_PROTOCOL;
}

void rdma_expert_register(int proto)
{
	for (int r = VS_REASON_NONE + 1; r <= VS_REASON_WIRE_LAST; r++) {
		const char *id = vs_reason_info((enum vs_reason)r)->id;

		place_of[r] = (uint8_t)place_by_id(id);
		ei[r - 1].eiinfo.group = group_by_id(id);
	}
	expert_register_field_array(expert_register_protocol(proto), ei, G_N_ELEMENTS(ei));
}

void rdma_expert_reason(struct rdma_ctx *c, proto_item *item, enum vs_reason r)
{
	if (r > VS_REASON_NONE && r <= VS_REASON_WIRE_LAST)
		expert_add_info(c->pinfo, item != NULL ? item : c->item, &ei_reason[r]);
}

void rdma_expert_at(struct rdma_ctx *c, enum vs_reason r)
{
	if (r > VS_REASON_NONE && r <= VS_REASON_WIRE_LAST)
		rdma_expert_reason(c, c->at[place_of[r]], r);
}
