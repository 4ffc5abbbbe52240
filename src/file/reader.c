// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf.data as a source. Each call for the next record continues a state machine: first what is
 * queued, then rounds and ticks that are due, then one step through the bytes: a run of one CPU, a
 * record of perf, a sample of kontend, or more input. Steps are bounded, so that a caller with a
 * screen stays responsive. Bytes that cannot be read end the stream with a note, not with an error,
 * since everything before them is good.
 */
#include "reader.h"
#include "kontend/mem.h"
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

typedef unsigned long long ull;

enum { WINDOW = 4 << 20 };

static struct reader *reader_of(struct source *s)
{
	return (struct reader *)s;
}

/* Ends the stream: nothing more will be read. */
static int end_stream(struct reader *r, struct error *err)
{
	if (r->ended)
		return SOURCE_END;
	r->ended = true;
	if (r->stat.is_cut && r->has_tracepoints && !r->has_formats && !r->has_profile)
		return error_set(err, -EINVAL,
				 "Cannot read '%s': it has only tracepoint events, and not their "
				 "formats, which follow the data: it is cut at byte %llu%s",
				 r->path, (ull)reader_where(r),
				 r->map && r->file_pos
					 ? "; 'kontend recover' takes those of the running kernel "
					   "if that is the one that was recorded"
					 : "");
	if (reader_ext_end(r) < 0 || reader_begin(r) || reader_finish(r))
		return -ENOMEM;
	return READER_AGAIN;
}

/* Data after the new end of the file read as zeros, so the stream ends there. */
static int stop_at_cut(struct reader *r, struct error *err)
{
	return reader_say_cut(r) ? -ENOMEM : end_stream(r, err);
}

static int end_early(struct reader *r)
{
	return reader_end_early(r) ? -ENOMEM : READER_AGAIN;
}

static int stop_here(struct reader *r, const char *why, struct error *err)
{
	if (r->early)
		return end_early(r);
	/* The rest of the last page reads as zeros without a fault. */
	if (reader_is_cut(r))
		return stop_at_cut(r, err);
	r->stat.is_cut = true;
	if (reader_note(r, reader_damage(reader_where(r), 1),
			"The recording is readable up to byte %llu: %s", (ull)reader_where(r), why))
		return -ENOMEM;
	return end_stream(r, err);
}

/* Data that cannot be unpacked end the stream; other errors are passed to the caller. */
static int stop_or_fail(struct reader *r, int e, const struct error *why, struct error *err)
{
	if (e == -EBADMSG)
		return stop_here(r, why->text, err);
	return why->code ? error_set(err, e, "%s", why->text) : e;
}

/* Runs are handed out in place, or as a copy if the file's records are not aligned. */
static int emit_run(struct reader *r, const struct reader_region *g, const struct reader_run *run,
		    struct error *err)
{
	int e;

	if (r->guard.broken)
		return stop_at_cut(r, err);
	if (r->early)
		return stop_here(r, "no events are expected", err);
	if (reader_begin(r))
		return -ENOMEM;
	if ((uintptr_t)run->from % 8) {
		e = reader_queue_copy(r, RECORD_PERF, run->ring, run->from, run->len);
	} else {
		g->block->refs++;
		e = reader_queue(r, RECORD_PERF, run->ring, run->from, run->len, g->block);
	}
	return e ? e : READER_AGAIN;
}

static int take_user(struct reader *r, const struct reader_region *g, const struct reader_run *rec,
		     struct error *err)
{
	struct error why = {0};

	/* Only records of the kernel are compressed. */
	if (g == &r->inner) {
		r->stat.unknown_records++;
		return READER_AGAIN;
	}
	return stop_or_fail(r, reader_user(r, rec->from, rec->len, &why), &why, err);
}

/* READER_STOP_MORE becomes 0 for the caller. */
static int scan(struct reader *r, struct reader_region *g, struct error *err)
{
	struct reader_run run;

	if (!g->block || g->pos == g->end)
		return 0;
	enum reader_stop stop = reader_scan(r, g, &run);
	if (stop == READER_STOP_RUN)
		return emit_run(r, g, &run, err);
	if (stop == READER_STOP_MORE)
		return 0;
	if (run.len < READER_HEADER)
		return stop_here(r, "there is no record, its size would be less than its header's",
				 err);
	if (stop == READER_STOP_BAD)
		reader_bad(r);
	g->pos += run.len;
	if (stop == READER_STOP_USER)
		return take_user(r, g, &run, err);
	return stop == READER_STOP_EXT ? reader_ext(r, run.from, run.len, g->block) : READER_AGAIN;
}

static int step_inner(struct reader *r, struct error *err)
{
	struct error why = {0};
	int e = scan(r, &r->inner, err);

	if (e || (!r->unpack.in_left && !r->unpack.is_full))
		return e;
	e = reader_unpack(r, &why);
	if (e == -EBADMSG)
		r->unpack.in_left = r->unpack.is_full = 0;
	return stop_or_fail(r, e, &why, err);
}

