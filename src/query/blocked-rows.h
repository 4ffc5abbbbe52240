/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_BLOCKED_ROWS_H
#define KONTEND_SRC_QUERY_BLOCKED_ROWS_H

#include "chains/asleep.h"
#include "internal.h"
#include "kontend/map64.h"

struct locksnap;
struct locksnap_blocked;
struct value;

/* Rows of the table of blocked tasks while they are added up. */
struct blocked_row {
	uint64_t id;
	enum sleep_cause cause;
	const char *device; /* "" */
	int32_t pid;	    /* of BY_PROCESS */
	const char *process;
	const char *cgroup;			/* ""; of BY_CGROUP, of others that of one task */
	uint32_t site;				/* func of BY_CALLER */
	const struct locksnap_blocked *longest; /* in the latest snapshot; NULL: none now */
	uint64_t longest_now_ns;
	uint32_t now, in_d;
	uint32_t users; /* of in_d: tasks of programs */
	uint64_t users_longest_ns;
	uint64_t task_ns, max_ns;
	uint64_t sleeps, slept_ns, slept_max_ns; /* of sleeps that have ended */
	bool slept_at_least;			 /* one of them may have been longer */
};

struct blocked_rows {
	struct query *q;
	enum query_by by;
	const struct locksnap *s; /* the latest; NULL */
	struct blocked_row *rows;
	size_t n, cap;
	struct map64 at;     /* id -> index */
	struct map64 causes; /* of the snapshot: first frame -> cause */
	struct map64 waits;  /* tid -> wait in flight + 1; made when first needed */
	bool waits_made;
	uint64_t covered_ns;
	enum sleep_cause *slept_causes; /* of call chains of sleeps; NULL: none was needed */
	bool has_slept;			/* sums of sleeps */
	uint64_t slept_span_ns;
};

/*
 * @cause, but for I/O of a file system that has no disk, which is of its server. Many of their
 * functions are not in a chain, as they end with a call of a general one.
 */
enum sleep_cause blocked_cause_on(enum sleep_cause cause, const char *fs);
/* @cause, or if it names none, or not all, that by which the kernel accounts the sleep. */
enum sleep_cause blocked_cause_without_words(enum sleep_cause cause, bool waits, bool io);
const char *blocked_cause_words(enum sleep_cause cause);
/*
 * The task that @b waits for: "runnable on 1, kept off by spin/99 (real-time 50)". NULL: it does
 * not run, or that is not known.
 */
const char *blocked_other_runs(struct query *q, const struct locksnap *s,
			       const struct locksnap_blocked *b);
/* BY_LOCK: by cause alone. */
enum query_by blocked_by(enum query_by by);
/* All rows: 0 or -ENOMEM. blocked_free_maps() in either case. */
int blocked_make_rows(struct blocked_rows *t);
void blocked_free_maps(struct blocked_rows *t);
/* The thing by which rows are made; @tid: of BY_TASK. */
uint64_t blocked_row_key(const struct blocked_rows *t, const struct blocked_row *r, int32_t tid);
/* The row of a cause, device and key, made like @like if there is none; NULL: no memory. */
struct blocked_row *blocked_row_at(struct blocked_rows *t, const struct blocked_row *like,
				   uint64_t key);

/* Why a task of the latest snapshot is blocked: of it alone, not of its row. */
struct blocked_why {
	enum sleep_cause cause;
	bool counts;		   /* the table "blocked" has it */
	const char *words;	   /* "jbd2 commit" */
	const char *device, *file; /* "" */
	const char *because;	   /* as in the table; NULL: not known */
	int32_t by_pid, by_tid;	   /* the task that it waits for; 0: none, or not known */
	const char *by_comm;
	uint64_t ns; /* as LONGEST; 0: not known */
	uint32_t site;
};

/* After query_sync(): to ask for single tasks. */
void blocked_rows_begin(struct blocked_rows *t, struct query *q);
/* All but because, by_*. */
void blocked_cause_of(struct blocked_rows *t, const struct locksnap_blocked *b,
		      struct blocked_why *ret);
void blocked_why_of(struct blocked_rows *t, const struct locksnap_blocked *b,
		    struct blocked_why *ret);

/* The wait in flight of a thread; NULL: none is known. */
const struct wait *blocked_wait_of(struct blocked_rows *t, int32_t tid);
enum sleep_cause blocked_cause_of_task(struct blocked_rows *t, const struct locksnap_blocked *b);
/* "disk read", of locks "kernel lock": chains and blame say more of these. */
const char *blocked_cause_words(enum sleep_cause cause);
/* Of the thread that writes a log the one in its name: "jbd2/vda1-8". */
const char *blocked_device_of(struct query *q, const char *device, const char *comm, bool kthread);

/* blocked-because.c: values that are known of what a task waits for. */
enum blocked_because {
	BLOCKED_BY_PID,
	BLOCKED_BY_TID,
	BLOCKED_BY_COMM,
	BLOCKED_BY_STATE,
	BLOCKED_BY_CPU,
	BLOCKED_OFF_PID,
	BLOCKED_OFF_TID,
	BLOCKED_OFF_COMM,
	BLOCKED_OFF_PRIO,
	BLOCKED_WORK,
	BLOCKED_QUEUE,
	BLOCKED_FILE,
	BLOCKED_LIMIT,
	BLOCKED_SOURCE,
	BLOCKED_SUSPENDED,
	BLOCKED_BECAUSES,
};

/* A text of it, or NULL, and the values at @v, which are not known before. */
const char *blocked_because(struct blocked_rows *t, const struct locksnap_blocked *b,
			    struct value *v);
/* The system call, "fsync", or "page fault", by the outermost functions; NULL: not known. */
const char *blocked_call(struct blocked_rows *t, const struct locksnap_blocked *b);

/* blocked-calls.c: where it waits in its program, which it has not left since. */
struct query_origin;
void blocked_origin(const struct blocked_rows *t, const struct locksnap_blocked *b,
		    struct query_origin *ret);
/* Its calls, innermost first, those of the program last. NULL: there are none. */
const char *blocked_calls(const struct blocked_rows *t, const struct locksnap_blocked *b,
			  const char *between);
/* The object that its system call names, else the file of the lock; NULL: not known. */
const char *blocked_on(struct blocked_rows *t, const struct locksnap_blocked *b);

/* blocked-slept.c */

/* Adds sums of sleeps, if there are any. 0 or -ENOMEM. */
int blocked_add_slept(struct blocked_rows *t);
/* Fills four values: number of sleeps, average, time, longest. */
void blocked_fill_slept(const struct blocked_rows *t, const struct blocked_row *r, struct value *v);

#endif
