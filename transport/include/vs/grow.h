/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * grow.h - a file that a busy process appends to without a system call each time: its end is mapped and shared, so what
 * was put is in the file at once and stays there when the process is killed. Until it is closed the file is longer than
 * what it holds, and ends in zeros.
 */
#ifndef VS_GROW_H
#define VS_GROW_H

#include <stddef.h>
#include <stdint.h>

struct vs_grow;

/* Appends behind what is in it. `fd` stays the caller's. NULL with errno: no regular file that can be mapped. */
struct vs_grow *vs_grow_open(int fd);
/*
 * Appends head, then rest; the head is written last, so that a reader who finds it finds the rest. 0, or an errno: the
 * disk is full (then nothing of it is in the file that counts), and from then on every call says so.
 */
int vs_grow_put(struct vs_grow *g, const void *head, size_t n_head, const void *rest, size_t n_rest);
uint64_t vs_grow_length(const struct vs_grow *g);
/* Cuts the file to what was put. 0 or an errno; `g` is gone. */
int vs_grow_close(struct vs_grow *g);
/* In a forked child: the file is the parent's. */
void vs_grow_forget(struct vs_grow *g);

#endif
