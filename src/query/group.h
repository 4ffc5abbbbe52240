/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_GROUP_H
#define KONTEND_SRC_QUERY_GROUP_H

#include "kontend/map64.h"
#include "kontend/query.h"

struct cell;
struct cell_sums;
struct hist;
struct query_origin;
struct wait;

/* Where something was waited for: what a cell and a wait in flight have in common. */
struct query_where {
	uint32_t lock, stack, task;
	uint16_t cpu;
	uint32_t owner;
};

/* Cells and waits in flight with the same key, summed up. */
struct group {
	uint64_t id;
	uint64_t n, total_ns, min_ns, max_ns, last_ns;
	uint64_t rate_wait_ns, rate_n, failed;
	uint64_t inflight_ns; /* time that the sure waits in flight have lasted, together */
	uint64_t longest_ns;  /* and the longest of them */
	uint32_t n_inflight;  /* how many these are */
	uint64_t waited_ns;   /* since the sums began, by all sure waits, those in flight too */
	uint64_t spun_ns;     /* the part of it, or of the window, in which they spun, */
	uint64_t lost_ns;     /* or in which a CPU was idle */
	/* In waits that have ended other threads of their processes ran so long, together; in how
	 * much of them that is known. */
	uint64_t par_ns, par_of_ns;
	uint32_t waiting;
	uint32_t cells, waits; /* heads of its lists, as index + 1 */
	struct query_where first;
	uint32_t func;
	/* Worked out when first asked for. */
	uint32_t n_locks;    /* 0: not yet */
	uint32_t worst_lock; /* when n_locks is known */
	uint32_t hottest;    /* its caller, + 1 */
	uint64_t pct_ns[3];
	bool has_pct;
	uint8_t type;
	/* Waits of it are left out as they are doubtful: of the sums, of the rates. */
	bool at_least, at_least_now;
	bool many_locks, many_types, many_bases, many_callers;
	bool is_split, unsplit; /* the kernel reports spinning: of any lock; but not of all waits */
	bool is_lost, unlost;	/* of any wait it is known whether a CPU was idle; of some not */
	bool has_shorts;	/* of some waits only the sum is known: see shorts.h */
};

/* Of waits that have ended, and of those in flight so far, unless they are left out. */
struct group_times {
	uint64_t n, total_ns, max_ns;
	bool at_least, max_at_least; /* some go on: of the sums; and of the longest */
};

struct groups {
	struct arena *arena; /* where all this lies, but for the scratch */
	struct group *g;
	size_t n, cap, mask;
	uint32_t *slots; /* open addressing on the id */
	uint32_t *cell_next, *wait_next;
	/* Scratch: locks met in the group at hand. */
	struct lock_seen {
		uint32_t stamp;
		uint64_t ns;
	} * lock_seen;
	uint32_t stamp;
};

uint64_t query_id(struct query *q, enum query_by by, const struct query_where *w);
bool query_in_scope(struct query *q, const struct query_scope *s, const struct query_where *w);
/* The group with that id; NULL: there is none. */
const struct group *query_group_find(const struct groups *gs, uint64_t id);
int query_group(struct query *q, enum query_by by, const struct query_scope *scope,
		struct groups *ret);
/* The same, in that arena and not in the query's. */
int query_group_in(struct query *q, enum query_by by, const struct query_scope *scope,
		   struct arena *arena, struct groups *ret);
/*
 * The time that waits have spun: those of a cell, in the window if there is one; and one in flight.
 * False: the kernel does not report it for such locks.
 */
bool query_cell_spun(const struct query *q, const struct cell *c, const struct cell_sums *s,
		     uint64_t *ret);
bool query_wait_spun(const struct model *m, const struct wait *w, uint64_t *ret);
void query_group_hist(struct query *q, const struct groups *gs, const struct group *g,
		      struct hist *ret);
struct group_times query_group_times(const struct group *g, bool ended);
/* Counts the sure waits in flight, so far, in @h. */
void query_group_inflight(struct query *q, const struct groups *gs, const struct group *g,
			  struct hist *h);
/* Adds to what the caller has cost since `stamp` last changed; *best: the one that cost most. */
void query_heat(struct query *q, uint32_t *best, uint32_t stack, uint64_t ns);
uint32_t query_group_caller(struct query *q, const struct groups *gs, struct group *g);
/*
 * group-origin.c: of call chains the origin with most time, as to the part that @by is about; those
 * that lack it give way. The list begins with `q` and `by` alone.
 */
struct origin_part;
struct origin_parts {
	struct query *q;
	enum query_by by;
	struct map64 index; /* id -> part */
	struct origin_part *list;
	size_t n, cap;
};

void query_origin_add(struct origin_parts *p, uint32_t stack, uint64_t ns);
/* Ends the list. NULL: there is no time. *ret_many: there are several. */
const struct query_origin *query_origin_most(struct origin_parts *p, bool *ret_many);
/* The same of a group of waits. */
const struct query_origin *query_group_origin(struct query *q, const struct groups *gs,
					      const struct group *g, enum query_by by,
					      bool *ret_many);
size_t query_group_locks(struct query *q, struct groups *gs, struct group *g);
/* The one that cost most. */
uint32_t query_group_worst_lock(struct query *q, struct groups *gs, struct group *g);

struct blame_cell;
struct cell_table;
struct profile;

/* window.c: returns true if figures cover the query's window, else all time since the sums began.
 */
bool query_has_window(const struct query *q);
/* The begin of the window; 0: figures cover everything. */
uint64_t query_window_begin(const struct query *q);
/*
 * The cells, and the profile, that figures are sums of: the model's, or those of the window. Call
 * query_sync() before. Valid until the model takes the next event. Without memory some are missing;
 * then the cache's `failed` is set, and the query must not return an answer.
 */
const struct cell_table *query_cells(struct query *q);
const struct cell_table *query_held_cells(struct query *q);   /* of holds */
const struct cell_table *query_handed_cells(struct query *q); /* of hand-overs */
/* The same for blame: the number of cells. */
const struct blame_cell *query_charged(struct query *q, size_t *ret_n);
const struct profile *query_profile(struct query *q);
/* The part of @p that is of the chosen events, in the arena; @p itself if that is all of it. */
const struct profile *query_recorded_profile(struct query *q, const struct profile *p);
/* The length of the time that rates of these cells cover: the last closed bucket, or the window. */
uint64_t query_rate_ns(const struct query *q);
void query_window_deinit(struct query *q);

#endif
