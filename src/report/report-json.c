// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report as JSON, schema kontend.report/1: raw numbers (ns, counts), addresses as strings since
 * they exceed what a double holds, null for what is not known. Keys are the keys of the columns, so
 * a new column of a table is in the report with no change here.
 */
#include "report-int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_list(struct jsonw *j, const struct column *c, const char *s)
{
	char item[256];

	jsonw_begin(j, c->key, '[', true);
	while (*s) {
		size_t len = strcspn(s, "\n");
		snprintf(item, sizeof(item), "%.*s", len < sizeof(item) ? (int)len : 255, s);
		if (c->flags & COLUMN_NUMBERS)
			jsonw_i64(j, NULL, strtoll(item, NULL, 10));
		else
			jsonw_str(j, NULL, item);
		s += len + (s[len] == '\n');
	}
	jsonw_end(j, ']');
}

static void put_value(struct jsonw *j, const struct column *c, const struct value *v)
{
	if (!v->known) {
		jsonw_null(j, c->key);
		return;
	}
	switch (c->type) {
	case COLUMN_TEXT:
		if (c->flags & COLUMN_LIST)
			put_list(j, c, v->s);
		else
			jsonw_str(j, c->key, v->s);
		break;
	case COLUMN_INT:
		jsonw_i64(j, c->key, v->i);
		break;
	case COLUMN_RATE:
	case COLUMN_NSRATE:
	case COLUMN_PCT:
		jsonw_double(j, c->key, v->d);
		break;
	case COLUMN_ADDR:
		jsonw_hex(j, c->key, v->u);
		break;
	case COLUMN_BOOL:
		jsonw_bool(j, c->key, v->u);
		break;
	default:
		jsonw_u64(j, c->key, v->u);
	}
}

void report_json_row(struct jsonw *j, const struct table *t, size_t row)
{
	for (size_t col = 0; col < t->n_columns; col++)
		if (t->columns[col].flags & COLUMN_REPORT)
			put_value(j, &t->columns[col], table_value(t, row, col));
}

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

static void put_damage(struct jsonw *j, const struct query_overview *o)
{
	const struct model_damage *d = &o->damage;

	jsonw_u64(j, "lost", d->lost);
	jsonw_u64(j, "dropped", d->dropped);
	jsonw_u64(j, "throttled", d->throttled);
	jsonw_u64(j, "unmatched", d->unmatched_begin + d->unmatched_end);
	jsonw_u64(j, "unmatched_begin", d->unmatched_begin);
	jsonw_u64(j, "unmatched_end", d->unmatched_end);
	jsonw_double(j, "unmatched_pct", o->unmatched_pct);
	jsonw_u64(j, "doubtful", d->doubtful);
	jsonw_u64(j, "late", d->late);
	jsonw_u64(j, "bad", d->bad);
	jsonw_u64(j, "folded", d->folded);
	jsonw_u64(j, "no_stack", d->no_stack);
	jsonw_u64(j, "deep", d->deep);
	jsonw_begin(j, "snapshots", '{', true);
	for (uint16_t kind = SNAPSHOT_NONE + 1; kind < SNAPSHOT_KINDS; kind++)
		jsonw_u64(j, snapshot_kind_name(kind), o->n_snapshots[kind]);
	jsonw_u64(j, "unknown", d->snapshot_unknown);
	jsonw_u64(j, "lost", d->snapshot_lost);
	jsonw_end(j, '}');
}

static void put_source(struct jsonw *j, const struct report_data *d)
{
	const struct query_overview *o = &d->overview;
	const struct record_host *h = o->host;

	jsonw_begin(j, "source", '{', false);
	jsonw_str(j, "kind", d->spec->source_kind ? d->spec->source_kind : "live");
	jsonw_str(j, "kernel", h->release[0] ? h->release : NULL);
	jsonw_str(j, "machine", h->machine[0] ? h->machine : NULL);
	jsonw_u64(j, "cpus", h->cpus_online);
	jsonw_str(j, "targets", h->targets[0] ? h->targets : NULL);
	jsonw_str(j, "method", h->method[0] ? h->method : NULL);
	jsonw_u64(j, "start_ns", h->clock_ns);
	jsonw_u64(j, "start_wall_ns", h->wall_ns);
	jsonw_u64(j, "time_from_ns", o->from_ns);
	jsonw_u64(j, "time_to_ns", o->to_ns);
	jsonw_u64(j, "duration_ns", o->elapsed_ns);
	jsonw_u64(j, "events", o->n_events);
	put_damage(j, o);
	jsonw_str(j, "symbols", report_sym_state(o->sym_state));
	report_perf_json_source(d, j);
	report_uprobe_json_source(d, j);
	jsonw_end(j, '}');
}

