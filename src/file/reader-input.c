// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input, and the ownership of its bytes. A regular file is mapped whole and read through windows,
 * each a block of its own. Input that cannot be mapped (a pipe, a terminal, too little address
 * space) is read into heap blocks, and compressed input is unpacked into such blocks. A record that
 * crosses the end of a block moves to the start of the next one.
 *
 * Records that are handed out borrow from a block and hold a reference on it; the reader holds one
 * on the block that it scans. The last reference frees heap memory, or advises the kernel that a
 * part of the mapping is not needed any more: resident memory depends on the records that wait for
 * their round, not on the size of the file. A page dropped too early would only be read again.
 */
#include "kontend/mem.h"
#include "reader.h"
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	BLOCK = 512 << 10,
	LEAST_ROOM = 128 << 10, /* twice the longest record */
};

/* The start of a window, at a record, with nothing unpacked or queued in between. */
struct reader_place {
	size_t offset;
	struct reader_flow flow;
};

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

struct reader_block *reader_block_new(struct reader *r, size_t cap)
{
	struct reader_block *b = mem_calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->heap = mem_resize(NULL, cap ? cap : 1, 1);
	if (!b->heap) {
		mem_free(b);
		return NULL;
	}
	b->from = b->heap;
	b->cap = cap;
	r->stat.held_bytes += cap;
	enlist(r, b);
	return b;
}

static struct reader_block *map_block(struct reader *r, const uint8_t *from, size_t len)
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

struct record_note reader_damage(uint64_t offset, uint64_t bad)
{
	return (struct record_note){.kind = NOTE_DAMAGE, .offset = offset, .bad = bad};
}

int reader_note(struct reader *r, struct record_note is, const char *fmt, ...)
{
	char text[NOTE_TEXT + sizeof(is)];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(text, NOTE_TEXT, fmt, ap);
	va_end(ap);
	if (n < 0)
		return 0;
	size_t len = (n < NOTE_TEXT ? (size_t)n : NOTE_TEXT - 1) + 1;
	memcpy(text + len, &is, sizeof(is));
	return reader_queue_copy(r, RECORD_NOTE, 0, text, len + sizeof(is));
}

uint64_t reader_where(const struct reader *r)
{
	if (r->map && r->outer.pos)
		return (uint64_t)(r->outer.pos - r->map);
	return r->file_pos - (uint64_t)(r->outer.end - r->outer.pos);
}

int reader_bad(struct reader *r)
{
	if (!r->stat.bad_records++)
		r->bad_at = reader_where(r);
	return READER_AGAIN;
}

/* The place of a new window: one of its own if reading can resume there. */
static int note_place(struct reader *r)
{
	struct reader_place p = {.offset = (size_t)(r->outer.pos - r->map), .flow = r->flow};
	bool clean = r->inner.pos == r->inner.end && !unpack_is_within(&r->unpack) && !r->payload &&
		     !r->skip && !r->ext && !r->ext_head.offset;

	if (!clean)
		return 0;
	while (r->here + 1 < r->n_places && r->places[r->here + 1].offset <= p.offset)
		r->here++;
	if (r->n_places && r->places[r->here].offset >= p.offset)
		return 0;
	if (mem_grow(&r->places, &r->cap_places, r->n_places, sizeof(p)))
		return -ENOMEM;
	r->here = (uint32_t)r->n_places;
	r->places[r->n_places++] = p;
	return 0;
}

static int next_window(struct reader *r)
{
	size_t left = (size_t)(r->outer.end - r->outer.pos);

	if (!r->early && note_place(r))
		return -ENOMEM;
	struct reader_block *b = map_block(r, r->outer.pos, left < r->window ? left : r->window);
	if (!b)
		return -ENOMEM;
	reader_block_put(r, r->outer.block);
	r->outer.block = b;
	return 0;
}

uint64_t reader_mark(struct source *s)
{
	const struct reader *r = (struct reader *)s;
	uint32_t place = r->here;

	for (const struct reader_block *b = r->blocks; b; b = b->next)
		if (b->place < place)
			place = b->place;
	return place;
}

void reader_forget(struct reader *r)
{
	reader_block_put(r, r->inner.block);
	r->inner = (struct reader_region){0};
	unpack_deinit(&r->unpack);
	mem_free(r->payload);
	mem_free(r->ext);
	r->payload = r->ext = NULL;
	r->ext_head = (struct perfdata_ext){0};
	r->skip = 0;
}

