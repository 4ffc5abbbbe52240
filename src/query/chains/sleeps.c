// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holders that sleep for something else than a lock: the chain continues there. The latest snapshot
 * has all blocked tasks, the cause by the call chain (asleep.c), and of some causes the task that
 * is to wake it up. That one may be blocked, too, so the search continues with it. Tasks with the
 * same cause, device, file and waker wait for one object, which has the place of a lock.
 *
 * A server, as the daemon of a FUSE file system, is a process: which of its threads has the request
 * is not known. Threads that serve requests and wait themselves began to do so after the request
 * came, so of these the one that has waited longest is taken, as evidence; if there is none, the
 * request may still be in the queue behind one that began before.
 *
 * The snapshot may be older than the events: a holder that was seen to run since then does not
 * sleep any more.
 */
#include "../locks/queues.h"
#include "graph.h"
#include "kontend/hash.h"
#include "kontend/task.h"
#include "kontend/wait.h"

#include <errno.h>
#include <string.h>

/* Tasks that begin a chain though they hold no lock, and those that are asked for that. */
enum { STARTS_MOST = 256, ASKED_MOST = 1024 };

enum { CLOCKS_NS = 1000000 }; /* how exact the begins of sleeps are */

struct sleeps {
	struct chain_graph *g;
	struct blocked_rows rows;
	struct map64 tasks; /* thread id -> index of a blocked task */
	size_t left;	    /* room */
};

/*
 * Is the sleep for the file of the system call, or for a part of it? A page fault is in another
 * one.
 */
static bool is_of_file(enum sleep_cause cause)
{
	switch (cause) {
	case SLEEP_PAGE:
	case SLEEP_FOLIO:
	case SLEEP_READ:
	case SLEEP_WRITE:
	case SLEEP_DIRECT:
	case SLEEP_WRITEBACK:
	case SLEEP_INODE:
	case SLEEP_RPC:
	case SLEEP_NETWORK_FS:
	case SLEEP_9P:
	case SLEEP_FUSE:
		return true;
	default:
		return false;
	}
}

/* Without a task, device or file these say only that the task sleeps. */
static bool names_nothing(enum sleep_cause cause)
{
	switch (cause) {
	case SLEEP_NONE:
	case SLEEP_UNKNOWN:
	case SLEEP_IO:
	case SLEEP_WORK:
	case SLEEP_KTHREAD:
	case SLEEP_COMPLETION:
	case SLEEP_TIMER:
	case SLEEP_ITSELF:
	case SLEEP_FUTEX:
		return true;
	default:
		return false;
	}
}

/* "disk write /srv/a (vda)", "jbd2 commit vda1", "limit of memory: cgroup /a" */
static const char *object_text(struct query *q, const struct chain_sleep *s)
{
	const struct blocked_why *w = &s->why;
	const char *about = query_queue_about(q, s->task->tid);
	bool says_more = w->because && !w->by_tid && (!about || strcmp(about, w->because) != 0);

	if (says_more)
		return arena_printf(&q->arena, "%s: %s", w->words, w->because);
	if (is_of_file(w->cause) && *w->file)
		return arena_printf(&q->arena, *w->device ? "%s %s (%s)" : "%s %s", w->words,
				    w->file, w->device);
	return *w->device ? arena_printf(&q->arena, "%s %s", w->words, w->device) : w->words;
}

/* Locks of the kernel and of files have waits of their own, where anything is known of them. */
static bool is_link(const struct blocked_why *w)
{
	if (!w->counts || w->cause == SLEEP_LOCK || w->cause == SLEEP_RT_MUTEX)
		return false;
	return w->by_tid || !names_nothing(w->cause) || *w->device ||
	       (is_of_file(w->cause) && *w->file);
}

/* A thread of a server that waits. */
struct serving {
	int32_t tid; /* 0: none */
	uint64_t begin_ns;
	const char *comm;
};

/*
 * Is the task that it waits for the first thread of a process any of whose threads may do? In its
 * own process those that wait are rather behind this one.
 */
