// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf.data as a source. A state machine that is asked for the next record: what is queued first,
 * then rounds and ticks that are due, then one step through the bytes: a run of one CPU, a record
 * of perf, a sample of ours, or more input. Steps are bounded, so a caller with a screen keeps its
 * turn. Bytes that cannot be read end the stream with a note, not with an error: what came before
 * is good.
 */
#include "kontend/mem.h"
#include "reader-int.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef unsigned long long ull;

enum { WINDOW = 4 << 20 };

static struct reader *reader_of(struct source *s)
{
	return (struct reader *)s;
}

static int no_memory(const struct reader *r, struct error *err)
{
	return error_set(err, -ENOMEM, "cannot read \"%s\": out of memory", r->path);
}

/* Nothing more will be read. */
static int end_stream(struct reader *r, struct error *err)
{
	if (r->ended)
		return SOURCE_END;
	r->ended = true;
	if (r->has_tracepoints && !r->has_formats)
		return error_set(err, -EINVAL,
				 "cannot read \"%s\": it has tracepoint events, but not their "
				 "formats, and ends at byte %llu: it is cut%s",
				 r->path, (ull)reader_where(r),
				 r->map && r->file_pos
					 ? "; `kontend recover` takes those of the running kernel "
					   "where that is the one that was recorded"
					 : "");
	if (reader_own_end(r) < 0 || reader_begin(r) || reader_finish(r))
		return no_memory(r, err);
	return READER_AGAIN;
}

/* What stands behind the file's new end is zeros, which say nothing. */
static int stop_at_cut(struct reader *r, struct error *err)
{
	return reader_say_cut(r) ? no_memory(r, err) : end_stream(r, err);
}

static int stop_here(struct reader *r, const char *why, struct error *err)
{
	if (r->early)
		return reader_end_early(r) ? no_memory(r, err) : READER_AGAIN;
	/* The rest of its last page is zeros without a fault. */
	if (reader_is_cut(r))
		return stop_at_cut(r, err);
	if (reader_note(r, "\"%s\" is readable up to byte %llu: %s", r->path, (ull)reader_where(r),
			why))
		return no_memory(r, err);
	return end_stream(r, err);
}

/* Runs are handed out in place; where the file's records are not aligned, as a copy. */
static int emit_run(struct reader *r, const struct reader_region *g, const struct reader_run *run,
		    struct error *err)
{
	int e;

	if ((uintptr_t)run->from % 8) {
		e = reader_queue_copy(r, RECORD_PERF, run->ring, run->from, run->len);
	} else {
		g->block->refs++;
		e = reader_queue(r, RECORD_PERF, run->ring, run->from, run->len, g->block);
	}
	return e ? no_memory(r, err) : READER_AGAIN;
}

/* A record of the kernel's that is not even aligned: passed over. */
static int skip_bad(struct reader *r, struct reader_region *g, struct error *err)
{
	struct perf_event_header h;

	memcpy(&h, g->pos, sizeof(h));
	if (h.size < sizeof(h))
		return stop_here(r, "there is no record, its size would be less than its header's",
				 err);
	if (!r->stat.bad_records++)
		r->bad_at = reader_where(r);
	g->pos += h.size;
	return READER_AGAIN;
}

static int user(struct reader *r, struct reader_region *g, struct error *err)
{
	struct perf_event_header h;
	const uint8_t *p = g->pos;

	memcpy(&h, p, sizeof(h));
	g->pos += h.size;
	/* Only records of the kernel are compressed. */
	if (g == &r->inner) {
		r->stat.unknown_records++;
		return READER_AGAIN;
	}
	struct error why = {0};
	int e = reader_user(r, p, h.size, &why);
	if (e == -EBADMSG)
		return stop_here(r, why.text, err);
	return e < 0 ? error_set(err, e, "%s", why.text) : e;
}

static int own(struct reader *r, struct reader_region *g, struct error *err)
{
	struct perf_event_header h;
	const uint8_t *p = g->pos;

	memcpy(&h, p, sizeof(h));
	g->pos += h.size;
	int e = reader_own(r, p, h.size, g->block);
	return e < 0 ? no_memory(r, err) : e;
}

