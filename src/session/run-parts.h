/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RUN_RUN_PARTS_H
#define KONTEND_RUN_RUN_PARTS_H

#include "kontend/error.h"
#include "kontend/kerntypes.h"
#include "kontend/live.h"
#include "kontend/lock-requests.h"
#include "kontend/opts.h"
#include "kontend/waitfeed.h"

struct kerntypes;
struct snapshot_source;
struct snapshot_uprobes;
struct run_look;
struct target;

/*
 * The sources of snapshots and waits of a run. Each *_new() returns 0 or a negative errno with
 * @err. The source that takes the snapshots borrows the parts: free it first.
 */

/* look.c: the snapshots of slots, events and contexts that a run takes at its ticks. */
int run_look_new(struct run_look **ret, const struct opts *o, struct kerntypes *types,
		 struct error *err);
struct snapshot_source *run_look_of(struct run_look *r); /* borrowed; NULL of NULL */
/* Of uprobes. */
struct snapshot_uprobes *run_look_uprobes(struct run_look *r); /* borrowed */
void run_look_free(struct run_look *r);

struct run_locks;

/*
 * locks.c: snapshots of locks, with their owners, holders and waiters. If they are not available
 * here, the snapshots say why.
 */
int run_locks_new(struct run_locks **ret, const struct opts *o, const struct target *target,
		  struct kerntypes *types, struct error *err);
void run_locks_child(struct run_locks *r, int pid);	     /* PID of the command; NULL is fine */
struct snapshot_source *run_locks_look(struct run_locks *r); /* borrowed */
struct lock_requests *
run_locks_ask(struct run_locks *r);	  /* for the engine; borrowed; NULL of NULL */
void run_locks_free(struct run_locks *r); /* after the source and the engine; NULL is fine */

struct run_phases;

/* phases.c: the sums of the probes of --phases. *ret is NULL without that option. */
int run_phases_new(struct run_phases **ret, const struct opts *o, struct kerntypes *types,
		   struct error *err);
struct snapshot_source *run_phases_look(struct run_phases *p); /* NULL: none */
void run_phases_free(struct run_phases *p);		       /* NULL is fine */

struct run_uprobes;

/* uprobes.c: snapshots of uprobes. */
int run_uprobes_new(struct run_uprobes **ret, const struct opts *o, struct kerntypes *types,
		    struct error *err);
struct snapshot_uprobes *run_uprobes_inner(struct run_uprobes *r); /* borrowed */
struct snapshot_source *run_uprobes_of(struct run_uprobes *r);	   /* borrowed */
void run_uprobes_free(struct run_uprobes *r);			   /* NULL is fine */

/*
 * waits.c: the BPF feed of waits, if it is available and @o does not ask for perf's events, and of
 * owners of locks, if @o asks for them; else NULL. If the kernel refuses programs that no option
 * demands, the run does without, and @refused says which, why, and what remains unknown. Not for a
 * kontend without BPF.
 */
int run_waits_new(struct waitfeed **ret, const struct opts *o, struct waitfeed_options w,
		  struct kerntypes *types, struct error *refused, struct error *err);
/* Adds to @refused that tasks outside of our PID namespace cannot be found, as @why says. */
void run_waits_refused(struct error *refused, bool inner, const struct error *why);

#endif
