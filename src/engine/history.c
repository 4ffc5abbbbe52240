// SPDX-License-Identifier: GPL-2.0-only
/*
 * A live source that keeps the last minutes. Each record has a number, and the log has the records
 * of the last minutes. The reader (the engine) is at one of them or, while live, at the end of the
 * log, where the inner source has the next record. So the same engine, with its symbols and
 * formats, can travel: a pause only sets a limit to the records that are handed out, and catching
 * up is no special case.
 *
 * The window must begin at a known state. Applying the records that leave the window to a second
 * model would mean to decode all of them twice. Instead, the model of the engine is copied now and
 * then at a tick (a base), and packed: that costs some ten milliseconds a minute, and copies that
 * are not packed would be most of the memory of a session. The window begins at the oldest base.
 * When the log is full, that base is dropped, with the records before the next one, so the window
 * has between 7/8 of the limit and all of it.
 *
 * Records that were handed out and not given back are in a list, by their numbers. The first one is
 * the mark.
 */
#include "history-int.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

enum { DEFAULT_BYTES = 8 << 20, DEFAULT_MODEL_BYTES = 32 << 20 };

static const uint64_t DEFAULT_SPAN_NS = 600000000000;

static struct history *history_of(struct source *s)
{
	return (struct history *)s;
}

static void drop_base(struct history *h)
{
	h->model_bytes -= h->bases[0].model.bytes;
	engine_packed_deinit(&h->bases[0].model);
	memmove(h->bases, h->bases + 1, --h->n_bases * sizeof(*h->bases));
}

static uint64_t history_mark(struct source *s)
{
	const struct history *h = history_of(s);

	return h->first ? h->first->number : h->next;
}

/* Drops the window, but no record that the engine still needs. */
static void forget(struct history *h)
{
	while (h->n_bases)
		drop_base(h);
	recordlog_cut(&h->log, history_mark(&h->source));
}

/* Drops the oldest base, and the records before the next one. */
static void advance(struct history *h)
{
	drop_base(h);
	recordlog_cut(&h->log, h->bases[0].place.mark);
}

void history_note_time(struct history *h, const struct record *r)
{
	uint64_t t;

	if ((r->kind != RECORD_ROUND && r->kind != RECORD_TICK) || r->len != sizeof(t))
		return;
	memcpy(&t, r->data, sizeof(t));
	if (t > h->stream_ns)
		h->stream_ns = t;
	if (r->kind == RECORD_TICK) {
		h->tick_ns = t;
		h->after_tick = h->log.end;
	}
}

static struct history_out *new_out(struct history *h)
{
	struct history_out *o = h->free;

	if (o)
		h->free = o->next;
	else
		o = mem_calloc(1, sizeof(*o));
	return o;
}

static void put_out(struct history *h, struct history_out *o)
{
	o->next = h->free;
	h->free = o;
}

static void hand_out(struct history *h, struct history_out *o, struct record *r)
{
	o->number = h->next++;
	o->prev = h->last;
	o->next = NULL;
	if (h->last)
		h->last->next = o;
	else
		h->first = o;
	h->last = o;
	r->owner = o;
}

/*
 * The symbols of the kernel, some megabytes, come before there is a base. The engine has loaded
 * them by then, so packing them would only delay the start.
 */
static bool is_left_out(const struct history *h, const struct record *r)
{
	return r->kind == RECORD_KALLSYMS && !h->n_bases;
}

/* At the end of the log: takes the next record of the inner source, and adds it to the log. */
static int next_live(struct history *h, int timeout_ms, struct history_out *o, struct record *ret,
		     struct error *err)
{
	int r = source_next(h->inner, timeout_ms, ret, err);

	if (r)
		return r;
	o->inner = *ret;
	o->chunk = NULL;
	/* Without memory the record still passes, but the window is lost. */
	if (is_left_out(h, ret) || recordlog_append(&h->log, ret)) {
		recordlog_skip(&h->log);
		h->whole_from = h->log.end;
		forget(h);
	}
	history_note_time(h, ret);
	hand_out(h, o, ret);
	while (h->n_bases > 1 && h->log.bytes > h->options.bytes)
		advance(h);
	if (h->log.bytes > h->options.bytes)
		forget(h);
	return 0;
}

static int next_logged(struct history *h, struct history_out *o, struct record *ret,
		       struct error *err)
{
	int r = recordlog_read(&h->log, h->next, ret, &o->chunk);

	if (r)
		return error_errno(err, r, "Cannot read the last minutes of the session again");
	hand_out(h, o, ret);
	return 0;
}

/* Reports the loss. Without memory, it is reported at the next call. */
static void report_lost(struct history *h)
{
	const struct record r = {.kind = RECORD_DROP, .data = &h->lost, .len = sizeof(h->lost)};

	if (!recordlog_append(&h->log, &r))
		h->lost = (struct record_drop){0};
}

