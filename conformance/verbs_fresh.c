/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verbs_fresh.c - vectors that want another ref0 than the usual one: other settings, an IPv6 address, a GID table or a
 * link of its own to change. Such a vector gets a process, and in it a device, for itself. For IPv6, of which the
 * host's loopback interface has one address, and for a peer that sends from an address that is not his, the process has
 * a network namespace, where every address is to be had.
 *
 * Real devices are as they are: what a script wants of them that can't be looked up is missing (vc_wish_missing).
 */
#define _GNU_SOURCE /* CLONE_NEWNET */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs.h"
#include "vs/netns.h"

static bool wanted; /* the run that was tried last wants a process for itself */
static bool fresh;  /* this is it */
static const uint8_t addresses[2][16] = {{0xfd, [15] = 1}, {0xfd, [15] = 2}}; /* of device and peer */
static bool ipv6;                                                             /* it has these */
static uint8_t source[16];

bool vc_is_fresh(void)
{
	return fresh;
}

const uint8_t *vc_fresh_ipv6(void)
{
	return ipv6 ? addresses[1] : NULL;
}

const uint8_t *vc_foreign_source(void)
{
	return source[15] != 0 ? source : NULL;
}

/* ---- what a script wants ---- */

/* The address that src= of a packet names; zeros: none does. */
static void find_source(const struct stmt *st, uint8_t src[16])
{
	for (; st != NULL; st = st->next) {
		for (const struct option *o = st->opt; st->kind == S_SEND && o != NULL; o = o->next)
			if (o->key->id == K_SRC && o->v.kind == V_BYTES && o->v.len == 16)
				memcpy(src, o->v.bytes, 16);
		for (const struct alternative *a = st->alt; a != NULL; a = a->next)
			find_source(a->first, src);
	}
}

static bool changes_port(const struct stmt *st)
{
	bool found = false;

	for (; st != NULL && !found; st = st->next) {
		found = st->kind == S_GID || st->kind == S_PORT;
		for (const struct alternative *a = st->alt; a != NULL && !found; a = a->next)
			found = changes_port(a->first);
	}
	return found;
}

static void add(char *text, size_t cap, const char *word, uint32_t n)
{
	size_t at = strlen(text);

	if (n > 0)
		(void)snprintf(text + at, cap - at, "%s=%u ", word, n);
}

static void traits_of(const struct dr_node_opt *o, char *text, size_t cap)
{
	text[0] = '\0';
	add(text, cap, "ack_every", o->ack_every);
	add(text, cap, "window", o->window);
	add(text, cap, "max_rd_atomic", o->max_rd_atomic);
	add(text, cap, "msn", o->msn);
	if (o->cc)
		strncat(text, "cc ", cap - strlen(text) - 1);
	if (o->e2e_credits)
		strncat(text, "e2e_credits ", cap - strlen(text) - 1);
	if (o->privileged_qkey)
		strncat(text, "privileged_qkey ", cap - strlen(text) - 1);
	for (unsigned i = 0; i < MAX_PKEYS && o->pkeys[i] != 0; i++) {
		size_t at = strlen(text);

		(void)snprintf(text + at, cap - at, "%s0x%x", i == 0 ? "pkeys=" : ",", o->pkeys[i]);
	}
}

/* False: two nodes of the script want to be different, and there is one device. */
static bool wish_of(const struct dr_setup *s, struct vc_wish *w)
{
	bool first = true;

	*w = (struct vc_wish){.ipv6 = s->encap == EN_ROCEV2_IPV6, .port = changes_port(s->p->first)};
	find_source(s->p->first, w->src);
	for (unsigned n = 0; n < s->p->n_nodes; n++) {
		struct vc_wish other;

		if (!s->p->node[n].engine)
			continue;
		traits_of(&s->node[n], other.traits, sizeof(other.traits));
		if (!first && (strcmp(other.traits, w->traits) != 0 || s->node[n].mtu != w->mtu))
			return false;
		memcpy(w->traits, other.traits, sizeof(w->traits));
		w->mtu = s->node[n].mtu;
		first = false;
	}
	return true;
}

