// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report as JSON, schema kontend.report/1: raw numbers (ns, counts), addresses as strings since
 * they exceed what a double holds, null for what is not known. Keys are the keys of the columns, so
 * a new column of a table is in the report with no change here.
 */
#include "report-int.h"

void report_json_rows(struct jsonw *j, const char *key, const struct table *t)
{
	jsonw_begin(j, key, '[', false);
	for (size_t row = 0; row < t->n_rows; row++) {
		jsonw_begin(j, NULL, '{', true);
		report_json_row(j, t, row);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

void report_json_head(struct jsonw *j, const struct table *t, const char *by)
{
	jsonw_begin(j, t->name, '{', false);
	if (by)
		jsonw_str(j, "by", by);
	jsonw_str(j, "sort", t->sort_col == SIZE_MAX ? NULL : t->columns[t->sort_col].key);
	jsonw_u64(j, "total_rows", t->n_total);
	jsonw_u64(j, "matching_rows", t->n_match);
}

void report_json_table(struct jsonw *j, const struct table *t, const char *by)
{
	report_json_head(j, t, by);
	report_json_rows(j, "rows", t);
	jsonw_end(j, '}');
}

void report_json_missing(struct jsonw *j, uint32_t missing, const char *(*key)(unsigned bit),
			 const char *reason)
{
	jsonw_begin(j, "missing", '[', true);
	for (unsigned i = 0; key(i); i++)
		if (missing & 1u << i)
			jsonw_str(j, NULL, key(i));
	jsonw_end(j, ']');
	jsonw_str(j, "reason", missing && *reason ? reason : NULL);
}

void report_json_part(struct jsonw *j, const struct table *t, const char *by, uint32_t missing,
		      const char *(*key)(unsigned bit), const char *reason)
{
	report_json_head(j, t, by);
	report_json_missing(j, missing, key, reason);
	report_json_rows(j, "rows", t);
	jsonw_end(j, '}');
}

static const struct figure host_figures[] = {
	{FIGURE("kernel", TEXT, struct record_host, release), .flags = FIGURE_CHARS},
	{FIGURE("machine", TEXT, struct record_host, machine), .flags = FIGURE_CHARS},
	{FIGURE("cpus", COUNT, struct record_host, cpus_online)},
	{FIGURE("targets", TEXT, struct record_host, targets), .flags = FIGURE_CHARS},
	{FIGURE("method", TEXT, struct record_host, method), .flags = FIGURE_CHARS},
	{FIGURE("start_ns", NS, struct record_host, clock_ns)},
	{FIGURE("start_wall_ns", NS, struct record_host, wall_ns)},
	FIGURE_END,
};

const struct figure report_time_figures[] = {
	{FIGURE("time_from_ns", NS, struct query_overview, from_ns)},
	{FIGURE("time_to_ns", NS, struct query_overview, to_ns)},
	{FIGURE("duration_ns", NS, struct query_overview, elapsed_ns)},
	{FIGURE("events", COUNT, struct query_overview, n_events)},
	FIGURE_END,
};

static void put_snapshots(struct jsonw *j, const struct query_overview *o)
{
	jsonw_begin(j, "snapshots", '{', true);
	for (uint16_t kind = SNAPSHOT_NONE + 1; kind < SNAPSHOT_KINDS; kind++)
		jsonw_u64(j, snapshot_kind(kind)->name, o->n_snapshots[kind]);
	jsonw_u64(j, "unknown", o->damage.snapshot_unknown);
	jsonw_u64(j, "lost", o->damage.snapshot_lost);
	jsonw_end(j, '}');
}

static void put_source(struct jsonw *j, const struct report_data *d)
{
	const struct query_overview *o = &d->overview;

	jsonw_begin(j, "source", '{', false);
	jsonw_str(j, "kind", d->spec->source_kind ? d->spec->source_kind : "live");
	report_json_figures(j, host_figures, o->host, 0);
	report_json_figures(j, report_time_figures, o, 0);
	report_json_damage(j, &o->damage, &o->unmatched_pct);
	put_snapshots(j, o);
	if (o->no_ends)
		jsonw_bool(j, "no_ends", true);
	jsonw_str(j, "symbols", report_sym_state(o->sym_state));
	report_perf_json_source(d, j);
	report_uprobe_json_source(d, j);
	jsonw_end(j, '}');
}

static const struct figure longest_figures[] = {
	{FIGURE("since_ns", NS, struct query_overview, longest_ns)},
	{FIGURE("task", TEXT, struct query_overview, longest_task)},
	{FIGURE("kind", TEXT, struct query_overview, longest_type)},
	{FIGURE("name", TEXT, struct query_overview, longest_lock)},
	{FIGURE("at_least", BOOL, struct query_overview, longest_approx)},
	FIGURE_END,
};

static void put_longest(struct jsonw *j, const struct query_overview *o)
{
	if (!o->any_longest) {
		jsonw_null(j, "longest");
		return;
	}
	jsonw_begin(j, "longest", '{', true);
	report_json_figures(j, longest_figures, o, 0);
	jsonw_end(j, '}');
}

/* The buckets of the range are the last ones. */
static void put_series(struct jsonw *j, const char *key, const uint64_t *v,
		       const struct query_overview *o)
{
	jsonw_begin(j, key, '[', true);
	for (uint32_t i = o->n_series - o->n_range; v && i < o->n_series; i++)
		jsonw_u64(j, NULL, v[i]);
	jsonw_end(j, ']');
}

static const struct figure overview_figures[] = {
	{FIGURE("contended", COUNT, struct query_overview, contended)},
	{FIGURE("total_ns", NS, struct query_overview, total_ns)},
	{FIGURE("inflight_ns", NS, struct query_overview, inflight_ns)},
	{FIGURE("waiting", COUNT, struct query_overview, waiting)},
	{FIGURE("waiting_rwsem_r", COUNT, struct query_overview, waiting_rwsem_r)},
	{FIGURE("waiting_rwsem_w", COUNT, struct query_overview, waiting_rwsem_w)},
	{FIGURE("waiting_early", COUNT, struct query_overview, waiting_early)},
	{FIGURE("own_waiting", COUNT, struct query_overview, own_waiting)},
	{FIGURE("own_waits", COUNT, struct query_overview, own_waits)},
	{FIGURE("own_wait_ns", NS, struct query_overview, own_wait_ns)},
	{FIGURE("waiting_doubtful", COUNT, struct query_overview, waiting_doubtful)},
	FIGURE_END,
};

static void put_overview(const struct report_data *d, struct jsonw *j)
{
	const struct query_overview *o = &d->overview;

	jsonw_begin(j, "overview", '{', false);
	jsonw_double(j, "events_per_s", report_rate(d, o->n_events));
	jsonw_double(j, "contended_per_s", report_rate(d, o->contended));
	jsonw_double(j, "wait_ns_per_s", report_rate(d, o->waited_ns));
	report_json_figures(j, overview_figures, o, 0);
	put_longest(j, o);
	jsonw_u64(j, "bucket_ns", o->bucket_ns);
	put_series(j, "contended_series", o->contended_series, o);
	put_series(j, "wait_ns_series", o->wait_series, o);
	put_series(j, "waiting_series", o->waiting_series, o);
	report_perf_json_sum(d, j);
	report_rotation_json_sum(d, j);
	report_uprobe_json_sum(d, j);
	report_mmap_json_worst(d, j);
	report_json_rows(j, "types", &d->types);
	report_json_rows(j, "cpus", &d->cpus);
	jsonw_end(j, '}');
}

/* Depth first with the depth of each: readers with a limit on nesting can still take it. */
static void put_tree(const struct report_data *d, struct jsonw *j)
{
	jsonw_begin(j, "tree", '{', false);
	jsonw_str(j, "roots", d->spec->inverted ? "outermost frames" : "call sites");
	jsonw_u64(j, "waits", d->tree.n_waits);
	jsonw_u64(j, "total_ns", d->tree.total_ns);
	jsonw_double(j, "percent_limit", d->spec->percent_limit);
	jsonw_begin(j, "nodes", '[', false);
	for (size_t i = 0; i < d->tree.n; i++) {
		if (d->tree.nodes[i].pct < d->spec->percent_limit)
			continue;
		jsonw_begin(j, NULL, '{', true);
		report_json_figures(j, report_node_figures, &d->tree.nodes[i], 0);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}

static const struct figure hist_figures[] = {
	{FIGURE("waits", COUNT, struct query_hist, n_waits)},
	{FIGURE("total_ns", NS, struct query_hist, total_ns)},
	{FIGURE_IF("min_ns", NS, struct query_hist, min_ns, n_waits)},
	{FIGURE_IF("p50_ns", NS, struct query_hist, p50_ns, n_waits)},
	{FIGURE_IF("p90_ns", NS, struct query_hist, p90_ns, n_waits)},
	{FIGURE_IF("p99_ns", NS, struct query_hist, p99_ns, n_waits)},
	{FIGURE_IF("max_ns", NS, struct query_hist, max_ns, n_waits)},
	FIGURE_END,
};

static void put_hist(const struct report_data *d, struct jsonw *j)
{
	const struct query_hist *h = &d->hist;

	jsonw_begin(j, "hist", '{', false);
	report_json_figures(j, hist_figures, h, 0);
	report_json_structs(j, "bars", report_bar_figures, h->bars, h->n, sizeof(*h->bars));
	jsonw_end(j, '}');
}

static const uint32_t IN_LOCKS = QUERY_LOCK_NO_NAMES | QUERY_LOCK_NO_HOLDERS;

static void put_locks(const struct report_data *d, struct jsonw *j)
{
	const struct query_lock_look *look = &d->lock_look;

	report_json_part(j, &d->locks, query_by_name(d->spec->query.by), look->missing & IN_LOCKS,
			 query_lock_missing_key, look->reason);
}

static void put_waiters(const struct report_data *d, struct jsonw *j)
{
	const struct query_lock_look *look = &d->lock_look;

	report_json_part(j, &d->waiters, NULL, look->missing, query_lock_missing_key, look->reason);
}

static const struct {
	unsigned views; /* one of these is asked for */
	void (*put)(const struct report_data *d, struct jsonw *j);
} parts[] = {
	{REPORT_OVERVIEW, put_overview},
	{REPORT_LOCKS, put_locks},
	{REPORT_WAITERS, put_waiters},
	{REPORT_MMAP, report_mmap_json},
	{REPORT_SLOTS | REPORT_HOLDERS | REPORT_CONTEXTS | REPORT_EVENTS, report_perf_json},
	{REPORT_ROTATION, report_rotation_json},
	{REPORT_UPROBES | REPORT_XOL, report_uprobe_json},
	{REPORT_HOT, report_hot_json},
	{REPORT_FLAME, report_flame_json},
	{REPORT_CODE, report_annotate_json},
	{REPORT_TREE, put_tree},
	{REPORT_HIST, put_hist},
};

void report_json(const struct report_data *d, FILE *out)
{
	struct jsonw j = {.out = out};

	jsonw_begin(&j, NULL, '{', false);
	jsonw_str(&j, "schema", "kontend.report/1");
	put_source(&j, d);
	jsonw_begin(&j, "views", '{', false);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (d->views & parts[i].views)
			parts[i].put(d, &j);
	jsonw_end(&j, '}');
	jsonw_end(&j, '}');
}
