/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bridge.c - two ends of Ethernet, and a thread that forwards between them.
 *
 * Everything is forwarded as it is, so that devices find each other as neighbours do; what is RDMA is judged by the
 * faults on its way (vs/impair.h) and told to the runner. The thread is one because a call to a device may wait for the
 * other.
 */
#define _GNU_SOURCE /* ppoll */
#include "bridge.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "lag.h"
#include "vs/frameio.h"
#include "vs/impair.h"

#define HEARD_MAX 65536u /* that nobody asks for */
#define LOOK_NS 100000000u

struct heard {
	struct heard *next;
	uint64_t stamp_ns;
	unsigned end;
	bool lost;
	size_t len;
	uint8_t frame[];
};

struct end {
	struct vc_bridge *of;
	struct vs_frameio *io;
};

struct vc_bridge {
	pthread_mutex_t lock; /* of all that follows */
	struct end end[2];
	struct vs_impair *im;
	struct heard *first, **last;
	unsigned waiting;
	char broken[256], told[256];
	char idle[VS_FAULT_NAME];
	/* not locked */
	pthread_t thread;
	bool runs;
	int stop; /* eventfd */
};

static void broken(struct vc_bridge *b, const struct vs_io_error *err)
{
	if (b->broken[0] == '\0')
		(void)snprintf(b->broken, sizeof(b->broken), "the bridge is gone: %.200s", err->text);
}

/* ---- forwarding: with the lock ---- */

static void pass(void *ctx, bool out, const uint8_t *frame, size_t len)
{
	struct vc_bridge *b = ctx;
	struct vs_io_error err;

	if (vs_frameio_send(b->end[out ? 1 : 0].io, frame, len, &err) == VS_ERR_IO)
		broken(b, &err);
}

static void note(struct vc_bridge *b, uint64_t stamp, unsigned end, bool lost, const uint8_t *frame, size_t len)
{
	struct heard *h = b->waiting < HEARD_MAX ? malloc(sizeof(*h) + len) : NULL;

	if (h == NULL)
		return;
	*h = (struct heard){.stamp_ns = stamp, .end = end, .lost = lost, .len = len};
	memcpy(h->frame, frame, len);
	*b->last = h;
	b->last = &h->next;
	b->waiting++;
}

static void on_frame(void *ctx, uint64_t stamp, const uint8_t *frame, size_t len)
{
	struct end *from = ctx;
	struct vc_bridge *b = from->of;
	unsigned end = from == &b->end[1];
	struct vs_pkt p;
	bool lost;

	if (b->im == NULL || vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, frame, len, len, 0) != VS_OK) {
		pass(b, end == 0, frame, len);
		return;
	}
	/* It is heard before it goes on: what it causes comes behind it. */
	lost = !vs_impair_frame(b->im, end == 0, frame, len, vc_now_ns());
	note(b, stamp, end, lost, frame, len);
}

static struct timespec until_next(struct vc_bridge *b)
{
	uint64_t now = vc_now_ns(), next = UINT64_MAX, wait = LOOK_NS;

	(void)pthread_mutex_lock(&b->lock);
	if (b->im != NULL)
		next = vs_impair_deadline(b->im);
	(void)pthread_mutex_unlock(&b->lock);
	if (next <= now)
		wait = 0;
	else if (next - now < wait)
		wait = next - now;
	return (struct timespec){0, (long)wait};
}

static void *forward(void *ctx)
{
	struct vc_bridge *b = ctx;
	struct pollfd fd[3] = {{.fd = vs_frameio_fd(b->end[0].io), .events = POLLIN},
			       {.fd = vs_frameio_fd(b->end[1].io), .events = POLLIN},
			       {.fd = b->stop, .events = POLLIN}};
	bool works = true;

	while (works) {
		struct timespec wait = until_next(b);
		struct vs_io_error err;

		if (ppoll(fd, 3, &wait, NULL) < 0 && errno != EINTR)
			break;
		if (fd[2].revents != 0)
			break;
		(void)pthread_mutex_lock(&b->lock);
		for (unsigned i = 0; i < 2; i++)
			if (vs_frameio_receive(b->end[i].io, 64, on_frame, &b->end[i], &err) < 0)
				broken(b, &err);
		if (b->im != NULL)
			vs_impair_expire(b->im, vc_now_ns());
		works = b->broken[0] == '\0';
		(void)pthread_mutex_unlock(&b->lock);
	}
	return NULL;
}

