// SPDX-License-Identifier: GPL-2.0-only
/*
 * The share of its enabled time in which an event counted. One event of the user may be one for
 * each CPU: events of a task, each bound to a CPU. Such an event is enabled while the task runs on
 * other CPUs, too, and counts nothing then, though its counter was not taken away. So events that
 * differ only by their CPU are taken together: they counted for the sum of their times, while the
 * task ran for the longest time that one of them was enabled.
 */
#include "../internal.h"
#include "kontend/hash.h"
#include "kontend/map64.h"
#include "kontend/model-cpu.h"
#include "snapshot.h"

#include <errno.h>
#include <string.h>

struct sharing {
	struct query_perf_share *shares; /* of groups, by index */
	uint32_t *cpus;			 /* how many events each has */
	size_t n;
	struct map64 seen;  /* events alike on one CPU, so far */
	struct map64 index; /* of the group with the n-th of them */
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	return hash_add(hash_u64(h + 1), v);
}

/* Key that the parts of one event share. */
static uint64_t kind_of(const struct snap_event *e)
{
	uint64_t h = mix((uint32_t)e->target_tid, (uint32_t)e->owner_tid);

	h = mix(h, (uint64_t)e->type << 32 | e->bp_type);
	h = mix(h, e->config);
	return mix(mix(h, e->bp_addr), e->parent != 0);
}

static bool is_part(const struct snap_event *e)
{
	return e->target_tid && e->cpu >= 0;
}

/* The n-th event of its kind on each CPU is the same one; they are in the order of their numbers or
 * of a list, which is that of opening them. */
static int64_t group_of(struct sharing *g, const struct snap_event *e)
{
	uint64_t kind = kind_of(e), on_cpu = mix(kind, (uint64_t)e->cpu + 1);
	const uint32_t *before = map64_get(&g->seen, on_cpu);
	uint32_t nth = before ? *before : 0;
	uint64_t key = mix(kind, (uint64_t)nth << 32);
	const uint32_t *at = map64_get(&g->index, key);

	if (map64_put(&g->seen, on_cpu, nth + 1) < 0)
		return -ENOMEM;
	if (at)
		return *at;
	return map64_put(&g->index, key, (uint32_t)g->n) < 0 ? -ENOMEM : (int64_t)g->n;
}

static int add_event(struct sharing *g, const struct snap_event *e, uint32_t *ret)
{
	int64_t i = is_part(e) ? group_of(g, e) : (int64_t)g->n;

	if (i < 0)
		return -ENOMEM;
	if ((size_t)i == g->n)
		g->shares[g->n++] = (struct query_perf_share){.known = true, .first = true};
	struct query_perf_share *s = &g->shares[i];
	s->known &= (e->flags & SNAP_TIMES) != 0;
	s->running_ns += e->running_ns;
	s->enabled_ns = e->enabled_ns > s->enabled_ns ? e->enabled_ns : s->enabled_ns;
	g->cpus[i] += is_part(e);
	*ret = (uint32_t)i;
	return 0;
}

static uint32_t cpus_online(const struct model *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_cpus; i++)
		n += !m->cpus[i].offline;
	return n;
}

static int take_together(struct sharing *g, const struct perfsnap *s, uint32_t *group)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < s->n_events; i++)
		code = add_event(g, &s->events[i], &group[i]);
	map64_deinit(&g->seen);
	map64_deinit(&g->index);
	return code;
}

int query_perf_shares(struct query *q, const struct query_perf *p, struct query_perf_share **ret)
{
	const struct perfsnap *s = p->snap;
	uint32_t online = cpus_online(q->model);
	struct sharing g = {0};
	uint32_t *group = arena_alloc(&q->arena, (s->n_events + 1) * sizeof(*group));
	struct query_perf_share *shares =
		arena_alloc(&q->arena, (s->n_events + 1) * sizeof(*shares));

	g.shares = arena_alloc(&q->arena, (s->n_events + 1) * sizeof(*g.shares));
	g.cpus = arena_alloc(&q->arena, (s->n_events + 1) * sizeof(*g.cpus));
	if (!group || !shares || !g.shares || !g.cpus)
		return -ENOMEM;
	memset(g.cpus, 0, (s->n_events + 1) * sizeof(*g.cpus));
	if (take_together(&g, s, group) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_events; i++) {
		struct query_perf_share *o = &g.shares[group[i]];
		/* If a task also ran on CPUs without such an event, that was no loss. */
		o->known &= !is_part(&s->events[i]) || g.cpus[group[i]] >= online;
		if (o->running_ns > o->enabled_ns)
			o->running_ns = o->enabled_ns;
	}
	for (size_t i = 0; i < s->n_events; i++) {
		shares[i] = g.shares[group[i]];
		g.shares[group[i]].first = false;
	}
	*ret = shares;
	return 0;
}
