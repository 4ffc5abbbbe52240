// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report is the answers to the queries that the views use, written once. All queries run before
 * the first byte is written, so that a wrong sort key or filter does not leave half of a report.
 * The formats are in text.c, csv.c and json.c.
 */
#include "internal.h"
#include "kontend/query-blocked.h"
#include "kontend/query-chains.h"
#include "kontend/query-fields.h"
#include "kontend/query-hist.h"
#include "kontend/query-incidents.h"
#include "kontend/query-load.h"
#include "kontend/query-overview.h"
#include "kontend/query-queued.h"
#include "kontend/query-tree.h"
#include "kontend/query-wait.h"
#include "kontend/tables.h"
#include "kontend/wait-filter.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const view_names[] = {
#define NAME_OF(name, NAME) #name,
	REPORT_VIEWS(NAME_OF)
#undef NAME_OF
};

static unsigned find_view(const char *s, size_t len)
{
	for (size_t i = 0; i < REPORT_VIEW_COUNT; i++)
		if (strlen(view_names[i]) == len && memcmp(view_names[i], s, len) == 0)
			return 1u << i;
	return len == 3 && memcmp(s, "all", len) == 0 ? REPORT_ALL : 0;
}

int report_view_parse(const char *s, unsigned *ret)
{
	unsigned all = 0, one;

	for (;;) {
		size_t len = strcspn(s, ",");
		one = find_view(s, len);
		if (!one)
			return -EINVAL;
		all |= one;
		if (!s[len])
			break;
		s += len + 1;
	}
	*ret = all;
	return 0;
}

