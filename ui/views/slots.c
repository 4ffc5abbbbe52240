// SPDX-License-Identifier: GPL-2.0-only
/*
 * The holders of the debug registers. On top the board, with a cursor on one of its cells; below it
 * the holders of breakpoints. The board knows no sorting and no filter: these keys are for the
 * table below. Between them a line says whether a task waits for the kernel's locks around the
 * slots, as that, the breakpoints created a second and who holds them are one story.
 */
#include "kontend/engine.h"
#include "kontend/mem.h"
#include "kontend/query-perf.h"
#include "kontend/units.h"
#include "list.h"
#include "note.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PANE_BOARD, PANE_HOLDERS, PANES };
enum { BOARD_MIN = 3, HOLDERS_MIN = 4 };

struct view_slots {
	struct view v;
	struct pane panes[PANES];
	struct pane_set set;
	bool descriptors;     /* holders are of descriptors, whatever these are for */
	size_t cell, n_cells; /* the cursor on the board; cells of a row in the last frame */
};

struct page {
	struct query_perf_sum sum;
	struct query_perf_waits waits;
	struct query_perf_creations_sum creations;
	struct table slots;
	struct list_part holders;
	struct board board;
	struct rect r_board, r_holders;
};

static struct view_slots *of_view(struct view *v)
{
	return (struct view_slots *)v;
}

static int ask_holders(struct view *v, struct query_spec *spec, struct table *ret,
		       struct error *err)
{
	return query_perf_holders(v->query, spec, ret, err);
}

/* Without BPF there is nothing to say of a descriptor but whose it is. */
static void fit_holders(struct view *v, struct table *t)
{
	static const char *const unknown[] = {"addr",  "where", "len",	 "bp_type",
					      "bound", "state", "owner", "hits_per_s"};
	enum { UNKNOWN = sizeof(unknown) / sizeof(*unknown) };
	struct view_fit fit[UNKNOWN];

	for (size_t i = 0; i < UNKNOWN; i++)
		fit[i] = (struct view_fit){unknown[i], VIEW_HIDE, 0};
	if (of_view(v)->descriptors)
		view_fit_columns(t, &of_view(v)->panes[PANE_HOLDERS].columns, fit, UNKNOWN);
}

static int ask_page(struct view_slots *o, struct page *p, int width, struct error *err)
{
	struct query *q = o->v.query;
	struct query_spec all = {0};
	int r = query_perf_sum(q, &p->sum);

	if (r == 0)
		r = query_perf_waits(q, app_averages(o->v.app), &p->waits);
	if (r == 0)
		r = query_perf_creations_sum(q, &p->creations);
	if (r == 0)
		r = query_perf_slots(q, &all, &p->slots, err);
	if (r == 0)
		r = board_make(q, &p->slots, width, &p->board);
	o->descriptors = p->sum.missing & SNAP_NO_EVENTS;
	return r < 0 ? r : list_part_ask(&p->holders, err);
}

static void figures(const struct query_perf_sum *p, struct line *l)
{
	bool full = p->used == p->slots;

	line_put(l, ROLE_DIM, "used ");
	if (p->slots_known)
		line_printf(l, full ? ROLE_WARN : ROLE_BOLD, "%s%u of %u",
			    p->missing & SNAP_NO_TASK_MAX ? "at least " : "", p->used, p->slots);
	else
		line_put(l, ROLE_NORMAL, "-");
	view_perf_opened(p, l);
}

static const struct view_perf_top top = {QUERY_PERF_SLOTS, figures};

/* "waits for the slots' locks  12.0/s  0.34 tasks  worst 4.10ms  bp_constraints_lock" */
static void draw_waits(const struct query_perf_waits *w, struct screen *s, struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF];

	line_put(&l, ROLE_DIM, "waits for the slots' locks  ");
	if (!w->caller) {
		line_put(&l, ROLE_DIM, "none");
		return;
	}
	line_printf(&l, ROLE_NORMAL, "%s/s  ", w->per_s > 0 ? units_rate(buf, w->per_s) : "·");
	line_printf(&l, w->wait_ns_per_s > 0 ? ROLE_WAITING : ROLE_NORMAL, "%s tasks",
		    w->wait_ns_per_s > 0 ? units_tasks(buf, w->wait_ns_per_s) : "·");
	if (w->waiting)
		line_printf(&l, ROLE_WAITING, "  now %u", w->waiting);
	if (w->max_ns)
		line_printf(&l, ROLE_NORMAL, "  worst %s%s", w->max_at_least ? "≥" : "",
			    units_ns(buf, w->max_ns));
	line_put(&l, ROLE_DIM, "  ");
	if (w->n_locks)
		line_printf(&l, ROLE_NORMAL, "%s  ", w->locks[0].name);
	line_put(&l, ROLE_DIM, w->caller);
}

