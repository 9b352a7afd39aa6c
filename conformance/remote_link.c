/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * remote_link.c - the lines to and from an agent.
 *
 * Whatever the far side does, this one ends with a sentence that says so: a command that is not there, one that says
 * something else than an agent would, another version, a line that makes no sense, an end, no answer.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "remote.h"

#define HELLO_LINES 4096u /* that are no greeting: a login's, or what is left of an earlier session */
#define END_MS 2000       /* for a command to end by itself, */
#define TOLD_MS 6000      /* and when it is told to: it ends what it has started */

void vc_link_over(struct vc_link *l, const char *format, ...)
{
	va_list ap;

	if (l->over[0] != '\0')
		return;
	va_start(ap, format);
	(void)vsnprintf(l->over, sizeof(l->over), format, ap);
	va_end(ap);
}

void vc_link_nonsense(struct vc_link *l)
{
	vc_link_over(l, "the agent's answer to %s makes no sense", l->verb);
}

/* Of what the far side says, what does no harm on a terminal. */
static void printable(char *to, size_t cap, const char *text)
{
	size_t n = 0;

	for (; n < cap - 1 && text[n] != '\0'; n++)
		to[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
	to[n] = '\0';
}

/* ---- starting and ending ---- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The newest line of what the command says on its standard error. */
static void hear_errors(struct vc_link *l)
{
	char buf[512];
	ssize_t n;

	while (l->err >= 0 && (n = read(l->err, buf, sizeof(buf))) != -1) {
		if (n == 0)
			close_fd(&l->err);
		for (ssize_t i = 0; i < n; i++) {
			bool end = buf[i] == '\n' || buf[i] == '\r';

			if (!end && l->said_ends)
				l->n_said = 0;
			l->said_ends = end;
			if (!end && l->n_said < sizeof(l->said) - 1)
				l->said[l->n_said++] = buf[i] >= ' ' && buf[i] <= '~' ? buf[i] : '?';
			l->said[l->n_said] = '\0';
		}
	}
}

/* How the command ended; false: it has not, after some time. */
static bool ended(struct vc_link *l, int *status, unsigned most_ms)
{
	const struct timespec nap = {0, 5000000};

	for (unsigned ms = 0; ms < most_ms && l->pid > 0; ms += 5) {
		hear_errors(l);
		if (waitpid(l->pid, status, WNOHANG) == l->pid) {
			l->pid = -1;
			hear_errors(l);
			return true;
		}
		(void)nanosleep(&nap, NULL);
	}
	return false;
}

void vc_link_close(struct vc_link *l)
{
	int status;

	if (l == NULL)
		return;
	close_fd(&l->to);
	close_fd(&l->from);
	/* Who leads to a guest may have something to put in order. */
	if (l->pid > 0 && (l->over[0] != '\0' || !ended(l, &status, END_MS)))
		(void)kill(l->pid, SIGTERM);
	if (l->pid > 0 && !ended(l, &status, TOLD_MS)) {
		(void)kill(l->pid, SIGKILL);
		while (waitpid(l->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close_fd(&l->err);
	free(l);
}

/* The stream has ended: what became of the command, and what it said. */
static void over_by_end(struct vc_link *l)
{
	char how[96] = "it closed the stream";
	int status = 0;

	if (ended(l, &status, END_MS) && WIFEXITED(status))
		(void)snprintf(how, sizeof(how), "its command ended with code %d", WEXITSTATUS(status));
	else if (l->pid < 0)
		(void)snprintf(how, sizeof(how), "its command died of signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	vc_link_over(l, "the agent is gone: %s during %s%s%s", how, l->verb, l->said[0] != '\0' ? ": " : "", l->said);
}

/* ---- lines ---- */

/* Waits for something to read, and to write with `writing`; reads what there is. */
static void turn(struct vc_link *l, bool writing, uint64_t until)
{
	struct pollfd fd[3] = {{.fd = l->from, .events = POLLIN},
			       {.fd = l->err, .events = POLLIN},
			       {.fd = writing ? l->to : -1, .events = POLLOUT}};
	uint64_t now = vc_now_ns();
	size_t cap;
	ssize_t n;
	char *space;

	if (until > now && poll(fd, 3, (int)((until - now) / 1000000) + 1) < 0)
		return; /* a signal */
	hear_errors(l);
	space = ag_reader_space(&l->in, &cap);
	n = read(l->from, space, cap);
	if (n > 0)
		ag_reader_got(&l->in, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		over_by_end(l);
}

static bool observation(struct vc_link *l, struct ag_words *w)
{
	uint64_t when = ag_get_num(w, UINT64_MAX);
	char what[AG_WORD_MAX];

	(void)ag_get_word(w, what);
	if (w->bad)
		return false;
	if (strcmp(what, "over") == 0) {
		char text[160];

		printable(text, sizeof(text), ag_get_text(w));
		vc_link_over(l, "the agent gave up: %s", text);
		return true;
	}
	if (l->heard == NULL) /* left over from a run that has ended */
		return true;
	return l->heard(l->ctx, what, when != 0 ? vc_clock_here(&l->clock, when) : vc_now_ns(), w);
}

static void garbage(struct vc_link *l, const char *line)
{
	char text[80];

	printable(text, sizeof(text), line);
	vc_link_over(l, "the agent talks garbage: %s", text);
}

/* The next line that is an answer; observations are handed on. NULL: none yet, or it is over. */
static char *next_answer(struct vc_link *l)
{
	bool too_long;
	char *line;

	while (l->over[0] == '\0' && (line = ag_reader_next(&l->in, &too_long)) != NULL) {
		struct ag_words w = {.at = line};
		char kind[AG_WORD_MAX];

		(void)ag_get_word(&w, kind);
		if (strcmp(kind, "=") == 0)
			return line;
		if (strcmp(kind, "!") != 0 || !observation(l, &w))
			garbage(l, line);
	}
	if (l->over[0] == '\0' && too_long)
		vc_link_over(l, "the agent talks garbage: a line of more than %u bytes", AG_LINE_MAX);
	return NULL;
}

static bool send_line(struct vc_link *l, uint64_t until)
{
	size_t done = 0;

	if (l->line.full)
		vc_link_over(l, "the request %s is longer than a line", l->verb);
	l->line.text[l->line.len++] = '\n';
	while (l->over[0] == '\0' && done < l->line.len) {
		ssize_t n = write(l->to, l->line.text + done, l->line.len - done);

		done += n > 0 ? (size_t)n : 0;
		if (n > 0 || (n < 0 && errno == EINTR))
			continue;
		if (n < 0 && errno != EAGAIN)
			over_by_end(l);
		else if (vc_now_ns() > until)
			vc_link_over(l, "the agent takes nothing any more (%s)", l->verb);
		else
			turn(l, true, until);
	}
	return l->over[0] == '\0';
}

struct ag_line *vc_link_begin_told(struct vc_link *l, const char *verb)
{
	(void)snprintf(l->verb, sizeof(l->verb), "%s", verb);
	ag_start(&l->line, "0");
	ag_put_word(&l->line, verb);
	return &l->line;
}

struct ag_line *vc_link_begin(struct vc_link *l, const char *verb)
{
	char id[24];

	(void)snprintf(l->verb, sizeof(l->verb), "%s", verb);
	(void)snprintf(id, sizeof(id), "%llx", (unsigned long long)++l->id);
	ag_start(&l->line, id);
	ag_put_word(&l->line, verb);
	return &l->line;
}

void vc_link_tell(struct vc_link *l)
{
	(void)send_line(l, vc_now_ns() + l->timeout_ns);
}

void vc_link_listen(struct vc_link *l)
{
	if (l->over[0] != '\0')
		return;
	for (unsigned i = 0; i < 2; i++) { /* what was read before counts, even if this is the end */
		if (next_answer(l) != NULL)
			vc_link_over(l, "the agent answers what nobody asked");
		if (i == 0)
			turn(l, false, 0);
	}
}

static enum vc_answer answer(struct vc_link *l, uint64_t sent, struct ag_words *w, int *code)
{
	static const char *const words[] = {"ok", "refused", "lacks", "failed"};
	uint64_t id, took, answered, came = vc_now_ns(), way;
	char status[AG_WORD_MAX];

	(void)ag_get_word(w, status); /* = */
	id = ag_get_num(w, UINT64_MAX);
	took = ag_get_num(w, UINT64_MAX);
	answered = ag_get_num(w, UINT64_MAX);
	(void)ag_get_word(w, status);
	for (unsigned i = 0; !w->bad && id == l->id && answered >= took && i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(status, words[i]) != 0)
			continue;
		vc_clock_add(&l->clock, sent, took, answered, came);
		way = came - sent > answered - took ? came - sent - (answered - took) : 0;
		l->slow_ns = way > l->slow_ns ? way : l->slow_ns;
		*code = i == VC_ANSWER_REFUSED ? -(int)ag_get_num(w, 99) : 0;
		return (enum vc_answer)i;
	}
	vc_link_nonsense(l);
	return VC_ANSWER_OVER;
}

enum vc_answer vc_link_ask(struct vc_link *l, struct ag_words *w, int *code)
{
	uint64_t sent = vc_now_ns(), until = sent + l->timeout_ns;
	char *line = NULL;

	*code = 0;
	w->bad = true;
	if (l->over[0] != '\0' || !send_line(l, until))
		return VC_ANSWER_OVER;
	while (l->over[0] == '\0' && (line = next_answer(l)) == NULL) {
		if (vc_now_ns() > until)
			vc_link_over(l, "the agent did not answer within %.1f s (%s)", (double)l->timeout_ns / 1e9,
				     l->verb);
		else if (l->over[0] == '\0')
			turn(l, false, until);
	}
	if (line == NULL)
		return VC_ANSWER_OVER;
	*w = (struct ag_words){.at = line};
	return answer(l, sent, w, code);
}

/* ---- the greeting ---- */

/* verbscope VERSION agent NONCE PROGRAM-VERSION: true when it is that, whatever the version. */
static bool greets(struct vc_link *l, const char *line, const char *nonce)
{
	struct ag_words w = {.at = line};
	char word[AG_WORD_MAX], who[AG_WORD_MAX], echo[AG_WORD_MAX], version[AG_WORD_MAX];
	uint64_t protocol;

	(void)ag_get_word(&w, word);
	protocol = ag_get_num(&w, UINT32_MAX);
	(void)ag_get_word(&w, who);
	(void)ag_get_word(&w, echo);
	(void)ag_get_word(&w, version);
	if (w.bad || strcmp(word, "verbscope") != 0 || strcmp(who, "agent") != 0 || strcmp(echo, nonce) != 0)
		return false;
	if (protocol != AG_PROTOCOL)
		vc_link_over(l,
			     "the agent (Verbscope %.20s) speaks version %llu of the protocol, and this vs-conform %u: "
			     "install the same Verbscope on both sides",
			     version, (unsigned long long)protocol, AG_PROTOCOL);
	return true;
}

void vc_link_greet(struct vc_link *l, const char *nonce)
{
	char first[80] = "";
	uint64_t until = vc_now_ns() + l->hello_ns;
	unsigned lines = 0;

	(void)snprintf(l->verb, sizeof(l->verb), "the greeting");
	/* What was begun on the line before, by somebody else, ends here. */
	ag_start(&l->line, "\nverbscope");
	ag_put_num(&l->line, AG_PROTOCOL);
	ag_put_word(&l->line, "hello");
	ag_put_word(&l->line, nonce);
	(void)send_line(l, until);
	while (l->over[0] == '\0') {
		bool too_long;
		char *line = ag_reader_next(&l->in, &too_long);

		if (line != NULL && greets(l, line, nonce))
			return;
		if (line != NULL && first[0] == '\0' && line[0] != '\0')
			printable(first, sizeof(first), line);
		lines += line != NULL;
		if (vc_now_ns() > until || lines > HELLO_LINES)
			vc_link_over(l, "no agent answered there%s%s", first[0] != '\0' ? "; what came was: " : "",
				     first[0] != '\0' ? first : l->said);
		else if (line == NULL)
			turn(l, false, until);
	}
	if (first[0] != '\0' && strstr(l->over, first) == NULL) {
		size_t n = strlen(l->over);

		(void)snprintf(l->over + n, sizeof(l->over) - n, "; it said: %s", first);
	}
}

struct vc_link *vc_link_open(const char *command, uint64_t hello_ns, uint64_t timeout_ns, char *why, size_t cap)
{
	struct vc_link *l = calloc(1, sizeof(*l));
	char nonce[40];

	if (l == NULL) {
		(void)snprintf(why, cap, "no memory");
		return NULL;
	}
	l->pid = l->to = l->from = l->err = -1;
	l->hello_ns = hello_ns;
	l->timeout_ns = timeout_ns;
	(void)snprintf(nonce, sizeof(nonce), "%llx.%lx", (unsigned long long)vc_now_ns(), (unsigned long)getpid());
	(void)signal(SIGPIPE, SIG_IGN); /* a command that has ended is told of by what it said */
	l->pid = vc_command_start(command, &l->to, &l->from, &l->err);
	if (l->pid < 0)
		vc_link_over(l, "the agent's command can't be started: %s", strerror(errno));
	else
		vc_link_greet(l, nonce);
	if (l->over[0] == '\0')
		return l;
	(void)snprintf(why, cap, "%s", l->over);
	vc_link_close(l);
	return NULL;
}
