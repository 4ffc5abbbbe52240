/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ELFIMG_H
#define KONTEND_ELFIMG_H

#include "kontend/cfisnap.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A little-endian ELF file of either class, whose bytes may be hostile. Opening copies the section
 * and segment tables; everything else is read on demand. Nothing is mapped, so a file that is
 * truncated meanwhile gives short reads. In relocatable files, code sections get addresses made up
 * here (elfimg_code_place()).
 */
struct elfimg_section {
	uint32_t name, type, link, info;
	uint64_t flags, addr, offset, size, entsize;
};

struct elfimg_symbol {
	uint32_t name;
	uint16_t section;
	uint8_t type, bind, visibility;
	uint64_t addr, size;
};

enum { ELFIMG_BUILD_ID_MAX = 64 };

struct elfimg {
	int fd;		    /* owned, or -1 */
	const uint8_t *mem; /* borrowed, or NULL */
	uint64_t size;
	bool is_64;
	uint16_t machine, type;
	struct elfimg_section *sections;
	size_t n_sections;
	struct elfimg_segment *segments;
	size_t n_segments;
	char *names; /* section names; ends in a NUL */
	size_t names_len;
	uint8_t build_id[ELFIMG_BUILD_ID_MAX];
	size_t build_id_len; /* 0: no build id */
};

/*
 * 0; -ENOEXEC: not such a file, or its tables are beyond its end; -ENOMEM. @ret owns @fd from then
 * on, even on failure; @mem must stay until elfimg_close().
 */
int elfimg_open_fd(struct elfimg *ret, int fd);
int elfimg_open_mem(struct elfimg *ret, const void *mem, size_t len);
void elfimg_close(struct elfimg *e); /* also for a zeroed or partly opened one */

/* Reads all @n bytes, or returns false. */
bool elfimg_read(const struct elfimg *e, uint64_t offset, void *ret, size_t n);
/* NULL: no such section. */
const struct elfimg_section *elfimg_find(const struct elfimg *e, const char *name);
const struct elfimg_section *elfimg_find_type(const struct elfimg *e, uint32_t type);
/* The section of type @type that @s links to; NULL: none. */
const struct elfimg_section *elfimg_linked(const struct elfimg *e, const struct elfimg_section *s,
					   uint32_t type);
/*
 * The section's bytes, at most @most; mem_free() them. 0; -ENOEXEC: beyond the end of the file,
 * none, or too many; or another negative errno.
 */
int elfimg_load(const struct elfimg *e, const struct elfimg_section *s, size_t most, void **ret,
		size_t *ret_len);

size_t elfimg_symbol_size(const struct elfimg *e);
/* @p: elfimg_symbol_size() bytes. */
void elfimg_symbol(const struct elfimg *e, const uint8_t *p, struct elfimg_symbol *ret);

/* Finds the build id in the bytes of a note section and returns its length; 0: there is none. */
size_t elfimg_notes_id(const void *notes, size_t len, uint8_t ret[ELFIMG_BUILD_ID_MAX]);
/* Path of the debug file for a build id, below @root; false: no ID, or the path is too long. */
bool elfimg_debug_path(char *ret, size_t size, const char *root, const uint8_t *id, size_t n);

/* The loaded segment that contains a file offset, or with @by_addr an address; NULL: none. */
const struct elfimg_segment *elfimg_segment_at(const struct elfimg_segment *s, size_t n,
					       uint64_t at, bool by_addr);
/* Convert between a file offset and its virtual address; executable segments first. */
bool elfimg_to_addr(const struct elfimg_segment *s, size_t n, uint64_t offset, uint64_t *ret);
/*
 * The address of the first byte of a mapping with code, of the file's bytes from @offset to @end. A
 * mapping begins at a page, where the segment before may end: of the executable segments the one
 * counts that has most of it.
 */
bool elfimg_code_at(const struct elfimg_segment *s, size_t n, uint64_t offset, uint64_t end,
		    uint64_t *ret);
bool elfimg_to_offset(const struct elfimg_segment *s, size_t n, uint64_t addr, uint64_t *ret);
/* Reads all @n bytes from @addr on, of one loaded segment, or returns false. */
bool elfimg_read_addr(const struct elfimg *e, uint64_t addr, void *ret, size_t n);

/*
 * Sections of relocatable files, as kernel modules are, have no addresses. kontend lays their code
 * sections out one after another, in file order, so that a place has the same address for the
 * reader of symbols and for the reader of debug information. Other sections get address 0; nothing
 * looks them up.
 */
enum { ELFIMG_CODE_FIRST = 1 << 12 };

static inline uint64_t elfimg_code_place(uint64_t flags, uint64_t size, uint64_t *next)
{
	uint64_t at = *next;

	if (!(flags & SHF_EXECINSTR))
		return 0;
	*next = at + ((size | (ELFIMG_CODE_FIRST - 1)) + 1);
	return at;
}

#endif