static int history_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct history *h = history_of(s);
	struct history_out *o;
	int r;

	if (!h->is_frozen && h->lost.records)
		report_lost(h);
	uint64_t end = h->is_frozen ? h->limit : h->log.end;
	if (h->is_frozen && h->next == end)
		return SOURCE_END;
	o = new_out(h);
	if (!o)
		return error_enomem(err, "the next record");
	if (h->next < end)
		r = next_logged(h, o, ret, err);
	else
		r = next_live(h, timeout_ms, o, ret, err);
	if (r)
		put_out(h, o);
	return r;
}

static void history_release(struct source *s, struct record *r)
{
	struct history *h = history_of(s);
	struct history_out *o = r->owner;

	if (!o)
		return;
	r->owner = NULL;
	*(o->prev ? &o->prev->next : &h->first) = o->next;
	*(o->next ? &o->next->prev : &h->last) = o->prev;
	if (o->chunk)
		recordlog_release(&h->log, o->chunk);
	else
		source_release(h->inner, &o->inner);
	put_out(h, o);
}

static int history_seek(struct source *s, uint64_t mark, struct error *err)
{
	struct history *h = history_of(s);

	if (h->first || mark < recordlog_first(&h->log) || mark > h->log.end)
		return error_set(err, -EINVAL, "Cannot go back that far: the history begins later");
	h->next = mark;
	return 0;
}

static int history_fd(struct source *s)
{
	struct history *h = history_of(s);

	return h->is_frozen || h->next == h->log.end ? source_fd(h->inner) : -1;
}

/* In a pause the interval of ticks stays. */
static void history_set_tick(struct source *s, uint64_t tick_ns)
{
	struct history *h = history_of(s);

	if (!h->is_frozen)
		source_set_tick(h->inner, tick_ns);
}

static void history_free(struct source *s)
{
	struct history *h = history_of(s);

	while (h->n_bases)
		drop_base(h);
	if (h->is_away)
		model_deinit(&h->now);
	while (h->free) {
		struct history_out *next = h->free->next;
		mem_free(h->free);
		h->free = next;
	}
	recordlog_deinit(&h->log);
	engine_pack_deinit(&h->pack);
	source_free(h->inner);
	mem_free(h);
}

static const struct source_ops history_ops = {
	.next = history_next,
	.release = history_release,
	.fd = history_fd,
	.set_tick = history_set_tick,
	.mark = history_mark,
	.seek = history_seek,
	.free = history_free,
};

int history_new(struct source **ret, struct source *inner, const struct history_options *o,
		struct error *err)
{
	struct history *h = mem_calloc(1, sizeof(*h));

	if (!h || recordlog_init(&h->log)) {
		mem_free(h);
		return error_enomem(err, "the last minutes");
	}
	if (engine_pack_init(&h->pack)) {
		recordlog_deinit(&h->log);
		mem_free(h);
		return error_enomem(err, "the last minutes");
	}
	h->source.ops = &history_ops;
	h->inner = inner;
	if (o)
		h->options = *o;
	if (!h->options.bytes)
		h->options.bytes = DEFAULT_BYTES;
	if (!h->options.model_bytes)
		h->options.model_bytes = DEFAULT_MODEL_BYTES;
	if (!h->options.span_ns)
		h->options.span_ns = DEFAULT_SPAN_NS;
	*ret = &h->source;
	return 0;
}

void history_stat(struct source *s, struct history_stat *ret)
{
	const struct history *h = history_of(s);

	*ret = (struct history_stat){
		.begin_ns = h->n_bases ? h->bases[0].place.time_ns : 0,
		.bytes = h->log.bytes,
		.model_bytes = h->model_bytes,
		.raw_bytes = h->log.raw_bytes,
		.lost_records = h->lost_records,
	};
}

/* The limit of bases: as many as fit into the memory for models, but at least two. */
static size_t most_bases(const struct history *h, size_t bytes)
{
	size_t n = h->options.model_bytes / (bytes + 1);

	return n < 2 ? 2 : n > HISTORY_BASES ? HISTORY_BASES : n;
}

void history_note(struct source *s, const struct engine *e)
{
	struct history *h = history_of(s);
	const struct history_base *last = h->n_bases ? &h->bases[h->n_bases - 1] : NULL;
	struct history_base b = {.place = e->place, .at = h->log.bytes_ever};

	/* A second tick at the same time could not be distinguished from the first. */
	if (h->is_frozen || e->place.time_ns <= h->noted_ns || e->place.mark < h->whole_from)
		return;
	h->noted_ns = e->place.time_ns;
	/* Models grow slowly: the size of the last one is a good guess. */
	size_t most = most_bases(h, last ? last->model.bytes : model_bytes(e->model));
	if (last && b.at - last->at < h->options.bytes / most &&
	    b.place.time_ns - last->place.time_ns < h->options.span_ns / most)
		return;
	if (engine_packed_make(&b.model, e->model, &h->pack))
		return;
	while (h->n_bases >= most)
		advance(h);
	h->model_bytes += b.model.bytes;
	h->bases[h->n_bases++] = b;
	while (h->n_bases > 1 && (h->log.bytes > h->options.bytes ||
				  b.place.time_ns - h->bases[1].place.time_ns > h->options.span_ns))
		advance(h);
	if (h->n_bases == 1)
		recordlog_cut(&h->log, h->bases[0].place.mark);
	/* Packing has left room between what stays. */
	mem_trim();
}
