/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_ROWS_H
#define KONTEND_QUERY_ROWS_H

#include "kontend/query.h"
#include "kontend/taskid.h"
#include "kontend/wait-on.h"
#include "kontend/waitrec.h"

struct series;

/* rows.c: from rows that can be filled in to a table, filtered, sorted and cut. */
struct row_rank {
	uint64_t id;
	uint64_t order; /* the table's own order: descending */
	uint64_t tie;	/* equal keys: the greater first, then the smaller id */
};

struct row_source {
	const struct table_kind *kind;
	const struct column *columns; /* with other flags than the kind's; NULL: the kind's */
	const struct column *keys;    /* for sort key and filter; NULL: columns */
	size_t n;
	const char *sort; /* column to sort by where none was chosen; NULL: by row_rank.order */
	/* All depends on the spec and on the state of the model: orders may be kept, and rows out
	 * of the window have no values. */
	bool keeps;
	void *ctx;
};

int rows_answer(struct query *q, const struct query_spec *s, struct row_source *src,
		struct table *ret, struct error *err);
/* The kind's columns, to be changed, in the query's arena; NULL: no memory. */
struct column *rows_columns(struct query *q, const struct table_kind *kind);
/* Columns that say nothing of rows by @by have no flags: they are neither shown nor reported. */
struct column *rows_columns_by(struct query *q, const struct table_kind *kind, unsigned by);

static inline void value_u(struct value *v, uint64_t u)
{
	v->u = u;
	v->known = true;
}

static inline void value_u_least(struct value *v, uint64_t u, bool at_least)
{
	value_u(v, u);
	v->at_least = at_least;
}

static inline void value_i(struct value *v, int64_t i)
{
	v->i = i;
	v->known = true;
}

/* The number of a task or process; 0: of none. */
static inline void value_task(struct value *v, int32_t id)
{
	value_i(v, taskid_number(id));
	v->known = id != 0 && id != TASKID_OUTSIDE;
}

static inline void value_d(struct value *v, double d)
{
	v->d = d;
	v->known = true;
}

static inline void value_s(struct value *v, const char *s) /* NULL or "": not known */
{
	v->s = s;
	v->known = s && *s;
}

/* The cells of a row that say which task or process it is about; NULL: the table has none. */
struct task_cells {
	struct value *name; /* "COMM/ID" */
	struct value *pid, *tid, *comm;
};

void value_who(struct task_cells to, int32_t pid, int32_t tid, const char *comm);
/* The same from the model, with the name; the ids of TASK_OTHER are not known. */
void query_fill_task(struct query *q, uint32_t task, struct task_cells to);
void query_fill_process(struct query *q, uint32_t task, struct task_cells to);

/* The cells of a column and of its reason; of a line that is in a library only, with a tilde. */
struct query_origin;
void query_fill_syscall(const struct query_origin *o, struct value *v, struct value *reason);
void query_fill_at(const struct query_origin *o, struct value *v, struct value *reason);

/* The cost of waits: LOST and PAR. */
struct query_waits_cost {
	uint64_t waited_ns, lost_ns; /* lost_ns: at most all of it counts */
	uint64_t par_ns, par_of_ns;
	bool is_lost, unlost; /* of some waits lost_ns is known; of some it is not */
	bool at_least;
};

void query_fill_cost(const struct query_waits_cost *c, struct value *lost, struct value *pct,
		     struct value *par);

/*
 * names/on.c: what the system calls of some waits are on: that on which most of their time was
 * waited. Then the cells of a column and of its reason; of a lock of a file at least that file.
 */
struct group;
struct groups;
/* @on of a wait in @stack: a page fault within a system call is not on what that names. */
struct waitrec_on query_on_of(struct query *q, const struct waitrec_on *on, uint32_t stack);
void query_on_add_place(struct query *q, struct wait_on_most *best, uint32_t lock, uint32_t stack,
			uint64_t ns);
void query_fill_on(struct query *q, const struct wait_on_most *p, uint32_t lock, struct value *v,
		   struct value *reason);
void query_fill_group_on(struct query *q, const struct groups *gs, const struct group *g,
			 struct value *v, struct value *reason);

/* The last buckets of a series, oldest first. */
void value_series(struct query *q, struct value *v, const struct series *s, uint32_t n);

/* hist.c: the buckets of @h that are not empty as three series: see table_is_bucket(). */
struct hist;
int query_hist_lists(struct arena *a, const struct hist *h, struct value v[3]); /* 0 or -ENOMEM */
void query_hist_buckets(struct query *q, const struct hist *h, struct value v[3]);

#endif
