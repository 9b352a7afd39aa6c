/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_peer.c - the other end of the wire, where scripts play the peer (peer.h); and both ends together, once in a
 * process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bridge.h"
#include "remote.h"

#define TRIES 16u
#define OPEN_MS 10000 /* most time for a device to be opened */

/* Of ref0, which nobody has asked for: at an address that nobody else has. */
static bool open_beside_ref0(struct vc_verbs *v, char *why, size_t cap)
{
	struct vc_udp_addresses at = {.src = {0}};
	bool busy = true;

	if (vc_fresh_ipv6() != NULL)
		memcpy(at.ipv6, vc_fresh_ipv6(), 16);
	if (vc_foreign_source() != NULL)
		memcpy(at.src, vc_foreign_source(), 16);
	for (unsigned i = 0; v->peer == NULL && busy && i < TRIES; i++) {
		vc_loopback(at.ipv4, 2 * i + 1);
		v->peer = vc_peer_udp(&at, &busy, why, cap);
	}
	return v->peer != NULL;
}

bool vc_gids_resolve(struct vc_gids *g, struct vc_peer *peer, char *why, size_t cap)
{
	char text[VC_ADDRESS];
	bool any = false;

	(void)snprintf(why, cap, "device and peer have no addresses of the same kind");
	for (unsigned e = 0; e < VC_PEER_ENCAPS; e++) {
		if (!g->has[e] || !peer->has[e] || g->silent[e])
			continue;
		g->silent[e] = !peer->ops->resolve(peer, g->gid[e], g->mac[e]);
		any |= !g->silent[e];
		if (!g->silent[e])
			continue;
		vc_gid_text(g->gid[e], text);
		(void)snprintf(why, cap,
			       "nobody answers for the device's address %s where the peer is: is it on the same "
			       "Ethernet?",
			       text);
	}
	if (peer->broken[0] != '\0')
		(void)snprintf(why, cap, "%s", peer->broken);
	return any && peer->broken[0] == '\0';
}

const char *vc_no_way(const struct vc_verbs *v, int encap, bool to_peer)
{
	static const struct {
		const char *device, *peer;
	} whys[] = {
		[EN_ROCEV2_IPV4] = {"the device has no GID of RoCEv2 over IPv4", "the peer has no IPv4 address"},
		[EN_ROCEV2_IPV6] = {"the device has no GID of RoCEv2 over IPv6", "the peer has no IPv6 address"},
		[EN_ROCEV1] = {"the device has no GID of RoCEv1", "the peer sends and hears no RoCEv1"},
	};

	if (encap >= (int)VC_PEER_ENCAPS)
		return "the device is on Ethernet";
	if (!v->gids.has[encap])
		return whys[encap].device;
	if (!to_peer || v->peer == NULL)
		return NULL;
	if (!v->peer->has[encap])
		return whys[encap].peer;
	return v->gids.silent[encap] ? "nobody answers for the device's GID where the peer is" : NULL;
}

void vc_group_heard(struct vc_target *t, const uint8_t gid[16])
{
	const bool v4 = gid[10] == 0xff && gid[11] == 0xff && gid[12] >> 4 == 14;

	if (t->v->peer == NULL || t->n_joined == VC_JOINED || !(v4 || gid[0] == 0xff))
		return;
	if (t->v->peer->ops->join(t->v->peer, gid))
		memcpy(t->joined[t->n_joined++], gid, 16);
}

void vc_groups_left(struct vc_target *t)
{
	for (unsigned i = 0; i < t->n_joined; i++)
		t->v->peer->ops->leave(t->v->peer, t->joined[i]);
}

/* ---- both ---- */

static bool is_on_loopback(const struct vc_verbs *v)
{
	return v->gids.has[EN_ROCEV2_IPV4] && v->gids.gid[EN_ROCEV2_IPV4][12] == 127;
}

/* ref0 takes an address of this host, which has to be one that the peer can reach. */
static bool open_ref0_beside(struct vc_verbs *v, char *why, size_t cap)
{
	char v4[VC_ADDRESS], v6[VC_ADDRESS], list[2 * VC_ADDRESS];
	bool has_v4, has_v6;

	if (getenv("VS_IP") != NULL)
		return vc_device_open(v, "ref0", true, why, cap);
	(void)snprintf(why, cap,
		       "this host has no address in the network of the peer's: 'ip address add', or set VS_IP");
	for (unsigned i = 0; v->ctx == NULL; i++) {
		has_v4 = vc_peer_beside(v->peer, EN_ROCEV2_IPV4, i, v4);
		has_v6 = vc_peer_beside(v->peer, EN_ROCEV2_IPV6, i, v6);
		if (!has_v4 && !has_v6)
			break;
		(void)snprintf(list, sizeof(list), "%s\n%s", has_v4 ? v4 : "", has_v6 ? v6 : "");
		(void)setenv("VS_IP", list, 1);
		(void)vc_device_open(v, "ref0", true, why, cap);
	}
	if (v->ctx == NULL)
		(void)unsetenv("VS_IP");
	return v->ctx != NULL;
}

