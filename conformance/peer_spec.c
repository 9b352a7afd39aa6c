/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * peer_spec.c - the text behind --peer:
 *
 *   loop
 *   udp:ADDRESS
 *   raw:INTERFACE,ip=ADDRESS[,ip6=ADDRESS][,mac=MAC][,vlan=N][,count=N]
 *   unix:PATH,remote=PATH,ip=ADDRESS[,ip6=ADDRESS][,mac=MAC][,vlan=N][,count=N], where a % in the paths is the number
 * of the process bridge:END,END, each INTERFACE or unix:PATH,remote=PATH
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drill/drill_int.h"
#include "peer.h"

#define COUNT_MAX 64u
#define VLAN_MAX 4094u

/* A word of the list that is being read. */
struct reading {
	struct vc_peer_spec *s;
	struct vc_peer_end *end; /* that was named last */
	char *why;
	size_t cap;
};

static bool wrong(const struct reading *r, const char *key, const char *value, const char *what)
{
	(void)snprintf(r->why, r->cap, "%s=%s: %s", key, value, what);
	return false;
}

static bool take_ip(const struct reading *r, const char *key, const char *v)
{
	uint8_t *gid = r->s->gid[EN_ROCEV2_IPV4];

	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xff;
	if (inet_pton(AF_INET, v, gid + 12) != 1)
		return wrong(r, key, v, "this is no IPv4 address");
	if (gid[12] >> 4 == 14 || gid[12] == 0 || gid[12] == 255)
		return wrong(r, key, v, "this is no address of a host");
	return r->s->has[EN_ROCEV2_IPV4] = true;
}

static bool take_ip6(const struct reading *r, const char *key, const char *v)
{
	uint8_t *gid = r->s->gid[EN_ROCEV2_IPV6];

	if (inet_pton(AF_INET6, v, gid) != 1) /* one of IPv4 in this form begins with 0, too */
		return wrong(r, key, v, "this is no IPv6 address");
	if (gid[0] == 0xff || gid[0] == 0)
		return wrong(r, key, v, "this is no address of a host");
	return r->s->has[EN_ROCEV2_IPV6] = true;
}

static bool take_mac(const struct reading *r, const char *key, const char *v)
{
	unsigned b[6];
	int used = 0;

	if (sscanf(v, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &used) != 6 ||
	    v[used] != '\0')
		return wrong(r, key, v, "a MAC address is written as 02:00:00:00:00:01");
	if (b[0] & 1)
		return wrong(r, key, v, "this is the MAC address of a group: the first byte of one host's is even");
	for (unsigned i = 0; i < 6; i++)
		r->s->mac[i] = (uint8_t)b[i];
	return r->s->has_mac = true;
}

static bool take_number(const struct reading *r, const char *key, const char *v, unsigned most, unsigned *number)
{
	char *end, text[48];
	unsigned long n = strtoul(v, &end, 10);

	(void)snprintf(text, sizeof(text), "it is a number from 1 to %u", most);
	if (*v < '0' || *v > '9' || *end != '\0' || n < 1 || n > most)
		return wrong(r, key, v, text);
	*number = (unsigned)n;
	return true;
}

static bool take_vlan(const struct reading *r, const char *key, const char *v)
{
	unsigned n;

	if (!take_number(r, key, v, VLAN_MAX, &n))
		return false;
	r->s->vlan = (uint16_t)n;
	return true;
}

static bool take_count(const struct reading *r, const char *key, const char *v)
{
	return take_number(r, key, v, COUNT_MAX, &r->s->count);
}

static bool take_remote(const struct reading *r, const char *key, const char *v)
{
	if (!r->end->is_socket)
		return wrong(r, key, v, "an interface has no other end that could be named");
	if (strlen(v) >= sizeof(r->end->remote))
		return wrong(r, key, v, "the path of a socket has at most 107 bytes");
	(void)snprintf(r->end->remote, sizeof(r->end->remote), "%s", v);
	return true;
}

static bool take_word(const struct reading *r, char *word)
{
	static const struct {
		const char *key;
		bool (*take)(const struct reading *r, const char *key, const char *v);
	} keys[] = {{"ip", take_ip},     {"ip6", take_ip6},     {"mac", take_mac},
		    {"vlan", take_vlan}, {"count", take_count}, {"remote", take_remote}};
	char *value = strchr(word, '=');

	for (size_t i = 0; value != NULL && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i].key) == (size_t)(value - word) &&
		    strncmp(word, keys[i].key, (size_t)(value - word)) == 0)
			return keys[i].take(r, keys[i].key, value + 1);
	(void)snprintf(r->why, r->cap, "%s: it is one of ip=, ip6=, mac=, vlan=, count= and remote=", word);
	return false;
}

