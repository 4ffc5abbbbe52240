// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stolen locks: a task takes a lock without waiting while others wait for it. The kernel reports no
 * such acquisition, but each task that begins to wait reads the lock's own word. Where one report
 * names another holder than the one before, the new holder took the lock between the two. It stole
 * it if it did not get it by a wait, and if a wait in progress had begun by the first report.
 *
 * The number is a lower bound. Between two reports more tasks may take the lock, and the same one
 * again. Only reports of events count, as a look at all locks takes a while and says no exact time;
 * only sleeping locks whose word names the holder; and only while no record is missing and all
 * tasks are measured, as else a task may have waited unseen. Where short waits are only summed up,
 * the oldest wait must be older than any that may be missing.
 *
 * Of readers the word names the one that took the lock last. Such a one passes over writers alone,
 * and the end of its wait says nothing of the word: other readers may have come since.
 */
#include "internal.h"
#include "kontend/cell-owner.h"
#include "kontend/holder.h"
#include "kontend/lock.h"
#include "kontend/lockqueue.h"
#include "kontend/locktype.h"
#include "kontend/map64.h"
#include "kontend/shorts.h"
#include "kontend/shortsnap.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "lockqueue-int.h"

enum { LOOKED_AT_MOST = 32 }; /* waits, to find a writer */

bool lockqueue_names_holder(enum lock_type type)
{
	return type == LOCK_MUTEX || type == LOCK_RWSEM_R || type == LOCK_RWSEM_W ||
	       type == LOCK_RT_MUTEX;
}

/* The oldest wait, or the oldest one of a writer; NULL: none, or it is too far away. */
static const struct wait *oldest(const struct model *m, struct lockqueue *q, bool writer)
{
	uint32_t n = 0;

	while (q->first < q->end && !q->places[q->first].wait)
		q->first++;
	for (uint32_t at = q->first; at < q->end && n < LOOKED_AT_MOST; at++) {
		const struct wait *w = &m->waits->waits[q->places[at].wait];
		n++;
		if (q->places[at].wait &&
		    !(writer && locktype_is_reader(m->locks->locks[w->lock].type)))
			return w;
	}
	return NULL;
}

bool lockqueue_sees_stealing(const struct model *m)
{
	return m->holders_reported && !m->no_ends && looks_of_all(m) &&
	       !m->shorts->head.spent_ns[SHORTSNAP_COUNTS];
}

/* Has @task taken the lock since the report before, ahead of one that waited then? */
static bool steals(const struct model *m, struct lockqueue *q, uint64_t addr, uint32_t task,
		   bool reads)
{
	const struct wait *w;

	if (!q->seen_ns || q->seen == task || q->seen_ns < m->lost_until || (reads && q->let_in))
		return false;
	w = oldest(m, q, reads);
	return w && w->begin_ns + m->shorts->head.most_ns <= q->seen_ns &&
	       !holder_wait_at(m, task, addr) && lockqueue_sees_stealing(m);
}

void lockqueue_seen(struct model *m, uint32_t lock, uint32_t owner, uint64_t ns)
{
	const struct lock *l = &m->locks->locks[lock];
	struct lockqueue *q = l->queue ? &m->queues->v[l->queue] : NULL;
	uint32_t task = cell_owner_task(owner);

	if (!q || ns < q->seen_ns || !lockqueue_names_holder((enum lock_type)l->type))
		return;
	if (!task && !cell_owner_is_free(owner)) { /* a task that has no place here */
		q->seen_ns = 0;
		return;
	}
	if (task && steals(m, q, l->addr, task, owner & OWNER_HINT))
		q->cur.stolen++;
	q->seen = task;
	q->seen_ns = ns;
	q->let_in = false;
}

void lockqueue_seen_got(const struct model *m, struct lockqueue *q, const struct wait *w,
			uint64_t ns)
{
	if (locktype_is_reader(m->locks->locks[w->lock].type)) {
		q->let_in = true;
		return;
	}
	q->seen = w->task;
	q->seen_ns = w->task == TASK_OTHER ? 0 : ns;
	q->let_in = false;
}

void lockqueue_seen_unreported(struct model *m, uint64_t addr)
{
	for (int type = 0; type < LOCK_TYPES; type++) {
		const uint32_t *at = map64_get(&m->locks->index, lock_key(addr, type));
		if (at && m->locks->locks[*at].queue)
			m->queues->v[m->locks->locks[*at].queue].seen_ns = 0;
	}
}
