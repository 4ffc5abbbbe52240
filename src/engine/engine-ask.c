// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to the lock snapshots: the contended locks, for their queues; then locks without a name,
 * as far as there is room; and the mmap_locks that events report. If there are more locks without a
 * name, each request has other ones, so that each lock has its turn. A lock without waiters may
 * have been freed, and its memory may be anything: only its name is requested. For threads whose
 * waits may have ended unseen, the request asks whether they exist. A recording has its names by
 * such requests of an engine that sees a part of the stream (resolve-thread.c): of names alone.
 */
#include "engine-int.h"
#include "kontend/filelock.h"
#include "kontend/lock-requests.h"
#include "kontend/lock.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/mmlock.h"
#include "kontend/shorts.h"
#include "kontend/task.h"
#include "kontend/vmalock.h"
#include "kontend/wait.h"

static uint32_t queue_type(enum lock_type type)
{
	switch (type) {
	case LOCK_MUTEX:
		return LOCKSNAP_MUTEX;
	case LOCK_RWSEM_R:
	case LOCK_RWSEM_W:
		return LOCKSNAP_RWSEM;
	case LOCK_SEMAPHORE:
		return LOCKSNAP_SEM;
	case LOCK_RT_MUTEX:
		return LOCKSNAP_RT;
	default:
		return LOCKSNAP_TYPES;
	}
}

struct asking {
	struct lock_request_lock locks[LOCKASK_MOST];
	size_t n;
};

static void add_lock(struct asking *a, const struct model *m, uint64_t addr, uint32_t type)
{
	if (a->n < LOCKASK_MOST && addr && addr != SHORTS_LOCK && !filelock_is(addr) &&
	    !vmalock_is(addr))
		a->locks[a->n++] =
			(struct lock_request_lock){addr, type, lockname_life(m->lock_names, addr)};
}

/* mmap_locks that tasks took without waiting: the table of locks does not have them. */
static void add_mms(struct asking *a, const struct model *m)
{
	const struct mmlocks *l = m->mmlocks;

	for (size_t i = 1; l->lock_offset && i < l->n; i++) {
		uint64_t addr = l->mms[i].mm + l->lock_offset;
		if (!l->mms[i].over && !lockname_at(m->lock_names, addr, m->now_ns))
			add_lock(a, m, addr, LOCKSNAP_TYPES);
	}
}

static void ask_threads(const struct engine *e)
{
	const struct model *m = e->model;
	int32_t threads[LOCKASK_THREADS];
	size_t n = 0;

	for (uint32_t i = 1; i < m->waits->high && n < LOCKASK_THREADS; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used && w->doubtful && w->task != TASK_OTHER)
			threads[n++] = m->tasks->tasks[w->task].tid;
	}
	lock_request_set_threads(e->lock_requests, threads, n);
}

void engine_ask(struct engine *e)
{
	const struct model *m = e->model;
	const struct lock *locks = m->locks->locks;
	struct asking a = {.n = 0};

	for (size_t i = 0; !e->asks_names && i < m->locks->n; i++)
		if (locks[i].waiting)
			add_lock(&a, m, locks[i].addr, queue_type((enum lock_type)locks[i].type));
	size_t waited_for = a.n;
	for (size_t k = 0; k < m->locks->n && a.n < LOCKASK_MOST; k++) {
		size_t i = (e->asked + k) % m->locks->n;
		if ((e->asks_names || !locks[i].waiting) && !locks[i].over &&
		    !lockname_at(m->lock_names, locks[i].addr, locks[i].begin_ns))
			add_lock(&a, m, locks[i].addr, LOCKSNAP_TYPES);
		if (a.n == LOCKASK_MOST && a.n > waited_for)
			e->asked = i + 1;
	}
	add_mms(&a, m);
	lock_request_set(e->lock_requests, a.locks, a.n);
	if (!e->asks_names)
		ask_threads(e);
}