/* An interface, or a path; unix: is said already, or stands before it. */
static bool take_end(struct reading *r, struct vc_peer_end *e, const char *word)
{
	if (strncmp(word, "unix:", 5) == 0) {
		e->is_socket = true;
		word += 5;
	}
	r->end = e;
	if (word[0] == '\0' || strlen(word) >= sizeof(e->at)) {
		(void)snprintf(r->why, r->cap, "%s",
			       e->is_socket ? "unix: takes a path of 1 to 107 bytes"
					    : "raw: takes the name of an interface");
		return false;
	}
	(void)snprintf(e->at, sizeof(e->at), "%s", word);
	return true;
}

static bool has_other_end(const struct reading *r, const struct vc_peer_end *e)
{
	if (!e->is_socket || e->remote[0] != '\0')
		return true;
	(void)snprintf(r->why, r->cap, "it needs remote=PATH, the socket of who is at the other end");
	return false;
}

/* A socket has one peer: several need paths of their own. */
static bool has_place_for_all(const struct reading *r, const struct vc_peer_end *e)
{
	if (!e->is_socket || r->s->count == 1 || (strchr(e->at, '%') != NULL && strchr(e->remote, '%') != NULL))
		return true;
	(void)snprintf(r->why, r->cap,
		       "count=%u: there is one peer at a socket; a %% in both paths becomes the number of each",
		       r->s->count);
	return false;
}

/* Where it is, and what is said of it. */
static bool take_frames(struct reading *r, char *text)
{
	struct vc_peer_spec *s = r->s;
	char *word = strsep(&text, ",");

	s->end[0].is_socket = s->kind == VC_PEER_UNIX;
	if (!take_end(r, &s->end[0], word))
		return false;
	while ((word = strsep(&text, ",")) != NULL)
		if (!take_word(r, word))
			return false;
	if (!s->has[EN_ROCEV2_IPV4] && !s->has[EN_ROCEV2_IPV6]) {
		(void)snprintf(r->why, r->cap, "it needs ip=ADDRESS (or ip6=), an address that no host has");
		return false;
	}
	return has_other_end(r, &s->end[0]) && has_place_for_all(r, &s->end[0]);
}

static bool take_bridge(struct reading *r, char *text)
{
	struct vc_peer_spec *s = r->s;
	unsigned n = 0;
	char *word;

	while ((word = strsep(&text, ",")) != NULL) {
		if (r->end != NULL && strncmp(word, "remote=", 7) == 0) {
			if (!take_remote(r, "remote", word + 7))
				return false;
		} else if (n == 2 || !take_end(r, &s->end[n++], word)) {
			break;
		}
	}
	if (word == NULL && n == 2)
		return has_other_end(r, &s->end[0]) && has_other_end(r, &s->end[1]);
	(void)snprintf(r->why, r->cap, "a bridge has two ends: bridge:eth1,eth2, or unix:PATH,remote=PATH for each");
	return false;
}

bool vc_peer_spec_read(struct vc_peer_spec *s, const char *text, char *why, size_t cap)
{
	struct reading r = {s, NULL, why, cap};
	char copy[512];

	*s = (struct vc_peer_spec){.kind = VC_PEER_NONE, .count = 1};
	if (strlen(text) >= sizeof(copy)) {
		(void)snprintf(why, cap, "it is longer than %zu bytes", sizeof(copy) - 1);
		return false;
	}
	if (strcmp(text, "loop") == 0)
		return true;
	if (strncmp(text, "udp:", 4) == 0) {
		s->kind = VC_PEER_UDP;
		return take_ip(&r, "udp", text + 4);
	}
	s->kind = strncmp(text, "raw:", 4) == 0      ? VC_PEER_RAW
		  : strncmp(text, "unix:", 5) == 0   ? VC_PEER_UNIX
		  : strncmp(text, "bridge:", 7) == 0 ? VC_PEER_BRIDGE
						     : VC_PEER_NONE;
	if (s->kind == VC_PEER_NONE) {
		(void)snprintf(
			why, cap,
			"it is udp:ADDRESS, raw:INTERFACE,ip=..., unix:PATH,remote=PATH,ip=..., bridge:END,END, or "
			"loop for none");
		return false;
	}
	(void)snprintf(copy, sizeof(copy), "%s", strchr(text, ':') + 1);
	return s->kind == VC_PEER_BRIDGE ? take_bridge(&r, copy) : take_frames(&r, copy);
}
