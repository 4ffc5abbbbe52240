/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MODEL_H
#define KONTEND_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blame;
struct blocked;
struct runs;
struct preempted;
struct sleeps;
struct user_releases;
struct user_seen;
struct wait_ons;
struct cell_table;
struct cfiset;
struct ended;
struct event;
struct funcset;
struct holds;
struct lock_table;
struct lockname_set;
struct lockqueues;
struct longest_recent;
struct loss_state;
struct mmlocks;
struct model_before;
struct model_cpu;
struct model_damage;
struct model_limits;
struct model_tables;
struct model_type;
struct profile;
struct record_cpu;
struct record_drop;
struct record_fill;
struct record_host;
struct rotation;
struct series;
struct shorts_state;
struct snapshot_set;
struct stack_table;
struct task_table;
struct untracked_table;
struct file_holds;
struct wait_looks;
struct wait_pool;

/* Kinds of functions in the call chain of a wait. */
enum model_function {
	MODEL_FUNCTION_OTHER,
	MODEL_FUNCTION_TRACING,	  /* it does nothing but report the wait */
	MODEL_FUNCTION_RESILIENT, /* it waits for a resilient spinlock */
};

struct model_tracing {
	enum model_function (*function)(struct model_tracing *t, uint64_t addr);
};

/*
 * The whole state of a session: the waits in flight, and cells by lock, call chain, task and CPU,
 * from which queries sum up every table. It uses no clock, no screen and no names of functions;
 * time comes only from events and ticks.
 */
struct model {
	struct model_tables *tables; /* the memory of all that is pointed to below */
	struct model_limits *limits;
	struct record_host *host;
	struct task_table *tasks;
	struct lock_table *locks;
	struct stack_table *stacks;
	struct wait_pool *waits;
	struct untracked_table *untracked; /* waiting tasks without an entry in `tasks` */
	struct file_holds *file_holds;	   /* by tracepoints at each try to lock a file */
	struct longest_recent *past;	   /* the longest waits that have just ended */
	struct cell_table *cells;
	struct cell_table *held;   /* times for which holders kept others waiting: holds.c */
	struct cell_table *handed; /* times from a release to the next holder: release.c */
	struct cell_table
		*mm_held; /* how long mmap_locks were held, where events have call chains */
	struct holds *holds;
	struct blame *blame;	   /* waiting time by the task that caused it */
	struct lockqueues *queues; /* only if `held` has room */
	struct blocked *blocked;   /* tasks that snapshots saw to be blocked */
	struct user_releases *user_releases;
	struct user_seen *user_seen;
	struct wait_ons *ons;
	struct preempted *preempted; /* threads that others of their process keep off a CPU */
	struct sleeps *sleeps;	     /* in state D, each, if that is measured */
	struct runs *runs;	     /* what chosen tasks did, if that is measured */
	struct model_cpu *cpus;
	uint32_t n_cpus;
	struct model_type *types; /* LOCK_TYPES of them */
	struct model_damage *damage;
	struct loss_state *loss;
	uint64_t lost_until;	     /* records of before this time may be missing */
	uint64_t lost_tally;	     /* lost records, as each event reported at the end */
	bool no_ends;		     /* no ends of waits are recorded, only begins */
	bool no_locks;		     /* none of the events is about locks */
	uint64_t lost_ahead;	     /* of lost_tally: not reported by a ring yet */
	unsigned gap_rounds;	     /* rounds until dropped records are surely past */
	struct model_before *before; /* all 0: no range has begun */
	uint64_t n_events;	     /* contention events applied */
	uint64_t n_failed;	     /* ends with ret != 0: failed acquisitions */
	uint64_t min_wait_ns;	     /* --min-wait: shorter waits are only counted, */
	uint64_t n_short;	     /* in this one */
	uint64_t n_at_least;	     /* ended waits that may have begun earlier */
	struct shorts_state *shorts; /* waits that BPF only summed up */
	uint64_t start_ns;	     /* first round or event */
	bool start_known;	     /* no later event can change start_ns */
	uint64_t zero_ns;	     /* aggregates count from here (z key) */
	uint64_t now_ns;	     /* latest time known: event, round or tick */
	struct wait_looks *looks;
	uint64_t bucket_ns; /* the open bucket began here */
	uint64_t rate_ns;   /* length of the closed bucket, 0 = none closed yet */
	uint64_t n_ticks;
	uint64_t cur_n, rate_n; /* contention events */
	struct series *n_series, *wait_series, *waiting_series;
	uint32_t chain_limit; /* longest call chain seen: one that long may have been cut */
	uint32_t traced_most; /* frames that a chain was kept without, as they are of the tracing */
	struct model_tracing *tracing; /* NULL: none; borrowed, shared with copies */
	uint64_t next_fold;	       /* no folding for lack of ids before this many events */
	struct rotation *rotation;
	struct profile *profile;
	struct mmlocks *mmlocks;
	struct snapshot_set *snapshots; /* the latest of each kind that is understood */
	/* Of locks that before the latest, to compare. */
	struct snapshot_set *snapshots_before;
	uint64_t *n_snapshots; /* by kind: SNAPSHOT_KINDS of them */
	struct ended *ended;   /* entries of earlier snapshots; NULL: not kept; not copied */
	bool holders_reported, owners_reported; /* of a lock who had it; of a wait, as it began */
	struct lockname_set *lock_names;	/* shared with copies of the model */
	struct cfiset *cfi;    /* tables for unwinding in the recording; shared as well */
	struct funcset *funcs; /* functions that the recording describes; shared as well */
	uint64_t generation;   /* changes whenever ids may have been reassigned (fold, zero) */
	/* The wait that the event applied last began, went on with or ended; 0: none. One that has
	 * ended can be read until the next event, though it is no longer `used`. */
	uint32_t last_wait;
};

