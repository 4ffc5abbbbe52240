/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TASK_H
#define KONTEND_TASK_H

#include "kontend/event.h"
#include "kontend/limits.h"
#include "kontend/map64.h"
#include "kontend/strpool.h"
#include <stdbool.h>

/*
 * Tasks by index. A tid used again by a new task (FORK of a tid that is there) is a new task; the
 * old one keeps its index as long as something refers to it. Index 0 is "other".
 */
struct task {
	int32_t pid, tid;
	uint32_t serial; /* unique over the session: identity of the task */
	uint8_t alive;	 /* 0: exited; TASK_AGAIN */
	uint8_t depth;	 /* sleeping waits in flight */
	uint8_t marked;	 /* used by folding */
	uint8_t did;	 /* enum blame_state: while it has a lock for which others wait */
	uint32_t waits[WAIT_DEPTH]; /* indices into the wait pool, innermost last */
	uint32_t blame, why;	    /* see blame.h: its holds; as of a key, for what it does */
	const char *comm;	    /* interned; "" = not known */
	uint64_t cgroup;	    /* id, 0 = not known */
	uint64_t start_ns;	    /* 0: before the session */
	uint64_t exit_ns;
	uint64_t end_ns;      /* when a wait of it ended last, other than by spinning */
	uint64_t owner_ns;    /* when it was seen last to have a lock of a program; 0: never */
	uint64_t reported_ns; /* latest event that says whether it sleeps for a lock */
	uint64_t
		mm_ns; /* of a leader: since when it has its address space; 0: before the session */
};

/* TASK_AGAIN: events of it came after its EXIT. */
enum { TASK_OTHER = 0, TASK_AGAIN = 2, TASK_ENDED_KEPT = 256 };

struct task_table {
	struct task *tasks;
	size_t n, cap;
	uint32_t max;
	uint32_t free; /* list of free entries through serial, 0 = none */
	uint32_t next_serial;
	uint32_t n_ended;		/* entries of those that have exited */
	struct map64 by_tid;		/* living task of a tid */
	struct map64 exited;		/* the last task of a tid, if that one has exited */
	struct map64 threads;		/* process -> its living threads without the leader */
	int32_t ended[TASK_ENDED_KEPT]; /* tids that ended lately, by their lower bits; 0: none */
	struct map64 cgroups;		/* cgroup id -> index of its path */
	const char **cgroup_paths;
	size_t n_cgroups, cap_cgroups;
	struct task_names *names; /* shared with copies of the table */
};

/* Comms and paths, interned; they live as long as the last table that refers to them. */
struct task_names {
	struct strpool pool;
	unsigned refs;
	struct task_names *before; /* some are in that one still; NULL: none */
};

struct task_names *task_names_new(void); /* NULL: no memory; with one reference */
struct task_names *task_names_ref(struct task_names *names);
void task_names_unref(struct task_names *names); /* NULL is fine */

int task_table_init(struct task_table *t, uint32_t max);
/* Copies into an empty table; the names are shared. 0 or -ENOMEM with @dst empty. */
int task_table_copy(struct task_table *dst, const struct task_table *src);
void task_table_deinit(struct task_table *t);
/* Index of the living task @tid; made if absent; TASK_OTHER when the table is full. */
uint32_t task_get(struct task_table *t, int32_t pid, int32_t tid);

/* The same, for every event: nearly always the task is there and all is known. */
static inline uint32_t task_get_quickly(struct task_table *t, int32_t pid, int32_t tid)
{
	const uint32_t *known = map64_get(&t->by_tid, (uint32_t)tid);

	return known && t->tasks[*known].pid >= 0 && tid ? *known : task_get(t, pid, tid);
}

/*
 * The same of a task that was sampled: one that has exited, if no other task has got its number
 * since. The kernel writes its last samples after its EXIT.
 */
uint32_t task_get_sampled(struct task_table *t, int32_t pid, int32_t tid);

/*
 * The same of a task that another one names as a holder: TASK_OTHER if it has exited. The word of a
 * lock may name a reader long after that.
 */
uint32_t task_get_holder(struct task_table *t, int32_t pid, int32_t tid);
/* Has the task @tid exited, and no task begun since that has its number? */
bool task_has_ended(const struct task_table *t, int32_t tid);

int task_comm(struct task_table *t, const struct event *ev);
/* A name for a task that has none yet. 0 or -ENOMEM. */
int task_name(struct task_table *t, uint32_t index, const char *comm);
int task_fork(struct task_table *t, const struct event *ev);
/* The task has exited; its tid may be used again. Its waits are the caller's concern. */
void task_end(struct task_table *t, uint32_t index, uint64_t time_ns);
/* Records were lost, and EXITs may be among them: a process counts as ended once its leader has. */
void task_lost(struct task_table *t);
/* Has the leader of @pid exited, and so has each of its threads that is known? */
bool task_process_has_ended(const struct task_table *t, int32_t pid);
/* The name of the task @tid, which has exited; NULL: not known. */
const char *task_exited_comm(const struct task_table *t, int32_t tid);
/* Forgets the tasks that have exited and are not `marked`, and clears the marks. */
void task_sweep(struct task_table *t);
static inline bool task_ended_until(const struct task *t, uint64_t time_ns)
{
	return !t->alive && t->comm && t->exit_ns <= time_ns;
}
/* The time up to which the older half of the exited tasks exited. */
uint64_t task_older_half(const struct task_table *t);
/* Texts of the table move into @to. 0, or -ENOMEM: some are where they were. */
int task_names_renew(struct task_table *t, struct task_names *to);
int task_names_move(struct task_names *to, const char **texts[], size_t n); /* and others */
int task_cgroup_name(struct task_table *t, uint64_t id, const char *path);
/* Path of a cgroup id, NULL when not known. */
const char *task_cgroup_path(const struct task_table *t, uint64_t id);

#endif
