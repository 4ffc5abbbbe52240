// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs that events take turns on the counters: a row for each CPU and PMU that has rotated
 * contexts, those that took most of their CPU first. Where nothing rotates one line says so, and
 * why.
 */
#include "kontend/layout.h"
#include "kontend/line.h"
#include "kontend/mem.h"
#include "kontend/pane.h"
#include "kontend/query-rotation.h"
#include "kontend/units.h"

#include <errno.h>
#include <string.h>

struct view_rotation {
	struct view v;
	struct pane pane;
};

static struct view_rotation *of_view(struct view *v)
{
	return (struct view_rotation *)v;
}

/* "476/s, 60.1ms/s of CPU  armv8_pmuv3 4ms  unpaired 2" */
static void draw_head(const struct query_rotation_sum *sum, struct screen *s, struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF];

	if (!sum->rotations)
		return;
	line_put(&l, ROLE_DIM, "rotations ");
	line_printf(&l, ROLE_BOLD, "%s/s", sum->per_s > 0 ? units_rate(buf, sum->per_s) : "·");
	line_put(&l, ROLE_DIM, "  taking ");
	line_printf(&l, ROLE_BOLD, "%s/s",
		    sum->ns_per_s > 0 ? units_nsrate(buf, sum->ns_per_s) : "·");
	line_put(&l, ROLE_DIM, "  every ");
	line_put(&l, ROLE_NORMAL, *sum->pmu ? sum->pmu : "-");
	if (sum->unpaired) {
		line_put(&l, ROLE_DIM, "  end not seen ");
		line_put(&l, ROLE_WARN, units_count(buf, sum->unpaired));
	}
	if (*sum->reason)
		line_printf(&l, ROLE_WARN, "  %s", sum->reason);
}

static void draw_keys(struct view *v, struct screen *s, struct rect r, const struct table *t)
{
	const char *count = view_count_text(v, t);
	struct line l = {.s = s, .r = r, .x = 1};

	if (t->sort_col < t->n_columns) {
		line_put(&l, ROLE_DIM, "sort ");
		line_put(&l, ROLE_BOLD, t->columns[t->sort_col].title);
		line_put(&l, ROLE_DIM, "  ");
	}
	if (*app_filter(v->app)) {
		line_put(&l, ROLE_DIM, "filter ");
		line_put(&l, ROLE_MATCH, app_filter(v->app));
	}
	screen_put(s, r, r.w - 1 - (int)strlen(count), 0, ROLE_DIM, count);
}

static void draw_view(struct view *v, struct screen *s, struct rect r)
{
	struct view_rotation *o = of_view(v);
	struct query_spec spec = {.average = app_averages(v->app)};
	struct table_style style = {
		.search = app_search(v->app), .tick = v->query->model->n_ticks, .heat = "cpu_pct"};
	struct query_rotation_sum sum;
	struct error err = {0};
	struct table t;

	view_fill_spec(v, &o->pane.table, &spec);
	if (query_rotation_sum(v->query, app_averages(v->app), &sum) < 0 ||
	    query_rotation(v->query, &spec, &t, &err) < 0) {
		view_draw_error(s, r, &err);
		return;
	}
	if (!t.n_total) {
		view_draw_text(s, r, ROLE_DIM, query_rotation_none(&sum));
		return;
	}
	draw_head(&sum, s, r);
	draw_keys(v, s, layout_below(r, 1), &t);
	pane_draw_list(&o->pane, s, layout_below(r, 2), &t, &style);
	if (!t.n_rows)
		view_draw_text(s, layout_below(r, 4), ROLE_DIM, view_empty_text(v, &t));
}

static int open_row(struct view_rotation *o)
{
	struct query *q = o->v.query;
	struct query_rotation_costs costs;
	struct query_rotation_row row;
	uint64_t id = o->pane.table.selected;

	if (query_rotation_costs(q, &costs) < 0 || query_rotation_row(q, id, &costs, &row) < 0) {
		app_say(o->v.app, ROLE_NORMAL, "nothing is known of it any more");
		return 0;
	}
	const char *title = arena_printf(&q->arena, "cpu %u", row.what_if.cpu);
	return app_push_row(o->v.app, &view_rotation_cpu, id, title ? title : "cpu");
}

static int take_command(struct view *v, enum command c, const struct command_arg *arg)
{
	int r = pane_list_command(&of_view(v)->pane, c, arg);

	return r == WIDGET_ENTER ? open_row(of_view(v)) : r;
}

static void deinit_view(struct view *v)
{
	pane_deinit(&of_view(v)->pane);
}

const struct view_ops view_rotation = {
	.name = "rotation",
	.title = "rotation",
	.digit = '6',
	.help = "Where there are more perf events than the hardware has counters, the kernel lets "
		"them take turns: a timer of each CPU and PMU takes some off and puts others on. "
		"This is what that costs: how often (ROT/s), how long one takes (P50, P99), the "
		"share of the CPU that is gone (CPU%), and whose events it is for (CULPRIT). "
		"Each rotation is measured, none is guessed; where nothing rotates there is no "
		"event and no cost. Enter shows one CPU: what fewer events would save.",
	.tables = "rotation",
	.size = sizeof(struct view_rotation),
	.deinit = deinit_view,
	.draw = draw_view,
	.command = take_command,
};
