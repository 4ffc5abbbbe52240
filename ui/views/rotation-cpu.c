// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page of one CPU's rotation: its cost, and the cost with fewer events or a longer interval
 * (estimated by a line through the measured points). Below, the durations of single rotations and
 * of their phases, the owners of the events, and three panels: the points with the line, the cost
 * that the same events add to each context switch, and the cost that they add to each tick.
 */
#include "kontend/mem.h"
#include "kontend/query-rotation-phases.h"
#include "kontend/query-rotation.h"
#include "kontend/screen.h"
#include "kontend/units.h"
#include "kontend/view.h"
#include "widgets/layout.h"
#include "widgets/widget.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The contents of the page. */
struct rotation_page {
	struct query_rotation_row row;
	struct query_rotation_costs costs;
	struct query_rotation_phases phases;
};

enum { PLOT_AXIS_W = 8 };

/* The scatter plot; its axes begin at 0. */
struct plot {
	struct rect r;
	int w, h;
	uint64_t x_most, y_most;
};

static bool plot_has(const struct query_rotation_point *o)
{
	return o->what == ROTATION_OF_MUX && o->events;
}

static struct plot plot_of(const struct rotation_page *p, struct rect r)
{
	struct plot t = {
		.r = r, .w = r.w - PLOT_AXIS_W - 1, .h = r.h - 2, .x_most = 1, .y_most = 1};

	for (size_t i = 0; i < p->costs.n_points; i++) {
		const struct query_rotation_point *o = &p->costs.points[i];
		if (!plot_has(o))
			continue;
		t.x_most = o->events > t.x_most ? o->events : t.x_most;
		t.y_most = o->p50_ns > t.y_most ? o->p50_ns : t.y_most;
	}
	return t;
}

static void plot_mark(const struct plot *t, struct screen *s, double x, double y, enum role role,
		      const char *mark)
{
	int col = (int)(x / (double)t->x_most * (t->w - 1) + 0.5);
	int row = (int)(y / (double)t->y_most * (t->h - 1) + 0.5);

	if (col >= 0 && col < t->w && row >= 0 && row < t->h)
		screen_put(s, t->r, PLOT_AXIS_W + col, t->h - row, role, mark);
}

static void plot_line(const struct plot *t, struct screen *s, const struct query_rotation_fit *f)
{
	for (int col = 0; f->known && col < t->w; col++) {
		double x = (double)t->x_most * col / (t->w > 1 ? t->w - 1 : 1);
		plot_mark(t, s, x, f->base_ns + f->per_event_ns * x, ROLE_DIM, "·");
	}
}

static void plot_axes(const struct plot *t, struct screen *s)
{
	char buf[UNITS_BUF];

	screen_printf(s, t->r, 1, 1, ROLE_DIM, "%6s", units_ns(buf, t->y_most));
	screen_printf(s, t->r, 1, t->h, ROLE_DIM, "%6s", "0");
	screen_put(s, t->r, PLOT_AXIS_W, t->h + 1, ROLE_DIM, "0");
	units_count(buf, t->x_most);
	screen_put(s, t->r, t->r.w - 1 - (int)strlen(buf), t->h + 1, ROLE_DIM, buf);
}

