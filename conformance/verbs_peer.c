/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_peer.c - the other end of the wire, where scripts play the peer (peer.h); and both ends together, once in a
 * process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote.h"

#define TRIES 16u
#define OPEN_MS 10000 /* most time for a device to be opened */

/* The one that is asked for, or one of those that nobody else has. */
static bool open_peer(struct vc_verbs *v, const char *address, char *why, size_t cap)
{
	bool busy = true;
	uint8_t gid[16] = {[10] = 0xff, [11] = 0xff};

	if (address != NULL && inet_pton(AF_INET, address, gid + 12) != 1) {
		(void)snprintf(why, cap, "--peer udp:%s: this is no IPv4 address", address);
		return false;
	}
	for (unsigned i = 0; v->peer == NULL && busy && i < (address != NULL ? 1 : TRIES); i++) {
		if (address == NULL)
			vc_loopback(gid, 2 * i + 1);
		v->peer = vc_peer_udp(gid, &busy, why, cap);
	}
	return v->peer != NULL;
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
	return to_peer && v->peer != NULL && !v->peer->has[encap] ? whys[encap].peer : NULL;
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

static bool open_all(struct vc_verbs *v, const struct vc_options *o, char *why, size_t cap)
{
	const char *address = o->peer != NULL && strncmp(o->peer, "udp:", 4) == 0 ? o->peer + 4 : NULL;

	if (o->agent != NULL ? !vc_remote_connect(v, o, why, cap) : !vc_device_open(v, o->verbs, false, why, cap))
		return false;
	return v->peer != NULL || (address == NULL && !is_on_loopback(v)) || open_peer(v, address, why, cap);
}

struct vc_verbs *vc_verbs_open(const struct vc_options *o, char *why, size_t cap)
{
	static struct vc_verbs v;
	static bool tried, good;
	static char reason[640];

	/* An agent that has died is replaced. */
	if (!tried || (o->agent != NULL && (v.link == NULL || v.link->over[0] != '\0')))
		good = open_all(&v, o, reason, sizeof(reason));
	tried = true;
	(void)snprintf(why, cap, "%s", reason);
	return good ? &v : NULL;
}

/* Opening changes what is loaded into a process: the parent of the workers keeps away from that. */
bool vc_verbs_try(const struct vc_options *o, char *why, size_t cap)
{
	struct pollfd there = {.events = POLLIN};
	int fd[2], status = 0, ready = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(fd) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		char text[640] = "";
		bool good = vc_verbs_open(o, text, sizeof(text)) != NULL;

		(void)!write(fd[1], text, good ? 0 : strlen(text));
		_exit(good ? 0 : 1);
	}
	close(fd[1]);
	there.fd = fd[0];
	while (pid > 0 && (ready = poll(&there, 1, OPEN_MS)) < 0 && errno == EINTR)
		;
	n = ready > 0 ? read(fd[0], why, cap - 1) : -1;
	why[n > 0 ? n : 0] = '\0';
	close(fd[0]);
	if (pid > 0 && ready <= 0)
		(void)kill(pid, SIGKILL);
	if (pid <= 0 || !vc_reap(pid, &status) || ready <= 0)
		(void)snprintf(why, cap, "it can't be opened within %d s", OPEN_MS / 1000);
	else if (n <= 0 && status != 0)
		(void)snprintf(why, cap, "its library ends the process that opens it");
	return pid > 0 && ready > 0 && status == 0;
}
