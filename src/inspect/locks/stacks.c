// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks of tasks that wait for long, and of those that have what others wait for. How often a task
 * has had a CPU says whether it is in the same sleep as before: then its stack is that of the look
 * before, and is not read again.
 *
 * To read the memory of a process takes its mmap_lock, which the kernel gives to a reader after the
 * writers that wait. So the tasks that wait for that very lock are left out. A process that keeps
 * its readers waiting all the same is left alone, as in users.c. After a reading the search rests
 * for twenty times as long as it took.
 */
#include "../runtimes/runtimes.h"
#include "kontend/clock.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/snapshot-stacks.h"
#include "kontend/taskid.h"
#include "stacks-pass.h"
#include "users-class.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MMAP_LOCKS_MOST = 1 << 14,
	REST = 20, /* the share of time is one in so many */
};

/* A task that a look has seen wait. */
struct seen {
	struct stacks_task task;
	bool is_long;	/* it has waited long enough */
	uint32_t stack; /* index + 1 in `found`; 0: not read */
};

struct look {
	struct seen seen[SNAPSHOT_STACKS_MOST];
	size_t n;
	struct map64 by_tid;
	struct locksnap found; /* stacks, calls and texts */
};

struct snapshot_stacks {
	const char *proc;
	bool keep; /* symbols, in files */
	struct runtimes *runtimes;
	struct users_classes *classes; /* NULL: none yet */
	struct left left;
	struct map64 mmap_locks;
	struct look looks[2];
	size_t now; /* which of the looks is the latest */
	uint64_t next_ns;
};

static void look_clear(struct look *l)
{
	l->n = 0;
	map64_clear(&l->by_tid);
	locksnap_clear(&l->found);
}

struct snapshot_stacks *snapshot_stacks_new(const char *proc, bool keep)
{
	struct snapshot_stacks *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->proc = proc;
	s->keep = keep;
	s->runtimes = runtimes_new();
	if (s->runtimes)
		return s;
	mem_free(s);
	return NULL;
}

void snapshot_stacks_free(struct snapshot_stacks *s)
{
	if (!s)
		return;
	left_deinit(&s->left);
	users_classes_unref(s->classes);
	runtimes_unref(s->runtimes);
	map64_deinit(&s->mmap_locks);
	for (struct look *l = s->looks; l < s->looks + 2; l++) {
		map64_deinit(&l->by_tid);
		locksnap_deinit(&l->found);
	}
	mem_free(s);
}

static void pass_free(struct left_work *w)
{
	struct stacks_pass *p = (struct stacks_pass *)w;

	users_classes_unref(p->classes);
	runtimes_unref(p->runtimes);
	locksnap_deinit(&p->found);
	mem_free(p->tasks);
	mem_free(p->registers);
	mem_free(p);
}

/* Names come once in a while only. */
static int learn_mmap_locks(struct snapshot_stacks *s, const struct locksnap *snap)
{
	int code = 0;

	if (s->mmap_locks.count > MMAP_LOCKS_MOST)
		map64_clear(&s->mmap_locks);
	for (size_t i = 0; code == 0 && i < snap->n_names; i++)
		if (snap->names[i].kind == LOCKSNAP_MMAP)
			code = map64_put(&s->mmap_locks, snap->names[i].addr, 1);
	return code;
}

static const struct seen *find_seen(const struct look *l, const struct stacks_task *t)
{
	const uint32_t *at = map64_get(&l->by_tid, (uint32_t)t->tid);
	const struct seen *s = at ? &l->seen[*at] : NULL;

	return s && s->task.pid == t->pid && s->task.runs == t->runs && t->runs ? s : NULL;
}

/* That it was there in the look before says enough where the time is not known. */
static bool is_long(const struct seen *before, uint64_t ran_ns, uint64_t now_ns)
{
	return ran_ns ? now_ns > ran_ns && now_ns - ran_ns >= SNAPSHOT_STACKS_NS : before != NULL;
}

/* @ran_ns: UINT64_MAX: it is read at once. */
static int add_task(struct snapshot_stacks *s, const struct locksnap *snap, int32_t pid,
		    int32_t tid, uint64_t ran_ns)
{
	struct look *to = &s->looks[s->now];
	bool at_once = ran_ns == UINT64_MAX;
	struct seen one = {.task = {.pid = pid, .tid = tid, .ran_ns = at_once ? 0 : ran_ns}};

	if (to->n == SNAPSHOT_STACKS_MOST || pid <= 0 || tid <= 0 || taskid_is_outside(pid) ||
	    map64_get(&to->by_tid, (uint32_t)tid) || left_has(&s->left, pid))
		return 0;
	one.task.runs = stacks_runs(s->proc, pid, tid);
	const struct look *last = &s->looks[!s->now];
	const struct seen *before = find_seen(last, &one.task);
	one.is_long = at_once || is_long(before, ran_ns, snap->head.time_ns);
	if (before && before->stack) {
		const struct locksnap_stack *t = &last->found.stacks[before->stack - 1];
		if (stacks_copy(&last->found, t, &to->found) < 0)
			return -ENOMEM;
		one.stack = (uint32_t)to->found.n_stacks;
	}
	if (map64_put(&to->by_tid, (uint32_t)tid, (uint32_t)to->n) < 0)
		return -ENOMEM;
	to->seen[to->n++] = one;
	return 0;
}

