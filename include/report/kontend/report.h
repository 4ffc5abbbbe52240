/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_H
#define KONTEND_REPORT_H

#include "kontend/heat-part.h"
#include "kontend/query-blame.h"
#include "kontend/query-hot.h"
#include "kontend/query.h"
#include <stdio.h>

enum report_format { REPORT_TEXT, REPORT_CSV, REPORT_JSON };

/* All views of reports, in order: name, and NAME of the bit. */
#define REPORT_VIEWS(X)                                                                            \
	X(overview, OVERVIEW)                                                                      \
	X(locks, LOCKS)                                                                            \
	X(waiters, WAITERS)                                                                        \
	X(chains, CHAINS)                                                                          \
	X(blocked, BLOCKED)                                                                        \
	X(why, WHY) /* what chosen tasks did */                                                    \
	X(held, HELD)                                                                              \
	X(blame, BLAME)                                                                            \
	X(did, DID)                                                                                \
	X(holds, HOLDS) /* part of "all" only with --holds; also holdchains, holdtasks */          \
	X(queues, QUEUES)                                                                          \
	X(mmap, MMAP)                                                                              \
	X(slots, SLOTS) /* and, but for CSV, holders and creations */                              \
	X(holders, HOLDERS)                                                                        \
	X(creations, CREATIONS)                                                                    \
	X(contexts, CONTEXTS) /* and, but for CSV, events */                                       \
	X(events, EVENTS)                                                                          \
	X(rotation, ROTATION)                                                                      \
	X(uprobes, UPROBES) /* and, but for CSV, xol */                                            \
	X(xol, XOL)	    /* areas of out-of-line slots */                                       \
	X(hot, HOT)                                                                                \
	X(flame, FLAME)                                                                            \
	X(tree, TREE)                                                                              \
	X(hist, HIST)                                                                              \
	X(heat, HEAT)                                                                              \
	X(incidents, INCIDENTS) /* caught by triggers; part of "all" only if a trigger was set */

enum report_view_place {
#define REPORT_PLACE(name, NAME) REPORT_AT_##NAME,
	REPORT_VIEWS(REPORT_PLACE)
#undef REPORT_PLACE
		REPORT_VIEW_COUNT
};

enum report_view {
#define REPORT_BIT(name, NAME) REPORT_##NAME = 1 << REPORT_AT_##NAME,
	REPORT_VIEWS(REPORT_BIT)
#undef REPORT_BIT
		REPORT_ALL = (1 << REPORT_VIEW_COUNT) - 1
};

/* "overview locks ... hist all" */
#define REPORT_WORD(name, NAME) #name " "
#define REPORT_VIEW_WORDS REPORT_VIEWS(REPORT_WORD) "all"
#define REPORT_LISTED(name, NAME) #name ", "
#define REPORT_VIEW_NAMES REPORT_VIEWS(REPORT_LISTED) "all" /* the same, with commas */

/* The weight of boxes in a flame graph. */
enum report_weight {
	REPORT_WEIGHT_ANY, /* samples if there are any, else wait */
	REPORT_WEIGHT_SAMPLES,
	REPORT_WEIGHT_WAIT,
	REPORT_WEIGHT_BLAME, /* wait, above the holders that are to blame */
};

/*
 * `query` applies to the tables: with several views, a table that has no such sort key or filter
 * column is shown without it. Rates are averages of the whole measured time. Locks are sorted by
 * total_ns by default. Contexts are by context unless query.by is BY_PROCESS, mmap_locks by process
 * unless it is BY_CGROUP.
 */
struct report_spec {
	enum report_format format;
	unsigned views; /* enum report_view, or-ed; CSV takes one only */
	struct query_spec query;
	bool is_by;	  /* query.by was chosen; else each view has its own default */
	bool is_blame_by; /* the same for the grouping of blame and did */
	enum query_blame_by blame_by;
	char csv_separator;	 /* 0: ',' */
	const char *source_kind; /* NULL: "live" */
	bool ascii;		 /* text: print ASCII only, apart from names */
	const char *fields;	 /* column keys of the first table, separated by commas; NULL:
				  * the default columns */
	const char *only;	 /* the filter of waits, as for wait_filter_set(); NULL: all */
	const char *only_words;	 /* its description, that of `part` included */
	struct heat_part part;	 /* only waits of these lengths */
	int32_t why_tid;	 /* why: this thread alone; 0: all that were chosen */
	bool follows;		 /* why: chosen tasks are followed in this measurement */
	bool is_range;		 /* text: print the part of the whole that the report covers */
	int width;		 /* text: limit, reached by leaving out the least important
				  * columns; 0: no limit */
	bool inverted, by_count; /* tree */
	enum query_hot_by hot_by;
	bool hot_locks;			      /* hot, flame: lock paths only */
	struct query_zoom zoom;		      /* hot, flame */
	enum report_weight weight;	      /* flame */
	double percent_limit;		      /* hot, tree: smaller rows are left out */
	double flame_limit;		      /* flame: smaller rows are left out */
	const struct verdict_limits *verdict; /* for the overview; NULL: verdict_defaults */
	const char *annotate; /* a function, shown after the views, if there are any; or NULL */
	bool no_source;	      /* its instructions without source lines between them */
};

/* Parses one of REPORT_VIEW_NAMES or several separated by commas: 0 or -EINVAL. */
int report_view_parse(const char *s, unsigned *ret);
struct table_def;
/* The table that sort key and filter apply to: the first of @views that takes them; NULL: none. */
const struct table_def *report_sorted_table(unsigned views);
int report_format_parse(const char *s, enum report_format *ret); /* "text", "csv", "json" */

/*
 * Writes the report on the model's data to @out. -EINVAL with @err for a wrong sort key or filter
 * (nothing was written then), or the errno of a failed write.
 */
int report_write(struct query *q, const struct report_spec *s, FILE *out, struct error *err);

struct incident;
struct jsonw;
struct record_host;

/* Writes the members of an incident. @wall_ns: when the trigger fired; 0: unknown */
void report_incident_json(struct jsonw *j, const struct incident *in, uint64_t wall_ns);
/* When the trigger fired, by the clock of the recording's machine; 0: unknown */
uint64_t report_incident_wall_ns(const struct record_host *h, const struct incident *in);
/* Writes lines that begin with '#'. */
void report_incident_text(FILE *out, const struct incident *in, uint64_t wall_ns);

#endif
