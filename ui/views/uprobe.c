// SPDX-License-Identifier: GPL-2.0-only
/*
 * One step below the view of uprobes: a probe, with where it is, why it costs what it does and its
 * hits by CPU; or the slots of a process over time, and the tasks in them.
 */
#include "list.h"
#include "note.h"

#include <string.h>

/* The text of a column, "" where it is not known. */
static const char *text_of(const struct table *t, size_t row, const char *key)
{
	const char *text = table_text(t, row, key);

	return text ? text : "";
}

static int draw_pair(struct screen *s, struct rect r, int y, const char *what, const char *text)
{
	struct line l = {.s = s, .r = r, .x = 1, .y = y};

	if (!*text)
		return y;
	line_printf(&l, ROLE_DIM, "%-9s", what);
	line_put(&l, ROLE_NORMAL, text);
	return y + 1;
}

/* Columns of the row in the table above that have no room there. */
static int draw_probe(struct view *v, struct screen *s, struct rect r, int y, const struct table *t,
		      size_t row)
{
	struct arena *a = &v->query->arena;
	const char *binary = text_of(t, row, "binary"), *bytes = text_of(t, row, "bytes");
	uint64_t offset = table_u64(t, row, "offset");
	const struct value *ref = table_cell(t, row, "ref_ctr");
	const char *place = arena_printf(a, "%s+0x%llx%s%s", binary, (unsigned long long)offset,
					 *bytes ? "  " : "", bytes);
	const char *class_ =
		arena_printf(a, "%s  %s", text_of(t, row, "class"), text_of(t, row, "reason"));
	const char *owner = arena_printf(a, "%s  by %s  %s", text_of(t, row, "owner"),
					 text_of(t, row, "source"), text_of(t, row, "name"));

	y = draw_pair(s, r, y, "place", place ? place : "");
	y = draw_pair(s, r, y, "class", class_ ? class_ : "");
	y = draw_pair(s, r, y, "cheaper", text_of(t, row, "hint"));
	y = draw_pair(s, r, y, "owner", owner ? owner : "");
	if (ref->known) {
		const char *text = arena_printf(a, "0x%llx", (unsigned long long)ref->u);
		y = draw_pair(s, r, y, "semaphore", text ? text : "");
	}
	return y;
}

static int uprobe_ask(struct list_view *l, struct query_spec *spec, struct table *ret,
		      struct error *err)
{
	return query_uprobe_hits(l->v.query, l->v.row, spec, ret, err);
}

static int uprobe_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	struct query_spec all = {.average = app_averages(l->v.app)};
	struct query_uprobe_sum sum;
	struct table probes;

	(void)t;
	if (query_uprobe_sum(l->v.query, all.average, &sum) < 0 ||
	    query_uprobe_probes(l->v.query, &all, &probes, NULL) < 0)
		return 0;
	size_t row = table_row(&probes, l->v.row);
	if (row == SIZE_MAX) {
		view_draw_text(s, layout_below(r, 1), ROLE_DIM, "this probe is gone");
		return LIST_END;
	}
	int y = view_uprobes_head(&l->v, s, r, &sum);
	return draw_probe(&l->v, s, r, y, &probes, row);
}

static const char *uprobe_empty(struct list_view *l, const struct table *t)
{
	(void)l;
	(void)t;
	return "hits by CPU are not known of this probe";
}

static const struct list_ops uprobe_ops = {
	.ask = uprobe_ask,
	.head = uprobe_head,
	.empty = uprobe_empty,
};

/* "6/31 ■■■■■■□□□□□□□□□□□□□□□□□□□□□□□□□  max 15  avg 6.4": of at most so many slots. */
enum { MARKS = 64 };

static int draw_area(struct screen *s, struct rect r, int y, const struct upsnap_area *a)
{
	struct line l = {.s = s, .r = r, .x = 1, .y = y};

	line_put(&l, ROLE_DIM, "slots  ");
	if (a->used < 0) {
		line_put(&l, ROLE_NORMAL, "-");
		return y + 1;
	}
	line_printf(&l, a->used >= a->slots ? ROLE_WARN : ROLE_BOLD, "%d/%d ", a->used, a->slots);
	for (int32_t i = 0; i < a->slots && a->slots <= MARKS; i++)
		line_put(&l, i < a->used ? ROLE_HEAT_MID : ROLE_DIM, i < a->used ? "■" : "□");
	line_printf(&l, ROLE_NORMAL, "  max %u  avg %.1f", a->max_used,
		    a->samples ? (double)a->sum_used / a->samples : 0.0);
	return y + 1;
}

/* The last looks, a column each: used slots of all, as a bar of eight steps. */
static int draw_recent(struct screen *s, struct rect r, int y, const struct upsnap_area *a)
{
	uint64_t recent[UPSNAP_RECENT];
	int w = r.w - 9;
	struct line l = {.s = s, .r = r, .x = 1, .y = y};

	if (!a->n_recent || a->slots <= 0 || w < 4)
		return y;
	for (uint32_t i = 0; i < a->n_recent; i++)
		recent[i] = a->recent[i];
	line_put(&l, ROLE_DIM, "course ");
	w = w > UPSNAP_RECENT ? UPSNAP_RECENT : w;
	widget_sparkline(s, r, 8, y, w, recent, a->n_recent, (uint64_t)a->slots);
	return y + 1;
}

static const struct upsnap_area *find_area(struct view *v)
{
	const char *why;
	const struct upsnap *snap = query_uprobe_snap(v->query, &why);

	for (size_t i = 0; snap && i < snap->n_areas; i++)
		if (snap->areas[i].mm == v->row)
			return &snap->areas[i];
	return NULL;
}

static int xol_ask(struct list_view *l, struct query_spec *spec, struct table *ret,
		   struct error *err)
{
	return query_uprobe_tasks(l->v.query, l->v.row, spec, ret, err);
}

static int xol_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	const struct upsnap_area *a = find_area(&l->v);
	struct query_uprobe_sum sum;

	(void)t;
	if (query_uprobe_sum(l->v.query, false, &sum) < 0)
		return 0;
	if (!a) {
		view_draw_text(s, layout_below(r, 1), ROLE_DIM, "this process is gone");
		return LIST_END;
	}
	int y = view_uprobes_head(&l->v, s, r, &sum);
	return draw_recent(s, r, draw_area(s, r, y, a), a);
}

static const char *xol_empty(struct list_view *l, const struct table *t)
{
	struct query_uprobe_sum sum;

	(void)t;
	return query_uprobe_sum(l->v.query, false, &sum) == 0 && sum.missing & UPSNAP_NO_TASKS
		       ? "the tasks in the slots are not known"
		       : "no task is in a slot";
}

static const struct list_ops xol_ops = {
	.ask = xol_ask,
	.head = xol_head,
	.empty = xol_empty,
};

const struct view_ops view_uprobe = {
	.name = "uprobe",
	.title = "uprobe",
	.help = "A probe: its place and the bytes that it replaced, what the kernel does with "
		"them and why, where it would cost less, and its hits by CPU.",
	.tables = "uphits",
	.size = sizeof(struct list_view),
	LIST_VIEW(&uprobe_ops),
};

const struct view_ops view_xol = {
	.name = "xol",
	.title = "slots",
	.help = "The slots of a process for instructions that are executed out of line: in use "
		"now, at most and on the average of all looks, over the last looks, and the tasks "
		"that are in them or wait for one.",
	.tables = "uptasks",
	.size = sizeof(struct list_view),
	LIST_VIEW(&xol_ops),
};
