/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cm_link.h - what our librdmacm.so.1 (verbs/cm/) needs of our libibverbs.so.1: the process's engine, and the engine's
 * connection manager. One symbol, in a version node that no other libibverbs has, so the two are found together or the
 * program says at its start that they are not.
 */
#ifndef VS_VERBS_CM_LINK_H
#define VS_VERBS_CM_LINK_H

#pragma GCC visibility push(default)
#include <infiniband/verbs.h>
#pragma GCC visibility pop

#include "vs/conn.h"

struct ref_cm_link {
	/* Enters the engine, which a context has started; false with errno: there is none (any more). */
	bool (*enter)(void);
	/* Sends what is to be sent and leaves; errno is kept. */
	void (*leave)(void);
	/* Sends what is to be sent, without leaving. */
	void (*send)(void);
	/* `deliver` is called inside whenever events may have come. */
	void (*attach)(void (*deliver)(void));
	struct vs_dev *(*device)(struct ibv_context *context);
	uint64_t (*random)(void); /* from the seed */
	/* The errno of a negative vs_err, after saying why when that is asked for. */
	int (*error)(const struct vs_dev *dev, const char *verb, int err);
	int (*qp_attr)(const struct vs_dev *dev, const struct vs_conn *c, enum ibv_qp_state to,
		       struct ibv_qp_attr *attr, int *mask);
	void (*ah_attr)(struct ibv_ah_attr *attr, const struct vs_av *av);

	/*
	 * Virtual time, on the simulated wire alone (is_virtual). `channel`: a descriptor becomes readable by what
	 * happens there, or no longer (then it may be closed). signal, inside: it has become so. wait, outside: until
	 * it is so (0 or -1), or one look if it is non-blocking; where time is real, 0 at once. now (ns) and sleep,
	 * outside: in the time that there is.
	 */
	bool (*is_virtual)(void);
	void (*channel)(int fd, bool on);
	void (*signal)(void);
	int (*wait)(int fd);
	uint64_t (*now)(void);
	void (*sleep)(uint64_t ns);

	/* vs/conn.h, vs/dev.h: inside */
	const struct vs_dev_attr *(*dev_attr)(const struct vs_dev *dev);
	struct vs_listener *(*listen)(struct vs_dev *dev, uint64_t service_id, uint64_t cookie, int *err);
	void (*unlisten)(struct vs_listener *l);
	struct vs_conn *(*connect)(struct vs_dev *dev, const struct vs_conn_param *p, uint64_t cookie, int *err);
	struct vs_conn *(*sidr_resolve)(struct vs_dev *dev, const struct vs_conn_param *p, uint64_t cookie, int *err);
	int (*accept)(struct vs_conn *c, const struct vs_conn_param *p);
	int (*establish)(struct vs_conn *c);
	int (*reject)(struct vs_conn *c, uint16_t reason, const void *private_data, uint8_t len);
	int (*disconnect)(struct vs_conn *c);
	int (*sidr_reply)(struct vs_conn *c, uint32_t status, const struct vs_conn_param *p);
	enum vs_conn_state (*state)(const struct vs_conn *c);
	void (*peer_gone)(struct vs_conn *c);
	void (*destroy)(struct vs_conn *c);
	int (*poll)(struct vs_dev *dev, struct vs_conn_event *e);
};

__attribute__((visibility("default"))) const struct ref_cm_link *ref_cm_link(void);

#endif
