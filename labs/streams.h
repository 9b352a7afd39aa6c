/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* streams.h - runs of two simulated devices, for a scoreboard to judge. */
#ifndef STREAMS_H
#define STREAMS_H

#include "vslab.h"

#define VL_CLEAN_RUNS 200u
#define VL_MUTANT_RUNS 12u /* of each mutant */

bool vl_streams_write(const char *path, uint32_t seed, unsigned clean);

#endif
