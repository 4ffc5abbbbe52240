// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where bytes come from. A regular file is mapped whole and walked through windows, each a block of
 * its own, so that pages can go when their records have gone. What cannot be mapped (a pipe, a
 * terminal, too little address space) is read into heap blocks; what is compressed is unpacked into
 * such blocks. A record that the end of a block cuts moves to the start of the next one.
 */
#include "kontend/mem.h"
#include "reader-int.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	BLOCK = 512 << 10,
	LEAST_ROOM = 128 << 10, /* twice the longest record */
};

/* The place of a new window: its own, if one can go on from there. */
static int note_place(struct reader *r)
{
	struct reader_place p = {.offset = (size_t)(r->outer.pos - r->map), .flow = r->flow};
	bool clean = r->inner.pos == r->inner.end && !unpack_is_within(&r->unpack) && !r->payload &&
		     !r->skip && !r->own && !r->own_head.offset;

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
	struct reader_block *b =
		reader_block_map(r, r->outer.pos, left < r->window ? left : r->window);
	if (!b)
		return -ENOMEM;
	reader_block_put(r, r->outer.block);
	r->outer.block = b;
	return 0;
}

uint64_t reader_mark(struct reader *r)
{
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
	mem_free(r->own);
	r->payload = r->own = NULL;
	r->own_head = (struct perfdata_own){0};
	r->skip = 0;
}

int reader_go(struct reader *r, uint64_t mark)
{
	const struct reader_place *p = &r->places[mark];

	if (reader_where(r) > r->farthest)
		r->farthest = reader_where(r);
	for (; r->queue_at < r->n_queue; r->queue_at++)
		reader_block_put(r, r->queue[r->queue_at].owner);
	reader_forget(r);
	r->outer.pos = r->map + p->offset;
	r->flow = p->flow;
	r->here = (uint32_t)mark;
	r->round_until = READER_NONE;
	r->ended = false;
	return next_window(r);
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

/* Room for LEAST_ROOM bytes behind g->end, in this block or a new one. */
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

/* A file is always ready; a pipe is waited for, so that a stalled one does not hang its reader. */
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
		return error_set(err, e, "cannot read \"%s\": out of memory", r->path);
	e = wait_input(r, timeout_ms);
	if (e > 0)
		return e;
	size_t used = (size_t)(g->end - g->block->from);
	ssize_t n = e ? e : read(r->fd, g->block->heap + used, g->block->cap - used);
	if (n < 0 && !e && (errno == EINTR || errno == EAGAIN))
		return SOURCE_IDLE;
	if (n < 0)
		return error_errno(err, e ? e : -errno, "cannot read \"%s\" at byte %llu", r->path,
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
		return error_set(err, e, "cannot unpack \"%s\": out of memory", r->path);
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
	r->cut = true;
	return reader_note(r, "the file \"%s\" was made shorter while it was read", r->path);
}

/* The file may have been cut since it was mapped; beyond its end there are zeros (mapguard.h). */
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