int model_init(struct model *m, const struct model_limits *limits /* NULL: defaults */);
/*
 * A copy that continues by itself: a checkpoint to come back to. Into an uninitialized @dst; names
 * are shared with @src. 0, or -ENOMEM with @dst empty.
 */
int model_copy(struct model *dst, const struct model *src);
void model_deinit(struct model *m);

/* Applies one event, in time order. 0 or -ENOMEM (the event is then counted as lost). */
int model_apply(struct model *m, const struct event *ev);
/* Prefetches the memory that the later ones of @n events need; the one at @i is applied next. */
void model_expect(struct model *m, const struct event *events, size_t i, size_t n);
/* Closes the bucket at @time_ns: rates, series. */
void model_tick(struct model *m, uint64_t time_ns);
void model_round(struct model *m, uint64_t time_ns);
/* The source is complete up to @time_ns: records that it dropped may be in the past. */
void model_settle(struct model *m, uint64_t time_ns);
void model_end(struct model *m); /* no event comes any more */
/* Time before @time_ns was not measured: figures per second count from here. */
void model_start(struct model *m, uint64_t time_ns);
void model_host(struct model *m, const struct record_host *host);
void model_drop(struct model *m, const struct record_drop *drop);
void model_fill(struct model *m, uint32_t cpu, const struct record_fill *fill);
void model_cpu_state(struct model *m, const struct record_cpu *cpu);
/* The body of a RECORD_SNAPSHOT. 0 or -ENOMEM; what cannot be taken is counted. */
int model_snapshot(struct model *m, const void *body, size_t len);
uint64_t model_n_snapshots(const struct model *m); /* snapshots of all kinds that were taken */
/* Forgets the aggregates; waits in flight, tasks and damage stay. */
void model_zero(struct model *m);
/* The same, and counts of damage and events start from here as well: a range begins. */
void model_range(struct model *m);
/* Since the range began; without one, since the start. */
struct model_damage model_damage(const struct model *m);
/* Bytes the model holds. */
size_t model_bytes(const struct model *m);

#endif
