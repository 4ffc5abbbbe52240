/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_BLOCKED_H
#define KONTEND_QUERY_BLOCKED_H

#include "kontend/query.h"

/*
 * Tasks that do not run until something has happened: table "blocked", from snapshots. These are
 * all tasks in state D, stopped ones, and tasks in state S in a call that another task, a device or
 * a server keeps. A row for each cause and device; with spec.by BY_TASK for each task of the latest
 * snapshot, BY_PROCESS for each process and cause, BY_CALLER for each function and cause.
 */
int query_blocked(struct query *q, const struct query_spec *s, struct table *ret,
		  struct error *err);
extern const struct table_kind query_blocked_kind;

/* For the line above the table, and for triggers and metrics. */
struct query_blocked_sum {
	bool known;	      /* false: see reason */
	const char *reason;   /* why tasks are not known; "" where they are */
	uint32_t tasks, in_d; /* in the latest snapshot; of them in state D */
	uint32_t kthreads;    /* of in_d: kernel threads */
	uint32_t stopped;     /* of tasks: stopped by a signal or a debugger */
	uint32_t throttled;   /* beside them: could run, but for the cpu.max of a cgroup */
	const char *method;   /* "bpf", "proc", "proc_again" */
	bool by_proc;	      /* read there, where fewer objects are known */
	bool only_known;      /* only tasks that an earlier snapshot had found */
	uint32_t dropped;     /* tasks that this snapshot had no room for */
	uint32_t unwatched;   /* tasks in state S that were not looked at, as they were too many */
	uint64_t snapshots;   /* on which averages are based */
	uint64_t age_ns;      /* of the latest one */
	uint64_t longest_ns;  /* of tasks in state D; 0: not known */
	const char *no_objects; /* why it is not known for what tasks wait; "" where it is */
	bool is_short;		/* the window has more than is kept */
};

int query_blocked_sum(struct query *q, struct query_blocked_sum *ret); /* 0 or -ENOMEM */
/* Blocked tasks of the latest snapshot by cause, whatever the device; in the query's arena. */
struct query_blocked_causes {
	bool known;
	const char *reason; /* as above */
	struct query_blocked_cause {
		const char *cause;
		uint32_t tasks;
	} * causes; /* of those that have tasks */
	size_t n;
};

int query_blocked_causes(struct query *q, struct query_blocked_causes *ret); /* 0 or -ENOMEM */
/* A sleep in state D that has ended, and was recorded by itself (--sleeps). */
struct query_sleep {
	uint64_t begin_ns, length_ns;
	int32_t pid, tid, waker_pid, waker_tid; /* waker_tid 0: the idle task */
	const char *comm, *waker_comm;
	const char *task, *waker;      /* "make/812" */
	bool io;		       /* the kernel accounts it as I/O */
	const char *cause, *sleeps_in; /* sleeps_in: NULL: not known */
	const char *at, *at_why;       /* the line of its program; NULL because of at_why */
};

/* How sleeps are measured, and the longest of the window. */
struct query_sleeps {
	bool known;	      /* false: they are not measured, or see reason */
	const char *reason;   /* "" */
	const char *level;    /* "all", "long", "off" */
	const char *left_out; /* a sentence: what is left out as it costs too much; NULL: nothing */
	uint64_t min_ns;      /* sleeps of so long are recorded; 0: none is */
	double switch_ns;     /* what sleeps have cost each switch of the machine lately */
	uint64_t span_ns;     /* the time that the sums are of */
	uint64_t now, now_ns; /* tasks that sleep at its end, and their time: in no sum yet */
	uint64_t dropped, missed; /* since sums begin: sleeps in no sum; without a record */
	uint64_t off_ns;	  /* since then: time in which none was measured */
	bool is_short;		  /* the window has more than is kept */
	const struct query_sleep *longest; /* in the query's arena; the longest first */
	size_t n;
};

int query_blocked_sleeps(struct query *q, struct query_sleeps *ret); /* 0 or -ENOMEM */
/* Of the sleeps of a row that are kept: the last one, and the longest. */
struct query_blocked_slept {
	bool has;
	struct query_sleep longest, last;
	uint64_t ago_ns; /* since the end of the last one */
};

/* 0 or -ENOMEM. @by, @id: as below. */
int query_blocked_slept(struct query *q, enum query_by by, uint64_t id,
			struct query_blocked_slept *ret);
/*
 * The cause for which a task of a program in state D is blocked longest now, without waits for
 * locks of the kernel and of files, and without sleeps that are meant: a vfork, a freezer, a
 * debugger.
 */
struct query_blocked_worst {
	uint32_t tasks; /* tasks of that cause; 0: there is none */
	uint64_t longest_ns;
	const char *cause, *because; /* as in the table; because: NULL: not known */
};

int query_blocked_worst(struct query *q, struct query_blocked_worst *ret); /* 0 or -ENOMEM */
/*
 * Of the row @id, with rows by @by: its cause as in the table; the calls of the task that is
 * blocked longest, "kernel_clone < do_syscall_64"; NULL: there is no such row, or no memory.
 */
const char *query_blocked_cause(struct query *q, enum query_by by, uint64_t id);
const char *query_blocked_calls(struct query *q, enum query_by by, uint64_t id);
/* AT of that task; NULL: not known. */
const char *query_blocked_at(struct query *q, enum query_by by, uint64_t id);
/* The id among waiters of the wait for a kernel lock of the task @id. False: it has none. */
bool query_blocked_wait(struct query *q, uint64_t id, uint64_t *ret);
/* "cause", "task", "process" or "caller": the key of the rows. */
const char *query_blocked_by_name(enum query_by by);

#endif