/* READER_STOP_MORE goes back to the caller as 0. */
static int scan(struct reader *r, struct reader_region *g, struct error *err)
{
	struct reader_run run;

	if (!g->block || g->pos == g->end)
		return 0;
	switch (reader_scan(r, g, &run)) {
	case READER_STOP_RUN:
		if (r->guard.broken)
			return stop_at_cut(r, err);
		if (r->early)
			return stop_here(r, "no events are expected", err);
		return reader_begin(r) ? no_memory(r, err) : emit_run(r, g, &run, err);
	case READER_STOP_USER:
		return user(r, g, err);
	case READER_STOP_OWN:
		return own(r, g, err);
	case READER_STOP_BAD:
		return skip_bad(r, g, err);
	default:
		return 0;
	}
}

/* Bytes behind a record that its size does not count: formats, or nothing of interest. */
static int take_payload(struct reader *r, struct error *err)
{
	size_t left = (size_t)(r->outer.end - r->outer.pos);

	if (r->payload) {
		size_t want = r->payload_size - r->payload_len, n = want < left ? want : left;
		memcpy(r->payload + r->payload_len, r->outer.pos, n);
		r->payload_len += n;
		r->outer.pos += n;
		return n == want ? reader_payload_done(r, err) : 0;
	}
	size_t n = r->skip < left ? (size_t)r->skip : left;
	r->outer.pos += n;
	r->skip -= n;
	return n ? READER_AGAIN : 0;
}

/* Magic first: what else is in the file only makes sense when it is right. */
static int check_magic(struct reader *r, uint64_t magic, struct error *err)
{
	if (magic == PERFDATA_MAGIC_SWAPPED)
		return error_set(err, -ENOTSUP,
				 "cannot read \"%s\": it was written on a machine with "
				 "the other byte order",
				 r->path);
	if (magic != PERFDATA_MAGIC)
		return error_set(err, -EINVAL,
				 "cannot read \"%s\": its first bytes are not those of "
				 "a perf.data file",
				 r->path);
	return 0;
}

/* The 16 bytes that begin a pipe. */
static int pipe_header(struct reader *r, struct error *err)
{
	if (r->outer.end - r->outer.pos < PERFDATA_PIPE_HEADER)
		return 0;
	int e = check_magic(r, reader_u64(r->outer.pos), err);
	if (!e && reader_u64(r->outer.pos + 8) != PERFDATA_PIPE_HEADER)
		e = error_set(err, -EINVAL,
			      "cannot read \"%s\": it does not begin as a stream of perf record "
			      "-o -; a file has to be read by its name",
			      r->path);
	if (e)
		return e;
	r->outer.pos += PERFDATA_PIPE_HEADER;
	r->header_done = true;
	return READER_AGAIN;
}

static int step_inner(struct reader *r, struct error *err)
{
	int e = scan(r, &r->inner, err);

	if (e || (!r->unpack.in_left && !r->unpack.is_full))
		return e;
	struct error why = {0};

	e = reader_unpack(r, &why);
	if (e == -EBADMSG) {
		r->unpack.in_left = 0;
		r->unpack.is_full = 0;
		return stop_here(r, why.text, err);
	}
	return e < 0 ? error_set(err, e, "%s", why.text) : e;
}

/* Less than a record is left, and nothing will come behind it. */
static int at_end(struct reader *r, struct error *err)
{
	if (r->early)
		return reader_end_early(r) ? no_memory(r, err) : READER_AGAIN;
	if (!r->header_done)
		return error_set(err, -EINVAL,
				 "cannot read \"%s\": it has only %llu bytes; it is cut "
				 "or no perf.data file",
				 r->path, (ull)(r->outer.end - r->outer.pos));
	if (r->outer.pos < r->outer.end || r->payload || r->skip)
		return stop_here(r,
				 r->map ? "it ends within a record; `kontend recover` makes a "
					  "whole recording of what is left"
					: "it ends within a record",
				 err);
	if (r->inner.pos < r->inner.end)
		return stop_here(r, "the compressed data end within a record", err);
	return end_stream(r, err);
}

