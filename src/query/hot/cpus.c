// SPDX-License-Identifier: GPL-2.0-only
/*
 * The load of each CPU: of its samples, those of each group. A group with a percent of all samples
 * may be all that one CPU does; so the table also has the CPU where it has its largest share, and
 * the median and smallest share.
 */
#include "kontend/profile.h"
#include "kontend/sort.h"
#include "kontend/units.h"
#include "list.h"

#include <errno.h>

struct counts {
	struct hot_rows h;
	uint32_t *at; /* by number of the CPU: index + 1 in `cpus` */
	struct query_hot_cpu *cpus;
	size_t n;
};

/* As in the keys of cells, so that no number needs much room. */
static uint16_t cpu_of(const struct profile_cell *cell)
{
	return (uint16_t)cell->cpu;
}

/* One for each CPU that has a sample, in their order. */
static int make_cpus(struct counts *c)
{
	const struct profile *p = c->h.p;
	struct arena *a = &c->h.q->arena;
	size_t most = 0;

	for (size_t i = 0; i < p->n; i++)
		most = cpu_of(&p->cells[i]) > most ? cpu_of(&p->cells[i]) : most;
	c->at = arena_alloc(a, (most + 1) * sizeof(*c->at));
	if (!c->at)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++)
		if (hot_zoom_sample(&c->h, &p->cells[i]))
			c->at[cpu_of(&p->cells[i])] = 1;
	for (size_t cpu = 0; cpu <= most; cpu++)
		if (c->at[cpu])
			c->at[cpu] = (uint32_t)++c->n;
	c->cpus = arena_alloc(a, (c->n + 1) * sizeof(*c->cpus));
	return c->cpus ? 0 : -ENOMEM;
}

static void add_cells(struct counts *c)
{
	const struct profile *p = c->h.p;

	for (size_t i = 0; i < p->n; i++) {
		const struct profile_cell *cell = &p->cells[i];
		uint64_t weight = p->period ? cell->period : cell->n;
		if (!hot_zoom_sample(&c->h, cell))
			continue;
		struct query_hot_cpu *cpu = &c->cpus[c->at[cpu_of(cell)] - 1];
		struct query_hot_part *part = &cpu->groups[c->h.groups[cell->stack]];
		cpu->cpu = cpu_of(cell);
		cpu->all.samples += cell->n;
		cpu->all.weight += weight;
		part->samples += cell->n;
		part->weight += weight;
	}
}

int query_hot_cpus(struct query *q, const struct query_zoom *zoom, struct query_hot_cpus *ret)
{
	struct counts c = {.h = {.q = q, .zoom = zoom}};

	if (query_sync(q) < 0 || !(c.h.groups = hot_groups(q)))
		return -ENOMEM;
	c.h.p = query_profile(q);
	if (make_cpus(&c) < 0)
		return -ENOMEM;
	add_cells(&c);
	*ret = (struct query_hot_cpus){c.cpus, c.n};
	return q->cache->failed ? -ENOMEM : 0;
}

enum path_group query_hot_row_group(uint64_t row)
{
	for (int g = PATH_NONE; g < PATH_ALL; g++)
		if (hot_id((uint64_t)g) == row)
			return (enum path_group)g;
	return PATH_NONE;
}

double query_hot_cpu_pct(const struct query_hot_cpu *c, enum path_group g)
{
	return units_percent(c->groups[g].weight, c->all.weight);
}

static int goes_before(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b;
}

int query_hot_spread(struct query *q, const struct query_hot_cpus *c, enum path_group g,
		     struct query_hot_spread *ret)
{
	double *pct = arena_alloc(&q->arena, 2 * c->n * sizeof(*pct));
	uint64_t *shares = arena_alloc(&q->arena, c->n * sizeof(*shares));

	*ret = (struct query_hot_spread){.shares = shares};
	if (!c->n)
		return 0;
	if (!pct || !shares)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		pct[i] = query_hot_cpu_pct(&c->cpus[i], g);
		shares[i] = (uint64_t)(pct[i] * 100);
		if (pct[i] > ret->max) {
			ret->max = pct[i];
			ret->cpu = c->cpus[i].cpu;
		}
	}
	sort_merge(pct, pct + c->n, c->n, sizeof(*pct), goes_before);
	ret->min = pct[0];
	ret->median = (pct[(c->n - 1) / 2] + pct[c->n / 2]) / 2;
	return 0;
}
