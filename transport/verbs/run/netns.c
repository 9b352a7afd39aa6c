/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* netns.c - namespaces (vs/netns.h) with what to do where there are none. */
#define _GNU_SOURCE /* CLONE_NEW... */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "verbs/run/run.h"
#include "vs/netns.h"

#define POLICY "try 'sysctl kernel.apparmor_restrict_unprivileged_userns=0'"

static const char *how_to_unshare(int error)
{
	switch (error) {
	case ENOSPC:
		return "try 'sysctl user.max_user_namespaces=10000'";
	case EINVAL:
	case ENOSYS:
		return "this kernel has none (CONFIG_USER_NS)";
	default:
		return "try 'sysctl kernel.unprivileged_userns_clone=1', allow unshare in the container's seccomp "
		       "profile";
	}
}

int run_unshare(int flags, const char *option)
{
	bool mapping;
	int rc = vs_netns_unshare(flags, &mapping);

	if (rc == 0)
		return 0;
	if (mapping)
		return run_fail("%s: the user can't be mapped in a namespace (%s): " POLICY ", or run as root", option,
				strerror(rc));
	return run_fail("%s: no namespaces for ordinary users here (%s): %s, or run as root", option, strerror(rc),
			how_to_unshare(rc));
}

/* Any address can be had in here: nobody else is there. */
static int add_addresses(const struct run_options *o)
{
	for (unsigned i = 0; i < o->n_ip; i++) {
		uint8_t gid[16];
		int rc = run_parse_ip(o->ip[i], gid) ? vs_netns_add(gid, i) : 0;

		if (rc != 0)
			return run_fail("--netns: %s can't be added to its loopback interface (%s)", o->ip[i],
					strerror(rc));
	}
	return 0;
}

int run_netns(const struct run_options *o)
{
	int rc = run_unshare(CLONE_NEWNET, "--netns");

	if (rc != 0)
		return rc;
	rc = vs_netns_up();
	if (rc != 0)
		return run_fail("--netns: its loopback interface can't be set up (%s)", strerror(rc));
	return add_addresses(o);
}
