/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ways.h - which of the six a path is. For check.c and paths.c alone. */
#ifndef WAYS_H
#define WAYS_H

#include "paths.h"

enum way { DIRECT, STAGED_AT_POST, INLINE, STAGED_LATE, ALIAS, BOUNCED_AT_RECEIVER, WAYS };

struct path *path_make(enum way way);
void path_free(struct path *p);

#endif