/* "refused 1: gdb/30500"; looks do not see those: then how to see them. */
static void put_refused(const struct query_perf_creations_sum *c, struct line *l)
{
	char buf[UNITS_BUF];

	if (c->how != SNAP_CREATIONS_EVENTS) {
		line_put(l, ROLE_DIM, "  refused - (--creations)");
	} else if (c->refused) {
		line_put(l, ROLE_DIM, "refused ");
		line_put(l, ROLE_WARN, units_count(buf, c->refused));
		line_printf(l, ROLE_NORMAL, ": %s  ", c->refused_who);
	}
}

/*
 * "refused 1: gdb/30500  breakpoints created 1.24k  most by app/931 1.20k", if there were any, or
 * if a task may have been refused: the line.
 */
static bool draw_creations(const struct query_perf_sum *p, const struct query_perf_creations_sum *c,
			   struct screen *s, struct rect r)
{
	bool each = c->how == SNAP_CREATIONS_EVENTS;
	bool full = p->slots_known && p->slots && p->used >= p->slots;
	struct line l = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF];

	if (!c->created && !c->refused && (each || !full))
		return false;
	if (each)
		put_refused(c, &l);
	line_put(&l, ROLE_DIM, "breakpoints created ");
	line_printf(&l, ROLE_BOLD, "%s%s", each ? "" : "≥", units_count(buf, c->created));
	if (c->who) {
		line_put(&l, ROLE_DIM, "  most by ");
		line_printf(&l, ROLE_NORMAL, "%s %s", c->who, units_count(buf, c->most));
	}
	if (!each)
		put_refused(c, &l);
	return true;
}

/* The board takes what it needs, but half at most where the holders need room, too. */
static void place(struct page *p, struct rect r)
{
	size_t n = p->board.table.n_rows;
	int board = n + 2 > (size_t)r.h ? r.h : (int)n + 2;
	int holders =
		p->holders.table.n_rows + 2 > (size_t)r.h ? r.h : (int)p->holders.table.n_rows + 2;
	int most = r.h - holders > r.h / 2 ? r.h - holders : r.h / 2;
	struct rect rows[2];

	board = board > most ? most : board;
	layout_rows(r, (struct layout_part[]){{BOARD_MIN, board, 0}, {HOLDERS_MIN, HOLDERS_MIN, 1}},
		    2, rows);
	p->r_board = rows[0];
	p->r_holders = rows[1];
}

static const char *board_title(const struct page *p, struct query *q)
{
	const char *text = NULL;

	if (p->board.pools)
		text = "slots, for execution and data apart";
	else if (p->slots.n_rows)
		text = arena_printf(&q->arena, "slots: %zu a CPU, for data and execution alike%s",
				    p->board.n_cells,
				    p->board.folded ? "; equal CPUs share a row" : "");
	return text ? text : "slots";
}

static void draw_board(struct view_slots *o, struct page *p, struct screen *s)
{
	struct pane *pane = &o->panes[PANE_BOARD];
	struct table_style style = {
		.tick = o->v.query->model->n_ticks, .empty = "not known", .cell_role = board_role};

	o->n_cells = p->board.n_cells;
	if (o->cell >= o->n_cells)
		o->cell = 0;
	style.cursor = o->n_cells ? board_column(o->cell) : 0;
	pane->table.sort[0] = '\0';
	pane_draw_table(&o->set, PANE_BOARD, s, p->r_board, board_title(p, o->v.query),
			&p->board.table, &style);
}

static void draw_holders(struct view_slots *o, struct page *p, struct screen *s)
{
	struct table_style style = {.columns = app_columns(o->v.app),
				    .tick = o->v.query->model->n_ticks,
				    .heat = "hits_per_s",
				    .search = app_search(o->v.app)};
	const char *title = list_part_title(
		&p->holders, o->descriptors ? "who has descriptors of perf events" : "holders");

	list_part_draw(&p->holders, s, p->r_holders, title, &style,
		       view_perf_empty(&o->v, &p->holders.table, &p->sum, SNAP_NO_HOLDERS,
				       "no breakpoint is in the debug registers"));
}

static void slots_draw(struct view *v, struct screen *s, struct rect r)
{
	struct view_slots *o = of_view(v);
	struct page p = {.holders = {.v = v,
				     .set = &o->set,
				     .pane = PANE_HOLDERS,
				     .lines = r.h,
				     .ask = ask_holders,
				     .fit = fit_holders}};
	struct error err = {0};

	if (ask_page(o, &p, r.w, &err) < 0) {
		view_draw_error(s, r, &err);
		return;
	}
	if (!p.sum.known) {
		view_draw_text(s, layout_below(r, 1), ROLE_DIM, p.sum.reason);
		return;
	}
	int y = view_perf_head(v, s, r, &p.sum, &top);
	draw_waits(&p.waits, s, layout_below(r, y++));
	y += draw_creations(&p.sum, &p.creations, s, layout_below(r, y));
	place(&p, layout_below(r, y));
	draw_board(o, &p, s);
	draw_holders(o, &p, s);
}

static int slots_init(struct view *v)
{
	struct view_slots *o = of_view(v);

	o->set = (struct pane_set){.panes = o->panes, .n = PANES, .focus = PANE_HOLDERS};
	return 0;
}

