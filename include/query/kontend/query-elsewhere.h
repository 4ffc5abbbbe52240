/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_ELSEWHERE_H
#define KONTEND_QUERY_ELSEWHERE_H

#include "kontend/figure.h"
#include "kontend/locksnap-sleepers.h"
#include "kontend/query.h"
#include "kontend/user-seen.h"

/*
 * Tasks that sleep for something that is no lock of the kernel, as the latest look has counted
 * them: no event reports these. How long they sleep is known only of state D, where it is measured.
 */
struct query_elsewhere_row {
	enum locksnap_sleeps kind;
	const char *kind_name; /* "futex", "file_lock", "io", "uninterruptible" */
	const char *process;   /* "java/812" */
	const char *comm;
	int32_t pid;
	uint32_t tasks,
		idle; /* idle: sleep in a futex as who waits for work does, not in `tasks` */
};

/* Threads of a process that sleep in a futex, but are not known to wait for a lock. */
struct query_futex_row {
	const char *class;   /* "wait", "unknown", "lock": which could not be read just then */
	const char *what;    /* "condition variable"; "": no function is known */
	const char *process; /* "java/812" */
	const char *comm;
	int32_t pid;
	uint32_t tasks;
};

struct query_elsewhere {
	bool known;
	const char *reason;		       /* why not; "": it was not tried */
	uint32_t tasks[LOCKSNAP_SLEEPS], idle; /* by kind; of all processes */
	uint32_t dropped;		       /* tasks for which there was no room */
	struct query_elsewhere_row *rows;      /* by process and kind, most tasks first */
	size_t n;
	struct query_futex_row *futexes; /* most tasks first */
	size_t n_futexes;
	uint32_t tasks_32bit; /* of them, whose locks are not read */
	/* Sleeps in futex(2) that events have seen; false: they are not measured. */
	bool counts_futexes;
	const char *futex_reason; /* why not; "": they are, or were not to be */
	struct user_counts slept_in_futex;
	/* Sleeps in state D that have ended since the sums begin. */
	bool sums_sleeps;	   /* false: not measured (--sleeps), or see sleeps_reason */
	const char *sleeps_reason; /* "" */
	uint64_t sleeps, slept_ns, slept_span_ns; /* their time; the time in which they ended */
	uint64_t sleeps_dropped;		  /* for which there was no room */
};

int query_elsewhere(struct query *q, struct query_elsewhere *ret); /* 0 or -ENOMEM */
/* "31 tasks of java/812 wait in futex (user space)", of what most do; NULL: too few do. */
const char *query_elsewhere_most(struct query *q, const struct query_elsewhere *e,
				 const char **ret_name);
/* "futex 31, I/O 2": those that some tasks wait for; NULL: none. */
const char *query_elsewhere_short(struct query *q, const struct query_elsewhere *e);
/* "futex 31 (6 idle), file locks 0, I/O 2, uninterruptible 1" */
const char *query_elsewhere_text(struct query *q, const struct query_elsewhere *e);
/* "2.15k in 3.2s, of 1.4s in total, 0.44 tasks on average"; NULL: sleeps are not summed up. */
const char *query_elsewhere_slept(struct query *q, const struct query_elsewhere *e);
/* "condition variable 31 of java/812, unknown (semaphore) 2 of app/9, 5 more"; NULL: none. */
const char *query_elsewhere_futexes(struct query *q, const struct query_elsewhere *e);
/* "12k; for what may be no lock: 2.1k of 3.2s; of 32-bit programs: 7"; NULL: not counted. */
const char *query_elsewhere_counts(struct query *q, const struct query_elsewhere *e);
extern const struct figure query_elsewhere_figures[], query_elsewhere_row_figures[],
	query_futex_figures[];

#endif
