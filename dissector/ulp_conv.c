/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ulp_conv.c - the conversations by which upper-layer dissectors find out what connection a packet
 * belongs to: service id, direction, the peer's QP, the CM message with its private data.
 *
 * They look for two: one keyed by the receiver alone (address and QP), one keyed by both ends. Both
 * must carry data under the built-in protocol "infiniband". A conversation is made when the first
 * payload of a connection comes, with the very addresses of that packet, so that it is found
 * whatever addresses CM used; a QP's next connection gets new ones. One that another dissector made
 * for itself in the meantime would hide ours, hence both before the first call.
 */
#include "ulp.h"

#include <epan/dissectors/packet-infiniband.h>

static int proto_builtin = -1;

struct ulp_conv_data {
	uint64_t service_id;
	conversation_infiniband_data to[2]; /* by enum ulp_role: packets to that end */
};

void ulp_conv_handoff(void)
{
	proto_builtin = proto_get_id_by_filter_name("infiniband");
}

static struct ulp_conv_data *data_of(struct ulp_assoc *assoc, uint64_t service_id)
{
	struct ulp_conv_data *d = assoc->conv;

	if (d == NULL || d->service_id != service_id) {
		d = wmem_new0(wmem_file_scope(), struct ulp_conv_data);
		d->service_id = service_id;
		for (int role = 0; role < 2; role++) {
			d->to[role].service_id = service_id;
			d->to[role].client_to_server = role == ULP_SERVER;
			memcpy(d->to[role].mad_private_data, assoc->end[role].mad,
			       MIN(sizeof(d->to[role].mad_private_data), sizeof(assoc->end[role].mad)));
		}
		assoc->conv = d;
	}
	d->to[ULP_CLIENT].src_qp = assoc->end[ULP_SERVER].qp;
	d->to[ULP_SERVER].src_qp = assoc->end[ULP_CLIENT].qp;
	return d;
}

/* A conversation with these ends that carries `data`: the one that stands, or a new one from here on. */
static void ensure(const packet_info *pinfo, const address *a, const address *b, uint32_t port_a, uint32_t port_b,
		   bool receiver_only, conversation_infiniband_data *data)
{
	const unsigned open = receiver_only ? NO_ADDR2 | NO_PORT2 : 0;
	conversation_t *conv = find_conversation(pinfo->num, a, b, CONVERSATION_IBQP, port_a, port_b,
						 receiver_only ? NO_ADDR_B | NO_PORT_B : 0);

	/* A search for both ends may come back with the conversation of one. */
	if (conv != NULL && (conv->options & (NO_ADDR2 | NO_PORT2)) == open &&
	    conversation_get_proto_data(conv, proto_builtin) == data)
		return;
	conv = conversation_new(pinfo->num, a, b, CONVERSATION_IBQP, port_a, port_b, open);
	conversation_add_proto_data(conv, proto_builtin, data);
}

void ulp_conv_ensure(packet_info *pinfo, const struct ulp_ref *ref, uint64_t service_id)
{
	struct ulp_conv_data *d;

	if (PINFO_FD_VISITED(pinfo) || proto_builtin < 0)
		return;
	d = data_of(ref->assoc, service_id);
	ensure(pinfo, &pinfo->dst, &pinfo->dst, pinfo->destport, pinfo->destport, true, &d->to[ref->to]);
	if (ref->assoc->end[!ref->to].qp_frame != 0)
		ensure(pinfo, &pinfo->src, &pinfo->src, pinfo->srcport, pinfo->srcport, true, &d->to[!ref->to]);
	/* One for both directions: which of the two data it has doesn't matter, but it must not change. */
	ensure(pinfo, &pinfo->src, &pinfo->dst, pinfo->srcport, pinfo->destport, false, &d->to[ULP_CLIENT]);
}

void ulp_conv_ensure_cm(packet_info *pinfo, struct ulp_assoc *assoc)
{
	struct ulp_conv_data *d;

	if (PINFO_FD_VISITED(pinfo) || proto_builtin < 0)
		return;
	d = data_of(assoc, assoc->service_id);
	ensure(pinfo, &pinfo->src, &pinfo->dst, pinfo->srcport, pinfo->destport, false, &d->to[ULP_SERVER]);
}
