// SPDX-License-Identifier: GPL-2.0-only
/*
 * A straight line through points of cost against events, by least squares. A point counts as often
 * as it was seen. With one number of events there is no line: the cost of more is not known.
 */
#include "list.h"

struct sums {
	double w, x, y, xx, xy;
};

static void add_point(struct sums *s, const struct query_rotation_point *p)
{
	double w = (double)p->n, x = p->events, y = (double)p->p50_ns;

	s->w += w;
	s->x += w * x;
	s->y += w * y;
	s->xx += w * x * x;
	s->xy += w * x * y;
}

/* A rotation without events does not count: such a task has just gone. */
static bool counts(const struct query_rotation_point *p, enum query_rotation_what what,
		   uint32_t cpu)
{
	return p->what == what && (what != ROTATION_OF_MUX || p->events) &&
	       (cpu == UINT32_MAX || p->cpu == cpu);
}

struct query_rotation_fit query_rotation_fit(const struct query_rotation_costs *c,
					     enum query_rotation_what what, uint32_t cpu)
{
	struct query_rotation_fit f = {0};
	struct sums s = {0};

	for (size_t i = 0; i < c->n_points; i++)
		if (counts(&c->points[i], what, cpu))
			add_point(&s, &c->points[i]);
	double spread = s.w * s.xx - s.x * s.x;
	if (s.w <= 0 || spread <= 1e-6 * s.w * s.w)
		return f;
	f.known = true;
	f.per_event_ns = (s.w * s.xy - s.x * s.y) / spread;
	f.base_ns = (s.y - f.per_event_ns * s.x) / s.w;
	return f;
}
