// SPDX-License-Identifier: GPL-2.0-only
/*
 * The outer structure of ELF files. Counts are trusted only as far as the file has bytes for them,
 * and up to a limit that no real file reaches: a hostile file cannot make kontend allocate more
 * than its owner had to write. 32-bit tables are widened while they are copied out. Offsets are
 * compared with the size by subtraction, never by a sum that could wrap.
 */
#include "kontend/elfimg.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/text.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SEGMENTS_MOST = 4096,
	SECTIONS_MOST = 1 << 18,
	NAMES_MOST = 16 << 20,
	NOTES_MOST = 64 << 10,
	NOTE_SECTIONS_MOST = 64,
};

bool elfimg_read(const struct elfimg *e, uint64_t offset, void *ret, size_t n)
{
	if (offset > e->size || n > e->size - offset)
		return false;
	if (e->mem) {
		memcpy(ret, e->mem + offset, n);
		return true;
	}
	return fdio_read_at(e->fd, offset, ret, n);
}

/* Positions of the tables, for both classes. */
struct header {
	uint64_t segments, sections;
	size_t n_segments, n_sections, names;
	size_t segment_size, section_size;
	uint16_t machine, type;
};

/* Fields of a table entry @x of either class. */
#define HEADER(x)                                                                                  \
	(struct header)                                                                            \
	{                                                                                          \
		x.e_phoff, x.e_shoff, x.e_phnum, x.e_shnum, x.e_shstrndx, x.e_phentsize,           \
			x.e_shentsize, x.e_machine, x.e_type                                       \
	}
#define TO_SECTION(x)                                                                              \
	(struct elfimg_section)                                                                    \
	{                                                                                          \
		x.sh_name, x.sh_type, x.sh_link, x.sh_info, x.sh_flags, x.sh_addr, x.sh_offset,    \
			x.sh_size, x.sh_entsize                                                    \
	}
#define SEGMENT(x)                                                                                 \
	(struct elfimg_segment)                                                                    \
	{                                                                                          \
		x.p_type, x.p_flags, x.p_offset, x.p_vaddr, x.p_filesz                             \
	}

#define SYMBOL(x)                                                                                  \
	(struct elfimg_symbol)                                                                     \
	{                                                                                          \
		.name = x.st_name, .section = x.st_shndx, .addr = x.st_value, .size = x.st_size,   \
		.type = ELF64_ST_TYPE(x.st_info), .bind = ELF64_ST_BIND(x.st_info),                \
		.visibility = ELF64_ST_VISIBILITY(x.st_other)                                      \
	}

static bool read_header(struct elfimg *e, struct header *h)
{
	uint8_t ident[EI_NIDENT];
	union {
		Elf64_Ehdr l;
		Elf32_Ehdr s;
	} x;

	if (!elfimg_read(e, 0, ident, sizeof(ident)) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	    ident[EI_DATA] != ELFDATA2LSB ||
	    (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32))
		return false;
	e->is_64 = ident[EI_CLASS] == ELFCLASS64;
	if (!elfimg_read(e, 0, &x, e->is_64 ? sizeof(x.l) : sizeof(x.s)))
		return false;
	*h = e->is_64 ? HEADER(x.l) : HEADER(x.s);
	e->machine = h->machine;
	e->type = h->type;
	return true;
}

static bool read_section(const struct elfimg *e, uint64_t at, void *item)
{
	struct elfimg_section *ret = item;
	union {
		Elf64_Shdr l;
		Elf32_Shdr s;
	} x;

	if (!elfimg_read(e, at, &x, e->is_64 ? sizeof(x.l) : sizeof(x.s)))
		return false;
	*ret = e->is_64 ? TO_SECTION(x.l) : TO_SECTION(x.s);
	return true;
}

static bool read_segment(const struct elfimg *e, uint64_t at, void *item)
{
	struct elfimg_segment *ret = item;
	union {
		Elf64_Phdr l;
		Elf32_Phdr s;
	} x;

	if (!elfimg_read(e, at, &x, e->is_64 ? sizeof(x.l) : sizeof(x.s)))
		return false;
	*ret = e->is_64 ? SEGMENT(x.l) : SEGMENT(x.s);
	return true;
}

/* True if the file has @n items of @size bytes at @at. */
static bool has_room(const struct elfimg *e, uint64_t at, size_t n, size_t size)
{
	return at <= e->size && n <= (e->size - at) / size;
}

/* An array of items in the file. */
struct items {
	uint64_t at;
	size_t n, size;	  /* size of an item in the file */
	size_t item_size; /* size of an item in memory */
	bool (*read)(const struct elfimg *e, uint64_t at, void *item);
};

/* mem_free() *ret. */
static int read_items(const struct elfimg *e, const struct items *t, void **ret)
{
	char *items = mem_calloc(t->n, t->item_size);

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		if (t->read(e, t->at + i * t->size, items + i * t->item_size))
			continue;
		mem_free(items);
		return -ENOEXEC;
	}
	*ret = items;
	return 0;
}