static int step_outer(struct reader *r, int timeout_ms, struct error *err)
{
	int e;

	if (reader_moved(r))
		return no_memory(r, err);
	if (!r->header_done)
		e = pipe_header(r, err);
	else if (r->payload || r->skip)
		e = take_payload(r, err);
	else
		e = scan(r, &r->outer, err);
	if (e)
		return e;
	return r->outer.finished ? at_end(r, err) : reader_fill(r, timeout_ms, err);
}

static int step(struct reader *r, int timeout_ms, struct error *err)
{
	int e = reader_round(r);

	if (e)
		return e < 0 ? no_memory(r, err) : READER_AGAIN;
	if (r->ended)
		return SOURCE_END;
	if (r->guard.broken)
		return stop_at_cut(r, err);
	e = step_inner(r, err);
	return e ? e : step_outer(r, timeout_ms, err);
}

static int reader_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct reader *r = reader_of(s);

	for (;;) {
		if (r->queue_at < r->n_queue) {
			*ret = r->queue[r->queue_at++];
			return 0;
		}
		int e = step(r, timeout_ms, err);
		if (e != READER_AGAIN)
			return e;
	}
}

static void reader_release(struct source *s, struct record *rec)
{
	reader_block_put(reader_of(s), rec->owner);
	rec->owner = NULL;
}

static int reader_fd(struct source *s)
{
	struct reader *r = reader_of(s);

	return r->map || r->ended ? -1 : r->fd;
}

static void reader_set_tick(struct source *s, uint64_t tick_ns)
{
	reader_of(s)->asked_tick_ns = tick_ns;
}

static uint64_t mark(struct source *s)
{
	return reader_mark(reader_of(s));
}

static int seek(struct source *s, uint64_t mark, struct error *err)
{
	struct reader *r = reader_of(s);

	if (mark >= r->n_places)
		return error_set(err, -EINVAL, "cannot go to place %llu of \"%s\": there are %zu",
				 (ull)mark, r->path, r->n_places);
	return reader_go(r, mark) ? no_memory(r, err) : 0;
}

static bool span(struct source *s, uint64_t *ret_first, uint64_t *ret_last)
{
	const uint64_t *t = reader_of(s)->features.sample_time;

	if (!t[0] || t[1] < t[0])
		return false;
	*ret_first = t[0];
	*ret_last = t[1];
	return true;
}

static void reader_free(struct source *s)
{
	struct reader *r = reader_of(s);

	for (; r->queue_at < r->n_queue; r->queue_at++)
		reader_block_put(r, r->queue[r->queue_at].owner);
	mem_free(r->queue);
	reader_block_put(r, r->outer.block);
	reader_block_put(r, r->inner.block);
	unpack_deinit(&r->unpack);
	mem_free(r->payload);
	mem_free(r->own);
	mem_free(r->layouts);
	mem_free(r->places);
	map64_deinit(&r->ids);
	kallsyms_text_deinit(&r->symbols);
	mapguard_del(&r->guard);
	if (r->map && !r->in_memory)
		munmap(r->map, r->map_size);
	if (r->own_fd)
		close(r->fd);
	mem_free(r->path);
	mem_free(r);
}

static const struct source_ops reader_ops = {
	.next = reader_next,
	.release = reader_release,
	.fd = reader_fd,
	.set_tick = reader_set_tick,
	.free = reader_free,
};

/* A file, mapped: every place of it can be gone back to. */
static const struct source_ops map_ops = {
	.next = reader_next,
	.release = reader_release,
	.fd = reader_fd,
	.set_tick = reader_set_tick,
	.mark = mark,
	.seek = seek,
	.span = span,
	.free = reader_free,
};

