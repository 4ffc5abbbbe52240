// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds the wait times of each second to sums that only grow, whatever the model forgets. Sums by
 * type are exact. A lock gets its own series in the second in which it is among the first locks.
 * Its earlier waits are in `other`, and so are its waits of a second in which eighty other locks
 * have more. So the series of a type add up to the type, each only grows, and the cost of a second
 * depends only on its waits.
 */
#include "sums.h"
#include "kontend/model.h"
#include "kontend/query-rotation.h"
#include "kontend/shorts.h"

#include <errno.h>
#include <string.h>

static void set_limits(struct named_sums *s, size_t most)
{
	s->most = most;
	s->ends = true;
}

int metrics_sums_init(struct metrics_sums *s, const char *version)
{
	const struct openmetrics_spec spec = {.version = version, .live = true};

	*s = (struct metrics_sums){0};
	set_limits(&s->locks, METRICS_LOCKS);
	set_limits(&s->cgroups, METRICS_CGROUPS);
	set_limits(&s->processes, METRICS_PROCESSES);
	s->locks.is_cut = s->processes.is_cut = true;
	/* `other` exists from the start, so that it shows increases and always has memory. */
	for (enum lock_type i = 0; i < LOCK_UNKNOWN; i++)
		if (!named_sums_other(&s->locks, locktype_base(i), locktype_mode(i)))
			return -ENOMEM;
	if (openmetrics_new(&s->types, &spec) < 0 || !named_sums_other(&s->cgroups, NULL, NULL) ||
	    !named_sums_other(&s->processes, NULL, NULL) || metrics_probes_init(&s->probes) < 0)
		return -ENOMEM;
	return 0;
}

void metrics_sums_deinit(struct metrics_sums *s)
{
	openmetrics_free(s->types);
	named_sums_deinit(&s->locks);
	named_sums_deinit(&s->cgroups);
	named_sums_deinit(&s->processes);
	metrics_probes_deinit(&s->probes);
}

/* Sums of a second over locks of a type that have their own series. */
struct parts {
	uint64_t n, ns, waiting;
};

static enum lock_type type_of(const struct table *t, size_t row)
{
	const char *kind = table_text_or(t, row, "kind", "");
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
static void name_lock(const struct table *t, size_t i, char ret[NAMED_SUM_NAME])
{
	snprintf(ret, NAMED_SUM_NAME, "%s", table_text_or(t, i, "name", ""));
	char *address = strstr(ret, " \xe2\x80\xa6");
	char *id = strrchr(ret, '/');

	if (address)
		*address = '\0';
	else if (id && !table_cell(t, i, "path")->known && id[1] &&
		 !id[1 + strspn(id + 1, "0123456789")])
		*id = '\0';
}

/*
 * The row for a name. Without memory for a new one it is `other`, which exists from the start: so
 * all sums still add up. NULL: `other` has a new type of locks, and no memory.
 */
static struct named_sum *row_of(struct named_sums *s, const struct named_key *key, size_t i,
				uint64_t now_ns)
{
	struct named_sum *r = named_sums_get(s, key, i < METRICS_FIRST, now_ns);

	return r ? r : named_sums_other(s, key->type, key->mode);
}

static void add_lock(struct metrics_sums *s, const struct table *t, size_t i, uint64_t now_ns,
		     struct parts parts[LOCK_TYPES])
{
	enum lock_type type = type_of(t, i);
	uint64_t n = table_u64(t, i, "contended"), ns = table_u64(t, i, "total_ns");
	uint64_t waiting = table_u64(t, i, "waiting");
	char name[NAMED_SUM_NAME];
	const struct named_key key = {name, locktype_base(type), locktype_mode(type)};