/* A device that is as it is. */
static const char *missing_of_other(const struct vc_verbs *v, const struct vc_wish *w)
{
	if (strcmp(w->traits, "cc ") == 0)
		return "libibverbs does not tell whether congestion control is on";
	if (w->traits[0] != '\0')
		return "the script sets up the device, which can be done with ref0 and the simulator alone";
	if (w->mtu != 0 && (v->link != NULL || w->mtu != vc_active_mtu(v)))
		return "the MTU of the port is another one";
	if (w->port && v->rig == NULL)
		return "nobody changes the addresses of this device, or takes its port down";
	return NULL;
}

const char *vc_wish_missing(const struct vc_verbs *v, const struct dr_setup *s, bool peer_is_chosen)
{
	struct vc_wish w;

	wanted = false;
	if (!wish_of(s, &w))
		return "both nodes are the one device, which can't be set up in two ways";
	if (!v->reference || v->link != NULL)
		return missing_of_other(v, &w);
	if (w.traits[0] == '\0' && w.mtu == 0 && !w.ipv6 && !w.port && w.src[15] == 0)
		return NULL;
	if (peer_is_chosen) /* he may have to be the only one of his address, and whom he knows stays as it is */
		return missing_of_other(v, &w);
	wanted = !fresh;
	return wanted ? "it wants a process for itself" : NULL;
}

/* ---- making it so ---- */

static int own_network(const struct vc_wish *w)
{
	bool mapping, own = w->ipv6 || w->src[15] != 0;
	int rc = own ? vs_netns_unshare(CLONE_NEWNET, &mapping) : 0;

	if (rc == 0 && own)
		rc = vs_netns_up();
	for (unsigned i = 0; rc == 0 && w->ipv6 && i < 2; i++)
		rc = vs_netns_add(addresses[i], i);
	if (rc == 0 && w->src[15] != 0)
		rc = vs_netns_add(w->src, 0);
	return rc;
}

bool vc_wish_grant(const struct dr_setup *s, char *why, size_t cap)
{
	struct vc_wish w;
	char mtu[16];
	int rc;

	if (!wish_of(s, &w))
		return false;
	rc = own_network(&w);
	if (rc != 0) {
		(void)snprintf(why, cap,
			       "addresses of its own take a network namespace, which is not to be had here (%s)",
			       strerror(rc));
		return false;
	}
	ipv6 = w.ipv6;
	vc_another_address = w.ipv6 ? "fd00::1" : NULL;
	memcpy(source, w.src, 16);
	(void)snprintf(mtu, sizeof(mtu), "%u", w.mtu);
	(void)setenv("VS_DEVICE", w.traits, 1);
	if (w.mtu != 0)
		(void)setenv("VS_MTU", mtu, 1);
	return true;
}

/* ---- a process for one vector ---- */

static json_t *read_all(int fd)
{
	FILE *f = fdopen(fd, "r");
	json_t *result = f != NULL ? json_loadf(f, 0, NULL) : NULL;

	if (f != NULL)
		fclose(f);
	else
		close(fd);
	return result;
}

static void child(int fd, pid_t parent, const struct vc_options *o, const struct vc_case *c, unsigned vector,
		  json_t *(*run)(const struct vc_options *, const struct vc_case *, unsigned))
{
	json_t *result;
	FILE *f;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	fresh = true;
	vc_verbs_forget();
	result = run(o, c, vector);
	f = fdopen(fd, "w");
	if (f == NULL || result == NULL || json_dumpf(result, f, JSON_COMPACT) != 0 || fclose(f) != 0)
		_exit(1);
	_exit(0);
}

json_t *vc_fresh_run(const struct vc_options *o, const struct vc_case *c, unsigned vector,
		     json_t *(*run)(const struct vc_options *, const struct vc_case *, unsigned))
{
	const pid_t parent = getpid();
	int fd[2], status = 0;
	json_t *result;
	char why[96];
	pid_t pid;

	if (pipe(fd) < 0)
		return NULL;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(fd[0]);
		child(fd[1], parent, o, c, vector, run);
	}
	close(fd[1]);
	result = read_all(fd[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (result != NULL)
		return result;
	(void)snprintf(why, sizeof(why),
		       WIFSIGNALED(status) ? "the process died of signal %d" : "the process ended with %d",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return vc_job_lost(c, vector, why);
}

bool vc_fresh_wanted(void)
{
	bool was = wanted;

	wanted = false;
	return was;
}
