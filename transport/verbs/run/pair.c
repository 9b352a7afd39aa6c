/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pair.c - a server and a client on two addresses, for programs that find each other over TCP or RDMA-CM. The client
 * starts when the server listens. What the server prints is marked; the client's output is left as it is. Faults,
 * deviations and the capture are the server's: its side sees every packet once.
 */
#define _GNU_SOURCE /* pipe2 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "verbs/run/run.h"

#define LISTEN_WAIT_MS 5000 /* then the client starts anyway: not every server uses TCP */
#define END_WAIT_MS 5000    /* for the server, when the client has ended */
#define FAIL_WAIT_MS 20000  /* for the client, when the server has failed: it is to notice it, which takes retries */
#define STEP_MS 10
#define RDMA_LISTENS "/memfd:verbscope-listens" /* verbs/cm/connect.c */

struct pair {
	const struct run_options *o;
	char server_ip[64], client_ip[64];
	char **server_argv, **client_argv;
	pid_t server, client; /* 0: ended */
	int server_status, client_status;
	int out; /* what the server prints */
	char line[4096];
	size_t len;
};

/* ---- commands ---- */

static char **copy_args(char **from, size_t n, size_t room)
{
	char **to = calloc(n + room + 1, sizeof(char *));

	for (size_t i = 0; to != NULL && i < n; i++)
		to[i] = from[i];
	return to;
}

/* The program twice, or "SERVER :: CLIENT". */
static int split(struct pair *p)
{
	char **argv = p->o->argv;
	size_t n = 0, cut = 0, client;

	while (argv[n] != NULL) {
		if (cut == 0 && n > 0 && strcmp(argv[n], "::") == 0)
			cut = n;
		n++;
	}
	p->server_argv = copy_args(argv, cut > 0 ? cut : n, 0);
	client = cut > 0 ? n - cut - 1 : n;
	if (client == 0)
		return run_fail("--pair: there is no client behind the '::'");
	p->client_argv = copy_args(cut > 0 ? argv + cut + 1 : argv, client, 1);
	if (p->server_argv == NULL || p->client_argv == NULL)
		return run_fail("no memory");
	if (cut == 0)
		p->client_argv[client] = p->server_ip;
	for (size_t i = 0; i < client; i++)
		if (strcmp(p->client_argv[i], "@server") == 0)
			p->client_argv[i] = p->server_ip;
	return 0;
}

static int addresses(struct pair *p)
{
	const struct run_options *o = p->o;

	if (o->n_ip == 1 || o->n_ip > 2)
		return run_fail("--pair: give two addresses (--ip A --ip B), the server's first, or none");
	if (o->n_ip == 2) {
		snprintf(p->server_ip, sizeof(p->server_ip), "%s", o->ip[0]);
		snprintf(p->client_ip, sizeof(p->client_ip), "%s", o->ip[1]);
	} else if (!run_free_address(1, p->server_ip) || !run_free_address(2, p->client_ip)) {
		return run_fail(
			"--pair: no two of 127.0.0.N:4791 are free: rdma_rxe owns the port on every address while it "
			"is loaded; add --netns");
	}
	if (!o->quiet)
		fprintf(stderr, "vs-run: the server is %s, the client is %s\n", p->server_ip, p->client_ip);
	return 0;
}

/* ---- does the server listen? ---- */

/* Is `inode` the socket of a listener in this table of the kernel? */
static bool listens_in(const char *table, unsigned long inode)
{
	FILE *f = fopen(table, "re");
	char line[512];
	bool found = false;

	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL) {
		unsigned state;
		unsigned long here;

		found = sscanf(line, "%*s %*s %*s %x %*s %*s %*s %*s %*s %lu", &state, &here) == 2 && state == 0x0a &&
			here == inode;
	}
	if (f != NULL)
		fclose(f);
	return found;
}

static bool process_listens(pid_t pid)
{
	char path[64], link[64];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	d = opendir(path);
	while (d != NULL && !found && (e = readdir(d)) != NULL) {
		unsigned long inode;
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);

		if (n <= 0)
			continue;
		link[n] = '\0';
		/* Who listens with rdma_listen has no socket for it, but our librdmacm's mark. */
		found = strncmp(link, RDMA_LISTENS, strlen(RDMA_LISTENS)) == 0;
		found = found || (sscanf(link, "socket:[%lu]", &inode) == 1 &&
				  (listens_in("/proc/net/tcp", inode) || listens_in("/proc/net/tcp6", inode)));
	}
	if (d != NULL)
		closedir(d);
	return found;
}

/* It, or what it has started. */
static bool listens(pid_t pid)
{
	char path[64];
	bool found = process_listens(pid);
	FILE *f;
	long child;

	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
	f = found ? NULL : fopen(path, "re");
	while (f != NULL && !found && fscanf(f, "%ld", &child) == 1)
		found = listens((pid_t)child);
	if (f != NULL)
		fclose(f);
	return found;
}

/* ---- what the server prints ---- */

static void print_line(struct pair *p, bool whole)
{
	printf("[server] %.*s%s", (int)p->len, p->line, whole ? "" : "\n");
	fflush(stdout);
	p->len = 0;
}

static void copy_output(struct pair *p, int wait_ms)
{
	struct pollfd fd = {.fd = p->out, .events = POLLIN};
	char c[1024];
	ssize_t n;

	if (poll(&fd, 1, wait_ms) <= 0)
		return;
	n = read(p->out, c, sizeof(c));
	for (ssize_t i = 0; i < n; i++) {
		p->line[p->len++] = c[i];
		if (c[i] == '\n' || p->len == sizeof(p->line))
			print_line(p, c[i] == '\n');
	}
	if (n == 0 && wait_ms > 0)
		poll(NULL, 0, wait_ms); /* it has closed its output and lives on */
}

