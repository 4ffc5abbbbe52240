// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prefetches memory for the next events. The tables of a large model are in no cache, and one event
 * needs four or five lines of them, each found by the one before. So lines are prefetched some
 * events ahead, in three steps: lines found by the event alone; those that these lead to; and
 * those that all of them lead to. For a small model only lines that another core has written are
 * prefetched: events and their chains. No result depends on it.
 */
#include "internal.h"
#include "kontend/cell.h"
#include "kontend/event.h"
#include "kontend/hash.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/map64.h"
#include "kontend/model-cpu.h"
#include "kontend/prefetch.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "wait-chain.h"

enum { UNSEEN = 24, FIRST = 16, SECOND = 10, THIRD = 5 };
enum { SMALL = 65536 }; /* entries of a table */

static void expect_index(const struct map64 *m, uint64_t key)
{
	if (m->slots)
		__builtin_prefetch(&m->slots[hash_u64(key) & m->mask]);
}

static uint64_t key_of(const struct event *ev)
{
	return lock_key(ev->begin.lock, locktype_from_flags(ev->begin.flags));
}

static void expect_first(const struct model *m, const struct event *ev)
{
	expect_index(&m->tasks->by_tid, (uint32_t)ev->tid);
	if (ev->cpu < m->n_cpus)
		__builtin_prefetch(&m->cpus[ev->cpu], 1);
	if (ev->kind == EVENT_CONTENTION_END)
		return;
	expect_index(&m->locks->index, key_of(ev));
	prefetch_record(ev->begin.frames);
}

static const struct task *task_of(const struct model *m, const struct event *ev)
{
	const uint32_t *t = map64_get(&m->tasks->by_tid, (uint32_t)ev->tid);

	return &m->tasks->tasks[t ? *t : TASK_OTHER];
}

static const struct lock *lock_of(const struct model *m, const struct event *ev)
{
	const uint32_t *l = map64_get(&m->locks->index, key_of(ev));

	return &m->locks->locks[l ? *l : 0];
}

static void expect_second(const struct model *m, const struct event *ev)
{
	prefetch_record(task_of(m, ev));
	if (ev->kind == EVENT_CONTENTION_END)
		return;
	prefetch_record(lock_of(m, ev));
}

/* The cell of the innermost wait of the task. */
static void expect_end(const struct model *m, const struct task *t)
{
	const struct wait *w = t->depth ? &m->waits->waits[t->waits[t->depth - 1]] : NULL;

	if (w && w->cell < m->cells->n)
		__builtin_prefetch(&m->cells->cells[w->cell], 1);
}

static void expect_third(struct model *m, const struct event *ev)
{
	const struct task *t = task_of(m, ev);

	if (ev->kind == EVENT_CONTENTION_END) {
		expect_end(m, t);
		return;
	}
	cell_expect(m->cells,
		    (struct cell_key){.lock = (uint32_t)(lock_of(m, ev) - m->locks->locks),
				      .stack = wait_chain_expect(m, ev),
				      .task = (uint32_t)(t - m->tasks->tasks),
				      .cpu = (uint16_t)ev->cpu});
}

/* The wait that the event at @i begins or ends; NULL: none does. */
static const struct event *wait_at(const struct event *events, size_t i, size_t n)
{
	bool is = i < n && (events[i].kind == EVENT_CONTENTION_BEGIN ||
			    events[i].kind == EVENT_CONTENTION_END);

	return is ? &events[i] : NULL;
}

/* Its tables are in a core's caches anyway; prefetching them took a third of the time. */
static bool is_small(const struct model *m)
{
	return m->cells->n < SMALL && m->tasks->n < SMALL;
}

void model_expect(struct model *m, const struct event *events, size_t i, size_t n)
{
	const struct event *first = wait_at(events, i + FIRST, n);
	const struct event *second = wait_at(events, i + SECOND, n);
	const struct event *third = wait_at(events, i + THIRD, n);

	if (i + UNSEEN < n)
		prefetch_record(&events[i + UNSEEN]);
	if (is_small(m)) {
		if (first && first->kind == EVENT_CONTENTION_BEGIN)
			prefetch_record(first->begin.frames);
		return;
	}
	if (first)
		expect_first(m, first);
	if (second)
		expect_second(m, second);
	if (third)
		expect_third(m, third);
}
