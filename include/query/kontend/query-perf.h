/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_PERF_H
#define KONTEND_QUERY_PERF_H

#include "kontend/locktype.h"
#include "kontend/perfsnap.h"
#include "kontend/query.h"

/*
 * Breakpoint slots, perf events and their contexts, as the latest snapshot has them. All answers
 * lie in the query's arena, as those of query.h do.
 */

/*
 * Slots and breakpoints are looked at more often than everything, so the latest snapshots of both
 * may be of different moments.
 */
enum query_perf_part {
	QUERY_PERF_SLOTS,  /* slots, registers, breakpoints and who has them */
	QUERY_PERF_EVENTS, /* contexts and all events */
	QUERY_PERF_PARTS,
};

/* The latest snapshot with this part; NULL: there is none (yet), *ret_why says why. */
const struct perfsnap *query_perf_snap(struct query *q, enum query_perf_part part,
				       const char **ret_why);

/* When a part was looked at, and how well. */
struct query_perf_look {
	uint64_t age_ns;
	uint64_t interval_ns; /* since the look before; 0: it was the first */
	uint64_t cost_ns;     /* CPU time of this one */
	double cost_per_s;    /* ns of one CPU per second; 0: not known */
	uint32_t incomplete, dropped;
};

/* For the overview and the header lines of the views. */
struct query_perf_sum {
	bool known;	      /* there is a snapshot */
	bool slots_known;     /* used and slots */
	uint32_t slots, used; /* of all CPUs */
	uint32_t events, own; /* perf events without kontend's own, and those */
	uint32_t contexts;    /* with other events than kontend's own */
	uint32_t breakpoints;
	uint32_t rotating; /* contexts whose events take turns */
	uint32_t starved;  /* enabled events that wait for their turn now */
	bool opened_known;
	double opened_per_s; /* perf events created per second, by all processes */
	struct query_perf_look look[QUERY_PERF_PARTS];
	bool is_one;	     /* there are no looks at slots alone */
	uint64_t ended_more; /* contexts and breakpoints that ended, and are in no table */
	enum snap_method method;
	uint32_t missing;
	const char *reason; /* "" or why something is missing */
};

int query_perf_sum(struct query *q, struct query_perf_sum *ret);

/*
 * Facts that a snapshot lacks, by bit of enum snap_missing: the key of reports ("events"), and all
 * of them in words ("events, debug registers"; "" if nothing is missing).
 */
enum { QUERY_PERF_MISSING = 7 };
const char *query_perf_missing_key(unsigned bit);
const char *query_perf_missing_text(struct query *q, uint32_t missing);
/* "bpf", "probe"; NULL: not known. */
const char *query_perf_method_name(enum snap_method m);
/*
 * "cost 633us/s" of @part, with both: "cost slots 633us/s, events 1.9ms/s"; of a first look what
 * that one took. Into @buf.
 */
const char *query_perf_cost_text(const struct query_perf_sum *s, enum query_perf_part part,
				 bool both, char *buf, size_t size);

struct query_perf_lock {
	const char *name; /* "bp_cpuinfo_sem" */
	enum lock_type type;
	uint64_t contended, total_ns, max_ns;
	uint32_t waiting;
};

/* Waits for the locks around the slots: those whose caller is sym_is_slot_function(). */
struct query_perf_waits {
	double per_s, wait_ns_per_s; /* of the last bucket, or of all that was measured */
	uint64_t contended, total_ns, max_ns;
	bool at_least, max_at_least; /* waits go on: of the total; and of the longest */
	uint32_t waiting;
	const char *caller; /* where most was waited; NULL: no task waited */
	/* By lock and mode, what was waited for most first; those of which each task has one are
	 * one. A lock is here if most of its waits are of such callers. */
	const struct query_perf_lock *locks;
	size_t n_locks;
};

int query_perf_waits(struct query *q, bool average, struct query_perf_waits *ret);

/* Table "slots": a row a CPU and pool. */
int query_perf_slots(struct query *q, const struct query_spec *s, struct table *ret,
		     struct error *err);
/* Table "holders": a row a breakpoint. Without events: a row a descriptor of a perf event. */
int query_perf_holders(struct query *q, const struct query_spec *s, struct table *ret,
		       struct error *err);
/* Table "contexts": a row a context; spec.by BY_PROCESS: a row a process that opened events. */
int query_perf_contexts(struct query *q, const struct query_spec *s, struct table *ret,
			struct error *err);

/* Which events: 0 members do not restrict. */
enum { QUERY_NOBODY = -1 }; /* as process: no process is known that opened or keeps it */
struct query_events_scope {
	uint64_t context; /* id of a row of "contexts" */
	int32_t process;  /* that opened them, or holds a descriptor */
	uint64_t event;	  /* this one and those that were inherited from it */
};

/* Table "events": a row an event. */
int query_perf_events(struct query *q, const struct query_events_scope *scope,
		      const struct query_spec *s, struct table *ret, struct error *err);

/* The event in a sentence: what it is, who opened it. NULL: it is gone, or no memory. */
const char *query_perf_event_text(struct query *q, uint64_t id);

extern const struct table_kind query_perf_slots_kind;
extern const struct table_kind query_perf_holders_kind;
extern const struct table_kind query_perf_contexts_kind;
extern const struct table_kind query_perf_events_kind;

/* The slots of one CPU and pool as a board has them: a cell a slot. */
enum query_cell_kind {
	CELL_FREE,
	CELL_CPU,     /* taken by an event of the CPU */
	CELL_TASK,    /* taken by an event of the task that has most there */
	CELL_UNKNOWN, /* taken or free: not known */
};

struct query_cell {
	enum query_cell_kind kind;
	bool in_register;  /* is in a debug register of that CPU at this moment */
	const char *who;   /* "gdb/812", "" if not known */
	uint64_t event_id; /* 0: not known */
};

/* The cells of row @row_id of "slots"; *ret_n of them, 0 if the CPU is not in the snapshot. */
const struct query_cell *query_perf_board(struct query *q, uint64_t row_id, size_t *ret_n);

/*
 * Table "creations": a row for each process that has created breakpoints since the first snapshot,
 * from the latest one.
 */
int query_perf_creations(struct query *q, const struct query_spec *s, struct table *ret,
			 struct error *err);

/* Sums of all of them. */
struct query_perf_creations_sum {
	enum snap_creations how;
	uint64_t created, refused, lost; /* lost: without room for their task */
	const char *who; /* the task that created, or was refused, most; NULL: none */
	uint64_t most;	 /* breakpoints that it created */
	/* "gdb/30500", or several: "perf/31038 4, gdb/30500 1"; "": none, or unknown. */
	const char *refused_who;
	const char *reason; /* why some are not seen although all should be; "" */
};

/* 0 or -ENOMEM. */
int query_perf_creations_sum(struct query *q, struct query_perf_creations_sum *ret);
extern const struct table_kind query_perf_creations_kind;

#endif
