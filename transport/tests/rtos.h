/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rtos.h - what both halves of the tests of the RTO rows share: requests of the RC requester, and how they end.
 */
#ifndef VS_TESTS_RTOS_H
#define VS_TESTS_RTOS_H

#include <string.h>

#include "core/core.h"
#include "rig.h"

#define D RIG_DUT_PSN
#define T_NS(code) (4096ull << (code))
#define SEC 1000000000ull

static inline void post(struct rig *r, enum vs_wr_opcode op, uint64_t id, uint32_t len)
{
	ck_assert_int_eq(rig_post(r, op, id, 0, len), VS_OK);
}

static inline void sends(struct rig *r, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		post(r, VS_WR_SEND, i + 1, 8);
		rig_expect(r, VS_OP_RC_SEND_ONLY, D + i);
	}
}

static inline void succeeded(struct rig *r, uint64_t first, uint64_t last)
{
	for (; first <= last; first++)
		rig_expect_wc(r, r->scq, first, VS_WC_SUCCESS);
	rig_expect_no_wc(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_RTS);
}

/* The first one failed with `status`, `n` more were flushed, the QP is dead and quiet. */
static inline void failed(struct rig *r, uint64_t id, enum vs_wc_status status, unsigned n)
{
	unsigned i;

	rig_expect_wc(r, r->scq, id, status);
	for (i = 1; i <= n; i++)
		rig_expect_wc(r, r->scq, id + i, VS_WC_WR_FLUSH_ERR);
	rig_expect_no_wc(r);
	ck_assert_int_eq(vs_qp_state(r->qp), VS_QPS_ERR);
	rig_advance(r, 100 * SEC); /* RTO-062: no stray packets */
	rig_expect_silence(r);
}

#endif
