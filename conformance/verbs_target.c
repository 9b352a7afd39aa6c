/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_target.c - time and the wire of the target `verbs`: the clock of this host, and the peer (peer.h).
 *
 * The runner looks at the peer's wire every fifth of a millisecond; packets have the time at which the kernel got them.
 * How long nobody looked is counted: what fails in such a run may be the runner's fault (lag_ns).
 */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "remote.h"
#include "verbs_cm.h"

#define NAP_NS 200000u
#define LONG_NAP_NS 20000000u /* where whatever happens wakes this process up */
#define SETTLE_NS 10000000u
#define PATIENCE_NS 1000000000u
#define SLACK_NS 250000000u
#define EARLY_NS 100000u    /* without a peer */
#define DOUBTS 10u          /* times that */
#define CM_FRAME 512u       /* longer ones hold no message of the connection manager */
#define QPN_FIRST 0x400000u /* of the peer's queue pairs; 256 to a run, so that late packets of another are known */
#define QPN_RUNS 0x3fffu

/* What CLOCK_REALTIME says, on the clock of the run; never later than now. */
uint64_t vc_on_our_clock(uint64_t real_ns)
{
	struct timespec t;
	uint64_t now = vc_now_ns(), real;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	real = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return real_ns == 0 || real_ns > real || real - real_ns > now ? now : now - (real - real_ns);
}

/* ---- the wire ---- */

void vc_packet_event(struct vs_event *ev, const struct vs_pkt *p)
{
	ev->a[0] = p->bth.opcode;
	ev->a[1] = p->bth.psn;
	ev->a[2] = p->bth.destqp;
	ev->a[3] = p->payload_len;
	ev->a[4] = p->hdrs & VS_HDR_AETH ? p->ext.aeth.syndrome : VS_SYN_NONE;
	ev->a[5] = p->hdrs & VS_HDR_AETH ? p->ext.aeth.msn : 0;
	ev->a[6] = p->bth.ackreq;
}

static void tell(struct vc_target *t, const char *node, uint64_t when, const uint8_t *frame, size_t len)
{
	struct vs_drill_frame f = {when, node, VS_TAP_SENT, VS_LINK_ETHERNET, frame, len};
	struct vs_event ev = {.type = VS_EV_PKT_TX, .t_ns = when, .pkt_id = ++t->pkt_id};
	struct vs_pkt p;

	if (t->setup.env->tap != NULL)
		t->setup.env->tap(t->setup.env->tap_ctx, &f);
	if (vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, frame, len, len, 0) != VS_OK)
		return;
	(void)snprintf(ev.node, sizeof(ev.node), "%s", node);
	vc_packet_event(&ev, &p);
	vc_emit(t, &ev);
}

/* Groups are heard by all who are in them: what another process sends there is not ours. */
static bool is_foreign(const struct vc_target *t, const struct vs_pkt *p)
{
	const struct vc_gids *g = &t->v->gids;

	if (p->encap == VS_ENCAP_ROCEV2_IPV4)
		return memcmp(p->ipv4.src, g->gid[EN_ROCEV2_IPV4] + 12, 4) != 0;
	return p->encap == VS_ENCAP_ROCEV2_IPV6 && memcmp(p->grh.sgid, g->gid[EN_ROCEV2_IPV6], 16) != 0;
}

/* For a queue pair of an earlier run: its device had not heard yet that nobody is there any more. */
static bool is_late(const struct vc_target *t, uint32_t qpn)
{
	return qpn >= QPN_FIRST && qpn < QPN_FIRST + (QPN_RUNS << 8) && qpn >> 8 != t->t.peer_qpn >> 8;
}

/* A frame that came late for the work that it is about may make what follows it look early. */
static void held_up(struct vc_target *t, uint64_t when)
{
	if (t->posted_ns != 0 && when > t->posted_ns && when - t->posted_ns > t->t.doubt_ns)
		t->t.doubt_ns = when - t->posted_ns;
	t->posted_ns = 0;
}

