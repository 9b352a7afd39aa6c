/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_live.c - an interface as a capture: a child process writes what libpcap sees into a pipe. The reader of captures
 * needs no second way in, and a slow reader holds the kernel's buffer back, not the packets that it judges.
 */
#include <errno.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pcap_check.h"

#define SNAP 262144
#define WAIT_MS 100
#define KERNEL_BUFFER (32 << 20)

struct vp_live {
	char path[32];
	int fd;
	pid_t child;
	void (*old_int)(int);
	void (*old_term)(int);
};

static volatile sig_atomic_t stop;
static volatile sig_atomic_t capturer; /* in the parent: the child */

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/* A signal for the parent alone ends the child too, which ends the capture. */
static void pass_on(int sig)
{
	(void)sig;
	(void)kill((pid_t)capturer, SIGTERM);
}

static pcap_t *open_interface(const char *cmd, const char *iface)
{
	char err[PCAP_ERRBUF_SIZE] = "";
	pcap_t *p = pcap_create(iface, err);
	int ret;

	if (p == NULL) {
		vp_complain(cmd, "%s: %s", iface, err);
		return NULL;
	}
	ret = pcap_set_snaplen(p, SNAP);
	if (ret == 0)
		ret = pcap_set_promisc(p, 1);
	if (ret == 0)
		ret = pcap_set_timeout(p, WAIT_MS);
	if (ret == 0)
		ret = pcap_set_buffer_size(p, KERNEL_BUFFER);
	if (ret == 0)
		ret = pcap_activate(p);
	if (ret >= 0)
		return p;
	vp_complain(cmd, "%s can't be captured (%s): 'ip link' lists interfaces, and it needs CAP_NET_RAW", iface,
		    *pcap_geterr(p) ? pcap_geterr(p) : pcap_statustostr(ret));
	pcap_close(p);
	return NULL;
}

/* The child: never returns. */
static void pump(pcap_t *p, int fd)
{
	FILE *out = fdopen(fd, "wb");
	pcap_dumper_t *d = out != NULL ? pcap_dump_fopen(p, out) : NULL;
	struct pollfd ready = {.fd = pcap_get_selectable_fd(p), .events = POLLIN};
	char err[PCAP_ERRBUF_SIZE];
	int n = 0;

	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN);
	if (d == NULL || pcap_setnonblock(p, 1, err) != 0)
		_exit(VP_USAGE);
	while (!stop && n >= 0) {
		(void)poll(&ready, 1, WAIT_MS);
		n = pcap_dispatch(p, -1, pcap_dump, (u_char *)d);
		if (pcap_dump_flush(d) != 0)
			break;
	}
	_exit(n == PCAP_ERROR ? VP_USAGE : VP_OK);
}

struct vp_live *vp_live_begin(const char *cmd, const char *iface)
{
	struct vp_live *l = calloc(1, sizeof(*l));
	pcap_t *p = open_interface(cmd, iface);
	int fds[2];

	if (l == NULL || p == NULL || pipe(fds) != 0) {
		if (p != NULL)
			pcap_close(p);
		free(l);
		return NULL;
	}
	l->child = fork();
	if (l->child == 0) {
		close(fds[0]);
		pump(p, fds[1]);
	}
	close(fds[1]);
	pcap_close(p);
	l->fd = fds[0];
	if (l->child < 0) {
		vp_complain(cmd, "no process to capture with (%s)", strerror(errno));
		close(fds[0]);
		free(l);
		return NULL;
	}
	/* the child stops; what it has seen is judged to the end */
	capturer = l->child;
	l->old_int = signal(SIGINT, pass_on);
	l->old_term = signal(SIGTERM, pass_on);
	snprintf(l->path, sizeof(l->path), "/dev/fd/%d", l->fd);
	return l;
}

const char *vp_live_path(const struct vp_live *l)
{
	return l->path;
}

int vp_live_end(struct vp_live *l)
{
	int status = 0;

	kill(l->child, SIGTERM);
	while (waitpid(l->child, &status, 0) < 0 && errno == EINTR)
		continue;
	signal(SIGINT, l->old_int);
	signal(SIGTERM, l->old_term);
	close(l->fd);
	free(l);
	return WIFEXITED(status) && WEXITSTATUS(status) == VP_OK ? VP_OK : VP_USAGE;
}
