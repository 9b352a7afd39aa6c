/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * host.c - what the connection manager of a kernel does for all processes of a host, done by the processes themselves.
 *
 * Who listens: a listener leaves its service and its addresses in names (of AF_UNIX sockets, which the kernel
 * forgets with the process), by which the loopback address, 127.0.0.1 or ::1, leads to whichever process listens on
 * that port. Who connects waits a second for the name: making a queue pair takes a real device time, and programs count
 * on it, perftest for instance, which connects when the server is only about to listen, and crashes on the REJ. It also
 * connects twice, and may find the name of the listener that is just going away: a REQ that nobody listened for is
 * sent again, for a second. With VS_NO_AWAIT in the environment nobody is waited for, nor sent to again.
 *
 * Who is gone: a kernel ends the connections of a process that was killed, and answers a REQ for a port on which nobody
 * listens. Here nobody is left to say so; but on the same host the kernel can be asked whether the peer's UDP socket is
 * still there, and still the same (NETLINK_SOCK_DIAG). A thread does, while there are connections.
 */
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "verbs/cm/cm.h"

#define NAME "verbscope-listens/" /* and the service, and the address */
#define LOOK_EVERY_MS 100
#define GONE_LOOKS 3 /* that find nobody: then a REQ has failed */
#define AWAIT_EVERY_NS 10000000u
#define AWAIT_LOOKS 100
#define FOUND_NS 100000000u   /* for so long what was found is there, */
#define MISSED_NS 2000000000u /* and what was not found is not waited for again */
#define KNOCKS 10
#define ROCE_PORT 4791

static struct {
	pthread_t thread;
	bool runs;
	int wake; /* eventfd */
	int diag;
	bool stopping;
} watch = {.wake = -1, .diag = -1};

/* ---- who listens ---- */

