// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the text: sums, and current values from queries. An unknown value has no sample, but a
 * reason.
 */
#include "kontend/query-blocked.h"
#include "kontend/query-cost.h"
#include "kontend/query-mmap.h"
#include "kontend/query-perf.h"
#include "kontend/query-rotation.h"
#include "kontend/query-shorts.h"
#include "kontend/query-uprobe.h"
#include "kontend/shortsnap.h"
#include "sums.h"

#include <errno.h>
#include <string.h>

struct now {
	struct query_perf_sum perf;
	struct query_uprobe_sum uprobes;
	struct query_rotation_sum rotation;
	struct query_mmap_sum mmap;
	struct query_cost cost;
	struct query_shorts shorts;
	struct query_blocked_causes blocked;
};

static int ask_now(struct query *q, struct now *ret)
{
	ret->cost = query_cost(q);
	ret->shorts = query_shorts(q);
	return query_perf_sum(q, &ret->perf) < 0 || query_uprobe_sum(q, true, &ret->uprobes) < 0 ||
			       query_rotation_sum(q, true, &ret->rotation) < 0 ||
			       query_mmap_sum(q, true, &ret->mmap) < 0 ||
			       query_blocked_causes(q, &ret->blocked) < 0
		       ? -ENOMEM
		       : 0;
}

static void put_named(const struct metrics_sums *s, struct openmetrics_text *t)
{
	named_sums_put(&s->locks, "kontend_named_lock_waits", NAMED_SUM_N, t);
	named_sums_put(&s->locks, "kontend_named_lock_wait_seconds", NAMED_SUM_TOTAL, t);
	named_sums_put(&s->locks, "kontend_named_lock_wait_max_seconds", NAMED_SUM_MAX, t);
	named_sums_put(&s->locks, "kontend_named_lock_waiters", NAMED_SUM_WAITING, t);
	named_sums_put(&s->cgroups, "kontend_cgroup_waits", NAMED_SUM_N, t);
	named_sums_put(&s->cgroups, "kontend_cgroup_wait_seconds", NAMED_SUM_TOTAL, t);
	named_sums_put(&s->cgroups, "kontend_cgroup_wait_max_seconds", NAMED_SUM_MAX, t);
	named_sums_put(&s->cgroups, "kontend_cgroup_waiters", NAMED_SUM_WAITING, t);
	named_sums_put(&s->processes, "kontend_process_waits", NAMED_SUM_N, t);
	named_sums_put(&s->processes, "kontend_process_wait_seconds", NAMED_SUM_TOTAL, t);
	named_sums_put(&s->processes, "kontend_process_wait_max_seconds", NAMED_SUM_MAX, t);
	named_sums_put(&s->processes, "kontend_process_waiters", NAMED_SUM_WAITING, t);
}

static void put_count(struct openmetrics_text *t, const char *family, uint64_t n)
{
	openmetrics_text_family(t, family);
	openmetrics_text_count(t, NULL, n);
}

static void put_blocked(const struct query_blocked_causes *b, struct openmetrics_text *t)
{
	if (!b->known)
		return;
	openmetrics_text_family(t, "kontend_blocked_tasks");
	for (size_t i = 0; i < b->n; i++)
		openmetrics_text_count(t, &b->causes[i].cause, b->causes[i].tasks);
}

static void put_futexes(const struct metrics_sums *s, struct openmetrics_text *t)
{
	const struct user_counts *u = &s->futexes;
	const struct {
		const char *reason;
		uint64_t n;
	} parts[] = {{"may_be_no_lock", u->unproven},
		     {"unknown", u->unknown},
		     {"dropped", u->dropped},
		     {"32bit", u->foreign}};

	if (!s->counts_futexes)
		return;
	openmetrics_text_family(t, "kontend_futex_sleeps_not_known");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		openmetrics_text_count(t, &parts[i].reason, parts[i].n);
}

static void put_perf(const struct metrics_sums *s, const struct now *now,
		     struct openmetrics_text *t)
{
	const struct query_uprobe_sum *u = &now->uprobes;

	if (now->perf.slots_known) {
		put_count(t, "kontend_breakpoint_slots", now->perf.slots);
		put_count(t, "kontend_breakpoint_slots_used", now->perf.used);
	}
	if (now->rotation.known) {
		put_count(t, "kontend_rotations", s->rotations);
		openmetrics_text_family(t, "kontend_rotation_seconds");
		openmetrics_text_seconds(t, NULL, s->rotation_ns);
	}
	if (u->known) {
		put_count(t, "kontend_uprobes", u->probes);
		named_sums_put(&s->probes.rows, "kontend_uprobe_hits", NAMED_SUM_N, t);
	}
	if (u->known && u->worst) {
		openmetrics_text_family(t, "kontend_xol_slots");
		openmetrics_text_count(t, &u->worst, (uint64_t)u->worst_slots);
	}
	if (u->known && u->worst && u->worst_used >= 0) {
		openmetrics_text_family(t, "kontend_xol_slots_used");
		openmetrics_text_count(t, &u->worst, (uint64_t)u->worst_used);
	}
	if (u->known)
		put_count(t, "kontend_xol_waiters", u->waiting);
}

