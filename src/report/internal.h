/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_INTERNAL_H
#define KONTEND_REPORT_INTERNAL_H

#include "blame.h"
#include "format.h"
#include "kontend/query-annotate.h"
#include "kontend/query-blocked.h"
#include "kontend/query-chains.h"
#include "kontend/query-cost.h"
#include "kontend/query-flame.h"
#include "kontend/query-heatmap.h"
#include "kontend/query-hist.h"
#include "kontend/query-holds.h"
#include "kontend/query-hot.h"
#include "kontend/query-lock.h"
#include "kontend/query-mmap.h"
#include "kontend/query-overview.h"
#include "kontend/query-perf.h"
#include "kontend/query-queued.h"
#include "kontend/query-recorded.h"
#include "kontend/query-rotation-phases.h"
#include "kontend/query-rotation.h"
#include "kontend/query-shorts.h"
#include "kontend/query-uprobe.h"
#include "kontend/query-verdict.h"
#include "kontend/query-why.h"
#include "kontend/report.h"
#include "kontend/table.h"

struct report_data;

/* flame.c: the flame graph and its options. */
struct report_flame {
	struct query_flame_rows rows;
	bool by_wait;
	const char *refused; /* why the graph cannot show blame; NULL: it can */
};

int report_flame_ask(struct report_data *d, const struct query_spec *s, struct error *err);
void report_flame_text(const struct report_data *d, FILE *out);
void report_flame_json(const struct report_data *d, struct jsonw *j);

/* heat.c: waits by time and length. */
int report_heat_ask(struct report_data *d, const struct query_spec *s, struct error *err);
void report_heat_text(const struct report_data *d, FILE *out);
void report_heat_json(const struct report_data *d, struct jsonw *j);

/* holds.c: how long locks were held, waited for or not. */
int report_holds_ask(struct report_data *d, const struct query_spec *s, struct error *err);
void report_holds_text(const struct report_data *d, FILE *out);
void report_holds_json(const struct report_data *d, struct jsonw *j);

/* mmap.c: times of the mmap_locks of a memory cgroup in one mode: waiting, acquiring, holding. */
struct report_mmap_hist {
	const char *memcg, *mode;
	struct query_hist waited, acquired, held;
};

/* mmap_locks by process, memory cgroup or call path. */
int report_mmap_ask(struct report_data *d, const struct query_spec *s, struct error *err);
void report_mmap_text(const struct report_data *d, FILE *out);
void report_mmap_text_worst(const struct report_data *d, FILE *out);
void report_mmap_json_worst(const struct report_data *d, struct jsonw *j);
void report_mmap_json(const struct report_data *d, struct jsonw *j);

/* --annotate adds a part that is no view, but is queried and written like one. */
enum { REPORT_AT_CODE = REPORT_VIEW_COUNT, REPORT_CODE = 1 << REPORT_AT_CODE };

/* All answers that a report shows; they are collected before the first byte is written. */
struct report_data {
	struct query *q;
	const struct report_spec *spec;
	unsigned views;			/* enum report_view, or-ed, with the views that others
					 * bring along */
	struct query_overview overview; /* always: the header says how reliable the report is */
	struct query_recorded recorded; /* always */
	struct query_cost cost;		/* always */
	struct query_shorts shorts;	/* always */
	struct query_perf_sum perf;	/* always */
	struct query_verdict verdict;	/* of the overview */
	struct query_perf_waits slot_waits;
	struct query_perf_creations_sum creations_sum; /* with creations */
	struct query_rotation_sum rotation_sum;	       /* always */
	struct query_rotation_costs rotation_costs;
	struct query_rotation_phases phases;
	struct query_rotation_what_if *what_ifs;
	size_t n_what_ifs;
	struct query_chains_sum chains_sum;
	struct query_blocked_sum blocked_sum;
	struct query_sleeps sleeps;
	struct query_why_sum why_sum;
	const struct query_why_block *why_blocks;
	size_t n_why_blocks;
	struct query_lock_look lock_look; /* always */
	struct report_blame blamed;
	struct query_queued_sum queued_sum;
	struct query_holds_sum holds_sum;
	struct table holds, holdchains, holdtasks;
	struct table types, cpus, locks, waiters, chains, blocked, why, held, blame, did, queues,
		slots, holders, creations, contexts, events, rotation, incidents;
	struct query_mmap_sum mmap_sum;	     /* always */
	struct table mmap, mmap_worst;	     /* mmap_worst: for the overview */
	struct report_mmap_hist *mmap_hists; /* by memory cgroup: one for each row */
	size_t n_mmap_hists;
	struct query_hot_sum hot_sum;
	struct table hot;
	struct query_hot_cpus hot_cpus; /* by group */
	struct report_flame flame;
	struct query_annotate annotate; /* with spec->annotate */
	struct query_uprobe_sum uprobe; /* always */
	struct table uprobes, upprocs, upwaits, xol, uptasks;
	struct query_tree tree;
	struct query_hist hist;
	struct query_heatmap_rows heat;
};

