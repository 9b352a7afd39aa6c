/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_device.h - a device that does nothing, for fuzz_agent.c. */
#ifndef FUZZ_DEVICE_H
#define FUZZ_DEVICE_H

#include "../verbs.h"

void fuzz_device(struct vc_verbs *v);

#endif
