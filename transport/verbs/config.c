/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * config.c - settings, from the environment: vs-run writes them there, having checked them; whoever preloads the
 * library by hand may set them too. Lists are separated by newlines.
 *
 *   VS_SIM VS_IP VS_IP_MAY_MOVE VS_MTU VS_SEED VS_DEVIATION VS_FAULT VS_CAPTURE VS_SNAPLEN VS_TRACE VS_TRACE_MEMORY
 *   VS_NODE VS_COUNTERS VS_EXPLAIN VS_NO_GSO VS_QUIET VS_DEVICE (traits.c)
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs/ref.h"

static bool flag(const char *name)
{
	const char *v = getenv(name);

	return v != NULL && v[0] != '\0' && strcmp(v, "0") != 0;
}

/* The next word of a newline-separated list, NULL at its end. */
static char *next(char **list)
{
	char *word;

	do
		word = strsep(list, "\n");
	while (word != NULL && word[0] == '\0');
	return word;
}

static int read_address(uint8_t gid[16], const char *word)
{
	if (inet_pton(AF_INET, word, gid + 12) == 1) {
		gid[10] = gid[11] = 0xff;
		return 0;
	}
	if (inet_pton(AF_INET6, word, gid) == 1)
		return 0;
	ref_say("VS_IP: \"%s\" is no IPv4 or IPv6 address", word);
	return EINVAL;
}

static int read_addresses(struct ref_config *c)
{
	const char *v = getenv("VS_IP");
	char *copy = v != NULL ? strdup(v) : NULL, *list = copy, *word;
	int rc = 0;

	while (rc == 0 && copy != NULL && (word = next(&list)) != NULL) {
		rc = c->n_addrs < 4 ? read_address(c->addr[c->n_addrs], word) : E2BIG;
		if (rc == E2BIG)
			ref_say("VS_IP: more than 4 addresses");
		c->n_addrs++;
	}
	free(copy);
	return rc;
}

static int read_mtu(struct ref_config *c)
{
	const char *v = getenv("VS_MTU");

	c->mtu = VS_MTU_4096;
	if (v == NULL || v[0] == '\0')
		return 0;
	for (int m = VS_MTU_256; m <= VS_MTU_4096; m++)
		if ((uint32_t)atoi(v) == vs_mtu_bytes((enum vs_mtu)m)) {
			c->mtu = (enum vs_mtu)m;
			return 0;
		}
	ref_say("VS_MTU: \"%s\" is none of 256 512 1024 2048 4096", v);
	return EINVAL;
}

static int read_deviations(struct ref_config *c)
{
	const char *v = getenv("VS_DEVIATION");
	char *copy = v != NULL ? strdup(v) : NULL, *list = copy, *word;
	int rc = 0;

	while (rc == 0 && copy != NULL && (word = next(&list)) != NULL) {
		int only = strncmp(word, "ref0:", 5) == 0 ? 0 : strncmp(word, "ref1:", 5) == 0 ? 1 : -1;
		enum vs_deviation d = vs_deviation_by_name(only >= 0 ? word + 5 : word);

		if (d == VS_DEVIATION_COUNT) {
			ref_say("VS_DEVIATION: there is no deviation \"%s\"", word);
			rc = EINVAL;
		}
		for (int i = 0; rc == 0 && i < REF_DEVICES; i++)
			if (only < 0 || only == i)
				c->deviations[i] |= 1ull << d;
	}
	free(copy);
	return rc;
}

static int read_faults(struct ref_config *c)
{
	const char *v = getenv("VS_FAULT");
	char *list, *word;

	c->fault_text = list = v != NULL ? strdup(v) : NULL;
	while (list != NULL && (word = next(&list)) != NULL) {
		if (c->n_faults == REF_FAULTS) {
			ref_say("VS_FAULT: more than %d rules", REF_FAULTS);
			return EINVAL;
		}
		c->fault[c->n_faults++] = word;
	}
	return 0;
}

static const char *path(const char *name)
{
	const char *v = getenv(name);

	return v != NULL && v[0] != '\0' ? v : NULL;
}

bool ref_config_sim(void)
{
	return flag("VS_SIM");
}

/* Without a seed keys and QPNs differ from run to run, as those of any device do. 32 bits can be typed again. */
static uint32_t draw_seed(void)
{
	uint64_t x = ref_real_now() + (uint64_t)getpid();

	return (uint32_t)(x * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

int ref_config_read(struct ref_config *c)
{
	const char *seed = getenv("VS_SEED"), *snap = getenv("VS_SNAPLEN");
	int rc;

	memset(c, 0, sizeof(*c));
	c->sim = ref_config_sim();
	c->no_gso = flag("VS_NO_GSO");
	c->explain = flag("VS_EXPLAIN");
	c->counters = flag("VS_COUNTERS");
	c->quiet = flag("VS_QUIET");
	c->trace_memory = flag("VS_TRACE_MEMORY");
	c->may_move = flag("VS_IP_MAY_MOVE");
	c->capture = path("VS_CAPTURE");
	c->snaplen = snap != NULL && snap[0] != '\0' ? (uint32_t)strtoul(snap, NULL, 10) : 0;
	c->trace = path("VS_TRACE");
	c->node = path("VS_NODE");
	c->seed = seed != NULL && seed[0] != '\0' ? strtoull(seed, NULL, 0) : draw_seed();
	rc = read_addresses(c);
	if (rc == 0)
		rc = ref_traits_read(&c->traits, getenv("VS_DEVICE"));
	if (rc == 0)
		rc = read_mtu(c);
	if (rc == 0)
		rc = read_deviations(c);
	return rc != 0 ? rc : read_faults(c);
}