static bool is_served(const struct locksnap *s, const struct chain_sleep *sleep)
{
	const struct blocked_why *w = &sleep->why;

	return w->by_tid && w->by_tid == w->by_pid && w->by_pid != sleep->task->pid &&
	       (w->cause == SLEEP_FUSE || w->cause == SLEEP_UFFD ||
		!strncmp(locksnap_text(s, sleep->task->fs), "fuse", 4));
}

static void consider(struct serving *best, const struct chain_sleep *sleep, struct serving one)
{
	const uint64_t since_ns = sleep->task->ran_ns;
	bool is_since = one.begin_ns + CLOCKS_NS >= since_ns,
	     best_is = best->begin_ns + CLOCKS_NS >= since_ns;

	if (one.tid == sleep->task->tid)
		return;
	if (!best->tid || (is_since != best_is ? is_since : one.begin_ns < best->begin_ns))
		*best = one;
}

static struct serving find_serving(struct sleeps *s, const struct chain_sleep *sleep)
{
	const int32_t pid = sleep->why.by_pid;
	const struct chain_graph *g = s->g;
	const struct locksnap *look = s->rows.s;
	struct serving best = {0};

	for (uint32_t i = 0; i < g->n_waits; i++) {
		const struct chain_wait *w = &g->waits[i];
		if (w->wait && w->pid == pid && w->tid)
			consider(&best, sleep,
				 (struct serving){w->tid, w->wait->begin_ns,
						  query_task_comm(g->q, w->wait->task)});
	}
	for (size_t i = 0; i < look->n_blocked; i++) {
		const struct locksnap_blocked *b = &look->blocked[i];
		struct blocked_why why;
		if (b->pid != pid || blocked_wait_of(&s->rows, b->tid))
			continue;
		blocked_why_of(&s->rows, b, &why);
		if (is_link(&why))
			consider(&best, sleep,
				 (struct serving){b->tid, b->ran_ns, locksnap_text(look, b->comm)});
	}
	return best;
}

static struct chain_lock *object_at(struct chain_graph *g, const struct chain_sleep *s)
{
	const struct blocked_why *w = &s->why;
	const uint64_t key = hash_text(hash_u64((uint32_t)w->by_tid | 1ull << 62), s->object);
	const uint32_t *known = map64_get(&g->by_addr, key);

	if (known)
		return &g->locks[*known];
	if (map64_put(&g->by_addr, key, g->n_locks) < 0)
		return NULL;
	const uint32_t *task = map64_get(&g->q->model->tasks->by_tid, (uint32_t)w->by_tid);
	struct chain_lock *l = &g->locks[g->n_locks++];
	*l = (struct chain_lock){.addr = key,
				 .object = s,
				 .waits = CHAIN_NONE,
				 .up = CHAIN_NONE,
				 .beside = CHAIN_NONE,
				 .holder = w->by_tid};
	if (w->by_tid)
		l->by = (struct query_holder){
			.pid = w->by_pid,
			.tid = w->by_tid,
			.task = task ? *task : TASK_OTHER,
			.name = query_slash(&g->q->arena, w->by_comm, w->by_tid, "-"),
			.comm = w->by_comm,
			.certainty = "",
		};
	return l;
}

/* The thread that has the request, in place of its process. */
static void be_served_by(struct chain_graph *g, struct chain_lock *l, const struct serving *by)
{
	const uint32_t *task = map64_get(&g->q->model->tasks->by_tid, (uint32_t)by->tid);

	l->holder = l->by.tid = by->tid;
	l->evidence = CHAIN_EVIDENCE;
	l->by.task = task ? *task : TASK_OTHER;
	l->by.comm = by->comm;
	l->by.name = query_slash(&g->q->arena, by->comm, by->tid, "-");
}