static int read_segments(struct elfimg *e, const struct header *h)
{
	size_t size = e->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);

	if (!h->segments || !h->n_segments)
		return 0;
	if (h->segment_size != size || h->n_segments > SEGMENTS_MOST ||
	    !has_room(e, h->segments, h->n_segments, size))
		return -ENOEXEC;
	struct items t = {h->segments, h->n_segments, size, sizeof(*e->segments), read_segment};
	void *items;
	int code = read_items(e, &t, &items);
	if (code < 0)
		return code;
	e->segments = items;
	e->n_segments = h->n_segments;
	return 0;
}

static int read_names(struct elfimg *e, size_t index)
{
	void *p;
	int code;

	if (index >= e->n_sections)
		return 0;
	code = elfimg_load(e, &e->sections[index], NAMES_MOST, &p, &e->names_len);
	if (code < 0)
		return code == -ENOMEM ? code : 0;
	e->names = p;
	e->names[e->names_len - 1] = '\0';
	return 0;
}

static void place_sections(struct elfimg *e)
{
	uint64_t next = ELFIMG_CODE_FIRST;

	for (size_t i = 1; i < e->n_sections; i++)
		e->sections[i].addr =
			elfimg_code_place(e->sections[i].flags, e->sections[i].size, &next);
}

static int read_sections(struct elfimg *e, struct header *h)
{
	size_t size = e->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct elfimg_section first;

	/* A file can run, and have a build id, without sections. */
	if (!h->sections || h->section_size != size || !read_section(e, h->sections, &first))
		return 0;
	if (!h->n_sections && first.size <= SECTIONS_MOST)
		h->n_sections = (size_t)first.size;
	if (h->names == SHN_XINDEX)
		h->names = first.link;
	if (!h->n_sections || h->n_sections > SECTIONS_MOST ||
	    !has_room(e, h->sections, h->n_sections, size))
		return 0;
	struct items t = {h->sections, h->n_sections, size, sizeof(*e->sections), read_section};
	void *items;
	int code = read_items(e, &t, &items);
	if (code < 0)
		return code;
	e->sections = items;
	e->n_sections = h->n_sections;
	if (e->type == ET_REL)
		place_sections(e);
	return read_names(e, h->names);
}

/* A note is a header, a name and a text, padded to four bytes. */
size_t elfimg_notes_id(const void *notes, size_t len, uint8_t ret[ELFIMG_BUILD_ID_MAX])
{
	const uint8_t *p = notes;
	Elf64_Nhdr n;

	for (size_t at = 0; len - at >= sizeof(n);) {
		memcpy(&n, p + at, sizeof(n));
		at += sizeof(n);
		size_t name = ((size_t)n.n_namesz + 3) & ~(size_t)3;
		size_t text = ((size_t)n.n_descsz + 3) & ~(size_t)3;
		if (name > len - at || n.n_descsz > len - at - name)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(p + at, "GNU", 4) &&
		    n.n_descsz > 1 && n.n_descsz <= ELFIMG_BUILD_ID_MAX) {
			memcpy(ret, p + at + name, n.n_descsz);
			return n.n_descsz;
		}
		if (text > len - at - name)
			return 0;
		at += name + text;
	}
	return 0;
}

static int search_notes(struct elfimg *e, uint64_t offset, uint64_t size)
{
	uint8_t *p;

	if (!size || size > NOTES_MOST)
		return 0;
	p = mem_calloc(1, (size_t)size);
	if (!p)
		return -ENOMEM;
	if (elfimg_read(e, offset, p, (size_t)size))
		e->build_id_len = elfimg_notes_id(p, (size_t)size, e->build_id);
	mem_free(p);
	return 0;
}

static int read_build_id(struct elfimg *e)
{
	int code = 0, seen = 0;

	for (size_t i = 0; i < e->n_sections && !e->build_id_len && !code; i++)
		if (e->sections[i].type == SHT_NOTE && seen++ < NOTE_SECTIONS_MOST)
			code = search_notes(e, e->sections[i].offset, e->sections[i].size);
	for (size_t i = 0; i < e->n_segments && !e->build_id_len && !code; i++)
		if (e->segments[i].type == PT_NOTE && seen++ < NOTE_SECTIONS_MOST)
			code = search_notes(e, e->segments[i].offset, e->segments[i].file_size);
	return code;
}

static int read_all(struct elfimg *e)
{
	struct header h;
	int code = read_header(e, &h) ? 0 : -ENOEXEC;

	code = code ? code : read_segments(e, &h);
	code = code ? code : read_sections(e, &h);
	code = code ? code : read_build_id(e);
	if (code)
		elfimg_close(e);
	return code;
}

int elfimg_open_fd(struct elfimg *ret, int fd)
{
	struct stat st;

	*ret = (struct elfimg){.fd = fd};
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		ret->size = (uint64_t)st.st_size;
	return read_all(ret);
}

int elfimg_open_mem(struct elfimg *ret, const void *mem, size_t len)
{
	*ret = (struct elfimg){.fd = -1, .mem = mem, .size = len};
	return read_all(ret);
}

void elfimg_close(struct elfimg *e)
{
	mem_free(e->sections);
	mem_free(e->segments);
	mem_free(e->names);
	if (!e->mem && e->fd > 0)
		close(e->fd);
	*e = (struct elfimg){.fd = -1};
}

