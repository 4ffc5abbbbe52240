/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_H
#define KONTEND_REPORT_H

#include "kontend/query-hot.h"
#include "kontend/query.h"
#include <stdio.h>

enum report_format { REPORT_TEXT, REPORT_CSV, REPORT_JSON };

enum report_view {
	REPORT_LOCKS = 1,
	REPORT_WAITERS = 2,
	REPORT_OVERVIEW = 4,
	REPORT_TREE = 8,
	REPORT_HIST = 16,
	REPORT_SLOTS = 32, /* and, but for CSV, holders */
	REPORT_HOLDERS = 64,
	REPORT_CONTEXTS = 128, /* and, but for CSV, events */
	REPORT_EVENTS = 256,
	REPORT_ROTATION = 512,
	REPORT_UPROBES = 1024, /* and, but for CSV, xol */
	REPORT_XOL = 2048,     /* areas of out-of-line slots */
	REPORT_MMAP = 4096,
	REPORT_HOT = 8192,
	REPORT_FLAME = 16384,
	REPORT_ALL = 32767,
};

/* What a flame graph is weighed by. */
enum report_weight {
	REPORT_WEIGHT_ANY, /* samples where there are any, else wait */
	REPORT_WEIGHT_SAMPLES,
	REPORT_WEIGHT_WAIT,
};

/*
 * `query` is for the tables: with several views, one that has no such sort key or filter column is
 * shown without it. Rates are those of the whole time measured. Locks are sorted by total_ns unless
 * told otherwise. Contexts are by context unless query.by is BY_PROCESS, mmap_locks by process
 * unless it is BY_CGROUP.
 */
struct report_spec {
	enum report_format format;
	unsigned views; /* enum report_view, or-ed; CSV takes one only */
	struct query_spec query;
	char csv_separator;	 /* 0: ',' */
	const char *source_kind; /* NULL: "live" */
	bool ascii;		 /* text: no character beyond ASCII of our own */
	bool is_range;		 /* text: says which part of the whole it is about */
	int width;		 /* text: columns of least use are left out; 0: no limit */
	bool inverted, by_count; /* tree */
	enum query_hot_by hot_by;
	bool hot_locks;		   /* hot, flame: lock paths only */
	struct query_zoom zoom;	   /* hot, flame */
	enum report_weight weight; /* flame */
	double percent_limit;	   /* hot, tree: rows of less are left out */
	double flame_limit;	   /* flame: the same */
	const char *annotate; /* a function, shown behind the views, which may be none; or NULL */
	bool no_source;	      /* its instructions without lines of source between them */
};

/* REPORT_VIEW_NAMES, "all", or several with commas: 0 or -EINVAL. */
#define REPORT_VIEW_NAMES                                                                          \
	"overview, locks, waiters, mmap, slots, holders, contexts, events, rotation, "             \
	"uprobes, xol, hot, flame, tree, hist"
int report_view_parse(const char *s, unsigned *ret);
int report_format_parse(const char *s, enum report_format *ret); /* "text", "csv", "json" */

/*
 * Writes the report of what the model holds now to @out. -EINVAL with @err for a sort key or filter
 * that is wrong (nothing was written then), -EIO when writing failed.
 */
int report_write(struct query *q, const struct report_spec *s, FILE *out, struct error *err);

#endif
