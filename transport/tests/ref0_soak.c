/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ref0_soak.c - the processes of the soak. A hub has queue pairs to several peers; all send to each other what fits.
 * Peers are killed and started again (ref0-soak.sh does it). What they had posted is lost with them; the hub accounts
 * for everything that it has posted, and connects to whoever comes back.
 *
 *   ref0_soak hub PORT PEERS QPS MESSAGES FILE [TARGETS]   QPS to each peer; FILE appears when there are enough
 * messages ref0_soak peer PORT NUMBER QPS
 *
 * With TARGETS the hub can be attacked: queue pairs and memory for that are listed there, and the messages go on until
 * that file is gone.
 *
 * Exit codes: 0; 1 something is wrong; 2 usage or environment; 3 of a peer: the hub is gone.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ref0_soak.h"
#include "ref0_victim.h"

#define PEERS_MAX 16u
#define QPS_MAX 64u
#define STUCK_NS 30000000000u
#define LOOK_NS 1000000u /* how often TCP is looked at */
#define HELLO 0x736f616bu

struct hello {
	uint32_t magic, number;
	struct soak_info info[QPS_MAX];
};

struct peer {
	int fd;            /* -1: none */
	int next_fd;       /* somebody who waits until all links of an earlier life have ended */
	struct hello next; /* with next_fd */
	bool connected, going, said_bye;
	uint64_t gone_at; /* 0: it lives */
	struct soak_link link[QPS_MAX];
};

static struct {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	unsigned n_peers, n_qps;
	struct peer peer[PEERS_MAX];
	struct ibv_cq *cq[PEERS_MAX]; /* of each peer's links */
	uint64_t lives;               /* links that have failed and were accounted for */
	bool ending;
	const char *targets; /* NULL: nobody attacks */
} hub;

static volatile sig_atomic_t asked;

static void ask(int sig)
{
	(void)sig;
	asked = 1;
}

static void fail(const char *what)
{
	fprintf(stderr, "soak: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void open_device(struct ibv_context **ctx, struct ibv_pd **pd)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	*ctx = list != NULL && list[0] != NULL ? ibv_open_device(list[0]) : NULL;
	if (*ctx == NULL)
		fail("no device: run this under vs-run");
	ibv_free_device_list(list);
	*pd = ibv_alloc_pd(*ctx);
	if (*pd == NULL)
		fail("ibv_alloc_pd");
}

static struct ibv_cq *make_cq(struct ibv_context *ctx, unsigned qps, struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, (int)(qps * (SLOTS + RECVS + 4)), NULL, channel, 0);

	if (cq == NULL)
		fail("ibv_create_cq");
	return cq;
}

/* ---- TCP ---- */