static bool open_all(struct vc_verbs *v, const struct vc_options *o, char *why, size_t cap)
{
	const bool ref0 = o->agent == NULL && strcmp(o->verbs, "ref0") == 0;

	if (o->peer_at.kind != VC_PEER_NONE && v->peer == NULL) {
		v->peer = vc_peer_open(&o->peer_at, o->worker, why, cap);
		if (v->peer == NULL)
			return false;
	}
	if (ref0 && v->peer != NULL && v->peer->whole)
		return open_ref0_beside(v, why, cap) && vc_gids_resolve(&v->gids, v->peer, why, cap);
	if (o->agent != NULL ? !vc_remote_connect(v, o, why, cap) : !vc_device_open(v, o->verbs, false, why, cap))
		return false;
	if (v->peer != NULL)
		return vc_gids_resolve(&v->gids, v->peer, why, cap);
	return o->peer != NULL || !is_on_loopback(v) || open_beside_ref0(v, why, cap); /* `loop`: none */
}

static struct vc_verbs the_device[2]; /* of this process; a bridge has two */
static bool tried[2], opened[2];

struct vc_verbs *vc_verbs_open(const struct vc_options *o, char *why, size_t cap)
{
	static char reason[2][640];
	struct vc_verbs *v = &the_device[o->end];
	const unsigned e = o->end;

	/* An agent that has died is replaced. */
	if (!tried[e] || (o->agent != NULL && (v->link == NULL || v->link->over[0] != '\0')))
		opened[e] = open_all(v, o, reason[e], sizeof(reason[e]));
	tried[e] = true;
	(void)snprintf(why, cap, "%s", reason[e]);
	return opened[e] ? v : NULL;
}

void vc_verbs_close(void)
{
	vc_pair_close();
	for (unsigned i = 0; i < 2; i++) {
		struct vc_verbs *v = &the_device[i];

		vc_peer_close(v->peer);
		v->peer = NULL;
		vc_link_close(v->link); /* who comes next finds the device's address free */
		v->link = NULL;
	}
}

void vc_verbs_forget(void)
{
	vc_verbs_close();
	memset(the_device, 0, sizeof(the_device));
	memset(tried, 0, sizeof(tried));
}

bool vc_verbs_tried(void)
{
	return tried[0];
}

bool vc_agent_died(void)
{
	for (unsigned i = 0; i < 2; i++)
		if (the_device[i].link != NULL && the_device[i].link->over[0] != '\0')
			return true;
	return false;
}

/* Opening changes what is loaded into a process: the parent of the workers keeps away from that. */
bool vc_verbs_try(const struct vc_options *o, char *why, size_t cap)
{
	struct pollfd there = {.events = POLLIN};
	int fd[2], status = 0, ready = 0, most_ms = OPEN_MS;
	ssize_t n;
	const pid_t parent = getpid();
	pid_t pid;

	if (pipe(fd) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		char text[640] = "";
		bool good;

		/* What it has started goes with it. */
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
			_exit(1);
		good = o->two ? vc_pair_try(o, text, sizeof(text)) : vc_verbs_open(o, text, sizeof(text)) != NULL;

		(void)!write(fd[1], text, good ? 0 : strlen(text));
		vc_verbs_close();
		_exit(good ? 0 : 1);
	}
	close(fd[1]);
	there.fd = fd[0];
	/* An agent's command may have a host to boot before. */
	if (o->agent != NULL)
		most_ms = OPEN_MS + (int)(o->budget_ms < INT_MAX / 2 ? o->budget_ms : INT_MAX / 2);
	while (pid > 0 && (ready = poll(&there, 1, most_ms)) < 0 && errno == EINTR && !vc_interrupted())
		;
	n = ready > 0 ? read(fd[0], why, cap - 1) : -1;
	why[n > 0 ? n : 0] = '\0';
	close(fd[0]);
	if (pid > 0 && ready <= 0)
		(void)kill(pid, SIGKILL);
	if (pid <= 0 || !vc_reap(pid, &status) || ready <= 0)
		(void)snprintf(why, cap, "it can't be opened within %d s", most_ms / 1000);
	else if (n <= 0 && status != 0)
		(void)snprintf(why, cap, "its library ends the process that opens it");
	return pid > 0 && ready > 0 && status == 0;
}
