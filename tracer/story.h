/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* story.h - one operation told step by step: what is made of the model (story_steps.c), and shown (story.c). */
#ifndef VT_STORY_H
#define VT_STORY_H

#include <jansson.h>

#include "trace.h"

/*
 * {"message": N, "operation": "...", "requester": "...", "responder": "...", "outcome": "...", "steps": [{"step": 1,
 * "name": "post", "title": "...", "known": true, "t": "ns", "text": ["..."], "events": [seq, ...]}, ...]}. NULL: no
 * memory.
 */
json_t *vt_story_of(const struct vt_model *m, size_t op);

#endif
