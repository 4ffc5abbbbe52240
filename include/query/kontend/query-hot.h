/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_HOT_H
#define KONTEND_QUERY_HOT_H

#include "kontend/pathgroup.h"
#include "kontend/query-tree.h"
#include "kontend/query-zoom.h"
#include "kontend/query.h"

/* The profile: where CPUs were when they were sampled. */

enum query_hot_by {
	HOT_SYMBOL,
	HOT_OBJECT,
	HOT_PROCESS,
	HOT_TASK,
	HOT_GROUP,
	HOT_CPU,
	HOT_STACK,
	QUERY_HOT_BYS,
};

const char *query_hot_by_name(enum query_hot_by by);	       /* "symbol", "object", ... */
int query_hot_by_parse(const char *s, enum query_hot_by *ret); /* 0 or -EINVAL */

struct query_hot_spec {
	struct query_spec rows; /* its `by` and `scope` are not looked at */
	enum query_hot_by by;
	bool locks; /* only samples in locking code, perf contexts, breakpoints, uprobes */
	const struct query_zoom *zoom; /* shares are of that part; NULL: of everything */
	double percent_limit;	       /* rows of less have no place in it */
	bool lines; /* with lines of source, for which debug information is read */
};

/* Table "hot". 0, -ENOMEM, or -EINVAL with @err. */
int query_hot(struct query *q, const struct query_hot_spec *s, struct table *ret,
	      struct error *err);
/* The same once all names and lines are there, which may take a while: for reports. */
int query_hot_named(struct query *q, const struct query_hot_spec *s, struct table *ret,
		    struct error *err);
extern const struct table_kind query_hot_kind;

/*
 * The call chains of a row of table "hot" (@row: its id; 0: of everything) as a tree with two
 * weights: samples (n), and what was waited for locks by the same paths (total_ns, of rows by
 * symbol, or everything). Of a symbol the chains are those that pass it: from it to its callers,
 * or, @inverted, to what it called. Else roots are where samples were taken, or the outermost
 * functions.
 */
struct query_hot_tree_spec {
	enum query_hot_by by;
	uint64_t row;
	bool locks, inverted;
	bool by_wait; /* sorted, and shares computed, by wait instead of by samples */
	const struct query_zoom *zoom;
};

int query_hot_tree(struct query *q, const struct query_hot_tree_spec *s, struct query_tree *ret);
/* The name of a row, in the arena; NULL: it is gone, or no memory. */
const char *query_hot_title(struct query *q, enum query_hot_by by, uint64_t row);

/*
 * Adds to @z what the row stands for; a function stands for its file. 0; -EINVAL: nothing, as call
 * chains do; -ENOSPC: there is no room for more terms; -ENOENT: the row is gone; -ENOMEM.
 */
int query_hot_zoom(struct query *q, enum query_hot_by by, uint64_t row, struct query_zoom *z);

/* The function of a row by symbol, as query_annotate() takes it. -ENOENT: it is gone; -ENOMEM. */
int query_hot_start(struct query *q, uint64_t row, uint64_t *ret);

/* For headers: what was sampled, and what of it is in which group. */
struct query_hot_sum {
	bool known;	   /* there is an event of the profile */
	bool chains;	   /* its samples have call chains */
	const char *event; /* "cpu-clock", "cycles", ... */
	uint64_t hz;	   /* samples a second asked for; 0: by count */
	uint64_t samples, locks, idle, shortened, other, ended;
	uint64_t no_task; /* of part: whose task is not kept, */
	const char *no_task_name;
	uint64_t unnamed; /* pieces of code that the kernel made, and whose name is not kept */
	uint64_t ever;	  /* samples; the others may be of a window alone */
	uint64_t hidden;  /* samples of recorded events that are not shown */
	uint64_t part; /* samples in the part that is zoomed into, which locks and groups are of */
	double per_s;
	double running_pct; /* the event counted so much of its time, NAN: not known; see below */
	uint64_t groups[PATH_ALL]; /* samples */
};

/* The event had to share its counter, so there are fewer samples than time that they stand for. */
bool query_hot_is_short(const struct query_hot_sum *s);

/* The load of each CPU that has samples, in order of CPUs. In the arena. */
struct query_hot_part {
	uint64_t samples, weight;
};

struct query_hot_cpus {
	struct query_hot_cpu {
		uint32_t cpu;
		struct query_hot_part all, groups[PATH_ALL];
	} * cpus;
	size_t n;
};

/* @zoom: NULL is everything. 0 or -ENOMEM. */
int query_hot_cpus(struct query *q, const struct query_zoom *zoom, struct query_hot_cpus *ret);
/* That of a row by group. */
enum path_group query_hot_row_group(uint64_t row);
/* Share of the CPU's samples that the group has. */
double query_hot_cpu_pct(const struct query_hot_cpu *c, enum path_group g);

/* The same of all CPUs. */
struct query_hot_spread {
	const uint64_t *shares; /* in hundredths of a percent, CPU after CPU */
	double max, median, min;
	uint32_t cpu; /* which has most */
};

int query_hot_spread(struct query *q, const struct query_hot_cpus *c, enum path_group g,
		     struct query_hot_spread *ret);

/* @zoom: NULL is everything. */
int query_hot_sum(struct query *q, const struct query_zoom *zoom, struct query_hot_sum *ret);
/* "rwsem", or one of one's own; "" for PATH_NONE, and where there is no such group. */
const char *query_hot_group_name(const struct query *q, enum path_group g);
/* The next function in a table "hot" that only tries to get locks, from row *@at on; NULL: none. */
const char *query_hot_trylock(const struct table *t, size_t *at);
/*
 * The next reason for which functions in a table "hot" have no names, from row *@at on, with the
 * number of its rows; NULL: none. Each reason is given once.
 */
const char *query_hot_unnamed(const struct table *t, size_t *at, size_t *ret_rows);
/* Why there are no rows. */
const char *query_hot_none(const struct query_hot_sum *s);

#endif