static void on_frame(void *ctx, uint64_t stamp_ns, const uint8_t *frame, size_t len)
{
	struct vc_target *t = ctx;
	uint64_t when = vc_on_our_clock(stamp_ns);
	uint8_t copy[CM_FRAME];
	struct vs_pkt p;

	if (vs_pkt_parse(&p, VS_LINK_ETHERNET, 0, frame, len, len, 0) == VS_OK &&
	    (is_foreign(t, &p) || is_late(t, p.bth.destqp)))
		return;
	held_up(t, when);
	tell(t, vc_dut_name(t), when, frame, len);
	t->heard++;
	if (len <= sizeof(copy)) {
		if (!vc_cm_to_script(t, frame, len, copy))
			return;
		frame = copy;
	}
	t->setup.ears.frame(t->setup.ears.ctx, when, VS_LINK_ETHERNET, frame, len);
}

static int t_send(struct dr_target *dt, const uint8_t *frame, size_t len)
{
	struct vc_target *t = vc_self(dt);
	uint64_t now = vc_now_ns();
	uint8_t copy[CM_FRAME];
	const char *why = NULL;

	if (t->cm != NULL && len <= sizeof(copy)) {
		why = vc_cm_to_device(t, frame, len, copy);
		frame = copy;
	}
	if (why == NULL)
		why = t->v->peer->ops->send(t->v->peer, frame, len);
	if (why != NULL)
		return vc_lacks(t, why);
	tell(t, "peer", now, frame, len);
	return VS_OK;
}

/* ---- time ---- */

static uint64_t t_now(struct dr_target *dt)
{
	(void)dt;
	return vc_now_ns();
}

static uint64_t t_lag_ns(struct dr_target *dt)
{
	struct vc_target *t = vc_self(dt);
	uint64_t theirs = t->remote != NULL ? vc_remote_lag_ns(t) : 0;

	vc_lag_watch(&t->lag, vc_now_ns(), true);
	return t->lag.longest_ns > theirs ? t->lag.longest_ns : theirs;
}

static bool look(struct vc_target *t)
{
	struct vc_peer *peer = t->v->peer;
	unsigned before = t->heard;
	uint64_t now = vc_now_ns();

	vc_lag_looked(&t->lag, now);
	if (peer != NULL) {
		peer->ops->flush(peer);
		(void)peer->ops->receive(peer, 64, on_frame, t);
		if (peer->broken[0] != '\0')
			t->t.gone = peer->broken;
	}
	if (t->remote != NULL)
		vc_remote_hear(t, false);
	if (t->heard != before)
		t->heard_ns = now;
	return t->heard != before;
}

static bool t_step(struct dr_target *dt, uint64_t until)
{
	struct vc_target *t = vc_self(dt);
	struct vc_peer *peer = t->v->peer;
	struct pollfd fd[2] = {
		{.fd = peer != NULL && peer->broken[0] == '\0' ? peer->ops->fd(peer) : -1, .events = POLLIN},
		{.fd = t->remote != NULL ? t->v->link->from : -1, .events = POLLIN}};
	unsigned before = t->heard;
	uint64_t now;

	if (t->remote != NULL)
		vc_remote_step(t, until);
	if (look(t))
		return true;
	now = vc_now_ns();
	if (now < until) {
		uint64_t most = t->remote != NULL ? LONG_NAP_NS : NAP_NS;
		uint64_t nap = until - now < most ? until - now : most;
		const struct timespec ts = {0, (long)nap};

		if (t->remote != NULL)
			vc_lag_rests(&t->lag, now + nap);
		(void)ppoll(fd, 2, &ts, NULL);
	}
	if (look(t) || vc_now_ns() < until)
		return true;
	if (t->remote != NULL) /* what happened there up to now may be on its way */
		vc_remote_hear(t, true);
	return t->heard != before;
}

static bool t_idle(struct dr_target *dt)
{
	struct vc_target *t = vc_self(dt);

	return vc_now_ns() - t->heard_ns > SETTLE_NS;
}

/* The way to a node, in an encapsulation that device and peer have. */
static int t_av(struct dr_target *dt, int node, int encap, struct vs_av *av)
{
	struct vc_target *t = vc_self(dt);
	const struct vc_peer *peer = t->setup.p->node[node].engine ? NULL : t->v->peer;
	const char *why;

	if (encap < 0)
		encap = t->setup.encap;
	why = vc_no_way(t->v, encap, peer != NULL);
	if (why != NULL)
		return vc_lacks(t, why);
	*av = (struct vs_av){.is_global = true, .sgid_index = t->v->gids.index[encap], .hop_limit = 64, .port = 1};
	memcpy(av->dgid, peer != NULL ? peer->gid[encap] : t->v->gids.gid[encap], 16);
	memcpy(av->dmac, peer != NULL ? peer->mac : t->v->gids.mac[encap], 6);
	return VS_OK;
}

