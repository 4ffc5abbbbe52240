// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page that answers "is anything wrong now?" in its first lines (how much is waited, by how
 * many, since when) and "where?" below: by type, by CPU, and the worst locks. All of it fits the
 * window: overview-place.c says where. The arrows go through all rows of the page.
 */
#include "kontend/app-sums.h"
#include "kontend/engine.h"
#include "kontend/locktype.h"
#include "kontend/query-mmap.h"
#include "kontend/query-overview.h"
#include "kontend/screen.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "list.h"
#include "note.h"
#include "overview-place.h"
#include "widgets/layout.h"

#include <stdio.h>
#include <string.h>

/*
 * Parts of an mmap_lock in the line about those with most waiting now. A figure that is cut off
 * would read as another figure: a lock that does not fit loses its P99, then it is left out.
 */
enum { MMAP_PROCESS, MMAP_MODE, MMAP_RATE, MMAP_P99, MMAP_PARTS, MMAP_TEXT = 64 };

static const struct {
	const char *key, *before, *after;
	enum role role;
} mmap_parts[MMAP_PARTS] = {
	[MMAP_PROCESS] = {"process", "", " ", ROLE_NORMAL},
	[MMAP_MODE] = {"mode", "", " ", ROLE_NORMAL},
	[MMAP_RATE] = {"wait_ns_per_s", "", "", ROLE_BOLD},
	[MMAP_P99] = {"p99_ns", " p99 ", "", ROLE_NORMAL},
};

static int mmap_width(char text[MMAP_PARTS][MMAP_TEXT], int n)
{
	int width = 0;

	for (int i = 0; i < n; i++)
		width += text_width(mmap_parts[i].before) + text_width(text[i]) +
			 text_width(mmap_parts[i].after);
	return width;
}

/* Returns false if there is no room for the row. */
static bool put_mmap_row(struct line *l, const struct table *t, size_t row)
{
	char text[MMAP_PARTS][MMAP_TEXT];
	int n = MMAP_PARTS;

	for (int i = 0; i < MMAP_PARTS; i++) {
		size_t col = table_column(t, mmap_parts[i].key);
		if (col == SIZE_MAX)
			return false;
		table_format(&t->columns[col], table_value(t, row, col), false, text[i], MMAP_TEXT);
	}
	while (n > MMAP_RATE && l->x + mmap_width(text, n) > l->r.w)
		n--;
	for (int i = 0; i < n && n > MMAP_RATE; i++) {
		line_put(l, ROLE_DIM, mmap_parts[i].before);
		line_put(l, mmap_parts[i].role, text[i]);
		line_put(l, ROLE_NORMAL, mmap_parts[i].after);
	}
	return n > MMAP_RATE;
}

/* "mmap_lock mm/5214 W 1.92 p99 28.1ms  ...": as many rows of query_mmap_worst() as fit. */
static void put_mmap_worst(const struct table *t, struct line *l)
{
	line_put(l, ROLE_DIM, "mmap_lock ");
	if (!t->n_rows)
		line_put(l, ROLE_NORMAL, "·  ");
	for (size_t i = 0; i < t->n_rows && put_mmap_row(l, t, i); i++)
		line_put(l, ROLE_NORMAL, "  ");
}

enum { PANE_TYPES, PANE_CPUS, PANE_LOCKS, PANE_WAITERS, PANES };
enum {
	WHY_X = 6, /* below the verdict's sentence */
	SLOT_MARKS = 16,
	OTHERS_W = 34 /* of a line, for uprobes and rotation */
};

struct view_overview {
	struct view v;
	struct pane panes[PANES];
	struct pane_set set;
	struct overview_place_seen seen;
};

struct page {
	struct app_sums sums;
	struct table mmap, types, cpus, waiters;
	struct list_part locks;
	struct overview_place at;
};

static const struct view_fit fit_cpus[] = {
	{"caller", 6, 12},
	{"spark", 6, 0},
	{"fill_pct", 2, 0},
	{"lost", 1, 0},
	{"wait_pct", 3, 0},
	{"bp_slots", VIEW_HIDE, 0}, /* last: where they are known they are shown */
};

static struct view_overview *of_view(struct view *v)
{
	return (struct view_overview *)v;
}

