/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pcap_replay.c - vs-pcap replay: a capture onto an interface (frames as they are, or rewritten), or the RoCEv2
 * packets in it to a UDP address.
 *
 * Timing is that of the file, from its first frame on: each frame has a time at which it is due, so that a late one
 * delays nobody else. Times that run backwards are due at once.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pcap_common.h"
#include "vs/inject.h"

#define CMD "replay"
#define NS_PER_S 1000000000ull
#define PROGRESS_NS 500000000ull

struct replay {
	const char *in, *to;
	bool udp, remote, max, tty;
	double speed;
	uint64_t loops, loop;
	struct vp_sets sets;
	struct vs_injector *inj;
	uint64_t sent, bytes, other, cut, refused;
	char refused_text[VS_IO_ERRLEN]; /* the first refusal */
	uint64_t late_ns;                /* the most that a frame was late */
	uint64_t start, shown;
	uint8_t buf[VP_FRAME_MAX];
};

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = sig;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void progress(struct replay *r, uint64_t now)
{
	if (!r->tty || now - r->shown < PROGRESS_NS)
		return;
	r->shown = now;
	fprintf(stderr, "\rloop %" PRIu64 " of %" PRIu64 ": %" PRIu64 " packets, %.1f s ", r->loop + 1, r->loops,
		r->sent, (double)(now - r->start) / 1e9);
}

