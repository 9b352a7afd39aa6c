/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ccase_walk.c - ROB-001: random legal work on two queue pairs; every completion comes, in order, and the data arrive.
 *
 * The walk is a script that is written for the occasion, so that it runs wherever scripts do, and is held to what they
 * are.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"
#include "ccase.h"
#include "verbs.h"

#define WALKS 8u
#define ROUNDS 60u
#define BATCH 6u
#define REGION 4096u

struct walk {
	uint64_t state;
	char *text;
	size_t len, cap;
	unsigned wr;
};

static unsigned draw(struct walk *w, unsigned n)
{
	w->state = w->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((w->state >> 33) % n);
}

__attribute__((format(printf, 2, 3))) static void line(struct walk *w, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(w->text + w->len, w->cap - w->len, format, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < w->cap - w->len)
		w->len += (size_t)n;
}

/* One request of A or B, and what has to be seen of it behind the batch. */
static void request(struct walk *w, char from, char to, char *after, size_t cap)
{
	unsigned len = draw(w, 3) == 0 ? draw(w, 3) : draw(w, REGION + 1), wr = ++w->wr;
	size_t at = strlen(after);

	switch (draw(w, 5)) {
	case 0:
		line(w, "%c post recv wr=%u in\n", to, wr + 100000);
		line(w, "%c post send wr=%u out[0:%u]%s\n", from, wr, len, draw(w, 4) == 0 ? " fence" : "");
		(void)snprintf(after + at, cap - at, "%c cqe wr=%u SEND SUCCESS\n%c cqe wr=%u RECV SUCCESS len=%u\n",
			       from, wr, to, wr + 100000, len);
		break;
	case 1:
		line(w, "%c post write wr=%u out[0:%u] to=%c.in[0:%u]\n", from, wr, len, to, len);
		(void)snprintf(after + at, cap - at, "%c cqe wr=%u WRITE SUCCESS\n", from, wr);
		break;
	case 2:
		line(w, "%c post read wr=%u in[0:%u] from=%c.out[0:%u]\n", from, wr, len, to, len);
		(void)snprintf(after + at, cap - at, "%c cqe wr=%u READ SUCCESS len=%u\n", from, wr, len);
		break;
	case 3:
		line(w, "%c post fadd wr=%u got[0:8] to=%c.count[0:8] add=%u\n", from, wr, to, draw(w, 1000));
		(void)snprintf(after + at, cap - at, "%c cqe wr=%u FADD SUCCESS len=8\n", from, wr);
		break;
	default:
		line(w, "%c post cas wr=%u got[0:8] to=%c.count[0:8] compare=%u swap=%u\n", from, wr, to, draw(w, 2),
		     draw(w, 1000));
		(void)snprintf(after + at, cap - at, "%c cqe wr=%u CAS SUCCESS len=8\n", from, wr);
		break;
	}
}

static void write_walk(struct walk *w)
{
	static const unsigned mtus[] = {256, 512, 1024, 2048, 4096};

	line(w, "case ROB-001 \"a walk\"\nnode A B\nqp A.q <-> B.q rc mtu=%u psn=0x%x\n", mtus[draw(w, 5)],
	     draw(w, 2) == 0 ? 0xfffff0 : draw(w, 0x1000000));
	for (int n = 'A'; n <= 'B'; n++) {
		line(w, "mr %c.out len=%u fill=0x%02x access=local_write,remote_read\n", n, REGION, 0x41 + draw(w, 20));
		line(w, "mr %c.in len=%u access=local_write,remote_write\n", n, REGION);
		line(w, "mr %c.got len=8 access=local_write\n", n);
		line(w, "mr %c.count len=8 fill=0 access=local_write,remote_atomic\n", n);
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		char after[BATCH * 160] = "";
		bool back = draw(w, 2) == 0;

		for (unsigned k = 1 + draw(w, BATCH); k > 0; k--)
			request(w, back ? 'B' : 'A', back ? 'A' : 'B', after, sizeof(after));
		line(w, "%s", after);
	}
	/* What is open when a queue pair goes to ERR is flushed, once each. */
	line(w, "A post recv wr=900001..900005 in\nA modify state=ERR\nA cqe wr=900001..900005 RECV WR_FLUSH_ERR\n");
	line(w, "A post send wr=900006 out\nA cqe wr=900006 SEND WR_FLUSH_ERR\nA destroy q\nB destroy q\n");
}

static void walk(const struct vc_options *o, const struct vs_drill_env *env, struct vs_drill_result *res)
{
	struct walk w = {.cap = VS_DRILL_MAX_BYTES};
	struct vs_drill_error err;

	w.text = malloc(w.cap);
	for (unsigned i = 0; w.text != NULL && i < WALKS && res->verdict == VS_VERDICT_PASS; i++) {
		struct vs_drill_env one = *env; /* other queue pairs: who reads the packets has to tell them apart */
		struct vs_drill *d;

		one.seed = env->seed * WALKS + i;
		w.len = w.wr = 0;
		w.state = (env->seed + 1) * 1000 + i;
		write_walk(&w);
		d = vs_drill_parse(w.text, w.len, &err);
		if (d == NULL) {
			vc_ccase_say(res, VS_VERDICT_ERROR, "the walk is no script: line %u: %s", err.line, err.text);
			break;
		}
		if (o->verbs == NULL)
			vs_drill_run_sim(d, 0, &one, res);
		else
			dr_run(d, 0, &one, o->two ? vc_pair_open : vc_target_open, (void *)(uintptr_t)o, res);
		vs_drill_free(d);
	}
	free(w.text);
}

const struct vc_ccase vc_ccase_walk = {
	"ccase_walk.c",
	"case   ROB-001-walk  \"Random legal work completes, all of it and in order\"\nclass  S   needs atomic\n",
	walk,
	false,
};
