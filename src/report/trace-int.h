/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_TRACE_INT_H
#define KONTEND_REPORT_TRACE_INT_H

#include "event-names.h"
#include "kontend/map64.h"
#include "kontend/strpool.h"
#include "kontend/tracefile.h"
#include "pprof-set.h"

/*
 * What the writers of traces have in common. Locks, tasks and call chains have numbers, from 1, in
 * the order in which they came; they stay, while those of the model may be given anew.
 */
enum { TRACE_HOLDS = 16, TRACE_OWN = 8 };

/* Who had a lock while others waited, from when to when. */
struct trace_hold {
	uint64_t id; /* from 1, in the order in which they ended */
	uint64_t got_ns, end_ns;
	uint32_t lock, thread, stack; /* where it had waited for it; 0: not known */
	bool exact;		      /* else it is an upper bound */
	bool written;		      /* for the writer: it has it, */
	uint8_t flows, used;	      /* with so many flows, of which so many lead to waits */
};

/* Both modes of a lock. */
struct trace_lock {
	uint64_t addr;
	enum lock_type type;
	const char *name;	  /* NULL: no wait has passed; else in the pool */
	struct trace_hold *holds; /* TRACE_HOLDS; NULL: none yet */
	uint32_t n_holds;
};

/* A wait that was written: that the task had a lock meanwhile may be known only later. */
struct trace_own {
	uint64_t id, begin_ns, end_ns;
};

struct trace_thread {
	int32_t pid, tid;
	const char *comm, *process; /* in the pool; NULL: not known */
	struct trace_own own[TRACE_OWN];
	uint32_t n_own; /* ever */
};

struct trace_links {
	struct map64 locks, threads; /* numbers, by what the model never gives again */
	struct trace_lock *lock_list;
	size_t n_locks, cap_locks;
	struct trace_thread *thread_list;
	size_t n_threads, cap_threads;
	struct wordset stacks; /* addresses, innermost first */
	struct map64 stack_numbers;
	uint64_t generation; /* of the model, when the latter were good */
	struct strpool pool;
	uint64_t n_holds;
};

struct trace_wait {
	const struct wait *w;
	uint64_t id; /* from 1 */
	uint64_t end_ns;
	int32_t ret;
	bool waiting; /* still, at the end */
	/* The rest only for who asks for links. */
	uint32_t lock, thread, stack;
	/* Who had the lock meanwhile: the one that had it longest first. */
	struct trace_hold *holds[TRACE_HOLDS];
	uint32_t n_holds;
};

/* One format. Answers are 0 or a negative errno. */
struct trace_sink {
	int (*wait)(struct trace_sink *s, const struct trace_wait *w);
	/* So many wait for @lock from then on. NULL: it need not know. */
	int (*waiting)(struct trace_sink *s, uint32_t lock, uint64_t time_ns, uint32_t n);
	int (*finish)(struct trace_sink *s);
	void (*free)(struct trace_sink *s);
	bool links; /* it asks for them */
};

struct tracefile {
	struct engine_watch watch;
	struct holds_watch holds;
	struct engine *engine;
	struct tracefile_spec spec;
	FILE *out;
	struct event_names names;
	struct event_filter *gate; /* NULL: all waits pass */
	struct trace_sink *sink;
	struct trace_links links;
	uint64_t n_waits, left_out;
};

/* chrome.c, perfetto.c, firefox.c: NULL: no memory. */
struct trace_sink *trace_chrome(struct tracefile *t);
struct trace_sink *trace_perfetto(struct tracefile *t);
struct trace_sink *trace_firefox(struct tracefile *t);
int trace_perfetto_check(struct error *err); /* 0, or -ENOTSUP: it was not built in */

/* trace-source.c: an object @key. */
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
/* Their numbers, made if they are new. 0: there is no room, or it is of nothing known. */
uint32_t trace_lock(struct tracefile *t, uint32_t lock);
uint32_t trace_thread(struct tracefile *t, uint32_t task);
uint32_t trace_stack(struct tracefile *t, uint32_t stack);
enum { TRACE_TASK = EVENT_NAMES_TEXT + 20 };
/* "make/812"; NULL: it is not known who. */
const char *trace_task(struct tracefile *t, uint32_t thread, char buf[TRACE_TASK]);
/* Who waited in call chain @stack; NULL: there is none. */
const char *trace_caller(struct tracefile *t, uint32_t stack, char buf[EVENT_NAMES_TEXT]);
/* So many wait for the lock of @w now, in either mode. */
uint32_t trace_waiting(const struct tracefile *t, const struct wait *w);
/* Fills in the links of @w. False: there is no room for the task. */
bool trace_link(struct tracefile *t, struct trace_wait *w);
/* @w has been written. */
void trace_linked(struct tracefile *t, const struct trace_wait *w);
/* Somebody had a lock: what the model tells. */
void trace_held(struct tracefile *t, const struct hold_told *h);
void trace_links_deinit(struct trace_links *l);

#endif