static int ask_locks(struct view *v, struct query_spec *spec, struct table *ret, struct error *err)
{
	spec->by = BY_LOCK;
	return query_locks(v->query, spec, ret, err);
}

static void fit_locks(struct view *v, struct table *t)
{
	view_fit_locks(v, t, &of_view(v)->panes[PANE_LOCKS].columns, BY_LOCK);
}

/* Of more CPUs than there is room for those are shown that wait most. */
static int ask_cpus(struct view_overview *o, struct page *p, size_t room, struct error *err)
{
	struct query_spec spec = {0};

	view_fill_spec(&o->v, &o->panes[PANE_CPUS].table, &spec);
	spec.filter = NULL;
	if (!spec.sort && query_count_cpus(o->v.query) > room)
		spec.sort = "wait_ns_per_s";
	return query_cpus(o->v.query, &spec, &p->cpus, err);
}

static int ask_page(struct view_overview *o, struct page *p, struct rect r_page, struct error *err)
{
	struct query *q = o->v.query;
	struct query_spec types = {0}, waiters = {0};
	int r;

	view_fill_spec(&o->v, &o->panes[PANE_TYPES].table, &types);
	view_fill_spec(&o->v, &o->panes[PANE_WAITERS].table, &waiters);
	types.filter = waiters.filter = NULL;
	r = query_mmap_worst(q, app_averages(o->v.app), &p->mmap, err);
	if (r == 0)
		r = query_types(q, &types, &p->types, err);
	if (r == 0)
		r = ask_cpus(o, p, overview_place_cpus(r_page), err);
	if (r == 0)
		r = list_part_ask(&p->locks, err);
	if (r == 0)
		r = query_waiters(q, &waiters, &p->waiters, err);
	if (r < 0)
		return r;
	view_fit_types(&o->v, &p->types, &o->panes[PANE_TYPES].columns);
	view_fit_columns(&p->cpus, &o->panes[PANE_CPUS].columns, fit_cpus,
			 sizeof(fit_cpus) / sizeof(*fit_cpus) - p->sums.perf.slots_known);
	view_fit_waiters(&o->v, &p->waiters, &o->panes[PANE_WAITERS].columns);
	return 0;
}

/* "wait/s  1.92 tasks ▁▂▃▅▇█": figures in one column, sparklines in another. */
static void draw_figure(struct screen *s, struct rect r, int y, const char *name, const char *value,
			const char *unit, const uint64_t *series, uint32_t n)
{
	screen_put(s, r, 1, y, ROLE_DIM, name);
	screen_printf(s, r, 13, y, ROLE_BOLD, "%6s", value);
	screen_put(s, r, 20, y, ROLE_DIM, unit);
	if (series)
		widget_sparkline(s, r, 26, y, r.w - 26, series, n, 0);
}

/* "rwsem W 9, R 5  mutex 1": rwsems first. */
static void draw_waiting_types(const struct query_overview *now, struct line *l)
{
	const char *sep = "";

	if (now->waiting_rwsem_w || now->waiting_rwsem_r) {
		line_printf(l, ROLE_WAITING, "rwsem W %u, R %u", now->waiting_rwsem_w,
			    now->waiting_rwsem_r);
		sep = "  ";
	}
	for (int i = 0; i < LOCK_TYPES; i++) {
		if (!now->waiting_by_type[i] || i == LOCK_RWSEM_R || i == LOCK_RWSEM_W)
			continue;
		line_printf(l, ROLE_NORMAL, "%s%s %u", sep, locktype_name((enum lock_type)i),
			    now->waiting_by_type[i]);
		sep = "  ";
	}
}

static const char *approx(char *buf, const struct query_overview *now)
{
	char ns[UNITS_BUF];

	snprintf(buf, UNITS_BUF, "%s%s", now->longest_approx ? "~" : "",
		 units_ns(ns, now->longest_ns));
	return buf;
}

