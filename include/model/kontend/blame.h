/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BLAME_H
#define KONTEND_BLAME_H

#include "kontend/map64.h"
#include "kontend/recent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Blame: the time of all sure waits for a lock is charged, moment by moment, to the task at the
 * root: the holder of the lock or, while this holder waits for a lock itself, the holder of that
 * lock, and so on. See blame.c.
 */
enum blame_state {
	BLAME_UNKNOWN,	    /* who held the lock is not known */
	BLAME_NOT_FOLLOWED, /* that is known, but not what it did */
	BLAME_RUNNING,
	BLAME_RUNNABLE, /* ready to run, and another task had the CPU */
	BLAME_ASLEEP,
	BLAME_IO,     /* asleep, and the kernel counts that as waiting for I/O */
	BLAME_CIRCLE, /* it waited for a lock of one who waited for it */
	/* It waited for a lock: charged to the root as well, so that this is in no sum of blame. */
	BLAME_PASSED,
	BLAME_STATES,
};

/* Indices into the model's tables. */
struct blame_key {
	uint32_t lock, stack; /* that was waited for, and where */
	uint32_t root_lock;   /* because of which: that of the root */
	uint32_t task;	      /* who held it: TASK_OTHER: not known who */
	uint32_t got;	      /* call chain in which it had waited for it; STACK_OTHER: not known */
	/* RUNNING: its place in the last sample, as of profile_place(); RUNNABLE: the task that had
	 * the CPU; ASLEEP, IO: the chain of the sleep; PASSED: the lock that it waited for. 0: not
	 * known. */
	uint32_t why;
	uint16_t state;	 /* enum blame_state */
	uint16_t direct; /* `lock` and `root_lock` are the same lock, in whatever mode */
};

/*
 * The cost of waits, as far as it is known. LOST is charged from moment to moment, as the time is;
 * PAR is known when a wait ends, and is that of the part of it since blame has had the wait.
 */
struct blame_cost {
	uint64_t lost_ns;	    /* a CPU was idle that the tasks may use */
	uint64_t par_ns, par_of_ns; /* other threads ran so long, together, in so much of waits */
	bool is_lost, unlost;	    /* of some waits lost_ns is known; of some it is not */
};

static inline void blame_cost_add(struct blame_cost *to, const struct blame_cost *c)
{
	to->lost_ns += c->lost_ns;
	to->par_ns += c->par_ns;
	to->par_of_ns += c->par_of_ns;
	to->is_lost |= c->is_lost;
	to->unlost |= c->unlost;
}

static inline uint64_t blame_part(uint64_t ns, uint64_t part, uint64_t whole)
{
	if (part == whole)
		return ns;
	return whole ? (uint64_t)((long double)ns * part / whole) : 0;
}

struct blame_cell {
	struct blame_key key;
	uint64_t ns;	  /* waited, by all */
	uint64_t time_ns; /* of one cell of those that differ in lock and stack alone: how long */
	uint64_t cur_ns, cur_time_ns;	  /* of these, in the open bucket */
	struct blame_cost cost, cur_cost; /* of ns and of cur_ns */
	uint64_t last_ns;		  /* when that was charged last */
};

/* Waits for a lock in one place, or what was handed up to the lock. */
struct blame_class {
	uint32_t lock, stack;
	uint32_t n;	 /* in flight now */
	uint32_t n_lost; /* of these, with a known LOST */
	uint32_t next;
	uint64_t reported_ns, ns; /* waited until then, and not charged yet */
	uint64_t idle_ns;	  /* struct lost_clock as of then */
	struct blame_cost cost;	  /* of ns */
	/* The same for the waits that blame-undo.c takes out; 0 outside of it. */
	uint64_t gone_reported_ns, gone_ns;
	uint32_t gone;
};

/*
 * An entry of the log of charges: at `time_ns` blame moved `ns` of the `all` nanoseconds that had
 * added up in `class` to a cell, or to another class. Entries with the same `event` were made at
 * one moment, for one lock.
 */
