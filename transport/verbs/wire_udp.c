/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * wire_udp.c - the engine on UDP sockets: which addresses, what a GID's MAC is, the capture file, faults on the way.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verbs/identity.h"
#include "verbs/ref.h"
#include "vs/pktio.h"
#include "vs/udpio.h"

#define ETH 14u /* the engine's frames begin with an Ethernet header, which no socket wants */
#define LOOPBACKS 250
#define ACK_EVERY 8u
#define TURN 128u /* packets sent in one go: then it is time to receive */

struct wire_udp {
	struct ref_wire wire; /* must be first */
	struct vs_dev *dev;   /* NULL: not yet made */
	struct vs_udpio *udp;
	struct vs_udpio_attr attr;
	struct vs_impair *impair; /* NULL: no faults */
	struct vs_writer *capture;
	struct ref_trace *trace; /* NULL: none */
	char node[16];           /* this side's name in it */
	bool capture_broken;
	uint32_t snaplen; /* 0: whole packets */
	enum vs_mtu mtu;
	uint64_t now;
	uint64_t wall_offset; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
};

static struct wire_udp *self(struct ref_wire *w)
{
	return (struct wire_udp *)w;
}

/* ---- capture ---- */

/* What of a packet is captured: management datagrams are kept whole, since all that they say is behind the headers. */
static uint32_t captured(const struct wire_udp *w, const uint8_t *ip, size_t len)
{
	size_t bth = (ip[0] >> 4 == 4 ? (ip[0] & 15u) * 4 : 40u) + 8;
	bool management = len >= bth + 12 && ip[bth + 5] == 0 && ip[bth + 6] == 0 && ip[bth + 7] == VS_QPN_GSI;

	return w->snaplen == 0 || w->snaplen > len || management ? (uint32_t)len : w->snaplen;
}

static void tap(void *ctx, bool sent, const uint8_t *ip, size_t len)
{
	struct wire_udp *w = ctx;
	struct vs_io_error err;

	(void)sent;
	if (w->capture_broken)
		return;
	if (vs_writer_put(w->capture, (int64_t)(w->now + w->wall_offset), ip, captured(w, ip, len), (uint32_t)len,
			  &err) != VS_OK) {
		w->capture_broken = true;
		ref_say("%s", err.text);
	}
}

static int open_capture(struct wire_udp *w, const char *path)
{
	struct vs_io_error err;

	w->wall_offset = ref_wall(0);
	w->capture = vs_writer_open_kept(path, VS_WRITER_RAW_IP, &err);
	if (w->capture == NULL) {
		ref_say("%s", err.text);
		return EIO;
	}
	w->attr.tap = tap;
	w->attr.tap_ctx = w;
	return 0;
}

/* ---- in and out ---- */

static void to_engine(struct wire_udp *w, const uint8_t *ip, size_t len, bool icrc_good)
{
	const struct vs_pkt_meta meta = {.icrc_good = icrc_good};

	vs_dev_input(w->dev, VS_LINK_IP, ip, len, &meta, w->now);
}

/* From this device: faults had their chance when it left. */
static bool is_own(const struct wire_udp *w, const uint8_t *ip)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	uint8_t src[16];

	if (ip[0] >> 4 == 4) {
		memcpy(src, mapped, 12);
		memcpy(src + 12, ip + 12, 4);
	} else {
		memcpy(src, ip + 8, 16);
	}
	for (unsigned i = 0; i < w->attr.n_addrs; i++)
		if (memcmp(w->attr.addr[i], src, 16) == 0)
			return true;
	return false;
}

/* Who writes down when a packet came must not be earlier than who wrote down that it was sent: read the clock again. */
static void arrived(void *ctx, const uint8_t *ip, size_t len, bool icrc_good)
{
	struct wire_udp *w = ctx;

	if (w->trace != NULL || w->capture != NULL)
		w->now = ref_real_now();
	if (w->impair != NULL && !is_own(w, ip))
		(void)vs_impair_frame(w->impair, false, ip, len, w->now);
	else
		to_engine(w, ip, len, icrc_good);
}