static void name_of(struct sockaddr_un *un, socklen_t *len, uint64_t service_id, const uint8_t gid[16])
{
	int n = snprintf(un->sun_path + 1, sizeof(un->sun_path) - 1, NAME "%016llx/", (unsigned long long)service_id);

	un->sun_family = AF_UNIX;
	un->sun_path[0] = '\0'; /* not in any folder */
	for (int i = 0; i < 16; i++)
		n += snprintf(un->sun_path + 1 + n, sizeof(un->sun_path) - 1 - (size_t)n, "%02x", gid[i]);
	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* On the simulated wire nobody else is on the host. */
static bool is_alone(void)
{
	return cm.n_devices > 1;
}

int cm_host_listen(uint64_t service_id, const uint8_t gid[16])
{
	struct sockaddr_un un;
	socklen_t len;
	int fd = is_alone() ? -1 : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	name_of(&un, &len, service_id, gid);
	(void)bind(fd, (const struct sockaddr *)&un, len); /* taken: somebody says the same */
	return fd;
}

static bool gid_of_text(uint8_t gid[16], const char *text)
{
	for (int i = 0; i < 16; i++) {
		unsigned byte;

		if (sscanf(text + 2 * (size_t)i, "%2x", &byte) != 1)
			return false;
		gid[i] = (uint8_t)byte;
	}
	return true;
}

bool cm_host_find(uint64_t service_id, uint8_t gid[16])
{
	FILE *f = is_alone() ? NULL : fopen("/proc/net/unix", "re");
	bool v4 = cm_is_v4(gid), found = false, same = false;
	char line[512], wanted[64];

	snprintf(wanted, sizeof(wanted), "@" NAME "%016llx/", (unsigned long long)service_id);
	while (f != NULL && !same && fgets(line, sizeof(line), f) != NULL) {
		const char *at = strstr(line, wanted);
		uint8_t here[16];

		if (at == NULL || !gid_of_text(here, at + strlen(wanted)) || cm_is_v4(here) != v4)
			continue;
		same = memcmp(here, gid, 16) == 0; /* its own name is the best */
		if (same || !found)
			memcpy(gid, here, 16);
		found = true;
	}
	if (f != NULL)
		fclose(f);
	return found;
}

/* Is it an address of this host? Nothing else can be bound. */
static bool is_local(const uint8_t gid[16])
{
	struct sockaddr_storage a;
	int fd;
	bool local;

	cm_addr_of(&a, gid, 0);
	fd = socket(a.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	local = fd >= 0 && bind(fd, (const struct sockaddr *)(const void *)&a,
				cm_addr_len((const struct sockaddr *)(const void *)&a)) == 0;
	if (fd >= 0)
		close(fd);
	return local;
}

bool cm_host_has(const struct sockaddr *dst)
{
	uint8_t gid[16];

	cm_gid_of(gid, dst);
	return !is_alone() && is_local(gid);
}

/* What was asked last, and what came of it: programs connect to one listener many times. */
struct asked {
	uint64_t service_id, until_ns;
	uint8_t gid[16];
	bool found;
};

static bool is_fresh(const struct asked *a, uint64_t service_id, const uint8_t gid[16])
{
	return a->service_id == service_id && memcmp(a->gid, gid, 16) == 0 && cm.link->now() < a->until_ns;
}

bool cm_host_await(uint64_t service_id, const struct sockaddr *dst, bool any)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct asked last;
	struct asked now = {.service_id = service_id};
	bool found, fresh;

	if (getenv("VS_NO_AWAIT") != NULL)
		return false;
	cm_gid_of(now.gid, dst);
	pthread_mutex_lock(&lock);
	fresh = is_fresh(&last, service_id, now.gid);
	found = fresh && last.found;
	pthread_mutex_unlock(&lock);
	if (fresh || !cm_host_has(dst))
		return found;
	for (unsigned i = 0; !found && i < AWAIT_LOOKS; i++) {
		uint8_t who[16];

		memcpy(who, now.gid, 16);
		found = cm_host_find(service_id, who) && (any || memcmp(who, now.gid, 16) == 0);
		if (!found)
			cm.link->sleep(AWAIT_EVERY_NS);
	}
	now.until_ns = cm.link->now() + (found ? FOUND_NS : MISSED_NS);
	now.found = found;
	pthread_mutex_lock(&lock);
	last = now;
	pthread_mutex_unlock(&lock);
	return found;
}

void cm_host_may_knock(struct cm_id *id, bool hope)
{
	id->knock = false;
	id->knocks = hope ? KNOCKS : 0;
}

bool cm_host_knocks(struct cm_id *id)
{
	if (!watch.runs || !id->active || id->knocks == 0)
		return false;
	id->knocks--;
	id->knock = true;
	return true;
}

/* Inside: with a connection of its own. */
static void knock(struct cm_id *id)
{
	struct cm_event *e;
	int err = VS_ERR_INVAL;

	id->knock = false;
	cm.link->destroy(id->conn);
	id->conn = cm.link->connect(id->dev->vs, &id->request, 0, &err);
	id->watched = (struct cm_peer){.cookie = 0};
	memcpy(id->watched.gid, id->request.path.dgid, 16);
	if (id->conn != NULL)
		return;
	e = cm_event_new(id, RDMA_CM_EVENT_CONNECT_ERROR, -cm.link->error(id->dev->vs, "rdma_connect", err));
	if (e != NULL)
		cm_event_push(e);
}

/* ---- who is gone ---- */

enum { ELSEWHERE, THERE, GONE };

struct question {
	struct nlmsghdr nlh;
	struct inet_diag_req_v2 req;
};

static void ask_for(struct question *q, const uint8_t gid[16])
{
	bool v4 = cm_is_v4(gid);

	memset(q, 0, sizeof(*q));
	q->nlh.nlmsg_len = sizeof(*q);
	q->nlh.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	q->nlh.nlmsg_flags = NLM_F_REQUEST;
	q->req.sdiag_family = v4 ? AF_INET : AF_INET6;
	q->req.sdiag_protocol = IPPROTO_UDP;
	q->req.idiag_states = UINT32_MAX;
	q->req.id.idiag_dport = q->req.id.idiag_sport = htons(ROCE_PORT);
	q->req.id.idiag_cookie[0] = q->req.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	memcpy(q->req.id.idiag_dst, v4 ? gid + 12 : gid, v4 ? 4 : 16);
}

/* *cookie: which socket it is. */
static int look_for(const uint8_t gid[16], uint64_t *cookie)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct question q;
	union {
		struct nlmsghdr h;
		char bytes[1024];
	} answer;
	const struct inet_diag_msg *m = (const void *)(answer.bytes + NLMSG_HDRLEN);
	const struct nlmsgerr *e = (const void *)(answer.bytes + NLMSG_HDRLEN);
	ssize_t n;

	ask_for(&q, gid);
	if (sendto(watch.diag, &q, sizeof(q), 0, (const struct sockaddr *)&kernel, sizeof(kernel)) !=
	    (ssize_t)sizeof(q))
		return ELSEWHERE;
	n = recv(watch.diag, answer.bytes, sizeof(answer.bytes), 0);
	if (n >= (ssize_t)(NLMSG_HDRLEN + sizeof(*m)) && answer.h.nlmsg_type == SOCK_DIAG_BY_FAMILY) {
		*cookie = (uint64_t)m->id.idiag_cookie[1] << 32 | m->id.idiag_cookie[0];
		return THERE;
	}
	if (n >= (ssize_t)(NLMSG_HDRLEN + sizeof(*e)) && answer.h.nlmsg_type == NLMSG_ERROR && e->error == -ENOENT &&
	    is_local(gid))
		return GONE;
	return ELSEWHERE;
}