/* ---- running ---- */

/* What is sent to us alone is passed on to both, who then end as they see fit. */
static volatile sig_atomic_t told, running[2]; /* the signal; server, client */

static void pass_on(int signal_number)
{
	int saved = errno;

	told = signal_number;
	for (int i = 0; i < 2; i++)
		if (running[i] > 0)
			(void)kill((pid_t)running[i], signal_number);
	errno = saved;
}

/* The terminal tells both. Not SIG_IGN, which they would inherit. */
static void ignore(int signal_number)
{
	(void)signal_number;
}

static void listen_to_signals(void)
{
	struct sigaction act = {.sa_handler = pass_on}, before;

	(void)sigemptyset(&act.sa_mask);
	(void)sigaction(SIGTERM, &act, NULL);
	(void)sigaction(SIGHUP, &act, NULL);
	act.sa_handler = ignore;
	if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		(void)sigaction(SIGINT, &act, NULL);
}

static void reap(pid_t *pid, int *status)
{
	pid_t was = *pid;

	if (was <= 0 || waitpid(was, status, WNOHANG) != was)
		return;
	*pid = 0;
	for (int i = 0; i < 2; i++)
		if (running[i] == (sig_atomic_t)was)
			running[i] = 0;
}

static int start_server(struct pair *p)
{
	int fds[2], code = 0;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return run_fail("no pipe (%s)", strerror(errno));
	(void)setenv("VS_IP", p->server_ip, 1);
	(void)setenv("VS_NODE", "server", 1);
	p->server = run_spawn(p->o->view ? p->server_ip : NULL, p->server_argv, fds[1], &code);
	close(fds[1]);
	p->out = fds[0];
	running[0] = (sig_atomic_t)p->server;
	return p->server < 0 ? code : 0;
}

static int start_client(struct pair *p)
{
	int code = 0;

	(void)setenv("VS_IP", p->client_ip, 1);
	(void)setenv("VS_NODE", "client", 1);
	(void)unsetenv("VS_FAULT");
	(void)unsetenv("VS_DEVIATION");
	(void)unsetenv("VS_CAPTURE");
	p->client = run_spawn(p->o->view ? p->client_ip : NULL, p->client_argv, -1, &code);
	running[1] = (sig_atomic_t)p->client;
	if (p->client > 0 && told != 0) /* meanwhile */
		(void)kill(p->client, (int)told);
	return p->client < 0 ? code : 0;
}

static void stop(pid_t *pid, int *status)
{
	if (*pid <= 0)
		return;
	(void)kill(*pid, SIGTERM);
	for (int ms = 0; ms < 1000 && *pid > 0; ms += STEP_MS) {
		poll(NULL, 0, STEP_MS);
		reap(pid, status);
	}
	if (*pid > 0) {
		(void)kill(*pid, SIGKILL);
		(void)waitpid(*pid, status, 0);
		*pid = 0;
	}
}

/* A client whose server has failed is not waited for for ever. */
static int wait_for_client(struct pair *p)
{
	for (int ms = 0; p->client > 0; ms += STEP_MS) {
		copy_output(p, STEP_MS);
		reap(&p->client, &p->client_status);
		reap(&p->server, &p->server_status);
		if (p->server > 0 || run_code(p->server_status) == 0)
			ms = 0;
		if (ms > FAIL_WAIT_MS && p->client > 0) {
			fprintf(stderr, "vs-run: --pair: the server has failed, the client still runs: it is ended\n");
			stop(&p->client, &p->client_status);
			return run_code(p->server_status);
		}
	}
	return 0;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The server first; then the client; then some time for the server to end by itself. */
static int run_both(struct pair *p)
{
	int64_t until = now_ms() + LISTEN_WAIT_MS; /* a look takes time, too */
	int rc, ms;

	while (now_ms() < until && p->server > 0 && told == 0 && !listens(p->server)) {
		copy_output(p, STEP_MS);
		reap(&p->server, &p->server_status);
	}
	if (told != 0)
		return 128 + (int)told;
	if (p->server == 0) {
		rc = run_code(p->server_status);
		return rc != 0 ? rc : run_fail("--pair: the server ended before a client could come");
	}
	rc = start_client(p);
	if (rc != 0)
		return rc;
	rc = wait_for_client(p);
	if (rc != 0)
		return rc;
	for (ms = 0; ms < END_WAIT_MS && p->server > 0; ms += STEP_MS) {
		copy_output(p, STEP_MS);
		reap(&p->server, &p->server_status);
	}
	rc = run_code(p->client_status);
	if (p->server > 0) {
		fprintf(stderr, "vs-run: --pair: the server still runs: it is ended\n");
		stop(&p->server, &p->server_status);
		return rc;
	}
	return rc != 0 ? rc : run_code(p->server_status);
}

static int start(struct pair *p)
{
	int rc = addresses(p);

	if (rc == 0)
		rc = split(p);
	if (rc == 0)
		listen_to_signals();
	return rc == 0 ? start_server(p) : rc;
}

static int run_started(struct pair *p)
{
	int rc;

	rc = run_both(p);
	stop(&p->server, &p->server_status);
	stop(&p->client, &p->client_status);
	copy_output(p, 0);
	if (p->len > 0)
		print_line(p, false);
	if (p->o->capture != NULL)
		vs_cli_salvage_capture(RUN_PROGRAM, p->o->capture);
	if (p->o->trace != NULL)
		vs_cli_salvage_trace(RUN_PROGRAM, p->o->trace);
	return rc;
}

int run_pair(const struct run_options *o)
{
	struct pair p = {.o = o, .out = -1};
	int rc = start(&p);

	if (rc == 0)
		rc = run_started(&p);
	free(p.server_argv);
	free(p.client_argv);
	return rc;
}