/* Right of the figures: the longest wait, and beside the number of waiters what they wait for. */
static void draw_now_right(const struct query_overview *now, struct screen *s, struct rect r)
{
	struct line l = {.s = s, .r = r};
	char buf[UNITS_BUF];

	line_put(&l, ROLE_DIM, "longest ");
	if (now->any_longest) {
		line_printf(&l, ROLE_BOLD, "%6s ", approx(buf, now));
		line_put(&l, ROLE_NORMAL, now->longest_task);
		l.x = 0;
		l.y = 1;
		line_printf(&l, ROLE_DIM, "on ");
		line_printf(&l, ROLE_NORMAL, "%s ", now->longest_type);
		line_put(&l, ROLE_NORMAL, now->longest_lock);
	} else {
		line_put(&l, ROLE_DIM, "     ·");
	}
	l.x = 0;
	l.y = 2;
	draw_waiting_types(now, &l);
}

static const char *or_zero(bool any, const char *text)
{
	return any ? text : "·";
}

static void draw_now(const struct query_overview *now, bool average, struct screen *s,
		     struct rect r)
{
	double elapsed_s = (double)now->elapsed_ns / 1e9;
	bool whole = average && elapsed_s > 0;
	double wait = whole ? (double)now->waited_ns / elapsed_s : now->wait_ns_per_s;
	double n = whole ? (double)now->contended / elapsed_s : now->contended_per_s;
	struct rect cols[3];
	char buf[UNITS_BUF];

	r.y += OVERVIEW_PLACE_WHY;
	r.h -= OVERVIEW_PLACE_WHY;
	layout_cols(r, (struct layout_part[]){{37, 37, 1}, {2, 2, 0}, {20, 41, 2}}, 3, cols);
	draw_figure(s, cols[0], 0, "wait/s", or_zero(wait > 0, units_tasks(buf, wait)), "tasks",
		    now->wait_series, now->n_series);
	draw_figure(s, cols[0], 1, "contended/s", or_zero(n > 0, units_rate(buf, n)), "",
		    now->contended_series, now->n_series);
	draw_figure(s, cols[0], 2, "waiting now",
		    or_zero(now->waiting, units_count(buf, now->waiting)), "tasks",
		    now->waiting_series, now->n_series);
	draw_now_right(now, s, cols[2]);
}

/* "slots 3/8 ■■■□□□□□  events 48 in 12 contexts  short of time ·  created 12.0/s" */
static void draw_perf(const struct query_perf_sum *p, struct screen *s, struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1, .y = OVERVIEW_PLACE_NOW};
	bool few = p->slots <= SLOT_MARKS && !(p->missing & SNAP_NO_TASK_MAX);

	line_put(&l, ROLE_DIM, "slots ");
	if (!p->known) {
		line_put(&l, ROLE_NORMAL, "-");
		line_put(&l, ROLE_DIM, "  events ");
		line_put(&l, ROLE_NORMAL, "-");
		return;
	}
	if (p->slots_known)
		line_printf(&l, p->used >= p->slots ? ROLE_WARN : ROLE_BOLD, "%s%u/%u",
			    p->missing & SNAP_NO_TASK_MAX ? "~" : "", p->used, p->slots);
	else
		line_put(&l, ROLE_NORMAL, "-");
	line_put(&l, ROLE_NORMAL, " ");
	for (uint32_t i = 0; few && p->slots_known && i < p->slots; i++)
		line_put(&l, i < p->used ? ROLE_HEAT_MID : ROLE_DIM, i < p->used ? "■" : "□");
	line_put(&l, ROLE_DIM, "  events ");
	if (p->missing & SNAP_NO_EVENTS) {
		line_put(&l, ROLE_NORMAL, "-");
		return;
	}
	line_printf(&l, ROLE_NORMAL, "%u in %u contexts", p->events, p->contexts);
	line_put(&l, ROLE_DIM, "  short of time ");
	if (p->starved)
		line_printf(&l, ROLE_WARN, "%u", p->starved);
	else
		line_put(&l, ROLE_NORMAL, "·");
	view_perf_opened(p, &l);
}

/* "  rotation 476/s 6.0%": of a CPU. */
static void put_rotation(const struct query_rotation_sum *sum, struct line *l)
{
	char a[UNITS_BUF], b[UNITS_BUF];

	if (sum->per_s > 0)
		line_whole(l, ROLE_NORMAL, "  rotation %s/s %s%%", units_rate(a, sum->per_s),
			   units_pct(b, sum->ns_per_s / 1e7));
	else
		line_whole(l, ROLE_DIM, "  rotation %s", sum->rotations ? "·" : "-");
}

/*
 * Parts that come and go share two lines, which are always there: so the tables below
 * stay where they are.
 */