int report_format_parse(const char *s, enum report_format *ret)
{
	static const char *const names[] = {
		[REPORT_TEXT] = "text", [REPORT_CSV] = "csv", [REPORT_JSON] = "json"};

	for (int i = 0; i <= REPORT_JSON; i++) {
		if (strcmp(s, names[i]) == 0) {
			*ret = (enum report_format)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *report_sym_state(enum sym_state s)
{
	switch (s) {
	case SYM_OK:
		return "ok";
	case SYM_WITHHELD:
		return "withheld";
	case SYM_UNREADABLE:
		return "unreadable";
	default:
		return "none";
	}
}

/* The query for a table other than the one that sort key and filter were written for. */
static struct query_spec spec_beside(const struct query_spec *s, const struct table_kind *t)
{
	struct query_spec beside = *s;

	if (s->sort && table_find(t, s->sort) == SIZE_MAX)
		beside.sort = NULL;
	if (!beside.sort)
		beside.reverse = false;
	if (query_filter_check(s->filter, t, NULL) == -EINVAL)
		beside.filter = NULL;
	return beside;
}

static int ask_locks(struct report_data *d, const struct query_spec *s, struct error *err)
{
	struct query_spec locks = *s;

	if (!locks.sort)
		locks.sort = "total_ns";
	return query_locks(d->q, &locks, &d->locks, err);
}

static int ask_queues(struct report_data *d, const struct query_spec *s, struct error *err)
{
	int r = query_queued_sum(d->q, &d->queued_sum);

	return r < 0 ? r : query_queued(d->q, s, &d->queues, err);
}

static int ask_blocked(struct report_data *d, const struct query_spec *s, struct error *err)
{
	int r = query_blocked_sum(d->q, &d->blocked_sum);
	r = r < 0 ? r : query_blocked_sleeps(d->q, &d->sleeps);

	return r < 0 ? r : query_blocked(d->q, s, &d->blocked, err);
}

static int ask_slots(struct report_data *d, const struct query_spec *s, struct error *err)
{
	int r = query_perf_waits(d->q, true, &d->slot_waits);

	return r < 0 ? r : query_perf_slots(d->q, s, &d->slots, err);
}

static int ask_creations(struct report_data *d, const struct query_spec *s, struct error *err)
{
	int r = query_perf_creations_sum(d->q, &d->creations_sum);

	return r < 0 ? r : query_perf_creations(d->q, s, &d->creations, err);
}

static int ask_events(struct report_data *d, const struct query_spec *s, struct error *err)
{
	return query_perf_events(d->q, NULL, s, &d->events, err);
}

static int ask_rotation(struct report_data *d, const struct query_spec *s, struct error *err)
{
	int r = query_rotation_costs(d->q, &d->rotation_costs);

	if (r == 0)
		r = query_rotation_what_ifs(d->q, &d->rotation_costs, &d->what_ifs, &d->n_what_ifs);
	if (r == 0)
		r = query_rotation_phases(d->q, &d->phases);
	return r < 0 ? r : query_rotation(d->q, s, &d->rotation, err);
}

static int ask_hot(struct report_data *d, const struct query_spec *s, struct error *err)
{
	struct query_hot_spec hot = {.rows = *s,
				     .by = d->spec->hot_by,
				     .locks = d->spec->hot_locks,
				     .zoom = &d->spec->zoom,
				     .percent_limit = d->spec->percent_limit,
				     .lines = d->spec->format != REPORT_TEXT};
	int r = query_hot_named(d->q, &hot, &d->hot, err);

	if (r == 0)
		r = query_hot_sum(d->q, &d->spec->zoom, &d->hot_sum);
	if (r == 0 && hot.by == HOT_GROUP)
		r = query_hot_cpus(d->q, hot.zoom, &d->hot_cpus);
	return r;
}

/* The probes by process and the waits in them are added, in their own order. */
static int ask_uprobes(struct report_data *d, const struct query_spec *s, struct error *err)
{
	struct query_spec all = {.average = true, .limit = s->limit};
	int r = query_uprobe_probes(d->q, s, &d->uprobes, err);

	r = r < 0 ? r : query_uprobe_processes(d->q, &all, &d->upprocs, err);
	return r < 0 ? r : query_uprobe_waits(d->q, &all, &d->upwaits, err);
}

/* The tasks in the slots are added, in their own order. */
static int ask_xol(struct report_data *d, const struct query_spec *s, struct error *err)
{
	struct query_spec all = {.average = true};
	int r = query_uprobe_areas(d->q, s, &d->xol, err);

	return r < 0 ? r : query_uprobe_tasks(d->q, 0, &all, &d->uptasks, err);
}

static int ask_tree(struct report_data *d, const struct query_spec *s, struct error *err)
{
	(void)err;
	return query_tree_named(d->q, &s->scope, d->spec->inverted, d->spec->by_count, &d->tree);
}

static int ask_hist(struct report_data *d, const struct query_spec *s, struct error *err)
{
	(void)err;
	return query_hist_now(d->q, &s->scope, &d->hist);
}

static int ask_overview(struct report_data *d, const struct query_spec *s, struct error *err)
{
	struct query_spec spec = {.scope = s->scope, .average = true, .sort = "total_ns"};
	int r = query_types(d->q, &spec, &d->types, err);

	spec.sort = NULL;
	if (r == 0)
		r = query_mmap_worst(d->q, true, &d->mmap_worst, err);
	if (r == 0)
		r = query_verdict(d->q,
				  &(struct query_verdict_facts){.now = &d->overview,
								.perf = &d->perf,
								.rotation = &d->rotation_sum,
								.uprobe = &d->uprobe,
								.limits = d->spec->verdict,
								.average = true},
				  &d->verdict);
	return r < 0 ? r : query_cpus(d->q, &spec, &d->cpus, err);
}

static int ask_code(struct report_data *d, const struct query_spec *s, struct error *err)
{
	(void)s;
	return report_annotate_ask(d, err);
}

static int ask_chains(struct report_data *d, const struct query_spec *s, struct error *err)
{
	int r = query_chains_sum(d->q, &d->chains_sum);

	return r < 0 ? r : query_chains(d->q, s, &d->chains, err);
}

static int ask_waiters(struct query *q, const struct query_spec *s, struct table *ret,
		       struct error *err)
{
	return query_wait_rows(q, s, NULL, ret, err);
}

/* A view that is a table has the table's name and can be sorted and filtered. */
static const struct {
	int (*ask)(struct report_data *d, const struct query_spec *s, struct error *err);
	size_t table; /* offset in struct report_data; 0: the view is no table */
	/* For views that consist of this one table. */
	int (*query)(struct query *q, const struct query_spec *s, struct table *ret,
		     struct error *err);
} views[] = {
#define TABLE(FIELD) offsetof(struct report_data, FIELD)
	[REPORT_AT_OVERVIEW] = {ask_overview, 0, NULL},
	[REPORT_AT_LOCKS] = {ask_locks, TABLE(locks), NULL},
	[REPORT_AT_WAITERS] = {NULL, TABLE(waiters), ask_waiters},
	[REPORT_AT_CHAINS] = {ask_chains, TABLE(chains), NULL},
	[REPORT_AT_BLOCKED] = {ask_blocked, TABLE(blocked), NULL},
	[REPORT_AT_WHY] = {report_why_ask, TABLE(why), NULL},
	[REPORT_AT_HELD] = {report_held_ask, TABLE(held), NULL},
	[REPORT_AT_BLAME] = {report_blame_ask, TABLE(blame), NULL},
	[REPORT_AT_DID] = {report_did_ask, TABLE(did), NULL},
	[REPORT_AT_HOLDS] = {report_holds_ask, TABLE(holds), NULL},
	[REPORT_AT_QUEUES] = {ask_queues, TABLE(queues), NULL},
	[REPORT_AT_MMAP] = {report_mmap_ask, TABLE(mmap), NULL},
	[REPORT_AT_SLOTS] = {ask_slots, TABLE(slots), NULL},
	[REPORT_AT_HOLDERS] = {NULL, TABLE(holders), query_perf_holders},
	[REPORT_AT_CREATIONS] = {ask_creations, TABLE(creations), NULL},
	[REPORT_AT_CONTEXTS] = {NULL, TABLE(contexts), query_perf_contexts},
	[REPORT_AT_EVENTS] = {ask_events, TABLE(events), NULL},
	[REPORT_AT_ROTATION] = {ask_rotation, TABLE(rotation), NULL},
	[REPORT_AT_UPROBES] = {ask_uprobes, TABLE(uprobes), NULL},
	[REPORT_AT_XOL] = {ask_xol, TABLE(xol), NULL},
	[REPORT_AT_HOT] = {ask_hot, TABLE(hot), NULL},
	[REPORT_AT_FLAME] = {report_flame_ask, TABLE(flame.rows.table), NULL},
	[REPORT_AT_TREE] = {ask_tree, 0, NULL},
	[REPORT_AT_HIST] = {ask_hist, 0, NULL},
	[REPORT_AT_HEAT] = {report_heat_ask, TABLE(heat.table), NULL},
	[REPORT_AT_INCIDENTS] = {NULL, TABLE(incidents), query_incidents},
	[REPORT_AT_CODE] = {ask_code, 0, NULL},
};

const struct report_part report_parts[] = {
	{REPORT_INCIDENTS, report_incidents_text, report_incidents_json},
	{REPORT_OVERVIEW, report_overview_text, report_overview_json},
	{REPORT_LOCKS, report_locks_text, report_locks_json},
	{REPORT_WAITERS, report_waiters_text, report_waiters_json},
	{REPORT_CHAINS, report_chains_text, report_chains_json},
	{REPORT_BLOCKED, report_blocked_text, report_blocked_json},
	{REPORT_WHY, report_why_text, report_why_json},
	{REPORT_HELD | REPORT_BLAME | REPORT_DID, report_blame_text, report_blame_json},
	{REPORT_HOLDS, report_holds_text, report_holds_json},
	{REPORT_QUEUES, report_queues_text, report_queues_json},
	{REPORT_MMAP, report_mmap_text, report_mmap_json},
	{REPORT_SLOTS | REPORT_HOLDERS | REPORT_CREATIONS | REPORT_CONTEXTS | REPORT_EVENTS,
	 report_perf_text, report_perf_json},
	{REPORT_ROTATION, report_rotation_text, report_rotation_json},
	{REPORT_UPROBES | REPORT_XOL, report_uprobe_text, report_uprobe_json},
	{REPORT_HOT, report_hot_text, report_hot_json},
	{REPORT_FLAME, report_flame_text, report_flame_json},
	{REPORT_CODE, report_annotate_text, report_annotate_json},
	{REPORT_TREE, report_tree_text, report_tree_json},
	{REPORT_HIST, report_hist_text, report_hist_json},
	{REPORT_HEAT, report_heat_text, report_heat_json},
	{0, NULL, NULL},
};

const struct table *report_table(const struct report_data *d, unsigned place)
{
	size_t offset = views[place].table;

	return offset ? (const struct table *)((const char *)d + offset) : NULL;
}

static const struct table_def *def_of(unsigned place)
{
	return views[place].table ? tables_find(view_names[place], strlen(view_names[place]))
				  : NULL;
}

const struct table_def *report_sorted_table(unsigned asked)
{
	for (unsigned i = 0; i < REPORT_VIEW_COUNT; i++)
		if (asked & 1u << i && views[i].table)
			return def_of(i);
	return NULL;
}

/* Until names of programs are there that it asks for. */
static int ask_named(struct report_data *d, unsigned place, const struct query_spec *s,
		     struct table *t, struct error *err)
{
	int r;

	do
		r = views[place].ask ? views[place].ask(d, s, err)
				     : views[place].query(d->q, s, t, err);
	while (r == 0 && query_load_again(d->q));
	return r;
}

static int ask_view(struct report_data *d, unsigned place, const struct query_spec *s,
		    bool is_first, struct error *err)
{
	const struct table_def *def = def_of(place);
	struct query_spec beside = def && !is_first ? spec_beside(s, def->kind) : *s;

	struct table *t = (struct table *)((char *)d + views[place].table);
	int r = ask_named(d, place, &beside, t, err);
	return r == 0 && def && is_first ? query_fields(d->q, d->spec->fields, t, err) : r;
}

/* Sort key and filter are written for the first table. */
static int ask_views(struct report_data *d, const struct query_spec *s, struct error *err)
{
	bool is_first = true;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < sizeof(views) / sizeof(*views); i++) {
		if (!(d->views & 1u << i))
			continue;
		r = ask_view(d, i, s, is_first, err);
		is_first &= views[i].table == 0;
	}
	return r;
}

static int check_spec(const struct report_spec *s, struct error *err)
{
	const struct query_spec *q = &s->query;

	if (s->annotate && s->format == REPORT_CSV)
		return error_set(err, -EINVAL, "CSV holds tables: code is shown as text or JSON");
	if ((s->views == 0 && !s->annotate) || s->views & ~(unsigned)REPORT_ALL)
		return error_set(err, -EINVAL,
				 "report: no such view; views are " REPORT_VIEW_NAMES);
	if (s->format == REPORT_CSV && s->views & (s->views - 1))
		return error_set(err, -EINVAL,
				 "report: CSV holds one table only; choose one view, or JSON");
	if (!report_sorted_table(s->views) && (q->sort || (q->filter && *q->filter)))
		return error_set(err, -EINVAL,
				 "report: overview, tree and hist cannot be sorted and filtered");
	return 0;
}

static int ask_tables(struct report_data *d, struct error *err)
{
	struct query_spec s = d->spec->query;
	d->cost = query_cost(d->q);
	d->shorts = query_shorts(d->q);
	int r = query_recorded(d->q, &d->recorded);

	if (r == 0)
		r = query_overview(d->q, &d->overview);
	query_lock_look(d->q, &d->lock_look);

	s.average = true;
	if (r == 0)
		r = query_perf_sum(d->q, &d->perf);
	if (r == 0)
		r = query_rotation_sum(d->q, true, &d->rotation_sum);
	if (r == 0)
		r = query_uprobe_sum(d->q, true, &d->uprobe);
	if (r == 0)
		r = query_mmap_sum(d->q, true, &d->mmap_sum);
	if (r == 0)
		r = ask_views(d, &s, err);
	if (r == -ENOMEM)
		error_enomem(err, "the sums of the report");
	return r;
}

/* Users who ask for slots also need their holders. CSV has room for one table only. */
static unsigned views_of(const struct query *q, const struct report_spec *s)
{
	unsigned all = s->views;

	/* No trigger was set, so an empty list of incidents would mean nothing. */
	if (!q->incidents && all != REPORT_INCIDENTS)
		all &= ~(unsigned)REPORT_INCIDENTS;
	if (s->views == REPORT_ALL && !query_holds_asked(q))
		all &= ~(unsigned)REPORT_HOLDS;
	if (s->format == REPORT_CSV)
		return all;
	all |= all & REPORT_SLOTS ? REPORT_HOLDERS | REPORT_CREATIONS : 0;
	all |= all & REPORT_UPROBES ? REPORT_XOL : 0;
	all |= all & REPORT_CONTEXTS ? REPORT_EVENTS : 0;
	return all | (s->annotate ? REPORT_CODE : 0);
}

int report_out(const struct report_out *o, FILE *out, struct error *err)
{
	struct jsonw j = {.out = out};

	errno = 0;
	switch (o->format) {
	case REPORT_JSON:
		jsonw_begin(&j, NULL, '{', false);
		jsonw_str(&j, "schema", o->schema);
		o->json(o->answer, &j);
		jsonw_end(&j, '}');
		break;
	case REPORT_CSV:
		if (o->csv)
			o->csv(o->answer, out);
		else
			report_csv_table(o->table, o->csv_separator, out);
		break;
	case REPORT_TEXT:
		o->text(o->answer, out);
	}
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return error_errno(err, errno ? -errno : -EIO, "Cannot write all of %s", o->what);
}

int report_write(struct query *q, const struct report_spec *s, FILE *out, struct error *err)
{
	struct report_data d = {.q = q, .spec = s, .views = views_of(q, s)};
	int r = check_spec(s, err);

	q->part = s->part;
	if (r == 0)
		r = wait_filter_set(q, s->only, err);
	if (r == 0)
		r = ask_tables(&d, err);
	const struct report_out o = {.format = s->format,
				     .what = "the report",
				     .schema = "kontend.report/2",
				     .answer = &d,
				     .text = report_text,
				     .json = report_json,
				     .csv = report_csv};
	return r < 0 ? r : report_out(&o, out, err);
}
