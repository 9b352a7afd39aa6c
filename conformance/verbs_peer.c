/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_peer.c - the other end of the wire: the UDP socket through which a script plays the peer; and both ends
 * together, once in a process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs.h"

#define TRIES 16u

static bool open_peer(struct vc_verbs *v, const char *address, char *why, size_t cap)
{
	struct vs_udpio_attr a = {.n_addrs = 1, .no_gso = true, .stamps = true};
	struct vs_io_error err;
	int code = VS_ERR_BUSY;

	for (unsigned i = 0; v->wire == NULL && code == VS_ERR_BUSY && i < TRIES; i++) {
		if (address == NULL) {
			vc_loopback(v->peer_gid, 2 * i + 1);
		} else if (inet_pton(AF_INET, address, v->peer_gid + 12) != 1) {
			(void)snprintf(why, cap, "--peer udp:%s: this is no IPv4 address", address);
			return false;
		}
		v->peer_gid[10] = v->peer_gid[11] = 0xff;
		memcpy(a.addr[0], v->peer_gid, 16);
		v->wire = vs_udpio_open(&a, &code, &err);
		if (address != NULL)
			break;
	}
	if (v->wire == NULL)
		(void)snprintf(why, cap, "the peer's socket can't be opened: %.200s", err.text);
	return v->wire != NULL;
}

void vc_group_heard(struct vc_target *t, const uint8_t gid[16])
{
	const bool v4 = gid[10] == 0xff && gid[11] == 0xff && gid[12] >> 4 == 14;

	if (t->v->wire == NULL || t->n_joined == VC_JOINED || !(v4 || gid[0] == 0xff))
		return;
	if (vs_udpio_join(t->v->wire, gid) == VS_OK)
		memcpy(t->joined[t->n_joined++], gid, 16);
}

void vc_groups_left(struct vc_target *t)
{
	for (unsigned i = 0; i < t->n_joined; i++)
		vs_udpio_leave(t->v->wire, t->joined[i]);
}

/* ---- both ---- */

static bool open_all(struct vc_verbs *v, const struct vc_options *o, char *why, size_t cap)
{
	const char *address = o->peer != NULL && strncmp(o->peer, "udp:", 4) == 0 ? o->peer + 4 : NULL;

	if (!vc_device_open(v, o->verbs, false, why, cap))
		return false;
	return (address == NULL && !v->reference) || open_peer(v, address, why, cap);
}

struct vc_verbs *vc_verbs_open(const struct vc_options *o, char *why, size_t cap)
{
	static struct vc_verbs v;
	static bool tried, good;
	static char reason[256];

	if (!tried)
		good = open_all(&v, o, reason, sizeof(reason));
	tried = true;
	(void)snprintf(why, cap, "%s", reason);
	return good ? &v : NULL;
}

/* Opening changes what is loaded into a process: the parent of the workers keeps away from that. */
bool vc_verbs_try(const struct vc_options *o, char *why, size_t cap)
{
	int fd[2], status = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(fd) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		char text[256] = "";
		bool good = vc_verbs_open(o, text, sizeof(text)) != NULL;

		(void)!write(fd[1], text, good ? 0 : strlen(text));
		_exit(good ? 0 : 1);
	}
	close(fd[1]);
	n = pid > 0 ? read(fd[0], why, cap - 1) : -1;
	why[n > 0 ? n : 0] = '\0';
	close(fd[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n <= 0 && status != 0)
		(void)snprintf(why, cap, "its library ends the process that opens it");
	return pid > 0 && status == 0;
}
