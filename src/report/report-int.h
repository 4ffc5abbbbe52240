/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_INT_H
#define KONTEND_REPORT_INT_H

#include "kontend/jsonw.h"
#include "kontend/query-annotate.h"
#include "kontend/query-flame.h"
#include "kontend/query-hot.h"
#include "kontend/query-lock.h"
#include "kontend/query-mmap.h"
#include "kontend/query-perf.h"
#include "kontend/query-rotation.h"
#include "kontend/query-uprobe.h"
#include "kontend/report.h"

/* What --annotate adds is no view, but asked for and written as these are. */
enum { REPORT_AT_CODE = REPORT_VIEW_COUNT, REPORT_CODE = 1 << REPORT_AT_CODE };

/* All answers that a report shows: asked for before the first byte is written. */
struct report_data {
	struct query *q;
	const struct report_spec *spec;
	unsigned views;			/* enum report_view, with those that come along */
	struct query_overview overview; /* always: the header says how far to trust the rest */
	struct query_perf_sum perf;	/* always */
	struct query_perf_waits slot_waits;
	struct query_rotation_sum rotation_sum; /* always */
	struct query_rotation_costs rotation_costs;
	struct query_rotation_what_if *what_ifs;
	size_t n_what_ifs;
	struct query_lock_look lock_look; /* always */
	struct table types, cpus, locks, waiters, slots, holders, contexts, events, rotation;
	struct query_mmap_sum mmap_sum; /* always */
	struct table mmap, mmap_worst;	/* worst: of the overview */
	struct query_hot_sum hot_sum;
	struct table hot;
	struct query_hot_cpus hot_cpus; /* by group */
	struct query_flame_rows flame;
	bool flame_by_wait;
	struct query_annotate annotate; /* with spec->annotate */
	struct query_uprobe_sum uprobe; /* always */
	struct table uprobes, upprocs, upwaits, xol, uptasks;
	struct query_tree tree;
	struct query_hist hist;
};

void report_text(const struct report_data *d, FILE *out);
void report_csv(const struct report_data *d, FILE *out);
void report_json(const struct report_data *d, FILE *out);

/* That of the view at @place of REPORT_VIEWS; NULL: it is no table. */
const struct table *report_table(const struct report_data *d, unsigned place);

/* One table in the manner of these reports; JSON: as a member named as the table is. */
void report_text_table(const struct table *t, bool ascii, int width, FILE *out);
/* The same below a line with what it is, and how many rows, or that they are @unknown. */
void report_text_rows(const struct report_spec *s, const char *what, const struct table *t,
		      bool unknown, FILE *out);
/* "# rows of less than 0.5% are left out", with a limit. */
void report_text_limit(const char *what, double percent_limit, FILE *out);
void report_csv_table(const struct table *t, char separator /* 0: ',' */, FILE *out);
void report_json_table(struct jsonw *j, const struct table *t, const char *by);
/* The same in two parts, so that members can come between; then jsonw_end(j, '}'). */
void report_json_head(struct jsonw *j, const struct table *t, const char *by);
/* Members "missing", the keys of the bits, and "reason", which is null where nothing is. */
void report_json_missing(struct jsonw *j, uint32_t missing, const char *(*key)(unsigned bit),
			 const char *reason);
/* A table of which some may not be known. */
void report_json_part(struct jsonw *j, const struct table *t, const char *by, uint32_t missing,
		      const char *(*key)(unsigned bit), const char *reason);
void report_json_row(struct jsonw *j, const struct table *t, size_t row); /* its members */
void report_json_rows(struct jsonw *j, const char *key, const struct table *t);
/* Members of a struct; an array of structs as one of objects. */
void report_json_figures(struct jsonw *j, const struct figure *list, const void *base,
			 uint32_t missing);
void report_json_structs(struct jsonw *j, const char *key, const struct figure *list,
			 const void *array, size_t n, size_t size);
/* All but snapshots; @unmatched_pct: NULL: without. */
void report_json_damage(struct jsonw *j, const struct model_damage *d, const double *unmatched_pct);
/* A node of a call tree, a bar of a histogram. */
extern const struct figure report_node_figures[], report_bar_figures[];
extern const struct figure report_time_figures[]; /* of struct query_overview: what it is about */

/* report-perf.c: breakpoint slots, perf events and contexts, in each format. */
void report_perf_text(const struct report_data *d, FILE *out);
void report_perf_text_sum(const struct report_data *d, FILE *out); /* of the overview */
void report_perf_json(const struct report_data *d, struct jsonw *j);
void report_perf_json_sum(const struct report_data *d, struct jsonw *j);
void report_perf_json_source(const struct report_data *d, struct jsonw *j);
const char *report_perf_by(const struct report_data *d); /* of contexts: "context", "process" */

/* report-rotation.c */
void report_rotation_text(const struct report_data *d, FILE *out);
void report_rotation_text_sum(const struct report_data *d, FILE *out); /* of the overview */
void report_rotation_json(const struct report_data *d, struct jsonw *j);
void report_rotation_json_sum(const struct report_data *d, struct jsonw *j);
/* report-mmap.c: mmap_locks by process or memory cgroup. */
void report_mmap_text(const struct report_data *d, FILE *out);
void report_mmap_text_worst(const struct report_data *d, FILE *out);
void report_mmap_json_worst(const struct report_data *d, struct jsonw *j);
void report_mmap_json(const struct report_data *d, struct jsonw *j);
/* report-hot.c */
void report_hot_text(const struct report_data *d, FILE *out);
void report_hot_json(const struct report_data *d, struct jsonw *j);
void report_hot_zoom_text(const struct report_data *d, FILE *out);
void report_hot_zoom_json(const struct report_data *d, struct jsonw *j);
/* report-flame.c */
int report_flame_ask(struct report_data *d, const struct query_spec *s, struct error *err);
void report_flame_text(const struct report_data *d, FILE *out);
void report_flame_json(const struct report_data *d, struct jsonw *j);
/* report-annotate.c */
int report_annotate_ask(struct report_data *d, struct error *err);
void report_annotate_text(const struct report_data *d, FILE *out);
void report_annotate_json(const struct report_data *d, struct jsonw *j);
/* report-uprobe.c: uprobes and slots, in each format. */
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