static bool waits(enum vs_conn_state s)
{
	return s == VS_CONN_REQ_SENT || s == VS_CONN_SIDR_REQ_SENT || s == VS_CONN_MRA_REQ_RCVD;
}

void cm_host_look(struct vs_conn *c, struct cm_peer *peer, struct cm_answer *a)
{
	if (!a->valid || memcmp(a->gid, peer->gid, 16) != 0) {
		a->valid = true;
		memcpy(a->gid, peer->gid, 16);
		a->presence = cm_is_own(a->gid) ? ELSEWHERE : look_for(a->gid, &a->cookie);
	}
	if (a->presence == THERE && peer->cookie == 0)
		peer->cookie = a->cookie;
	if (a->presence == ELSEWHERE || (a->presence == THERE && peer->cookie == a->cookie)) {
		peer->looks = 0;
		return;
	}
	if (++peer->looks >= (waits(cm.link->state(c)) ? GONE_LOOKS : 1))
		cm.link->peer_gone(c);
}

/* Inside: looks at all, and says whether there were any. */
static bool look_at_all(void)
{
	struct cm_answer a = {.valid = false};
	bool any = cm_partings_look(&a);

	for (struct cm_id *id = cm.ids; id != NULL; id = id->next) {
		enum vs_conn_state s = id->conn != NULL ? cm.link->state(id->conn) : VS_CONN_CLOSED;

		if (id->knock) {
			knock(id);
			any = true;
			continue;
		}
		if (s == VS_CONN_CLOSED || s == VS_CONN_TIMEWAIT)
			continue;
		cm_host_look(id->conn, &id->watched, &a);
		any = true;
	}
	return any;
}

static void *run(void *arg)
{
	bool any = true;

	(void)arg;
	for (;;) {
		struct pollfd p = {.fd = watch.wake, .events = POLLIN};
		uint64_t n;

		if (poll(&p, 1, any ? LOOK_EVERY_MS : -1) > 0 && read(watch.wake, &n, sizeof(n)) < 0)
			continue;
		if (!cm_enter())
			return NULL;
		if (watch.stopping) {
			cm_leave();
			return NULL;
		}
		any = look_at_all();
		cm_leave();
	}
}

/* Signals are the application's. */
static int create_thread(void)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&watch.thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static bool start(void)
{
	struct timeval limit = {.tv_usec = 100000};

	watch.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	watch.diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (watch.wake >= 0 && watch.diag >= 0 &&
	    setsockopt(watch.diag, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 && create_thread() == 0)
		return true;
	if (watch.wake >= 0)
		close(watch.wake);
	if (watch.diag >= 0)
		close(watch.diag);
	watch.wake = watch.diag = -1;
	return false;
}

static void wake(void)
{
	const uint64_t one = 1;

	if (write(watch.wake, &one, sizeof(one)) != (ssize_t)sizeof(one))
		return; /* it is awake */
}

void cm_host_watch(struct cm_peer *peer, const uint8_t gid[16])
{
	*peer = (struct cm_peer){.cookie = 0};
	memcpy(peer->gid, gid, 16);
	if (is_alone())
		return;
	if (watch.runs)
		wake();
	else
		watch.runs = start(); /* without it a peer that is gone is noticed when the retries are used up */
}

void cm_host_stop(void)
{
	if (!watch.runs || !cm_enter())
		return;
	watch.stopping = true;
	wake();
	cm_leave();
	pthread_join(watch.thread, NULL);
	watch.runs = false;
}

void cm_host_forget(void)
{
	if (watch.wake >= 0)
		close(watch.wake);
	if (watch.diag >= 0)
		close(watch.diag);
	watch.runs = watch.stopping = false;
	watch.wake = watch.diag = -1;
}
