// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report is the answers of the same queries that the views draw, written once. Everything is
 * asked for before anything is written, so that a wrong sort key or filter leaves no half of a
 * report behind. What a format looks like is in report-text.c, report-csv.c and report-json.c.
 */
#include "report-int.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned view;
} views[] = {
	{"locks", REPORT_LOCKS},       {"waiters", REPORT_WAITERS},   {"overview", REPORT_OVERVIEW},
	{"tree", REPORT_TREE},	       {"hist", REPORT_HIST},	      {"slots", REPORT_SLOTS},
	{"holders", REPORT_HOLDERS},   {"contexts", REPORT_CONTEXTS}, {"events", REPORT_EVENTS},
	{"rotation", REPORT_ROTATION}, {"uprobes", REPORT_UPROBES},   {"xol", REPORT_XOL},
	{"mmap", REPORT_MMAP},	       {"hot", REPORT_HOT},	      {"flame", REPORT_FLAME},
	{"all", REPORT_ALL},
};

static unsigned find_view(const char *s, size_t len)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (strlen(views[i].name) == len && memcmp(views[i].name, s, len) == 0)
			return views[i].view;
	return 0;
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

static bool has_column(const struct column *c, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (c[i].flags && strcmp(c[i].key, key) == 0)
			return true;
	return false;
}

/* For a table that is shown beside the one that sort and filter were written for. */
static struct query_spec spec_beside(const struct query_spec *s, const struct column *c, size_t n)
{
	struct query_spec beside = *s;

