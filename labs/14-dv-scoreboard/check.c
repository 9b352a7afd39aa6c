/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * check.c - lab 14: the scoreboard of lab.c against runs of devices that keep the rules, of which it must flag none,
 * and of ten mutants, of which it must flag nine; then the six paths.
 *
 *   lab.bin SEED RUNS
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard.h"
#include "ways.h"

#define MUTANTS 16u
#define ENOUGH 9u

static bool korean;
#define T(english, ko) (korean ? (ko) : (english))

static char why[256];
static uint64_t number; /* of the event that is looked at */

void wrong(const char *fmt, ...)
{
	va_list ap;
	size_t n;

	if (why[0] != '\0')
		return;
	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why) - 24, fmt, ap);
	va_end(ap);
	n = strlen(why);
	(void)snprintf(why + n, sizeof(why) - n, T(" (event %llu)", " (이벤트 %llu)"), (unsigned long long)number);
}

static char *read_all(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	long n = f != NULL && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;

	if (n > 0 && fseek(f, 0, SEEK_SET) == 0)
		text = malloc((size_t)n + 1);
	if (text != NULL && fread(text, 1, (size_t)n, f) != (size_t)n) {
		free(text);
		text = NULL;
	}
	if (f != NULL)
		(void)fclose(f);
	if (text != NULL)
		text[n] = '\0';
	*len = (size_t)n;
	return text;
}

/* ---- runs ---- */

struct tally {
	char name[64];
	unsigned runs, flagged;
	char first[256];
};

/* Plays the run that begins at `at`; where the next one does. */
static size_t play(const char *runs, size_t at)
{
	struct event e;

	why[0] = '\0';
	number = 0;
	begin();
	for (;;) {
		memcpy(&e, runs + at, sizeof(e));
		at += sizeof(e);
		if (e.what == 0)
			break;
		e.bytes = (const uint8_t *)runs + at;
		at += e.n;
		number++;
		event(&e);
	}
	end();
	return at;
}

static struct tally *find(struct tally t[MUTANTS], unsigned *n, const char *name)
{
	for (unsigned i = 0; i < *n; i++)
		if (strcmp(t[i].name, name) == 0)
			return &t[i];
	if (*n == MUTANTS)
		exit(3);
	(void)snprintf(t[*n].name, sizeof(t[0].name), "%s", name);
	return &t[(*n)++];
}

/* A false alarm ends it. */
static bool runs_hold(const char *runs, unsigned *clean, struct tally t[MUTANTS], unsigned *n)
{
	size_t at = 0;

	while (strncmp(runs + at, "RUN ", 4) == 0) {
		char name[64];
		struct tally *m;

		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(runs + at + 4, "\n"), runs + at + 4);
		at = play(runs, at + strcspn(runs + at, "\n") + 1);
		if (strcmp(name, "clean") != 0) {
			m = find(t, n, name);
			m->runs++;
			m->flagged += why[0] != '\0';
			if (m->first[0] == '\0')
				memcpy(m->first, why, sizeof(why));
			continue;
		}
		if (why[0] != '\0') {
			printf(T("  claim     run %u is of devices that keep the rules\n  instead   false alarm: %s\n",
				 "  기대      실행 %u의 장치는 규칙을 지킨다\n  실제      거짓 경보: %s\n"),
			       *clean, why);
			return false;
		}
		(*clean)++;
	}
	printf(T("  ok  no false alarm in %u clean runs\n", "  ok  정상 실행 %u개에서 거짓 경보 없음\n"), *clean);
	return true;
}

static bool mutants_flagged(struct tally t[MUTANTS], unsigned n)
{
	unsigned flagged = 0;

	for (unsigned i = 0; i < n; i++)
		flagged += t[i].flagged > 0;
	for (unsigned i = 0; i < n; i++)
		printf("  %s  %-24s %s\n", t[i].flagged > 0 ? "ok" : "- ", t[i].name, t[i].first);
	if (flagged >= ENOUGH)
		return true;
	printf(T("  claim     at least %u of %u mutants are flagged\n  instead   %u are\n",
		 "  기대      적어도 %u개를 찾아낸다 (변이는 모두 %u개)\n  실제      %u개\n"),
	       ENOUGH, n, flagged);
	return false;
}

/* ---- paths ---- */

static bool truly(enum way way)
{
	return way != DIRECT && way != ALIAS;
}

/* The order in which the paths come is the learner's own. */
static void shuffle(uint64_t seed, enum way order[WAYS])
{
	for (unsigned i = 0; i < WAYS; i++)
		order[i] = (enum way)i;
	for (unsigned i = WAYS; i > 1; i--) {
		unsigned k;
		enum way was = order[i - 1];

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		k = (unsigned)(seed >> 33) % i;
		order[i - 1] = order[k];
		order[k] = was;
	}
}

static unsigned elsewhere[2]; /* paths that send from another address than the buffer's: do not copy, do */

static void note_address(struct path *p, enum way way)
{
	const struct dma *log;
	unsigned n = path_dma(p, &log);

	for (unsigned i = 0; i < n; i++) {
		if (log[i].write || log[i].addr == path_buffer(p))
			continue;
		elsewhere[truly(way)]++;
		return;
	}
}

static bool paths_hold(uint64_t seed)
{
	static const char *const methods[WAYS] = {"", "(a)", "(d)", "(c)", "(c)", "(b)"};
	enum way order[WAYS];

	shuffle(seed, order);
	for (unsigned i = 0; i < WAYS; i++) {
		struct path *p = path_make(order[i]);
		bool said = copied(p);

		note_address(p, order[i]);
		path_free(p);
		if (said == truly(order[i]))
			continue;
		printf(T("  claim     path %u %s\n  instead   copied() says that it %s\n",
			 "  기대      경로 %u: 데이터를 %s\n  실제      copied()의 답은 %s\n"),
		       i + 1, said ? T("does not copy", "복사하지 않는다") : T("copies the data", "복사한다"),
		       said ? T("does", "복사한다") : T("does not", "복사하지 않는다"));
		printf(T("  see       %s of the README\n", "  참고      README의 %s\n"), methods[order[i]]);
		return false;
	}
	printf(T("  ok  all %u paths\n", "  ok  경로 %u개 모두\n"), (unsigned)WAYS);
	return true;
}

/* What the questions are about. */
static void numbers(void)
{
	printf("rnr: %u\n", (unsigned)(rnr_wait(14) / 1000u));
	printf("elsewhere_kept: %u\nelsewhere_copied: %u\n", elsewhere[0], elsewhere[1]);
}

int main(int argc, char **argv)
{
	static struct tally t[MUTANTS];
	const char *lang = getenv("VS_LAB_LANG");
	unsigned n = 0, clean = 0;
	size_t len = 0;
	char *runs = argc > 2 ? read_all(argv[2], &len) : NULL;

	korean = lang != NULL && strcmp(lang, "ko") == 0;
	if (runs == NULL)
		return 2;
	if (!runs_hold(runs, &clean, t, &n) || !mutants_flagged(t, n) || !paths_hold(strtoull(argv[1], NULL, 10)))
		return 1;
	numbers();
	free(runs);
	return 0;
}
