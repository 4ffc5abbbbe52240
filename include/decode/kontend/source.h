/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_H
#define KONTEND_SOURCE_H

#include "kontend/error.h"
#include "kontend/record.h"
#include <stdbool.h>

/* Results of source_next() besides 0 (a record) and a negative errno (fatal). */
enum {
	SOURCE_IDLE = 1, /* nothing within the timeout */
	SOURCE_END = 2,	 /* end of the stream */
};

struct source;

struct source_ops {
	int (*next)(struct source *s, int timeout_ms, struct record *ret, struct error *err);
	void (*release)(struct source *s, struct record *r);
	int (*fd)(struct source *s);
	void (*set_tick)(struct source *s, uint64_t tick_ns);
	/* Optional, for live sources. */
	void (*tick_now)(struct source *s);
	/* Optional. The position of the earliest unreleased record, and returning to it. */
	uint64_t (*mark)(struct source *s);
	int (*seek)(struct source *s, uint64_t mark, struct error *err);
	/* Optional. Times of the first and the last event. */
	bool (*span)(struct source *s, uint64_t *ret_first, uint64_t *ret_last);
	/* Optional. Bytes read, and bytes in all (0: not known): for any thread, while another one
	 * reads. */
	void (*progress)(struct source *s, uint64_t *ret_done, uint64_t *ret_all);
	/* Optional. Bytes of memory in unreleased records. */
	uint64_t (*held)(struct source *s);
	void (*free)(struct source *s);
};

/* First member of every source. */
struct source {
	const struct source_ops *ops;
};

/*
 * The next record, waiting at most @timeout_ms (0: not at all). Its bytes stay valid until
 * source_release(), which every record needs, in any order, before source_free().
 */
static inline int source_next(struct source *s, int timeout_ms, struct record *ret,
			      struct error *err)
{
	return s->ops->next(s, timeout_ms, ret, err);
}

static inline void source_release(struct source *s, struct record *r)
{
	if (s->ops->release)
		s->ops->release(s, r);
}

/* For the reading thread. 0: the source does not count them. */
static inline uint64_t source_held(struct source *s)
{
	return s->ops->held ? s->ops->held(s) : 0;
}

/* A descriptor that polls readable when source_next(.., 0, ..) has a result; -1: always ready. */
static inline int source_fd(struct source *s)
{
	return s->ops->fd ? s->ops->fd(s) : -1;
}

/* From now on one tick every @tick_ns of session time (live: the display's delay). */
static inline void source_set_tick(struct source *s, uint64_t tick_ns)
{
	if (s->ops->set_tick)
		s->ops->set_tick(s, tick_ns);
}

/*
 * Live: a tick as soon as possible, with all records of a tick; it comes some time after the moment
 * it describes. Other sources ignore this.
 */
static inline void source_tick_now(struct source *s)
{
	if (s->ops->tick_now)
		s->ops->tick_now(s);
}

/* True if source_seek() can be used. */
static inline bool source_can_seek(const struct source *s)
{
	return s->ops->mark && s->ops->seek;
}

/*
 * A position from which all unreleased records (ticks, too) and what follows can be read again. It
 * may be further back.
 */
static inline uint64_t source_mark(struct source *s)
{
	return s->ops->mark(s);
}

/*
 * Continues from a mark; all records must have been released. HOST, KALLSYMS, ATTR and FORMAT are
 * not emitted again. Ticks and rounds follow as they did the first time.
 */
static inline int source_seek(struct source *s, uint64_t mark, struct error *err)
{
	return s->ops->seek(s, mark, err);
}

/* Times of the first and the last event; false: not known without reading all. */
static inline bool source_span(struct source *s, uint64_t *ret_first, uint64_t *ret_last)
{
	return s->ops->span && s->ops->span(s, ret_first, ret_last);
}

/* How much of it was read; false: not known. */
static inline bool source_progress(struct source *s, uint64_t *ret_done, uint64_t *ret_all)
{
	if (s->ops->progress)
		s->ops->progress(s, ret_done, ret_all);
	return s->ops->progress != NULL;
}

static inline void source_free(struct source *s)
{
	if (s)
		s->ops->free(s);
}

#endif