/* Until `due`; returns early when a signal asks to stop. */
static void wait_until(struct replay *r, uint64_t due)
{
	uint64_t now = now_ns();

	while (now < due && !stopped) {
		uint64_t to = r->tty && due - now > PROGRESS_NS ? now + PROGRESS_NS : due;
		struct timespec t = {.tv_sec = (time_t)(to / NS_PER_S), .tv_nsec = (long)(to % NS_PER_S)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		now = now_ns();
		progress(r, now);
	}
	if (now > due && now - due > r->late_ns)
		r->late_ns = now - due;
}

/* ---- one frame ---- */

/* A refusal of this one packet is counted; any other ends the replay. */
static int refused(struct replay *r, int code, const struct vs_frame *f, const struct vs_io_error *err)
{
	if (code != VS_ERR_INVAL)
		return vp_fail(CMD, "%s", err->text);
	if (r->refused++ == 0)
		snprintf(r->refused_text, sizeof(r->refused_text), "frame %" PRIu64 ": %.400s", f->number, err->text);
	return VP_OK;
}

static int send_link(struct replay *r, const struct vs_frame *f)
{
	const uint8_t *data = f->data;
	struct vs_io_error err;
	int ret;

	if (f->link != VS_LINK_ETHERNET)
		return vp_fail(CMD, "%s: frame %" PRIu64 " is no Ethernet frame: 'vs-pcap convert' makes one of it",
			       r->in, f->number);
	if (f->caplen < f->wirelen || f->caplen > VP_FRAME_MAX) {
		r->cut++;
		return VP_OK;
	}
	if (vp_set_frame(&r->sets, f, r->buf))
		data = r->buf;
	ret = vs_inject_frame(r->inj, data, f->caplen, &err);
	if (ret != 0)
		return refused(r, ret, f, &err);
	r->sent++;
	r->bytes += f->caplen;
	return VP_OK;
}

static int send_udp_packet(struct replay *r, const struct vs_frame *f, struct vs_pkt *p, uint32_t error)
{
	struct vs_io_error err;
	int ret;

	vp_set_apply(&r->sets, p);
	ret = vs_inject_pkt(r->inj, p, error, &err);
	if (ret != 0)
		return refused(r, ret, f, &err);
	r->sent++;
	r->bytes += p->end_off - p->bth_off;
	return VP_OK;
}

/* A super-packet, of which the first packet has `len` bytes: one by one, as the sender's stack sent them. */
static int send_udp_super(struct replay *r, const struct vs_frame *f, const struct vs_pkt *p,
			  const struct vs_offload *o, uint32_t len)
{
	struct vs_pkt seg;

	for (uint32_t k = 0, off = 0; off < o->caplen; k++, off += len) {
		int ret;

		len = vs_offload_next(o, off, len);
		if (vs_offload_packet(o, p, k, off, len, 0, &seg) != VS_OK) {
			r->other++;
			continue;
		}
		ret = send_udp_packet(r, f, &seg, vp_super_icrc_error(o, &seg, k, off));
		if (ret != VP_OK)
			return ret;
	}
	return VP_OK;
}

static int send_udp(struct replay *r, const struct vs_frame *f)
{
	struct vs_offload o;
	struct vs_pkt p;
	uint32_t len;
	int ret = vs_pkt_parse(&p, f->link, f->ethertype, f->data, f->caplen, f->wirelen, 0);

	if (ret != 0 || (p.encap != VS_ENCAP_ROCEV2_IPV4 && p.encap != VS_ENCAP_ROCEV2_IPV6)) {
		r->other++;
		return VP_OK;
	}
	if (p.flags & (VS_PKT_SNAPPED | VS_PKT_FRAGMENT)) {
		r->cut++;
		return VP_OK;
	}
	len = vp_super_of(&p, f, &o);
	if (len > 0)
		return send_udp_super(r, f, &p, &o, len);
	return send_udp_packet(r, f, &p, vp_icrc_error(&p, f->data));
}

/* ---- the whole ---- */

static int replay_once(struct replay *r)
{
	struct vs_io_error err;
	struct vs_capture *c = vs_capture_open(r->in, &err);
	uint64_t start = now_ns();
	int64_t first = 0;
	struct vs_frame f;
	int ret = 0;

	if (!c)
		return vp_fail(CMD, "%s", err.text);
	while (!stopped && (ret = vs_capture_next(c, &f, &err)) == 1) {
		if (f.number == 1)
			first = f.time_ns;
		if (!r->max && f.time_ns > first)
			wait_until(r, start + (uint64_t)((double)(f.time_ns - first) / r->speed));
		else if (r->tty && f.number % 256 == 0)
			progress(r, now_ns());
		if (stopped)
			break;
		ret = r->udp ? send_udp(r, &f) : send_link(r, &f);
		if (ret != VP_OK) {
			vs_capture_close(c);
			return ret;
		}
	}
	vs_capture_close(c);
	if (!stopped && ret != 0) {
		vp_fail(CMD, "%s", err.text);
		return VP_FAILED;
	}
	return VP_OK;
}

static void line(const char *what, uint64_t n)
{
	if (n > 0)
		printf("  %" PRIu64 " %s\n", n, what);
}

static void report(struct replay *r)
{
	double s = (double)(now_ns() - r->start) / 1e9;

	if (r->tty && r->shown > r->start)
		fputs("\r\033[K", stderr);
	printf("%" PRIu64 " packets, %" PRIu64 " bytes to %s in %.3f s: %.0f packets/s, %.3f Mbit/s\n", r->sent,
	       r->bytes, r->to, s, s > 0 ? (double)r->sent / s : 0, s > 0 ? (double)r->bytes * 8 / 1e6 / s : 0);
	if (!r->max)
		printf("  latest packet: %.3f ms after its time\n", (double)r->late_ns / 1e6);
	if (r->udp)
		fputs("  the kernel wrote the IP headers; ICRCs are those of ID 0 with DF\n", stdout);
	if (r->sets.n > 0)
		printf("  %" PRIu64 " rewritten\n", r->sets.packets);
	line("not rewritten: super-packets of segmentation offload", r->sets.supers);
	line("left out: no RoCEv2", r->other);
	line("left out: cut by a snap length, or IP fragments", r->cut);
	if (r->refused > 0)
		printf("  %" PRIu64 " could not be sent, first %s\n", r->refused, r->refused_text);
	if (stopped)
		printf("  stopped by signal %d in loop %" PRIu64 "\n", (int)stopped, r->loop + 1);
}

/* Opens the way out; VP_OK or the exit code. */
static int open_target(struct replay *r)
{
	struct vs_io_error err;
	int code;

	r->udp = strncmp(r->to, "udp:", 4) == 0;
	if (r->udp) {
		r->inj = vp_udp_open(CMD, r->to + 4, r->remote);
		return r->inj ? VP_OK : VP_USAGE;
	}
	r->inj = vs_inject_link_open(r->to, &code, &err);
	return r->inj ? VP_OK : vp_fail(CMD, "%s", err.text);
}

static int replay(struct replay *r)
{
	struct sigaction sa = {.sa_handler = stop};
	struct vs_io_error err;
	struct vs_capture *c = NULL;
	int ret;

	if (strcmp(r->in, "-") != 0) { /* a file that can't be read is worth no interface */
		c = vs_capture_open(r->in, &err);
		if (!c)
			return vp_fail(CMD, "%s", err.text);
		vs_capture_close(c);
	}
	ret = open_target(r);
	if (ret != VP_OK)
		return ret;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	r->tty = isatty(STDERR_FILENO) == 1;
	r->start = r->shown = now_ns();
	for (r->loop = 0; ret == VP_OK && r->loop < r->loops && !stopped; r->loop++)
		ret = replay_once(r);
	if (r->loop > 0)
		r->loop--;
	if (ret != VP_USAGE || r->sent > 0)
		report(r);
	if (ret == VP_OK && (r->refused > 0 || stopped))
		ret = VP_FAILED;
	return vp_flush(CMD) == VP_OK ? ret : VP_USAGE;
}

static int help(void)
{
	fputs("usage: vs-pcap replay FILE --to IFACE|udp:ADDR[:PORT] [options]\n\n"
	      "Sends the frames of a capture through an interface, as they are (needs CAP_NET_RAW), or what is behind "
	      "the\n"
	      "UDP header of each RoCEv2 packet to a UDP address: then the kernel writes the IP header, and the ICRC "
	      "is\n"
	      "computed anew for its addresses and ports, ID 0 and DF. Frames that a snap length cut are left out.\n\n"
	      "  --speed N       N times as fast as it was recorded, or max: as fast as it goes (default 1)\n"
	      "  --loop N        N times (default 1)\n"
	      "  --set F=VALUE   rewrites a field as 'vs-pcap edit' does; may be repeated\n"
	      "  --allow-remote  lets udp: leave the loopback addresses\n\n"
	      "Exit code: 1 when packets could not be sent, the file is damaged, or a signal stopped it.\n\nFields:\n",
	      stdout);
	vp_set_help(stdout);
	return vp_flush(CMD);
}

static int set_speed(struct replay *r, const char *text)
{
	char *end;

	if (strcmp(text, "max") == 0) {
		r->max = true;
		return VP_OK;
	}
	r->max = false;
	r->speed = strtod(text, &end);
	if (*text < '0' || *text > '9' || *end != '\0' || !(r->speed >= 1e-6 && r->speed <= 1e9))
		return vp_fail(CMD, "--speed %s: is neither max nor a number from 0.000001 to 1000000000", text);
	return VP_OK;
}

static int set_loops(struct replay *r, const char *text)
{
	if (!vs_cli_number(text, 0, UINT32_MAX, &r->loops) || r->loops == 0)
		return vp_fail(CMD, "--loop %s: is no number from 1 to %u", text, UINT32_MAX);
	return VP_OK;
}

/* VP_OK: go on; -1: help was printed; otherwise the exit code. */
static int parse_options(struct replay *r, int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
						{"to", required_argument, NULL, 't'},
						{"speed", required_argument, NULL, 'S'},
						{"loop", required_argument, NULL, 'l'},
						{"set", required_argument, NULL, 's'},
						{"allow-remote", no_argument, NULL, 'r'},
						{0}};
	int opt, ret = VP_OK;

	opterr = 0;
	while (ret == VP_OK && (opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (opt == 'h')
			return help() == VP_OK ? -1 : VP_USAGE;
		if (opt == 't')
			r->to = optarg;
		else if (opt == 'S')
			ret = set_speed(r, optarg);
		else if (opt == 'l')
			ret = set_loops(r, optarg);
		else if (opt == 's')
			ret = vp_set_parse(&r->sets, CMD, optarg);
		else if (opt == 'r')
			r->remote = true;
		else
			return vp_bad_option(CMD, argv, opt);
	}
	if (ret != VP_OK)
		return ret;
	if (optind + 1 != argc)
		return vp_fail(CMD, "%s FILE: see 'vs-pcap replay --help'", optind == argc ? "which" : "only one");
	r->in = argv[optind];
	if (!r->to)
		return vp_fail(CMD, "where to? --to IFACE or --to udp:ADDR is missing");
	if (r->loops > 1 && strcmp(r->in, "-") == 0)
		return vp_fail(CMD, "--loop: standard input can be read only once");
	return VP_OK;
}

int vp_replay(int argc, char **argv)
{
	struct replay *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return vp_fail(CMD, "no memory");
	r->speed = 1;
	r->loops = 1;
	ret = parse_options(r, argc, argv);
	if (ret == VP_OK)
		ret = replay(r);
	vs_inject_close(r->inj);
	free(r);
	return ret < 0 ? VP_OK : ret;
}
