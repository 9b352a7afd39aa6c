/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* rig.c - the door for whoever looks after the device from outside: vs/rig.h. */
#include <stdio.h>

#include "verbs/ref.h"
#include "vs/rig.h"

static uint64_t counter(enum vs_counter c)
{
	uint64_t n;

	if (!ref_enter_fast())
		return 0;
	n = vs_dev_counter(ref.dev[0], c);
	ref_leave_quiet();
	return n;
}

static int fault(const char *rule, char *why, size_t cap)
{
	int rc = EOPNOTSUPP;

	(void)snprintf(why, cap, "this wire takes its faults when it is opened");
	if (!ref_enter())
		return errno;
	if (ref.wire->ops->fault != NULL)
		rc = ref.wire->ops->fault(ref.wire, rule, why, cap);
	ref_leave();
	return rc;
}

static const char *idle_fault(void)
{
	static char name[VS_FAULT_NAME];
	const char *idle;

	if (!ref_enter_fast())
		return NULL;
	idle = ref.wire->ops->idle_fault != NULL ? ref.wire->ops->idle_fault(ref.wire) : NULL;
	(void)snprintf(name, sizeof(name), "%s", idle != NULL ? idle : "");
	ref_leave_quiet();
	return idle != NULL ? name : NULL;
}

static int set_gid(unsigned index, const struct vs_gid_entry *gid)
{
	int rc;

	if (!ref_enter())
		return errno;
	rc = ref_error(ref.dev[0], "set_gid", vs_dev_set_gid(ref.dev[0], index, gid));
	ref_leave();
	return rc;
}

static int set_link(bool up)
{
	if (!ref_enter())
		return errno;
	vs_dev_set_link(ref.dev[0], up);
	ref.link_down = !up;
	ref_leave();
	return 0;
}

__attribute__((visibility("default"))) const struct vs_rig *ref_rig(void);

const struct vs_rig *ref_rig(void)
{
	static const struct vs_rig rig = {VS_RIG_VERSION, counter, fault, idle_fault, set_gid, set_link};

	return &rig;
}