	if (s->sort && !has_column(c, n, s->sort))
		beside.sort = NULL;
	if (!beside.sort)
		beside.reverse = false;
	if (query_filter_check(s->filter, c, n, NULL) == -EINVAL)
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

static int ask_waiters(struct report_data *d, const struct query_spec *s, struct error *err)
{
	return query_waiters(d->q, s, &d->waiters, err);
}

static int ask_slots(struct report_data *d, const struct query_spec *s, struct error *err)
{
	int r = query_perf_waits(d->q, true, &d->slot_waits);

	return r < 0 ? r : query_perf_slots(d->q, s, &d->slots, err);
}

static int ask_holders(struct report_data *d, const struct query_spec *s, struct error *err)
{
	return query_perf_holders(d->q, s, &d->holders, err);
}

static int ask_contexts(struct report_data *d, const struct query_spec *s, struct error *err)
{
	return query_perf_contexts(d->q, s, &d->contexts, err);
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
	return r < 0 ? r : query_rotation(d->q, s, &d->rotation, err);
}

static int ask_mmap(struct report_data *d, const struct query_spec *s, struct error *err)
{
	return query_mmap(d->q, s, &d->mmap, err);
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

/* The same by process, and what is waited for there, come along, in their own order. */
static int ask_uprobes(struct report_data *d, const struct query_spec *s, struct error *err)
{
	struct query_spec all = {.average = true, .limit = s->limit};
	int r = query_uprobe_probes(d->q, s, &d->uprobes, err);

	r = r < 0 ? r : query_uprobe_processes(d->q, &all, &d->upprocs, err);
	return r < 0 ? r : query_uprobe_waits(d->q, &all, &d->upwaits, err);
}

/* Who is in the slots comes along, in its own order. */
static int ask_xol(struct report_data *d, const struct query_spec *s, struct error *err)
{
	struct query_spec all = {.average = true};
	int r = query_uprobe_areas(d->q, s, &d->xol, err);

	return r < 0 ? r : query_uprobe_tasks(d->q, 0, &all, &d->uptasks, err);
}

/* Sort key and filter are written for the first of these that is asked for. */
static const struct {
	enum report_view view;
	const struct column *(*columns)(size_t *ret_n);
	int (*ask)(struct report_data *d, const struct query_spec *s, struct error *err);
} tables[] = {
	{REPORT_LOCKS, query_locks_columns, ask_locks},
	{REPORT_WAITERS, query_waiters_columns, ask_waiters},
	{REPORT_MMAP, query_mmap_columns, ask_mmap},
	{REPORT_SLOTS, query_perf_slots_columns, ask_slots},
	{REPORT_HOLDERS, query_perf_holders_columns, ask_holders},
	{REPORT_CONTEXTS, query_perf_contexts_columns, ask_contexts},
	{REPORT_EVENTS, query_perf_events_columns, ask_events},
	{REPORT_ROTATION, query_rotation_columns, ask_rotation},
	{REPORT_HOT, query_hot_columns, ask_hot},
	{REPORT_UPROBES, query_uprobe_probes_columns, ask_uprobes},
	{REPORT_XOL, query_uprobe_areas_columns, ask_xol},
	{REPORT_FLAME, query_flame_columns, report_flame_ask},
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static int ask_tables(struct report_data *d, const struct query_spec *s, struct error *err)
{
	bool is_first = true;
	int r = 0;

	for (size_t i = 0; r == 0 && i < TABLES; i++) {
		struct query_spec beside;
		const struct column *columns;
		size_t n;
		if (!report_has(d, tables[i].view))
			continue;
		columns = tables[i].columns(&n);
		beside = spec_beside(s, columns, n);
		r = tables[i].ask(d, is_first ? s : &beside, err);
		is_first = false;
	}
	return r;
}

static int ask_overview(struct report_data *d, const struct query_spec *s, struct error *err)
{
	struct query_spec spec = {.scope = s->scope, .average = true, .sort = "total_ns"};
	int r = query_types(d->q, &spec, &d->types, err);

	spec.sort = NULL;
	if (r == 0)
		r = query_mmap_worst(d->q, true, &d->mmap_worst, err);
	return r < 0 ? r : query_cpus(d->q, &spec, &d->cpus, err);
}

static int check_spec(const struct report_spec *s, struct error *err)
{
	const struct query_spec *q = &s->query;
	unsigned sortable = 0;

	for (size_t i = 0; i < TABLES; i++)
		sortable |= (unsigned)tables[i].view;
	if (s->annotate && s->format == REPORT_CSV)
		return error_set(err, -EINVAL, "CSV holds tables: code is shown as text or JSON");
	if ((s->views == 0 && !s->annotate) || s->views & ~(unsigned)REPORT_ALL)
		return error_set(err, -EINVAL,
				 "report: no such view; views are " REPORT_VIEW_NAMES);
	if (s->format == REPORT_CSV && s->views & (s->views - 1))
		return error_set(err, -EINVAL,
				 "report: CSV holds one table only; choose one view, or JSON");
	if (!(s->views & sortable) && (q->sort || (q->filter && *q->filter)))
		return error_set(err, -EINVAL,
				 "report: overview, tree and hist cannot be sorted and filtered");
	return 0;
}

static int ask(struct report_data *d, struct error *err)
{
	struct query_spec s = d->spec->query;
	int r = query_overview(d->q, &d->overview);

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
		r = ask_tables(d, &s, err);
	if (r == 0 && d->spec->annotate)
		r = report_annotate_ask(d, err);
	if (r == 0 && report_has(d, REPORT_OVERVIEW))
		r = ask_overview(d, &s, err);
	if (r == 0 && report_has(d, REPORT_TREE))
		r = query_tree(d->q, &s.scope, d->spec->inverted, d->spec->by_count, &d->tree);
	if (r == 0 && report_has(d, REPORT_HIST))
		r = query_hist(d->q, &s.scope, &d->hist);
	if (r == -ENOMEM)
		error_set(err, r, "out of memory while summing up the report: end other programs");
	return r;
}

/* Who asks for the slots wants to know who holds them. CSV has room for one table. */
static unsigned views_of(const struct report_spec *s)
{
	unsigned all = s->views;

	if (s->format == REPORT_CSV)
		return all;
	all |= all & REPORT_SLOTS ? REPORT_HOLDERS : 0;
	all |= all & REPORT_UPROBES ? REPORT_XOL : 0;
	return all | (all & REPORT_CONTEXTS ? REPORT_EVENTS : 0);
}

int report_write(struct query *q, const struct report_spec *s, FILE *out, struct error *err)
{
	struct report_data d = {.q = q, .spec = s, .views = views_of(s)};
	int r = check_spec(s, err);

	if (r == 0)
		r = ask(&d, err);
	if (r < 0)
		return r;
	if (s->format == REPORT_JSON)
		report_json(&d, out);
	else if (s->format == REPORT_CSV)
		report_csv(&d, out);
	else
		report_text(&d, out);
	if (fflush(out) != 0 || ferror(out))
		return error_set(err, -EIO,
				 "writing the report failed: is the disk full or the reader of the "
				 "pipe gone?");
	return 0;
}