/* The text and JSON of one or more views. */
struct report_part {
	unsigned views; /* written if one of these is asked for */
	void (*text)(const struct report_data *d, FILE *out);
	void (*json)(const struct report_data *d, struct jsonw *j);
};

extern const struct report_part report_parts[]; /* in the order of the report; views 0 ends the
						 * list */

/* For report_out(), of a struct report_data. */
void report_text(const void *answer, FILE *out);
void report_csv(const void *answer, FILE *out);
void report_json(const void *answer, struct jsonw *j);

/* The table of the view at @place of REPORT_VIEWS; NULL: the view is no table */
const struct table *report_table(const struct report_data *d, unsigned place);

/* Figures of the overview: subject, sums, the longest wait; and those of other parts. */
extern const struct figure report_time_figures[], report_overview_figures[],
	report_longest_figures[], report_perf_figures[], report_pmus_figures[],
	report_rotation_figures[];

/* overview.c */
void report_head_text(const struct report_data *d, FILE *out);
void report_source_json(const struct report_data *d, struct jsonw *j);
void report_notes_json(const struct report_data *d, struct jsonw *j);
void report_events_json(const struct report_data *d, struct jsonw *j);
void report_overview_text(const struct report_data *d, FILE *out);
void report_overview_json(const struct report_data *d, struct jsonw *j);
/* waits.c */
void report_locks_text(const struct report_data *d, FILE *out);
void report_locks_json(const struct report_data *d, struct jsonw *j);
void report_waiters_text(const struct report_data *d, FILE *out);
void report_waiters_json(const struct report_data *d, struct jsonw *j);
void report_chains_text(const struct report_data *d, FILE *out);
void report_chains_json(const struct report_data *d, struct jsonw *j);
void report_incidents_text(const struct report_data *d, FILE *out);
void report_incidents_json(const struct report_data *d, struct jsonw *j);
void report_blocked_text(const struct report_data *d, FILE *out);
void report_blocked_json(const struct report_data *d, struct jsonw *j);
void report_queues_text(const struct report_data *d, FILE *out);
void report_queues_json(const struct report_data *d, struct jsonw *j);
void report_tree_text(const struct report_data *d, FILE *out);
void report_tree_json(const struct report_data *d, struct jsonw *j);
void report_hist_text(const struct report_data *d, FILE *out);
void report_hist_json(const struct report_data *d, struct jsonw *j);

/* perf.c: breakpoint slots, perf events and contexts, in each format. */
void report_perf_text(const struct report_data *d, FILE *out);
void report_perf_text_sum(const struct report_data *d, FILE *out); /* of the overview */
void report_perf_json(const struct report_data *d, struct jsonw *j);
void report_perf_json_sum(const struct report_data *d, struct jsonw *j);
void report_perf_json_source(const struct report_data *d, struct jsonw *j);

/* why.c: what chosen tasks did. */
int report_why_ask(struct report_data *d, const struct query_spec *s, struct error *err);
void report_why_text(const struct report_data *d, FILE *out);
void report_why_json(const struct report_data *d, struct jsonw *j);

/* rotation.c */
void report_rotation_text(const struct report_data *d, FILE *out);
void report_rotation_text_sum(const struct report_data *d, FILE *out); /* of the overview */
void report_rotation_json(const struct report_data *d, struct jsonw *j);
void report_rotation_json_sum(const struct report_data *d, struct jsonw *j);
/* hot.c */
void report_hot_text(const struct report_data *d, FILE *out);
void report_hot_json(const struct report_data *d, struct jsonw *j);
void report_hot_zoom_text(const struct report_data *d, FILE *out);
void report_hot_zoom_json(const struct report_data *d, struct jsonw *j);
/* annotate.c */
int report_annotate_ask(struct report_data *d, struct error *err);
void report_annotate_text(const struct report_data *d, FILE *out);
void report_annotate_json(const struct report_data *d, struct jsonw *j);
/* uprobe.c: uprobes and slots, in each format. */
void report_uprobe_text(const struct report_data *d, FILE *out);
void report_uprobe_text_sum(const struct report_data *d, FILE *out); /* of the overview */
void report_uprobe_json(const struct report_data *d, struct jsonw *j);
void report_uprobe_json_sum(const struct report_data *d, struct jsonw *j);
void report_uprobe_json_source(const struct report_data *d, struct jsonw *j);

static inline bool report_has(const struct report_data *d, enum report_view v)
{
	return d->views & (unsigned)v;
}

static inline double report_rate(const struct report_data *d, uint64_t n)
{
	uint64_t ns = d->overview.elapsed_ns;

	return ns ? (double)n * 1e9 / (double)ns : 0;
}

const char *report_sym_state(enum sym_state s); /* "ok", "withheld", ... */

#endif
