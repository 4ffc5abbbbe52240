// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds the wait times of each second to sums that only grow, whatever the model forgets. Sums by
 * type are exact. A lock gets its own series in the second in which it is first among the top
 * locks; its earlier waits are in `other`, as are those of a second in which eighty other locks
 * have more. So the series of a type add up to the type, each only grows, and the cost of a second
 * depends on its waits only.
 */
#include "sums.h"
#include "kontend/model.h"
#include "kontend/query-mmap.h"
#include "kontend/query-rotation.h"

#include <errno.h>
#include <string.h>

int metrics_sums_init(struct metrics_sums *s, const char *version)
{
	const struct openmetrics_spec spec = {
		.version = version, .no_callers = true, .no_memcgs = true, .all_types = true};

	*s = (struct metrics_sums){0};
	if (openmetrics_new(&s->types, &spec) < 0 ||
	    metrics_rows_init(&s->locks, METRICS_LOCKS) < 0 ||
	    metrics_rows_init(&s->cgroups, METRICS_CGROUPS) < 0 ||
	    metrics_rows_init(&s->processes, METRICS_PROCESSES) < 0 ||
	    metrics_rows_init(&s->memcgs, METRICS_MEMCGS) < 0 ||
	    metrics_rows_init(&s->taken, METRICS_MEMCGS) < 0 ||
	    metrics_rows_init(&s->gets, METRICS_MEMCGS) < 0 ||
	    metrics_rows_init(&s->holds, METRICS_MEMCGS) < 0 || metrics_probes_init(&s->probes) < 0)
		return -ENOMEM;
	s->locks.is_cut = s->processes.is_cut = true;
	return 0;
}

void metrics_sums_deinit(struct metrics_sums *s)
{
	openmetrics_free(s->types);
	metrics_rows_deinit(&s->locks);
	metrics_rows_deinit(&s->cgroups);
	metrics_rows_deinit(&s->processes);
	metrics_rows_deinit(&s->memcgs);
	metrics_rows_deinit(&s->taken);
	metrics_rows_deinit(&s->gets);
	metrics_rows_deinit(&s->holds);
	metrics_probes_deinit(&s->probes);
}

static const char *text(const struct table *t, size_t row, const char *key, const char *unknown)
{
	const char *s = table_text(t, row, key);

	return s && *s ? s : unknown;
}

/* Sums of a second over locks of a type that have their own series. */
struct parts {
	uint64_t n, ns, waiting;
};

static enum lock_type type_of(const struct table *t, size_t row)
{
	const char *kind = text(t, row, "kind", "");
	enum lock_type i = 0;

	while (i < LOCK_UNKNOWN && strcmp(locktype_name(i), kind))
		i++;
	return i;
}

/*
 * A label is shared by many objects and must not show addresses to clients: from "mmap_lock
 * mysqld/812" the process id is removed (but no part of a path), and from "do_unlinkat …c5898" the
 * address.
 */
static void name_lock(const struct table *t, size_t i, char ret[METRICS_NAME])
{
	snprintf(ret, METRICS_NAME, "%s", text(t, i, "name", ""));
	char *address = strstr(ret, " \xe2\x80\xa6");
	char *id = strrchr(ret, '/');

	if (address)
		*address = '\0';
	else if (id && !table_cell(t, i, "path")->known && id[1] &&
		 !id[1 + strspn(id + 1, "0123456789")])
		*id = '\0';
}

static void add_lock(struct metrics_sums *s, const struct table *t, size_t i, uint64_t now_ns,
		     struct parts parts[LOCK_TYPES])
{
	enum lock_type type = type_of(t, i);
	uint64_t n = table_u64(t, i, "contended"), ns = table_u64(t, i, "total_ns");
	uint64_t waiting = table_u64(t, i, "waiting");
	char name[METRICS_NAME];

	name_lock(t, i, name);
	struct metrics_row *r = metrics_rows_get(&s->locks, name, type, i < METRICS_FIRST, now_ns);
	if (r == &s->locks.other[type])
		return;
	metrics_rows_add(r, n, ns, table_u64(t, i, "max_ns"), waiting, now_ns);
	parts[type].n += n;
	parts[type].ns += ns;
	parts[type].waiting += waiting;
}

