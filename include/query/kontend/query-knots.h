/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_KNOTS_H
#define KONTEND_QUERY_KNOTS_H

#include "kontend/query.h"

/*
 * The tasks whose waiting would be worth most to remove: the knots of the wait-for graph of tasks
 * and locks. A task has edges to the locks that it waited for, a lock to the tasks that had it
 * meanwhile. A knot is a set of tasks that wait for each other, or one task that others wait for,
 * with no edges that lead out, or with at most a quarter of the waiting that ends there: waiting
 * ends there, whatever is done elsewhere. Edges of less than QUERY_KNOTS_PCT of all waiting are
 * left out. If more than QUERY_KNOTS_MERGE tasks have the same name they are one node, a process
 * or, if there are more processes than that, all of them.
 */
enum { QUERY_KNOTS_OUT_PART = 4 };
enum { QUERY_KNOTS_PCT = 1, QUERY_KNOTS_MERGE = 16, QUERY_KNOTS_MOST = 3, QUERY_KNOT_NAMES = 3 };

struct query_knot {
	uint64_t waited_ns; /* charged to its tasks */
	/*
	 * Waiting without a known holder, for locks that its tasks had at other times: they may
	 * have had them, or were about to get them. With it, this is the most that changes to these
	 * tasks can save.
	 */
	uint64_t open_ns;
	double waited_pct, at_most_pct; /* of all that was waited */
	uint64_t tasks;
	const char *names[QUERY_KNOT_NAMES]; /* of those with most, first */
	size_t n_names;
	const char *who;	    /* "mysqld/801, mysqld/802 and 3 more" */
	bool circle;		    /* they wait for each other */
	const char *lock, *kind;    /* because of which is waited most, and in which mode */
	uint64_t lock_id, addr;	    /* of its row by lock; 0: none */
	bool many_locks;	    /* there are others */
	const char *caller, *stack; /* where a task of it had got that lock; NULL: not known */
	/* The main activity of its tasks while they had it, as in "blame". */
	const char *mostly, *mostly_state, *mostly_who, *mostly_in, *mostly_what;
	double mostly_pct;
};

struct query_knots {
	uint64_t waited_ns;  /* by all */
	uint64_t unknown_ns; /* of it, what ends with holders of which it is not known who they are
			      */
	uint64_t nodes, edges;	  /* of the graph, those that are left out included */
	uint64_t weak_edges;	  /* left out */
	uint64_t weak_ns;	  /* waited along those of them that begin at tasks */
	uint64_t merged;	  /* tasks that are in a node with others */
	uint64_t found;		  /* knots */
	struct query_knot *knots; /* the strongest */
	size_t n;
	const char *refused; /* why there is nothing; NULL: there is */
};

int query_knots(struct query *q, size_t most, struct query_knots *ret); /* 0 or -ENOMEM */
/* "at most 61% of the waiting ends with mysqld/801: mmap_lock of mysqld, got in vm_munmap, mostly
 * asleep" into the arena; NULL: no memory. */
const char *query_knots_sentence(struct query *q, const struct query_knot *k);

#endif