int reader_seek(struct source *s, uint64_t mark, struct error *err)
{
	struct reader *r = (struct reader *)s;

	if (mark >= r->n_places)
		return error_set(err, -EINVAL, "Cannot go to place %llu of '%s': there are %zu",
				 (unsigned long long)mark, r->path, r->n_places);
	if (reader_where(r) > r->farthest)
		r->farthest = reader_where(r);
	for (; r->queue_at < r->n_queue; r->queue_at++)
		reader_block_put(r, r->queue[r->queue_at].owner);
	reader_forget(r);
	r->outer.pos = r->map + r->places[mark].offset;
	r->flow = r->places[mark].flow;
	r->here = (uint32_t)mark;
	r->round_until = READER_NONE;
	r->ended = false;
	return next_window(r) ? error_enomem(err, "going back in '%s'", r->path) : 0;
}

int reader_map(struct reader *r, uint64_t offset, uint64_t size)
{
	r->outer.pos = r->map + offset;
	r->outer.end = r->outer.pos + size;
	r->outer.finished = true;
	if (!r->in_memory)
		madvise(r->map, r->map_size, MADV_SEQUENTIAL);
	return next_window(r);
}

/* Makes room for LEAST_ROOM bytes after g->end, in this block or a new one. */
static int make_room(struct reader *r, struct reader_region *g)
{
	size_t left = (size_t)(g->end - g->pos);
	struct reader_block *b = g->block;

	if (b && b->cap - (size_t)(g->end - b->from) >= LEAST_ROOM)
		return 0;
	b = reader_block_new(r, BLOCK + left);
	if (!b)
		return -ENOMEM;
	if (left)
		memcpy(b->heap, g->pos, left);
	b->len = left;
	if (left && g->block->place < b->place)
		b->place = g->block->place;
	reader_block_put(r, g->block);
	*g = (struct reader_region){
		.pos = b->heap, .end = b->heap + left, .block = b, .finished = g->finished};
	return 0;
}

static void grew(struct reader_region *g, size_t n)
{
	g->end += n;
	g->block->len += n;
}

/* A file is always ready; a pipe is polled, so that an idle one does not block the reader. */
static int wait_input(struct reader *r, int timeout_ms)
{
	struct pollfd p = {.fd = r->fd, .events = POLLIN};
	int n = poll(&p, 1, timeout_ms);

	if (n < 0)
		return errno == EINTR ? SOURCE_IDLE : -errno;
	return n ? 0 : SOURCE_IDLE;
}

int reader_fill(struct reader *r, int timeout_ms, struct error *err)
{
	struct reader_region *g = &r->outer;
	int e = make_room(r, g);

	if (e)
		return e;
	e = wait_input(r, timeout_ms);
	if (e > 0)
		return e;
	size_t used = (size_t)(g->end - g->block->from);
	ssize_t n = e ? e : read(r->fd, g->block->heap + used, g->block->cap - used);
	if (n < 0 && !e && (errno == EINTR || errno == EAGAIN))
		return SOURCE_IDLE;
	if (n < 0)
		return error_errno(err, e ? e : -errno, "Cannot read '%s' at byte %llu", r->path,
				   (unsigned long long)r->file_pos);
	g->finished = n == 0;
	grew(g, (size_t)n);
	r->file_pos += (uint64_t)n;
	return READER_AGAIN;
}

int reader_unpack(struct reader *r, struct error *err)
{
	struct reader_region *g = &r->inner;
	int e = make_room(r, g);

	if (e)
		return e;
	size_t used = (size_t)(g->end - g->block->from);
	long n = unpack_some(&r->unpack, g->block->heap + used, g->block->cap - used, err);
	if (n < 0)
		return (int)n;
	grew(g, (size_t)n);
	return READER_AGAIN;
}

bool reader_is_cut(const struct reader *r)
{
	if (!r->map || r->in_memory)
		return false;
	off_t size = lseek(r->fd, 0, SEEK_END);
	return r->guard.broken || (size >= 0 && (size_t)size < r->map_size);
}

int reader_say_cut(struct reader *r)
{
	if (r->cut)
		return 0;
	r->cut = r->stat.is_cut = true;
	return reader_note(r, reader_damage(reader_where(r), 1),
			   "The recording was truncated while it was read");
}

/* The file may have been truncated since it was mapped: then its end reads as zeros
 * (mapguard.h). */
static bool still_there(struct reader *r)
{
	off_t size = r->in_memory ? (off_t)r->map_size : lseek(r->fd, 0, SEEK_END);

	return size >= 0 && (uint64_t)size >= (uint64_t)(r->outer.end - r->map);
}

int reader_moved(struct reader *r)
{
	struct reader_region *g = &r->outer;

	if (!r->map || g->pos < g->block->from + g->block->len || g->pos == g->end)
		return 0;
	if (!still_there(r)) {
		g->end = g->pos;
		return reader_say_cut(r);
	}
	return next_window(r);
}
