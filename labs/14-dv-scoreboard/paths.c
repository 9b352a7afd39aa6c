/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * paths.c - the six ways. Reading this spoils the fun, not the result: which number a way has depends on your seed.
 *
 * So that nothing leaves before path_transmit, the request is fenced behind a READ of a few bytes: its answer needs
 * time, and on the simulated wire time passes only for who polls.
 */
#define _GNU_SOURCE
#include "paths.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab.h"
#include "ways.h"

#define PAGE 4096u
#define LOG 64u

struct path {
	enum way way;
	struct lab_side a, b;
	struct ibv_qp *qa, *qb;
	struct ibv_mr *mr_buffer, *mr_staging, *mr_app, *mr_bounce, *mr_word, *mr_far;
	uint8_t *buffer, *staging, *app, *bounce; /* a page each; with ALIAS staging and buffer are the same memory */
	uint64_t *word, *far;                     /* of the READ that the request waits for */
	struct dma log[LOG];
	unsigned n;
	bool logging, posted, done, guarded, touched;
};
static struct path *now; /* the one that is being worked with: signals and the DMA log have no other way to it */

/* ---- guard pages ---- */

static void on_fault(int sig, siginfo_t *info, void *context)
{
	uint8_t *at = info->si_addr;

	(void)context;
	if (now == NULL || !now->guarded || at < now->staging || at >= now->staging + PAGE) {
		(void)signal(sig, SIG_DFL); /* not ours: it happens again */
		return;
	}
	now->touched = true;
	now->guarded = false;
	(void)mprotect(now->staging, PAGE, PROT_READ | PROT_WRITE);
}

void path_guard(struct path *p)
{
	p->touched = false;
	p->guarded = true;
	(void)mprotect(p->staging, PAGE, PROT_NONE);
}

bool path_touched(const struct path *p)
{
	return p->touched;
}

/* ---- the DMA log ---- */

static bool within(const uint8_t *at, const void *page)
{
	return at >= (const uint8_t *)page && at < (const uint8_t *)page + PAGE;
}

static void on_dma(void *ctx, bool write, uint64_t addr, uint32_t len)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)addr;

	(void)ctx;
	if (now == NULL)
		return;
	if (now->guarded && within(at, now->staging)) { /* a device does not see the guard */
		now->guarded = false;
		(void)mprotect(now->staging, PAGE, PROT_READ | PROT_WRITE);
	}
	if (now->logging && now->n < LOG && !within(at, now->word) && !within(at, now->far))
		now->log[now->n++] = (struct dma){write, now->posted, at, len};
}

unsigned path_dma(struct path *p, const struct dma **log)
{
	*log = p->log;
	return p->n;
}

/* ---- sending and receiving ---- */

uint8_t *path_buffer(struct path *p)
{
	return p->buffer;
}

uint8_t *path_staging(struct path *p)
{
	return p->staging;
}

const uint8_t *path_arrived(struct path *p)
{
	return p->app;
}

static void send(struct path *p, const uint8_t *from, const struct ibv_mr *mr, unsigned flags)
{
	struct ibv_sge sge = {(uintptr_t)from, PATH_BYTES, mr->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = 2,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED | flags};

	lab_must(ibv_post_send(p->qa, &wr, &bad), "ibv_post_send");
}

/* What comes next waits for the answer to this. */
static void hold_back(struct path *p)
{
	struct ibv_sge sge = {(uintptr_t)p->word, 8, p->mr_word->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ};

	wr.wr.rdma.remote_addr = (uintptr_t)p->far;
	wr.wr.rdma.rkey = p->mr_far->rkey;
	lab_must(ibv_post_send(p->qa, &wr, &bad), "ibv_post_send");
}

static void receive(struct path *p)
{
	bool bounce = p->way == BOUNCED_AT_RECEIVER;
	struct ibv_sge sge = {(uintptr_t)(bounce ? p->bounce : p->app), PATH_BYTES,
			      bounce ? p->mr_bounce->lkey : p->mr_app->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = 3, .sg_list = &sge, .num_sge = 1};

	lab_must(ibv_post_recv(p->qb, &wr, &bad), "ibv_post_recv");
}

