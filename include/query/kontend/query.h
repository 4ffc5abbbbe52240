/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_H
#define KONTEND_QUERY_H

#include "kontend/heat-part.h"
#include "kontend/map-numbers.h"
#include "kontend/map64.h"
#include "kontend/strpool.h"
#include "kontend/sym.h"
#include "kontend/table.h"

struct engine;
struct model;

/* The things that are rows of a table; also the dimensions to drill down by. */
enum query_by {
	BY_LOCK,
	BY_CALLER,
	BY_TASK,
	BY_PROCESS,
	BY_TYPE,
	BY_CPU,
	BY_CGROUP,
	BY_STACK,
	BY_OWNER, /* who held the lock when the wait began */
	BY_SYSCALL,
	BY_AT,	   /* the line of the program */
	QUERY_BYS, /* those that tables are made by; the others are for the rows of one table: */
	BY_MMAP = QUERY_BYS, /* a process, whose mmap_lock it is, and mode */
	BY_MMAP_MEMCG,	     /* its memory cgroup, and mode */
	QUERY_SCOPES,
};

const char *query_by_name(enum query_by by); /* "lock", "caller", ... */
/* 0 or -EINVAL; "memcg", as mmap_locks call it, is "cgroup". */
int query_by_parse(const char *s, enum query_by *ret);

/* Restricts a query to the cells (and waits) whose id in a dimension is the given one. */
struct query_scope {
	uint32_t mask; /* 1 << enum query_by */
	uint64_t id[QUERY_SCOPES];
};

struct query_spec {
	enum query_by by;
	struct query_scope scope;
	const char *sort; /* column key; NULL: the table's own order */
	bool reverse;
	const char *filter; /* see query_filter_check(); NULL or "": all */
	size_t limit;	    /* rows; 0: all */
	/* Rows whose values are all worked out: those that can be seen. Others have their id and
	 * what costs nothing. window_n 0: every row. */
	size_t window_first, window_n;
	bool average; /* rates over the whole time measured, not of the last closed bucket */
	/* Of waits that have ended alone: for who adds up several answers. Else MAX, AVG,
	 * percentiles and totals have those that go on, so far. */
	bool ended;
	bool buckets; /* histograms of rows too, where they have one: table_is_bucket() */
};

/*
 * Reads the model for views and reports. Answers lie in `arena`, valid until the next
 * query_begin(); names are cached over queries. Holds no state of the model: every query sums all
 * cells again, but with `keeps` (reuse.h), and its answers are the same.
 */
