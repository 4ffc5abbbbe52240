// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads .eh_frame_hdr and .eh_frame. Only the header that every linker writes is used, with
 * relative 32-bit offsets; without one, frames.c makes it. Linkers put the two next to each other,
 * in either order, so they are read in one piece. See the Linux Standard Base, "Exception Frames".
 */
#include "internal.h"
#include "kontend/mem.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum {
	TABLES_MOST = 256 << 20,
};

struct header {
	uint8_t version, place, count_format, table;
	int32_t frames; /* relative to this field */
	uint32_t count;
};

static const struct elfimg_segment *find_header(const struct elfimg *e)
{
	for (size_t i = 0; i < e->n_segments; i++)
		if (e->segments[i].type == PT_GNU_EH_FRAME)
			return &e->segments[i];
	return NULL;
}

/* Number of file bytes from an address to the end of its segment. */
static uint64_t bytes_from(const struct elfimg *e, uint64_t addr)
{
	for (size_t i = 0; i < e->n_segments; i++) {
		const struct elfimg_segment *s = &e->segments[i];
		if (s->type == PT_LOAD && addr >= s->addr && addr - s->addr < s->file_size)
			return s->file_size - (addr - s->addr);
	}
	return 0;
}

/* Size of .eh_frame: to the end of the section, or of the segment in files without sections. */
static uint64_t frames_size(const struct elfimg *e, uint64_t addr)
{
	const struct elfimg_section *s = elfimg_find(e, ".eh_frame");
	uint64_t most = bytes_from(e, addr);

	return s && s->addr == addr && s->size < most ? s->size : most;
}

static int load_piece(struct unwind_tables *t, const struct elfimg *e, uint64_t from, uint64_t len)
{
	uint64_t offset;

	if (!len || len > TABLES_MOST || len > bytes_from(e, from) ||
	    !elfimg_to_offset(e->segments, e->n_segments, from, &offset))
		return 0;
	/* Expressions are read by words that may begin before the last byte. */
	t->bytes = mem_calloc(1, (size_t)len + sizeof(uint64_t));
	if (!t->bytes)
		return -ENOMEM;
	if (!elfimg_read(e, offset, t->bytes, (size_t)len)) {
		mem_free(t->bytes);
		t->bytes = NULL;
	}
	t->addr = from;
	t->len = (size_t)len;
	return 0;
}

static int load_segments(struct unwind_tables *t, const struct elfimg *e)
{
	t->segments = mem_dup(e->segments, e->n_segments, sizeof(*e->segments));
	t->n_segments = t->segments ? e->n_segments : 0;
	return e->n_segments && !t->segments ? -ENOMEM : 0;
}

/* The section alone, with a header made for it. */
static int load_frames(struct unwind_tables *t, const struct elfimg *e)
{
	const struct elfimg_section *s = elfimg_find(e, ".eh_frame");
	int code;

	if (!s || s->type == SHT_NOBITS || !s->addr)
		return 0;
	code = load_piece(t, e, s->addr, s->size);
	return code < 0 || !t->bytes ? code : unwind_frames_index(t, e->is_64);
}

static bool read_header(const struct elfimg *e, const struct elfimg_segment *s, struct header *ret)
{
	return s && s->file_size >= UNWIND_HEADER_SIZE &&
	       elfimg_read(e, s->offset, ret, sizeof(*ret)) &&
	       ret->version == UNWIND_HEADER_VERSION && ret->place == UNWIND_ENCODED_PLACE &&
	       ret->count_format == UNWIND_ENCODED_COUNT && ret->table == UNWIND_ENCODED_TABLE;
}

int unwind_tables_load(struct unwind_tables *t, const struct elfimg *e)
{
	const struct elfimg_segment *s = find_header(e);
	struct header h;
	int code = load_segments(t, e);

	if (code < 0)
		return code;
	if (!read_header(e, s, &h))
		return load_frames(t, e);
	uint64_t frames = s->addr + 4 + (uint64_t)(int64_t)h.frames;
	uint64_t frames_end = frames + frames_size(e, frames), end = s->addr + s->file_size;
	uint64_t from = frames < s->addr ? frames : s->addr;
	uint64_t to = frames_end > end ? frames_end : end;
	if (frames_end <= frames || end < s->addr || to <= from)
		return 0;
	code = load_piece(t, e, from, to - from);
	t->header = s->addr;
	t->entries = (size_t)(s->file_size - UNWIND_HEADER_SIZE) / UNWIND_ENTRY_SIZE;
	t->entries = h.count < t->entries ? h.count : t->entries;
	return code;
}

void unwind_tables_take(struct unwind_tables *t, const struct cfisnap *s)
{
	struct unwind_tables new = {.answer = USERSYM_OK};

	if (!s)
		return;
	new.bytes = mem_calloc(1, s->n_bytes + sizeof(uint64_t));
	new.segments = mem_dup(s->segments, s->n_segments, sizeof(*s->segments));
	if (!new.bytes || !new.segments) {
		unwind_tables_deinit(&new);
		return;
	}
	memcpy(new.bytes, s->bytes, s->n_bytes);
	new.len = s->n_bytes;
	new.n_segments = s->n_segments;
	new.addr = s->head.addr;
	new.header = s->head.header;
	new.entries = s->head.entries;
	unwind_tables_deinit(t);
	*t = new;
}

void unwind_tables_deinit(struct unwind_tables *t)
{
	if (!t->image)
		mem_free(t->bytes);
	mem_free(t->segments);
	if (t->rules)
		t->free_rules(t->rules);
	mem_free(t->image);
	*t = (struct unwind_tables){0};
}