static void draw_others(const struct page *p, const char *elsewhere, struct screen *s)
{
	struct line l = {.s = s, .r = p->at.now, .x = 1, .y = OVERVIEW_PLACE_NOW + 1};

	draw_perf(&p->sums.perf, s, p->at.now);
	/* A process's name takes what the others leave. */
	l.r.w -= p->at.now.w > OTHERS_W ? OTHERS_W : 0;
	put_mmap_worst(&p->mmap, &l);
	l.r.w = p->at.now.w;
	view_uprobes_line(&p->sums.uprobe, &l);
	put_rotation(&p->sums.rotation, &l);
	if (elsewhere)
		line_whole(&l, ROLE_DIM, "  other waits: %s", elsewhere);
}

/* "by cpu, 2 of 64" where not all have room. */
static const char *part_title(char *buf, size_t size, const char *name, const struct table *t,
			      struct rect r)
{
	size_t room = r.h > 2 ? (size_t)r.h - 2 : 0;

	if (t->n_rows > room)
		snprintf(buf, size, "%s, %zu of %zu", name, room, t->n_rows);
	else
		snprintf(buf, size, "%s", name);
	return buf;
}

static void locks_title(struct view_overview *o, const struct page *p, char *buf, size_t size)
{
	const char *filter = app_filter(o->v.app);
	size_t n = p->locks.table.n_rows, room = p->at.locks.h > 2 ? (size_t)p->at.locks.h - 2 : 0;
	size_t first = o->panes[PANE_LOCKS].table.top;

	if (p->locks.wrong.code)
		snprintf(buf, size, "worst locks, filter %s", filter);
	else if (*filter)
		snprintf(buf, size, "worst locks, filter %s: %zu of %zu", filter, n,
			 p->locks.table.n_total);
	else if (n > room && first)
		snprintf(buf, size, "locks, %zu to %zu of %zu", first + 1,
			 first + room < n ? first + room : n, n);
	else if (n > room)
		snprintf(buf, size, "worst locks, %zu of %zu", room, n);
	else
		snprintf(buf, size, "worst locks");
}

static void draw_locks(struct view_overview *o, struct page *p, struct screen *s,
		       struct table_style *style)
{
	char title[160];

	locks_title(o, p, title, sizeof(title));
	style->empty = NULL;
	list_part_draw(&p->locks, s, p->at.locks, title, style,
		       view_empty_text(&o->v, &p->locks.table));
}

/*
 * In fewer words where it would be cut: the end of it counts, too. Tasks that wait for other things
 * than kernel locks are shown where no cause is known, or has left room.
 */
static void draw_because(const char *because, const char *also, struct screen *s, struct rect r)
{
	static const char head[] = "because of ";
	int x = WHY_X;

	if (text_width(because) > r.w - x && strncmp(because, head, sizeof(head) - 1) == 0) {
		x = screen_put(s, r, x, 0, ROLE_NORMAL, "by ");
		because += sizeof(head) - 1;
	}
	struct line l = {.s = s, .r = r, .x = x};
	line_put_brackets(&l, ROLE_NORMAL, because);
	if (also)
		line_whole(&l, ROLE_DIM, "%salso %s", *because ? "; " : "", also);
}

static void draw_places(const struct view *v, struct screen *s, struct rect r)
{
	const struct app_places places = app_sums_places(v->app);
	struct line l = {.s = s, .r = layout_below(r, OVERVIEW_PLACE_WHY), .x = 1};

	view_put_places(&(struct view_places){.waits = "waited at ",
					      .at = places.at,
					      .syscall = places.syscall,
					      .owner_at = places.owner_at},
			&l);
}

static void place(struct view_overview *o, struct page *p, struct rect r)
{
	const struct app_places places = app_sums_places(o->v.app);
	const struct overview_place_rows rows = {
		.types = p->types.n_rows,
		.cpus = p->cpus.n_rows,
		.locks = p->locks.table.n_rows,
		.waiters = p->waiters.n_rows,
		.places = places.at || places.owner_at,
	};
	const struct overview_place_rows most =
		overview_place_see(&o->seen, r, &rows, o->v.query->model->n_ticks);

	p->at = overview_place(r, &most);
}

