// SPDX-License-Identifier: GPL-2.0-only
/*
 * Panels on the page of one CPU: what rotations took against the number of events, with the line
 * through these points; what events of tasks add to context switches; what they add to the tick.
 */
#include "kontend/units.h"
#include "kontend/view.h"
#include "rotation.h"
#include "widgets/layout.h"
#include "widgets/line.h"
#include "widgets/widget.h"

#include <string.h>

enum { AXIS_W = 8 };

/* Where things go in the scatter: its axes begin at 0. */
struct plot {
	struct rect r;
	int w, h;
	uint64_t x_most, y_most;
};

static bool is_in(const struct query_rotation_point *o)
{
	return o->what == ROTATION_OF_MUX && o->events;
}

static struct plot plot_of(const struct rotation_page *p, struct rect r)
{
	struct plot t = {.r = r, .w = r.w - AXIS_W - 1, .h = r.h - 2, .x_most = 1, .y_most = 1};

	for (size_t i = 0; i < p->costs.n_points; i++) {
		const struct query_rotation_point *o = &p->costs.points[i];
		if (!is_in(o))
			continue;
		t.x_most = o->events > t.x_most ? o->events : t.x_most;
		t.y_most = o->p50_ns > t.y_most ? o->p50_ns : t.y_most;
	}
	return t;
}

static void put_mark(const struct plot *t, struct screen *s, double x, double y, enum role role,
		     const char *mark)
{
	int col = (int)(x / (double)t->x_most * (t->w - 1) + 0.5);
	int row = (int)(y / (double)t->y_most * (t->h - 1) + 0.5);

	if (col >= 0 && col < t->w && row >= 0 && row < t->h)
		screen_put(s, t->r, AXIS_W + col, t->h - row, role, mark);
}

static void draw_line(const struct plot *t, struct screen *s, const struct query_rotation_fit *f)
{
	for (int col = 0; f->known && col < t->w; col++) {
		double x = (double)t->x_most * col / (t->w > 1 ? t->w - 1 : 1);
		put_mark(t, s, x, f->base_ns + f->per_event_ns * x, ROLE_DIM, "·");
	}
}

static void draw_axes(const struct plot *t, struct screen *s)
{
	char buf[UNITS_BUF];

	screen_printf(s, t->r, 1, 1, ROLE_DIM, "%6s", units_ns(buf, t->y_most));
	screen_printf(s, t->r, 1, t->h, ROLE_DIM, "%6s", "0");
	screen_put(s, t->r, AXIS_W, t->h + 1, ROLE_DIM, "0");
	units_count(buf, t->x_most);
	screen_put(s, t->r, t->r.w - 1 - (int)strlen(buf), t->h + 1, ROLE_DIM, buf);
}

void rotation_draw_scatter(const struct rotation_page *p, struct screen *s, struct rect r)
{
	struct plot t = plot_of(p, r);

	widget_rule(s, r, 0, "time against events");
	if (t.w < 8 || t.h < 2)
		return;
	draw_axes(&t, s);
	draw_line(&t, s, &p->row.what_if.fit);
	for (int own = 0; own < 2; own++) {
		for (size_t i = 0; i < p->costs.n_points; i++) {
			const struct query_rotation_point *o = &p->costs.points[i];
			if (is_in(o) && (o->cpu == p->row.what_if.cpu) == own)
				put_mark(&t, s, o->events, (double)o->p50_ns,
					 own ? ROLE_BOLD : ROLE_NORMAL, own ? "o" : "+");
		}
	}
}

/* "without events  1.39us  n 4.1k" */
static void put_class(struct screen *s, struct rect r, int y, const char *what, uint64_t ns,
		      uint64_t n)
{
	struct line l = {.s = s, .r = r, .x = 1, .y = y};
	char buf[UNITS_BUF];

	line_printf(&l, ROLE_DIM, "%-8s", what);
	line_printf(&l, n ? ROLE_NORMAL : ROLE_DIM, "%7s", n ? units_ns(buf, ns) : "-");
	line_printf(&l, ROLE_DIM, "  of %s", units_count(buf, n));
}

