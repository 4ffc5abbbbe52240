/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_H
#define KONTEND_SOURCE_H

#include "kontend/error.h"
#include "kontend/record.h"
#include <stdbool.h>

/* Answers of source_next() besides 0 (a record) and a negative errno (fatal). */
enum {
	SOURCE_IDLE = 1, /* nothing within the timeout */
	SOURCE_END = 2,	 /* nothing more will come */
};

struct source;

struct source_ops {
	int (*next)(struct source *s, int timeout_ms, struct record *ret, struct error *err);
	void (*release)(struct source *s, struct record *r);
	int (*fd)(struct source *s);
	void (*set_tick)(struct source *s, uint64_t tick_ns);
	/* Optional. Of a live source. */
	void (*tick_now)(struct source *s);
	/* Optional. The place of the earliest record not given back yet, and going back to one. */
	uint64_t (*mark)(struct source *s);
	int (*seek)(struct source *s, uint64_t mark, struct error *err);
	/* Optional. The times of the first and the last event. */
	bool (*span)(struct source *s, uint64_t *ret_first, uint64_t *ret_last);
	/* Optional. How many bytes were read, and how many there are (0: not known): for any
	 * thread, while another one reads. */
	void (*progress)(struct source *s, uint64_t *ret_done, uint64_t *ret_all);
	/* Optional. Bytes of memory that records hold which have not been given back. */
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

/* For the thread that reads. 0: the source does not count them. */
static inline uint64_t source_held(struct source *s)
{
	return s->ops->held ? s->ops->held(s) : 0;
}

/* A descriptor that polls readable when source_next(.., 0, ..) would answer; -1: always ready. */
static inline int source_fd(struct source *s)
{
	return s->ops->fd ? s->ops->fd(s) : -1;
}

/* From now on a tick every @tick_ns of session time (live: the display's delay). */
static inline void source_set_tick(struct source *s, uint64_t tick_ns)
{
	if (s->ops->set_tick)
		s->ops->set_tick(s, tick_ns);
}

/*
 * Live: a tick as soon as possible, with all records of a tick; it comes some time after the moment
 * that it is of. Others have nothing to add.
 */
static inline void source_tick_now(struct source *s)
{
	if (s->ops->tick_now)
		s->ops->tick_now(s);
}

/* Can source_seek() be used? */
static inline bool source_can_seek(const struct source *s)
{
	return s->ops->mark && s->ops->seek;
}

/*
 * Where to go back to for everything that has not been given back yet (a tick counts as well), and
 * what follows. It may lie further back than that.
 */
static inline uint64_t source_mark(struct source *s)
{
	return s->ops->mark(s);
}

/*
 * Goes on from a mark; all records must have been given back. HOST, KALLSYMS, ATTR and FORMAT are
 * not emitted again. Ticks and rounds follow as they did the first time.
 */
static inline int source_seek(struct source *s, uint64_t mark, struct error *err)
{
	return s->ops->seek(s, mark, err);
}

/* The times of the first and the last event, where they are known without reading all: or false. */
static inline bool source_span(struct source *s, uint64_t *ret_first, uint64_t *ret_last)
{
	return s->ops->span && s->ops->span(s, ret_first, ret_last);
}

/* How much of it was read, where that is known: or false. */
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