static void slots_deinit(struct view *v)
{
	pane_set_deinit(&of_view(v)->set);
}

static bool has_id(const struct table_widget *w, uint64_t id)
{
	for (size_t i = 0; i < w->n_ids; i++)
		if (w->ids[i] == id)
			return true;
	return false;
}

/* From a cell to the row of its holder. */
static int open_cell(struct view_slots *o)
{
	struct pane *to = &o->panes[PANE_HOLDERS];
	size_t n;
	const struct query_cell *cells =
		query_perf_board(o->v.query, o->panes[PANE_BOARD].table.selected, &n);

	if (o->cell >= n || cells[o->cell].kind == CELL_FREE)
		app_say(o->v.app, ROLE_NORMAL, "this slot is free");
	else if (!cells[o->cell].event_id)
		app_say(o->v.app, ROLE_NORMAL, "it is not known whose breakpoint this is");
	else if (!has_id(&to->table, cells[o->cell].event_id))
		app_say(o->v.app, ROLE_NORMAL, "the filter hides its holder, %s",
			cells[o->cell].who);
	else {
		to->table.selected = cells[o->cell].event_id;
		to->table.has_rows = to->moved = true;
		o->set.focus = PANE_HOLDERS;
	}
	return 0;
}

/* From a holder to all events of its process; of the event alone, where there is no process. */
static int open_holder(struct view_slots *o)
{
	uint64_t id = o->panes[PANE_HOLDERS].table.selected;
	struct query_events_scope scope = {.event = id};
	struct query_spec all = {0};
	struct query_perf_sum sum;
	struct table t;

	if (query_perf_sum(o->v.query, &sum) < 0 ||
	    query_perf_holders(o->v.query, &all, &t, NULL) < 0)
		return -ENOMEM;
	size_t row = table_row(&t, id), pid = table_column(&t, "pid");
	if (row == SIZE_MAX || sum.missing & SNAP_NO_EVENTS) {
		app_say(o->v.app, ROLE_NORMAL,
			row == SIZE_MAX ? "this breakpoint has just gone"
					: "which events these are cannot be seen without BPF");
		return 0;
	}
	const struct value *v = table_value(&t, row, pid);
	const char *name = table_text(&t, row, "holder");
	if (v->known)
		scope = (struct query_events_scope){.process = (int32_t)v->i};
	return app_push_events(o->v.app, &scope, v->known ? name : "the kernel");
}

static int slots_page(struct view *v)
{
	struct view_slots *o = of_view(v);

	return o->panes[PANE_HOLDERS].table.has_rows ? open_holder(o) : VIEW_UNHANDLED;
}

static int slots_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_slots *o = of_view(v);
	bool on_board = o->set.focus == PANE_BOARD;

	if (c == CMD_LEFT || c == CMD_RIGHT) {
		if (!on_board)
			return VIEW_UNHANDLED;
		if (c == CMD_LEFT && o->cell)
			o->cell--;
		else if (c == CMD_RIGHT && o->cell + 1 < o->n_cells)
			o->cell++;
		return 0;
	}
	if (c >= CMD_SORT_PREV && c <= CMD_SORT)
		o->set.focus = PANE_HOLDERS;
	int r = pane_command(&o->set, c, arg);
	if (r != WIDGET_ENTER)
		return r;
	return o->set.focus == PANE_BOARD ? open_cell(o) : open_holder(o);
}

static struct table_widget *sorted_table(struct view *v)
{
	return &of_view(v)->panes[PANE_HOLDERS].table;
}

static const struct view_choices choices = {NULL, sorted_table};

static const struct view_key keys[] = {
	{CMD_ENTER, "why?"},
	{CMD_FILTER, "filter"},
	{CMD_SORT, "sort"},
	{CMD_NONE, NULL},
};

const struct view_ops view_slots = {
	.name = "slots",
	.title = "slots",
	.brief = "slot",
	.digit = '4',
	.keys = keys,
	.help = "Holders of the debug registers, for which gdb, perf, rr and bpftrace compete. On "
		"top "
		"a row a CPU with a cell a slot: □ free, C taken by a breakpoint of the CPU, T by "
		"one of the task that has most there (all other tasks fit in the same slots), ■ "
		"in a debug register at this moment, ? not known. A new breakpoint of a CPU needs "
		"a slot beside both, one of a task only beside those of the CPU: FREE. Below, all "
		"breakpoints with who keeps them. MOST is what was taken at a time since the first "
		"look; the line above has who created breakpoints, at least (≥) as snapshots "
		"see it: --creations sees each. Of more than 128 CPUs neighbours that are alike "
		"share a row of the board. The arrows move over the board and the table; "
		"Enter on a cell goes to its holder, on a holder it lists all its perf events.",
	.tables = "holders slots",
	.size = sizeof(struct view_slots),
	.init = slots_init,
	.deinit = slots_deinit,
	.draw = slots_draw,
	.command = slots_command,
	.page = slots_page,
	.choices = &choices,
};