static void put_cost(const struct query_cost *c, struct openmetrics_text *t)
{
	const struct {
		const char *part;
		uint64_t ns;
	} parts[] = {{"drain", c->drain_ns}, {"looks", c->looks_ns}, {"rest", c->rest_ns}};

	if (!c->known)
		return;
	openmetrics_text_family(t, "kontend_cpu_seconds");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		openmetrics_text_seconds(t, &parts[i].part, parts[i].ns);
	if (c->kernel)
		put_count(t, "kontend_kernel_memory_bytes", c->kernel);
}

static void put_unreported(struct openmetrics_text *t, const char *family, const uint64_t *types)
{
	openmetrics_text_family(t, family);
	for (enum lock_type i = 0; i < LOCK_UNKNOWN; i++)
		openmetrics_text_count(t,
				       (const char *const[]){locktype_base(i), locktype_mode(i),
							     locktype_world(i)},
				       types[i]);
}

/* Level of detail of wait events, and the overhead governor. */
static void put_level(const struct metrics_sums *s, const struct query_shorts *now,
		      struct openmetrics_text *t)
{
	if (!now->known)
		return;
	put_unreported(t, "kontend_lock_waits_summed", s->summed);
	put_unreported(t, "kontend_lock_waits_counted", s->counted);
	openmetrics_text_family(t, "kontend_level");
	for (uint32_t i = 0; i < SHORTSNAP_LEVELS; i++) {
		const char *level = shortsnap_level_name(i);
		openmetrics_text_count(t, &level, strcmp(level, now->level) == 0);
	}
	openmetrics_text_family(t, "kontend_threshold_seconds");
	openmetrics_text_seconds(t, NULL, now->threshold_ns);
	put_count(t, "kontend_level_changes", now->n_changes);
	if (!now->governed)
		return;
	openmetrics_text_family(t, "kontend_overhead_ratio");
	openmetrics_text_ratio(t, NULL, now->now_pct / 100);
	openmetrics_text_family(t, "kontend_overhead_limit_ratio");
	openmetrics_text_ratio(t, NULL, now->max_pct / 100);
}

static void put_counts(const struct metrics_counts *c, struct openmetrics_text *t)
{
	const struct {
		const char *result;
		uint64_t n;
	} results[] = {{"fired", c->fired}, {"suppressed", c->suppressed}, {"failed", c->failed}};

	put_count(t, "kontend_incidents", c->incidents);
	if (!c->triggers)
		return;
	openmetrics_text_family(t, "kontend_triggers");
	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++)
		openmetrics_text_count(t, &results[i].result, results[i].n);
}

static void put_reason(struct openmetrics_text *t, bool known, const char *what, const char *reason)
{
	if (!known)
		openmetrics_text_count(
			t,
			(const char *const[]){what, reason && *reason ? reason : "not yet known"},
			1);
}

static void put_unavailable(const struct now *now, struct openmetrics_text *t)
{
	openmetrics_text_family(t, "kontend_unavailable");
	put_reason(t, now->perf.slots_known, "breakpoint slots", now->perf.reason);
	put_reason(t, now->rotation.known, "rotation", now->rotation.reason);
	put_reason(t, now->uprobes.known, "out-of-line slots", now->uprobes.reason);
	put_reason(t, now->mmap.known, "mmap_locks", now->mmap.reason);
	put_reason(t, now->cost.known, "cost", NULL);
	put_reason(t, now->blocked.known, "blocked tasks", now->blocked.reason);
}

int metrics_put_all(const struct metrics_sums *s, struct query *q, const struct metrics_counts *c,
		    uint64_t n_scrapes, struct openmetrics_text *t)
{
	struct now now;

	if (ask_now(q, &now) < 0)
		return -ENOMEM;
	openmetrics_put_source(s->types, t);
	openmetrics_put_types(s->types, t);
	openmetrics_put_longest(s->types, t);
	put_named(s, t);
	openmetrics_put_mmap(s->types, t);
	openmetrics_put_quality(s->types, t);
	openmetrics_put_loss(s->types, t);
	put_blocked(&now.blocked, t);
	put_futexes(s, t);
	put_perf(s, &now, t);
	put_cost(&now.cost, t);
	put_level(s, &now.shorts, t);
	put_counts(c, t);
	put_unavailable(&now, t);
	put_count(t, "kontend_series_ended",
		  s->locks.n_ended + s->cgroups.n_ended + s->processes.n_ended +
			  openmetrics_ended(s->types) + s->probes.rows.n_ended);
	put_count(t, "kontend_scrapes", n_scrapes);
	return ferror(t->out) ? -ENOMEM : 0;
}
