// SPDX-License-Identifier: GPL-2.0-only
/*
 * A source around another one that hands out the sums of short waits early. A snapshot of sums
 * comes after the events of the second that it sums up. A part of the stream that ends within that
 * second needs the snapshot at its end. Rounds and ticks let events pass: so each of them waits in
 * a queue, with all records after it, until there is a snapshot of its time or of a later one.
 * Snapshots pass at once, and act at their own time. In a stream without sums nothing waits.
 *
 * The queue holds the records of about a second. It is limited: beyond that, rounds pass without
 * sums.
 */
#include "engine-int.h"
#include "kontend/engine-slices.h"
#include "kontend/mem.h"
#include "kontend/snapshot.h"

#include <errno.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 };
enum { HAND_OUT = 1, NOTHING_YET }; /* answers of read_one() */

struct early {
	struct source source;
	struct source *inner;
	struct record *queue;
	size_t first, end, cap;
	size_t bytes;	  /* bytes in the queue */
	bool any_sums;	  /* there was a snapshot of sums */
	uint64_t sums_ns; /* time of the latest of them */
	int over;	  /* answer that ended the inner source; 0: it has not ended */
	struct error why;
};

static struct early *early_of(struct source *s)
{
	return (struct early *)s;
}

static bool may_pass(const struct early *e, const struct record *r)
{
	uint64_t time;

	if (!e->any_sums || e->over || e->bytes > MOST_BYTES || !merge_until(r, &time))
		return true;
	return time <= e->sums_ns;
}

static int queue_record(struct early *e, struct record *r, struct error *err)
{
	/* Moves at most as many records as were taken since the last time. */
	if (e->first * 2 >= e->end) {
		if (e->first < e->end)
			memmove(e->queue, e->queue + e->first,
				(e->end - e->first) * sizeof(*e->queue));
		e->end -= e->first;
		e->first = 0;
	}
	if (mem_grow(&e->queue, &e->cap, e->end, sizeof(*e->queue))) {
		source_release(e->inner, r);
		return error_enomem(err, "reading ahead to the next sums");
	}
	e->queue[e->end++] = *r;
	e->bytes += r->len;
	return 0;
}

static void take_record(struct early *e, struct record *ret)
{
	*ret = e->queue[e->first++];
	e->bytes -= ret->len;
}

/*
 * Puts the next record of the inner source into the queue, or answers HAND_OUT. 0 also at its end.
 */
static int read_one(struct early *e, int timeout_ms, struct record *ret, struct error *err)
{
	uint64_t time;
	int r = source_next(e->inner, timeout_ms, ret, &e->why);

	if (r == SOURCE_IDLE)
		return NOTHING_YET;
	e->over = r;
	if (r)
		return 0;
	if (snapshot_is_shorts(ret, &time)) {
		e->any_sums = true;
		e->sums_ns = time > e->sums_ns ? time : e->sums_ns;
		return HAND_OUT;
	}
	return e->first == e->end && may_pass(e, ret) ? HAND_OUT : queue_record(e, ret, err);
}

static int early_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct early *e = early_of(s);
	int r = 0;

	while (r == 0) {
		if (e->first < e->end && may_pass(e, &e->queue[e->first])) {
			take_record(e, ret);
			return 0;
		}
		if (e->over < 0)
			return error_set(err, e->over, "%s", e->why.text);
		if (e->over)
			return e->over;
		r = read_one(e, timeout_ms, ret, err);
	}
	return r == HAND_OUT ? 0 : r == NOTHING_YET ? SOURCE_IDLE : r;
}

static void early_release(struct source *s, struct record *r)
{
	source_release(early_of(s)->inner, r);
}

static int early_fd(struct source *s)
{
	return source_fd(early_of(s)->inner);
}

static void early_set_tick(struct source *s, uint64_t tick_ns)
{
	source_set_tick(early_of(s)->inner, tick_ns);
}

static void early_tick_now(struct source *s)
{
	source_tick_now(early_of(s)->inner);
}

static void drop_queue(struct early *e)
{
	struct record r;

	while (e->first < e->end) {
		take_record(e, &r);
		source_release(e->inner, &r);
	}
}

/* Records in the queue have not been released, so the mark precedes them. */
static uint64_t early_mark(struct source *s)
{
	return source_mark(early_of(s)->inner);
}

static int early_seek(struct source *s, uint64_t mark, struct error *err)
{
	struct early *e = early_of(s);

	drop_queue(e);
	e->any_sums = false;
	e->sums_ns = 0;
	e->over = 0;
	e->why = (struct error){0};
	return source_seek(e->inner, mark, err);
}

static bool early_span(struct source *s, uint64_t *ret_first, uint64_t *ret_last)
{
	return source_span(early_of(s)->inner, ret_first, ret_last);
}

static void early_progress(struct source *s, uint64_t *ret_done, uint64_t *ret_all)
{
	*ret_done = *ret_all = 0;
	source_progress(early_of(s)->inner, ret_done, ret_all);
}

static uint64_t early_held(struct source *s)
{
	return source_held(early_of(s)->inner);
}

static void early_free(struct source *s)
{
	struct early *e = early_of(s);

	drop_queue(e);
	source_free(e->inner);
	mem_free(e->queue);
	mem_free(e);
}

/* Operations of a source that can go back. */
static const struct source_ops seeking = {
	.next = early_next,
	.release = early_release,
	.fd = early_fd,
	.set_tick = early_set_tick,
	.tick_now = early_tick_now,
	.mark = early_mark,
	.seek = early_seek,
	.span = early_span,
	.progress = early_progress,
	.held = early_held,
	.free = early_free,
};

static const struct source_ops plain = {
	.next = early_next,
	.release = early_release,
	.fd = early_fd,
	.set_tick = early_set_tick,
	.tick_now = early_tick_now,
	.span = early_span,
	.progress = early_progress,
	.held = early_held,
	.free = early_free,
};

int engine_slices_sums(struct engine *e)
{
	struct early *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->source.ops = source_can_seek(e->source) ? &seeking : &plain;
	s->inner = e->source;
	e->source = &s->source;
	return 0;
}
