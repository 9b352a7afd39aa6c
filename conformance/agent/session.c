/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * session.c - one session of vs-agent: lines in, replies out.
 *
 * A session begins with a greeting that names the version and may come at any time: on a stream that nobody closes,
 * like a serial line, it is how a new runner takes over. Before it nothing is answered. A line that makes no sense ends
 * the session, since what was meant can't be known.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

/* ---- out ---- */

void ag_flush(struct ag_session *s)
{
	size_t done = 0;

	while (done < s->n_text && !s->lost) {
		ssize_t n = write(s->out, s->text + done, s->n_text - done);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd fd = {.fd = s->out, .events = POLLOUT};

			(void)poll(&fd, 1, 1000);
		} else if (n <= 0 && errno != EINTR) {
			s->lost = true;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	s->n_text = 0;
}

void ag_say(struct ag_session *s)
{
	if (s->line.full) /* nothing that is said is as long as that */
		return;
	if (s->text == NULL)
		s->text = malloc(AG_OUT_MAX);
	if (s->text == NULL) {
		s->lost = true;
		return;
	}
	if (s->n_text + s->line.len + 1 > AG_OUT_MAX)
		ag_flush(s);
	memcpy(s->text + s->n_text, s->line.text, s->line.len);
	s->n_text += s->line.len;
	s->text[s->n_text++] = '\n';
}

/* The session can't go on. */
static void wrong(struct ag_session *s, const char *why)
{
	ag_run_end(s);
	ag_start(&s->line, "! 0 over");
	ag_put_text(&s->line, why);
	ag_say(s);
	s->greeted = false;
}

/* ---- requests that are no calls ---- */

static bool do_device(struct ag_session *s, struct ag_words *w, char *why, size_t cap)
{
	char name[AG_WORD_MAX];

	(void)ag_get_word(w, name);
	if (!ag_at_end(w)) {
		(void)snprintf(why, cap, "the request names no device");
		return false;
	}
	if (!ag_device_open(s, strcmp(name, "-") == 0 ? NULL : name, why, cap))
		return false;
	ag_device_tell(s, &s->args);
	return true;
}

static bool do_ccase(struct ag_session *s, struct ag_words *w, char *why, size_t cap)
{
	char id[AG_WORD_MAX];

	(void)ag_get_word(w, id);
	ag_run_end(s);
	if (ag_at_end(w) && s->v != NULL && ag_ccase(s, id))
		return true;
	(void)snprintf(why, cap, s->v == NULL ? "no device is open" : "there is no such case");
	return false;
}

/* run COUNT (NAME IS_DEVICE)... */
static bool do_run(struct ag_session *s, struct ag_words *w, char *why, size_t cap)
{
	char name[AG_WORD_MAX];

	ag_run_end(s);
	s->prog.n_nodes = (unsigned)ag_get_num(w, MAX_NODES);
	for (unsigned i = 0; i < s->prog.n_nodes; i++) {
		(void)ag_get_word(w, name);
		(void)snprintf(s->prog.node[i].name, sizeof(s->prog.node[i].name), "%.*s", (int)MAX_NAME - 1, name);
		s->prog.node[i].engine = ag_get_num(w, 1) != 0;
	}
	if (s->v == NULL || !ag_at_end(w) || s->prog.n_nodes == 0) {
		(void)snprintf(why, cap, s->v == NULL ? "no device is open" : "the nodes are not said");
		return false;
	}
	return ag_run_begin(s, why, cap);
}

/* The queues that are looked at from now on. */
static bool do_watch(struct ag_session *s, struct ag_words *w)
{
	uint32_t n = (uint32_t)ag_get_num(w, sizeof(s->watch) / sizeof(s->watch[0]));

	s->watches = 0;
	for (uint32_t i = 0; i < n && !w->bad; i++) {
		uint32_t cq = (uint32_t)ag_get_num(w, AG_OBJECTS - 1);

		if (cq == 0 || cq > s->slots || s->slot[cq].h->kind != O_CQ)
			w->bad = true;
		else if (s->slot[cq].h->any != NULL)
			s->watch[s->watches++] = cq;
	}
	if (w->bad)
		s->watches = 0;
	return ag_at_end(w);
}

static bool do_step(struct ag_session *s, struct ag_words *w)
{
	uint64_t ns = ag_get_num(w, AG_STEP_MAX_NS);

	if (!ag_at_end(w))
		return false;
	s->step_until_ns = vc_now_ns() + ns;
	s->t->lag.looked_ns = 0;
	return true;
}

/* ---- a line ---- */

static void reply(struct ag_session *s, uint64_t id, uint64_t came_ns, const char *status)
{
	ag_start(&s->line, "=");
	ag_put_num(&s->line, id);
	ag_put_num(&s->line, came_ns);
	ag_put_num(&s->line, vc_now_ns());
	ag_put_word(&s->line, status);
}

static void reply_text(struct ag_session *s, uint64_t id, uint64_t came_ns, const char *status, const char *text)
{
	reply(s, id, came_ns, status);
	ag_put_text(&s->line, text);
	ag_say(s);
}

static void reply_done(struct ag_session *s, uint64_t id, uint64_t came_ns)
{
	reply(s, id, came_ns, "ok");
	if (s->args.len > 0 && s->args.len < sizeof(s->line.text) - s->line.len) {
		memcpy(s->line.text + s->line.len, s->args.text, s->args.len);
		s->line.len += s->args.len;
	}
	ag_say(s);
}

/* A call of the verbs, a look at what it led to, and what came of it. */
static bool call(struct ag_session *s, uint64_t id, uint64_t came_ns, const char *verb, struct ag_words *w)
{
	ag_call_fn *fn = ag_call_find(verb);
	const char *lacks;
	int rc;

	if (fn == NULL || s->t == NULL)
		return false;
	vc_lag_watch(&s->t->lag, came_ns, false);
	rc = fn(s, w);
	if (rc == AG_WRONG)
		return false;
	lacks = s->t->t.lacks;
	s->t->t.lacks = NULL;
	ag_run_look(s);
	if (id == 0)
		return true;
	if (lacks != NULL) {
		reply_text(s, id, came_ns, "lacks", lacks);
	} else if (rc < 0) {
		reply(s, id, came_ns, "refused");
		ag_put_num(&s->line, (uint64_t)-rc);
		ag_say(s);
	} else {
		reply_done(s, id, came_ns);
	}
	return true;
}

/* What is about the session and not about the device's objects. False: it is none of these. */
static bool housekeeping(struct ag_session *s, uint64_t id, uint64_t came_ns, const char *verb, struct ag_words *w)
{
	char why[256] = "";
	bool good = true;

	if (strcmp(verb, "device") == 0)
		good = do_device(s, w, why, sizeof(why));
	else if (strcmp(verb, "run") == 0)
		good = do_run(s, w, why, sizeof(why));
	else if (strcmp(verb, "ccase") == 0)
		good = do_ccase(s, w, why, sizeof(why));
	else if (strcmp(verb, "end") == 0)
		ag_run_end(s);
	else if (strcmp(verb, "look") == 0 && s->t != NULL)
		ag_run_look(s);
	else if (strcmp(verb, "lag") == 0 && s->t != NULL)
		ag_put_num(&s->args, (vc_lag_watch(&s->t->lag, came_ns, true), s->t->lag.longest_ns));
	else if (strcmp(verb, "ping") != 0)
		return false;
	if (good)
		reply_done(s, id, came_ns);
	else
		reply_text(s, id, came_ns, "failed", why);
	return true;
}

/* VERB ARGS, told and not asked: nothing is answered. */
static bool told(struct ag_session *s, const char *verb, struct ag_words *w)
{
	if (s->t == NULL)
		return false;
	if (strcmp(verb, "watch") == 0)
		return do_watch(s, w);
	if (strcmp(verb, "step") == 0)
		return do_step(s, w);
	if (strcmp(verb, "put") == 0 || strcmp(verb, "fill") == 0)
		return ag_call_find(verb)(s, w) == AG_DONE;
	return false;
}

/* verbscope VERSION hello NONCE: whatever the version, it is answered with ours. */
static bool greeting(struct ag_session *s, const char *line)
{
	struct ag_words w = {.at = line};
	char word[AG_WORD_MAX], hello[AG_WORD_MAX], nonce[AG_WORD_MAX];

	if (strncmp(line, "verbscope ", 10) != 0)
		return false;
	(void)ag_get_word(&w, word);
	(void)ag_get_num(&w, UINT32_MAX);
	(void)ag_get_word(&w, hello);
	(void)ag_get_word(&w, nonce);
	if (!ag_at_end(&w) || strcmp(hello, "hello") != 0)
		return false;
	ag_run_end(s);
	ag_start(&s->line, "\nverbscope");
	ag_put_num(&s->line, AG_PROTOCOL);
	ag_put_word(&s->line, "agent");
	ag_put_word(&s->line, nonce);
	ag_put_word(&s->line, VS_VERSION);
	ag_say(s);
	s->greeted = true;
	return true;
}

static void take_line(struct ag_session *s, const char *line)
{
	uint64_t came_ns = vc_now_ns(), id;
	struct ag_words w = {.at = line};
	char verb[AG_WORD_MAX];

	s->active_ns = came_ns;
	if (greeting(s, line) || !s->greeted || *line == '\0')
		return;
	s->step_until_ns = 0; /* a step is over when something else is asked for */
	ag_start(&s->args, "");
	id = ag_get_num(&w, UINT64_MAX);
	(void)ag_get_word(&w, verb);
	if (w.bad || (id == 0 ? !told(s, verb, &w)
			      : !housekeeping(s, id, came_ns, verb, &w) && !call(s, id, came_ns, verb, &w))) {
		char why[AG_WORD_MAX + 64];

		(void)snprintf(why, sizeof(why), "this request makes no sense: %.*s", (int)AG_WORD_MAX, verb);
		wrong(s, why);
	}
}

void ag_session_hear(struct ag_session *s)
{
	bool too_long;
	char *line;

	for (;;) {
		line = ag_reader_next(&s->reader, &too_long);
		if (too_long && s->greeted)
			wrong(s, "a line is too long");
		if (line == NULL)
			break;
		take_line(s, line);
		ag_flush(s);
	}
	ag_flush(s);
}

bool ag_session_step(struct ag_session *s)
{
	uint64_t now = vc_now_ns();

	if (s->step_until_ns == 0)
		return false;
	vc_lag_looked(&s->t->lag, now);
	ag_run_look(s);
	if (s->n_text > 0)
		s->active_ns = now;
	ag_flush(s);
	if (now >= s->step_until_ns)
		s->step_until_ns = 0;
	return s->step_until_ns != 0;
}

void ag_session_reset(struct ag_session *s, int out)
{
	ag_run_end(s);
	s->reader.used = s->reader.done = 0;
	s->reader.skipping = false;
	s->n_text = 0;
	s->out = out;
	s->greeted = s->lost = false;
}