static void t_mark(struct dr_target *dt, const char *text)
{
	struct vs_event ev = {.type = VS_EV_MARK, .node = "script", .a = {(uintptr_t)text}};

	vc_emit(vc_self(dt), &ev);
}

/* ---- opening ---- */

/* Multicast groups are those of the host: one run at a time uses them. -1: it can't be helped. */
static int lock_groups(void)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/tmp/vs-conform.groups.%u", (unsigned)getuid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR)
		;
	return fd;
}

static void t_destroy(struct dr_target *dt)
{
	struct vc_target *t = vc_self(dt);

	if (t->v->failed)
		vc_watch_failed();
	if (t->remote == NULL)
		vc_cm_close(t);
	vc_handles_free(t);
	if (t->faults)
		(void)t->ops.fault(dt, NULL);
	vc_remote_close(t);
	if (t->groups_fd >= 0)
		close(t->groups_fd);
	free(t);
}

/* Parts of a packet that such a peer neither shows nor lets choose. */
static bool is_hidden(int key)
{
	static const int keys[] = {K_ETH_SRC,     K_ETH_DST, K_ETHERTYPE, K_VLAN,    K_PCP,  K_DF,   K_MF,
				   K_FRAG_OFFSET, K_IHL,     K_IP_SUM,    K_UDP_SUM, K_SLID, K_DLID, K_VCRC};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i] == key)
			return true;
	return false;
}

/* What statements ask for that the peer, or only a simulator, has. */
static const char *beyond(const struct vc_peer *peer, const struct stmt *st)
{
	const char *why = NULL;

	for (; st != NULL && why == NULL; st = st->next) {
		if (st->kind == S_LINK)
			return "the script sets up a link, which only the simulator can";
		for (const struct option *o = st->opt; o != NULL && peer != NULL && !peer->whole; o = o->next)
			if ((st->kind == S_RECEIVE || st->kind == S_SEND) && is_hidden(o->key->id))
				return "a UDP socket shows nothing of the Ethernet header, fragments and checksums";
		for (const struct alternative *a = st->alt; a != NULL && why == NULL; a = a->next)
			why = beyond(peer, a->first);
	}
	return why;
}

/* May this process be refused a controlled Q_Key? Before 6.4 the kernel let everybody have one. */
static bool unprivileged(const struct vc_verbs *v)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}};
	unsigned major = 0, minor = 0;
	struct utsname u;

	if (v->reference)
		return true; /* which lets nobody */
	if (v->link != NULL || syscall(SYS_capget, &head, caps) != 0 || uname(&u) != 0 ||
	    sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return false; /* nobody knows */
	return (caps[0].effective >> CAP_NET_RAW & 1) == 0 && (major > 6 || (major == 6 && minor >= 4));
}

/* What the script needs and this target has not; NULL: nothing. */
static const char *lacking(const struct vc_verbs *v, const struct dr_setup *s, const struct vc_options *o)
{
	const struct {
		const char *need;
		bool there;
		const char *why;
	} rows[] = {
		{"cm", vc_cm_there(v), VC_NO_CM},
		{"flush", false, "libibverbs has no FLUSH in this version"},
		{"port", v->rig != NULL, "nobody takes this port down"},
		{"lrh", false, "the device is on Ethernet"},
		{"local", false, "the device is on Ethernet"},
		{"srq", v->attr.max_srq > 0, "the device has no shared receive queues"},
		{"mw", v->attr.max_mw > 0, "the device has no memory windows"},
		{"atomic", v->attr.atomic_cap != IBV_ATOMIC_NONE, "the device has no atomic operations"},
		{"atomic_write", v->atomic_write, "the device has no ATOMIC WRITE among its capabilities"},
		{"mcast", v->attr.max_mcast_grp > 0, "the device has no multicast"},
		{"unprivileged", unprivileged(v),
		 "who may send raw packets may have any Q_Key, and before Linux 6.4 everybody may"},
		{"hazard", v->reference || o->hazardous,
		 "packets like these have crashed or hung devices: --hazardous runs the case all the same"},
	};
	const char *why;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!rows[i].there && vs_drill_needs(s->d, rows[i].need))
			return rows[i].why;
	if (s->p->raw_peer && v->peer == NULL)
		return "there is no peer: --peer gives one";
	if (s->p->vlan >= 0 && v->peer != NULL && !v->peer->whole)
		return "a UDP socket sends no VLAN tags";
	if (s->p->vlan >= 0 && (v->peer == NULL || v->peer->vlan != s->p->vlan))
		return "the script is about another VLAN than that of the peer: vlan= says which it is in";
	why = beyond(v->peer, s->p->first);
	if (why == NULL)
		why = vc_wish_missing(v, s, o->peer_at.kind != VC_PEER_NONE);
	return why != NULL ? why : vc_no_way(v, s->encap, s->p->raw_peer);
}

