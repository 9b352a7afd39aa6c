/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compat.h - one source for Wireshark 4.0, 4.2, 4.4 and 4.6.
 *
 * Differences between those releases that the plugin meets are told apart by RDMA_WS_AT_LEAST; those
 * that more than one file meets are evened out here:
 *   4.4  C99 types throughout: the variable of a bool preference is `bool`; tvb_get_uint8; the callbacks
 *        of conversation filters have a parameter more
 *   4.0  wants the indices of subtrees to begin as -1
 * What 4.6 renamed (val_to_str, dissector_try_payload_new, ...) is avoided. 4.2 is untested.
 */
#ifndef RDMA_COMPAT_H
#define RDMA_COMPAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <ws_version.h>

#define RDMA_WS_AT_LEAST(major, minor)        \
	(WIRESHARK_VERSION_MAJOR > (major) || \
	 (WIRESHARK_VERSION_MAJOR == (major) && WIRESHARK_VERSION_MINOR >= (minor)))

#if !RDMA_WS_AT_LEAST(4, 0)
#error "Verbscope's plugin needs the headers of Wireshark 4.0 or newer"
#endif

#include <glib.h>

#include <epan/conversation.h>
#include <epan/conversation_filter.h>
#include <epan/expert.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/proto.h>
#include <epan/proto_data.h>
#include <epan/tap.h>
#include <epan/to_str.h>
#include <epan/tvbuff.h>

/* The type of a variable behind prefs_register_bool_preference. */
#if RDMA_WS_AT_LEAST(4, 4)
typedef bool rdma_pref_bool;
#else
typedef gboolean rdma_pref_bool;
#endif

/* What begins a statistic says, since 4.6, whether it could: the last statement of such a function. */
#if RDMA_WS_AT_LEAST(4, 6)
typedef bool rdma_stat_begun;
#define RDMA_STAT_BEGUN(ok) return (ok)
#else
typedef void rdma_stat_begun;
#define RDMA_STAT_BEGUN(ok) (void)(ok)
#endif

/* Parameters of the callbacks of a conversation filter, and what they return. */
#if RDMA_WS_AT_LEAST(4, 4)
typedef bool rdma_filter_bool;
#define RDMA_FILTER_DATA , void *user_data _U_
#define rdma_register_conversation_filter(proto, name, is_valid, build) \
	register_conversation_filter(proto, name, is_valid, build, NULL)
#else
typedef gboolean rdma_filter_bool;
#define RDMA_FILTER_DATA
#define rdma_register_conversation_filter register_conversation_filter
#endif

static inline uint8_t rdma_tvb_u8(tvbuff_t *tvb, int offset)
{
#if RDMA_WS_AT_LEAST(4, 4)
	return tvb_get_uint8(tvb, offset);
#else
	return tvb_get_guint8(tvb, offset);
#endif
}

/* 4.0 insists that subtree indices begin as -1; from 4.4 on 0 is fine too. */
static inline void rdma_subtrees_register(int *const *ett, int count)
{
	for (int i = 0; i < count; i++)
		*ett[i] = -1;
	proto_register_subtree_array(ett, count);
}

#endif