/* "they add 7.15us" */
static void put_added(struct screen *s, struct rect r, int y, uint64_t plain_n, uint64_t plain_ns,
		      uint64_t loaded_n, uint64_t loaded_ns)
{
	struct line l = {.s = s, .r = r, .x = 1, .y = y};
	char buf[UNITS_BUF];

	if (!plain_n || !loaded_n)
		return;
	line_printf(&l, ROLE_DIM, "%-8s", "they add");
	line_printf(&l, ROLE_BOLD, "%7s",
		    units_ns(buf, loaded_ns > plain_ns ? loaded_ns - plain_ns : 0));
}

static const struct query_rotation_switches *switches_of(const struct rotation_page *p)
{
	for (size_t i = 0; i < p->costs.n_switches; i++)
		if (p->costs.switches[i].cpu == p->row.what_if.cpu)
			return &p->costs.switches[i];
	return NULL;
}

/* Of a burst, on average: "each 1.2k records, 77K," "310us of CPU" */
static void put_cost(const struct query_rotation_costs *c, struct screen *s, struct rect r)
{
	char a[UNITS_BUF], b[UNITS_BUF];

	screen_printf(s, r, 1, 0, ROLE_DIM, "each %s records, %s",
		      units_count(a, c->switch_records / c->bursts),
		      units_bytes(b, c->switch_bytes / c->bursts));
	screen_printf(s, r, 1, 1, ROLE_DIM, "and %s of kontend's CPU",
		      units_ns(a, c->switch_cpu_ns / c->bursts));
}

void rotation_draw_switches(const struct rotation_page *p, struct screen *s, struct rect r)
{
	const struct query_rotation_switches *w = switches_of(p);
	const struct query_rotation_fit *f = &p->costs.switch_fit;
	char a[UNITS_BUF], b[UNITS_BUF];

	widget_rule(s, r, 0, "context switch");
	if (!w) {
		view_draw_text(s, layout_below(r, 1), ROLE_DIM,
			       p->costs.bursts ? "none was seen with events of tasks that are known"
					       : "not looked at: no task has events");
		return;
	}
	put_class(s, r, 1, "plain", w->plain_p50_ns, w->plain_n);
	put_class(s, r, 2, "events", w->loaded_p50_ns, w->loaded_n);
	put_added(s, r, 3, w->plain_n, w->plain_p50_ns, w->loaded_n, w->loaded_p50_ns);
	if (f->known && f->per_event_ns > 0)
		screen_printf(s, r, 1, 4, ROLE_NORMAL, "%s + %s x events",
			      units_ns(a, f->base_ns > 0 ? (uint64_t)f->base_ns : 0),
			      units_ns(b, (uint64_t)f->per_event_ns));
	screen_printf(s, r, 1, 5, ROLE_DIM, "seen %s in %s bursts", units_ns(a, p->costs.switch_ns),
		      units_count(b, p->costs.bursts));
	if (p->costs.switch_cpu_ns)
		put_cost(&p->costs, s, layout_below(r, 6));
}

/* The most frequent state with events on this CPU, rather while tasks ran. */
static const struct query_rotation_tick *tick_of(const struct rotation_page *p)
{
	const struct query_rotation_tick *best = NULL;

	for (size_t i = 0; i < p->costs.n_ticks; i++) {
		const struct query_rotation_tick *t = &p->costs.ticks[i];
		if (t->cpu != p->row.what_if.cpu)
			continue;
		if (!best || t->idle < best->idle || (t->idle == best->idle && t->n > best->n))
			best = t;
	}
	return best;
}

static bool has_ticks(const struct rotation_page *p)
{
	for (size_t i = 0; i < p->costs.n_points; i++)
		if (p->costs.points[i].what == ROTATION_OF_TICK)
			return true;
	return false;
}

void rotation_draw_tick(const struct rotation_page *p, struct screen *s, struct rect r)
{
	const struct query_rotation_tick *t = tick_of(p);

	widget_rule(s, r, 0, "timer tick");
	if (!t) {
		view_draw_text(s, layout_below(r, 1), ROLE_DIM,
			       has_ticks(p) ? "no events here that sample at a frequency"
					    : "not measured: --tick does that");
		return;
	}
	put_class(s, r, 1, "plain", t->plain_ns, t->plain_n);
	put_class(s, r, 2, "events", t->ns, t->n);
	put_added(s, r, 3, t->plain_n, t->plain_ns, t->n, t->ns);
	screen_printf(s, r, 1, 4, ROLE_DIM, "%u events%s", t->events,
		      t->plain_n ? "" : "; never without");
}