const struct elfimg_section *elfimg_find(const struct elfimg *e, const char *name)
{
	for (size_t i = 0; e->names && i < e->n_sections; i++)
		if (e->sections[i].name < e->names_len &&
		    strcmp(e->names + e->sections[i].name, name) == 0)
			return &e->sections[i];
	return NULL;
}

const struct elfimg_section *elfimg_find_type(const struct elfimg *e, uint32_t type)
{
	for (size_t i = 0; i < e->n_sections; i++)
		if (e->sections[i].type == type)
			return &e->sections[i];
	return NULL;
}

const struct elfimg_section *elfimg_linked(const struct elfimg *e, const struct elfimg_section *s,
					   uint32_t type)
{
	if (s->link >= e->n_sections || e->sections[s->link].type != type)
		return NULL;
	return &e->sections[s->link];
}

int elfimg_load(const struct elfimg *e, const struct elfimg_section *s, size_t most, void **ret,
		size_t *ret_len)
{
	void *p;

	if (!s->size || s->type == SHT_NOBITS || s->flags & SHF_COMPRESSED || s->size > most ||
	    s->offset > e->size || s->size > e->size - s->offset)
		return -ENOEXEC;
	p = mem_calloc(1, (size_t)s->size);
	if (!p)
		return -ENOMEM;
	if (!elfimg_read(e, s->offset, p, (size_t)s->size)) {
		mem_free(p);
		return -ENOEXEC;
	}
	*ret = p;
	*ret_len = (size_t)s->size;
	return 0;
}

size_t elfimg_symbol_size(const struct elfimg *e)
{
	return e->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

void elfimg_symbol(const struct elfimg *e, const uint8_t *p, struct elfimg_symbol *ret)
{
	union {
		Elf64_Sym l;
		Elf32_Sym s;
	} x;

	memcpy(&x, p, elfimg_symbol_size(e));
	*ret = e->is_64 ? SYMBOL(x.l) : SYMBOL(x.s);
}

/*
 * Neighbours in the file share pages, so an offset may be in two segments: the one with code wins.
 */
const struct elfimg_segment *elfimg_segment_at(const struct elfimg_segment *s, size_t n,
					       uint64_t at, bool by_addr)
{
	const struct elfimg_segment *best = NULL;

	for (size_t i = 0; i < n; i++) {
		uint64_t from = by_addr ? s[i].addr : s[i].offset;
		if (s[i].type != PT_LOAD || at < from || at - from >= s[i].file_size)
			continue;
		if (!best || (s[i].flags & PF_X && !(best->flags & PF_X)))
			best = &s[i];
	}
	return best;
}

bool elfimg_to_addr(const struct elfimg_segment *s, size_t n, uint64_t offset, uint64_t *ret)
{
	const struct elfimg_segment *in = elfimg_segment_at(s, n, offset, false);

	if (in)
		*ret = offset - in->offset + in->addr;
	return in != NULL;
}

/* How many bytes of the file are in both. */
static uint64_t overlap(const struct elfimg_segment *s, uint64_t from, uint64_t to)
{
	uint64_t end =
		s->file_size > UINT64_MAX - s->offset ? UINT64_MAX : s->offset + s->file_size;

	from = s->offset > from ? s->offset : from;
	to = end < to ? end : to;
	return to > from ? to - from : 0;
}

bool elfimg_code_at(const struct elfimg_segment *s, size_t n, uint64_t offset, uint64_t end,
		    uint64_t *ret)
{
	const struct elfimg_segment *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (s[i].type == PT_LOAD && s[i].flags & PF_X &&
		    overlap(&s[i], offset, end) > (best ? overlap(best, offset, end) : 0))
			best = &s[i];
	if (!best)
		return elfimg_to_addr(s, n, offset, ret);
	*ret = best->addr + (offset - best->offset);
	return true;
}

bool elfimg_to_offset(const struct elfimg_segment *s, size_t n, uint64_t addr, uint64_t *ret)
{
	const struct elfimg_segment *in = elfimg_segment_at(s, n, addr, true);

	if (in)
		*ret = addr - in->addr + in->offset;
	return in != NULL;
}

bool elfimg_read_addr(const struct elfimg *e, uint64_t addr, void *ret, size_t n)
{
	uint64_t offset, last;

	return n && n - 1 <= UINT64_MAX - addr &&
	       elfimg_to_offset(e->segments, e->n_segments, addr, &offset) &&
	       elfimg_to_offset(e->segments, e->n_segments, addr + n - 1, &last) &&
	       last - offset == n - 1 && elfimg_read(e, offset, ret, n);
}

bool elfimg_debug_path(char *ret, size_t size, const char *root, const uint8_t *id, size_t n)
{
	char hex[2 * ELFIMG_BUILD_ID_MAX + 1];

	if (!n || n > ELFIMG_BUILD_ID_MAX)
		return false;
	text_hex(hex, id, n);
	int len = snprintf(ret, size, "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2);
	return len > 0 && (size_t)len < size;
}
