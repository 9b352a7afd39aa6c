/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stream.c - the stream on which vs-agent is told what to do.
 *
 * On standard input and output it lives as long as the stream. On a device (--serial) it stays: whoever hangs up makes
 * room for the next one. Terminals are switched to raw bytes, and back at the end.
 */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "stream.h"

/*
 * Between two looks of a step. The longer nothing has happened, the longer is a nap, since each costs an emulated
 * processor a quarter of a millisecond; never more than a part of that time, by which what is then seen is late.
 */
#define NAP_NS 200000
#define LONG_NAP_NS 20000000
#define NAP_PART 16
#define AGAIN_MS 100 /* a device that nobody has at its other end is tried again */

static bool make_raw(int fd, struct termios *before)
{
	struct termios raw;

	if (!isatty(fd) || tcgetattr(fd, before) != 0)
		return false;
	raw = *before;
	cfmakeraw(&raw);
	return tcsetattr(fd, TCSANOW, &raw) == 0;
}

static long nap_ns(struct ag_session *s)
{
	const uint64_t now = vc_now_ns(), part = (now - s->active_ns) / NAP_PART;
	const uint64_t nap = part < NAP_NS ? NAP_NS : part > LONG_NAP_NS ? LONG_NAP_NS : part;

	vc_lag_rests(&s->t->lag, now + nap);
	return (long)nap;
}

/* Until the stream ends. */
static void serve(struct ag_session *s, int in, int out)
{
	bool stepping = false;

	ag_session_reset(s, out);
	while (!s->lost) {
		const struct timespec nap = {0, stepping ? nap_ns(s) : 0};
		struct pollfd fd = {.fd = in, .events = POLLIN};
		int ready = ppoll(&fd, 1, stepping ? &nap : NULL, NULL);

		if (ready > 0) {
			size_t cap;
			char *space = ag_reader_space(&s->reader, &cap);
			ssize_t n = read(in, space, cap);

			if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
				break;
			ag_reader_got(&s->reader, n > 0 ? (size_t)n : 0);
			ag_session_hear(s);
		}
		stepping = ag_session_step(s);
	}
	ag_run_end(s);
}

static int serve_device(struct ag_session *s, const char *path)
{
	const struct timespec again = {0, AGAIN_MS * 1000000};
	struct termios before;
	int fd;

	for (;;) {
		fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
		if (fd < 0 && errno != EBUSY && errno != EINTR && errno != EIO)
			return ag_fail("--serial %s: can't be opened: %s", path, strerror(errno));
		if (fd >= 0) {
			(void)make_raw(fd, &before);
			serve(s, fd, fd);
			close(fd);
		}
		(void)nanosleep(&again, NULL);
	}
}

int ag_serve(const char *device, const char *serial)
{
	static struct ag_session s;
	struct termios before;
	bool raw;

	s.device = device;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)setpriority(PRIO_PROCESS, 0,
			  -15); /* who keeps time should not wait; where that is not allowed, he does */
	if (serial != NULL)
		return serve_device(&s, serial);
	raw = make_raw(STDIN_FILENO, &before);
	serve(&s, STDIN_FILENO, STDOUT_FILENO);
	if (raw)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
	return 0;
}