struct blame_done {
	uint64_t time_ns, ns, all;
	uint64_t held_ns; /* how long the holder had the lock: added to the cell's `time_ns` */
	uint32_t class, to;
	uint32_t event;
	enum blame_to { BLAME_TO_CELL, BLAME_TO_PASSED, BLAME_TO_CLASS, BLAME_TO_NONE } how;
};

/* A wait whose end was lost. */
struct blame_gone {
	uint32_t class;
	uint64_t since_ns;
};

/* A task that has a lock for which others wait. */
struct blame_hold {
	uint32_t node, task, lock, got;
	uint32_t next;		  /* of the same node, or free */
	uint32_t of_task;	  /* the next one of its task */
	uint32_t blocked, beside; /* the node that it waits for; others that do */
	uint32_t why;
	uint16_t weight; /* so many readers */
	uint8_t state;
	bool circle;
	bool free;	  /* no task has the lock, and this one is to take it */
	bool taking;	  /* its wait for this lock is not over, and it has it, or is to take it */
	uint64_t got_ns;  /* 0: not known */
	uint64_t seen_ns; /* of a reported holder: when the last wait for the lock had begun */
};

/* A lock, both modes of it. */
struct blame_node {
	uint32_t refs, n;   /* entries of struct lock; sure waits in flight, */
	uint32_t n_writers; /* so many of them not to read */
	uint32_t n_children;
	uint32_t classes, holds, children; /* first ones; children: holds of those who wait here */
	bool busy;
	uint64_t reported_ns, time_ns; /* while it was waited for: not charged yet */
	uint64_t since_ns;	       /* the holders are the same */
	uint64_t begin_ns;	       /* of the wait that began last */
	uint64_t writes;	       /* of a percpu-rwsem: times that a writer had it, at least */
	/* The task that got it last, while no other task waited. */
	uint32_t last_task, last_lock, last_got;
	uint64_t last_ns;
	/* The holder before the last waiter got it, and what that holder did then. */
	uint32_t before_task;
	uint8_t before_state;
	uint64_t before_ns;
};

enum { BLAME_CIRCLES = 64 };

struct blame {
	uint32_t max; /* cells; 0: no blame is computed */
	struct blame_cell *cells;
	size_t n, cap;
	struct map64 index; /* hash of a key -> cell */
	uint32_t *touched;  /* cells with a part in the open bucket */
	size_t n_touched, cap_touched;
	struct recent recent; /* RECENT_WAIT: ns, RECENT_SAMPLE: time, of cells */
	/* Entry 0 of these is none; freed ones are lists. */
	struct blame_node *nodes;
	struct blame_class *classes;
	struct blame_hold *holds;
	size_t cap_nodes, cap_classes, cap_holds;
	uint32_t n_nodes, n_classes, n_holds, free_node, free_class, free_hold;
	bool following;				    /* records report what holders do */
	uint32_t n_circles, circles[BLAME_CIRCLES]; /* holds that close one */
	uint64_t not_followed;			    /* holders of which it was not */
	uint64_t lost_ns;			    /* charged to no cell, without memory */
	uint64_t doubtful_ns; /* taken out of cells again, as the ends of waits were lost */
	/* The log of charges, by time; entries of before floor_ns may be missing. */
	struct blame_done *done;
	size_t n_done, cap_done;
	uint64_t floor_ns;
	uint32_t event;
	struct blame_gone *gone;
	size_t n_gone, cap_gone;
	uint64_t folded; /* cells that were given up */
};

struct model;
/*
 * Where a task runs that has a lock for which others wait: the chain of profile_place(), by its
 * last sample since @since_ns. STACK_OTHER: that is not known, or it does not run.
 */
uint32_t blame_runs_in(const struct model *m, uint32_t task, uint64_t since_ns);
/* The chain in which the task had waited for the lock that it has; STACK_OTHER: not known. */
uint32_t blame_got_in(const struct model *m, uint32_t lock, uint32_t task);

#endif
