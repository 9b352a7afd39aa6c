/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * real.c - the functions behind ours: the next ones in the order of loading, or, where a program or Python has opened
 * the library for itself, those of the library that is loaded.
 */
#define _GNU_SOURCE /* RTLD_NEXT, dlvsym */
#include <dlfcn.h>
#include <string.h>

#include "recorder.h"

/* dlsym is among what we stand in front of (dl.c), and has had several versions. */
static void *(*real_dlsym)(void *, const char *);

static void *none(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return NULL;
}

static void find_dlsym(void)
{
	static const char *const version[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
	void *p = NULL;

	for (unsigned i = 0; p == NULL && i < sizeof(version) / sizeof(version[0]); i++)
		p = dlvsym(RTLD_NEXT, "dlsym", version[i]);
	if (p != NULL)
		memcpy(&real_dlsym, &p, sizeof(p));
	else
		real_dlsym = none;
}

/* Ends in a jump: what RTLD_NEXT means depends on who called. */
REC_JUMPS void *rec_real_dlsym(void *handle, const char *name)
{
	if (real_dlsym == NULL)
		find_dlsym();
	return real_dlsym(handle, name);
}

static void *find(const char *name)
{
	const char *file = strncmp(name, "rdma_", 5) == 0 ? "librdmacm.so.1" : "libibverbs.so.1";
	void *p = rec_real_dlsym(RTLD_NEXT, name), *library;

	if (p != NULL)
		return p;
	library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
	if (library == NULL)
		return NULL;
	p = rec_real_dlsym(library, name);
	dlclose(library); /* loaded it was before */
	return p;
}

bool rec_real(void *slot, const char *name)
{
	void *p;

	memcpy(&p, slot, sizeof(p));
	if (p != NULL)
		return true;
	p = find(name);
	memcpy(slot, &p, sizeof(p));
	return p != NULL;
}
