// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds of locks while other tasks waited. The model reports a hold when another task gets the lock
 * or when the holder releases it, which is before the waits end. So each lock keeps its last holds,
 * and a wait that ends looks up the holds of its lock meanwhile. If a lock has more holds than fit,
 * as when many tasks pass it around, a new one replaces the shortest; long ones stay.
 */
#include "kontend/holds.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/maps.h"
#include "kontend/mem.h"
#include "kontend/query-functions.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/taskid.h"
#include "kontend/text.h"
#include "kontend/wait.h"
#include "trace-int.h"

#include <stdio.h>

/* One key for both modes. A later lock at the same address has an entry of its own. */
static uint64_t key_of(const struct lock *l)
{
	enum lock_type twin = locktype_twin((enum lock_type)l->type);
	enum lock_type type = twin < l->type ? twin : (enum lock_type)l->type;

	return lock_id_is_own(l->id) ? l->id : lock_key(l->addr, type);
}

uint32_t trace_lock(struct tracefile *t, uint32_t lock)
{
	const struct lock *l = &t->engine->model->locks->locks[lock];
	struct trace_links *k = &t->links;
	const uint32_t *known = map64_get(&k->locks, key_of(l));

	if (known)
		return *known;
	if (!l->addr || k->n_locks >= TRACE_LOCKS ||
	    mem_grow(&k->lock_list, &k->cap_locks, k->n_locks, sizeof(*k->lock_list)) < 0 ||
	    map64_put(&k->locks, key_of(l), (uint32_t)k->n_locks + 1) < 0)
		return 0;
	k->lock_list[k->n_locks] =
		(struct trace_lock){.addr = l->addr, .type = (enum lock_type)l->type};
	return (uint32_t)++k->n_locks;
}

static const char *name_of(struct tracefile *t, uint32_t task)
{
	char buf[EVENT_NAMES_TEXT];
	const char *comm = event_names_comm(t->engine, task, buf);

	return comm ? strpool_intern(&t->links.pool, comm) : NULL;
}

/* The current name of the thread group's leader. */
static const char *process_of(struct tracefile *t, const struct task *of)
{
	const uint32_t *leader = map64_get(&t->engine->model->tasks->by_tid, (uint32_t)of->pid);

	return leader ? name_of(t, *leader) : NULL;
}

/* The number of a new thread; 0: there is no room. */
static uint32_t add_thread(struct trace_links *k, const struct task *of)
{
	if (k->n_threads >= TRACE_THREADS ||
	    mem_grow(&k->thread_list, &k->cap_threads, k->n_threads, sizeof(*k->thread_list)) < 0 ||
	    map64_put(&k->threads, of->serial, (uint32_t)k->n_threads + 1) < 0)
		return 0;
	k->thread_list[k->n_threads] =
		(struct trace_thread){.pid = taskid_number(of->pid), .tid = taskid_number(of->tid)};
	return (uint32_t)++k->n_threads;
}

uint32_t trace_thread(struct tracefile *t, uint32_t task)
{
	if (task == TASK_OTHER)
		return 0;
	const struct task *of = &t->engine->model->tasks->tasks[task];
	const uint32_t *known = map64_get(&t->links.threads, of->serial);
	uint32_t number = known ? *known : add_thread(&t->links, of);
	if (!number)
		return 0;
	struct trace_thread *th = trace_thread_at(t, number);
	if (!th->comm)
		th->comm = name_of(t, task);
	if (!th->process)
		th->process = process_of(t, of);
	return number;
}

const char *trace_task(struct tracefile *t, uint32_t thread, char buf[TRACE_TASK])
{
	if (!thread)
		return NULL;
	const struct trace_thread *th = trace_thread_at(t, thread);
	snprintf(buf, TRACE_TASK, "%s/%d", th->comm ? th->comm : "?", th->tid);
	return buf;
}

uint32_t trace_stack(struct tracefile *t, uint32_t stack)
{
	const struct stack_table *of = t->engine->model->stacks;
	struct trace_links *k = &t->links;

	if (stack == STACK_OTHER || stack >= of->n || !of->stacks[stack].n)
		return 0;
	if (k->generation != t->engine->model->generation) {
		map64_clear(&k->stack_numbers);
		k->generation = t->engine->model->generation;
	}
	const uint32_t *known = map64_get(&k->stack_numbers, stack);
	if (known)
		return *known;
	const uint64_t *frames = stack_frames(of, stack);
	uint32_t n = of->stacks[stack].n;
	uint32_t number = wordset_find(&k->stacks, frames, n);
	if (!number && k->stacks.n < TRACE_STACKS)
		number = wordset_get(&k->stacks, frames, n);
	if (number && map64_put(&k->stack_numbers, stack, number) < 0)
		return 0;
	return number;
}

const char *trace_func(struct tracefile *t, uint64_t frame, char buf[EVENT_NAMES_TEXT])
{
	if (!map_frame_is_user(frame))
		return event_names_func(t->engine, frame, buf);
	query_begin(&t->q);
	const char *name = query_functions_name(&t->q, frame);
	return text_clean(buf, EVENT_NAMES_TEXT, name ? name : "?");
}

