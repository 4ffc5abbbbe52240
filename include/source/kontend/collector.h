/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_COLLECTOR_H
#define KONTEND_COLLECTOR_H

#include "kontend/drain.h"
#include "kontend/error.h"
#include "kontend/queue.h"
#include <pthread.h>
#include <stdatomic.h>

/*
 * The thread that drains a session's rings into the queue. Everything it works on is borrowed and
 * must outlive it. `= {0}` is one that was never started.
 */
struct collector {
	struct drain drain; /* the thread's own while it runs */
	struct queue *queue;
	atomic_ullong tick_ns;
	atomic_bool tick_asked; /* one is due at once */
	uint64_t first_tick_ns; /* see drain_begin() */
	bool realtime;		/* the thread calls collector_begin_realtime() */
	atomic_bool stopping, pausing;

	int wake_fd;
	pthread_t thread;
	bool ready, began, started;
};

/* Fill in the borrowed members, those of the drain too, then: */
int collector_init(struct collector *c, struct error *err);
/* Starts the thread, which blocks all signals. Ticks count from the first time on. */
int collector_start(struct collector *c, struct error *err);
/*
 * Stops the thread for a while. When this returns, all records that it has drained are in the
 * queue, which is closed if the session has ended. Until collector_start() the caller may use the
 * drain.
 */
void collector_pause(struct collector *c);
/* Was collector_stop() called? */
bool collector_is_stopping(const struct collector *c);
/* Makes the thread end the session; async-signal-safe, any number of times. */
void collector_stop(struct collector *c);
/* One tick as soon as possible, by any thread. */
void collector_tick_now(struct collector *c);
/* From now on a tick every @tick_ns. */
void collector_set_tick(struct collector *c, uint64_t tick_ns);
/* Stops and waits for the thread. Accepts a collector that was initialized in part. */
void collector_deinit(struct collector *c);
/*
 * The calling thread gets the CPU before others: for threads that drain rings, and for work that
 * would take ten times as long on a busy machine. Returns the earlier nice value, for
 * collector_relax().
 */
int collector_hurry(void);
void collector_relax(int before);

/*
 * Does the kernel let the calling thread run under SCHED_FIFO? The thread is back under the usual
 * policy after it. 0, or a negative errno with what would have to change.
 */
int collector_try_realtime(struct error *err);
/*
 * The calling thread runs before all tasks that are not real-time until it ends; its child
 * processes do not. The kernel's limit of real-time tasks (kernel.sched_rt_runtime_us) applies.
 */
void collector_begin_realtime(void);

#endif
