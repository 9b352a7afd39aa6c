/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * msg.h - what lines carry: the structures of the verbs, each described once for writing and reading, and what has
 * changed of a memory region.
 *
 * Objects are numbers that the agent gives; 0 is none.
 */
#ifndef AG_MSG_H
#define AG_MSG_H

#include "../verbs.h"
#include "line.h"
#include "stream.h"

#define AG_SGES 16u
#define AG_INLINE 4096u

/* The device, as the runner has to know it. */
struct ag_device {
	char name[AG_NAME];
	bool reference;                      /* it is ref0 */
	int32_t limit[DR_MAX_RD_ATOMIC + 1]; /* by enum dr_limit; -1: not known */
	uint32_t max_mcast;
	bool atomic, atomic_write;
	bool cm; /* librdmacm is there */
	struct vc_gids gids;
};
void ag_io_device(struct ag_io *io, struct ag_device *d);

/* A work request with what it points to. The target's own handles are not here but beside it. */
struct ag_send {
	struct vs_send_wr wr;
	struct vs_sge sge[AG_SGES];
	uint8_t data[AG_INLINE];
	uint32_t ah, mw, mr;
};
void ag_io_send(struct ag_io *io, struct ag_send *s);
struct ag_recv {
	struct vs_recv_wr wr;
	struct vs_sge sge[AG_SGES];
};
void ag_io_recv(struct ag_io *io, struct ag_recv *r);

struct ag_qp {
	struct vs_qp_init init;
	uint32_t pd, send_cq, recv_cq, srq;
};
void ag_io_qp(struct ag_io *io, struct ag_qp *q);
void ag_io_av(struct ag_io *io, struct vs_av *av);
void ag_io_attr(struct ag_io *io, struct vs_qp_attr *a);
void ag_io_cap(struct ag_io *io, struct vs_qp_cap *c);
void ag_io_srq(struct ag_io *io, struct vs_srq_attr *a);
void ag_io_wc(struct ag_io *io, struct vs_wc *wc);
/* The private data in `data`, of 255 bytes, which p->private_data points to when it was read. */
void ag_io_conn(struct ag_io *io, struct vs_conn_param *p, uint8_t *data);
/* The type travels by name. A text among the arguments can't: such events are refused. */
void ag_io_event(struct ag_io *io, struct vs_event *ev);

/* The first piece from *at on in which `now` and `known` differ; `known` is brought up to date. */
struct ag_piece {
	uint32_t off, len;
	bool fill; /* all bytes are the same */
};
bool ag_changed(const uint8_t *now, uint8_t *known, uint32_t len, uint32_t *at, struct ag_piece *p);

#endif
