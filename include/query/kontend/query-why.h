/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_WHY_H
#define KONTEND_QUERY_WHY_H

#include "kontend/query.h"

/*
 * The activity of chosen tasks (runs.h): they ran, waited for a CPU, because of whom, or were
 * blocked, by which cause, and who ended that. Of all of them, or of thread @tid alone.
 */

/* Table "why": a row for each cause, the greatest share first. */
int query_why(struct query *q, int32_t tid, const struct query_spec *s, struct table *ret,
	      struct error *err);
extern const struct table_kind query_why_kind;

/* The number of a task, by its id in the table of tasks; 0: it is not followed. */
int32_t query_why_tid(const struct query *q, uint64_t id);

struct query_why_sum {
	bool known;	  /* false: see none */
	const char *none; /* a sentence */
	const char *task; /* "worker/12" of the only one; NULL: they are several */
	uint32_t tasks;	  /* chosen, also those that have ended */
	uint64_t span_ns; /* the time that is covered */
	uint64_t all_ns;  /* of all tasks, added up */
	uint64_t running_ns, ready_ns, blocked_ns, unknown_ns; /* parts of it */
	uint64_t missed;				       /* records that were not written */
	uint64_t dropped; /* tasks and causes for which there was no room */
	bool is_short;	  /* the window has more than is kept */
};

int query_why_sum(struct query *q, int32_t tid, struct query_why_sum *ret); /* 0 or -ENOMEM */

/* A task of a chain of wakeups: what it did until it woke the one before it. */
struct query_why_link {
	const char *task; /* "worker/12" */
	int32_t pid, tid;
	const char *comm;
	uint64_t all_ns, slept_ns, ready_ns, ran_ns;
	uint64_t longest_ns;	  /* of its sleeps; 0: it had none, and the rest is not known */
	const char *cause, *lock; /* of that sleep; lock: NULL: none */
	const char *holder;	  /* as below */
	bool is_holder;
	const char *sleeps_in, *end;   /* its function, NULL; who ended it, as below */
	const char *syscall, *at, *on; /* as below */
};

/* A sleep of a chosen task that has ended. */
struct query_why_block {
	uint64_t begin_ns, length_ns;
	uint64_t at_ns; /* begin, since measuring began */
	const char *task;
	int32_t pid, tid;
	const char *comm;
	const char *cause, *lock;
	const char *holder;	  /* of the lock when that began: "worker/12"; NULL: not known */
	bool is_holder;		  /* it is the task that ended it */
	const char *sleeps_in;	  /* the function; NULL: not known */
	const char *syscall, *at; /* see query-origin.h; NULL because of: */
	const char *syscall_why, *at_why;
	const char *on; /* on what the call is; NULL because of: */
	const char *on_why;
	const char *end;	      /* who ended it: "worker/12", "a timer", "an interrupt" */
	int32_t waker_pid, waker_tid; /* 0: the idle task, or a timer or interrupt */
	const char *waker_comm;	      /* NULL */
	const char *woken_in;	      /* the function in which the waker did it; NULL */
	const struct query_why_link *links;
	size_t n_links;
	const char *chain_end; /* why the chain ends there: a sentence */
};

/* The longest of the window, in the query's arena. 0 or -ENOMEM. */
int query_why_blocks(struct query *q, int32_t tid, const struct query_why_block **ret,
		     size_t *ret_n);
/* "read on pipe:[812] at app.c:40 answer", as far as that is known; NULL: it is not, or no memory.
 */
const char *query_why_place(struct query *q, const char *syscall, const char *on, const char *at);
/* "held by worker/12, ended by app/9", as far as that is known; NULL: no memory. */
const char *query_why_ended(struct query *q, const char *holder, bool is_holder, const char *end);
/* A link as text: "worker/12 was blocked 11.9ms of 12.3ms: disk read"; NULL: no memory. */
const char *query_why_link_text(struct query *q, const struct query_why_link *l);

#endif
