/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dma.c - the memory of the application, as the device reads and writes it; whoever wants to know is told before
 * (VS_RIG_DMA_SYMBOL in vs/rig.h).
 */
#include "verbs/ref.h"
#include "vs/rig.h"

static vs_rig_dma_fn *told;
static void *told_ctx;

static void read_memory(void *ctx, uint64_t addr, void *dst, uint32_t len)
{
	if (told != NULL)
		told(told_ctx, false, addr, len);
	vs_dma_host.read(ctx, addr, dst, len);
}

static void write_memory(void *ctx, uint64_t addr, const void *src, uint32_t len)
{
	if (told != NULL)
		told(told_ctx, true, addr, len);
	vs_dma_host.write(ctx, addr, src, len);
}

struct vs_dma_ops ref_dma(void)
{
	struct vs_dma_ops ops = vs_dma_host;

	ops.read = read_memory;
	ops.write = write_memory;
	return ops;
}

__attribute__((visibility("default"))) int ref_dma_log(vs_rig_dma_fn *fn, void *ctx);

int ref_dma_log(vs_rig_dma_fn *fn, void *ctx)
{
	if (!ref_enter_fast())
		return errno;
	told = fn;
	told_ctx = ctx;
	ref_leave_quiet();
	return 0;
}
