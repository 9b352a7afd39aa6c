/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * clock.c - the time of records. clock_gettime(2) takes twice as long as the processor's counter on which it is built,
 * so a record holds the counter where the kernel itself keeps time by it, and who reads the spool makes it
 * CLOCK_MONOTONIC by what both showed from time to time.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.h"

uint64_t rec_clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t rec_clock_now(void)
{
	return rec_state.virtual_now != NULL ? rec_state.virtual_now() : rec_clock_ns(CLOCK_MONOTONIC);
}

#if defined(__x86_64__)

/* The kernel's clock sources that are the counter and a factor: of machines, and of guests of KVM and Hyper-V. */
static bool kernel_counts(void)
{
	static const char *const sources[] = {"tsc\n", "kvm-clock\n", "hyperv_clocksource_tsc_page\n"};
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	char name[32] = "";
	bool counts = false;

	if (fd < 0)
		return false;
	if (read(fd, name, sizeof(name) - 1) > 0)
		for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
			counts |= strcmp(name, sources[i]) == 0;
	close(fd);
	return counts;
}

/* Of some, the shortest: between two looks the thread may have had to wait. */
static uint64_t shortest(bool by_the_kernel)
{
	uint64_t least = UINT64_MAX;
	struct timespec ts;

	for (unsigned i = 0; i < 16; i++) {
		uint64_t before = __builtin_ia32_rdtsc(), width;

		if (by_the_kernel)
			(void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
		else
			(void)clock_gettime(CLOCK_MONOTONIC, &ts);
		width = __builtin_ia32_rdtsc() - before;
		least = width < least ? width : least;
	}
	return least;
}

/*
 * Where the counters of processors differ, or stop, the kernel lets no program compute the time from them: then
 * clock_gettime(2) is a call of the kernel, and takes as long as one.
 */
bool rec_clock_can_tick(void)
{
	return kernel_counts() && 3 * shortest(false) < 2 * shortest(true);
}

/* The narrowest of some looks: between two of the counter the thread may have had to wait. */
uint64_t rec_clock_ticks(uint64_t *ns)
{
	uint64_t narrow = UINT64_MAX, at = 0;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t before = __builtin_ia32_rdtsc(), now = rec_clock_ns(CLOCK_MONOTONIC);
		uint64_t width = __builtin_ia32_rdtsc() - before;

		if (width >= narrow)
			continue;
		narrow = width;
		at = before + width / 2;
		*ns = now;
	}
	return at;
}

#else

bool rec_clock_can_tick(void)
{
	return false;
}

uint64_t rec_clock_ticks(uint64_t *ns)
{
	*ns = rec_clock_now();
	return *ns;
}

#endif
