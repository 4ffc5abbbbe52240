/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_BLAME_ROWS_H
#define KONTEND_QUERY_BLAME_ROWS_H

#include "../internal.h"
#include "../rows.h"
#include "kontend/hist.h"
#include "kontend/query-blame.h"
#include "kontend/query-flame.h"

/*
 * cells.c: the cells of charged time in the window of time that pass the filter. Time that is not
 * charged yet has no root. Without BLAME_PASSED and with lost_ns, the sum is the time of all waits.
 * Valid until the model takes the next event.
 */
struct query_blame_cells {
	const struct blame_cell *v;
	size_t n;
	uint64_t lost_ns;
};

int query_blame_cells(struct query *q, struct query_blame_cells *ret); /* 0 or -ENOMEM */

/* The identity of the root, as far as it is known. */
enum blame_who { BLAME_TASK, BLAME_READER, BLAME_OTHER, BLAME_NOBODY };

enum blame_who query_blame_who(const struct query *q, const struct blame_cell *c);

/* One row: sums of its cells. */
struct blame_group {
	uint64_t id, ns, chained_ns, last_ns;
	uint64_t state_ns[BLAME_STATES];
	struct blame_cost cost; /* of what was waited, in each kind of rows */
	uint32_t first;		/* a cell of it */
	uint32_t cells;		/* all, as index + 1 */
};

/* A sum over cells for which more than one is looked at. */
struct blame_weight {
	uint64_t key, ns;
	uint32_t cell;
};

struct chain_graph;
struct blame_rows {
	struct query *q;
	enum query_blame_by by;
	bool did; /* by time, of who had the very lock: else by what was waited */
	const struct query_scope *scope;
	struct query_blame_cells cells;
	uint32_t *next; /* of the same group, as index + 1 */
	struct blame_group *g;
	size_t n, cap;
	uint64_t all_ns;
	struct blame_weight *room; /* scratch, as many as cells */
	uint32_t lock;		   /* that the row which is filled names: the heaviest of it */
	struct chain_graph *now;   /* NULL: no chain ends with a sleep */
};

/* The dimension, as one of all tables, under which an order is cached. */
enum query_by blame_key(enum query_blame_by by);

/* Groups all cells that count. 0 or -ENOMEM. */
int blame_rows_sum(struct blame_rows *b);
bool blame_rows_count(const struct blame_rows *b, const struct blame_cell *c);
uint64_t blame_rows_ns(const struct blame_rows *b, const struct blame_cell *c);

/* In percent. */
static inline double blame_share(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

static inline const struct blame_cell *blame_first(const struct blame_rows *b,
						   const struct blame_group *g)
{
	return &b->cells.v[g->first];
}

/* why.c: what most of a group is charged for. */
struct blame_heaviest {
	uint64_t key, ns;
	uint32_t cell; /* of that key the one with most */
	bool many;     /* there are other keys */
};

/* By a key of cells, of which UINT64_MAX is none. */
bool blame_heaviest(struct blame_rows *b, const struct blame_group *g,
		    uint64_t (*key_of)(struct blame_rows *b, const struct blame_cell *c),
		    struct blame_heaviest *ret);

/* leader.c: to whom most of some charges is due. */
struct blame_leader {
	enum { BLAME_LEADER_TASK, BLAME_LEADER_PROCESS, BLAME_LEADER_NAMED } is;
	uint64_t key, ns;
	uint32_t cell;	/* its first one */
	uint32_t tasks; /* of them */
	bool has_first; /* the process's first thread is among these */
};

enum { BLAME_LEADER_LEAST_PCT = 10 }; /* a smaller share explains little */

/* Of @n cells, charged to tasks that are known. Returns false if there is no time. Needs room. */
bool blame_leader(struct blame_rows *b, const uint32_t *cells, size_t n, struct blame_leader *ret);
bool blame_leader_has(struct blame_rows *b, const struct blame_leader *l,
		      const struct blame_cell *c);
const char *blame_leader_comm(struct query *q, uint32_t task); /* never NULL */

/* The line of programs at which most of those charged had waited for their locks; NULL: not known.
 */
const char *blame_got_at(struct blame_rows *b, const struct blame_group *g);

void blame_weights_sort(struct blame_weight *w, size_t n); /* equal keys side by side */

struct blame_mostly {
	uint32_t state; /* enum blame_state */
	double pct;	/* of the group */
	/* Kept off by; asleep or running in; asleep for, or the lock; the system call in which it
	 * runs. NULL: unknown. */
	const char *who, *in, *what, *call;
};

void blame_mostly(struct blame_rows *b, const struct blame_group *g, struct blame_mostly *ret);
/* Why it is in that state: most of it. */
void blame_why(struct blame_rows *b, const struct blame_group *g, uint32_t state,
	       struct blame_mostly *ret);
/* "running 61%", "kept off by stress/99", "asleep: pipe is full, in pipe_write" */
const char *blame_mostly_text(struct query *q, const struct blame_mostly *m);
const char *blame_why_text(struct query *q, const struct blame_mostly *m); /* NULL: not known */
const char *blame_state_name(uint32_t state);				   /* "not_followed" */
const char *blame_state_words(uint32_t state); /* "holder not followed" */

/* Columns about the root, in waits and in did. */
struct blame_columns {
	size_t task, process, pid, tid, comm, stack, row, kind, lock, name, locks, lock_id, caller;
	size_t mostly, mostly_state, mostly_pct, mostly_who, mostly_in, mostly_what;
};

/* Ways to make rows in which a row is a task or a process. */
enum { BLAME_BY_WHO = 1 << BLAME_BY_TASK | 1 << BLAME_BY_PROCESS };

/* The system call and the line in which the lock was taken, of the heaviest. */
void blame_fill_origin(struct blame_rows *b, const struct blame_group *g, uint64_t want,
		       struct value *v);
void blame_fill_root(struct blame_rows *b, const struct blame_group *g, uint64_t want,
		     const struct blame_columns *at, struct value *v);
void blame_fill_mostly(struct blame_rows *b, const struct blame_group *g, uint64_t want,
		       const struct blame_columns *at, struct value *v);
/* did.c: the columns of waits and of did; @g may be NULL: then nothing is due to the row. */
void blame_fill_waits(struct blame_rows *b, const struct blame_group *g, uint64_t want,
		      struct value *v);
void blame_fill_did(struct blame_rows *b, const struct blame_group *g, uint64_t want,
		    struct value *v);
/* table.c: for the kinds of table in columns.c. */
void blame_fill(void *ctx, size_t row, uint64_t want, struct value *v);
void blame_rank(void *ctx, size_t row, struct row_rank *ret);

/* flame.c: query_flame() for a spec with blame. 0 or -ENOMEM. */
int blame_flame(struct query *q, const struct query_flame_spec *s, struct query_tree *ret);

/* held.c: holds that have ended, summed up as waits are. */
struct blame_holds {
	struct query *q;
	enum query_by by;
	const struct model *whole, *times; /* times: the one that is summed up */
	const struct model *overs;	   /* the same of hand-overs */
	struct groups gs, handed;
	bool has_window;
	uint64_t window_ns; /* of the query, while something is summed up */
	uint64_t all_ns;    /* waited for locks, by all */
	struct hist hist;   /* scratch */
};

int blame_holds_sum(struct blame_holds *h, const struct query_scope *scope); /* 0 or -ENOMEM */
/* The columns of held; @g may be NULL: the row holds no lock. */
void blame_fill_held(struct blame_holds *h, struct group *g, uint64_t want, struct value *v);

#endif
