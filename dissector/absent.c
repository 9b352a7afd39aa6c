/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * absent.c - stands in, by weak symbols, for files of the plugin that have not landed yet.
 */
#include "rdma.h"

#pragma weak rdma_mad_register
#pragma weak rdma_mad_handoff
#pragma weak rdma_mad_dissect
#pragma weak rdma_ulp_register
#pragma weak rdma_ulp_handoff
#pragma weak rdma_ulp_dissect
#pragma weak rdma_ulp_learn_cm
#pragma weak rdma_ulp_cm_private
#pragma weak rdma_ulp_src_qp
#pragma weak rdma_stats_register
#pragma weak rdma_tap_id

void rdma_mad_register(int proto _U_) {}
void rdma_mad_handoff(void) {}
void rdma_mad_dissect(struct rdma_ctx *c, tvbuff_t *tvb _U_) { rdma_builtin_dissect(c); }
void rdma_ulp_register(int proto _U_) {}
void rdma_ulp_handoff(void) {}
bool rdma_ulp_dissect(struct rdma_ctx *c _U_, tvbuff_t *tvb _U_) { return false; }
void rdma_ulp_learn_cm(struct rdma_ctx *c _U_, uint16_t a _U_, const uint8_t *d _U_, size_t l _U_) {}
bool rdma_ulp_cm_private(struct rdma_ctx *c _U_, uint16_t a _U_, tvbuff_t *t _U_) { return false; }
bool rdma_ulp_src_qp(const packet_info *p _U_, uint32_t d _U_, uint32_t *s _U_) { return false; }
void rdma_stats_register(int proto _U_) {}
int rdma_tap_id;