static void overview_draw(struct view *v, struct screen *s, struct rect r)
{
	struct view_overview *o = of_view(v);
	struct table_style style = {.columns = app_columns(v->app),
				    .tick = v->query->model->n_ticks,
				    .search = app_search(v->app)};
	struct page p = {.locks = {.v = v,
				   .set = &o->set,
				   .pane = PANE_LOCKS,
				   .lines = r.h,
				   .ask = ask_locks,
				   .fit = fit_locks}};
	const struct app_sums *sums = app_sums(v->app);
	struct error err = {0};
	char title[64];

	if (sums)
		p.sums = *sums;
	if (!sums || ask_page(o, &p, r, &err) < 0) {
		view_draw_error(s, r, &err);
		return;
	}
	place(o, &p, r);
	draw_because(app_sums_because(v->app), app_sums_also(v->app), s, p.at.now);
	if (p.at.has_places) {
		draw_places(v, s, p.at.now);
		p.at.now = layout_below(p.at.now, 1);
	}
	draw_now(&p.sums.now, app_averages(v->app), s, p.at.now);
	draw_others(&p, app_sums_elsewhere(v->app), s);
	style.heat = "wait_ns_per_s";
	style.empty = "none yet";
	pane_draw_table(&o->set, PANE_TYPES, s, p.at.types,
			part_title(title, sizeof(title), "by type", &p.types, p.at.types), &p.types,
			&style);
	view_draw_window(v, s, p.at.types);
	pane_draw_table(&o->set, PANE_CPUS, s, p.at.cpus,
			part_title(title, sizeof(title), "by cpu", &p.cpus, p.at.cpus), &p.cpus,
			&style);
	view_draw_window(v, s, p.at.cpus);
	draw_locks(o, &p, s, &style);
	view_draw_window(v, s, p.at.locks);
	style.heat = "since_ns";
	style.empty = "nobody";
	pane_draw_table(&o->set, PANE_WAITERS, s, p.at.waiters, "waiting now", &p.waiters, &style);
}

static int overview_init(struct view *v)
{
	struct view_overview *o = of_view(v);

	o->set = (struct pane_set){.panes = o->panes, .n = PANES, .focus = PANE_LOCKS};
	return 0;
}

static void overview_deinit(struct view *v)
{
	pane_set_deinit(&of_view(v)->set);
}

static int overview_page(struct view *v)
{
	static const enum query_by by[PANES] = {
		[PANE_TYPES] = BY_TYPE, [PANE_CPUS] = BY_CPU, [PANE_LOCKS] = BY_LOCK};
	const struct pane_set *set = &of_view(v)->set;
	const struct table_widget *w = &set->panes[set->focus].table;

	if (!w->has_rows)
		return VIEW_UNHANDLED;
	return set->focus == PANE_WAITERS ? view_open_waiter(v, w->selected, BY_LOCK)
					  : view_open(v, by[set->focus], w->selected);
}

static int overview_command(struct view *v, enum command c, const struct command_arg *arg)
{
	int r = pane_command(&of_view(v)->set, c, arg);

	return r == WIDGET_ENTER ? overview_page(v) : r;
}

static struct table_widget *sorted_table(struct view *v)
{
	return pane_focused_table(&of_view(v)->set);
}

static const struct view_choices choices = {NULL, sorted_table};

static const struct view_key keys[] = {
	{CMD_ENTER, "why?"},  {CMD_FILTER, "filter"}, {CMD_SORT, "sort"},
	{CMD_WHY, "verdict"}, {CMD_NONE, NULL},
};

const struct view_ops view_overview = {
	.name = "overview",
	.title = "overview",
	.brief = "over",
	.digit = '1',
	.keys = keys,
	.help = "Is anything wrong now? WAIT/s is the average number of tasks that wait: the time "
		"that all of them spent waiting, divided by the time that went by. Below: the same "
		"by type "
		"of lock and by CPU (those that wait most, where not all fit), and the worst locks "
		"of the last interval. The arrows reach "
		"every row of the page; Enter opens it. Sparklines show the last intervals, the "
		"newest at the right.",
	.tables = "locks cpus",
	.shows = "waiters",
	.size = sizeof(struct view_overview),
	.init = overview_init,
	.deinit = overview_deinit,
	.draw = overview_draw,
	.command = overview_command,
	.page = overview_page,
	.choices = &choices,
};