static struct sockaddr_in address(const char *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

static size_t hello_len(unsigned qps)
{
	return offsetof(struct hello, info) + qps * sizeof(struct soak_info);
}

static bool send_all(int fd, const void *buf, size_t n)
{
	return send(fd, buf, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static bool receive_all(int fd, void *buf, size_t n)
{
	return recv(fd, buf, n, MSG_WAITALL) == (ssize_t)n;
}

/* A byte that came, 0: none yet, -1: the other side is gone. */
static int next_byte(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, MSG_DONTWAIT);

	return n == 1 ? c : n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* ---- links of one process ---- */

/* Hands completions to their links; how many. *failed: the link whose queue pair has failed, or NULL; the rest waits.
 */
static int poll_links(struct ibv_cq *cq, struct soak_link *link, unsigned n, struct soak_link **failed)
{
	struct ibv_wc wc[1];
	int got = ibv_poll_cq(cq, 1, wc);

	*failed = NULL;
	if (got < 0)
		soak_wrong(NULL, "ibv_poll_cq fails");
	if (got == 1) {
		if (soak_link_of(wc) >= n)
			soak_wrong(NULL, "a completion of no link");
		if (!soak_link_completion(&link[soak_link_of(wc)], wc))
			*failed = &link[soak_link_of(wc)];
	}
	return got;
}

static bool all_are(const struct soak_link *link, unsigned n, enum soak_state state)
{
	for (unsigned i = 0; i < n; i++)
		if (link[i].state != state)
			return false;
	return true;
}

static void drain_all(struct soak_link *link, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (link[i].state == SOAK_UP)
			soak_link_drain(&link[i]);
}

static bool all_idle(struct soak_link *link, unsigned n)
{
	bool idle = true;

	for (unsigned i = 0; i < n; i++)
		idle &= link[i].state != SOAK_UP || soak_link_idle(&link[i]);
	return idle;
}

static uint64_t count(const struct soak_link *link, unsigned n)
{
	uint64_t messages = 0;

	for (unsigned i = 0; i < n; i++)
		messages += link[i].messages;
	return messages;
}

/* ---- a peer ---- */

struct peer_process {
	struct ibv_comp_channel *channel; /* NULL: it polls all the time */
	struct ibv_cq *cq;
	struct soak_link link[QPS_MAX];
	unsigned n;
	int fd;
};

static int connect_to_hub(const char *port)
{
	struct sockaddr_in a = address(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0)
		exit(3);
	return fd;
}

static void introduce(struct peer_process *p, unsigned number)
{
	struct hello h = {.magic = HELLO, .number = number};

	for (unsigned i = 0; i < p->n; i++)
		soak_link_info(&p->link[i], &h.info[i]);
	if (!send_all(p->fd, &h, hello_len(p->n)) || !receive_all(p->fd, &h, hello_len(p->n)))
		exit(3);
	for (unsigned i = 0; i < p->n; i++)
		soak_link_connect(&p->link[i], &h.info[i]);
	if (!send_all(p->fd, "G", 1))
		exit(3);
}

/* Completions until there are none; then, with a channel, sleeps until there are some again. */
static void serve(struct peer_process *p)
{
	struct pollfd fds[2] = {{.fd = p->fd, .events = POLLIN}};
	struct soak_link *failed;
	struct ibv_cq *cq;
	void *ctx;

	for (int i = 0; i < 256 && poll_links(p->cq, p->link, p->n, &failed) > 0; i++)
		if (failed != NULL)
			soak_wrong(failed, "the connection to the hub fails, which lives");
	if (p->channel == NULL || ibv_req_notify_cq(p->cq, 0) != 0)
		return;
	if (poll_links(p->cq, p->link, p->n, &failed) > 0)
		return;
	fds[1] = (struct pollfd){.fd = p->channel->fd, .events = POLLIN};
	if (poll(fds, 2, 100) > 0 && (fds[1].revents & POLLIN) && ibv_get_cq_event(p->channel, &cq, &ctx) == 0)
		ibv_ack_cq_events(cq, 1);
}

static void work(struct peer_process *p)
{
	bool ending = false, said = false;
	uint64_t looked = 0;

	for (;;) {
		int c;

		for (unsigned i = 0; i < p->n && !ending; i++)
			soak_link_fill(&p->link[i]);
		serve(p);
		if (ending && !said && all_idle(p->link, p->n))
			said = send_all(p->fd, "B", 1);
		if (soak_now() - looked < LOOK_NS)
			continue;
		looked = soak_now();
		c = next_byte(p->fd);
		ending |= c == 'E';
		if (c == 'X')
			return;
		if (c < 0)
			exit(3);
	}
}

static int run_peer(const char *port, unsigned number, unsigned qps)
{
	static struct peer_process p;
	struct ibv_context *ctx;
	struct ibv_pd *pd;

	open_device(&ctx, &pd);
	p.n = qps;
	p.channel = number % 2 == 1 ? ibv_create_comp_channel(ctx) : NULL;
	p.cq = make_cq(ctx, qps, p.channel);
	for (unsigned i = 0; i < qps; i++)
		soak_link_make(&p.link[i], pd, p.cq, i);
	p.fd = connect_to_hub(port);
	introduce(&p, number);
	work(&p);
	drain_all(p.link, qps);
	while (!all_are(p.link, qps, SOAK_DOWN)) {
		struct soak_link *failed;

		(void)poll_links(p.cq, p.link, qps, &failed);
	}
	printf("peer %u: %llu messages\n", number, (unsigned long long)count(p.link, qps));
	for (unsigned i = 0; i < qps; i++)
		soak_link_free(&p.link[i]);
	if (ibv_destroy_cq(p.cq) != 0 || (p.channel != NULL && ibv_destroy_comp_channel(p.channel) != 0) ||
	    ibv_dealloc_pd(pd) != 0 || ibv_close_device(ctx) != 0)
		soak_wrong(NULL, "the device can't be closed");
	close(p.fd);
	return 0;
}

/* ---- the hub: connecting ---- */

static void gone(struct peer *p)
{
	if (p->fd < 0)
		return;
	close(p->fd);
	p->fd = -1;
	p->gone_at = soak_now();
	if (!p->going) /* nothing was posted that would find out */
		drain_all(p->link, hub.n_qps);
}

static void welcome(struct peer *p)
{
	struct hello h = {.magic = HELLO};

	for (unsigned i = 0; i < hub.n_qps; i++) {
		soak_link_info(&p->link[i], &h.info[i]);
		soak_link_connect(&p->link[i], &p->next.info[i]);
	}
	p->fd = p->next_fd;
	p->next_fd = -1;
	p->gone_at = 0;
	p->going = p->said_bye = false;
	if (!send_all(p->fd, &h, hello_len(hub.n_qps)))
		gone(p);
}

static void let_in(int listener)
{
	int fd = accept(listener, NULL, NULL);
	struct hello h;
	struct peer *p;

	if (fd < 0)
		return;
	if (!receive_all(fd, &h, hello_len(hub.n_qps)) || h.magic != HELLO || h.number >= hub.n_peers) {
		close(fd); /* killed on the way */
		return;
	}
	p = &hub.peer[h.number];
	gone(p);
	if (p->next_fd >= 0)
		close(p->next_fd);
	p->next_fd = fd;
	p->next = h;
}

static void listen_to(struct peer *p)
{
	int c = p->fd >= 0 ? next_byte(p->fd) : 0;

	if (c < 0)
		gone(p);
	p->going |= c == 'G';
	p->said_bye |= c == 'B';
}

/* Links that are through with an earlier life begin another; a peer that waits for that is let in. */
static void renew(struct peer *p)
{
	for (unsigned i = 0; i < hub.n_qps; i++) {
		struct soak_link *l = &p->link[i];

		if (l->state != SOAK_DOWN)
			continue;
		hub.lives++;
		soak_link_renew(l);
	}
	if (p->next_fd >= 0 && !hub.ending && all_are(p->link, hub.n_qps, SOAK_READY))
		welcome(p);
}

/* ---- the hub: work ---- */

static void look_for_stuck(const struct peer *p)
{
	uint64_t now = soak_now();

	for (unsigned i = 0; i < hub.n_qps; i++) {
		const struct soak_link *l = &p->link[i];

		if ((l->state == SOAK_UP || l->state == SOAK_DRAINING) && now > l->moved_at + STUCK_NS && !hub.ending)
			soak_wrong(l, "nothing has happened for %llu s%s%s",
				   (unsigned long long)(now - l->moved_at) / 1000000000u,
				   l->state == SOAK_DRAINING ? ", flushing" : "",
				   p->gone_at != 0 ? ", the peer is gone" : "");
	}
}

static void link_failed(struct peer *p, struct soak_link *l)
{
	if (p->fd >= 0 && next_byte(p->fd) >= 0)
		soak_wrong(l, "it fails (%s) although its peer lives", ibv_wc_status_str(l->first_status));
	if (p->fd >= 0)
		gone(p);
	if (l->state == SOAK_UP)
		soak_link_drain(l);
}

static void work_on(struct peer *p, struct ibv_cq *cq)
{
	struct soak_link *failed;

	for (int i = 0; i < 256 && poll_links(cq, p->link, hub.n_qps, &failed) > 0; i++)
		if (failed != NULL)
			link_failed(p, failed);
	for (unsigned i = 0; i < hub.n_qps && p->going && !hub.ending; i++)
		if (p->link[i].state == SOAK_UP && !p->link[i].failed)
			soak_link_fill(&p->link[i]);
	renew(p);
}

static uint64_t all_messages(void)
{
	uint64_t messages = 0;

	for (unsigned i = 0; i < hub.n_peers; i++)
		messages += count(hub.peer[i].link, hub.n_qps);
	return messages;
}

static void answer(void)
{
	asked = 0;
	for (unsigned i = 0; i < hub.n_peers; i++)
		printf(" %llu", (unsigned long long)count(hub.peer[i].link, hub.n_qps));
	printf("\n");
	fflush(stdout);
}

/* ---- the hub: what it holds ---- */

struct holding {
	long fds, rss_kib;
};

static struct holding holding(void)
{
	struct holding h = {0, 0};
	DIR *d = opendir("/proc/self/fd");
	FILE *f = fopen("/proc/self/statm", "r");
	long size, rss;

	while (d != NULL && readdir(d) != NULL)
		h.fds++;
	if (d != NULL)
		closedir(d);
	if (f != NULL && fscanf(f, "%ld %ld", &size, &rss) == 2)
		h.rss_kib = rss * (sysconf(_SC_PAGESIZE) / 1024);
	if (f != NULL)
		fclose(f);
	return h;
}

#define FDS_MAX 192 /* a queue pair's sending socket lives on for a while */
#ifdef __SANITIZE_ADDRESS__
#define RSS_MAX_KIB (1024 * 1024) /* what is freed is kept for a while; leaks are the sanitizer's business */
#else
#define RSS_MAX_KIB 16384
#endif

static void compare(const struct holding *then, const struct holding *now)
{
	printf("hub: %ld descriptors then, %ld at the end; %ld KiB then, %ld at the end\n", then->fds, now->fds,
	       then->rss_kib, now->rss_kib);
	if (now->fds > then->fds + FDS_MAX)
		soak_wrong(NULL, "descriptors are lost");
	if (now->rss_kib > then->rss_kib + RSS_MAX_KIB)
		soak_wrong(NULL, "memory is lost");
}

/* ---- the hub: its life ---- */

static bool ended(void)
{
	for (unsigned i = 0; i < hub.n_peers; i++) {
		struct peer *p = &hub.peer[i];

		if (p->fd >= 0 && !(p->said_bye && all_idle(p->link, hub.n_qps)))
			return false;
		if (p->fd < 0 && !all_are(p->link, hub.n_qps, SOAK_READY))
			return false;
	}
	return true;
}

static void begin_to_end(const char *file)
{
	int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	hub.ending = true;
	for (unsigned i = 0; i < hub.n_peers; i++)
		if (hub.peer[i].fd >= 0 && !send_all(hub.peer[i].fd, "E", 1))
			gone(&hub.peer[i]);
}

static void run(int listener, uint64_t messages, const char *file)
{
	struct holding then = {0, 0}, now;
	uint64_t looked = 0, end_at = 0;

	while (!hub.ending || !ended()) {
		struct pollfd pfd = {.fd = listener, .events = POLLIN};

		for (unsigned i = 0; i < hub.n_peers; i++)
			work_on(&hub.peer[i], hub.cq[i]);
		if (soak_now() - looked < LOOK_NS)
			continue;
		looked = soak_now();
		if (!hub.ending && poll(&pfd, 1, 0) == 1)
			let_in(listener);
		for (unsigned i = 0; i < hub.n_peers; i++) {
			listen_to(&hub.peer[i]);
			look_for_stuck(&hub.peer[i]);
		}
		if (asked)
			answer();
		if (then.fds == 0 && all_messages() > messages / 5 * 2)
			then = holding();
		if (hub.targets != NULL)
			victim_tend();
		if (!hub.ending && all_messages() >= messages &&
		    (hub.targets == NULL || access(hub.targets, F_OK) != 0)) {
			end_at = looked;
			begin_to_end(file);
		}
		if (hub.ending && looked > end_at + STUCK_NS)
			soak_wrong(NULL, "the end does not come");
	}
	now = holding();
	compare(&then, &now);
}

static void clean_up(void)
{
	for (unsigned i = 0; i < hub.n_peers; i++) {
		struct peer *p = &hub.peer[i];

		if (p->fd >= 0)
			(void)send_all(p->fd, "X", 1);
		drain_all(p->link, hub.n_qps);
	}
	for (unsigned i = 0; i < hub.n_peers; i++) {
		struct peer *p = &hub.peer[i];
		struct soak_link *failed;

		while (poll_links(hub.cq[i], p->link, hub.n_qps, &failed) > 0)
			;
		for (unsigned q = 0; q < hub.n_qps; q++) {
			if (p->link[q].state == SOAK_DRAINING)
				soak_wrong(&p->link[q], "what is flushed does not complete");
			soak_link_free(&p->link[q]);
		}
		if (ibv_destroy_cq(hub.cq[i]) != 0)
			soak_wrong(NULL, "ibv_destroy_cq fails");
		if (p->fd >= 0)
			close(p->fd);
		if (p->next_fd >= 0)
			close(p->next_fd);
	}
	if (ibv_dealloc_pd(hub.pd) != 0 || ibv_close_device(hub.ctx) != 0)
		soak_wrong(NULL, "the device can't be closed");
}

/* Address and queue pairs that live, and what is there to be attacked. It appears whole. */
static void write_targets(void)
{
	char part[4096];
	union ibv_gid gid;
	FILE *f;

	snprintf(part, sizeof(part), "%s.part", hub.targets);
	f = fopen(part, "w");
	if (f == NULL || ibv_query_gid(hub.ctx, 1, 0, &gid) != 0)
		fail(part);
	for (unsigned i = 0; i < hub.n_peers; i++)
		for (unsigned q = 0; q < hub.n_qps; q++)
			fprintf(f, "live %u %u\n", i, hub.peer[i].link[q].qp->qp_num);
	gid.raw[15] = 10; /* where soak.sh and hostile.sh put the first peer */
	victim_make(hub.ctx, &gid, f);
	if (fclose(f) != 0 || rename(part, hub.targets) != 0)
		fail(hub.targets);
}

static int run_hub(const char *port, uint64_t messages, const char *file)
{
	struct sockaddr_in a = address(port);
	int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t began;

	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(listener, (struct sockaddr *)&a, sizeof(a)) != 0)
		fail("bind");
	open_device(&hub.ctx, &hub.pd);
	for (unsigned i = 0; i < hub.n_peers; i++) {
		hub.cq[i] = make_cq(hub.ctx, hub.n_qps, NULL);
		hub.peer[i].fd = hub.peer[i].next_fd = -1;
		for (unsigned q = 0; q < hub.n_qps; q++)
			soak_link_make(&hub.peer[i].link[q], hub.pd, hub.cq[i], q);
	}
	signal(SIGUSR1, ask);
	if (listen(listener, 64) != 0)
		fail("listen");
	if (hub.targets != NULL)
		write_targets();
	began = soak_now();
	run(listener, messages, file);
	printf("hub: %llu messages over %u queue pairs in %.1f s, %llu connections broken and accounted for\n",
	       (unsigned long long)all_messages(), hub.n_peers * hub.n_qps, (double)(soak_now() - began) / 1e9,
	       (unsigned long long)hub.lives);
	close(listener);
	if (hub.targets != NULL)
		victim_end();
	clean_up();
	return 0;
}

int main(int argc, char **argv)
{
	if ((argc == 7 || argc == 8) && strcmp(argv[1], "hub") == 0) {
		hub.targets = argv[7]; /* NULL of 7 */
		hub.n_peers = (unsigned)atoi(argv[3]);
		hub.n_qps = (unsigned)atoi(argv[4]);
		if (hub.n_peers >= 1 && hub.n_peers <= PEERS_MAX && hub.n_qps >= 1 && hub.n_qps <= QPS_MAX)
			return run_hub(argv[2], strtoull(argv[5], NULL, 10), argv[6]);
	}
	if (argc == 5 && strcmp(argv[1], "peer") == 0 && atoi(argv[4]) >= 1 && atoi(argv[4]) <= (int)QPS_MAX)
		return run_peer(argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]));
	fprintf(stderr,
		"usage: ref0_soak hub PORT PEERS QPS MESSAGES FILE [TARGETS] | ref0_soak peer PORT NUMBER QPS\n");
	return 2;
}