/* That of a mmap_lock may keep its readers out. */
static bool has_place(const struct snapshot_stacks *s, const struct locksnap_queue *q)
{
	return (q->certainty == LOCKSNAP_SURE || q->type >= LOCKSNAP_USER_MUTEX) &&
	       q->certainty != LOCKSNAP_NOBODY && !map64_get(&s->mmap_locks, q->addr);
}

/* A holder may hold its lock for less than tasks have to wait to be looked at. */
static int list_holders(struct snapshot_stacks *s, const struct locksnap *snap)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < snap->n_queues; i++) {
		const struct locksnap_queue *q = &snap->queues[i];
		if (has_place(s, q))
			code = add_task(s, snap, q->holder_pid, q->holder_tid, UINT64_MAX);
	}
	return code;
}

static int list_tasks(struct snapshot_stacks *s, const struct locksnap *snap)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < snap->n_waiters; i++) {
		const struct locksnap_waiter *w = &snap->waiters[i];
		if (w->measured && !map64_get(&s->mmap_locks, snap->queues[w->queue].addr))
			code = add_task(s, snap, w->pid, w->tid, w->ran_ns);
	}
	for (size_t i = 0; code == 0 && i < snap->n_blocked; i++) {
		const struct locksnap_blocked *b = &snap->blocked[i];
		if (!b->kthread && b->state <= LOCKSNAP_BLOCKED_S)
			code = add_task(s, snap, b->pid, b->tid, b->ran_ns);
	}
	return code < 0 ? code : list_holders(s, snap);
}

static int by_process(const void *a, const void *b)
{
	const struct stacks_task *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* It has waited for long, and its stack is not known yet. */
static bool is_wanted(const struct snapshot_stacks *s, const struct seen *t)
{
	return t->is_long && !t->stack && !left_has(&s->left, t->task.pid);
}

static bool wants_any(const struct snapshot_stacks *s)
{
	const struct look *l = &s->looks[s->now];

	for (size_t i = 0; i < l->n; i++)
		if (is_wanted(s, &l->seen[i]))
			return true;
	return false;
}

static struct stacks_pass *pass_new(struct snapshot_stacks *s)
{
	struct stacks_pass *p = mem_calloc(1, sizeof(*p));
	const struct look *l = &s->looks[s->now];

	if (!s->classes)
		s->classes = users_classes_new(s->proc, s->keep);
	if (!p)
		return NULL;
	left_begin(&p->work, stacks_read, pass_free);
	p->tasks = mem_calloc(l->n, sizeof(*p->tasks));
	p->registers = mem_calloc(l->n, sizeof(*p->registers));
	if (!p->tasks || !p->registers || !s->classes) {
		left_unref(&p->work);
		return NULL;
	}
	p->proc = s->proc;
	p->classes = users_classes_ref(s->classes);
	p->runtimes = runtimes_ref(s->runtimes);
	for (size_t i = 0; i < l->n; i++)
		if (is_wanted(s, &l->seen[i]))
			p->tasks[p->n++] = l->seen[i].task;
	qsort(p->tasks, p->n, sizeof(*p->tasks), by_process);
	for (size_t i = 0; i < p->n; i++)
		p->registers[i].tid = p->tasks[i].tid;
	return p;
}

static int take_found(struct snapshot_stacks *s, const struct stacks_pass *p)
{
	struct look *l = &s->looks[s->now];
	int code = p->code;

	for (size_t i = 0; code == 0 && i < p->found.n_stacks; i++) {
		const struct locksnap_stack *t = &p->found.stacks[i];
		const uint32_t *at = map64_get(&l->by_tid, (uint32_t)t->tid);
		code = at ? stacks_copy(&p->found, t, &l->found) : 0;
		if (at && code == 0)
			l->seen[*at].stack = (uint32_t)l->found.n_stacks;
	}
	return code;
}

/* 0, -ENOMEM, or -ETIMEDOUT: a process keeps the reader waiting, and is not read any more. */
static int read_once(struct snapshot_stacks *s, struct snapshot_locks *kernel)
{
	struct stacks_pass *p = pass_new(s);

	if (!p)
		return -ENOMEM;
	/* Without them most stacks are found all the same. */
	if (kernel)
		(void)snapshot_locks_registers(kernel, p->registers, p->n);
	int code = left_run(&s->left, &p->work);
	if (code == -ETIMEDOUT) {
		users_classes_unref(s->classes); /* that thread has them */
		s->classes = NULL;
		return code;
	}
	code = code < 0 ? code : take_found(s, p);
	left_unref(&p->work);
	return code;
}

static int read_all(struct snapshot_stacks *s, struct snapshot_locks *kernel)
{
	uint64_t from = clock_now_ns();
	int code = -ETIMEDOUT;

	if (from < s->next_ns || !wants_any(s))
		return 0;
	while (code == -ETIMEDOUT && s->left.n < LEFT_MOST)
		code = read_once(s, kernel);
	uint64_t now = clock_now_ns();
	s->next_ns = now + REST * (now - from);
	return code == -ETIMEDOUT ? 0 : code;
}

int snapshot_stacks_add(struct snapshot_stacks *s, struct snapshot_locks *kernel,
			struct locksnap *ret)
{
	struct look *l;
	int code;

	left_forget_back(&s->left);
	s->now = !s->now;
	l = &s->looks[s->now];
	look_clear(l);
	code = learn_mmap_locks(s, ret);
	code = code < 0 ? code : list_tasks(s, ret);
	code = code < 0 ? code : read_all(s, kernel);
	for (size_t i = 0; code == 0 && i < l->found.n_stacks; i++)
		code = stacks_copy(&l->found, &l->found.stacks[i], ret);
	return code;
}
