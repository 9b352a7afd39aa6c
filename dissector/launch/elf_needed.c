/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_needed.c - reads DT_NEEDED entries. Every offset in the file is checked before it is used.
 */
#define _GNU_SOURCE
#include "elf_needed.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if __SIZEOF_POINTER__ == 8
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
typedef Elf64_Dyn elf_dynamic;
#define ELF_CLASS ELFCLASS64
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
typedef Elf32_Dyn elf_dynamic;
#define ELF_CLASS ELFCLASS32
#endif

struct image {
	const unsigned char *bytes;
	size_t size;
};

/* A pointer into the image, or NULL if [offset, offset + len) is not inside it or is misaligned. */
static const void *image_at(const struct image *im, uint64_t offset, uint64_t len, size_t align)
{
	if (offset > im->size || len > im->size - offset || offset % align)
		return NULL;
	return im->bytes + offset;
}

static const elf_segment *program_headers(const struct image *im, size_t *count)
{
	const elf_header *header = image_at(im, 0, sizeof(*header), 1);

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELF_CLASS ||
	    header->e_phentsize != sizeof(elf_segment))
		return NULL;
	*count = header->e_phnum;
	return image_at(im, header->e_phoff, (uint64_t)header->e_phnum * sizeof(elf_segment), _Alignof(elf_segment));
}

/* The string table is named by its address in memory: find the segment that it is loaded from. */
static bool file_offset(const elf_segment *segment, size_t count, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < count; i++) {
		if (segment[i].p_type == PT_LOAD && address >= segment[i].p_vaddr &&
		    address - segment[i].p_vaddr < segment[i].p_filesz) {
			*offset = segment[i].p_offset + (address - segment[i].p_vaddr);
			return true;
		}
	}
	return false;
}

static const elf_dynamic *dynamic_section(const struct image *im, const elf_segment *segment, size_t segments,
					  size_t *n)
{
	for (size_t i = 0; i < segments; i++) {
		if (segment[i].p_type == PT_DYNAMIC) {
			*n = (size_t)(segment[i].p_filesz / sizeof(elf_dynamic));
			return image_at(im, segment[i].p_offset, segment[i].p_filesz, _Alignof(elf_dynamic));
		}
	}
	return NULL;
}

static bool find_needed(const struct image *im, const char *prefix, char *name, size_t size)
{
	size_t segments = 0, n = 0;
	uint64_t strings = 0;
	bool has_strings = false;
	const elf_segment *segment = program_headers(im, &segments);
	const elf_dynamic *dyn = segment ? dynamic_section(im, segment, segments, &n) : NULL;

	if (!dyn)
		return false;
	for (size_t i = 0; i < n && dyn[i].d_tag != DT_NULL; i++)
		if (dyn[i].d_tag == DT_STRTAB)
			has_strings = file_offset(segment, segments, dyn[i].d_un.d_ptr, &strings);
	for (size_t i = 0; has_strings && i < n && dyn[i].d_tag != DT_NULL; i++) {
		uint64_t at = strings + dyn[i].d_un.d_val;
		size_t len;

		if (dyn[i].d_tag != DT_NEEDED || at < strings || at >= im->size)
			continue;
		len = strnlen((const char *)im->bytes + at, im->size - at);
		if (len >= size || len == im->size - at || len < strlen(prefix) ||
		    memcmp(im->bytes + at, prefix, strlen(prefix)) != 0)
			continue;
		memcpy(name, im->bytes + at, len + 1);
		return true;
	}
	return false;
}

bool vs_elf_needed(const char *path, const char *prefix, char *name, size_t size)
{
	bool found = false;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		struct image im = {.size = (size_t)st.st_size};
		void *map = mmap(NULL, im.size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (map != MAP_FAILED) {
			im.bytes = map;
			found = find_needed(&im, prefix, name, size);
			munmap(map, im.size);
		}
	}
	close(fd);
	return found;
}
