/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * frame_unix.c - Ethernet frames as AF_UNIX datagrams.
 *
 * The socket is not connected: who is at the other end may go and come back, a guest that is booted again, at the same
 * path. The kernel queues few datagrams for a receiver, ten where nobody raised net.unix.max_dgram_qlen, so a sender
 * waits for one that is slow; but not for one that is stopped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "io/frame.h"

#define ROOM (4 << 20) /* bytes for frames under way; the kernel gives what wmem_max allows */
#define NAP_NS 50000
#define NAPS_MAX 4000

struct frame_unix {
	struct vs_frameio io; /* first */
	struct sockaddr_un local, remote;
	bool bound;
	dev_t dev;
	ino_t ino; /* of the socket that is ours: another may have taken its place */
	uint8_t buf[VS_FRAMEIO_MAX];
};

static struct frame_unix *self(struct vs_frameio *f)
{
	return (struct frame_unix *)f;
}

static void unix_close(struct vs_frameio *f)
{
	struct frame_unix *u = self(f);
	struct stat st;

	if (f->fd >= 0)
		close(f->fd);
	if (u->bound && lstat(u->local.sun_path, &st) == 0 && st.st_dev == u->dev && st.st_ino == u->ino)
		unlink(u->local.sun_path);
	free(u);
}

static int unix_send(struct vs_frameio *f, const uint8_t *frame, size_t len, struct vs_io_error *err)
{
	struct frame_unix *u = self(f);
	const char *path = u->remote.sun_path;

	for (unsigned naps = 0;; naps++) {
		const struct timespec nap = {0, NAP_NS};

		if (sendto(f->fd, frame, len, MSG_DONTWAIT, (const struct sockaddr *)&u->remote, sizeof(u->remote)) ==
		    (ssize_t)len)
			return VS_OK;
		if (errno == EMSGSIZE)
			return vs_io_fail(err, VS_ERR_INVAL, 0, path, "%zu bytes are more than a datagram takes", len);
		if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR) {
			if (naps == NAPS_MAX)
				return vs_io_fail(err, VS_ERR_BUSY, 0, path, "who receives there takes no frames");
			(void)nanosleep(&nap, NULL);
			continue;
		}
		if (errno == ENOENT || errno == ECONNREFUSED)
			return vs_io_fail(err, VS_ERR_BUSY, 0, path, "nobody receives there");
		return vs_io_fail(err, VS_ERR_IO, 0, path, "can't be sent to (%s)", strerror(errno));
	}
}

static uint64_t stamp_of(struct msghdr *m)
{
	struct timespec t;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&t, CMSG_DATA(c), sizeof(t));
		return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	}
	return 0;
}

static int unix_receive(struct vs_frameio *f, unsigned max, vs_frameio_fn *fn, void *ctx, struct vs_io_error *err)
{
	struct frame_unix *u = self(f);
	unsigned n = 0;

	while (n < max) {
		_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct timespec))];
		struct iovec iov = {u->buf, sizeof(u->buf)};
		struct msghdr m = {
			.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
		ssize_t got = recvmsg(f->fd, &m, MSG_DONTWAIT);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno != EAGAIN)
			return vs_io_fail(err, VS_ERR_IO, 0, u->local.sun_path, "can't be received from (%s)",
					  strerror(errno));
		if (got < 0)
			break;
		n++;
		if (!(m.msg_flags & MSG_TRUNC))
			fn(ctx, stamp_of(&m), u->buf, (size_t)got);
	}
	return (int)n;
}

/* ---- opening ---- */

static bool set_path(struct sockaddr_un *a, const char *path)
{
	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (path[0] == '\0' || strlen(path) >= sizeof(a->sun_path))
		return false;
	strcpy(a->sun_path, path);
	return true;
}

/* A socket in the way that nobody has open any more. */
static bool is_left_over(const struct frame_unix *u)
{
	struct stat st;
	bool dead;
	int fd;

	if (lstat(u->local.sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	dead = fd >= 0 && connect(fd, (const struct sockaddr *)&u->local, sizeof(u->local)) != 0 &&
	       errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return dead;
}

static bool bind_local(struct frame_unix *u)
{
	const struct sockaddr *a = (const struct sockaddr *)&u->local;
	struct stat st;

	if (bind(u->io.fd, a, sizeof(u->local)) != 0) {
		if (errno != EADDRINUSE)
			return false;
		if (!is_left_over(u)) {
			errno = EADDRINUSE;
			return false;
		}
		if (unlink(u->local.sun_path) != 0 || bind(u->io.fd, a, sizeof(u->local)) != 0)
			return false;
	}
	u->bound = lstat(u->local.sun_path, &st) == 0;
	u->dev = st.st_dev;
	u->ino = st.st_ino;
	return u->bound;
}

static int explain(const char *local, struct vs_io_error *err)
{
	switch (errno) {
	case EADDRINUSE:
		return vs_io_fail(err, VS_ERR_BUSY, 0, local,
				  "something is there already, or receives there: choose "
				  "another path");
	case EACCES:
	case EPERM:
	case EROFS:
		return vs_io_fail(err, VS_ERR_PERM, 0, local,
				  "the socket can't be made (%s): choose a folder that you "
				  "may write to",
				  strerror(errno));
	case ENOENT:
	case ENOTDIR:
		return vs_io_fail(err, VS_ERR_IO, 0, local, "the socket can't be made (%s): make the folder first",
				  strerror(errno));
	default:
		return vs_io_fail(err, VS_ERR_IO, 0, local, "the socket can't be made (%s)", strerror(errno));
	}
}

struct vs_frameio *vs_frameio_unix_open(const char *local, const char *remote, int *code, struct vs_io_error *err)
{
	struct frame_unix *u = calloc(1, sizeof(*u));
	int on = 1, room = ROOM;

	vs_io_ok(err);
	*code = VS_ERR_IO;
	if (u == NULL) {
		vs_io_fail(err, VS_ERR_IO, 0, local, "the socket can't be made: no memory");
		return NULL;
	}
	u->io = (struct vs_frameio){.close = unix_close, .send = unix_send, .receive = unix_receive, .fd = -1};
	if (!set_path(&u->local, local) || !set_path(&u->remote, remote)) {
		*code = vs_io_fail(err, VS_ERR_INVAL, 0, u->local.sun_path[0] == '\0' ? local : remote,
				   "the path of a socket has 1 to %zu bytes", sizeof(u->local.sun_path) - 1);
		unix_close(&u->io);
		return NULL;
	}
	u->io.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (u->io.fd < 0 || !bind_local(u)) {
		*code = explain(local, err);
		unix_close(&u->io);
		return NULL;
	}
	/* Each is a help, none a must. */
	(void)setsockopt(u->io.fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	(void)setsockopt(u->io.fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	*code = VS_OK;
	return &u->io;
}
