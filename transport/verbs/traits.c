/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * traits.c - what kind of device ref0 is: VS_DEVICE, words as behind `device` in the drill language.
 *
 *   cc  e2e_credits  privileged_qkey  ack_every=N  window=N  max_rd_atomic=N  msn=N  pkeys=KEY,KEY...
 */
#include <stdlib.h>
#include <string.h>

#include "verbs/ref.h"

#define LINK_RATE_BPS 40000000000u /* as the port says: gid.c */

static int wrong(const char *word, const char *what)
{
	ref_say("VS_DEVICE: \"%s\": %s", word, what);
	return EINVAL;
}

static bool number(const char *text, char **end, unsigned long most, uint32_t *v)
{
	unsigned long n;

	errno = 0;
	n = strtoul(text, end, 0);
	*v = (uint32_t)n;
	return *text >= '0' && *text <= '9' && errno == 0 && n <= most;
}

static int read_pkeys(struct ref_traits *t, const char *word, const char *list)
{
	unsigned n = 0;

	for (;;) {
		uint32_t key;
		char *end;

		if (n == VS_PKEY_TABLE_LEN || !number(list, &end, 0xffff, &key) || (*end != ',' && *end != '\0'))
			return wrong(word, "P_Keys are up to 16 numbers of 16 bits, with commas between them");
		t->pkeys[n++] = (uint16_t)key;
		if (*end == '\0')
			return 0;
		list = end + 1;
	}
}

static int read_number(struct ref_traits *t, const char *word)
{
	const struct {
		const char *name;
		uint32_t *v, most;
	} rows[] = {{"ack_every=", &t->ack_every, 0x7fffff},
		    {"window=", &t->window, 0x7fffff},
		    {"max_rd_atomic=", &t->max_rd_atomic, 255},
		    {"msn=", &t->first_msn, 0xffffff}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].name);
		char *end;

		if (strncmp(word, rows[i].name, len) != 0)
			continue;
		if (number(word + len, &end, rows[i].most, rows[i].v) && *end == '\0')
			return 0;
		return wrong(word, "the number is none, or too large");
	}
	return wrong(word, "it is none of cc, e2e_credits, privileged_qkey, ack_every=, window=, max_rd_atomic=, msn=, "
			   "pkeys=");
}

int ref_traits_read(struct ref_traits *t, const char *text)
{
	char *copy = text != NULL ? strdup(text) : NULL, *list = copy, *word;
	int rc = 0;

	memset(t, 0, sizeof(*t));
	while (rc == 0 && copy != NULL && (word = strsep(&list, " \t\n")) != NULL) {
		if (word[0] == '\0')
			continue;
		if (strcmp(word, "cc") == 0)
			t->cc = true;
		else if (strcmp(word, "e2e_credits") == 0)
			t->e2e_credits = true;
		else if (strcmp(word, "privileged_qkey") == 0)
			t->privileged_qkey = true;
		else if (strncmp(word, "pkeys=", 6) == 0)
			rc = read_pkeys(t, word, word + 6);
		else
			rc = read_number(t, word);
	}
	free(copy);
	return rc;
}

void ref_traits_apply(const struct ref_traits *t, struct vs_dev_attr *a)
{
	if (t->pkeys[0] != 0)
		memcpy(a->pkeys, t->pkeys, sizeof(a->pkeys));
	a->ack_every = t->ack_every;
	a->rc_window = t->window;
	a->max_rd_atomic = (uint8_t)t->max_rd_atomic;
	a->first_msn = t->first_msn;
	a->e2e_credits = t->e2e_credits;
	a->allow_privileged_qkey = t->privileged_qkey;
	if (t->cc)
		a->cc = vs_cc_usual(LINK_RATE_BPS);
}
