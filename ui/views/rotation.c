// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of events that take turns on the counters: a row for each CPU and PMU that has rotated
 * contexts, those that took most of their CPU first. Where nothing rotates one line says why.
 */
#include "kontend/query-rotation.h"
#include "kontend/units.h"
#include "list.h"

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	return query_rotation(l->v.query, spec, ret, err);
}

/* "476/s, 60.1ms/s of CPU  armv8_pmuv3 4ms  unpaired 2" */
static void draw_sum(const struct query_rotation_sum *sum, struct screen *s, struct rect r)
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

static int draw_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	struct query_rotation_sum sum;

	if (query_rotation_sum(l->v.query, app_averages(l->v.app), &sum) < 0)
		return 1;
	if (t->n_total) {
		draw_sum(&sum, s, r);
		return 1;
	}
	view_draw_text(s, r, ROLE_DIM, query_rotation_none(&sum));
	return LIST_END;
}

static int open_row(struct list_view *l)
{
	struct query *q = l->v.query;
	struct query_rotation_costs costs;
	struct query_rotation_row row;
	uint64_t id = l->pane.table.selected;

	if (query_rotation_costs(q, &costs) < 0 || query_rotation_row(q, id, &costs, &row) < 0) {
		app_say(l->v.app, ROLE_NORMAL, "nothing is known of it any more");
		return 0;
	}
	const char *title = arena_printf(&q->arena, "cpu %u", row.what_if.cpu);
	return app_push_row(l->v.app, &view_rotation_cpu, id, title ? title : "cpu");
}

static const struct list_ops ops = {
	.ask = ask_rows,
	.head = draw_head,
	.page = open_row,
	.heat = "cpu_pct",
};

static const struct view_key keys[] = {
	{CMD_ENTER, "why?"},
	{CMD_FILTER, "filter"},
	{CMD_SORT, "sort"},
	{CMD_NONE, NULL},
};

const struct view_ops view_rotation = {
	.name = "rotation",
	.title = "rotation",
	.brief = "rot",
	.digit = '6',
	.keys = keys,
	.help = "Where there are more perf events than the hardware has counters, the kernel lets "
		"them take turns: a timer of each CPU and PMU takes some off and puts others on. "
		"This is what that costs: how often (ROT/s), how long one takes (P50, P99), the "
		"share of the CPU that is gone (CPU%), and whose events it is for (CULPRIT). "
		"Each rotation is measured, none is guessed; where nothing rotates there is no "
		"event and no cost. Enter shows one CPU: what fewer events would save.",
	.tables = "rotation",
	.size = sizeof(struct list_view),
	.page = list_page,
	LIST_VIEW(&ops),
};
