// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the rows of one recording. Waits are asked for by class, each with its histogram, once for
 * the group that the recording is of, or, by service, once for each cgroup. Rows of other tables
 * are taken as reports have them. Things of the whole machine (slots, uprobes, the profile) belong
 * to no service: then only their sum is shown.
 */
#include "internal.h"
#include "kontend/figure.h"
#include "kontend/profile.h"
#include "kontend/query-classes.h"
#include "kontend/query-damage.h"
#include "kontend/query-hot.h"
#include "kontend/query-load.h"
#include "kontend/query-machine.h"
#include "kontend/query-mmap.h"
#include "kontend/query-overview.h"
#include "kontend/query-perf.h"
#include "kontend/query-uprobe.h"
#include "kontend/query.h"
#include "kontend/task.h"
#include "kontend/when.h"
#include "query/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char unknown[] = "(unknown)";
enum { SERVICE = 256 };

/* An address means nothing on another machine. */
static const char *without_address(struct query *q, const char *name)
{
	const char *at = strstr(name, "0x");

	if (at == name || (at && at == name + 1 && *name == '('))
		return "(no symbol)";
	if (at && at[-1] == ':')
		return arena_printf(&q->arena, "%.*s", (int)(at - name - 1), name);
	return name;
}

static struct fleet_values values_of(const struct query_class *c)
{
	struct fleet_values v = {.v = {[WAIT_TOTAL] = c->total_ns,
				       [WAIT_N] = c->n,
				       [WAIT_WAITING] = c->waiting,
				       [WAIT_MAX] = c->max_ns,
				       [WAIT_MIN] = c->min_ns},
				 .known = 1u << WAIT_TOTAL | 1u << WAIT_N | 1u << WAIT_WAITING};

	if (c->n)
		v.known |= 1u << WAIT_MAX | 1u << WAIT_MIN;
	return v;
}

/* A type is a single text: its name. */
static const char *class_key(struct fleet *m, struct query *q, enum fleet_at at,
			     const struct query_class *c)
{
	const char *name = without_address(q, c->name);
	bool both = c->typed && at != FLEET_TYPES;

	m->failed |= !name;
	return fleet_key(m, (const char *[FLEET_KEYS]){both ? locktype_name(c->type) : name,
						       both ? name : NULL});
}

static int take_classes(struct fleet *m, struct query *q, enum fleet_at at,
			const struct query_scope *scope, uint32_t group)
{
	const struct query_spec spec = {
		.by = fleet_defs[at].by, .scope = *scope, .buckets = true, .average = true};
	struct query_classes all;

	if (query_classes(q, &spec, QUERY_SAME_NAME, &all) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < all.n; i++) {
		const struct query_class *c = &all.classes[i];
		struct fleet_values v = values_of(c);

		fleet_add_part(m, at, class_key(m, q, at, c), group, &v, c->hist);
	}
	return m->failed ? -ENOMEM : 0;
}

/* The sums of the group. */
static int take_sum(struct fleet *m, struct query *q, const struct query_scope *scope,
		    uint32_t group)
{
	const struct query_spec spec = {.by = BY_TYPE, .scope = *scope, .buckets = true};
	struct query_classes all;

	if (query_classes(q, &spec, QUERY_SAME_NAME, &all) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < all.n; i++) {
		struct fleet_values v = values_of(&all.classes[i]);

		fleet_add(m, FLEET_GROUPS, group, &v, all.classes[i].hist);
	}
	return m->failed ? -ENOMEM : 0;
}

static int take_waits(struct fleet *m, struct query *q, const struct query_scope *scope,
		      uint32_t group)
{
	int r = take_sum(m, q, scope, group);

	for (int at = 0; r == 0 && at < FLEET_TABLES; at++)
		if (m->tables & 1u << at && !fleet_defs[at].kind)
			r = take_classes(m, q, (enum fleet_at)at, scope, group);
	return r;
}

static uint32_t group_named(struct fleet *m, const char *id, const char *name)
{
	const char *texts[FLEET_KEYS] = {id, name && *name ? name : unknown};
	const struct fleet_values none = {.known = 1u << WAIT_TOTAL | 1u << WAIT_N |
						   1u << WAIT_WAITING};
	uint32_t group = fleet_row(m, FLEET_GROUPS, fleet_key(m, texts));

	fleet_add(m, FLEET_GROUPS, group, &none, NULL);
	return group;
}