/* Each panel has a rule as its first line. */
static void draw_scatter(const struct rotation_page *p, struct screen *s, struct rect r)
{
	struct plot t = plot_of(p, r);

	widget_rule(s, r, 0, "time against events");
	if (t.w < 8 || t.h < 2)
		return;
	plot_axes(&t, s);
	plot_line(&t, s, &p->row.what_if.fit);
	for (int own = 0; own < 2; own++) {
		for (size_t i = 0; i < p->costs.n_points; i++) {
			const struct query_rotation_point *o = &p->costs.points[i];
			if (plot_has(o) && (o->cpu == p->row.what_if.cpu) == own)
				plot_mark(&t, s, o->events, (double)o->p50_ns,
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

/* Averages of a burst: "each 1.2k records, 77K," "310us of CPU" */
static void put_cost(const struct query_rotation_costs *c, struct screen *s, struct rect r)
{
	char a[UNITS_BUF], b[UNITS_BUF];

	screen_printf(s, r, 1, 0, ROLE_DIM, "each %s records, %s",
		      units_count(a, c->switch_records / c->bursts),
		      units_bytes(b, c->switch_bytes / c->bursts));
	screen_printf(s, r, 1, 1, ROLE_DIM, "and %s of kontend's CPU",
		      units_ns(a, c->switch_cpu_ns / c->bursts));
}

static void draw_switches(const struct rotation_page *p, struct screen *s, struct rect r)
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

/* The most frequent state with events on this CPU; states in which tasks ran come first. */
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

static void draw_tick(const struct rotation_page *p, struct screen *s, struct rect r)
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

enum { LINES = 3, PANES_MIN = 5, OWNERS_MIN = 4, OWNERS_WANT = 7 };

/* "250/s (every 4 ms)  each 61.6us  of this CPU 1.5%  events 20" */
static void draw_now(const struct rotation_page *p, struct screen *s, struct rect r)
{
	const struct query_rotation_what_if *w = &p->row.what_if;
	struct line l = {.s = s, .r = r, .x = 1};
	char a[UNITS_BUF];

	line_printf(&l, ROLE_BOLD, "%s/s", units_rate(a, w->per_s));
	if (w->interval_ms)
		line_printf(&l, ROLE_DIM, " (every %u ms)", w->interval_ms);
	line_put(&l, ROLE_DIM, "  each ");
	line_put(&l, ROLE_BOLD, units_ns(a, p->row.hist.p50_ns));
	line_put(&l, ROLE_DIM, "  of this CPU ");
	line_printf(&l, ROLE_BOLD, "%.2f%%", w->cpu_pct);
	if (w->events)
		line_printf(&l, ROLE_DIM, "  for %s events", units_count(a, w->events));
}

static void draw_what_if(const struct rotation_page *p, struct screen *s, struct rect r)
{
	const struct query_rotation_what_if *w = &p->row.what_if;
	char text[QUERY_ROTATION_TEXT];

	screen_put(s, r, 1, 0, w->fewer ? ROLE_NORMAL : ROLE_DIM,
		   query_rotation_fewer_text(w, text, sizeof(text)));
	screen_put(s, r, 1, 1, ROLE_NORMAL, query_rotation_other_text(w, text, sizeof(text)));
}

/* "scheduling out 19.1us (p99 19.5us), in 43.0us (p99 43.0us), of 682 rotations" */
static void draw_phases(const struct rotation_page *p, struct screen *s, struct rect r)
{
	const struct query_rotation_phases *ph = &p->phases;
	char text[QUERY_ROTATION_TEXT], buf[UNITS_BUF];

	if (!ph->turn) {
		screen_printf(s, r, 1, 0, ROLE_DIM, "phases: not available: %s", ph->reason);
		return;
	}
	for (size_t i = 0; i < ph->n_cpus; i++) {
		const struct query_rotation_phase *c = &ph->cpus[i];
		if (c->cpu != p->row.what_if.cpu)
			continue;
		struct line l = {.s = s, .r = r, .x = 1};
		line_put(&l, ROLE_NORMAL, query_rotation_phases_text(c, text, sizeof(text)));
		if (c->switches)
			line_printf(&l, ROLE_NORMAL, "; a switch of cgroups %s",
				    units_ns(buf, c->switch_avg_ns));
		return;
	}
	screen_put(s, r, 1, 0, ROLE_DIM, "phases: no rotation since they are measured");
}

/* "cgroup /a/b (20 events, a switch to it 60.8us)" */
static int draw_cgroups(const struct rotation_page *p, struct screen *s, struct rect r, int y)
{
	char buf[UNITS_BUF];

	for (size_t i = 0; i < p->phases.n_cgroups && y < r.h; i++) {
		const struct query_rotation_cgroup *g = &p->phases.cgroups[i];
		struct line l = {.s = s, .r = r, .x = 1, .y = y};
		if (!g->events)
			continue;
		line_printf(&l, ROLE_NORMAL, "cgroup %s (%u events", g->path ? g->path : "?",
			    g->events);
		if (g->to_n)
			line_printf(&l, ROLE_NORMAL, ", a switch to it %s",
				    units_ns(buf, g->to_avg_ns));
		line_put(&l, ROLE_NORMAL, ")");
		y++;
	}
	return y;
}

static void draw_owners(const struct rotation_page *p, struct screen *s, struct rect r)
{
	const char *at = p->row.owners;

	widget_rule(s, r, 0, "owners");
	if (!at) {
		screen_put(s, r, 1, 1, ROLE_DIM, "not known");
		return;
	}
	for (int y = draw_cgroups(p, s, r, 1); *at && y < r.h; y++) {
		size_t len = strcspn(at, "\n");
		screen_printf(s, r, 1, y, ROLE_NORMAL, "%.*s", (int)len, at);
		at += len + (at[len] == '\n');
	}
}

static void draw_panes(const struct rotation_page *p, struct screen *s, struct rect r)
{
	struct rect rows[2], up[2], low[3];

	layout_rows(r,
		    (struct layout_part[]){{PANES_MIN, PANES_MIN, 2}, {OWNERS_MIN, OWNERS_WANT, 1}},
		    2, rows);
	layout_cols(rows[0], (struct layout_part[]){{20, 40, 1}, {20, 40, 1}}, 2, up);
	widget_rule(s, up[0], 0, "how long they took");
	widget_hist(s, layout_below(up[0], 1), &p->row.hist);
	draw_scatter(p, s, up[1]);
	layout_cols(rows[1], (struct layout_part[]){{26, 0, 1}, {26, 0, 1}, {26, 0, 1}}, 3, low);
	draw_owners(p, s, low[0]);
	draw_switches(p, s, low[1]);
	draw_tick(p, s, low[2]);
}

static void draw_cpu(struct view *v, struct screen *s, struct rect r)
{
	struct rotation_page p = {0};
	int code = query_rotation_costs(v->query, &p.costs);

	if (code == 0)
		code = query_rotation_row(v->query, v->row, &p.costs, &p.row);
	if (code == 0)
		code = query_rotation_phases(v->query, &p.phases);
	if (code < 0) {
		struct error err = {0};
		error_set(&err, code, "%s",
			  code == -ENOENT ? "This timer has not expired in the time shown"
					  : "Out of memory");
		view_draw_error(s, r, &err);
		return;
	}
	draw_now(&p, s, r);
	draw_what_if(&p, s, layout_below(r, 1));
	if (p.phases.asked)
		draw_phases(&p, s, layout_below(r, LINES));
	draw_panes(&p, s, layout_below(r, LINES + (p.phases.asked ? 1 : 0)));
}

static int no_command(struct view *v, enum command c, const struct command_arg *arg)
{
	(void)v, (void)c, (void)arg;
	return VIEW_UNHANDLED;
}

const struct view_ops view_rotation_cpu = {
	.name = "rotation-cpu",
	.title = "rotation",
	.help = "One timer of rotation: how often, how long, and its share of the CPU; what fewer "
		"events or another interval would save, by a straight line through what was seen "
		"with different numbers of events; what the events of tasks add to a context "
		"switch there; the points, and whose events they are.",
	.size = sizeof(struct view),
	.draw = draw_cpu,
	.command = no_command,
};
