/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * forward.c - what a virtual machine is for a peer behind AF_UNIX datagrams: a tap interface of this network namespace,
 * whose frames go to one socket and come from another, as QEMU's "-netdev dgram" does it.
 *
 *   forward INTERFACE LOCAL REMOTE [VLAN]
 *
 * With VLAN it is a port of a switch, too: behind it frames have that tag, and others are not let through. Makes the
 * interface, says "ready", and runs until it is killed or its parent ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "vs/err.h"
#include "vs/frameio.h"

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "forward: %s: %s\n", what, why);
	return 2;
}

/* Where frames go. */
struct way {
	int tap;
	struct vs_frameio *io;
	unsigned vlan; /* 0: no tags */
};

static bool has_tag(const struct way *w, const uint8_t *frame, size_t len)
{
	return len > 18 && frame[12] == 0x81 && frame[13] == 0 && ((frame[14] & 15u) << 8 | frame[15]) == w->vlan;
}

static void to_tap(void *ctx, uint64_t stamp_ns, const uint8_t *frame, size_t len)
{
	const struct way *w = ctx;
	uint8_t bare[VS_FRAMEIO_MAX];

	(void)stamp_ns;
	if (w->vlan != 0) {
		if (!has_tag(w, frame, len))
			return;
		memcpy(bare, frame, 12);
		memcpy(bare + 12, frame + 16, len - 16);
		frame = bare;
		len -= 4;
	}
	if (write(w->tap, frame, len) < 0 && errno != EINVAL && errno != EIO) /* EIO: it is down */
		perror("forward: tap");
}

static int to_socket(const struct way *w, uint8_t *frame, size_t len, struct vs_io_error *err)
{
	if (w->vlan != 0 && len >= 12) {
		memmove(frame + 16, frame + 12, len - 12);
		memcpy(frame + 12, (const uint8_t[]){0x81, 0, (uint8_t)(w->vlan >> 8), (uint8_t)w->vlan}, 4);
		len += 4;
	}
	return vs_frameio_send(w->io, frame, len, err);
}

static int forward(struct way *w)
{
	struct pollfd fd[2] = {{.fd = w->tap, .events = POLLIN}, {.fd = vs_frameio_fd(w->io), .events = POLLIN}};
	uint8_t frame[VS_FRAMEIO_MAX + 4];
	struct vs_io_error err;
	ssize_t n;

	for (;;) {
		if (poll(fd, 2, -1) < 0)
			return fail("poll", strerror(errno));
		if (vs_frameio_receive(w->io, 64, to_tap, w, &err) < 0)
			return fail("socket", err.text);
		while ((n = read(w->tap, frame, VS_FRAMEIO_MAX)) > 0)
			if (to_socket(w, frame, (size_t)n, &err) == VS_ERR_IO)
				return fail("socket", err.text);
		if (n < 0 && errno != EAGAIN && errno != EIO)
			return fail("tap", strerror(errno));
	}
}

int main(int argc, char **argv)
{
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	struct way w = {.vlan = argc == 5 ? (unsigned)atoi(argv[4]) & 0xfffu : 0};
	struct vs_io_error err;
	int code;

	if (argc < 4 || argc > 5 || strlen(argv[1]) >= sizeof(ifr.ifr_name))
		return fail("usage", "forward INTERFACE LOCAL REMOTE [VLAN]");
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return fail("prctl", strerror(errno));
	memcpy(ifr.ifr_name, argv[1], strlen(argv[1]));
	w.tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (w.tap < 0 || ioctl(w.tap, TUNSETIFF, &ifr) != 0)
		return fail("/dev/net/tun", strerror(errno));
	w.io = vs_frameio_unix_open(argv[2], argv[3], &code, &err);
	if (w.io == NULL)
		return fail("socket", err.text);
	puts("ready");
	if (fflush(stdout) != 0)
		return 2;
	return forward(&w);
}
