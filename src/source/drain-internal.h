/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_DRAIN_INTERNAL_H
#define KONTEND_SOURCE_DRAIN_INTERNAL_H

/* Shared by drain*.c here: the parts of one step of the drain. */
#include "kontend/clock.h"
#include "kontend/drain.h"
#include <string.h>
#include <time.h>

/* In drain.polls: the descriptors of the caller, between those of the rings and the pidfd. */
enum { DRAIN_CALLERS = 2 };

static inline uint64_t drain_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline int drain_put(struct drain *d, enum record_kind kind, uint32_t ring, const void *data,
			    size_t len)
{
	return d->sink->put(d->sink->ctx, kind, ring, data, len);
}

/* A snapshot with a small payload. It is put even into a full queue: there are few a second. */
static inline void drain_put_snapshot(struct drain *d, const struct record_snapshot *head,
				      const void *payload, size_t len)
{
	struct {
		struct record_snapshot head;
		union {
			struct record_burst burst;
			struct record_cost cost;
			struct mmlevel_how mmaps;
		} payload;
	} r = {.head = *head};

	memcpy(&r.payload, payload, len);
	(void)d->sink->put_always(d->sink->ctx, RECORD_SNAPSHOT, 0, &r, sizeof(r.head) + len);
}

/* drain.c: puts what is in @r now into the sink, without later records. False: @r was empty. */
bool drain_take_ring(struct drain *d, struct drain_ring *r);

/* drain-cpus.c: finds CPUs and tasks that ended or returned. True: the session is to end. */
bool drain_check_liveness(struct drain *d, uint64_t now);

/* drain-gaps.c: after all rings were read, reports those that were full since the last step. */
void drain_gaps(struct drain *d);
/* The events of @r are open again: reports that earlier ones are missing. False: no room for it. */
bool drain_gap_ends(struct drain *d, const struct drain_ring *r);
/* The events are off, and the rings are read: adds the losses that no record has reported. */
void drain_gaps_end(struct drain *d);

/* drain-bursts.c: switches the events of mmap_locks on or off, as @d->mmaps says. */
void drain_mmaps(struct drain *d);
/* All events are off since @now: ends a burst that was on, and reports the counts. */
void drain_mmaps_end(struct drain *d, uint64_t now);
/*
 * Switches the events of context switches on or off. True: a burst has ended, at *@ret_until; its
 * last records are still in the rings.
 */
bool drain_switches_turn(struct drain *d, uint64_t *ret_until);
/* After these were read: reports the burst and its cost. */
void drain_switches_say(struct drain *d, uint64_t until);

/* drain-looks.c: starts the thread and requests the first snapshots. *@ret_fd: readable when some
 * are ready. */
int drain_looks_begin(struct drain *d, int *ret_fd, struct error *err);
/* Puts snapshots that are ready into the sink, and requests those of a tick that is due. */
void drain_looks(struct drain *d, uint64_t now);
/* Does a tick that is due wait for its snapshots? */
bool drain_looks_hold(const struct drain *d, uint64_t now);
/* Until when it waits at most. */
uint64_t drain_looks_held_until(const struct drain *d);
/* Takes the last snapshots, at the end of measuring, however long they take. */
void drain_looks_end(struct drain *d, uint64_t now);
/* The CPU time of all snapshots so far. */
uint64_t drain_looks_cost_ns(const struct drain *d);
void drain_looks_free(struct drain *d);

#endif