static void to_socket(struct wire_udp *w, const uint8_t *ip, size_t len)
{
	uint8_t *slot = vs_udpio_slot(w->udp);

	if (slot == NULL) {
		vs_udpio_flush(w->udp);
		slot = vs_udpio_slot(w->udp);
	}
	memcpy(slot, ip, len);
	vs_udpio_commit(w->udp, 0, len);
}

/* What faults have left of a packet. */
static void pass(void *ctx, bool out, const uint8_t *ip, size_t len)
{
	struct wire_udp *w = ctx;

	if (out)
		to_socket(w, ip, len);
	else
		to_engine(w, ip, len, false); /* it may have been damaged since */
}

static unsigned receive(struct ref_wire *wire, unsigned max, uint64_t now_ns)
{
	struct wire_udp *w = self(wire);

	w->now = now_ns;
	if (w->impair != NULL)
		vs_impair_expire(w->impair, now_ns);
	return vs_udpio_receive(w->udp, max, arrived, w);
}

/* The next packet of the engine goes to a slot, or through the faults. False: the engine has nothing to send. */
static bool send_one(struct wire_udp *w)
{
	uint8_t frame[VS_FRAME_MAX], *slot = w->impair == NULL ? vs_udpio_slot(w->udp) : frame;
	struct vs_pkt_meta meta;
	size_t n;

	if (slot == NULL) {
		vs_udpio_flush(w->udp);
		slot = vs_udpio_slot(w->udp);
	}
	n = vs_dev_output(w->dev, slot, VS_FRAME_MAX, &meta, w->now);
	if (n <= ETH)
		return false;
	if (w->impair != NULL)
		(void)vs_impair_frame(w->impair, true, slot + ETH, n - ETH, w->now);
	else
		vs_udpio_commit(w->udp, ETH, n - ETH);
	return true;
}

static bool look_for_room(struct wire_udp *w)
{
	if (!vs_udpio_look(w->udp, w->now))
		return false;
	vs_dev_resume(w->dev);
	return true;
}

static enum ref_sent send_packets(struct ref_wire *wire, uint64_t now_ns)
{
	struct wire_udp *w = self(wire);
	unsigned n = 0;

	if (now_ns > w->now)
		w->now = now_ns;
	if (w->impair != NULL)
		vs_impair_expire(w->impair, now_ns);
	look_for_room(w);
	do
		while (n < TURN && send_one(w))
			n++;
	while (n < TURN && vs_dev_waits_for_room(w->dev) && look_for_room(w));
	vs_udpio_flush(w->udp);
	return n == TURN ? REF_SENT_SOME : vs_dev_waits_for_room(w->dev) ? REF_SENT_NO_ROOM : REF_SENT_ALL;
}

static uint64_t deadline(const struct ref_wire *wire)
{
	const struct wire_udp *w = (const struct wire_udp *)wire;

	return w->impair != NULL ? vs_impair_deadline(w->impair) : VS_NEVER;
}

/* ---- what the engine is told about it ---- */

static bool neighbour(void *ctx, const uint8_t gid[16], uint8_t mac[6])
{
	(void)ctx;
	ref_mac_of(gid, mac);
	return true;
}

static bool has_room(void *ctx, const uint8_t dgid[16])
{
	return vs_udpio_has_room(ctx, dgid);
}

static struct vs_dev *create(struct ref_wire *wire, struct vs_dev_attr *attr, int *err)
{
	struct wire_udp *w = self(wire);

