/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin.c - the symbols that Wireshark looks for in a plugin: who we are, which release we were
 * built for (major.minor must be the host's exactly), and where registration begins.
 */
#include "rdma.h"

/* 4.4 and newer ask what kind of plugin this is, to list it as a dissector. */
#define PLUGIN_IS_DISSECTOR 1u

WS_DLL_PUBLIC const char plugin_version[];
WS_DLL_PUBLIC const int plugin_want_major;
WS_DLL_PUBLIC const int plugin_want_minor;
WS_DLL_PUBLIC void plugin_register(void);
WS_DLL_PUBLIC uint32_t plugin_describe(void);

const char plugin_version[] = VS_VERSION;
const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

void plugin_register(void)
{
	static const proto_plugin plugin = {
		.register_protoinfo = rdma_register,
		.register_handoff = rdma_handoff,
	};

	proto_register_plugin(&plugin);
}

uint32_t plugin_describe(void)
{
	return PLUGIN_IS_DISSECTOR;
}