/* Notes that a recording belongs to the group. */
static void count_recording(struct fleet *m, uint32_t group, const struct query_overview *o,
			    bool is_all)
{
	struct fleet_values v = {.v = {[GROUP_FILES] = 1,
				       [GROUP_MEASURED] = o->elapsed_ns,
				       [GROUP_LOST] = o->damage.lost + o->damage.dropped},
				 .known = 1u << GROUP_FILES | 1u << GROUP_MEASURED};

	if (is_all)
		v.known |= 1u << GROUP_LOST;
	fleet_add(m, FLEET_GROUPS, group, &v, NULL);
}

/* A cgroup that the recording has no path of says nothing. */
static const char *path_of(struct query *q, uint64_t cgroup)
{
	const char *path = cgroup ? task_cgroup_path(q->model->tasks, cgroup) : NULL;

	return path && *path ? path : NULL;
}

static uint32_t service_of(struct fleet *m, const char *path)
{
	char name[SERVICE];

	return group_named(m, NULL,
			   path ? fleet_service(path, name, sizeof(name)) : "(no cgroup known)");
}

/* Several cgroups may be one service, which is then of this recording once. */
static bool is_first_of(const uint32_t *groups, size_t n, uint32_t group)
{
	for (size_t i = 0; i < n; i++)
		if (groups[i] == group)
			return false;
	return true;
}

static int take_services(struct fleet *m, struct query *q, const struct query_overview *o)
{
	struct groups gs;
	bool any = false;

	if (query_sync(q) < 0 || query_group(q, BY_CGROUP, NULL, &gs) < 0)
		return -ENOMEM;
	uint32_t *seen = arena_alloc(&q->arena, (gs.n + 1) * sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < gs.n; i++) {
		const struct query_scope scope = {.mask = 1u << BY_CGROUP,
						  .id = {[BY_CGROUP] = gs.g[i].id}};

		const char *path = path_of(q, gs.g[i].id);

		seen[i] = service_of(m, path);
		any |= path != NULL;
		if (is_first_of(seen, i, seen[i]))
			count_recording(m, seen[i], o, false);
		if (take_waits(m, q, &scope, seen[i]) < 0)
			return -ENOMEM;
	}
	m->sum.no_cgroups += !any;
	return 0;
}

static void read_measure(const struct table *t, size_t row, const struct fleet_measure *x,
			 unsigned i, struct fleet_values *ret)
{
	size_t col = table_column(t, x->from ? x->from : x->column.key);
	const struct value *v = col == SIZE_MAX ? &table_unknown : table_value(t, row, col);

	if (!v->known || (t->columns[col].type == COLUMN_INT && v->i < 0))
		return;
	ret->v[i] = x->fold == FOLD_ROWS ? 1 : v->u;
	ret->known |= (uint8_t)(1u << i);
	ret->approx |= (uint8_t)(v->approx << i);
	ret->at_least |= (uint8_t)(v->at_least << i);
}

/* The buckets of a row, which its table has as lists. */
static bool read_hist(const struct table *t, size_t row, struct hist *ret)
{
	size_t from = table_column(t, "hist_from_ns"), n = table_column(t, "hist_n");

	*ret = (struct hist){0};
	if (from == SIZE_MAX || n == SIZE_MAX || !table_value(t, row, n)->known)
		return false;
	const struct value *lower = table_value(t, row, from), *count = table_value(t, row, n);
	for (uint32_t i = 0; i < count->n && i < lower->n; i++) {
		ret->count[hist_bucket(lower->series[i])] += count->series[i];
		ret->n += count->series[i];
	}
	return true;
}

static const char *row_key(struct fleet *m, const struct fleet_def *d, const struct table *t,
			   size_t row)
{
	const char *texts[FLEET_KEYS] = {NULL};

	for (int i = 0; i < FLEET_KEYS && d->keys[i].key; i++) {
		texts[i] = table_text(t, row, d->from[i] ? d->from[i] : d->keys[i].key);
		if (!texts[i] && d->keys[i].flags & COLUMN_WIDE)
			texts[i] = unknown;
		if (texts[i] && !strncmp(texts[i], "0x", 2))
			texts[i] = "(no symbol)";
	}
	return fleet_key(m, texts);
}

/* By service a row is of the memory cgroup that it has; others are of no group. */
static void add_row(struct fleet *m, enum fleet_at at, const struct table *t, size_t row,
		    uint32_t group)
{
	const struct fleet_def *d = &fleet_defs[at];
	const char *key = row_key(m, d, t, row), *memcg = table_text(t, row, "memcg");
	struct fleet_values v = {0};
	struct hist h;
	char name[SERVICE];

	for (unsigned i = 0; i < FLEET_MEASURES && d->measures[i].column.key; i++)
		read_measure(t, row, &d->measures[i], i, &v);
	bool has_hist = d->has_hist && read_hist(t, row, &h);
	if (m->by != FLEET_BY_SERVICE)
		fleet_add_part(m, at, key, group, &v, has_hist ? &h : NULL);
	else if (memcg)
		fleet_add_part(m, at, key,
			       group_named(m, NULL, fleet_service(memcg, name, sizeof(name))), &v,
			       has_hist ? &h : NULL);
	else
		fleet_add(m, at, fleet_row(m, at, key), &v, has_hist ? &h : NULL);
}

