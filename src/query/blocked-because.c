// SPDX-License-Identifier: GPL-2.0-only
/*
 * For what does a blocked task wait? The snapshot has the objects that structures of the kernel
 * name (inspect/locks/because.bpf.c), whatever the cause; the cause decides which of them says it.
 */
#include "blocked-rows.h"
#include "kontend/lock.h"
#include "kontend/locksnap.h"
#include "kontend/locktype.h"
#include "kontend/wait.h"
#include "locks/holder.h"
#include "locks/queues.h"
#include "rows.h"

#include <inttypes.h>
#include <string.h>

static void put_task(struct value *v, int32_t pid, int32_t tid, const char *comm)
{
	value_task(&v[0], pid);
	value_task(&v[1], tid);
	value_s(&v[2], comm);
}

/* "rwsem:W i_rwsem /srv/a of cp/8119 W": the lock, and its holder. */
static const char *because_of_lock(struct blocked_rows *t, const struct wait *w, struct value *v)
{
	struct query *q = t->q;
	const struct lock *l = &q->model->locks->locks[w->lock];
	const char *name = query_lock_name(q, w->lock);
	struct query_holder h;

	const char *text = arena_printf(&q->arena, "%s %s", locktype_name((enum lock_type)l->type),
					name ? name : "-");
	if (!text || !query_holder_of(q, w, false, &h) || !h.tid)
		return text;
	put_task(&v[BLOCKED_BY_PID], h.pid, h.tid, h.comm);
	return arena_printf(&q->arena, "%s of %s", text, h.name);
}

/* The thread that writes the log of a device. */
static const struct locksnap_blocked *log_thread(const struct blocked_rows *t, const char *device)
{
	for (size_t i = 0; *device && i < t->s->n_blocked; i++) {
		const struct locksnap_blocked *b = &t->s->blocked[i];
		const char *comm = locksnap_text(t->s, b->comm);
		if (b->kthread && !strcmp(blocked_device_of(t->q, "", comm, true), device))
			return b;
	}
	return NULL;
}

static const struct locksnap_blocked *blocked_at(const struct blocked_rows *t, int32_t tid)
{
	for (size_t i = 0; i < t->s->n_blocked; i++)
		if (t->s->blocked[i].tid == tid)
			return &t->s->blocked[i];
	return NULL;
}

static const char *because_of_log(struct blocked_rows *t, const struct locksnap_blocked *waiter,
				  struct value *v)
{
	const struct locksnap_blocked *b = log_thread(t, locksnap_text(t->s, waiter->device));
	struct query *q = t->q;

	if (!b || b == waiter)
		return NULL;
	put_task(&v[BLOCKED_BY_PID], b->pid, b->tid, locksnap_text(t->s, b->comm));
	return arena_printf(&q->arena, "%s: %s",
			    query_slash(&q->arena, locksnap_text(t->s, b->comm), b->tid, "-"),
			    blocked_cause_words(blocked_cause_of_task(t, b)));
}

const char *blocked_other_runs(struct query *q, const struct locksnap *s,
			       const struct locksnap_blocked *b)
{
	static const char *const does[LOCKSNAP_STATES] = {
		[LOCKSNAP_RUNNING] = "running",
		[LOCKSNAP_RUNNABLE] = "runnable",
	};
	struct arena *a = &q->arena;
	const char *text = does[b->by_state], *prio;

	if (!text)
		return NULL;
	text = arena_printf(a, "%s on %" PRId32, text, b->by_cpu);
	if (!text || !b->off_tid)
		return text;
	prio = b->off_prio ? arena_printf(a, " (real-time %" PRId32 ")", b->off_prio) : "";
	return arena_printf(a, "%s, kept off by %s%s", text,
			    query_slash(a, locksnap_text(s, b->off_comm), b->off_tid, "-"), prio);
}

/* ", runnable on 1, kept off by spin/99 (real-time 50)"; "" where there is nothing to say. */
static const char *what_it_does(struct blocked_rows *t, const struct locksnap_blocked *b)
{
	const struct locksnap_blocked *itself = blocked_at(t, b->by_tid);
	struct arena *a = &t->q->arena;
	const char *text;

	if (itself)
		return arena_printf(a, ": %s",
				    blocked_cause_words(blocked_cause_of_task(t, itself)));
	text = blocked_other_runs(t->q, t->s, b);
	return text ? arena_printf(a, ", %s", text) : "";
}

static const char *because_of_task(struct blocked_rows *t, const struct locksnap_blocked *b)
{
	const char *is = what_it_does(t, b), *file = locksnap_text(t->s, b->file);
	const char *name =
		query_slash(&t->q->arena, locksnap_text(t->s, b->by_comm), b->by_tid, "-");

	return arena_printf(&t->q->arena, "%s%s%s%s", name, is ? is : "", *file ? ", page of " : "",
			    file);
}