static void put_longest(struct jsonw *j, const struct query_overview *o)
{
	if (!o->any_longest) {
		jsonw_null(j, "longest");
		return;
	}
	jsonw_begin(j, "longest", '{', true);
	jsonw_u64(j, "since_ns", o->longest_ns);
	jsonw_str(j, "task", o->longest_task);
	jsonw_str(j, "kind", o->longest_type);
	jsonw_str(j, "name", o->longest_lock);
	jsonw_bool(j, "at_least", o->longest_approx);
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

static void put_overview(struct jsonw *j, const struct report_data *d)
{
	const struct query_overview *o = &d->overview;

	jsonw_begin(j, "overview", '{', false);
	jsonw_double(j, "events_per_s", report_rate(d, o->n_events));
	jsonw_double(j, "contended_per_s", report_rate(d, o->contended));
	jsonw_double(j, "wait_ns_per_s", report_rate(d, o->waited_ns));
	jsonw_u64(j, "contended", o->contended);
	jsonw_u64(j, "total_ns", o->total_ns);
	jsonw_u64(j, "inflight_ns", o->inflight_ns);
	jsonw_u64(j, "waiting", o->waiting);
	jsonw_u64(j, "waiting_rwsem_r", o->waiting_rwsem_r);
	jsonw_u64(j, "waiting_rwsem_w", o->waiting_rwsem_w);
	jsonw_u64(j, "waiting_early", o->waiting_early);
	jsonw_u64(j, "own_waiting", o->own_waiting);
	jsonw_u64(j, "own_waits", o->own_waits);
	jsonw_u64(j, "own_wait_ns", o->own_wait_ns);
	jsonw_u64(j, "waiting_doubtful", o->waiting_doubtful);
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
static void put_tree(struct jsonw *j, const struct report_data *d)
{
	jsonw_begin(j, "tree", '{', false);
	jsonw_str(j, "roots", d->spec->inverted ? "outermost frames" : "call sites");
	jsonw_u64(j, "waits", d->tree.n_waits);
	jsonw_u64(j, "total_ns", d->tree.total_ns);
	jsonw_double(j, "percent_limit", d->spec->percent_limit);
	jsonw_begin(j, "nodes", '[', false);
	for (size_t i = 0; i < d->tree.n; i++) {
		const struct query_node *n = &d->tree.nodes[i];
		if (n->pct < d->spec->percent_limit)
			continue;
		jsonw_begin(j, NULL, '{', true);
		jsonw_u64(j, "depth", n->depth);
		jsonw_str(j, "name", n->name);
		jsonw_hex(j, "addr", n->addr);
		jsonw_u64(j, "waits", n->n);
		jsonw_u64(j, "total_ns", n->total_ns);
		jsonw_u64(j, "max_ns", n->max_ns);
		jsonw_double(j, "pct", n->pct);
		jsonw_double(j, "pct_parent", n->pct_parent);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}

static void put_ns_if(struct jsonw *j, const char *key, uint64_t ns, bool known)
{
	if (known)
		jsonw_u64(j, key, ns);
	else
		jsonw_null(j, key);
}

static void put_hist(struct jsonw *j, const struct query_hist *h)
{
	bool any = h->n_waits > 0;

	jsonw_begin(j, "hist", '{', false);
	jsonw_u64(j, "waits", h->n_waits);
	jsonw_u64(j, "total_ns", h->total_ns);
	put_ns_if(j, "min_ns", h->min_ns, any);
	put_ns_if(j, "p50_ns", h->p50_ns, any);
	put_ns_if(j, "p90_ns", h->p90_ns, any);
	put_ns_if(j, "p99_ns", h->p99_ns, any);
	put_ns_if(j, "max_ns", h->max_ns, any);
	jsonw_begin(j, "bars", '[', false);
	for (size_t i = 0; i < h->n; i++) {
		jsonw_begin(j, NULL, '{', true);
		jsonw_u64(j, "lower_ns", h->bars[i].lower_ns);
		jsonw_u64(j, "upper_ns", h->bars[i].upper_ns);
		jsonw_u64(j, "waits", h->bars[i].n);
		jsonw_double(j, "pct", h->bars[i].pct);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}

static void put_locks(struct jsonw *j, const struct report_data *d)
{
	const struct query_lock_look *look = &d->lock_look;
	const uint32_t in_locks = QUERY_LOCK_NO_NAMES | QUERY_LOCK_NO_HOLDERS;

	if (report_has(d, REPORT_LOCKS))
		report_json_part(j, &d->locks, query_by_name(d->spec->query.by),
				 look->missing & in_locks, query_lock_missing_key, look->reason);
	if (report_has(d, REPORT_WAITERS))
		report_json_part(j, &d->waiters, NULL, look->missing, query_lock_missing_key,
				 look->reason);
}

void report_json(const struct report_data *d, FILE *out)
{
	struct jsonw j = {.out = out};

	jsonw_begin(&j, NULL, '{', false);
	jsonw_str(&j, "schema", "kontend.report/1");
	put_source(&j, d);
	jsonw_begin(&j, "views", '{', false);
	if (report_has(d, REPORT_OVERVIEW))
		put_overview(&j, d);
	put_locks(&j, d);
	report_mmap_json(d, &j);
	report_perf_json(d, &j);
	report_rotation_json(d, &j);
	report_uprobe_json(d, &j);
	report_hot_json(d, &j);
	report_flame_json(d, &j);
	report_annotate_json(d, &j);
	if (report_has(d, REPORT_TREE))
		put_tree(&j, d);
	if (report_has(d, REPORT_HIST))
		put_hist(&j, &d->hist);
	jsonw_end(&j, '}');
	jsonw_end(&j, '}');
}
