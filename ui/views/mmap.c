// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long it takes to get mmap_locks: a row a process, or a memory cgroup, and mode. The first
 * line says how it is measured and what that costs now; where no lock is known to be an mmap_lock
 * one sentence says why.
 */
#include "kontend/query-mmap.h"
#include "kontend/units.h"
#include "list.h"

struct view_mmap {
	struct list_view list;
	struct query_mmap_sum sum; /* of this frame */
};

static const struct query_mmap_sum *sum_of(struct list_view *l)
{
	return &((struct view_mmap *)l)->sum;
}

/* "level all  18.2k ev/s × 212ns = ~0.4% of a CPU  unpaired 12" */
static void draw_level(struct query *q, const struct query_mmap_sum *sum, struct screen *s,
		       struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1};
	char a[UNITS_BUF], b[UNITS_BUF];

	line_put(&l, ROLE_DIM, "level ");
	line_put(&l, ROLE_BOLD, query_mmap_level_text(q, sum));
	if (*sum->missing)
		line_printf(&l, ROLE_WARN, "  not %s: %s", mmlevel_name(sum->asked), sum->missing);
	if (sum->level == MMLEVEL_CONTENDED) {
		line_put(&l, ROLE_DIM, "  waits alone: no events beside those of contention");
		return;
	}
	if (heat_part_any(&q->part))
		line_put(&l, ROLE_WARN, "  acquisitions: all");
	line_put(&l, ROLE_DIM, "  costs ");
	line_printf(&l, ROLE_NORMAL, "%s ev/s",
		    sum->events_per_s > 0 ? units_rate(a, sum->events_per_s) : "·");
	if (sum->event_ns) {
		line_printf(&l, ROLE_DIM, " × %s = ", units_ns(a, sum->event_ns));
		units_pct(b, sum->cost_pct);
		line_printf(&l, ROLE_BOLD, "%s%s%%", b[0] == '<' ? "" : "~", b);
		line_put(&l, ROLE_DIM, " of a CPU");
	}
	if (sum->unpaired) {
		line_put(&l, ROLE_DIM, "  unpaired ");
		line_put(&l, ROLE_NORMAL, units_count(a, sum->unpaired));
	}
}

static enum query_by by_of(const struct list_view *l)
{
	static const enum query_by all[] = {BY_PROCESS, BY_CGROUP, BY_STACK};

	return all[l->by];
}

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	int code = query_mmap_sum(l->v.query, spec->average, &((struct view_mmap *)l)->sum);

	spec->by = by_of(l);
	return code < 0 ? code : query_mmap(l->v.query, spec, ret, err);
}

static int draw_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	draw_level(l->v.query, sum_of(l), s, r);
	if (t->n_total)
		return 1;
	view_draw_text(s, layout_below(r, 1), ROLE_DIM,
		       query_mmap_none(l->v.query, by_of(l), sum_of(l)));
	return LIST_END;
}

static void put_cost(struct list_view *l, struct line *line)
{
	const struct query_mmap_sum *sum = sum_of(l);
	char ns[UNITS_BUF];

	if (sum->level != MMLEVEL_CONTENDED && sum->event_ns)
		line_printf(line, ROLE_DIM, "  times include ~%s of measuring",
			    units_ns(ns, sum->event_ns));
}

static int open_row(struct list_view *l)
{
	if (by_of(l) == BY_STACK) {
		app_say(l->v.app, ROLE_NORMAL,
			"call paths have no page of their own: b shows whose locks are meant");
		return 0;
	}
	return view_open(&l->v, l->by ? BY_MMAP_MEMCG : BY_MMAP, l->pane.table.selected);
}

static bool has_window(const struct list_view *l)
{
	return query_mmap_is_of_window(l->v.query);
}

static const char *const bys[] = {"process", "memcg", "stack", NULL};

static const struct list_ops ops = {
	.ask = ask_rows,
	.head = draw_head,
	.behind = put_cost,
	.page = open_row,
	.bys = bys,
	.has_window = has_window,
	.heat = "wait_ns_per_s",
};

static const struct view_key keys[] = {
	{CMD_ENTER, "why?"}, {CMD_FILTER, "filter"}, {CMD_BY, "by"},
	{CMD_SORT, "sort"},  {CMD_NONE, NULL},
};

const struct view_ops view_mmap = {
	.name = "mmap",
	.title = "mmap",
	.brief = "mmap",
	.digit = '8',
	.keys = keys,
	.help = "Whose mmap_lock takes long to get? A row is a process, or with b a memory cgroup "
		"or a call path, and R for readers (page faults of most kinds, /proc/PID/maps), W "
		"for writers "
		"(mmap, munmap, mprotect, fork). The first line says what is measured, and what "
		"that costs now. On the level contended P50 to MAX are of those that had to wait, "
		"as the contention events report; locks got at once are not seen. --mmap sampled, "
		"pid or all measure all acquisitions, and how long it was held. Enter shows how "
		"long it took, the call paths that led to waits, and by task.",
	.tables = "mmap",
	.size = sizeof(struct view_mmap),
	.page = list_page,
	LIST_VIEW(&ops),
};