const char *trace_caller(struct tracefile *t, uint32_t stack, char buf[EVENT_NAMES_TEXT])
{
	const struct wordset *s = &t->links.stacks;

	if (!stack)
		return NULL;
	const uint64_t *frames = wordset_words(s, stack);
	uint32_t n = (uint32_t)s->runs[stack - 1].n;
	if (!map_frame_is_user(frames[0]))
		return event_names_outer(t->engine, frames, n, buf);
	/* Of waits for locks of programs there are no frames of the kernel. */
	query_begin(&t->q);
	return trace_func(t, frames[query_functions_own_frame(&t->q, frames, n)], buf);
}

uint32_t trace_waiting(const struct tracefile *t, const struct wait *w)
{
	const struct lock_table *of = t->engine->model->locks;
	const struct lock *l = &of->locks[w->lock];

	return l->n_sure + (l->twin ? of->locks[l->twin].n_sure : 0);
}

/* The name has the caller of the first wait and never changes: a new name would begin a new
 * track. */
static void name_lock(struct tracefile *t, struct trace_lock *l, const struct wait *w)
{
	char buf[2 * EVENT_NAMES_TEXT];
	const char *object = event_names_object(&t->names, l->addr);
	const char *caller = object ? NULL : event_names_caller(&t->names, w->stack);

	event_names_lock(buf, locktype_base(l->type), object, l->addr, caller);
	l->name = strpool_intern(&t->links.pool, buf);
}

static uint64_t shared_ns(const struct trace_hold *h, const struct trace_wait *w)
{
	uint64_t from = h->got_ns > w->w->begin_ns ? h->got_ns : w->w->begin_ns;
	uint64_t to = h->end_ns < w->end_ns ? h->end_ns : w->end_ns;

	return to > from ? to - from : 0;
}

/* Keeps the list sorted. */
static void add_hold(struct trace_wait *w, struct trace_hold *h)
{
	uint32_t at = w->n_holds++;

	while (at && shared_ns(w->holds[at - 1], w) < shared_ns(h, w)) {
		w->holds[at] = w->holds[at - 1];
		at--;
	}
	w->holds[at] = h;
}

bool trace_link(struct tracefile *t, struct trace_wait *w)
{
	w->lock = trace_lock(t, w->w->lock);
	w->thread = trace_thread(t, w->w->task);
	w->stack = trace_stack(t, w->w->stack);
	if (!w->thread && w->w->task != TASK_OTHER)
		return false;
	struct trace_lock *l = w->lock ? trace_lock_at(t, w->lock) : NULL;
	if (l && !l->name)
		name_lock(t, l, w->w);
	for (uint32_t i = 0; l && i < l->n_holds; i++)
		if (shared_ns(&l->holds[i], w) && l->holds[i].thread != w->thread)
			add_hold(w, &l->holds[i]);
	return true;
}

void trace_linked(struct tracefile *t, const struct trace_wait *w)
{
	struct trace_thread *th = w->thread ? trace_thread_at(t, w->thread) : NULL;

	if (th && !w->waiting)
		th->own[th->n_own++ % TRACE_OWN] =
			(struct trace_own){w->id, w->w->begin_ns, w->end_ns};
}

/* The entry for the next hold: one that ended before the oldest wait began, or the shortest. */
static struct trace_hold *room_for_hold(struct trace_lock *l, uint64_t waits_ns)
{
	struct trace_hold *least = &l->holds[0];

	for (uint32_t i = 0; i < l->n_holds; i++) {
		struct trace_hold *h = &l->holds[i];
		if (h->end_ns <= waits_ns)
			return h;
		if (h->end_ns - h->got_ns < least->end_ns - least->got_ns)
			least = h;
	}
	return l->n_holds < TRACE_HOLDS ? &l->holds[l->n_holds++] : least;
}

void trace_held(struct tracefile *t, const struct hold_reported *reported)
{
	const struct hold *of = reported->hold;
	uint32_t number = trace_lock(t, reported->lock);
	struct trace_lock *l = number ? trace_lock_at(t, number) : NULL;
	const struct lock *m = &t->engine->model->locks->locks[reported->lock];

	if (l && !l->holds)
		l->holds = mem_calloc(TRACE_HOLDS, sizeof(*l->holds));
	if (!l || !l->holds || reported->end_ns < of->got_ns)
		return;
	*room_for_hold(l, m->waits_ns) = (struct trace_hold){
		.id = ++t->links.n_holds,
		.got_ns = of->got_ns,
		.end_ns = reported->end_ns,
		.lock = number,
		.thread = trace_thread(t, of->task),
		.stack = trace_stack(t, of->stack),
		.exact = reported->exact,
	};
}

void trace_links_deinit(struct trace_links *k)
{
	for (size_t i = 0; i < k->n_locks; i++)
		mem_free(k->lock_list[i].holds);
	map64_deinit(&k->locks);
	map64_deinit(&k->threads);
	map64_deinit(&k->stack_numbers);
	wordset_deinit(&k->stacks);
	strpool_deinit(&k->pool);
	mem_free(k->lock_list);
	mem_free(k->thread_list);
}