/* ---- what the runner asks ---- */

static void forget(struct heard *h)
{
	while (h != NULL) {
		struct heard *gone = h;

		h = gone->next;
		free(gone);
	}
}

static struct heard *take(struct vc_bridge *b)
{
	struct heard *all = b->first;

	b->first = NULL;
	b->last = &b->first;
	b->waiting = 0;
	return all;
}

bool vc_bridge_begin(struct vc_bridge *b, uint64_t seed, const char *first, const char *second)
{
	struct vs_impair *im = vs_impair_new(seed, VS_LINK_ETHERNET, first, second, pass, b), *old;
	struct heard *before;

	(void)pthread_mutex_lock(&b->lock);
	old = b->im;
	b->im = im;
	before = take(b);
	(void)pthread_mutex_unlock(&b->lock);
	vs_impair_free(old);
	forget(before);
	return im != NULL;
}

int vc_bridge_fault(struct vc_bridge *b, const char *rule)
{
	struct vs_fault_error err;
	int rc = VS_OK;

	(void)pthread_mutex_lock(&b->lock);
	if (rule != NULL)
		rc = vs_impair_add(b->im, rule, strlen(rule), &err);
	else
		vs_impair_clear(b->im);
	(void)pthread_mutex_unlock(&b->lock);
	return rc;
}

const char *vc_bridge_idle(struct vc_bridge *b)
{
	const char *name;

	(void)pthread_mutex_lock(&b->lock);
	name = vs_impair_idle(b->im);
	(void)snprintf(b->idle, sizeof(b->idle), "%s", name != NULL ? name : "");
	(void)pthread_mutex_unlock(&b->lock);
	return b->idle[0] != '\0' ? b->idle : NULL;
}

unsigned vc_bridge_hear(struct vc_bridge *b, vc_bridge_fn *fn, void *ctx, const char **broken)
{
	struct heard *all;
	unsigned n = 0;

	(void)pthread_mutex_lock(&b->lock);
	all = take(b);
	(void)snprintf(b->told, sizeof(b->told), "%s", b->broken);
	(void)pthread_mutex_unlock(&b->lock);
	for (const struct heard *h = all; h != NULL; h = h->next, n++)
		fn(ctx, h->stamp_ns, h->end, h->lost, h->frame, h->len);
	forget(all);
	*broken = b->told[0] != '\0' ? b->told : NULL;
	return n;
}

/* ---- opening ---- */

void vc_bridge_close(struct vc_bridge *b)
{
	if (b == NULL)
		return;
	(void)eventfd_write(b->stop, 1);
	if (b->runs)
		(void)pthread_join(b->thread, NULL);
	for (unsigned i = 0; i < 2; i++)
		vs_frameio_close(b->end[i].io);
	vs_impair_free(b->im);
	forget(take(b));
	close(b->stop);
	(void)pthread_mutex_destroy(&b->lock);
	free(b);
}

struct vc_bridge *vc_bridge_open(const struct vc_peer_spec *s, char *why, size_t cap)
{
	struct vc_bridge *b = calloc(1, sizeof(*b));
	struct vs_io_error err = {.text = "no memory"};
	int code;

	if (b == NULL) {
		(void)snprintf(why, cap, "--peer: %s", err.text);
		return NULL;
	}
	(void)pthread_mutex_init(&b->lock, NULL);
	b->last = &b->first;
	b->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (unsigned i = 0; i < 2; i++) {
		const struct vc_peer_end *e = &s->end[i];

		b->end[i].of = b;
		b->end[i].io = e->is_socket ? vs_frameio_unix_open(e->at, e->remote, &code, &err)
					    : vs_frameio_live_open(e->at, NULL, &code, &err);
		if (b->end[i].io == NULL) {
			(void)snprintf(why, cap, "--peer: %s", err.text);
			vc_bridge_close(b);
			return NULL;
		}
	}
	b->runs = pthread_create(&b->thread, NULL, forward, b) == 0;
	if (b->runs)
		return b;
	(void)snprintf(why, cap, "--peer: the bridge's thread can't be started");
	vc_bridge_close(b);
	return NULL;
}
