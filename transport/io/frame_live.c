/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * frame_live.c - Ethernet frames through a network interface: libpcap captures what comes in, libnet injects.
 *
 * Both look at the interface before anything is sent or seen by others: a name that is none, an interface that is down
 * or has no Ethernet frames, and a missing privilege are told apart (vs_inject_link_open).
 */
#define _GNU_SOURCE /* CLOCK_MONOTONIC_COARSE */
#include <net/if.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io/frame.h"
#include "vs/inject.h"

#define BUFFER (32 << 20) /* a burst that nobody reads: 5000 packets of a path MTU of 4096 */
#define LOOK_NS 50000000u /* between two looks whether the interface is up, while nothing comes */
#define HEADERS 64        /* Ethernet and tags, and what the kernel puts in front of them */

struct frame_live {
	struct vs_frameio io; /* first */
	struct vs_injector *out;
	pcap_t *in;
	int ask;          /* a socket for questions about the interface */
	uint64_t seen_up; /* when, in ns */
	char name[IF_NAMESIZE];
};

static struct frame_live *self(struct vs_frameio *f)
{
	return (struct frame_live *)f;
}

static void live_close(struct vs_frameio *f)
{
	struct frame_live *l = self(f);

	vs_inject_close(l->out);
	if (l->in != NULL)
		pcap_close(l->in);
	if (l->ask >= 0)
		close(l->ask);
	free(l);
}

static bool ask(const struct frame_live *l, unsigned long what, struct ifreq *ifr)
{
	*ifr = (struct ifreq){0};
	memcpy(ifr->ifr_name, l->name, sizeof(l->name));
	return ioctl(l->ask, what, ifr) == 0;
}

/* Is it still there, and up? */
static bool is_up(const struct frame_live *l)
{
	struct ifreq ifr;

	return ask(l, SIOCGIFFLAGS, &ifr) && ifr.ifr_flags & IFF_UP;
}

/* Bytes of a frame. The kernel's buffer has room for so many bytes in each place, so it should not be too much. */
static int longest(const struct frame_live *l)
{
	struct ifreq ifr;

	return ask(l, SIOCGIFMTU, &ifr) && ifr.ifr_mtu < (int)VS_FRAMEIO_MAX - HEADERS ? ifr.ifr_mtu + HEADERS
										       : (int)VS_FRAMEIO_MAX;
}

static int live_send(struct vs_frameio *f, const uint8_t *frame, size_t len, struct vs_io_error *err)
{
	return vs_inject_frame(self(f)->out, frame, len, err);
}

/* What a frame is handed to, through pcap_dispatch. */
struct hand {
	vs_frameio_fn *fn;
	void *ctx;
};

static void captured(u_char *user, const struct pcap_pkthdr *h, const u_char *bytes)
{
	const struct hand *to = (const struct hand *)(const void *)user;

	/* with nanosecond stamps tv_usec counts nanoseconds */
	if (h->caplen == h->len)
		to->fn(to->ctx, (uint64_t)h->ts.tv_sec * 1000000000u + (uint64_t)h->ts.tv_usec, bytes, h->caplen);
}

static int live_receive(struct vs_frameio *f, unsigned max, vs_frameio_fn *fn, void *ctx, struct vs_io_error *err)
{
	struct frame_live *l = self(f);
	struct hand to = {fn, ctx};
	int n = pcap_dispatch(l->in, (int)max, captured, (u_char *)&to);
	struct timespec t;
	uint64_t now;

	if (n > 0)
		return n;
	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	if (n == 0 && now - l->seen_up < LOOK_NS)
		return 0;
	l->seen_up = now;
	if (!is_up(l)) /* libpcap says nothing of one that is down */
		return vs_io_fail(err, VS_ERR_IO, 0, l->name, "the interface went away or down");
	return n == 0 ? 0 : vs_io_fail(err, VS_ERR_IO, 0, l->name, "%s", pcap_geterr(l->in));
}

/* ---- opening ---- */

static bool set_up(struct frame_live *l, const char *filter, char text[PCAP_ERRBUF_SIZE])
{
	struct bpf_program program;
	bool good;

	l->in = pcap_create(l->name, text);
	if (l->in == NULL)
		return false;
	if (pcap_set_snaplen(l->in, longest(l)) == 0 && pcap_set_promisc(l->in, 1) == 0 &&
	    pcap_set_immediate_mode(l->in, 1) == 0 && pcap_set_buffer_size(l->in, BUFFER) == 0 &&
	    pcap_set_tstamp_precision(l->in, PCAP_TSTAMP_PRECISION_NANO) == 0 && pcap_activate(l->in) >= 0 &&
	    pcap_setdirection(l->in, PCAP_D_IN) == 0 && pcap_setnonblock(l->in, 1, text) == 0) {
		if (filter == NULL)
			return true;
		good = pcap_compile(l->in, &program, filter, 1, PCAP_NETMASK_UNKNOWN) == 0;
		if (good) {
			good = pcap_setfilter(l->in, &program) == 0;
			pcap_freecode(&program);
		}
		if (good)
			return true;
	}
	(void)snprintf(text, PCAP_ERRBUF_SIZE, "%s", pcap_geterr(l->in));
	return false;
}

struct vs_frameio *vs_frameio_live_open(const char *name, const char *filter, int *code, struct vs_io_error *err)
{
	struct frame_live *l = calloc(1, sizeof(*l));
	char text[PCAP_ERRBUF_SIZE] = "";

	*code = VS_ERR_IO;
	if (l == NULL) {
		vs_io_fail(err, VS_ERR_IO, 0, name, "can't be opened: no memory");
		return NULL;
	}
	l->io = (struct vs_frameio){.close = live_close, .send = live_send, .receive = live_receive, .fd = -1};
	l->ask = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	l->out = vs_inject_link_open(name, code, err);
	if (l->out == NULL) {
		live_close(&l->io);
		return NULL;
	}
	*code = VS_ERR_IO;
	(void)snprintf(l->name, sizeof(l->name), "%.*s", IF_NAMESIZE - 1, name);
	if (!set_up(l, filter, text) || (l->io.fd = pcap_get_selectable_fd(l->in)) < 0) {
		text[strcspn(text, "\n")] = '\0';
		vs_io_fail(err, VS_ERR_IO, 0, name, "can't be captured on: %s", text);
		live_close(&l->io);
		return NULL;
	}
	*code = VS_OK;
	return &l->io;
}