/* *@ret_next: the task that is to wake it up, 0: none. */
static int add_sleep(struct sleeps *s, const struct chain_sleep *sleep, int32_t *ret_next)
{
	struct chain_graph *g = s->g;
	struct chain_lock *l = object_at(g, sleep);

	if (!l)
		return -ENOMEM;
	if (l->object == sleep && is_served(s->rows.s, sleep)) {
		const struct serving by = find_serving(s, sleep);
		if (by.tid)
			be_served_by(g, l, &by);
	}
	g->waits[g->n_waits] = (struct chain_wait){
		.sleep = sleep,
		.pid = sleep->task->pid,
		.tid = sleep->task->tid,
		.lock = (uint32_t)(l - g->locks),
		.next = l->waits,
		.holds = CHAIN_NONE,
		.ns = sleep->why.ns,
		.comm = locksnap_text(s->rows.s, sleep->task->process),
	};
	const struct chain_sum one = chain_sum_one(&g->waits[g->n_waits]);
	chain_sum_add(&l->behind, &one);
	l->waits = g->n_waits++;
	s->left--;
	*ret_next = l->holder;
	return map64_put(&g->by_tid, (uint32_t)sleep->task->tid, l->waits);
}

/* The sleep of that task, and of those that it waits for. */
static int follow(struct sleeps *s, int32_t tid)
{
	int code = 0;

	while (code == 0 && tid && s->left && !map64_get(&s->g->by_tid, (uint32_t)tid)) {
		const uint32_t *at = map64_get(&s->tasks, (uint32_t)tid);
		struct chain_sleep *sleep =
			at ? arena_alloc(&s->g->q->arena, sizeof(*sleep)) : NULL;
		if (!at)
			return 0;
		if (!sleep)
			return -ENOMEM;
		sleep->task = &s->rows.s->blocked[*at];
		blocked_why_of(&s->rows, sleep->task, &sleep->why);
		if (sleep->why.by_tid == tid)
			sleep->why.by_pid = sleep->why.by_tid = 0;
		if (!is_link(&sleep->why))
			return 0;
		sleep->object = object_text(s->g->q, sleep);
		code = sleep->object ? add_sleep(s, sleep, &tid) : -ENOMEM;
	}
	return code;
}

static int follow_holders(struct sleeps *s)
{
	const uint32_t n_locks = s->g->n_locks;
	int code = 0;

	for (uint32_t i = 0; code == 0 && i < n_locks; i++) {
		const struct chain_lock *l = &s->g->locks[i];
		const char *state = l->holder ? query_holder_state(s->g->q, &l->by) : NULL;
		if (!state || !strcmp(state, "asleep"))
			code = follow(s, l->holder);
	}
	return code;
}

/* Tasks in state D that hold nothing others wait for, but wait for another task. */
static int follow_others(struct sleeps *s)
{
	const struct locksnap *look = s->rows.s;
	uint32_t starts = 0, asked = 0;
	int code = 0;

	for (size_t i = 0; code == 0 && i < look->n_blocked && starts < STARTS_MOST; i++) {
		const struct locksnap_blocked *b = &look->blocked[i];
		struct blocked_why why;
		if (b->state != LOCKSNAP_BLOCKED_D || map64_get(&s->g->by_tid, (uint32_t)b->tid))
			continue;
		if (asked++ == ASKED_MOST)
			break;
		blocked_why_of(&s->rows, b, &why);
		if (!why.by_tid)
			continue;
		starts++;
		code = follow(s, b->tid);
	}
	return code;
}

size_t chain_sleeps_most(struct query *q)
{
	const struct locksnap *s = query_queues(q);

	return s && s->head.knows_blocked ? s->n_blocked : 0;
}

int chain_sleeps_add(struct chain_graph *g, size_t most, int32_t start)
{
	struct sleeps s = {.g = g, .left = most};
	int code = 0;

	if (!most)
		return 0;
	blocked_rows_begin(&s.rows, g->q);
	for (uint32_t i = 0; code == 0 && i < most; i++)
		code = map64_put(&s.tasks, (uint32_t)s.rows.s->blocked[i].tid, i);
	code = code < 0 ? code : follow(&s, start);
	code = code < 0 ? code : follow_holders(&s);
	code = code < 0 ? code : follow_others(&s);
	blocked_free_maps(&s.rows);
	map64_deinit(&s.tasks);
	return code;
}