/* Less than a record is left, and no more input will come. */
static int at_end(struct reader *r, struct error *err)
{
	if (r->early)
		return end_early(r);
	if (!r->header_done)
		return error_set(err, -EINVAL,
				 "Cannot read '%s': it has only %llu bytes; it is cut "
				 "or no perf.data file",
				 r->path, (ull)(r->outer.end - r->outer.pos));
	if (r->outer.pos < r->outer.end || r->payload || r->skip)
		return stop_here(r,
				 r->map ? "it ends within a record; 'kontend recover' makes a "
					  "whole recording of the rest"
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
		return -ENOMEM;
	if (!r->header_done && reader_is_packed(r))
		return reader_unpack_pipe(r, timeout_ms, err);
	if (!r->header_done)
		e = reader_open_pipe(r, err);
	else if (r->payload || r->skip)
		e = reader_payload(r, err);
	else
		e = scan(r, &r->outer, err);
	if (e)
		return e;
	return r->outer.finished ? at_end(r, err) : reader_fill(r, timeout_ms, err);
}

static int read_step(struct reader *r, int timeout_ms, struct error *err)
{
	int e = reader_round(r);

	if (e)
		return e < 0 ? e : READER_AGAIN;
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
		int e = read_step(r, timeout_ms, err);
		atomic_store_explicit(&r->shown, reader_where(r), memory_order_relaxed);
		if (e == -ENOMEM)
			return error_enomem(err, "reading '%s'", r->path);
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

static bool span(struct source *s, uint64_t *ret_first, uint64_t *ret_last)
{
	const uint64_t *t = reader_of(s)->features.sample_time;

	if (!t[0] || t[1] < t[0])
		return false;
	*ret_first = t[0];
	*ret_last = t[1];
	return true;
}

static void progress(struct source *s, uint64_t *ret_done, uint64_t *ret_all)
{
	const struct reader *r = reader_of(s);

	*ret_done = atomic_load_explicit(&r->shown, memory_order_relaxed);
	*ret_all = r->stat.size;
}

static uint64_t held(struct source *s)
{
	return reader_of(s)->stat.held_bytes;
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
	mem_free(r->ext);
	mem_free(r->layouts);
	mem_free(r->places);
	map64_deinit(&r->ids);
	eventsnap_deinit(&r->features.events);
	kernel_given_deinit(&r->given);
	kallsyms_text_deinit(&r->symbols);
	elfimg_close(&r->kcore);
	mapguard_del(&r->guard);
	if (r->map && !r->in_memory)
		munmap(r->map, r->map_size);
	if (r->close_fd)
		close(r->fd);
	if (r->packed_fd)
		close(r->packed_fd);
	mem_free(r->path);
	mem_free(r);
}

static const struct source_ops pipe_ops = {
	.next = reader_next,
	.release = reader_release,
	.fd = reader_fd,
	.set_tick = reader_set_tick,
	.progress = progress,
	.held = held,
	.free = reader_free,
};

/* A mapped file can resume reading at any place. */
static const struct source_ops map_ops = {
	.next = reader_next,
	.release = reader_release,
	.fd = reader_fd,
	.set_tick = reader_set_tick,
	.progress = progress,
	.held = held,
	.mark = reader_mark,
	.seek = reader_seek,
	.span = span,
	.free = reader_free,
};

struct codesource *reader_code(struct source *s)
{
	struct reader *r = reader_of(s);

	return r->code.name ? &r->code : NULL;
}

int reader_new(struct source **ret, const struct reader_options *o, struct error *err)
{
	struct reader *r = mem_calloc(1, sizeof(*r));
	bool is_stdin = !strcmp(o->path, "-");

	if (!r)
		return error_enomem(err, "reading '%s'", o->path);
	r->fd = -1;
	r->is_uniform = r->flow.is_sorted = true;
	r->round_until = READER_NONE;
	r->asked_tick_ns = o->tick_ns;
	r->no_symbols = o->no_symbols;
	r->opener = (struct reader_options){.open = o->open, .open_ctx = o->open_ctx};
	r->window = o->window_bytes ? o->window_bytes : WINDOW;
	r->path = mem_strdup(is_stdin ? "standard input" : o->path);
	int e = r->path ? reader_open(r, o, err) : -ENOMEM;
	if (!e && o->symbols)
		e = kernel_given_read(&r->given, o, err);
	if (e == -ENOMEM)
		error_enomem(err, "reading '%s'", o->path);
	if (e) {
		reader_free(&r->source);
		return e;
	}
	r->source.ops = r->map ? &map_ops : &pipe_ops;
	*ret = &r->source;
	return 0;
}

const struct perfdata_machine *reader_machine(struct source *s)
{
	return &reader_of(s)->features.machine;
}

void reader_stat(struct source *s, struct reader_stat *ret)
{
	struct reader *r = reader_of(s);

	*ret = r->stat;
	ret->pos = reader_where(r);
	ret->by_kontend = r->by_kontend;
}
