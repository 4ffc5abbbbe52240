// SPDX-License-Identifier: GPL-2.0-only
/*
 * One CPU's rotation in full: what it takes and what less would take, by the line through the
 * points that were seen; then how long single ones took, the points themselves, whose events they
 * are, and what the same events cost each context switch.
 */
#include "kontend/layout.h"
#include "kontend/line.h"
#include "kontend/mem.h"
#include "kontend/query-rotation.h"
#include "kontend/units.h"
#include "kontend/view.h"
#include "kontend/widgets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FEWER = 8, AXIS_W = 8, PANES_MIN = 6 };

struct page {
	struct query_rotation_row row;
	struct query_rotation_costs costs;
};

/* "every 4ms, 250/s: 61.6us each, 1.5% of this CPU" */
static void draw_now(const struct page *p, struct screen *s, struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1};
	char a[UNITS_BUF];

	line_printf(&l, ROLE_BOLD, "%s/s", units_rate(a, p->row.per_s));
	if (p->row.interval_ms)
		line_printf(&l, ROLE_DIM, " (every %ums)", p->row.interval_ms);
	line_put(&l, ROLE_DIM, "  each ");
	line_put(&l, ROLE_BOLD, units_ns(a, p->row.hist.p50_ns));
	line_put(&l, ROLE_DIM, "  of this CPU ");
	line_printf(&l, ROLE_BOLD, "%s%%", units_pct(a, p->row.cpu_pct));
}

/* "8 events fewer save 0.22% of this CPU; at 8ms it would take 0.75%" */
static void draw_what_if(const struct page *p, struct screen *s, struct rect r)
{
	const struct query_rotation_fit *f = &p->costs.fit;
	struct line l = {.s = s, .r = r, .x = 1};
	char a[UNITS_BUF], b[UNITS_BUF];

	if (f->known && f->per_event_ns > 0) {
		double saved = FEWER * f->per_event_ns * p->row.per_s / 1e9 * 100;
		line_printf(&l, ROLE_NORMAL, "a rotation takes %s + %s × events",
			    units_ns(a, f->base_ns > 0 ? (uint64_t)f->base_ns : 0),
			    units_ns(b, (uint64_t)f->per_event_ns));
		line_printf(&l, ROLE_BOLD, "; %d fewer save %s%%", FEWER, units_pct(a, saved));
	} else {
		line_put(&l, ROLE_DIM,
			 "only one number of events was seen: what fewer save is not known");
	}
	if (p->row.interval_ms)
		line_printf(&l, ROLE_NORMAL, "; every %ums it would be %s%%",
			    2 * p->row.interval_ms, units_pct(a, p->row.cpu_pct / 2));
}

static const struct query_rotation_switches *switches_of(const struct page *p)
{
	for (size_t i = 0; i < p->costs.n_switches; i++)
		if (p->costs.switches[i].cpu == p->row.cpu)
			return &p->costs.switches[i];
	return NULL;
}

static void draw_switches(const struct page *p, struct screen *s, struct rect r)
{
	const struct query_rotation_switches *w = switches_of(p);
	struct line l = {.s = s, .r = r, .x = 1};
	char a[UNITS_BUF];

	line_put(&l, ROLE_DIM, "a switch ");
	if (!w) {
		line_put(&l, ROLE_DIM, "was not looked at: nobody has events of tasks");
		return;
	}
	line_put(&l, ROLE_NORMAL, w->plain_n ? units_ns(a, w->plain_p50_ns) : "-");
	line_put(&l, ROLE_DIM, "  with events of tasks ");
	line_put(&l, ROLE_BOLD, w->loaded_n ? units_ns(a, w->loaded_p50_ns) : "-");
	line_printf(&l, ROLE_DIM, "  switch records, seen for %s", units_ns(a, p->costs.switch_ns));
}

static uint64_t most(const struct page *p, bool of_events)
{
	uint64_t v = 1;

	for (size_t i = 0; i < p->costs.n_points; i++) {
		const struct query_rotation_point *o = &p->costs.points[i];
		uint64_t x = of_events ? o->events : o->p50_ns;
		if (o->what == ROTATION_OF_MUX && x > v)
			v = x;
	}
	return v;
}

/* Points of this CPU in bold; the axes begin at 0. */
static void draw_scatter(const struct page *p, struct screen *s, struct rect r)
{
	uint64_t x_most = most(p, true), y_most = most(p, false);
	int w = r.w - AXIS_W - 2, h = r.h - 2;
	char buf[UNITS_BUF];

	widget_rule(s, r, 0, "cost against events");
	if (w < 8 || h < 2)
		return;
	screen_printf(s, r, 1, 1, ROLE_DIM, "%6s", units_ns(buf, y_most));
	screen_printf(s, r, 1, r.h - 1, ROLE_DIM, "%6s", "0");
	screen_put(s, r, r.w - 1 - (int)strlen(units_count(buf, x_most)), r.h - 1, ROLE_DIM,
		   units_count(buf, x_most));
	for (size_t i = 0; i < p->costs.n_points; i++) {
		const struct query_rotation_point *o = &p->costs.points[i];
		if (o->what != ROTATION_OF_MUX)
			continue;
		int x = AXIS_W + (int)((uint64_t)(w - 1) * o->events / x_most);
		int y = h - (int)((uint64_t)(h - 1) * o->p50_ns / y_most);
		screen_put(s, r, x, y, o->cpu == p->row.cpu ? ROLE_BOLD : ROLE_NORMAL, "o");
	}
}

static void draw_owners(const struct page *p, struct screen *s, struct rect r)
{
	const char *at = p->row.owners;

	widget_rule(s, r, 0, "owners");
	if (!at) {
		screen_put(s, r, 1, 1, ROLE_DIM, "not known");
		return;
	}
	for (int y = 1; *at && y < r.h; y++) {
		size_t len = strcspn(at, "\n");
		screen_printf(s, r, 1, y, ROLE_NORMAL, "%.*s", (int)len, at);
		at += len + (at[len] == '\n');
	}
}

static void draw_panes(const struct page *p, struct screen *s, struct rect r)
{
	struct rect rows[2], cols[2];

	layout_rows(r, (struct layout_part[]){{PANES_MIN, PANES_MIN, 2}, {3, 3, 1}}, 2, rows);
	layout_cols(rows[0], (struct layout_part[]){{20, 40, 1}, {20, 40, 1}}, 2, cols);
	widget_rule(s, cols[0], 0, "how long they took");
	widget_hist(s, layout_below(cols[0], 1), &p->row.hist);
	draw_scatter(p, s, cols[1]);
	draw_owners(p, s, rows[1]);
}

static void draw_cpu(struct view *v, struct screen *s, struct rect r)
{
	struct page p = {0};
	int code = query_rotation_row(v->query, v->row, &p.row);

	if (code == 0)
		code = query_rotation_costs(v->query, &p.costs);
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
	draw_switches(&p, s, layout_below(r, 2));
	draw_panes(&p, s, layout_below(r, 3));
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
