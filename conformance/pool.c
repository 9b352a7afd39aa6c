/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pool.c - worker processes: a case that dies or hangs costs itself, and no other.
 *
 * A worker gets a number of a job, and answers with the length of a text and the text, a result in JSON. Results
 * are handed on in the order of the suite, whichever worker was faster.
 *
 * A device may die of a case, or be taken away. When there is reason to think so, a process of its own looks whether it
 * can still be opened; where it can't, the run ends, and what came until then is kept.
 */
#include "conform.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOBS_MAX 64u
#define RESULT_MAX (64u << 20)
#define DOUBTFUL 8u   /* so many failures in a row, and the device is looked after */
#define LEAVE_MS 1000 /* for who ends by himself */

struct job {
	const struct vc_case *c;
	unsigned vector;
	json_t *result;
};
struct worker {
	pid_t pid;
	int to, from;
	bool busy;
	size_t job;
	uint64_t deadline_ms;
	struct vc_watch *watch; /* NULL: no memory for one */
	uint32_t want;          /* bytes of the answer; 0: its length is not there yet */
	char *buf;
	size_t got;
};
struct pool {
	const struct vc_options *o;
	struct job *job;
	size_t n, next, handed;
	struct worker w[JOBS_MAX];
	unsigned workers, doubts;
	char *gone; /* VC_GONE bytes: how the device went; "": it is there */
	void (*done)(void *ctx, json_t *result);
	void *ctx;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

bool vc_interrupted(void)
{
	return interrupted != 0;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool move(int fd, void *buf, size_t len, bool out)
{
	char *at = buf;

	while (len > 0) {
		ssize_t n = out ? write(fd, at, len) : read(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* ---- in the worker ---- */

static void work(struct pool *p, struct worker *w, int from, int to)
{
	struct vc_options o = *p->o;
	uint32_t number, len;

	o.worker = (unsigned)(w - p->w);
	vc_watch_use(w->watch);
	(void)signal(SIGINT, SIG_IGN); /* the parent says when it is over */
	(void)signal(SIGHUP, SIG_IGN);
	if (o.verbs != NULL) /* who plays a peer in real time should not wait; where that is not allowed, he does */
		(void)setpriority(PRIO_PROCESS, 0, -15);
	while (move(from, &number, sizeof(number), false)) {
		json_t *result = vc_job_run(&o, p->job[number].c, p->job[number].vector);
		char *text = result != NULL ? json_dumps(result, JSON_COMPACT) : NULL;
		bool sent;

		len = text != NULL ? (uint32_t)strlen(text) : 0;
		sent = text != NULL && move(to, &len, sizeof(len), true) && move(to, text, len, true);
		free(text);
		json_decref(result);
		if (!sent)
			break;
	}
	vc_verbs_close();
}

/* ---- in the parent ---- */

static bool start(struct pool *p, struct worker *w)
{
	const pid_t parent = getpid();
	int down[2], up[2];

	*w = (struct worker){.pid = -1, .watch = w->watch != NULL ? w->watch : vc_watch_new()};
	if (w->watch != NULL)
		*w->watch = (struct vc_watch){.failed = false};
	if (pipe(down) < 0)
		return false;
	if (pipe(up) < 0) {
		close(down[0]);
		close(down[1]);
		return false;
	}
	fflush(NULL);
	w->pid = fork();
	if (w->pid == 0) {
		/* one that hangs would outlive a runner that is killed */
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
			_exit(1);
		close(down[1]);
		close(up[0]);
		for (unsigned i = 0; i < p->workers; i++) {
			if (&p->w[i] == w || p->w[i].pid <= 0)
				continue;
			close(p->w[i].to);
			close(p->w[i].from);
		}
		work(p, w, down[0], up[1]);
		_exit(0);
	}
	close(down[0]);
	close(up[1]);
	w->to = down[1];
	w->from = up[0];
	if (w->pid > 0)
		return true;
	close(w->to);
	close(w->from);
	return false;
}

static int stop(struct worker *w, bool kill_it)
{
	int status = 0;

	if (w->pid <= 0)
		return 0;
	if (kill_it)
		(void)kill(w->pid, SIGKILL);
	if (w->to >= 0)
		close(w->to);
	close(w->from);
	if (!vc_reap(w->pid, &status))
		vc_complain("worker %ld can't be ended: the kernel holds it in a call to the device", (long)w->pid);
	free(w->buf);
	*w = (struct worker){.pid = -1, .watch = w->watch};
	w->buf = NULL; /* the analyzer doesn't see it in the line above */
	return status;
}

/* Who has nothing to do ends by himself, and takes his traces away; who does not is stopped. */
static void stop_all(struct pool *p)
{
	for (unsigned i = 0; i < p->workers; i++) {
		if (p->w[i].pid <= 0)
			continue;
		close(p->w[i].to);
		p->w[i].to = -1;
	}
	for (unsigned i = 0; i < p->workers; i++) {
		struct pollfd fd = {.fd = p->w[i].from, .events = POLLIN};

		if (p->w[i].pid > 0 && !p->w[i].busy)
			(void)poll(&fd, 1, LEAVE_MS);
		(void)stop(&p->w[i], true);
	}
}

static void hand_over(struct pool *p)
{
	while (p->handed < p->n && p->job[p->handed].result != NULL) {
		p->done(p->ctx, p->job[p->handed].result);
		p->handed++;
	}
}

static void finish(struct pool *p, struct worker *w, json_t *result)
{
	p->job[w->job].result = result;
	w->busy = false;
	w->want = 0;
	w->got = 0;
	free(w->buf);
	w->buf = NULL;
	hand_over(p);
}

/* There is reason to think that the device died in job j, or before it. */
static void look_after_device(struct pool *p, const struct worker *w, const struct job *j)
{
	struct vc_options alone = *p->o; /* the peer's wire is in use */
	char why[256], name[VC_NAME];

	p->doubts = 0;
	alone.peer = "loop";
	alone.peer_at.kind = VC_PEER_NONE;
	alone.worker = JOBS_MAX; /* none of them */
	if (p->o->verbs == NULL || p->gone[0] != '\0' || vc_verbs_try(&alone, why, sizeof(why)) || interrupted)
		return;
	vc_vector_name(j->c, j->vector, name);
	if (w->watch != NULL && w->watch->sent[0] != '\0')
		(void)snprintf(p->gone, VC_GONE, "%.250s; noticed after %s, where the last packet was %s", why, name,
			       w->watch->sent);
	else
		(void)snprintf(p->gone, VC_GONE, "%.250s; noticed after %s, where no packet of a script was sent", why,
			       name);
}

/* The worker can't go on: its job is lost, another worker takes its place. */
static void lose(struct pool *p, struct worker *w, bool too_long)
{
	const struct job *j = &p->job[w->job];
	bool busy = w->busy;
	size_t number = w->job, n;
	char why[400];
	int status = stop(w, too_long);

	if (too_long)
		(void)snprintf(why, sizeof(why), "it took more than %.1f s and was stopped",
			       (double)p->o->budget_ms / 1000);
	else if (WIFSIGNALED(status))
		(void)snprintf(why, sizeof(why), "the process died of signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	else
		(void)snprintf(why, sizeof(why), "the process ended with code %d", WEXITSTATUS(status));
	n = strlen(why);
	if (w->watch != NULL && w->watch->sent[0] != '\0')
		(void)snprintf(why + n, sizeof(why) - n, "; the last packet was %s", w->watch->sent);
	if (busy) {
		w->job = number;
		finish(p, w, vc_job_lost(j->c, j->vector, why));
	}
	look_after_device(p, w, j);
	if (p->next < p->n && p->gone[0] == '\0')
		(void)start(p, w);
}

static void receive(struct pool *p, struct worker *w)
{
	ssize_t n;

	if (w->want == 0) {
		uint32_t len;

		if (!move(w->from, &len, sizeof(len), false) || len == 0 || len > RESULT_MAX ||
		    (w->buf = malloc(len)) == NULL) {
			lose(p, w, false);
			return;
		}
		w->want = len;
		return;
	}
	n = read(w->from, w->buf + w->got, w->want - w->got);
	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		lose(p, w, false);
		return;
	}
	w->got += (size_t)n;
	if (w->got == w->want) {
		json_t *result = json_loadb(w->buf, w->want, 0, NULL);
		const struct job *j = &p->job[w->job];

		if (result == NULL)
			result = vc_job_lost(j->c, j->vector, "its result can't be read");
		p->doubts = vc_is_bad(vc_verdict_by_name(vc_text(result, "verdict"))) ? p->doubts + 1 : 0;
		finish(p, w, result);
		if (w->watch != NULL &&
		    w->watch->failed) { /* what it has open is of no use, even if the device is back */
			look_after_device(p, w, j);
			(void)stop(w, true);
			if (p->gone[0] == '\0')
				(void)start(p, w);
		} else if (p->doubts >= DOUBTFUL && p->o->agent == NULL) { /* the way to an agent may be taken */
			look_after_device(p, w, j);
		}
	}
}

static void give(struct pool *p, struct worker *w)
{
	uint32_t number = (uint32_t)p->next;

	if (w->pid <= 0 || w->busy || p->next == p->n)
		return;
	w->job = p->next++;
	w->busy = true;
	w->deadline_ms = now_ms() + p->o->budget_ms;
	if (!move(w->to, &number, sizeof(number), true))
		lose(p, w, false);
}

/* Waits for answers. False: nobody works any more. */
static bool turn(struct pool *p)
{
	struct pollfd fd[JOBS_MAX];
	struct worker *who[JOBS_MAX];
	uint64_t now = now_ms(), until = UINT64_MAX;
	nfds_t n = 0;

	for (unsigned i = 0; i < p->workers; i++) {
		give(p, &p->w[i]);
		if (p->w[i].pid <= 0 || !p->w[i].busy)
			continue;
		until = p->w[i].deadline_ms < until ? p->w[i].deadline_ms : until;
		fd[n] = (struct pollfd){.fd = p->w[i].from, .events = POLLIN};
		who[n++] = &p->w[i];
	}
	if (n == 0)
		return false;
	if (poll(fd, n, until > now ? (int)(until - now) + 1 : 0) < 0)
		return true; /* a signal */
	now = now_ms();
	for (nfds_t i = 0; i < n; i++) {
		if (fd[i].revents != 0)
			receive(p, who[i]);
		else if (who[i]->deadline_ms <= now)
			lose(p, who[i], true);
	}
	return true;
}

static size_t collect(struct pool *p, const struct vc_suite *s)
{
	p->job = calloc(vc_suite_chosen(s) + 1, sizeof(*p->job));
	for (size_t i = 0; i < s->n && p->job != NULL; i++)
		for (unsigned v = 0; v < s->c[i].vectors; v++)
			if (s->c[i].chosen[v])
				p->job[p->n++] = (struct job){&s->c[i], v, NULL};
	return p->n;
}

bool vc_pool_run(const struct vc_options *o, const struct vc_suite *s, void (*done)(void *ctx, json_t *result),
		 void *ctx, char gone[VC_GONE])
{
	struct pool p = {.o = o, .done = done, .ctx = ctx, .gone = gone};
	struct sigaction act = {.sa_handler = on_signal}, old_int, old_term, old_hup, old_pipe;

	gone[0] = '\0';
	collect(&p, s);
	if (p.job == NULL)
		return false;
	p.workers = o->jobs > JOBS_MAX ? JOBS_MAX : o->jobs;
	if (p.workers > p.n)
		p.workers = (unsigned)p.n;
	interrupted = 0;
	(void)sigaction(SIGINT, &act, &old_int);
	(void)sigaction(SIGTERM, &act, &old_term);
	/* The terminal went: the reports are still wanted. With nohup(1) the rest of the run, too. */
	(void)sigaction(SIGHUP, NULL, &old_hup);
	if (old_hup.sa_handler != SIG_IGN)
		(void)sigaction(SIGHUP, &act, NULL);
	act.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &act, &old_pipe);
	for (unsigned i = 0; i < p.workers; i++)
		if (!start(&p, &p.w[i]))
			vc_complain("a worker process can't be started: %s", strerror(errno));
	while (!interrupted && gone[0] == '\0' && turn(&p))
		;
	stop_all(&p);
	for (unsigned i = 0; i < p.workers; i++)
		vc_watch_free(p.w[i].watch);
	/* Those that nobody could run; those behind one that is missing. */
	for (size_t i = p.handed; i < p.n; i++) {
		if (p.job[i].result == NULL && !interrupted && gone[0] == '\0')
			p.job[i].result = vc_job_lost(p.job[i].c, p.job[i].vector, "no worker process was left");
		if (p.job[i].result != NULL)
			p.done(p.ctx, p.job[i].result);
	}
	(void)sigaction(SIGINT, &old_int, NULL);
	(void)sigaction(SIGTERM, &old_term, NULL);
	(void)sigaction(SIGHUP, &old_hup, NULL);
	(void)sigaction(SIGPIPE, &old_pipe, NULL);
	free(p.job);
	return !interrupted && gone[0] == '\0';
}
