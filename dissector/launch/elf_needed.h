/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_needed.h - which shared library an ELF file asks for, without loading it.
 */
#ifndef VS_ELF_NEEDED_H
#define VS_ELF_NEEDED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Copies the first needed library whose name starts with `prefix`. False if there is none, or the
 * file is no ELF file of this machine's word size.
 */
bool vs_elf_needed(const char *path, const char *prefix, char *name, size_t size);

#endif
