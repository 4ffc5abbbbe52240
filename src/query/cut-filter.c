// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events a cut keeps. A wait is judged where it ends, as its length is known only then, and
 * its events are noted by a hash of their fields: time, kind, CPU and lock. A mutex that goes from
 * spinning to sleeping begins more than once; these begins wait with the model's wait until it is
 * judged. The record of a lock's owner follows a begin of the same CPU, and goes with it; that of a
 * release goes with any wait for the lock. Ends of waits that the model does not know belong to no
 * wait that is kept.
 */
#include "kontend/cut-filter.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/wait.h"

#include <errno.h>
#include <string.h>

static uint64_t event_hash(uint64_t time, uint32_t cpu, uint64_t lock, bool is_end)
{
	return hash_add(hash_add(hash_u64(time), lock), (uint64_t)cpu << 1 | is_end);
}

/* A lock of which something is kept: no event is of the time 0. */
static uint64_t lock_hash(uint64_t lock)
{
	return event_hash(0, 0, lock, false);
}

static int note_wait(struct cut_filter *k, uint64_t time, uint32_t cpu, uint64_t lock, bool is_end)
{
	int r = map64_put(&k->events, event_hash(time, cpu, lock, is_end), 1);

	return r < 0 ? r : map64_put(&k->events, lock_hash(lock), 1);
}

/* The entry of the wait at @at; that of an earlier wait is cleared. NULL: no memory. */
static struct cut_filter_wait *wait_of(struct cut_filter *k, uint32_t at, const struct wait *w)
{
	while (k->n_waits <= at) {
		if (mem_grow(&k->waits, &k->cap_waits, k->n_waits, sizeof(*k->waits)) < 0)
			return NULL;
		k->waits[k->n_waits++] = (struct cut_filter_wait){0};
	}
	if (k->waits[at].begin_ns != w->begin_ns)
		k->waits[at] = (struct cut_filter_wait){.begin_ns = w->begin_ns};
	return &k->waits[at];
}

static int begins(struct cut_filter *k, uint32_t at, const struct wait *w, const struct event *ev)
{
	struct cut_filter_wait *kept = wait_of(k, at, w);

	if (!kept)
		return -ENOMEM;
	if (ev->time != w->begin_ns && kept->n < CUT_FILTER_GOES_ON)
		kept->more[kept->n++] = ev->time;
	return 0;
}

/* Keeps the events that this wait began with. */
static int keep_begins(struct cut_filter *k, uint32_t at, const struct wait *w)
{
	struct cut_filter_wait *kept = wait_of(k, at, w);
	int r = kept ? note_wait(k, w->begin_ns, w->cpu, w->addr, false) : -ENOMEM;

	for (unsigned i = 0; r == 0 && i < kept->n; i++)
		r = note_wait(k, kept->more[i], w->cpu, w->addr, false);
	k->n_kept += r == 0;
	return r;
}

static bool passes(struct cut_filter *k, const struct wait *w, uint64_t end_ns)
{
	return wait_part_ns(w, 0, end_ns) >= k->engine->model->min_wait_ns &&
	       (!k->gate || event_filter_passes(k->gate, w));
}

static uint64_t lock_of_end(const struct event *ev)
{
	return ev->kind == EVENT_USER ? ev->user.lock : ev->end.lock;
}

static int take_event(struct engine_watch *watch, const struct event *ev, struct error *err)
{
	struct cut_filter *k = (struct cut_filter *)watch;
	uint32_t at = k->engine->model->last_wait;
	const struct wait *w = &k->engine->model->waits->waits[at];
	int r = 0;

	if (!at)
		return 0;
	if (ev->kind == EVENT_CONTENTION_BEGIN)
		r = begins(k, at, w, ev);
	if (event_ends_wait(ev) && passes(k, w, ev->time)) {
		r = keep_begins(k, at, w);
		r = r < 0 ? r : note_wait(k, ev->time, ev->cpu, lock_of_end(ev), true);
	}
	return r < 0 ? error_enomem(err, "the events to keep") : 0;
}

void cut_filter_init(struct cut_filter *k, struct engine *e, struct event_filter *gate)
{
	*k = (struct cut_filter){.watch.event = take_event, .engine = e, .gate = gate};
	e->watch = &k->watch;
}

int cut_filter_finish(struct cut_filter *k)
{
	const struct model *m = k->engine->model;
	int r = 0;

	for (uint32_t i = 1; r == 0 && i < m->waits->high; i++)
		if (m->waits->waits[i].used && passes(k, &m->waits->waits[i], m->now_ns))
			r = keep_begins(k, i, &m->waits->waits[i]);
	return r;
}

void cut_filter_deinit(struct cut_filter *k)
{
	map64_deinit(&k->events);
	mem_free(k->waits);
	*k = (struct cut_filter){0};
}

bool cut_filter_has(void *keep, const struct event *ev)
{
	struct cut_filter *k = keep;
	bool *with_begin = &k->with_begin[ev->cpu % CUT_FILTER_CPUS];

	switch (ev->kind) {
	case EVENT_CONTENTION_BEGIN:
		*with_begin = map64_get(&k->events, event_hash(ev->time, ev->cpu, ev->begin.lock,
							       false)) != NULL;
		return *with_begin;
	case EVENT_CONTENTION_END:
	case EVENT_USER:
		return map64_get(&k->events,
				 event_hash(ev->time, ev->cpu, lock_of_end(ev), true)) != NULL;
	case EVENT_RELEASE:
		return map64_get(&k->events, lock_hash(ev->release.lock)) != NULL;
	case EVENT_OWNER:
	case EVENT_FRAMES:
		return *with_begin;
	default:
		/* EVENT_HOLDER, too: what a task does is one story, whatever lock it has. */
		return true;
	}
}