/* The task of the work, if one is known, and the work. */
static const char *because_of_work(struct blocked_rows *t, const struct locksnap_blocked *b)
{
	const char *work = query_func_name(t->q, query_func(t->q, b->function));
	const char *task = b->by_tid ? because_of_task(t, b) : "no worker yet";

	return arena_printf(&t->q->arena, "%s, for %s", task ? task : "-", work ? work : "-");
}

static void fill_task(struct blocked_rows *t, const struct locksnap_blocked *b, struct value *v)
{
	static const char *const states[LOCKSNAP_STATES] = {
		[LOCKSNAP_RUNNING] = "running",
		[LOCKSNAP_RUNNABLE] = "runnable",
		[LOCKSNAP_ASLEEP] = "asleep",
	};

	put_task(&v[BLOCKED_BY_PID], b->by_pid, b->by_tid, locksnap_text(t->s, b->by_comm));
	value_s(&v[BLOCKED_BY_STATE], states[b->by_state]);
	if (b->by_state && b->by_cpu >= 0)
		value_i(&v[BLOCKED_BY_CPU], b->by_cpu);
	if (!b->off_tid)
		return;
	put_task(&v[BLOCKED_OFF_PID], b->off_pid, b->off_tid, locksnap_text(t->s, b->off_comm));
	v[BLOCKED_OFF_PRIO] = (struct value){.i = b->off_prio, .known = b->off_prio != 0};
}

static void fill_objects(struct blocked_rows *t, const struct locksnap_blocked *b, bool limited,
			 struct value *v)
{
	if (b->function)
		value_s(&v[BLOCKED_WORK], query_func_name(t->q, query_func(t->q, b->function)));
	value_s(&v[BLOCKED_QUEUE], b->queue ? locksnap_text(t->s, b->queue) : NULL);
	value_s(&v[BLOCKED_FILE], b->file ? locksnap_text(t->s, b->file) : NULL);
	value_s(&v[BLOCKED_LIMIT], limited ? locksnap_text(t->s, b->limit) : NULL);
	value_s(&v[BLOCKED_SOURCE], b->source ? locksnap_text(t->s, b->source) : NULL);
	if (b->source && !strncmp(locksnap_text(t->s, b->device), "dm-", 3))
		value_u(&v[BLOCKED_SUSPENDED], b->suspended);
}

/* Of these the snapshot has the cgroup that is full, frozen or throttled. */
static bool is_by_cgroup(enum sleep_cause cause)
{
	return cause == SLEEP_MEMCG || cause == SLEEP_FREEZER || cause == SLEEP_FROZEN_CGROUP ||
	       cause == SLEEP_CPU_MAX;
}

static const char *because_of_file(struct blocked_rows *t, const struct locksnap_blocked *b)
{
	const char *file = locksnap_text(t->s, b->file), *device = locksnap_text(t->s, b->device);
	const char *fs = locksnap_text(t->s, b->fs);

	return arena_printf(&t->q->arena, "%s (%s)", file, *device ? device : fs);
}

static const char *text_of(struct blocked_rows *t, const struct locksnap_blocked *b, bool limited,
			   const char *file)
{
	struct arena *a = &t->q->arena;

	if (b->suspended)
		return arena_printf(a, "%s is suspended", locksnap_text(t->s, b->source));
	if (limited)
		return arena_printf(a, "cgroup %s", locksnap_text(t->s, b->limit));
	if (b->function)
		return because_of_work(t, b);
	if (b->by_tid)
		return because_of_task(t, b);
	if (b->file)
		return because_of_file(t, b);
	if (b->source)
		return arena_printf(a, "%s%s%s", file ? file : "", file ? " of " : "",
				    locksnap_text(t->s, b->source));
	return file;
}

const char *blocked_because(struct blocked_rows *t, const struct locksnap_blocked *b,
			    struct value *v)
{
	const enum sleep_cause cause = blocked_cause_of_task(t, b);
	const bool limited = b->limit && is_by_cgroup(cause);
	const struct wait *w = b->by_tid ? NULL : blocked_wait_of(t, b->tid);
	const char *text = NULL;

	fill_objects(t, b, limited, v);
	if (b->by_tid)
		fill_task(t, b, v);
	else if (w)
		text = because_of_lock(t, w, v);
	else if (cause >= SLEEP_JBD2_COMMIT && cause <= SLEEP_JBD2)
		text = because_of_log(t, b, v);
	return text ? text : text_of(t, b, limited, query_queue_about(t->q, b->tid));
}

const char *blocked_call(struct blocked_rows *t, const struct locksnap_blocked *b)
{
	return query_syscall(t->q, t->s->frames + b->frame, b->n_frames);
}
