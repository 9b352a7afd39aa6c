/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hide_root.c - the shim that vs-tshark preloads when root captures live.
 *
 * Wireshark loads no plugin from WIRESHARK_PLUGIN_DIR or the personal folder when it was started
 * by root. It finds that out once, in init_process_policies() of libwsutil, which asks for the four
 * ids. That function, and nobody else, is told 1000 instead of 0: everything else in the process,
 * and every child, sees the truth. In particular dumpcap captures as root, and the warnings about
 * running as root stay.
 */
#define _GNU_SOURCE
#include "launch.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define PRETENDED_ID 1000

/* The children run without us. */
__attribute__((constructor)) static void shim_take_back_environment(void)
{
	const char *before = getenv(VS_LAUNCH_PRELOAD_ENV);
	const char *fd = getenv(VS_LAUNCH_FD_ENV);

	if (before && *before)
		setenv("LD_PRELOAD", before, 1);
	else
		unsetenv("LD_PRELOAD");
	if (fd)
		close((int)strtol(fd, NULL, 10));
	unsetenv(VS_LAUNCH_PRELOAD_ENV);
	unsetenv(VS_LAUNCH_FD_ENV);
}

static bool asked_by_plugin_check(const void *return_address)
{
	Dl_info where;

	return dladdr(return_address, &where) && where.dli_fname && strstr(where.dli_fname, "libwsutil") &&
	       where.dli_sname && strcmp(where.dli_sname, "init_process_policies") == 0;
}

/* The system call itself: the C library's function is the one we replace. */
static unsigned int id_for(long system_call, const void *return_address)
{
	unsigned int id = (unsigned int)syscall(system_call);

	return id == 0 && asked_by_plugin_check(return_address) ? PRETENDED_ID : id;
}

EXPORTED uid_t getuid(void)
{
	return id_for(SYS_getuid, __builtin_return_address(0));
}

EXPORTED uid_t geteuid(void)
{
	return id_for(SYS_geteuid, __builtin_return_address(0));
}

EXPORTED gid_t getgid(void)
{
	return id_for(SYS_getgid, __builtin_return_address(0));
}

EXPORTED gid_t getegid(void)
{
	return id_for(SYS_getegid, __builtin_return_address(0));
}
