// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a snapshot of the results of the programs. A lock has one name: a process or a file is the
 * best, then the per-CPU variable, then the slab cache that contains the lock.
 */
#include "fields.h"
#include "internal.h"
#include "kontend/target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WRITER_LOCKED = 1, READER_SHIFT = 8, READER_OWNED = 1 };

/* Many processes have the same path, so the snapshot has it once. */
static uint32_t add_memcg(const struct snapshot_locks_raw *raw, struct locksnap *s,
			  const struct raw_lock_name *r)
{
	struct memcg_cache *c = raw->memcgs;
	const char *path = memcg_path(c, raw->proc, r->addr, r->pid, r->tid);
	const uint32_t *known = map64_get(&c->offsets, (uintptr_t)path);

	if (known)
		return *known;
	uint32_t offset = locksnap_add_text(s, path);
	/* Out of memory: the snapshot has it twice. */
	(void)map64_put(&c->offsets, (uintptr_t)path, offset);
	return offset;
}

static int fill_names(const struct snapshot_locks_raw *raw, struct locksnap *s)
{
	for (uint32_t i = 0; i < raw->state->n_names && i < RAW_LOCK_NAMES; i++) {
		const struct raw_lock_name *r = &raw->names[i];
		struct locksnap_name n = {
			.addr = r->addr, .kind = r->kind, .cpu = -1, .pid = r->pid};
		n.comm = snapshot_locks_add_text(s, r->comm, sizeof(r->comm));
		if (r->fd >= 0)
			n.text = snapshot_locks_add_path(s, raw->proc, r->tid, r->fd);
		else if (r->kind == LOCKSNAP_MMAP)
			n.text = add_memcg(raw, s, r);
		if (r->kind == LOCKSNAP_MMAP)
			n.since_ns = r->since_ns;
		n.ino = r->file.ino;
		n.generation = r->file.generation;
		n.dev = r->file.dev;
		if (locksnap_add_name(s, &n) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Is it in the per-CPU section of some CPU? */
static bool name_percpu(const struct snapshot_locks_raw *raw, struct locksnap *s,
			struct locksnap_name *n)
{
	for (int cpu = 0; cpu < RAW_LOCK_CPUS; cpu++) {
		if (!raw->bases[cpu] || n->addr < raw->bases[cpu])
			continue;
		uint64_t offset = n->addr - raw->bases[cpu];
		const struct percpu_var *v = percpu_find(raw->percpu, offset);
		if (!v)
			continue;
		n->kind = LOCKSNAP_PERCPU;
		n->cpu = cpu;
		n->offset = (uint32_t)(offset - v->offset);
		n->text = locksnap_add_text(s, v->name);
		return true;
	}
	return false;
}

static void name_map(struct locksnap *s, const struct raw_lock *l, struct locksnap_name *n)
{
	n->kind = LOCKSNAP_BPF_MAP;
	n->offset = l->map_id;
	n->start = l->map_bucket;
	n->text = snapshot_locks_add_text(s, l->map_name, sizeof(l->map_name));
}

/* "filp", and "~pid" if others were merged into the cache of that name. */
static uint32_t add_slab(struct locksnap *s, const struct raw_lock *l)
{
	char text[sizeof(l->slab) + 2];

	snprintf(text, sizeof(text), "%s%.*s", l->merged ? LOCKSNAP_MERGED : "",
		 (int)sizeof(l->slab), l->slab);
	return locksnap_add_text(s, text);
}

/* Which lock it is in an object of that cache, or the cache alone. */
static struct locksnap_name name_in_slab(const struct snapshot_locks_raw *raw, struct locksnap *s,
					 const struct raw_lock *l)
{
	struct locksnap_name n = {.addr = l->addr, .kind = LOCKSNAP_SLAB, .cpu = -1};

	if (!raw->fields || !fields_by_cache(raw->fields, l, s, &n))
		n.text = add_slab(s, l);
	return n;
}

static int fill_other_names(const struct snapshot_locks_raw *raw, struct locksnap *s)
{
	for (uint32_t i = 0; i < raw->state->n_locks && i < RAW_LOCKS; i++) {
		const struct raw_lock *l = &raw->locks[i];
		struct locksnap_name n = {.addr = l->addr, .kind = LOCKSNAP_SLAB, .cpu = -1};
		if (l->named)
			continue;
		if (l->map_id)
			name_map(s, l, &n);
		else if (!name_percpu(raw, s, &n) && l->slab[0])
			n = name_in_slab(raw, s, l);
		else if (n.kind == LOCKSNAP_SLAB)
			continue;
		if (locksnap_add_name(s, &n) < 0)
			return -ENOMEM;
	}
	return 0;
}

uint32_t snapshot_locks_readers(const struct raw_lock *l)
{
	int64_t readers = (int64_t)l->count >> READER_SHIFT;

	return l->type == RAW_RWSEM && !(l->count & WRITER_LOCKED) && readers > 0
		       ? (uint32_t)readers
		       : 0;
}

static void say_holder(const struct raw_lock *l, struct locksnap_queue *q)
{
	q->readers = snapshot_locks_readers(l);
	if (l->type == RAW_MUTEX || l->type == RAW_RT)
		q->certainty = l->owner & ~7ull ? LOCKSNAP_SURE : LOCKSNAP_NOBODY;
	else if (l->type == RAW_SEM)
		q->certainty = l->owner ? LOCKSNAP_HINT : LOCKSNAP_NOBODY;
	else if (l->count & WRITER_LOCKED)
		q->certainty = l->owner & READER_OWNED ? LOCKSNAP_NOBODY : LOCKSNAP_SURE;
	else if (q->readers)
		q->certainty = LOCKSNAP_HINT;
}

static enum locksnap_state state_of(const struct raw_lock_task *t)
{
	if (t->on_cpu)
		return LOCKSNAP_RUNNING;
	return t->on_rq || !t->state ? LOCKSNAP_RUNNABLE : LOCKSNAP_ASLEEP;
}

/* The data of a task; NULL: none. */
static const struct raw_lock_task *task_at(const struct snapshot_locks_raw *raw, uint32_t at)
{
	if (!at || at > raw->state->n_tasks || at > RAW_LOCK_TASKS || !raw->tasks[at - 1].seen)
		return NULL;
	return &raw->tasks[at - 1];
}

static int add_frames(const struct raw_lock_task *t, struct locksnap *s, uint32_t *ret_first,
		      uint32_t *ret_n)
{
	const int size = sizeof(t->frames[0]);
	int code = 0;

	*ret_first = (uint32_t)s->n_frames;
	for (int i = 0; code == 0 && i < RAW_LOCK_FRAMES && (i + 1) * size <= t->bytes; i++) {
		const uint64_t addr = t->frames[i];
		code = addr ? locksnap_add_frame(s, &addr) : 0;
	}
	*ret_n = (uint32_t)s->n_frames - *ret_first;
	return code;
}

int snapshot_locks_fill_does(const struct snapshot_locks_raw *raw, uint32_t task,
			     struct locksnap *s, struct locksnap_queue *q)
{
	const struct raw_lock_task *t = task_at(raw, task);

	if (!t)
		return 0;
	q->holder_state = state_of(t);
	q->holder_cpu = t->cpu;
	if (q->holder_state == LOCKSNAP_ASLEEP &&
	    snapshot_locks_fill_call(raw, &t->call, q->holder_tid, s) < 0)
		return -ENOMEM;
	/* A holder of the kernel's mutexes may be here for a message of netlink. */
	if (q->type == LOCKSNAP_MUTEX &&
	    snapshot_locks_fill_message(raw->left, &t->call, q->holder_tid, s) < 0)
		return -ENOMEM;
	return add_frames(t, s, &q->holder_frame, &q->holder_n_frames);
}

static int fill_holder(const struct snapshot_locks_raw *raw, const struct raw_lock *l,
		       struct locksnap *s, struct locksnap_queue *q)
{
	say_holder(l, q);
	if (q->certainty == LOCKSNAP_NOBODY)
		return 0;
	q->holder_pid = l->holder_pid;
	q->holder_tid = l->holder_tid;
	q->holder_comm = snapshot_locks_add_text(s, l->holder_comm, sizeof(l->holder_comm));
	return snapshot_locks_fill_does(raw, l->holder_task, s, q);
}

static int fill_waiter(const struct snapshot_locks_raw *raw, const struct raw_lock_waiter *r,
		       uint32_t position, struct locksnap *s)
{
	const struct raw_lock_task *t = task_at(raw, r->task);
	struct locksnap_waiter w = {.queue = (uint32_t)s->n_queues,
				    .position = position,
				    .pid = r->pid,
				    .tid = r->tid,
				    .reader = r->reader};

	if (r->ran && raw->ran_known)
		w.ran_ns = r->ran - (uint64_t)raw->ahead_ns;
	w.cpu = (uint32_t)(r->cpu + 1);
	w.measured = !raw->target || target_has(raw->target, r->pid, r->tid, r->in_cgroup, r->cpu);
	w.comm = snapshot_locks_add_text(s, r->comm, sizeof(r->comm));
	int code = t ? add_frames(t, s, &w.frame, &w.n_frames) : 0;
	if (t)
		w.on = calls_on(s, &t->call, raw->proc, r->tid, &w.on_kind);
	return code < 0 ? code : locksnap_add_waiter(s, &w);
}

static int fill_queue(const struct snapshot_locks_raw *raw, const struct raw_lock *l,
		      struct locksnap *s)
{
	static const uint32_t types[] = {LOCKSNAP_MUTEX, LOCKSNAP_RWSEM, LOCKSNAP_SEM, LOCKSNAP_RT};
	struct locksnap_queue q = {.addr = l->addr, .type = types[l->type]};

	if (fill_holder(raw, l, s, &q) < 0)
		return -ENOMEM;
	q.incomplete = l->torn;
	for (uint32_t i = 0; i < l->waiters && l->first + i < RAW_LOCK_WAITERS; i++) {
		const struct raw_lock_waiter *r = &raw->waiters[l->first + i];
		if (fill_waiter(raw, r, i + 1, s) < 0)
			return -ENOMEM;
		*(r->reader ? &q.readers_waiting : &q.writers_waiting) += 1;
	}
	if (snapshot_locks_fill_readers(raw, l, s, &q) < 0)
		return -ENOMEM;
	return locksnap_add_queue(s, &q);
}

static int fill_queues(const struct snapshot_locks_raw *raw, struct locksnap *s)
{
	int code = 0;

	for (uint32_t i = 0; code == 0 && i < raw->state->n_locks && i < RAW_LOCKS; i++) {
		const struct raw_lock *l = &raw->locks[i];
		if (l->type >= RAW_NO_QUEUE)
			continue;
		if (l->waiters)
			code = fill_queue(raw, l, s);
		else if (!l->torn)
			code = locksnap_add_empty(s, l->addr);
	}
	return code;
}

/* A recorder needs no names: the recording has the data from which to find them. */
static int fill_percpu(const struct snapshot_locks_raw *raw, struct locksnap *s)
{
	int code = 0;

	for (int cpu = 0; code == 0 && cpu < RAW_LOCK_CPUS; cpu++) {
		const struct locksnap_area a = {.base = raw->bases[cpu], .cpu = cpu};
		code = a.base ? locksnap_add_area(s, &a) : 0;
	}
	for (size_t i = 0; code == 0 && s->n_areas && i < raw->percpu->n; i++) {
		const struct percpu_var *p = &raw->percpu->vars[i];
		struct locksnap_var v = {.offset = (uint32_t)p->offset, .size = (uint32_t)p->size};
		v.name = locksnap_add_text(s, p->name);
		code = locksnap_add_var(s, &v);
	}
	return code;
}

int snapshot_locks_fill(const struct snapshot_locks_raw *raw, struct locksnap *ret)
{
	map64_clear(&raw->memcgs->offsets);
	int code = fill_names(raw, ret);

	if (code == 0 && raw->fields)
		code = fields_put(raw->fields, ret);
	code = code < 0 ? code : fill_other_names(raw, ret);
	code = code < 0 ? code : fill_queues(raw, ret);
	if (code == 0 && raw->reports_percpu)
		code = fill_percpu(raw, ret);
	ret->head.dropped = raw->state->dropped;
	ret->head.partial = !raw->state->has_blocker;
	ret->head.mmap_offset = raw->state->mmap_offset;
	ret->head.many_tasks = raw->many_tasks;
	if (raw->no_fields)
		ret->head.no_names = locksnap_add_text(ret, raw->no_fields);
	if (raw->no_readers)
		ret->head.no_readers = locksnap_add_text(ret, raw->no_readers);
	return code;
}