static void set_ops(struct vc_target *t)
{
	uint64_t early = t->v->peer != NULL ? t->v->peer->jitter_ns : EARLY_NS;

	t->ops = (struct dr_target_ops){
		.destroy = t_destroy,
		.now = t_now,
		.step = t_step,
		.idle = t_idle,
		.lag_ns = t_lag_ns,
		.send = t_send,
		.av = t_av,
		.mark = t_mark,
	};
	vc_object_ops(&t->ops);
	vc_qp_ops(&t->ops);
	vc_work_ops(&t->ops);
	vc_rig_ops(&t->ops);
	if (t->v->link != NULL)
		vc_remote_ops(&t->ops);
	t->t = (struct dr_target){.ops = &t->ops,
				  .settle_ns = SETTLE_NS,
				  .patience_ns = PATIENCE_NS,
				  .slack_ns = SLACK_NS,
				  .early_ns = early,
				  .doubt_ns = DOUBTS * early,
				  .peer_qpn = QPN_FIRST + (t->v->runs++ % QPN_RUNS << 8),
				  .peer_qpn_step = 1};
}

static void discard(void *ctx, uint64_t stamp_ns, const uint8_t *frame, size_t len)
{
	(void)ctx;
	(void)stamp_ns;
	(void)frame;
	(void)len;
}

struct dr_target *vc_target_open(void *ctx, const struct dr_setup *s, char *why, size_t cap, bool *skip)
{
	const struct vc_options *o = ctx;
	void *pd = NULL, *channel = NULL;
	struct vc_target *t;
	const char *missing;
	struct vc_verbs *v;

	if (vc_is_fresh() && !vc_verbs_tried() && !vc_wish_grant(s, why, cap)) {
		*skip = true;
		return NULL;
	}
	v = vc_verbs_open(o, why, cap);
	if (v == NULL)
		return NULL;
	missing = lacking(v, s, o);
	if (missing != NULL) {
		(void)snprintf(why, cap, "%s", missing);
		*skip = true;
		return NULL;
	}
	t = calloc(1, sizeof(*t));
	if (t == NULL)
		return NULL;
	t->v = v;
	t->setup = *s;
	t->groups_fd = vs_drill_needs(s->d, "mcast") ? lock_groups() : -1;
	set_ops(t);
	if (v->link == NULL && vs_drill_needs(s->d, "cm") && !vc_cm_open(t, s->encap, v->peer->gid[s->encap])) {
		(void)snprintf(why, cap, "librdmacm can't be used: %s", strerror(errno));
		t_destroy(&t->t);
		return NULL;
	}
	/* Each run asks anew: whoever is asked notes where the peer is, so that he need not ask in the middle. */
	if (s->p->raw_peer && !vc_gids_resolve(&v->gids, v->peer, why, cap)) {
		t_destroy(&t->t);
		return NULL;
	}
	while (v->peer != NULL && v->peer->ops->receive(v->peer, 64, discard, NULL) > 0)
		;
	if (v->link != NULL && vc_remote_open(t, why, cap) &&
	    (!vs_drill_needs(s->d, "cm") || vc_remote_cm_open(t, why, cap)))
		return vc_lag_watch(&t->lag, vc_now_ns(), true), &t->t;
	if (v->link != NULL || t->ops.pd_create(&t->t, 0, &pd) < 0 || t->ops.channel_create(&t->t, 0, &channel) < 0) {
		(void)snprintf(why, cap, "the device has no protection domain left");
		t_destroy(&t->t);
		return NULL;
	}
	t->pd = pd;
	t->channel = channel;
	vc_counters_begin(t);
	vc_lag_watch(&t->lag, vc_now_ns(), true);
	return &t->t;
}
