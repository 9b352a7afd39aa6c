/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* event.c - events.def as a table, looked up by number and by name. */
#include <string.h>

#include "vs/event.h"

#define D VS_ARG_D
#define X VS_ARG_X
#define T VS_ARG_T
#define B VS_ARG_B
#define OPC VS_ARG_OPC
#define SYN VS_ARG_SYN
#define WR VS_ARG_WR
#define WCS VS_ARG_WCS
#define WCO VS_ARG_WCO
#define QPS VS_ARG_QPS
#define ASY VS_ARG_ASY
#define RSN VS_ARG_RSN
#define STR VS_ARG_STR

#define VS_EVENT(ID, name, level, nargs, ...) [VS_EV_##ID] = {name, VS_LEVEL_##level, nargs, __VA_ARGS__},
static const struct vs_event_info infos[VS_EV_COUNT] = {
	[VS_EV_NONE] = {"none", VS_LEVEL_EXTRA, 0, {{NULL, VS_ARG_D}}},
#include "events.def"
};

const struct vs_event_info *vs_event_info(enum vs_event_type type)
{
	return &infos[(unsigned)type < VS_EV_COUNT ? type : VS_EV_NONE];
}

enum vs_event_type vs_event_by_name(const char *name)
{
	unsigned i;

	for (i = VS_EV_NONE + 1; i < VS_EV_COUNT; i++)
		if (strcmp(infos[i].name, name) == 0)
			return (enum vs_event_type)i;
	return VS_EV_NONE;
}
