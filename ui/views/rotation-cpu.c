// SPDX-License-Identifier: GPL-2.0-only
/*
 * One CPU's rotation in full: what it takes and what less would take, by the line through the
 * points that were seen; then how long single ones took, the points themselves, whose events they
 * are, and what the same events cost each context switch and tick.
 */
#include "kontend/mem.h"
#include "kontend/units.h"
#include "kontend/view.h"
#include "rotation.h"
#include "widgets/layout.h"
#include "widgets/line.h"
#include "widgets/widget.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
	rotation_draw_scatter(p, s, up[1]);
	layout_cols(rows[1], (struct layout_part[]){{26, 0, 1}, {26, 0, 1}, {26, 0, 1}}, 3, low);
	draw_owners(p, s, low[0]);
	rotation_draw_switches(p, s, low[1]);
	rotation_draw_tick(p, s, low[2]);
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