void path_post(struct path *p)
{
	now = p;
	p->n = 0;
	p->posted = false;
	p->logging = true;
	receive(p);
	hold_back(p);
	switch (p->way) {
	case DIRECT:
	case BOUNCED_AT_RECEIVER:
		send(p, p->buffer, p->mr_buffer, IBV_SEND_FENCE);
		break;
	case STAGED_AT_POST:
		memcpy(p->staging, p->buffer, PATH_BYTES);
		send(p, p->staging, p->mr_staging, IBV_SEND_FENCE);
		break;
	case INLINE:
		send(p, p->buffer, p->mr_buffer, IBV_SEND_FENCE | IBV_SEND_INLINE);
		break;
	case ALIAS: /* the same pages under another address */
		send(p, p->staging, p->mr_staging, IBV_SEND_FENCE);
		break;
	case STAGED_LATE:
	default:
		break;
	}
	p->posted = true;
}

void path_transmit(struct path *p)
{
	now = p;
	if (p->way == STAGED_LATE) {
		memcpy(p->staging, p->buffer, PATH_BYTES);
		send(p, p->staging, p->mr_staging, IBV_SEND_FENCE);
	}
	(void)lab_done(&p->a);
	(void)lab_done(&p->b);
	p->logging = false;
	if (p->way == BOUNCED_AT_RECEIVER)
		memcpy(p->app, p->bounce, PATH_BYTES);
}

/* ---- making one ---- */

static void *page(int fd)
{
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);

	lab_need(at == MAP_FAILED ? NULL : at, "mmap");
	return at;
}

static void make_memory(struct path *p)
{
	int fd = p->way == ALIAS ? memfd_create("buffer", 0) : -1;

	if (fd >= 0)
		lab_must(ftruncate(fd, PAGE) == 0 ? 0 : errno, "ftruncate");
	p->buffer = page(fd);
	p->staging = page(fd);
	if (fd >= 0)
		(void)close(fd);
	p->app = page(-1);
	p->bounce = page(-1);
	p->word = page(-1);
	p->far = page(-1);
	p->mr_buffer = lab_reg(&p->a, p->buffer, PAGE, 0);
	p->mr_staging = lab_reg(&p->a, p->staging, PAGE, 0);
	p->mr_word = lab_reg(&p->a, p->word, PAGE, IBV_ACCESS_LOCAL_WRITE);
	p->mr_app = lab_reg(&p->b, p->app, PAGE, IBV_ACCESS_LOCAL_WRITE);
	p->mr_bounce = lab_reg(&p->b, p->bounce, PAGE, IBV_ACCESS_LOCAL_WRITE);
	p->mr_far = lab_reg(&p->b, p->far, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}

static struct ibv_qp *make_qp(struct lab_side *s)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.send_cq = s->cq,
					.recv_cq = s->cq,
					.cap = {.max_send_wr = 8,
						.max_recv_wr = 8,
						.max_send_sge = 1,
						.max_recv_sge = 1,
						.max_inline_data = PATH_BYTES}};
	struct ibv_qp *qp = ibv_create_qp(s->pd, &init);

	lab_need(qp, "ibv_create_qp");
	return qp;
}

static void watch(void)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
	int (*log)(void (*)(void *, bool, uint64_t, uint32_t), void *);
	void *found = dlsym(RTLD_DEFAULT, "ref_dma_log");

	(void)sigaction(SIGSEGV, &sa, NULL);
	lab_need(found, "the DMA log (is this the simulated wire?)");
	memcpy(&log, &found, sizeof(log));
	lab_must(log(on_dma, NULL), "the DMA log");
}

struct path *path_make(enum way way)
{
	const struct lab_path conn = LAB_PATH;
	struct path *p = calloc(1, sizeof(*p));

	lab_need(p, "calloc");
	p->way = way;
	lab_open(&p->a, &p->b);
	p->qa = make_qp(&p->a);
	p->qb = make_qp(&p->b);
	make_memory(p);
	lab_connect(&p->a, p->qa, &p->b, p->qb, &conn);
	watch();
	return p;
}

void path_free(struct path *p)
{
	struct ibv_mr *mr[] = {p->mr_buffer, p->mr_staging, p->mr_word, p->mr_app, p->mr_bounce, p->mr_far};
	void *pages[] = {p->buffer, p->staging, p->app, p->bounce, p->word, p->far};

	now = NULL;
	lab_must(ibv_destroy_qp(p->qa), "ibv_destroy_qp");
	lab_must(ibv_destroy_qp(p->qb), "ibv_destroy_qp");
	for (unsigned i = 0; i < 6; i++) {
		lab_must(ibv_dereg_mr(mr[i]), "ibv_dereg_mr");
		(void)munmap(pages[i], PAGE);
	}
	lab_close_side(&p->a);
	lab_close_side(&p->b);
	free(p);
}
