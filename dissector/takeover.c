/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * takeover.c - taking InfiniBand and RoCE over from the built-in dissector, and giving it back.
 *
 * Three things decide how (Wireshark's proto.c and packet-udp.c):
 *   - our handoff runs after the built-in's, so dissector_add_uint there replaces its entries and
 *     survives decode_clear_all(), which dissector_change_uint at that time would not;
 *   - UDP asks the lower of two ports first, so RoCE with a source port below 4791 would go to
 *     TFTP or whoever owns that port, unless the entry of 4791 counts as changed. It is changed
 *     to a second handle of the same dissector in an init routine, after preferences and the
 *     user's Decode As are in;
 *   - the built-in's preference callback deletes whatever stands at its port and adds itself
 *     again. The init routine puts us back where it finds nobody or the built-in as the default;
 *     anything else is the user's own Decode As and stays.
 * ERF type 25 (link packets: flow control, no IBA packet inside) stays with the built-in.
 */
#include "rdma.h"

#include <epan/exceptions.h>
#include <epan/range.h>
#include <wiretap/wtap.h>

#define ERF_TYPE_IB 21u

static rdma_pref_bool takeover_wanted = TRUE;
static bool takeover = true; /* wanted, and our protocol is not disabled */
static range_t *udp_ports;

static dissector_handle_t ours_lrh, ours_grh, ours_bth, ours_bth_first;
static dissector_handle_t builtin_lrh, builtin_grh, builtin_bth;
static dissector_table_t udp_table;
static range_t *ports_taken; /* where we stand now */

void rdma_takeover_register(module_t *module)
{
	range_convert_str(wmem_epan_scope(), &udp_ports, G_STRINGIFY(4791), UINT16_MAX);
	prefs_register_bool_preference(module, "takeover", "Decode InfiniBand and RoCE with this plugin",
				       "Take UDP port 4791, ethertype 0x8915 and ERF InfiniBand over from Wireshark's "
				       "own InfiniBand dissector. Off gives them back.",
				       &takeover_wanted);
	prefs_register_range_preference(module, "udp.ports", "RoCEv2 UDP destination ports",
					"UDP destination ports that are decoded as RoCEv2 (the assigned one is 4791)",
					&udp_ports, UINT16_MAX);
}

/* ---- the fixed entries: one key, one handle of ours, one of the built-in ---- */

static void entry_set(const char *table, uint32_t key, dissector_handle_t ours, dissector_handle_t theirs)
{
	dissector_handle_t standing = dissector_get_default_uint_handle(table, key);

	if (takeover && standing != ours && (standing == NULL || standing == theirs))
		dissector_add_uint(table, key, ours);
	else if (!takeover && standing == ours && theirs != NULL)
		dissector_add_uint(table, key, theirs);
}

/* ---- UDP ports ---- */

/* Whether the user (or another plugin) has put somebody at `port` by Decode As. */
static bool port_is_users(uint32_t port)
{
	dissector_handle_t now = dissector_get_uint_handle(udp_table, port);

	return dissector_is_uint_changed(udp_table, port) && now != ours_bth_first;
}

static void port_take(uint32_t port, void *unused _U_)
{
	dissector_handle_t standing;

	if (port == 0 || port_is_users(port))
		return;
	standing = dissector_get_default_uint_handle("udp.port", port);
	if (standing != ours_bth)
		dissector_add_uint("udp.port", port, ours_bth);
	dissector_change_uint("udp.port", port, ours_bth_first);
}

static void port_release(uint32_t port, void *unused _U_)
{
	if (port == 0)
		return;
	if (dissector_get_uint_handle(udp_table, port) == ours_bth_first)
		dissector_reset_uint("udp.port", port);
	if (dissector_get_default_uint_handle("udp.port", port) != ours_bth)
		return;
	if (port == VS_UDP_PORT_ROCE && builtin_bth != NULL)
		dissector_add_uint("udp.port", port, builtin_bth);
	else
		dissector_delete_uint("udp.port", port, ours_bth);
}

void rdma_takeover_apply(void)
{
	if (udp_table == NULL)
		return;
	takeover = takeover_wanted && proto_is_protocol_enabled(find_protocol_by_id(proto_rdma));
	if (ports_taken != NULL && (!takeover || !ranges_are_equal(ports_taken, udp_ports))) {
		range_foreach(ports_taken, port_release, NULL);
		wmem_free(wmem_epan_scope(), ports_taken);
		ports_taken = NULL;
	}
	if (takeover) {
		range_foreach(udp_ports, port_take, NULL);
		if (ports_taken == NULL)
			ports_taken = range_copy(wmem_epan_scope(), udp_ports);
	}
	entry_set("ethertype", VS_ETHERTYPE_ROCEV1, ours_grh, builtin_grh);
	entry_set("erf.types.type", ERF_TYPE_IB, ours_lrh, builtin_lrh);
	entry_set("wtap_encap", WTAP_ENCAP_INFINIBAND, ours_lrh, builtin_lrh);
}

bool rdma_takeover_has_port(uint32_t port)
{
	return ports_taken != NULL && value_is_in_range(ports_taken, port);
}

bool rdma_takeover_is_users_port(uint32_t port)
{
	return dissector_is_uint_changed(udp_table, port) && !rdma_takeover_has_port(port);
}

bool rdma_takeover_has_owner(uint32_t port)
{
	return dissector_get_uint_handle(udp_table, port) != NULL;
}

void rdma_takeover_handoff(dissector_t lrh, dissector_t grh, dissector_t bth)
{
	static const char rocev2_name[] = "RoCEv2 (Verbscope)";

	udp_table = find_dissector_table("udp.port");
	builtin_lrh = find_dissector("infiniband");
	builtin_grh = dissector_get_default_uint_handle("ethertype", VS_ETHERTYPE_ROCEV1);
	builtin_bth = dissector_get_default_uint_handle("udp.port", VS_UDP_PORT_ROCE);

	ours_lrh = register_dissector_with_description("rdma", "InfiniBand (Verbscope)", lrh, proto_rdma);
	ours_grh = register_dissector_with_description("rdma.rocev1", "RoCEv1 (Verbscope)", grh, proto_rdma);
	ours_bth = register_dissector_with_description("rdma.rocev2", rocev2_name, bth, proto_rdma);
	/* The same description: what Decode As saves under it is found again. */
	ours_bth_first = create_dissector_handle_with_name_and_description(bth, proto_rdma, NULL, rocev2_name);

	/* The init routine completes this for UDP; see above. */
	dissector_add_uint("udp.port", VS_UDP_PORT_ROCE, ours_bth);
	dissector_add_for_decode_as("ip.proto", ours_bth);
	rdma_takeover_apply();
	register_init_routine(rdma_takeover_apply);
}

static dissector_handle_t builtin_for(const struct rdma_ctx *c)
{
	return c->start == RDMA_START_LRH ? builtin_lrh : c->start == RDMA_START_GRH ? builtin_grh : builtin_bth;
}

bool rdma_builtin_dissect(struct rdma_ctx *c)
{
	packet_info *pinfo = c->pinfo;
	address src = pinfo->src, dst = pinfo->dst;
	port_type ptype = pinfo->ptype;
	uint32_t srcport = pinfo->srcport, destport = pinfo->destport;
	volatile int taken = 0;

	if (builtin_for(c) == NULL)
		return false;
	TRY
	{
		taken = call_dissector_only(builtin_for(c), c->tvb, pinfo, c->top_tree, NULL);
	}
	FINALLY
	{
		pinfo->src = src;
		pinfo->dst = dst;
		pinfo->ptype = ptype;
		pinfo->srcport = srcport;
		pinfo->destport = destport;
	}
	ENDTRY;
	return taken > 0;
}
