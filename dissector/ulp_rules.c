/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ulp_rules.c - the upper-layer protocols that Wireshark can decode on top of InfiniBand: what
 * speaks for them (service ids, a fitting header) and which heuristic dissector takes them.
 *
 * Ports are IANA's, or the ones that the Linux and Windows implementations listen on by default.
 * Where a dissector has a preference for its ports, that one decides.
 */
#include "ulp.h"

#include <epan/range.h>

#include "vs/cm.h"

/* IPoIB connected mode (RFC 4755, as Linux does it): the IETF's service ids, with the QPN of the UD QP. */
static bool service_is_ipoib(uint64_t service_id)
{
	return (service_id & UINT64_C(0xffffffffff000000)) == UINT64_C(0x1000000000000000);
}

/* Annex A4: SDP's own range; the port is in the low 16 bits. */
static bool service_is_sdp(uint64_t service_id)
{
	return (service_id & ~UINT64_C(0xffff)) == UINT64_C(0x10000);
}

/* In the order in which headers are tried. */
const struct ulp_rule ulp_rules[] = {
	{.name = "rpcordma",
	 .heur = "rpcrdma_infiniband",
	 .ports = {20049, 2050},
	 .fits = ulp_fit_rpcrdma,
	 .flags = ULP_RDMA | ULP_MULTI | ULP_PAD},
	{.name = "nvme-rdma",
	 .heur = "nvme_rdma",
	 .heur_cm = "nvme_rdma_cm_private",
	 .ports = {4420},
	 .pref_module = "nvme-rdma",
	 .pref_name = "subsystem_ports",
	 .fits = ulp_fit_nvme,
	 .flags = ULP_ALL | ULP_WHOLE},
	{.name = "iser",
	 .heur = "iser_infiniband",
	 .heur_cm = "iser_ib_private",
	 .ports = {3260},
	 .pref_module = "iser",
	 .pref_name = "target_ports",
	 .fits = ulp_fit_iser,
	 .flags = ULP_WHOLE},
	{.name = "smb_direct",
	 .heur = "smb_direct_infiniband",
	 .ports = {445, 5445},
	 .fits = ulp_fit_smbdirect,
	 .flags = ULP_WHOLE},
	{.name = "lnet", .heur = "lnet_ib", .heur_cm = "lnet_ib_cm_private", .ports = {987, 988}, .fits = ulp_fit_lnet},
	{.name = "smc", .heur = "smcr_infiniband", .fits = ulp_fit_smcr, .flags = ULP_APPENDS},
	{.name = "infiniband_sdp",
	 .heur = "sdp_infiniband",
	 .heur_cm = "sdp_ib_private",
	 .service = service_is_sdp,
	 .fits = ulp_fit_sdp,
	 .flags = ULP_APPENDS | ULP_WHOLE},
	{.name = "ethertype",
	 .heur = "eth_over_ib",
	 .service = service_is_ipoib,
	 .fits = ulp_fit_ether,
	 .flags = ULP_WHOLE},
	{.name = "infiniband.eoib", .heur = "mellanox_eoib", .fits = ulp_fit_eoib},
	{.name = "fcoib", .heur = "fc_infiniband", .fits = ulp_fit_fcoib},
	{.name = "drbd", .heur = "drbd_rdma", .fits = ulp_fit_drbd},
};

const unsigned ulp_rule_count = array_length(ulp_rules);

/* The user's own range of ports; NULL where the protocol has no such preference. */
static range_t *preferred_ports(const struct ulp_rule *r)
{
	module_t *module = r->pref_module != NULL ? prefs_find_module(r->pref_module) : NULL;

	if (module == NULL || prefs_find_preference(module, r->pref_name) == NULL)
		return NULL;
	return prefs_get_range_value(r->pref_module, r->pref_name);
}

static bool has_port(const struct ulp_rule *r, uint16_t port)
{
	range_t *range = preferred_ports(r);

	if (range != NULL)
		return value_is_in_range(range, port);
	for (size_t i = 0; i < array_length(r->ports) && r->ports[i] != 0; i++)
		if (r->ports[i] == port)
			return true;
	return false;
}

bool ulp_rule_has_service(const struct ulp_rule *r, uint64_t service_id)
{
	if (r->service != NULL && r->service(service_id))
		return true;
	return vs_rdmacm_is_service(service_id) && vs_rdmacm_port_space(service_id) == VS_RDMACM_PS_TCP &&
	       has_port(r, vs_rdmacm_port(service_id));
}

const struct ulp_rule *ulp_rule_by_service(uint64_t service_id)
{
	for (unsigned i = 0; i < ulp_rule_count; i++)
		if (ulp_rule_has_service(&ulp_rules[i], service_id))
			return &ulp_rules[i];
	return NULL;
}

const struct ulp_rule *ulp_rule_by_name(const char *name, size_t len)
{
	for (unsigned i = 0; i < ulp_rule_count; i++)
		if (strlen(ulp_rules[i].name) == len && g_ascii_strncasecmp(ulp_rules[i].name, name, len) == 0)
			return &ulp_rules[i];
	return NULL;
}

uint64_t ulp_rule_default_service(const struct ulp_rule *r)
{
	range_t *range = preferred_ports(r);
	uint16_t port = r->ports[0];

	if (range != NULL && range->nranges > 0)
		port = (uint16_t)range->ranges[0].low;
	return port != 0 ? vs_rdmacm_service(VS_RDMACM_PS_TCP, port) : 0;
}
