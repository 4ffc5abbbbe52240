// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cost against events: the model's points, by what they are of, and a straight line through those
 * of rotation and of switches. A point counts as often as it was seen. With one number of events
 * there is no line: one cannot tell what more of them would cost.
 */
#include "query-int.h"
#include "query-rotation.h"

#include <errno.h>
#include <string.h>

struct sums {
	double w, x, y, xx, xy;
};

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

static void add_to_sums(struct sums *s, const struct query_rotation_point *p)
{
	double w = (double)p->n, x = p->events, y = (double)p->p50_ns;

	s->w += w;
	s->x += w * x;
	s->y += w * y;
	s->xx += w * x * x;
	s->xy += w * x * y;
}

static struct query_rotation_fit fit(const struct query_rotation_costs *c,
				     enum query_rotation_what what)
{
	struct query_rotation_fit f = {0};
	struct sums s = {0};

	/* Nobody rotates for no events: such a task has just gone. */
	for (size_t i = 0; i < c->n_points; i++)
		if (c->points[i].what == what && (what != ROTATION_OF_MUX || c->points[i].events))
			add_to_sums(&s, &c->points[i]);
	double spread = s.w * s.xx - s.x * s.x;
	if (s.w <= 0 || spread <= 1e-6 * s.w * s.w)
		return f;
	f.known = true;
	f.per_event_ns = (s.w * s.xy - s.x * s.y) / spread;
	f.base_ns = (s.y - f.per_event_ns * s.x) / s.w;
	return f;
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
	c.fit = fit(&c, ROTATION_OF_MUX);
	c.switch_fit = fit(&c, ROTATION_OF_SWITCH);
	*ret = c;
	return 0;
}
