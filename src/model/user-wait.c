// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for locks of programs. A record reports each sleep in futex(2) when it has ended, with its
 * begin: it is a wait that begins late and ends at once. A snapshot may have shown the same sleep
 * before, as one in flight: then this is its end. A thread that is woken and finds the lock taken
 * sleeps again, which is one more wait.
 *
 * Sleeps that are too short for a record come in sums by lock.
 *
 * A thread that wakes the sleeper by a call of futex(2) has just released the lock. Otherwise a
 * signal, or the end of a time, has ended the sleep without the lock; but where the library of the
 * lock limits each sleep, as that of Python does for the GIL, and the thread sleeps again, that
 * time is a part of its waiting.
 */
#include "internal.h"
#include "kontend/damage.h"
#include "kontend/event.h"
#include "kontend/map64.h"
#include "kontend/model-cpu.h"
#include "kontend/runs.h"
#include "kontend/shorts.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/userlock.h"
#include "kontend/userrec.h"
#include "kontend/usersnap.h"
#include "kontend/wait.h"
#include "kontend/waitrec.h"
#include "user-releases.h"
#include "wait-parts.h"
#include "wait-user.h"

#include <errno.h>
#include <string.h>

/* The wait of this thread that looks have shown, and that @fits; 0: none. */
static uint32_t find_seen(const struct model *m, const struct event *ev,
			  bool (*fits)(const struct wait *w, const struct event *ev))
{
	const uint32_t *t = map64_get(&m->tasks->by_tid, (uint32_t)ev->tid);
	const struct task *task = t ? &m->tasks->tasks[*t] : NULL;

	for (uint32_t i = 0; task && i < task->depth; i++) {
		const struct wait *w = &m->waits->waits[task->waits[i]];
		if (w->by_look && fits(w, ev))
			return task->waits[i];
	}
	return 0;
}

/* In this sleep, or in one before it. */
static bool is_for_same_lock(const struct wait *w, const struct event *ev)
{
	return w->addr == ev->user.lock;
}

/* The scheduler's clock of a snapshot differs a little. */
static bool is_same_sleep(const struct wait *w, const struct event *ev)
{
	return !w->doubtful && !w->no_cpu && w->begin_ns + WAIT_CLOCKS_NS >= ev->user.begin_ns &&
	       w->begin_ns <= ev->user.begin_ns + WAIT_CLOCKS_NS;
}

/* The thread runs, so no sleep of it that looks have shown goes on. */
static bool is_over(const struct wait *w, const struct event *ev)
{
	return userlock_is(w->addr) && w->begin_ns <= ev->time;
}

/*
 * A look has shown this sleep as one for another lock: for the row that locks a transaction, where
 * the event says "a transaction". Or it has shown one before that had no event. Returns since when
 * this sleep has been charged to holders.
 */
static uint64_t forget_other(struct model *m, const struct event *ev)
{
	uint64_t ret = ev->time;
	uint32_t index;

	while ((index = find_seen(m, ev, is_over))) {
		const struct wait *w = &m->waits->waits[index];
		if (is_same_sleep(w, ev))
			ret = w->joined_ns;
		pair_vanished(m, index);
	}
	return ret;
}

static struct event begin_of(const struct event *ev)
{
	struct event begin = {.kind = EVENT_CONTENTION_BEGIN,
			      .time = ev->time,
			      .pid = ev->pid,
			      .tid = ev->tid,
			      .cpu = ev->user.cpu,
			      .cgroup = ev->cgroup};

	begin.begin.lock = ev->user.lock;
	begin.begin.flags =
		userlock_flags((enum userlock_kind)ev->user.kind, ev->user.flags & USERREC_READS);
	begin.begin.since_ns = ev->user.begin_ns;
	begin.begin.user = ev->user.frames;
	begin.begin.n_user = ev->user.n_frames;
	begin.begin.user_is = ev->user.user_is;
	begin.begin.owner = ev->user.owner_tid ? WAITREC_OWNED : WAITREC_NOT_SAID;
	begin.begin.owner_pid = ev->user.owner_pid;
	begin.begin.owner_tid = ev->user.owner_tid;
	return begin;
}

static int end(struct model *m, const struct event *ev)
{
	struct event end = {.kind = EVENT_CONTENTION_END,
			    .time = ev->time,
			    .pid = ev->pid,
			    .tid = ev->tid,
			    .cpu = ev->user.cpu};

	end.end.lock = ev->user.lock;
	end.end.is_lost_known = ev->user.is_lost_known;
	end.end.lost_ns = ev->user.lost_ns;
	end.end.is_par_known = ev->user.is_par_known;
	end.end.par_ns = ev->user.par_ns;
	end.end.ret = ev->user.flags & (USERREC_HANDED | USERREC_RETRIES) ? 0 : -EINTR;
	return pair_end(m, &end);
}

static uint64_t lost_of(const struct usersnap_row *r)
{
	uint64_t ns = waitrec_age_ns(r->lost);

	return ns < r->ns ? ns : r->ns;
}

int user_sums(struct model *m, const struct usersnap *s)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < s->n_rows; i++) {
		const struct usersnap_row *r = &s->rows[i];
		const struct shorts_part part = {.lock = r->lock ? r->lock : SHORTS_LOCK,
						 .type = locktype_from_flags(r->flags),
						 .stack = STACK_OTHER,
						 .n = r->n,
						 .ns = r->ns,
						 .is_lost_known = r->lost != 0,
						 .lost_ns = r->lost ? lost_of(r) : 0};
		if (!locktype_is_user(part.type) || !r->n)
			continue;
		fold_if_full(m);
		code = shorts_add(m, &part);
	}
	return code;
}

/* @until_ns: blame has been charged for it since then, when a look saw it. */
static void charge(struct model *m, uint32_t index, uint64_t until_ns, const struct event *ev)
{
	const struct wait *w = index ? &m->waits->waits[index] : NULL;

	if (w)
		user_release_charge(m, w, ev, until_ns);
	if (ev->user.flags & USERREC_HANDED)
		user_release_note(m, w, ev);
}

int user_wait(struct model *m, const struct event *ev)
{
	int code = 0;

	m->damage->lost += ev->user.missed;
	m->n_events++;
	fold_if_full(m);
	code = lock_lifetime_user(m, ev);
	if (code < 0)
		return code;
	const struct event begin = begin_of(ev);
	uint32_t index = find_seen(m, ev, is_for_same_lock);
	bool is_seen = index && is_same_sleep(&m->waits->waits[index], ev);
	uint64_t until_ns = is_seen ? m->waits->waits[index].joined_ns
			    : index ? ev->time
				    : forget_other(m, ev);
	if (index && !is_seen)
		pair_vanished(m, index);
	if (!is_seen) {
		m->last_wait = 0;
		code = pair_begin(m, &begin);
		index = m->last_wait;
	} else {
		wait_user_begin(m, &m->waits->waits[index], &begin);
	}
	if (code == 0)
		code = task_name(m->tasks, task_get_quickly(m->tasks, ev->pid, ev->tid),
				 ev->user.comm);
	if (code < 0)
		return code;
	charge(m, index, until_ns, ev);
	const struct runs_lock lock = model_waits_for(m, index);
	if (index)
		code = runs_lock(m->runs, ev->tid, ev->user.begin_ns, &lock);
	return code < 0 ? code : end(m, ev);
}
