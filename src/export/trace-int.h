/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EXPORT_TRACE_INT_H
#define KONTEND_EXPORT_TRACE_INT_H

#include "kontend/engine.h"
#include "kontend/holds.h"
#include "kontend/locktype.h"
#include "kontend/map64.h"
#include "kontend/query.h"
#include "kontend/strpool.h"
#include "kontend/tracefile.h"
#include "kontend/wordset.h"
#include "report/event-names.h"

/*
 * The parts that all writers of traces share. Locks, tasks and call chains are numbered from 1 in
 * the order of their first use; these numbers never change, while the model reuses its own.
 */
enum { TRACE_HOLDS = 16, TRACE_OWN = 8 };

/* A hold of a lock while other tasks waited. */
struct trace_hold {
	uint64_t id; /* from 1, in the order of their ends */
	uint64_t got_ns, end_ns;
	uint32_t lock, thread, stack; /* stack: where the holder waited for the lock; 0: unknown */
	bool exact;		      /* else the time is an upper bound */
	bool written;		      /* for the writer: the hold is in the file, */
	uint8_t flows, used;	      /* number of its flows, and of those that lead to waits */
};

/* A lock in both modes. */
struct trace_lock {
	uint64_t addr;
	enum lock_type type;
	const char *name;	  /* NULL: no wait was written; else in the pool */
	struct trace_hold *holds; /* TRACE_HOLDS; NULL: none yet */
	uint32_t n_holds;
};

/* A wait that was written. Holds of the same task during the wait may become known later. */
struct trace_own {
	uint64_t id, begin_ns, end_ns;
};

struct trace_thread {
	int32_t pid, tid;
	const char *comm, *process; /* in the pool; NULL: unknown */
	struct trace_own own[TRACE_OWN];
	uint32_t n_own; /* number of all, including those overwritten */
};

struct trace_links {
	struct map64 locks, threads; /* numbers, by keys that the model never reuses */
	struct trace_lock *lock_list;
	size_t n_locks, cap_locks;
	struct trace_thread *thread_list;
	size_t n_threads, cap_threads;
	struct wordset stacks; /* addresses, innermost first */
	struct map64 stack_numbers;
	uint64_t generation; /* the model's, when stack_numbers were valid */
	struct strpool pool;
	uint64_t n_holds;
};

struct trace_wait {
	const struct wait *w;
	uint64_t id; /* from 1 */
	uint64_t end_ns;
	int32_t ret;
	bool waiting; /* still in flight at the end */
	uint32_t lock, thread, stack;
	/* The holds of the lock during the wait, the longest first. */
	struct trace_hold *holds[TRACE_HOLDS];
	uint32_t n_holds;
};

/* One format. Functions return 0 or a negative errno. */
struct trace_sink {
	int (*wait)(struct trace_sink *s, const struct trace_wait *w);
	/* The number of tasks that wait for @lock from now on. NULL: the format does not use it. */
	int (*waiting)(struct trace_sink *s, uint32_t lock, uint64_t time_ns, uint32_t n);
	int (*finish)(struct trace_sink *s);
	void (*free)(struct trace_sink *s);
};

struct tracefile {
	struct engine_watch watch;
	struct holds_watch holds;
	struct engine *engine;
	struct tracefile_spec spec;
	FILE *out;
	struct event_names names;
	struct query q;		   /* of functions of programs */
	struct event_filter *gate; /* NULL: all waits pass */
	struct trace_sink *sink;
	struct trace_links links;
	uint64_t n_waits, left_out;
};

/* perfetto.c, firefox.c. NULL: no memory. */
struct trace_sink *trace_perfetto(struct tracefile *t);
struct trace_sink *trace_firefox(struct tracefile *t);
int trace_perfetto_check(struct error *err); /* 0, or -ENOTSUP: it was not built in */

/* tracefile.c: writes the object @key with the origin of the trace and its losses. */
struct jsonw;
void trace_source_json(const struct tracefile *t, const char *key, const char *schema,
		       struct jsonw *j);

/* trace-links.c */
static inline struct trace_lock *trace_lock_at(struct tracefile *t, uint32_t number)
{
	return &t->links.lock_list[number - 1];
}
static inline struct trace_thread *trace_thread_at(struct tracefile *t, uint32_t number)
{
	return &t->links.thread_list[number - 1];
}
/* Their numbers; new ones are added. 0: there is no room, or the model does not know it. */
uint32_t trace_lock(struct tracefile *t, uint32_t lock);
uint32_t trace_thread(struct tracefile *t, uint32_t task);
uint32_t trace_stack(struct tracefile *t, uint32_t stack);
enum { TRACE_TASK = EVENT_NAMES_TEXT + 20 };
/* "make/812"; NULL: unknown */
const char *trace_task(struct tracefile *t, uint32_t thread, char buf[TRACE_TASK]);
/* The function that waited in call chain @stack; NULL: there is none. */
const char *trace_caller(struct tracefile *t, uint32_t stack, char buf[EVENT_NAMES_TEXT]);
/* The function at @frame of a call chain, as tables name it; returns @buf. Names are loaded first.
 */
const char *trace_func(struct tracefile *t, uint64_t frame, char buf[EVENT_NAMES_TEXT]);
/* The number of tasks that wait for the lock of @w now, in either mode. */
uint32_t trace_waiting(const struct tracefile *t, const struct wait *w);
/* Fills in the links of @w. False: there is no room for the task. */
bool trace_link(struct tracefile *t, struct trace_wait *w);
/* To be called after @w was written. */
void trace_linked(struct tracefile *t, const struct trace_wait *w);
/* Adds a hold that the model has reported. */
void trace_held(struct tracefile *t, const struct hold_reported *h);
void trace_links_deinit(struct trace_links *l);

#endif