/* @before, @now: the sums of the types; the part of the difference without a series is `other`. */
static void add_others(struct metrics_sums *s, const struct openmetrics_sum *before,
		       const struct openmetrics_sum *now, const struct parts *parts,
		       uint64_t now_ns)
{
	for (enum lock_type i = 0; i < LOCK_TYPES; i++) {
		uint64_t n = now[i].n - before[i].n - parts[i].n;
		uint64_t ns = now[i].total_ns - before[i].total_ns - parts[i].ns;

		metrics_rows_add(&s->locks.other[i], n, ns, 0, now[i].waiting - parts[i].waiting,
				 now_ns);
	}
}

static int add_locks(struct metrics_sums *s, struct query *q, const struct openmetrics_sum *before)
{
	const struct query_spec spec = {.by = BY_LOCK,
					.sort = "wait_ns_per_s",
					.limit = METRICS_LOOKED_AT,
					.average = true,
					.ended = true};
	struct openmetrics_sum now[LOCK_TYPES];
	struct parts parts[LOCK_TYPES] = {0};
	struct table t;

	if (query_locks(q, &spec, &t, NULL) < 0)
		return -ENOMEM;
	metrics_rows_no_waiting(&s->locks);
	for (size_t i = 0; i < t.n_rows; i++)
		if (table_u64(&t, i, "contended") || table_u64(&t, i, "waiting"))
			add_lock(s, &t, i, q->model->now_ns, parts);
	openmetrics_sums(s->types, now);
	add_others(s, before, now, parts, q->model->now_ns);
	return 0;
}

static int add_cgroups(struct metrics_sums *s, struct query *q)
{
	const struct query_spec spec = {
		.by = BY_CGROUP, .sort = "wait_ns_per_s", .average = true, .ended = true};
	struct table t;

	if (query_locks(q, &spec, &t, NULL) < 0)
		return -ENOMEM;
	metrics_rows_no_waiting(&s->cgroups);
	for (size_t i = 0; i < t.n_rows; i++) {
		struct metrics_row *r =
			metrics_rows_get(&s->cgroups, text(&t, i, "cgroup", "unknown"), 0,
					 i < METRICS_FIRST, q->model->now_ns);
		metrics_rows_add(r, table_u64(&t, i, "contended"), table_u64(&t, i, "total_ns"),
				 table_u64(&t, i, "max_ns"), table_u64(&t, i, "waiting"),
				 q->model->now_ns);
	}
	return 0;
}

/* The part of this second that no series of a process has. */
static void add_other_processes(struct metrics_sums *s, const struct openmetrics_sum *before,
				struct parts parts, uint64_t now_ns)
{
	struct openmetrics_sum now[LOCK_TYPES];
	struct parts all = {0};

	openmetrics_sums(s->types, now);
	for (enum lock_type i = 0; i < LOCK_TYPES; i++) {
		all.n += now[i].n - before[i].n;
		all.ns += now[i].total_ns - before[i].total_ns;
		all.waiting += now[i].waiting;
	}
	metrics_rows_add(&s->processes.other[0], all.n - parts.n, all.ns - parts.ns, 0,
			 all.waiting - parts.waiting, now_ns);
}

/* There are thousands: as with locks, only the first are examined. */
static int add_processes(struct metrics_sums *s, struct query *q,
			 const struct openmetrics_sum *before)
{
	const struct query_spec spec = {.by = BY_PROCESS,
					.sort = "wait_ns_per_s",
					.limit = METRICS_LOOKED_AT,
					.average = true,
					.ended = true};
	uint64_t now_ns = q->model->now_ns;
	struct parts parts = {0};
	struct table t;

	if (query_locks(q, &spec, &t, NULL) < 0)
		return -ENOMEM;
	metrics_rows_no_waiting(&s->processes);
	for (size_t i = 0; i < t.n_rows; i++) {
		uint64_t n = table_u64(&t, i, "contended"), ns = table_u64(&t, i, "total_ns");
		uint64_t waiting = table_u64(&t, i, "waiting");
		struct metrics_row *r =
			metrics_rows_get(&s->processes, text(&t, i, "comm", "unknown"), 0,
					 i < METRICS_FIRST, now_ns);
		if (r == &s->processes.other[0])
			continue;
		metrics_rows_add(r, n, ns, table_u64(&t, i, "max_ns"), waiting, now_ns);
		parts.n += n;
		parts.ns += ns;
		parts.waiting += waiting;
	}
	add_other_processes(s, before, parts, now_ns);
	return 0;
}