static int open_path(struct reader *r, const char *path, struct error *err)
{
	if (!strcmp(path, "-")) {
		r->fd = STDIN_FILENO;
		return 0;
	}
	/* A FIFO that nobody writes to must not hold us here. */
	r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	r->own_fd = r->fd >= 0;
	return r->own_fd ? 0
			 : error_errno(err, -errno, "cannot open the recording \"%s\"", r->path);
}

static int map_file(struct reader *r, struct error *err)
{
	void *map = mmap(NULL, r->map_size, PROT_READ, MAP_PRIVATE, r->fd, 0);

	if (map == MAP_FAILED)
		return error_errno(err, -errno, "cannot map \"%s\" (%zu bytes)", r->path,
				   r->map_size);
	r->map = map;
	mapguard_add(&r->guard, map, r->map_size);
	return 0;
}

static int open_file(struct reader *r, struct error *err)
{
	uint64_t head[2];

	if (!r->map_size)
		return error_set(err, -EINVAL, "cannot read \"%s\": the file is empty", r->path);
	int e = reader_read_at(r, 0, head, sizeof(head), "header", err);
	if (!e)
		e = check_magic(r, head[0], err);
	if (!e && !r->in_memory)
		e = map_file(r, err);
	if (e)
		return e;
	r->source.ops = &map_ops;
	r->stat.size = r->map_size;
	r->header_done = true;
	if (head[1] != PERFDATA_PIPE_HEADER)
		return reader_open_layout(r, err);
	if (reader_map(r, PERFDATA_PIPE_HEADER, r->map_size - PERFDATA_PIPE_HEADER))
		return no_memory(r, err);
	return 0;
}

/* One of perf record --threads has a file of all but the events, and one a thread. */
static int is_folder(const struct reader *r, struct error *err)
{
	if (faccessat(r->fd, "data", F_OK, 0) || faccessat(r->fd, "data.0", F_OK, 0))
		return error_errno(err, -EISDIR, "cannot read the recording \"%s\"", r->path);
	return error_set(err, -EISDIR,
			 "cannot read \"%s\": it is a folder of perf record --threads, whose files "
			 "are not put together; make one without it",
			 r->path);
}

static int open_any(struct reader *r, const char *path, struct error *err)
{
	struct stat st;
	int e = open_path(r, path, err);

	if (e)
		return e;
	if (fstat(r->fd, &st))
		return error_errno(err, -errno, "cannot read the recording \"%s\"", r->path);
	if (S_ISDIR(st.st_mode))
		return is_folder(r, err);
	if (!S_ISREG(st.st_mode))
		return 0;
	r->map_size = (size_t)st.st_size;
	return open_file(r, err);
}

static int open_bytes(struct reader *r, const struct reader_options *o, struct error *err)
{
	r->in_memory = true;
	r->map = (uint8_t *)(uintptr_t)o->bytes;
	r->map_size = o->n_bytes;
	return open_file(r, err);
}

int reader_new(struct source **ret, const struct reader_options *o, struct error *err)
{
	struct reader *r = mem_calloc(1, sizeof(*r));
	bool is_stdin = !strcmp(o->path, "-");

	if (!r)
		return error_set(err, -ENOMEM, "cannot read \"%s\": out of memory", o->path);
	r->source.ops = &reader_ops;
	r->fd = -1;
	r->is_uniform = r->flow.is_sorted = true;
	r->round_until = READER_NONE;
	r->asked_tick_ns = o->tick_ns;
	r->no_symbols = o->no_symbols;
	r->window = o->window_bytes ? o->window_bytes : WINDOW;
	r->path = mem_strdup(is_stdin ? "standard input" : o->path);
	int e = -ENOMEM;
	if (!r->path)
		error_set(err, e, "cannot read \"%s\": out of memory", o->path);
	else
		e = o->bytes ? open_bytes(r, o, err) : open_any(r, o->path, err);
	if (e) {
		reader_free(&r->source);
		return e;
	}
	*ret = &r->source;
	return 0;
}

void reader_stat(struct source *s, struct reader_stat *ret)
{
	struct reader *r = reader_of(s);

	*ret = r->stat;
	ret->pos = reader_where(r);
	ret->own = r->is_own;
}