static int ask_hot(struct query *q, struct table *ret, struct error *err)
{
	const struct query_hot_spec spec = {.by = HOT_SYMBOL};

	return q->model->profile->samples ? query_hot_named(q, &spec, ret, err) : 0;
}

static int ask_table(struct query *q, enum fleet_at at, struct table *ret, struct error *err)
{
	const struct query_spec spec = {
		.by = BY_PROCESS, .average = true, .ended = true, .buckets = true};

	switch (at) {
	case FLEET_HOT:
		return ask_hot(q, ret, err);
	case FLEET_SLOTS:
		return query_perf_slots(q, &spec, ret, err);
	case FLEET_MMAP:
		return query_mmap(q, &spec, ret, err);
	default:
		return query_uprobe_probes(q, &spec, ret, err);
	}
}

static int take_tables(struct fleet *m, struct query *q, uint32_t group, struct error *err)
{
	for (int at = 0; at < FLEET_TABLES; at++) {
		struct table t = {0};

		if (!(m->tables & 1u << at) || !fleet_defs[at].kind)
			continue;
		int r = ask_table(q, (enum fleet_at)at, &t, err);
		if (r < 0)
			return r;
		for (size_t row = 0; row < t.n_rows; row++)
			add_row(m, (enum fleet_at)at, &t, row, group);
	}
	return 0;
}

static void note_once(struct fleet *m, struct map64 *seen, uint64_t *count, const char *id,
		      const char *name)
{
	const char *texts[FLEET_KEYS] = {id, name, ""};
	const char *key = fleet_key(m, texts);

	if (!key || map64_get(seen, (uint64_t)(uintptr_t)key))
		return;
	m->failed |= map64_put(seen, (uint64_t)(uintptr_t)key, 0) < 0;
	*count += 1;
}

static void add_damage(struct fleet_sum *sum, const struct model_damage *d)
{
	const size_t most = sizeof(sum->damage) / sizeof(*sum->damage);

	for (size_t i = 0; i < most && query_damage_figures[i].key; i++)
		sum->damage[i] += figure_value(&query_damage_figures[i], d, 0).u;
}

static void add_overview(struct fleet *m, const struct query *q, const struct query_overview *o,
			 const struct record_machine *machine)
{
	const struct when w = {.clock_ns = o->host->clock_ns, .wall_ns = o->host->wall_ns};
	uint64_t from = when_wall_ns(&w, o->from_ns), to = when_wall_ns(&w, o->to_ns);
	struct fleet_sum *s = &m->sum;

	s->recordings++;
	s->contended += o->contended;
	s->total_ns += o->total_ns;
	s->measured_ns += o->elapsed_ns;
	s->no_locks += q->model->no_locks;
	s->samples += q->model->profile->samples;
	if (from && (!s->from_wall_ns || from < s->from_wall_ns))
		s->from_wall_ns = from;
	s->to_wall_ns = from && to > s->to_wall_ns ? to : s->to_wall_ns;
	note_once(m, &m->machines, &s->machines, machine->id, machine->host);
	note_once(m, &m->kernels, &s->kernels, o->host->release, "");
	add_damage(s, &o->damage);
}

int fleet_take(struct fleet *m, struct query *q, struct error *err)
{
	const struct record_machine machine = query_machine(q);
	struct query_overview o;
	uint32_t group = FLEET_OTHER;
	int r;

	if (query_overview(q, &o) < 0)
		return query_enomem(err, "merge");
	if (m->by == FLEET_BY_HOST)
		group = group_named(m, machine.id, machine.host);
	else if (m->by == FLEET_BY_KERNEL)
		group = group_named(m, NULL, o.host->release);
	else if (m->by == FLEET_BY_RECORDING)
		group = group_named(m, NULL,
				    arena_printf(&q->arena, "%" PRIu64, m->sum.recordings + 1));
	if (m->by == FLEET_BY_SERVICE) {
		r = take_services(m, q, &o);
	} else {
		count_recording(m, group, &o, true);
		r = take_waits(m, q, &(struct query_scope){0}, group);
	}
	if (r < 0)
		return query_enomem(err, "merge");
	add_overview(m, q, &o, &machine);
	r = take_tables(m, q, group, err);
	m->sum.trusted += query_load_n_trusted(q);
	return r < 0 ? r : m->failed ? query_enomem(err, "merge") : 0;
}
