/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ulp_fit.h - does a payload look like a message of a given upper-layer protocol?
 *
 * Pure functions over bytes. Two strengths:
 *   alone      nothing else speaks for the protocol: the bytes must prove it by themselves. Lengths
 *              agree, reserved fields are zero, constants are there; some 60 bits that zeros,
 *              letters, counters and random data don't have (EoIB, on UD QPs alone: some 40).
 *   not alone  CM or the user's table named the protocol: a sane header is enough, so that what is
 *              no message of it (a connection's other traffic, a cut packet) is left as data.
 */
#ifndef RDMA_ULP_FIT_H
#define RDMA_ULP_FIT_H

#include <stdbool.h>
#include <stdint.h>

struct ulp_bytes {
	const uint8_t *p;
	uint32_t cap; /* bytes at `p` */
	uint32_t len; /* bytes on the wire, without pad; >= cap */
	bool whole;   /* the message is this packet; false: it goes on in the next one */
	bool alone;
	bool ud; /* arrived on an unreliable datagram QP */
};

bool ulp_fit_rpcrdma(const struct ulp_bytes *b);
bool ulp_fit_nvme(const struct ulp_bytes *b);
bool ulp_fit_iser(const struct ulp_bytes *b);
bool ulp_fit_smbdirect(const struct ulp_bytes *b);
bool ulp_fit_lnet(const struct ulp_bytes *b);
bool ulp_fit_smcr(const struct ulp_bytes *b);
bool ulp_fit_sdp(const struct ulp_bytes *b);
bool ulp_fit_ether(const struct ulp_bytes *b); /* 4-byte ethertype header: IPoIB and its kin */
bool ulp_fit_eoib(const struct ulp_bytes *b);
bool ulp_fit_fcoib(const struct ulp_bytes *b);
bool ulp_fit_drbd(const struct ulp_bytes *b);

#endif
