/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ELFIMG_H
#define KONTEND_ELFIMG_H

#include "kontend/elfsegment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An ELF file of either class, little-endian, as bytes that may be hostile: its tables of sections
 * and segments are copied out at opening, everything else is read on demand. Nothing is mapped, so
 * a file that is made shorter meanwhile is a short read. Sections of code of a file that is still
 * to be linked have addresses of our making (elfrel.h).
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
	int fd;		    /* ours, or -1 */
	const uint8_t *mem; /* borrowed, or NULL */
	uint64_t size;
	bool is_64;
	uint16_t machine, type;
	struct elfimg_section *sections;
	size_t n_sections;
	struct elfimg_segment *segments;
	size_t n_segments;
	char *names; /* of sections, ends in a NUL */
	size_t names_len;
	uint8_t build_id[ELFIMG_BUILD_ID_MAX];
	size_t build_id_len; /* 0: it has none */
};

/*
 * 0; -ENOEXEC: not such a file, or its tables lie beyond its end; -ENOMEM. @fd belongs to @ret from
 * then on in any case; @mem stays until elfimg_close().
 */
int elfimg_open_fd(struct elfimg *ret, int fd);
int elfimg_open_mem(struct elfimg *ret, const void *mem, size_t len);
void elfimg_close(struct elfimg *e); /* zeroed or half-built is fine */

/* All of @n bytes, or false. */
bool elfimg_read(const struct elfimg *e, uint64_t offset, void *ret, size_t n);
/* NULL: there is none. */
const struct elfimg_section *elfimg_find(const struct elfimg *e, const char *name);
const struct elfimg_section *elfimg_find_type(const struct elfimg *e, uint32_t type);
/* The section that @s links to, of that type; NULL: none. */
const struct elfimg_section *elfimg_linked(const struct elfimg *e, const struct elfimg_section *s,
					   uint32_t type);
/* Its bytes, at most @most, mem_free() them. 0, -ENOEXEC (beyond the end, none, too many) or so. */
int elfimg_load(const struct elfimg *e, const struct elfimg_section *s, size_t most, void **ret,
		size_t *ret_len);

size_t elfimg_symbol_size(const struct elfimg *e);
/* @p: elfimg_symbol_size() bytes. */
void elfimg_symbol(const struct elfimg *e, const uint8_t *p, struct elfimg_symbol *ret);

/* The build id in notes, as in a section of them: bytes of it; 0: there is none. */
size_t elfimg_notes_id(const void *notes, size_t len, uint8_t ret[ELFIMG_BUILD_ID_MAX]);
/* Where the debug file of a build id would be, below @root; false: no id, or too long a path. */
bool elfimg_debug_path(char *ret, size_t size, const char *root, const uint8_t *id, size_t n);

/* The loaded segment that a file offset, or with @by_addr an address, is in; NULL: none. */
const struct elfimg_segment *elfimg_segment_at(const struct elfimg_segment *s, size_t n,
					       uint64_t at, bool by_addr);
/* The address that a file offset is loaded at, and back; executable segments first. */
bool elfimg_to_addr(const struct elfimg_segment *s, size_t n, uint64_t offset, uint64_t *ret);
bool elfimg_to_offset(const struct elfimg_segment *s, size_t n, uint64_t addr, uint64_t *ret);

#endif
