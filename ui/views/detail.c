// SPDX-License-Identifier: GPL-2.0-only
/*
 * "Why?" of any row: whatever scope one came by, the page shows its figures, the histogram of its
 * waits, who waits now, its course over time, and in the main pane either the call tree (of locks,
 * callers and stacks) or a table of where in that scope was waited (of tasks, types, CPUs, ...).
 * `b` puts another table, or the tree, in the main pane; Enter there narrows the scope by that row,
 * so that any path of keys can be walked down: lock, its tasks, the locks of one of them.
 */
#include "detail.h"
#include "flame.h"
#include "hot.h"
#include "kontend/engine.h"
#include "kontend/query-hist.h"

#include <string.h>

static struct view_detail *of_view(struct view *v)
{
	return (struct view_detail *)v;
}

static bool has_call_path(const struct query_scope *s)
{
	return s->mask & (1u << BY_LOCK | 1u << BY_CALLER | 1u << BY_STACK | 1u << BY_MMAP |
			  1u << BY_MMAP_MEMCG);
}

/* Waits over time are kept by lock, type and CPU, and not for what two of them have in common. */
static bool has_course(const struct query_scope *s)
{
	return s->mask == 1u << BY_LOCK || s->mask == 1u << BY_TYPE || s->mask == 1u << BY_CPU;
}

static int detail_init(struct view *v)
{
	struct view_detail *d = of_view(v);
	bool one_path = v->scope.mask & (1u << BY_CALLER | 1u << BY_STACK);

	d->set = (struct pane_set){.panes = d->panes, .n = PANES};
	d->by = has_call_path(&v->scope) ? BY_TREE : BY_LOCK;
	d->panes[PANE_MAIN].is_tree = d->by == BY_TREE;
	d->panes[PANE_MAIN].tree.open_depth = one_path ? ALL_OPEN : 2;
	return 0;
}

static void detail_deinit(struct view *v)
{
	pane_set_deinit(&of_view(v)->set);
}

/* Keys of which the scope leaves one value only: a lock has one type, a task one process. */
static uint32_t settled(const struct query_scope *s)
{
	uint32_t mask = s->mask;

	if (mask & 1u << BY_LOCK)
		mask |= 1u << BY_TYPE;
	if (mask & 1u << BY_TASK)
		mask |= 1u << BY_PROCESS | 1u << BY_CGROUP;
	if (mask & 1u << BY_STACK)
		mask |= 1u << BY_CALLER;
	if (mask & 1u << BY_MMAP)
		mask |= 1u << BY_LOCK | 1u << BY_TYPE;
	return mask;
}

/* The key of the second table of a tall page: the tasks that wait, else the places. */
static enum query_by more_by(const struct view_detail *d)
{
	static const enum query_by wanted[] = {BY_TASK, BY_LOCK, BY_CPU, BY_STACK};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!(settled(&d->v.scope) & 1u << wanted[i]) && d->by != (int)wanted[i])
			return wanted[i];
	return BY_CALLER;
}

static int ask_more(struct view_detail *d, struct detail_page *p, struct error *err)
{
	struct pane *pane = &d->panes[PANE_MORE];
	struct query_spec spec = {.by = p->more_by = more_by(d)};

	if (d->more_by != p->more_by) {
		pane_deinit(pane);
		*pane = (struct pane){0};
	}
	view_fill_spec(&d->v, &pane->table, &spec);
	spec.filter = NULL;
	int r = query_locks(d->v.query, &spec, &p->more, err);
	if (r == 0)
		view_fit_locks(&d->v, &p->more, &pane->columns, spec.by);
	return r;
}

static int ask_table(struct view *v, struct query_spec *spec, struct table *ret, struct error *err)
{
	spec->by = (enum query_by)of_view(v)->by;
	return query_locks(v->query, spec, ret, err);
}

static void fit_table(struct view *v, struct table *t)
{
	struct view_detail *d = of_view(v);

	view_fit_locks(v, t, &d->panes[PANE_MAIN].columns, (enum query_by)d->by);
}

