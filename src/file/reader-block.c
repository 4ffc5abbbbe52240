// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who holds which bytes. Records handed out borrow from a block and hold a reference on it; the
 * reader holds one on the block that it scans. The last reference frees heap, or tells the kernel
 * that the pages of a piece of the mapping are not needed any more: resident memory follows what
 * waits for its round, not the file. A page dropped too early would only be read again.
 */
#include "kontend/mem.h"
#include "reader-int.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void enlist(struct reader *r, struct reader_block *b)
{
	b->refs = 1;
	b->place = r->here;
	b->next = r->blocks;
	if (r->blocks)
		r->blocks->prev = b;
	r->blocks = b;
}

static void delist(struct reader *r, struct reader_block *b)
{
	if (b->next)
		b->next->prev = b->prev;
	if (b->prev)
		b->prev->next = b->next;
	else
		r->blocks = b->next;
}

/* Takes over @heap, also when it fails. */
static struct reader_block *block_of(struct reader *r, uint8_t *heap, size_t cap)
{
	struct reader_block *b = heap ? mem_calloc(1, sizeof(*b)) : NULL;

	if (!b) {
		mem_free(heap);
		return NULL;
	}
	b->from = b->heap = heap;
	b->cap = cap;
	r->stat.held_bytes += cap;
	enlist(r, b);
	return b;
}

struct reader_block *reader_block_new(struct reader *r, size_t cap)
{
	return block_of(r, mem_resize(NULL, cap ? cap : 1, 1), cap);
}

struct reader_block *reader_block_map(struct reader *r, const uint8_t *from, size_t len)
{
	struct reader_block *b = mem_calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->from = from;
	b->len = len;
	enlist(r, b);
	return b;
}

static void drop_pages(const struct reader *r, const struct reader_block *b)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	size_t at = (size_t)(b->from - r->map);
	size_t end = at + b->len;

	at &= ~(page - 1);
	if (end > at)
		madvise(r->map + at, end - at, MADV_DONTNEED);
}

void reader_block_put(struct reader *r, struct reader_block *b)
{
	if (!b || --b->refs)
		return;
	delist(r, b);
	if (b->heap) {
		r->stat.held_bytes -= b->cap;
		mem_free(b->heap);
	} else if (!r->in_memory) {
		drop_pages(r, b);
	}
	mem_free(b);
}

int reader_queue(struct reader *r, enum record_kind kind, uint32_t ring, const void *data,
		 size_t len, struct reader_block *b)
{
	if (r->queue_at == r->n_queue)
		r->queue_at = r->n_queue = 0;
	if (mem_grow(&r->queue, &r->cap_queue, r->n_queue, sizeof(*r->queue))) {
		reader_block_put(r, b);
		return -ENOMEM;
	}
	r->queue[r->n_queue++] =
		(struct record){.kind = kind, .ring = ring, .data = data, .len = len, .owner = b};
	return 0;
}

int reader_queue_copy(struct reader *r, enum record_kind kind, uint32_t ring, const void *data,
		      size_t len)
{
	struct reader_block *b = reader_block_new(r, len);

	if (!b)
		return -ENOMEM;
	if (len)
		memcpy(b->heap, data, len);
	return reader_queue(r, kind, ring, b->heap, len, b);
}

int reader_queue_heap(struct reader *r, enum record_kind kind, uint32_t ring, void *data,
		      size_t len)
{
	struct reader_block *b = block_of(r, data, len);

	return b ? reader_queue(r, kind, ring, data, len, b) : -ENOMEM;
}

int reader_note(struct reader *r, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0)
		return 0;
	size_t len = (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
	return reader_queue_copy(r, RECORD_NOTE, 0, text, len);
}

uint64_t reader_where(const struct reader *r)
{
	if (r->map && r->outer.pos)
		return (uint64_t)(r->outer.pos - r->map);
	return r->file_pos - (uint64_t)(r->outer.end - r->outer.pos);
}