/* Adds the growth of a histogram to that of its memory cgroup and mode. */
static void add_hist(struct metrics_rows *rows, const struct table *t, size_t i, uint64_t now_ns,
		     const struct query_hist *h)
{
	struct metrics_row *r =
		metrics_rows_get(rows, text(t, i, "memcg", "unknown"),
				 *text(t, i, "mode", "R") == 'W', i < METRICS_FIRST, now_ns);

	openmetrics_hist_count(&r->hist, h);
	metrics_rows_add(r, h->n_waits, h->total_ns, h->max_ns, 0, now_ns);
}

/* Adds figures from the events of the mmap_locks themselves. */
static int add_events(struct metrics_sums *s, struct query *q, const struct table *t, size_t i)
{
	struct query_hist taken = {0};
	struct query_mmap_row row;

	if (query_mmap_row(q, BY_MMAP_MEMCG, t->ids[i], &row) < 0)
		return -ENOMEM;
	taken.n_waits = row.acquired;
	add_hist(&s->taken, t, i, q->model->now_ns, &taken);
	add_hist(&s->gets, t, i, q->model->now_ns, &row.wait);
	add_hist(&s->holds, t, i, q->model->now_ns, &row.hold);
	return 0;
}

static int add_memcg(struct metrics_sums *s, struct query *q, const struct table *t, size_t i)
{
	struct query_scope scope = {.mask = 1u << BY_MMAP_MEMCG, .id[BY_MMAP_MEMCG] = t->ids[i]};
	struct metrics_row *r = metrics_rows_get(&s->memcgs, text(t, i, "memcg", "unknown"),
						 *text(t, i, "mode", "R") == 'W', i < METRICS_FIRST,
						 q->model->now_ns);
	struct query_hist h;

	if (query_hist(q, &scope, &h) < 0)
		return -ENOMEM;
	openmetrics_hist_count(&r->hist, &h);
	metrics_rows_add(r, h.n_waits, h.total_ns, h.max_ns, table_u64(t, i, "waiting"),
			 q->model->now_ns);
	return 0;
}

/* Rows that only have acquisitions without a wait have an empty histogram. */
static int add_memcgs(struct metrics_sums *s, struct query *q)
{
	const struct query_spec spec = {
		.by = BY_CGROUP, .sort = "wait_ns_per_s", .average = true, .ended = true};
	struct table t;
	int code = query_mmap(q, &spec, &t, NULL);

	metrics_rows_no_waiting(&s->memcgs);
	for (size_t i = 0; code == 0 && i < t.n_rows; i++) {
		if (table_u64(&t, i, "contended") || table_u64(&t, i, "waiting"))
			code = add_memcg(s, q, &t, i);
		if (code == 0 && q->model->mmlocks.n)
			code = add_events(s, q, &t, i);
	}
	return code < 0 ? -ENOMEM : 0;
}

static int add_rotation(struct metrics_sums *s, struct query *q)
{
	struct query_rotation_sum r;

	if (query_rotation_sum(q, true, &r) < 0)
		return -ENOMEM;
	s->rotations += r.rotations;
	s->rotation_ns += r.total_ns;
	return 0;
}

static void add_shorts(struct metrics_sums *s, const struct shorts_sum types[LOCK_TYPES])
{
	for (size_t i = 0; i < LOCK_TYPES; i++) {
		s->summed[i] += types[i].n;
		s->counted[i] += types[i].counted;
	}
}

int metrics_sums_add(struct metrics_sums *s, struct query *q)
{
	struct openmetrics_sum before[LOCK_TYPES];

	openmetrics_sums(s->types, before);
	add_shorts(s, q->model->shorts.types);
	if (openmetrics_add(s->types, q, NULL) < 0)
		return -ENOMEM;
	int code = add_locks(s, q, before);
	code = code ? code : add_cgroups(s, q);
	code = code ? code : add_processes(s, q, before);
	code = code ? code : add_memcgs(s, q);
	code = code ? code : metrics_probes_add(&s->probes, q);
	return code ? code : add_rotation(s, q);
}

void metrics_sums_no_longest(struct metrics_sums *s)
{
	openmetrics_no_longest(s->types);
	metrics_rows_no_max(&s->locks);
	metrics_rows_no_max(&s->cgroups);
	metrics_rows_no_max(&s->processes);
	metrics_rows_no_max(&s->memcgs);
}
