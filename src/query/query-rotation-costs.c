// SPDX-License-Identifier: GPL-2.0-only
/* Cost against events: the model's points, by what they are of, and what they sum up to. */
#include "query-int.h"
#include "query-rotation.h"

#include <errno.h>
#include <string.h>

const char *query_rotation_what_name(enum query_rotation_what what)
{
	static const char *const names[] = {"rotation", "tick", "switch"};

	return names[what];
}

static bool is_tick(const struct query *q, uint64_t function)
{
	const char *name = sym_name(q->sym, function, NULL);

	return name && (!strcmp(name, "tick_sched_timer") || !strcmp(name, "tick_nohz_handler"));
}

static enum query_rotation_what what_of(const struct query *q, const struct rotation_point *p)
{
	if (!p->key)
		return ROTATION_OF_SWITCH;
	return is_tick(q, p->key) ? ROTATION_OF_TICK : ROTATION_OF_MUX;
}

static void add_tick(struct query_rotation_costs *c, const struct query_rotation_point *p)
{
	size_t i = 0;

	while (i < c->n_ticks && c->ticks[i].cpu != p->cpu)
		i++;
	struct query_rotation_tick *t = &c->ticks[i];
	if (i == c->n_ticks)
		c->ticks[c->n_ticks++] = (struct query_rotation_tick){.cpu = p->cpu};
	uint64_t *n = p->events ? &t->loaded_n : &t->plain_n;
	uint64_t *ns = p->events ? &t->loaded_ns : &t->plain_ns;
	*ns = (*ns * *n + p->p50_ns * p->n) / (*n + p->n);
	*n += p->n;
	t->events = p->events > t->events ? p->events : t->events;
}

static void add_switches(const struct rotation *r, struct query_rotation_costs *c)
{
	for (size_t i = 0; i < r->n_cpus; i++) {
		const struct rotation_cpu *cpu = &r->cpus[i];
		if (!cpu->plain.n && !cpu->loaded.n)
			continue;
		c->switches[c->n_switches++] = (struct query_rotation_switches){
			.cpu = (uint32_t)i,
			.plain_n = cpu->plain.n,
			.plain_p50_ns = fine_percentile(&cpu->plain, 50),
			.loaded_n = cpu->loaded.n,
			.loaded_p50_ns = fine_percentile(&cpu->loaded, 50),
		};
	}
}

int query_rotation_costs(struct query *q, struct query_rotation_costs *ret)
{
	const struct rotation *r = &q->model->rotation;
	struct query_rotation_costs c = {
		.bursts = r->bursts, .switch_ns = r->switch_ns, .n_unclassed = r->unclassed};

	c.points = arena_alloc(&q->arena, (r->n_points + 1) * sizeof(*c.points));
	c.ticks = arena_alloc(&q->arena, (r->n_points + 1) * sizeof(*c.ticks));
	c.switches = arena_alloc(&q->arena, (r->n_cpus + 1) * sizeof(*c.switches));
	if (!c.points || !c.ticks || !c.switches)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_points; i++) {
		const struct rotation_point *p = &r->points[i];
		enum query_rotation_what what = what_of(q, p);
		c.points[c.n_points] = (struct query_rotation_point){
			.what = what,
			.cpu = p->cpu,
			.events = what == ROTATION_OF_TICK ? p->whole : p->events,
			.n = p->time.n,
			.p50_ns = fine_percentile(&p->time, 50),
			.min_ns = p->time.min_ns,
			.max_ns = p->time.max_ns,
		};
		if (what == ROTATION_OF_TICK)
			add_tick(&c, &c.points[c.n_points]);
		c.n_points++;
	}
	add_switches(r, &c);
	c.fit = query_rotation_fit(&c, ROTATION_OF_MUX, UINT32_MAX);
	c.switch_fit = query_rotation_fit(&c, ROTATION_OF_SWITCH, UINT32_MAX);
	*ret = c;
	return 0;
}
