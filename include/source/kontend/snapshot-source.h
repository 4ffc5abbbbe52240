/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_SOURCE_H
#define KONTEND_SNAPSHOT_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Something that is looked at as a whole, at most once a tick, and becomes a SNAPSHOT record of the
 * stream. take() is called by a thread that does nothing else (snapshot-thread.h).
 */
struct snapshot_source {
	struct snapshot_source *next; /* that is taken after this one; NULL: none */
	uint16_t kind;		      /* enum record_snapshot_kind */
	uint16_t version;	      /* of the payload */
	atomic_bool has_tasks;	      /* the latest one has events of tasks, others than our own */
	/*
	 * The payload after a struct record_snapshot, which the caller fills in; borrowed until
	 * the next call. NULL: there is none this time. @last: it is the end of measuring.
	 */
	void *(*take)(struct snapshot_source *l, bool last, size_t *ret_len);
	bool at_start;		    /* taken once more when measuring begins */
	bool each_tick;		    /* whatever it costs; others: see snapshot-thread.h */
	uint64_t taken_ns, cost_ns; /* the thread's own: when it was taken last, and its CPU time */
};

#endif