struct query {
	uint64_t frame; /* how many have begun: see held.h */
	const struct engine *engine;
	const struct model *model; /* the engine's, or what a filter leaves of it */
	uint64_t only;		   /* which filter: see wait-filter.h; 0: none */
	bool only_locks;	   /* it leaves all waits for a lock, or none */
	/* With the filter that is set next, or without one: these waits alone, of heatmaps. */
	struct heat_part part;
	bool part_of_waits;	  /* samples, which have no lengths, stay all the same */
	struct query_part *parts; /* the cells that they are */
	const struct sym *sym;
	struct arena arena;
	const struct query_incidents *incidents; /* query-incidents.h; borrowed; NULL */
	unsigned answers; /* tables being filled: their functions keep their numbers until then */
	bool keeps; /* for a screen: what does not change is not summed up again in each frame */
	/* Figures speak of the last so many ns alone, in whole ticks; 0, or where the model keeps
	 * nothing of late: of all since the sums began. */
	uint64_t window_ns;
	/* The recorded events that profiles are of, one bit for each number; 0:
	 * query_recorded_shown(). */
	uint64_t events;
	struct query_windows *windows; /* what they are summed up from */
	/* With `only`: which of the engine's cells, of who held locks, of hand-overs, of what is
	 * charged, and of the profile's, are left. In the arena. */
	const uint8_t *kept_cells, *kept_held, *kept_handed, *kept_charged, *kept_samples;
	const char *no_blame; /* and why that says nothing of what is charged; NULL: it does */
	struct query_cache
		*cache; /* stack -> caller symbol and such; dropped with a new generation */
	struct query_holds_cache *holds;   /* the same of holds */
	struct query_perf_cache *perf;	   /* the snapshot that was decoded last */
	struct query_queue_cache *queues;  /* the same of locks */
	struct query_uprobe_cache *uprobe; /* and that of uprobes */
	struct usersyms *users;		   /* NULL: no name of a program was asked for */
	uint64_t symbols_dropped;	   /* by earlier ones, that were too large */
	struct srclines *lines;		   /* NULL: no line of source was asked for */
	uint64_t n_lines;		   /* how often answers about lines came */
	struct map_numbers files;	   /* of their files, + 1; 0: not asked for yet */
	const struct snapshot *file_ids;   /* the build ids that they were asked for with */
	uint64_t names_waited_ns;	   /* by reports, for names of locks */
	/* Of locks of programs without a symbol: which have the end of their address alone. */
	struct query_ends {
		struct map64 by_end;
		size_t n; /* names of locks that were read */
	} ends;
	/* steady.c: names of locks that were shown. */
	struct query_steady {
		struct map64 at; /* lock -> index */
		struct query_steady_name {
			const char *text;
			uint32_t rank;
		} * names;
		size_t n, cap;
		struct strpool pool;
	} steady;
	size_t jitdumps_seen;		 /* objects that may be one */
	struct query_recorded *recorded; /* names that the recording has; NULL: not asked for */
	struct query_vmlinux *vmlinux;	 /* the kernel's file; NULL: not looked for */
	struct query_kmodules *kmodules; /* and those of its modules */
	struct srclines_text *texts;	 /* NULL: nor its text */
};

int query_init(struct query *q, const struct engine *e);
void query_deinit(struct query *q);
/* "10s", "10s (7s kept)" where there was no room for more, "all": what figures speak of. */
enum { QUERY_WINDOW_TEXT = 64 };
const char *query_window_text(const struct query *q, char buf[QUERY_WINDOW_TEXT]);
/* Starts a frame: forgets all earlier answers. */
void query_begin(struct query *q);

/* Tables "locks" (by any dimension) to "types". 0, -ENOMEM, or -EINVAL with @err. */
int query_locks(struct query *q, const struct query_spec *s, struct table *ret, struct error *err);
int query_waiters(struct query *q, const struct query_spec *s, struct table *ret,
		  struct error *err);
int query_cpus(struct query *q, const struct query_spec *s, struct table *ret, struct error *err);
/* Rows that it has. */
size_t query_count_cpus(const struct query *q);
int query_types(struct query *q, const struct query_spec *s, struct table *ret, struct error *err);

/*
 * The tables, with the columns that help and man page list. A column without flags is neither shown
 * nor reported: task_id, lock_id, caller_id of "waiters" are ids to drill down by. The columns of
 * "locks" are at the same places in every dimension; query_locks_has() returns whether a column has
 * a meaning there.
 */
extern const struct table_kind query_locks_kind, query_types_kind, query_waiters_kind,
	query_cpus_kind;
bool query_locks_has(enum query_by by, size_t column);

/*
 * A filter is a list of terms, all of which must hold: WORD (substring of any text column),
 * KEY:WORD or KEY=WORD (substring / equality in that column), KEY>N, KEY<N (units as in "5ms").
 * A leading ! negates. Double quotes keep blanks together. A KEY may be the column's title, too.
 * -EINVAL with @err naming the term that is wrong.
 */
int query_filter_check(const char *filter, const struct table_kind *kind, struct error *err);

/* Wait per bucket of a lock (scope BY_LOCK) or of all, oldest first, ns per s. */
struct query_series {
	const uint64_t *v;
	const uint64_t *all; /* the same buckets of everything: for the share */
	uint32_t n;
};

int query_series(struct query *q, const struct query_scope *scope, struct query_series *ret);

/* "rwsem:W 0xffff888012345678 (vm_mmap_pgoff)": title of a row id, for breadcrumbs. */
const char *query_title(struct query *q, enum query_by by, uint64_t id);

#endif