	name_lock(t, i, name);
	struct named_sum *r = row_of(&s->locks, &key, i, now_ns);
	if (!r || named_sum_is_other(r))
		return;
	named_sum_add(r, n, ns, table_u64(t, i, "max_ns"), waiting, now_ns);
	parts[type].n += n;
	parts[type].ns += ns;
	parts[type].waiting += waiting;
}

/* @before, @now: the sums of the types; the part of the difference without a series is `other`. */
static int add_others(struct metrics_sums *s, const struct openmetrics_sum *before,
		      const struct openmetrics_sum *now, const struct parts *parts, uint64_t now_ns)
{
	for (enum lock_type i = 0; i < LOCK_TYPES; i++) {
		uint64_t n = now[i].n - before[i].n - parts[i].n;
		uint64_t ns = now[i].total_ns - before[i].total_ns - parts[i].ns;
		uint64_t waiting = now[i].waiting - parts[i].waiting;

		if (i == LOCK_UNKNOWN && !n && !waiting)
			continue;
		struct named_sum *r =
			named_sums_other(&s->locks, locktype_base(i), locktype_mode(i));
		if (!r)
			return -ENOMEM;
		named_sum_add(r, n, ns, 0, waiting, now_ns);
	}
	return 0;
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
	named_sums_clear_waiting(&s->locks);
	for (size_t i = 0; i < t.n_rows; i++)
		if (table_u64(&t, i, "contended") || table_u64(&t, i, "waiting"))
			add_lock(s, &t, i, q->model->now_ns, parts);
	openmetrics_sums(s->types, now);
	return add_others(s, before, now, parts, q->model->now_ns);
}

static int add_cgroups(struct metrics_sums *s, struct query *q)
{
	const struct query_spec spec = {
		.by = BY_CGROUP, .sort = "wait_ns_per_s", .average = true, .ended = true};
	struct table t;

	if (query_locks(q, &spec, &t, NULL) < 0)
		return -ENOMEM;
	named_sums_clear_waiting(&s->cgroups);
	for (size_t i = 0; i < t.n_rows; i++) {
		const struct named_key key = {.name = table_text_or(&t, i, "cgroup", "unknown")};
		struct named_sum *r = row_of(&s->cgroups, &key, i, q->model->now_ns);

		named_sum_add(r, table_u64(&t, i, "contended"), table_u64(&t, i, "total_ns"),
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
	named_sum_add(named_sums_other(&s->processes, NULL, NULL), all.n - parts.n,
		      all.ns - parts.ns, 0, all.waiting - parts.waiting, now_ns);
}

/* There may be thousands of processes: as with locks, only the first are examined. */
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
	named_sums_clear_waiting(&s->processes);
	for (size_t i = 0; i < t.n_rows; i++) {
		uint64_t n = table_u64(&t, i, "contended"), ns = table_u64(&t, i, "total_ns");
		uint64_t waiting = table_u64(&t, i, "waiting");
		const struct named_key key = {.name = table_text_or(&t, i, "comm", "unknown")};
		struct named_sum *r = row_of(&s->processes, &key, i, now_ns);

		if (named_sum_is_other(r))
			continue;
		named_sum_add(r, n, ns, table_u64(&t, i, "max_ns"), waiting, now_ns);
		parts.n += n;
		parts.ns += ns;
		parts.waiting += waiting;
	}
	add_other_processes(s, before, parts, now_ns);
	return 0;
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

static void add_futexes(struct metrics_sums *s, const struct user_seen *seen)
{
	struct user_counts *to = &s->futexes, n;

	s->counts_futexes = user_seen_counts(seen, &n);
	to->unproven += n.unproven;
	to->unknown += n.unknown;
	to->dropped += n.dropped;
	to->foreign += n.foreign;
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
	add_shorts(s, q->model->shorts->types);
	add_futexes(s, q->model->user_seen);
	if (openmetrics_add(s->types, q, NULL) < 0)
		return -ENOMEM;
	int code = add_locks(s, q, before);
	code = code ? code : add_cgroups(s, q);
	code = code ? code : add_processes(s, q, before);
	code = code ? code : metrics_probes_add(&s->probes, q);
	return code ? code : add_rotation(s, q);
}

void metrics_sums_clear_longest(struct metrics_sums *s)
{
	openmetrics_clear_longest(s->types);
	named_sums_clear_max(&s->locks);
	named_sums_clear_max(&s->cgroups);
	named_sums_clear_max(&s->processes);
}