	for (unsigned i = 0; i < w->attr.n_addrs; i++) {
		attr->gids[i].type = VS_GID_ROCEV2;
		memcpy(attr->gids[i].gid, w->attr.addr[i], 16);
	}
	ref_mac_of(w->attr.addr[0], attr->mac);
	attr->node_guid = ref_guid_of(w->attr.addr[0]);
	attr->has_room = has_room;
	attr->has_room_ctx = w->udp;
	attr->max_mcast_grp = VS_UDPIO_GROUPS;
	attr->neighbour = neighbour;
	if (attr->rc_window == 0)
		attr->rc_window = vs_udpio_window(w->udp, vs_mtu_bytes(w->mtu));
	if (attr->rc_window > 1024)
		attr->rc_window = 1024;
	/* Of many QPs each has its turn rarely: so that an acknowledge comes before the ACK timer of the first packet.
	 */
	if (attr->ack_every == 0)
		attr->ack_every = attr->rc_window / 4 < ACK_EVERY ? attr->rc_window / 4 : ACK_EVERY;
	if (w->trace != NULL) {
		attr->name = w->node;
		attr->sink = ref_trace_sink(w->trace);
		attr->sink.quick = true;
	}
	w->dev = vs_dev_create(attr, err);
	return w->dev;
}

static uint64_t now(const struct ref_wire *wire)
{
	(void)wire;
	return ref_real_now();
}

static int fault(struct ref_wire *wire, const char *rule, char *why, size_t cap)
{
	struct wire_udp *w = self(wire);
	struct vs_fault_error err;

	if (w->impair == NULL)
		w->impair = ref_impair_new(&ref.config, pass, w);
	if (w->impair == NULL)
		return ENOMEM;
	if (rule == NULL)
		vs_impair_clear(w->impair);
	else if (vs_impair_add(w->impair, rule, strlen(rule), &err) != VS_OK) {
		(void)snprintf(why, cap, "column %u: %s", err.column, err.text);
		return EINVAL;
	}
	return 0;
}

static const char *idle_fault(const struct ref_wire *wire)
{
	const struct wire_udp *w = (const struct wire_udp *)wire;

	return w->impair != NULL ? vs_impair_idle(w->impair) : NULL;
}

static int join(struct ref_wire *wire, const uint8_t gid[16])
{
	switch (vs_udpio_join(self(wire)->udp, gid)) {
	case VS_OK:
		return 0;
	case VS_ERR_NOSPACE:
		return ENOMEM;
	case VS_ERR_IO:
		return EIO;
	default:
		return EINVAL;
	}
}

static void leave(struct ref_wire *wire, const uint8_t gid[16])
{
	vs_udpio_leave(self(wire)->udp, gid);
}

static void say_counter(const char *name, uint64_t n)
{
	if (n > 0)
		ref_say("counter %-24s %llu", name, (unsigned long long)n);
}

static void counters(const struct ref_wire *wire)
{
	const struct vs_udpio_stats *s = vs_udpio_stats(((const struct wire_udp *)wire)->udp);

	say_counter("udp_send_calls", s->send_calls);
	say_counter("udp_receive_calls", s->receive_calls);
	say_counter("udp_not_sent", s->refused);
	say_counter("udp_larger_than_mtu", s->too_big);
	say_counter("udp_receiver_full", s->stalls);
	say_counter("udp_foreign_ip_id", s->foreign);
}

/* ---- opening ---- */

static void close_wire(struct ref_wire *wire)
{
	struct wire_udp *w = self(wire);
	struct vs_io_error err;

	if (w->dev != NULL && !ref.forked) /* a child keeps its copy: its objects point into it */
		vs_dev_destroy(w->dev);
	vs_udpio_close(w->udp);
	vs_impair_free(w->impair);
	if (w->capture != NULL && ref.forked)
		vs_writer_forget(w->capture);
	else if (w->capture != NULL && vs_writer_close(w->capture, &err) != VS_OK)
		ref_say("%s", err.text);
	ref_trace_close(w->trace, !ref.forked);
	free(w);
}

static int errno_of(int code)
{
	return code == VS_ERR_BUSY    ? EADDRINUSE
	       : code == VS_ERR_INVAL ? EADDRNOTAVAIL
	       : code == VS_ERR_PERM  ? EPERM
				      : EIO;
}