static int ask_main(struct view_detail *d, struct detail_page *p, struct error *err)
{
	if (d->by == BY_TREE)
		return query_tree(d->v.query, &d->v.scope, d->inverted, d->by_count, &p->tree);
	return list_part_ask(&p->main, err);
}

/* All acquisitions, where it is one row of mmap_locks and nothing more. */
static int ask_mmap(struct view_detail *d, struct detail_page *p)
{
	const struct query_scope *s = &d->v.scope;

	for (int by = BY_MMAP; by < QUERY_SCOPES; by++)
		if (s->mask == 1u << by)
			return query_mmap_row(d->v.query, (enum query_by)by, s->id[by], &p->mmap);
	return 0;
}

/* It is of all waits for the lock: where the page is of some of them, it says nothing of these. */
static int ask_queue(struct view_detail *d, struct detail_page *p)
{
	const struct query_scope *s = &d->v.scope;
	const struct query *q = d->v.query;

	if (s->mask != 1u << BY_LOCK || (q->only && !q->only_locks))
		return 0;
	return query_queued_lock(d->v.query, s->id[BY_LOCK], &p->queue);
}

static int ask_page(struct view_detail *d, struct detail_page *p, struct error *err)
{
	struct query *q = d->v.query;
	struct query_spec spec = {0};
	int r;

	view_fill_spec(&d->v, &d->panes[PANE_WAITERS].table, &spec);
	spec.filter = NULL;
	r = query_hist_now(q, &d->v.scope, &p->hist);
	if (r == 0 && has_course(&d->v.scope))
		r = query_series(q, &d->v.scope, &p->series);
	if (r == 0)
		r = ask_mmap(d, p);
	if (r == 0)
		r = ask_queue(d, p);
	if (r == 0)
		r = detail_ask_did(&d->v, p);
	if (r == 0)
		r = detail_ask_use(&d->v, p);
	if (r == 0)
		r = detail_ask_holds(&d->v, p);
	if (r == 0 && d->v.scope.mask & 1u << BY_LOCK)
		r = query_lock_at(q, &d->v.scope, &p->at);
	if (r == 0)
		r = query_waiters(q, &spec, &p->waiters, err);
	if (r == 0)
		r = ask_main(d, p, err);
	if (r == 0 && p->tall)
		r = ask_more(d, p, err);
	if (r == 0)
		view_fit_waiters(&d->v, &p->waiters, &d->panes[PANE_WAITERS].columns);
	return r;
}

static void detail_draw(struct view *v, struct screen *s, struct rect r)
{
	struct view_detail *d = of_view(v);
	struct detail_page p = {.tall = r.h >= TALL_H,
				.main = {.v = v,
					 .set = &d->set,
					 .pane = PANE_MAIN,
					 .lines = r.h,
					 .ask = ask_table,
					 .fit = fit_table}};
	struct error err = {0};

	if (ask_page(d, &p, &err) < 0) {
		view_draw_error(s, r, &err);
		return;
	}
	detail_place(v, &p, r);
	detail_draw_page(d, &p, s);
}

/* May a table by that have more than one row? */
static bool divides(const struct view_detail *d, int by)
{
	return !(settled(&d->v.scope) & 1u << by) &&
	       (by != BY_OWNER || d->v.query->model->owners_reported);
}

/* The next table; after the last, the tree. */
static int next_by(const struct view_detail *d)
{
	for (int by = d->by + 1; by < QUERY_BYS; by++)
		if (divides(d, by))
			return by;
	return BY_TREE;
}

static int by_before(const struct view_detail *d)
{
	for (int by = d->by == BY_TREE ? QUERY_BYS - 1 : d->by - 1; by >= 0; by--)
		if (divides(d, by))
			return by;
	return BY_TREE;
}

static void set_by(struct view_detail *d, int by)
{
	struct pane *main = &d->panes[PANE_MAIN];

	table_widget_deinit(&main->table);
	main->table = (struct table_widget){0};
	main->moved = false;
	main->is_tree = by == BY_TREE;
	d->by = by;
	d->set.focus = PANE_MAIN;
}

