/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_UPROBE_H
#define KONTEND_QUERY_UPROBE_H

#include "kontend/query.h"
#include "kontend/upsnap.h"

/*
 * Uprobes and the areas of out-of-line slots, as the latest snapshot has them. All answers lie in
 * the query's arena, as those of query.h do.
 */

/* The latest snapshot; NULL: there is none (yet), *ret_why says why. */
const struct upsnap *query_uprobe_snap(struct query *q, const char **ret_why);

/* For the overview and the header lines of the views. */
struct query_uprobe_sum {
	bool known; /* there is a snapshot */
	uint32_t probes, areas, out_of_line;
	uint32_t waiting, single_step; /* tasks */
	bool rate_known;	       /* two looks have seen a probe, or there is none */
	double hits_per_s;
	bool cpu_known; /* cpu_pct: what a hit costs was measured, of all that were hit */
	double cpu_pct; /* of one CPU */
	/* The process whose area is fullest. */
	const char *worst; /* "app/931"; NULL: no process has an area, or it is not known */
	int32_t worst_used, worst_slots;
	uint64_t age_ns, cost_ns, walk_ns, interval_ns;
	enum upsnap_method method;
	uint32_t missing, incomplete, dropped;
	uint64_t ended_more; /* areas and probes that ended, and are in no table */
	const char *reason;  /* "" or why something is missing */
};

/* @average: rates are of the time since the first look. */
int query_uprobe_sum(struct query *q, bool average, struct query_uprobe_sum *ret);

/*
 * Facts that a snapshot lacks, by bit of enum upsnap_missing: the key of reports, and all of them
 * in words ("used slots, tasks in slots"; "" if nothing is missing).
 */
enum { QUERY_UPROBE_MISSING = 6 };
const char *query_uprobe_missing_key(unsigned bit);
const char *query_uprobe_missing_text(struct query *q, uint32_t missing);
/* "bpf", "proc"; NULL: not known. */
const char *query_uprobe_method_name(enum upsnap_method m);

/* Table "uprobes": a row a probe. */
int query_uprobe_probes(struct query *q, const struct query_spec *s, struct table *ret,
			struct error *err);
/* Table "upprocs": a row a process that probes count in or that has an area, and one for all. */
enum { QUERY_UPROBE_ALL = 1 }; /* id of that row; others have their pid + 1 */
int query_uprobe_processes(struct query *q, const struct query_spec *s, struct table *ret,
			   struct error *err);
/* Table "upwaits": a row a function of the kernel's code of uprobes that waits for locks. */
int query_uprobe_waits(struct query *q, const struct query_spec *s, struct table *ret,
		       struct error *err);
/* Table "xol": a row a process that has an area of slots. */
int query_uprobe_areas(struct query *q, const struct query_spec *s, struct table *ret,
		       struct error *err);
/* For a screen: two processes or more none of whose slots has been in use are one row. */
enum { QUERY_UPROBE_IDLE = 1 }; /* its id; others have the address of their mm */
int query_uprobe_areas_folded(struct query *q, const struct query_spec *s, struct table *ret,
			      struct error *err);
/* Table "uptasks": a row a task that is in a slot, or waits for one; @area: of that row of "xol"
 * only, 0: all. */
int query_uprobe_tasks(struct query *q, uint64_t area, const struct query_spec *s,
		       struct table *ret, struct error *err);
/* Table "uphits": a row a CPU on which the probe with the row id @probe was hit; 0: of all. */
int query_uprobe_hits(struct query *q, uint64_t probe, const struct query_spec *s,
		      struct table *ret, struct error *err);

extern const struct table_kind query_uprobe_probes_kind;
extern const struct table_kind query_uprobe_processes_kind;
extern const struct table_kind query_uprobe_waits_kind;
extern const struct table_kind query_uprobe_areas_kind;
extern const struct table_kind query_uprobe_tasks_kind;
extern const struct table_kind query_uprobe_hits_kind;

#endif
