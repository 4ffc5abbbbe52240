// SPDX-License-Identifier: GPL-2.0-only
/*
 * A jitdump is a header and records, each of which begins with its kind, its length and a time
 * (tools/perf/Documentation/jitdump-specification.txt): a function with its name and its bytes, or
 * that one has moved. Line numbers and tables for unwinding are passed over. Records are read
 * through a window that is moved to each head; the bytes of functions are left where they are.
 *
 * Samples have no time any more when they are named, so of two functions at one place the later one
 * counts.
 */
#include "jitdump.h"

#include "kontend/mem.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
	MAGIC = 0x4a695444,
	VERSION = 1,
	HEADER = 40,
	PREFIX = 16,
	LOAD_HEAD = PREFIX + 40,
	MOVE_HEAD = PREFIX + 48,
	NAME_MOST = 4096,
	WINDOW = 64 << 10,
	RECORDS_STEP = 20000, /* of a piece */
	RANK = 1,
};

enum { CODE_LOAD, CODE_MOVE };

struct window {
	int fd;
	uint64_t size, from;
	size_t len;
	uint8_t bytes[WINDOW];
};

/* @n bytes of the file at @at; NULL: they are not there. */
static const uint8_t *look(struct window *w, uint64_t at, size_t n)
{
	if (n > WINDOW || at > w->size || n > w->size - at)
		return NULL;
	if (at < w->from || at - w->from > w->len || n > w->len - (at - w->from)) {
		ssize_t got = pread(w->fd, w->bytes, WINDOW, (off_t)at);
		w->from = at;
		w->len = got > 0 ? (size_t)got : 0;
		if (w->len < n)
			return NULL;
	}
	return w->bytes + (at - w->from);
}

static uint32_t u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Length of the header; 0: it is not there yet; or -ENOEXEC. */
static int64_t read_header(struct window *w)
{
	const uint8_t *p = look(w, 0, HEADER);

	if (!p)
		return 0;
	uint32_t len = u32(p + 8);
	if (u32(p) != MAGIC || u32(p + 4) != VERSION || len < HEADER)
		return -ENOEXEC;
	return len <= w->size ? (int64_t)len : 0;
}

static int keep(struct jitdump *d, const struct jitdump_code *c)
{
	if (mem_grow(&d->codes, &d->cap, d->n, sizeof(*d->codes)) < 0)
		return -ENOMEM;
	d->codes[d->n++] = *c;
	return 0;
}

static bool is_range(uint64_t addr, uint64_t size)
{
	return size && size <= UINT32_MAX && size <= UINT64_MAX - addr;
}

/* pid, tid, where it was made, where it runs, its length and number; name; bytes. */
static int take_load(struct jitdump *d, struct symtab *t, struct window *w, uint64_t at,
		     uint32_t len)
{
	size_t head = len < LOAD_HEAD + NAME_MOST ? len : LOAD_HEAD + NAME_MOST;
	const uint8_t *p = look(w, at, head);

	if (!p || len <= LOAD_HEAD)
		return -ENOEXEC;
	const char *name = (const char *)p + LOAD_HEAD;
	size_t n = strnlen(name, head - LOAD_HEAD);
	struct jitdump_code c = {.addr = u64(p + 32), .size = u64(p + 40), .index = u64(p + 48)};
	struct symtab_entry e = {.addr = c.addr, .rank = RANK};
	if (!n || !is_range(c.addr, c.size))
		return 0;
	/* Its bytes are the last ones of the record. */
	if (c.size < len - LOAD_HEAD - n)
		c.at = at + len - c.size;
	e.size = (uint32_t)c.size;
	c.name = (uint32_t)t->text_len;
	int code = symtab_add_text(t, &e, name, n);
	return code ? code : keep(d, &c);
}

static int take_move(struct jitdump *d, struct symtab *t, struct window *w, uint64_t at,
		     uint32_t len)
{
	const uint8_t *p = len >= MOVE_HEAD ? look(w, at, MOVE_HEAD) : NULL;

	if (!p)
		return -ENOEXEC;
	uint64_t from = u64(p + 32), to = u64(p + 40), index = u64(p + 56);
	for (size_t i = d->n; i-- > 0;) {
		struct jitdump_code c = d->codes[i];
		if (c.addr != from || c.index != index)
			continue;
		c.addr = to;
		struct symtab_entry e = {
			.addr = to, .size = (uint32_t)c.size, .name = c.name, .rank = RANK};
		if (!is_range(to, c.size))
			return 0;
		int code = symtab_add(t, &e);
		return code ? code : keep(d, &c);
	}
	return 0;
}

/* The record at d->read. 1: taken; 0: it is not whole yet; or a negative errno. */
static int take_record(struct jitdump *d, struct symtab *t, struct window *w)
{
	const uint8_t *p = look(w, d->read, PREFIX);
	int code = 0;

	if (!p)
		return 0;
	uint32_t kind = u32(p), len = u32(p + 4);
	if (len < PREFIX)
		return -ENOEXEC;
	if (len > w->size - d->read)
		return 0;
	if (kind == CODE_LOAD)
		code = take_load(d, t, w, d->read, len);
	else if (kind == CODE_MOVE)
		code = take_move(d, t, w, d->read, len);
	d->read += code ? 0 : len;
	return code ? code : 1;
}

static int read_piece(struct jitdump *d, struct symtab *t, struct window *w, bool *ret_more)
{
	int code = 1;

	if (!d->read) {
		int64_t header = read_header(w);
		if (header <= 0)
			return (int)header;
		d->read = (uint64_t)header;
	}
	for (size_t i = 0; i < RECORDS_STEP && code == 1; i++)
		code = take_record(d, t, w);
	*ret_more = code == 1;
	return code < 0 ? code : 0;
}

int jitdump_read(struct jitdump *d, struct symtab *t, int fd, uint64_t size, bool *ret_more)
{
	struct window *w = d->damaged ? NULL : mem_calloc(1, sizeof(*w));

	*ret_more = false;
	if (!w)
		return d->damaged ? -ENOEXEC : -ENOMEM;
	w->fd = fd;
	w->size = size;
	int code = read_piece(d, t, w, ret_more);
	mem_free(w);
	d->damaged = code == -ENOEXEC;
	return code;
}

bool jitdump_place(const struct jitdump *d, uint64_t addr, uint64_t *ret_at, uint64_t *ret_len)
{
	for (size_t i = d->n; i-- > 0;) {
		const struct jitdump_code *c = &d->codes[i];
		if (addr < c->addr || addr - c->addr >= c->size)
			continue;
		*ret_at = c->at + (addr - c->addr);
		*ret_len = c->size - (addr - c->addr);
		return c->at != 0;
	}
	return false;
}

void jitdump_deinit(struct jitdump *d)
{
	mem_free(d->codes);
	*d = (struct jitdump){0};
}
