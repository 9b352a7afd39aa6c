/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * teach.c - what a check says when something does not hold: the first claim that is not met, what the script means by
 * it, the steps before, what the device said, and how to see it.
 */
#include <stdlib.h>
#include <string.h>

#include "vs/reason.h"
#include "vslab.h"

#define STEPS 6u

/* Bytes that a program or a device made, without what moves a cursor. */
static void put_safe(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		putchar((unsigned char)text[i] < 0x20 && text[i] != '\t' ? '?' : text[i]);
}

/* Where the comment of a line begins; n: it has none. */
static size_t comment_of(const char *line, size_t n)
{
	bool quoted = false;
	size_t i;

	for (i = 0; i < n && (quoted || line[i] != '#'); i++)
		quoted ^= line[i] == '"';
	return i;
}

/* "# english | korean" */
static void put_comment(const char *line, size_t n)
{
	size_t at = comment_of(line, n), bar;

	if (at == n)
		return;
	line += at + 1;
	n -= at + 1;
	for (bar = 0; bar < n && line[bar] != '|';)
		bar++;
	if (vl_korean && bar < n) {
		line += bar + 1;
		n -= bar + 1;
	} else {
		n = bar;
	}
	while (n > 0 && *line == ' ') {
		line++;
		n--;
	}
	while (n > 0 && line[n - 1] == ' ')
		n--;
	printf(T("  meaning   ", "  뜻        "));
	put_safe(line, n);
	putchar('\n');
}

static void put_line(const char *line, size_t n)
{
	n = comment_of(line, n);
	while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'))
		n--;
	put_safe(line, n);
	putchar('\n');
}

/* The lines before `line` that say something, the nearest ones. */
static void put_steps(const char *text, unsigned line)
{
	const char *at[STEPS] = {NULL};
	size_t len[STEPS] = {0};
	unsigned n = 0, number = 1;

	for (const char *p = text; *p != '\0' && number < line; number++) {
		size_t l = strcspn(p, "\n"), skip = strspn(p, " \t");

		if (skip < l && p[skip] != '#') {
			at[n % STEPS] = p;
			len[n % STEPS] = l;
			n++;
		}
		p += l + (p[l] == '\n');
	}
	for (unsigned i = n > STEPS ? n - STEPS : 0; i < n; i++) {
		printf("%s", i == (n > STEPS ? n - STEPS : 0) ? T("  before    ", "  앞 단계   ") : "            ");
		put_line(at[i % STEPS], len[i % STEPS]);
	}
}

static enum vs_reason reason_in(const struct vs_event *ev)
{
	switch (ev->type) {
	case VS_EV_VERB_REFUSED:
	case VS_EV_PKT_DROP:
	case VS_EV_RC_REFUSE:
	case VS_EV_UD_DROP:
		return (enum vs_reason)ev->a[0];
	case VS_EV_CQE:
		return (enum vs_reason)ev->a[3];
	default:
		return VS_REASON_NONE;
	}
}

/* The newest reason that a device gave up to there. */
static void put_reason(const struct vs_program *p)
{
	size_t n = 0, to;
	const struct vs_event *ev = p->record != NULL ? vs_record_events(p->record, &n) : NULL;
	const struct vs_reason_info *info;

	to = p->seen < n ? p->seen : n;
	for (size_t i = to; i > 0; i--) {
		enum vs_reason r = reason_in(&ev[i - 1]);

		if (r == VS_REASON_NONE)
			continue;
		info = vs_reason_info(r);
		printf(T("  device    %s: %s: %s%s%s%s\n", "  장치 설명 %s: %s: %s%s%s%s\n"), ev[i - 1].node, info->id,
		       info->sentence, info->clause[0] != '\0' ? " (" : "", info->clause,
		       info->clause[0] != '\0' ? ")" : "");
		return;
	}
}

static void put_output(const struct vs_program *p, const struct vl_traces *t)
{
	char *text = vl_read(t->output, NULL), *save = NULL;
	unsigned n = 0;

	if (p->late)
		puts(T("  program   it did not end: does it wait for something that never comes?",
		       "  프로그램  끝나지 않았습니다. 오지 않을 것을 기다리고 있지 않습니까?"));
	else if (p->code >= 128)
		printf(T("  program   it crashed (signal %d)\n", "  프로그램  비정상 종료했습니다 (시그널 %d)\n"),
		       p->code - 128);
	else if (p->code != 0)
		printf(T("  program   it ended with exit code %d\n", "  프로그램  종료 코드 %d(으)로 끝났습니다\n"),
		       p->code);
	for (char *l = text != NULL ? strtok_r(text, "\n", &save) : NULL; l != NULL && n < 8;
	     l = strtok_r(NULL, "\n", &save), n++) {
		printf("%s", n == 0 ? T("  it said   ", "  출력      ") : "            ");
		put_safe(l, strlen(l));
		putchar('\n');
	}
	free(text);
}

void vl_teach(const struct vl_session *s, const struct vl_lab *lab, const char *script, const char *text,
	      const struct vs_drill_result *res, const struct vs_program *p, const struct vl_traces *t)
{
	const char *source = res->at.source + strspn(res->at.source, " \t");

	(void)s;
	printf(T("Lab %s: not yet.\n", "실습 %s: 아직입니다.\n"), lab->id);
	if (res->at.line > 0) {
		printf(T("  claim     ", "  기대      "));
		put_line(source, strlen(source));
		put_comment(source, strlen(source));
	}
	printf(T("  instead   ", "  실제      "));
	put_safe(res->at.text, strlen(res->at.text));
	putchar('\n');
	put_reason(p);
	if (res->at.line > 0)
		put_steps(text, res->at.line);
	put_output(p, t);
	printf(T("  script    %s, line %u\n", "  스크립트  %s, %u행\n"), script, res->at.line);
	if (p->record != NULL)
		printf(T("  look      vs-lab show %s --to %zu\n", "  보기      vs-lab show %s --to %zu\n"), lab->id,
		       p->seen > 0 ? p->seen : 1);
	printf(T("  stuck?    vs-lab hint %s\n", "  막혔으면  vs-lab hint %s\n"), lab->id);
}
