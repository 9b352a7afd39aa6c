/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * predict.c - the learner's answers. In predict.txt a question begins with its number ("3. ..."), and its answer stands
 * on a line that begins with "answer:" or "답:". Wrong is fine, blank is not.
 */
#include <crypt.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "vslab.h"

static const char *answer_on(const char *line)
{
	static const char *const words[] = {"answer:", "답:"};

	line += strspn(line, " \t");
	for (unsigned i = 0; i < 2; i++)
		if (strncmp(line, words[i], strlen(words[i])) == 0)
			return line + strlen(words[i]);
	return NULL;
}

int vl_predictions(const char *path, struct vl_question q[VL_QUESTIONS])
{
	char *text = vl_read(path, NULL), *save = NULL;
	unsigned current = 0;
	int n = 0;

	memset(q, 0, VL_QUESTIONS * sizeof(q[0]));
	if (text == NULL) {
		vl_complain(T("%s is not there: vs-lab reset brings it back",
			      "%s 파일이 없습니다: vs-lab reset으로 되살리세요"),
			    path);
		return -1;
	}
	for (char *line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
		const char *a = answer_on(line);
		char *end;
		unsigned long number = strtoul(line, &end, 10);

		if (isdigit((unsigned char)line[0]) && *end == '.' && number > 0 && number < VL_QUESTIONS) {
			current = (unsigned)number;
			q[current].number = current;
			n++;
		}
		if (a == NULL || current == 0)
			continue;
		a += strspn(a, " \t");
		(void)snprintf(q[current].answer, VL_TEXT, "%s", a);
		for (size_t k = strlen(q[current].answer); k > 0 && isspace((unsigned char)q[current].answer[k - 1]);
		     k--)
			q[current].answer[k - 1] = '\0';
	}
	free(text);
	return n;
}

void vl_normalize(const char *answer, char out[VL_TEXT])
{
	size_t n = 0;
	char *end;
	double v;

	for (; *answer != '\0' && n + 1 < VL_TEXT; answer++)
		if (!isspace((unsigned char)*answer) && *answer != ',' && *answer != '_' && *answer != ')')
			out[n++] = (char)tolower((unsigned char)*answer);
	out[n] = '\0';
	v = strtod(out, &end);
	if (end != out && *end == '\0')
		(void)snprintf(out, VL_TEXT, "%.9g", v);
}

void vl_rounded(const char *answer, int step, char out[VL_TEXT])
{
	char normal[VL_TEXT], two[32], *end;
	int exponent, digits;
	double v;

	vl_normalize(answer, normal);
	v = strtod(normal, &end);
	if (end == normal || v <= 0) { /* a unit may stand behind it */
		(void)snprintf(out, VL_TEXT, "%s", normal);
		return;
	}
	(void)snprintf(two, sizeof(two), "%.1e", v); /* d.de+xx */
	digits = (two[0] - '0') * 10 + (two[2] - '0') + step;
	exponent = (int)strtol(strchr(two, 'e') + 1, NULL, 10) - 1;
	while (digits >= 100) {
		digits /= 10;
		exponent++;
	}
	if (digits < 10) {
		digits = digits * 10 + 9;
		exponent--;
	}
	(void)snprintf(out, VL_TEXT, "%de%d", digits, exponent);
}

/* crypt(3) takes its time, so that nobody tries all numbers; of SHA-256 it uses 16 characters of salt. */
void vl_hash_answer(const struct vl_progress *p, const char *lab, unsigned question, const char *answer,
		    char hash[VL_HASH])
{
	static struct crypt_data data;
	char text[VL_TEXT + 80], setting[32];
	const char *made;

	(void)snprintf(text, sizeof(text), "%s %u %s", lab, question, answer);
	(void)snprintf(setting, sizeof(setting), "$5$%.16s$", p->salt);
	made = crypt_r(text, setting, &data);
	(void)snprintf(hash, VL_HASH, "%s", made != NULL && made[0] == '$' ? made : "");
}