/* The first free 127.0.0.N: each process takes its own, whoever comes first. */
static int open_any(struct wire_udp *w, struct vs_io_error *err)
{
	static const uint8_t first[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
	int code = VS_ERR_BUSY;

	w->attr.n_addrs = 1;
	memcpy(w->attr.addr[0], first, 16);
	for (int n = 1; n <= LOOPBACKS && code == VS_ERR_BUSY; n++) {
		w->attr.addr[0][15] = (uint8_t)n;
		w->udp = vs_udpio_open(&w->attr, &code, err);
		if (w->udp != NULL) {
			if (!ref.config.quiet)
				ref_say("this process is 127.0.0.%d", n);
			return VS_OK;
		}
	}
	if (code == VS_ERR_BUSY)
		snprintf(err->text, sizeof(err->text),
			 "every 127.0.0.N:4791 is taken: rdma_rxe owns the port on every address while it is loaded; "
			 "use vs-run --netns, or 'rmmod rdma_rxe'");
	return code;
}

/* A child whose parent has the address, or one that nobody insists on: another of the loopback network does, too. */
static bool may_move(const struct ref_config *c)
{
	return c->may_move || (ref.is_child && c->n_addrs == 1 && c->addr[0][10] == 0xff && c->addr[0][12] == 127);
}

static int open_sockets(struct wire_udp *w, const struct ref_config *c)
{
	struct vs_io_error err;
	int code;

	w->attr.no_gso = c->no_gso;
	if (c->n_addrs == 0) {
		code = open_any(w, &err);
	} else {
		memcpy(w->attr.addr, c->addr, sizeof(w->attr.addr));
		w->attr.n_addrs = c->n_addrs;
		w->udp = vs_udpio_open(&w->attr, &code, &err);
		if (w->udp == NULL && code == VS_ERR_BUSY && may_move(c))
			code = open_any(w, &err);
	}
	if (w->udp == NULL) {
		ref_say("%s%s", err.text,
			code == VS_ERR_BUSY && c->n_addrs > 0 ? "; choose another --ip, or none, or add --netns" : "");
		return errno_of(code);
	}
	return 0;
}

static int open_trace(struct wire_udp *w, const struct ref_config *c)
{
	const uint8_t *a = w->attr.addr[0];
	int rc = 0;

	if (c->node != NULL)
		snprintf(w->node, sizeof(w->node), "%.15s", c->node);
	else if (a[10] == 0xff && a[0] == 0)
		snprintf(w->node, sizeof(w->node), "%u.%u.%u.%u", a[12], a[13], a[14], a[15]);
	else
		snprintf(w->node, sizeof(w->node), "..:%x:%x", a[12] << 8 | a[13], a[14] << 8 | a[15]);
	w->trace = ref_trace_open(c, w->node, &rc);
	return rc;
}

static int open_all(struct wire_udp *w, const struct ref_config *c)
{
	int rc = c->capture != NULL ? open_capture(w, c->capture) : 0;

	w->snaplen = c->snaplen;
	if (rc == 0)
		rc = open_sockets(w, c);
	if (rc != 0)
		return rc;
	w->wire.fd = vs_udpio_fd(w->udp);
	if (c->trace != NULL && (rc = open_trace(w, c)) != 0)
		return rc;
	if (c->n_faults > 0) {
		w->impair = ref_impair_new(c, pass, w);
		if (w->impair == NULL)
			return EINVAL;
	}
	return 0;
}

struct ref_wire *ref_wire_udp(const struct ref_config *config, int *err)
{
	static const struct ref_wire_ops ops = {receive, send_packets, deadline,   now,   create,    join,
						leave,   counters,     close_wire, fault, idle_fault};
	struct wire_udp *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		*err = ENOMEM;
		return NULL;
	}
	w->wire.ops = &ops;
	w->wire.fd = -1;
	w->mtu = config->mtu;
	*err = open_all(w, config);
	if (*err != 0) {
		if (w->capture != NULL)
			vs_writer_abort(w->capture);
		w->capture = NULL;
		ref_trace_close(w->trace, false);
		w->trace = NULL;
		close_wire(&w->wire);
		return NULL;
	}
	return &w->wire;
}
