/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RUN_RUN_PARTS_H
#define KONTEND_RUN_RUN_PARTS_H

#include "kontend/error.h"
#include "kontend/kerntypes.h"
#include "kontend/live.h"
#include "kontend/lock-requests.h"
#include "kontend/opts.h"
#include "kontend/waitfeed.h"

struct run_snapshots;
struct snapshot_uprobes;

/*
 * The sources of snapshots and waits of a run. Each *_new() returns 0 or a negative errno with
 * @err. The source that takes the snapshots borrows the parts: free it first.
 */

/*
 * snapshots.c: all kinds of snapshots that a run with these options takes, whose BPF programs a
 * thread begins to load. @late: it begins with run_snapshots_load(), measuring may begin before
 * they are loaded, and the first snapshots are taken when they are. If a kind is not available
 * here, its snapshots say why. @o and @target are borrowed.
 */
int run_snapshots_new(struct run_snapshots **ret, const struct opts *o, const struct target *target,
		      struct kerntypes *types, bool late, struct error *err);
/* Begins to load, if that is to be late: after what measuring waits for. NULL is fine. */
void run_snapshots_load(struct run_snapshots *r);
/*
 * Waits until all is loaded, unless it may come late: then a failure ends @live, which is borrowed.
 * NULL is fine. 0 or negative with @err.
 */
int run_snapshots_wait(struct run_snapshots *r, struct source *live, struct error *err);
/* For the live source: all kinds, as a list; borrowed; NULL of NULL. */
struct snapshot_source *run_snapshots_first(struct run_snapshots *r);
/* The locks that snapshots are asked for, by the engine; borrowed; NULL of NULL. */
struct lock_requests *run_snapshots_requests(struct run_snapshots *r);
/* Once all is loaded: of uprobes, which takes over the probes of --probe; borrowed; NULL of NULL.
 */
struct snapshot_uprobes *run_snapshots_uprobes(struct run_snapshots *r);
/* Are sleeps for locks of programs reported one by one (--user-locks events)? */
bool run_reports_users(const struct opts *o);
/* Call chains of waits have the part of the program. */
bool run_takes_user_frames(const struct opts *o);
/* Stacks of tasks that wait for long are unwound by snapshots. */
bool run_unwinds_sleepers(const struct opts *o);
/*
 * Before the source that takes them is made: @w says when tasks may wait for files, and measures
 * sleeps.
 */
void run_snapshots_waits(struct run_snapshots *r, struct waitfeed *w, struct kerntypes *types);
void run_snapshots_child(struct run_snapshots *r, int pid); /* PID of the command; NULL is fine */
void run_snapshots_free(
	struct run_snapshots *r); /* after the source and the engine; NULL is fine */

/*
 * waits.c: the BPF feed of waits, if it is available and @o does not ask for perf's events, and of
 * owners of locks, if @o asks for them; else NULL. If the kernel refuses programs that no option
 * demands, the run does without, and @refused says which, why, and what remains unknown. Not for a
 * kontend without BPF.
 */
int run_waits_new(struct waitfeed **ret, const struct opts *o, struct waitfeed_options w,
		  struct kerntypes *types, struct error *refused, struct error *err);
struct run_attach;

/*
 * Attaches the programs of @w by a thread: for each of its maps of rings the kernel waits until no
 * CPU can be using it, meanwhile the caller goes on. 0 or -ENOMEM with @err.
 */
int run_attach_new(struct run_attach **ret, struct waitfeed *w, pid_t command, struct error *err);
/* Waits until they are attached, and frees @a. NULL is fine. 0 or negative with @err. */
int run_attach_end(struct run_attach *a, struct error *err);
/* Adds to @refused that tasks outside of our PID namespace cannot be found, as @why says. */
void run_waits_refused(struct error *refused, bool inner, const struct error *why);

#endif
