/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_THREAD_H
#define KONTEND_SNAPSHOT_THREAD_H

#include "kontend/error.h"
#include "kontend/live.h"

/*
 * The thread that takes snapshots, so that the rings are drained meanwhile: a look goes through all
 * tasks, and takes long where these are many or CPUs are scarce. One round of looks at a time,
 * requested and collected by the drain. A body stays as it is until the next round is requested.
 *
 * Where ticks are shorter than a second, looks that do not have to be taken at each of them are
 * left out while they would take more than a thousandth of a CPU, each; once a second they are
 * taken whatever they cost.
 */
struct snapshot_thread;

enum snapshot_round {
	SNAPSHOT_START, /* those that are taken when measuring begins */
	SNAPSHOT_TICK,
	SNAPSHOT_LAST, /* the end of measuring */
};

struct snapshot_taken {
	struct snapshot_source *of;
	void *body; /* begins with room for struct record_snapshot; NULL: none this time */
	size_t len;
	uint64_t time_ns; /* that the round was asked for */
};

/* Starts the thread, which blocks all signals, for the list @sources (borrowed). */
int snapshot_thread_new(struct snapshot_thread **ret, struct snapshot_source *sources,
			struct error *err);
/* Waits for the round at hand, and for the thread. NULL is fine. */
void snapshot_thread_free(struct snapshot_thread *t);
/* Becomes readable when something can be collected. */
int snapshot_thread_fd(const struct snapshot_thread *t);
/* Is a round at hand, or not yet collected? */
bool snapshot_thread_is_busy(const struct snapshot_thread *t);
/* Requests a round of snapshots for @time_ns. Not while one is in progress. */
void snapshot_thread_ask(struct snapshot_thread *t, enum snapshot_round round, uint64_t time_ns);
/* The next one of the round that is done; false: none yet, or no more. */
bool snapshot_thread_collect(struct snapshot_thread *t, struct snapshot_taken *ret);
/* Waits until the round at hand is done; then all of it can be collected. */
void snapshot_thread_wait(struct snapshot_thread *t);
/* CPU time that all looks have used so far. */
uint64_t snapshot_thread_cost_ns(const struct snapshot_thread *t);

#endif
