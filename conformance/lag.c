/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * lag.c - how late this process was: what it did not do in time may look like a fault of the device.
 *
 * Two things are watched: how long nobody looked, and how long the threads of this process waited for a processor (a
 * device in user space has its own among them). The longest of either counts.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "lag.h"

#define WINDOW_NS 10000000u

uint64_t vc_now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What all threads of this process have waited for a processor: those of ref0 are among them. */
static uint64_t waited_ns(void)
{
	DIR *d = opendir("/proc/self/task");
	const struct dirent *e;
	uint64_t sum = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char path[320];
		uint64_t ran, waited;
		FILE *f;

		(void)snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", e->d_name);
		f = e->d_name[0] != '.' ? fopen(path, "r") : NULL;
		if (f != NULL && fscanf(f, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2)
			sum += waited;
		if (f != NULL)
			fclose(f);
	}
	if (d != NULL)
		closedir(d);
	return sum;
}

void vc_lag_watch(struct vc_lag *l, uint64_t now, bool at_once)
{
	uint64_t waited;

	if (!at_once && now - l->window_ns < WINDOW_NS)
		return;
	waited = waited_ns();
	if (l->window_ns != 0 && waited - l->waited_ns > l->longest_ns)
		l->longest_ns = waited - l->waited_ns;
	l->window_ns = now;
	l->waited_ns = waited;
}

void vc_lag_looked(struct vc_lag *l, uint64_t now)
{
	vc_lag_watch(l, now, false);
	if (l->looked_ns != 0 && now > l->looked_ns && now - l->looked_ns > l->longest_ns)
		l->longest_ns = now - l->looked_ns;
	l->looked_ns = now;
}

void vc_lag_rests(struct vc_lag *l, uint64_t until)
{
	if (l->looked_ns != 0)
		l->looked_ns = until;
}
