/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_THREAD_H
#define KONTEND_SNAPSHOT_THREAD_H

#include "kontend/error.h"
#include "kontend/live.h"

/*
 * The thread that takes snapshots, so that the rings are drained meanwhile: a snapshot walks
 * through all tasks, which takes long if there are many or CPUs are busy. The drain requests and
 * collects one round of snapshots at a time. A body stays unchanged until the next round is
 * requested.
 *
 * If ticks are shorter than a second, snapshots that need not be taken at each tick are left out
 * while each would take more than a thousandth of a CPU; once a second they are taken at any cost.
 */
struct snapshot_thread;

enum snapshot_round {
	SNAPSHOT_START, /* those of the start of measuring */
	SNAPSHOT_TICK,
	SNAPSHOT_LAST, /* the end of measuring */
};

struct snapshot_taken {
	struct snapshot_source *of;
	void *body; /* begins with room for struct record_snapshot; NULL: none this time */
	size_t len;
	uint64_t time_ns; /* when the round was requested; SNAPSHOT_START: before it was taken */
};

/* Starts the thread, which blocks all signals, for the list @sources (borrowed). */
int snapshot_thread_new(struct snapshot_thread **ret, struct snapshot_source *sources,
			struct error *err);
/* Waits for the current round, and for the thread. NULL is fine. */
void snapshot_thread_free(struct snapshot_thread *t);
/* Becomes readable when something can be collected. */
int snapshot_thread_fd(const struct snapshot_thread *t);
/* Is a round in progress, or not collected? */
bool snapshot_thread_is_busy(const struct snapshot_thread *t);
/* Requests a round of snapshots for @time_ns. Not while one is in progress. */
void snapshot_thread_ask(struct snapshot_thread *t, enum snapshot_round round, uint64_t time_ns);
/* The next snapshot of the finished round; false: none yet, or no more. */
bool snapshot_thread_collect(struct snapshot_thread *t, struct snapshot_taken *ret);
/* Waits until the current round is done; then all of it can be collected. */
void snapshot_thread_wait(struct snapshot_thread *t);
/* CPU time of all snapshots so far. */
uint64_t snapshot_thread_cost_ns(const struct snapshot_thread *t);

#endif
