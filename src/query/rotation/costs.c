// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cost against the number of events: the model's points by kind, their sums, and a straight line
 * through them by least squares. A point counts as often as it was measured. Points with only one
 * number of events give no line: the cost of more events is unknown.
 */
#include "../internal.h"
#include "kontend/hist-fine.h"
#include "kontend/rotation.h"
#include "list.h"

#include <errno.h>
#include <string.h>

struct fit_sums {
	double w, x, y, xx, xy;
};

static void fit_add(struct fit_sums *s, const struct query_rotation_point *p)
{
	double w = (double)p->n, x = p->events, y = (double)p->p50_ns;

	s->w += w;
	s->x += w * x;
	s->y += w * y;
	s->xx += w * x * x;
	s->xy += w * x * y;
}

/* A rotation without events does not count: the task has just ended. */
static bool fit_counts(const struct query_rotation_point *p, enum query_rotation_what what,
		       uint32_t cpu)
{
	return p->what == what && (what != ROTATION_OF_MUX || p->events) &&
	       (cpu == UINT32_MAX || p->cpu == cpu);
}

struct query_rotation_fit query_rotation_fit(const struct query_rotation_costs *c,
					     enum query_rotation_what what, uint32_t cpu)
{
	struct query_rotation_fit f = {0};
	struct fit_sums s = {0};

	for (size_t i = 0; i < c->n_points; i++)
		if (fit_counts(&c->points[i], what, cpu))
			fit_add(&s, &c->points[i]);
	double spread = s.w * s.xx - s.x * s.x;
	if (s.w <= 0 || spread <= 1e-6 * s.w * s.w)
		return f;
	f.known = true;
	f.per_event_ns = (s.w * s.xy - s.x * s.y) / spread;
	f.base_ns = (s.y - f.per_event_ns * s.x) / s.w;
	return f;
}

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

/* The model distinguishes more than matters here: such points become one. */
static void add_point(struct query_rotation_costs *c, const struct query_rotation_point *p)
{
	struct query_rotation_point *o = c->points, *end = o + c->n_points;

	while (o < end && (o->what != p->what || o->cpu != p->cpu || o->events != p->events ||
			   o->off != p->off || o->idle != p->idle))
		o++;
	if (o == end) {
		*o = *p;
		c->n_points++;
		return;
	}
	o->p50_ns = (o->p50_ns * o->n + p->p50_ns * p->n) / (o->n + p->n);
	o->min_ns = p->min_ns < o->min_ns ? p->min_ns : o->min_ns;
	o->max_ns = p->max_ns > o->max_ns ? p->max_ns : o->max_ns;
	o->n += p->n;
}

/* Ticks with as many events, which may be some of several points. */
static void add_tick(struct query_rotation_costs *c, const struct query_rotation_point *p)
{
	size_t i = 0;

	while (i < c->n_ticks && (c->ticks[i].cpu != p->cpu || c->ticks[i].events != p->events ||
				  c->ticks[i].idle != p->idle))
		i++;
	struct query_rotation_tick *t = &c->ticks[i];
	if (i == c->n_ticks)
		c->ticks[c->n_ticks++] = (struct query_rotation_tick){
			.cpu = p->cpu, .events = p->events, .idle = p->idle};
	t->ns = (t->ns * t->n + p->p50_ns * p->n) / (t->n + p->n);
	t->n += p->n;
}

/* Baselines are reported with ticks that have events, and not by themselves. */
static void match_ticks(struct query_rotation_costs *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n_ticks; i++) {
		struct query_rotation_tick *t = &c->ticks[i];
		for (size_t k = 0; t->events && k < c->n_ticks; k++) {
			const struct query_rotation_tick *o = &c->ticks[k];
			if (o->events || o->cpu != t->cpu || o->idle != t->idle)
				continue;
			t->plain_n = o->n;
			t->plain_ns = o->ns;
			t->growth_ns = t->ns > o->ns ? t->ns - o->ns : 0;
		}
	}
	for (size_t i = 0; i < c->n_ticks; i++)
		if (c->ticks[i].events)
			c->ticks[kept++] = c->ticks[i];
	c->n_ticks = kept;
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
			.plain_p50_ns = hist_fine_percentile(&cpu->plain, 50),
			.loaded_n = cpu->loaded.n,
			.loaded_p50_ns = hist_fine_percentile(&cpu->loaded, 50),
		};
	}
}

/* Older recordings do not say it. */
static uint64_t cpu_of_bursts(const struct rotation *r)
{
	uint64_t bytes = r->switch_bytes < r->drain_bytes ? r->switch_bytes : r->drain_bytes;
	double share = r->drain_bytes ? (double)bytes / (double)r->drain_bytes : 0;

	return r->turn_ns + (uint64_t)((double)r->drain_ns * share);
}

int query_rotation_costs(struct query *q, struct query_rotation_costs *ret)
{
	const struct rotation *r = q->model->rotation;
	struct query_rotation_costs c = {
		.bursts = r->bursts,
		.switch_ns = r->switch_ns,
		.own_ps = r->own_ps,
		.n_unclassed = r->unclassed + r->n_samples,
		.n_changed = r->changed,
	};

	c.switch_records = r->switch_records;
	c.switch_bytes = r->switch_bytes;
	c.switch_cpu_ns = cpu_of_bursts(r);
	c.points = arena_alloc(&q->arena, (r->n_points + 1) * sizeof(*c.points));
	c.ticks = arena_alloc(&q->arena, (r->n_points + 1) * sizeof(*c.ticks));
	c.switches = arena_alloc(&q->arena, (r->n_cpus + 1) * sizeof(*c.switches));
	if (!c.points || !c.ticks || !c.switches)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_points; i++) {
		const struct rotation_point *p = &r->points[i];
		enum query_rotation_what what = what_of(q, p);
		struct query_rotation_point point = {
			.what = what,
			.cpu = p->cpu,
			.events = what == ROTATION_OF_TICK ? p->whole : p->events,
			.off = what == ROTATION_OF_SWITCH ? p->whole : 0,
			.idle = what == ROTATION_OF_TICK && p->idle,
			.n = p->time.n,
			.p50_ns = hist_fine_percentile(&p->time, 50),
			.min_ns = p->time.min_ns,
			.max_ns = p->time.max_ns,
		};
		add_point(&c, &point);
		if (what == ROTATION_OF_TICK)
			add_tick(&c, &point);
	}
	match_ticks(&c);
	add_switches(r, &c);
	c.fit = query_rotation_fit(&c, ROTATION_OF_MUX, UINT32_MAX);
	c.switch_fit = query_rotation_fit(&c, ROTATION_OF_SWITCH, UINT32_MAX);
	*ret = c;
	return 0;
}