static int set_by_name(struct view_detail *d, const char *name)
{
	enum query_by by;

	if (name && !strcmp(name, "tree"))
		set_by(d, BY_TREE);
	else if (name && query_by_parse(name, &by) == 0)
		set_by(d, (int)by);
	else
		view_say_names(&d->v, name, " tree", view_by_names);
	return 0;
}

static int open_row(struct view_detail *d)
{
	const struct query_scope *scope = &d->v.scope;
	struct pane *p = &d->panes[d->set.focus];

	if (d->set.focus == PANE_WAITERS)
		return view_open_waiter(&d->v, p->table.selected,
					scope->mask & 1u << BY_LOCK ? BY_TASK : BY_LOCK);
	if (d->set.focus == PANE_MORE)
		return view_open(&d->v, d->more_by, p->table.selected);
	if (d->by == BY_TREE) {
		app_say(d->v.app, ROLE_NORMAL, "the call path ends here; i turns the tree round");
		return 0;
	}
	return view_open(&d->v, (enum query_by)d->by, p->table.selected);
}

/* A row of a table of the page is one of two groups to compare. */
static int choose_group(struct view_detail *d)
{
	const struct pane *p = &d->panes[d->set.focus];
	const int by = d->set.focus == PANE_MORE   ? (int)d->more_by
		       : d->set.focus == PANE_MAIN ? d->by
						   : BY_TREE;

	if (by == BY_TREE || !p->table.has_rows)
		return VIEW_UNHANDLED;
	return app_versus_row(d->v.app, &d->v.scope, (enum query_by)by, p->table.selected);
}

static int detail_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_detail *d = of_view(v);

	switch (c) {
	case CMD_INVERT:
		d->inverted = !d->inverted;
		return 0;
	case CMD_COUNT_WAIT:
		d->by_count = !d->by_count;
		return 0;
	case CMD_FLAME:
		return flame_open_waits(v, &v->scope);
	case CMD_VERSUS:
		return choose_group(d);
	case CMD_ANNOTATE:
		return annotate_open_path(v, &v->scope);
	case CMD_BY_NEXT:
	case CMD_BY_PREV:
		set_by(d, c == CMD_BY_NEXT ? next_by(d) : by_before(d));
		return 0;
	case CMD_BY:
		return set_by_name(d, arg->text);
	default:
		break;
	}
	int r = pane_command(&d->set, c, arg);
	return r == WIDGET_ENTER ? open_row(d) : r;
}

static void list_bys(struct view *v, struct view_bys *ret)
{
	const struct view_detail *d = of_view(v);

	ret->names[ret->n++] = "tree";
	for (int by = 0; by < QUERY_BYS; by++) {
		if (by == d->by)
			ret->now = ret->n;
		if (by == d->by || divides(d, by))
			ret->names[ret->n++] = query_by_name((enum query_by)by);
	}
}

static struct table_widget *sorted_table(struct view *v)
{
	return pane_focused_table(&of_view(v)->set);
}

static const struct view_choices choices = {list_bys, sorted_table};

static const struct view_key keys[] = {
	{CMD_COUNT_WAIT, "count/wait"}, {CMD_INVERT, "invert"}, {CMD_BY, "by"},
	{CMD_FLAME, "flame"},		{CMD_ANNOTATE, "code"}, {CMD_NONE, NULL},
};

const struct view_ops view_detail = {
	.keys = keys,
	.name = "detail",
	.title = "detail",
	.help = "Why? The waits of the row that was opened: how long they took (histogram), the "
		"call paths that led to them, who waits now, and the wait per second over time; of "
		"a "
		"lock also what its holders did while others waited. In "
		"the tree + and - open and close a call, e does so with all below it, E and C with "
		"all calls; i begins at the outermost calls, c weighs by count or by wait, f "
		"shows them as a flame graph. b puts a table by task, CPU and so on in place of "
		"the tree; Enter on its rows goes "
		"one step deeper, Esc comes back.",
	.tables = "locks",
	.shows = "waiters",
	.size = sizeof(struct view_detail),
	.init = detail_init,
	.deinit = detail_deinit,
	.draw = detail_draw,
	.command = detail_command,
	.choices = &choices,
};
