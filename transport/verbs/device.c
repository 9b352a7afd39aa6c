/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * device.c - the device: found without asking the kernel, opened as often as the program likes, all on one engine.
 */
#define _GNU_SOURCE /* memfd_create */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "verbs/ref.h"

/* Providers look behind an ibv_device for their own marks: there are zeroes. */
#define DEVICE(n)                                                           \
	{                                                                   \
		.device = {                                                 \
			.node_type = IBV_NODE_CA,                           \
			.transport_type = IBV_TRANSPORT_IB,                 \
			.name = "ref" n,                                    \
			.dev_name = "uverbs" n,                             \
			.dev_path = "/sys/class/infiniband_verbs/uverbs" n, \
			.ibdev_path = "/sys/class/infiniband/ref" n         \
		}                                                           \
	}
static struct device {
	struct ibv_device device;
	char behind[1024];
} devices[REF_DEVICES] = {DEVICE("0"), DEVICE("1")};

static unsigned index_of(const struct ibv_device *device)
{
	return device == &devices[1].device;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list = calloc(REF_DEVICES + 1, sizeof(struct ibv_device *));
	int n = ref_config_sim() ? REF_DEVICES : 1;

	if (list == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	for (int i = 0; i < n; i++)
		list[i] = &devices[i].device;
	if (num_devices != NULL)
		*num_devices = n;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

int ibv_get_device_index(struct ibv_device *device)
{
	return (int)index_of(device);
}

/* It follows from the address, which is known once the engine runs. 0 when it can't, as where /sys can't be read. */
__be64 ibv_get_device_guid(struct ibv_device *device)
{
	unsigned i = index_of(device);
	uint64_t guid = 0;

	if (ref_start() == 0 && ref_enter()) {
		guid = vs_dev_attr(ref.dev[i])->node_guid;
		ref_leave_quiet();
	}
	return htobe64(guid);
}

/* The descriptors of a context; an errno, after saying so. */
static int open_descriptors(struct ref_context *c, int *cmd_fd)
{
	int rc = ref_events_init(&c->async);

	if (rc == 0 && *cmd_fd < 0) {
		*cmd_fd = memfd_create(REF_NAME, MFD_CLOEXEC);
		rc = *cmd_fd < 0 ? errno : 0;
		if (rc != 0)
			ref_events_fini(&c->async);
	}
	if (rc != 0)
		ref_say_errno("the device can't be opened", rc);
	return rc;
}

/* `cmd_fd`: becomes the context's; -1: a new one, by which nothing is commanded, but contexts can be told apart. */
struct ibv_context *ref_open_context(struct ibv_device *device, int cmd_fd)
{
	struct ref_context *c = calloc(1, sizeof(*c));
	int rc = c != NULL ? ref_start() : ENOMEM;

	if (rc == 0)
		rc = open_descriptors(c, &cmd_fd);
	if (rc != 0) {
		free(c);
		errno = rc;
		return NULL;
	}
	ref_context_ops(&c->v);
	c->dev = ref.dev[index_of(device)];
	c->v.context.device = device;
	c->v.context.cmd_fd = cmd_fd;
	c->v.context.async_fd = c->async.fd;
	c->v.context.num_comp_vectors = 1;
	pthread_mutex_init(&c->v.context.mutex, NULL);
	pthread_mutex_lock(&ref.lock);
	c->next = ref.contexts;
	ref.contexts = c;
	pthread_mutex_unlock(&ref.lock);
	return &c->v.context;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	return ref_open_context(device, -1);
}

int ibv_close_device(struct ibv_context *context)
{
	struct ref_context *c = ref_context(context), **at;

	pthread_mutex_lock(&ref.lock);
	for (at = &ref.contexts; *at != NULL; at = &(*at)->next) {
		if (*at == c) {
			*at = c->next;
			break;
		}
	}
	ref_events_fini(&c->async);
	close(context->cmd_fd);
	pthread_mutex_unlock(&ref.lock);
	pthread_mutex_destroy(&context->mutex);
	if (c->objects == 0)
		free(c);
	return 0;
}

/* ---- what it can ---- */

static void fill_attr(const struct vs_dev *dev, struct ibv_device_attr *d)
{
	const struct vs_dev_attr *a = vs_dev_attr(dev);

	memset(d, 0, sizeof(*d));
	snprintf(d->fw_ver, sizeof(d->fw_ver), "%s", VS_VERSION);
	d->node_guid = d->sys_image_guid = htobe64(a->node_guid);
	d->max_mr_size = UINT64_MAX;
	d->page_size_cap = 4096;
	d->vendor_id = 0xffffff; /* as rdma_rxe: no vendor */
	d->max_qp = (int)a->max_qp;
	d->max_qp_wr = (int)a->max_qp_wr;
	d->device_cap_flags = IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR | IBV_DEVICE_CURR_QP_STATE_MOD |
			      IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
			      IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B |
			      IBV_DEVICE_MEM_MGT_EXTENSIONS;
	d->max_sge = d->max_sge_rd = d->max_srq_sge = (int)a->max_sge;
	d->max_cq = (int)a->max_cq;
	d->max_cqe = (int)a->max_cqe;
	d->max_mr = (int)a->max_mr;
	d->max_pd = (int)a->max_pd;
	d->max_qp_rd_atom = d->max_qp_init_rd_atom = a->max_rd_atomic;
	d->max_res_rd_atom = (int)(a->max_rd_atomic * a->max_qp);
	d->atomic_cap = IBV_ATOMIC_HCA;
	d->max_mw = (int)a->max_mw;
	d->max_mcast_grp = (int)a->max_mcast_grp;
	d->max_mcast_qp_attach = (int)a->max_mcast_qp_attach;
	d->max_total_mcast_qp_attach = d->max_mcast_grp * d->max_mcast_qp_attach;
	d->max_ah = (int)a->max_ah;
	d->max_srq = (int)a->max_srq;
	d->max_srq_wr = (int)a->max_srq_wr;
	d->max_pkeys = VS_PKEY_TABLE_LEN;
	d->local_ca_ack_delay = 15;
	d->phys_port_cnt = 1;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr)
{
	if (!ref_enter())
		return errno;
	fill_attr(ref_dev(context), device_attr);
	ref_leave_quiet();
	return 0;
}

/* The kernel's bit for it (IB_UVERBS_DEVICE_ATOMIC_WRITE), for which libibverbs 44 has no name. */
#define CAP_ATOMIC_WRITE (UINT64_C(1) << 40)

int ref_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex full = {.completion_timestamp_mask = UINT64_MAX,
					  .hca_core_clock = 1000000, /* kHz: time stamps count nanoseconds */
					  .phys_port_cnt_ex = 1};

	if (input != NULL && input->comp_mask != 0)
		return EINVAL;
	if (size < sizeof(attr->orig_attr))
		return EINVAL;
	if (!ref_enter())
		return errno;
	fill_attr(ref_dev(context), &full.orig_attr);
	ref_leave_quiet();
	full.device_cap_flags_ex = full.orig_attr.device_cap_flags | CAP_ATOMIC_WRITE;
	full.pci_atomic_caps.fetch_add = full.pci_atomic_caps.compare_swap = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP;
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	if (size > sizeof(full))
		memset((char *)attr + sizeof(full), 0, size - sizeof(full));
	return 0;
}

int ref_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	(void)context;
	if (values->comp_mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK)
		return EINVAL;
	if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) {
		uint64_t now;

		if (!ref_enter())
			return errno;
		now = ref_now();
		ref_leave_quiet();
		values->raw_clock =
			(struct timespec){.tv_sec = (time_t)(now / 1000000000u), .tv_nsec = (long)(now % 1000000000u)};
	}
	return 0;
}

int ibv_fork_init(void)
{
	return 0; /* no memory is pinned */
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}
