// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page of a detail: where its parts go and how they are drawn. Narrow pages have the histogram
 * and the course side by side over the tables, wide ones have them in a column of their own; tall
 * ones have one table more. Heights follow from the rows there are, and what is left goes to the
 * main pane.
 */
#include "detail.h"
#include "kontend/engine.h"
#include "kontend/query-hist.h"
#include "kontend/query-lock.h"
#include "kontend/screen.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "note.h"
#include "widgets/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COURSE_H = 10 };

/* A rule and the column titles come on top of the rows. */
static int lines_of(const struct table *t, int most)
{
	return t->n_rows + 2 > (size_t)most ? most : (int)t->n_rows + 2;
}

/* The tables below each other; the main one takes what the others leave. */
static void place_tables(struct detail_page *p, struct rect r, int waiters)
{
	struct rect rows[3];
	int more = p->tall ? lines_of(&p->more, r.h / 3) : 0;

	/* With little room both have a part of it: callers, and the first of those who wait. */
	layout_rows(r,
		    (struct layout_part[]){{r.h < 8 ? 3 : 5, 6, 1},
					   {p->tall ? 4 : 0, more, 0},
					   {3, lines_of(&p->waiters, waiters), 0}},
		    3, rows);
	p->r_main = rows[0];
	p->r_more = rows[1];
	p->r_waiters = rows[2];
}

/* It is two lines where one has no room for the task that keeps the holder off. */
static int inversion_lines(const struct query_lock_now *now, int width)
{
	if (!now->inversion)
		return 0;
	return text_width(now->inversion) + 1 > width && strstr(now->inversion, ", kept") ? 2 : 1;
}

static void draw_inversion(const struct query_lock_now *now, struct line *l)
{
	const char *rest = now->inversion;

	if (inversion_lines(now, l->r.w) > 1) {
		rest = strstr(now->inversion, ", kept") + 2;
		line_printf(l, ROLE_ERROR, "%.*s", (int)(rest - now->inversion - 1),
			    now->inversion);
		l->x = 2;
		l->y++;
	}
	line_put(l, ROLE_ERROR, rest);
	l->x = 1;
	l->y++;
}

static bool has_places(const struct detail_page *p)
{
	return p->at.at || p->now.owner_at;
}

static void draw_places(const struct detail_page *p, struct line *l)
{
	char pct[UNITS_BUF], share[UNITS_BUF + 1];

	snprintf(share, sizeof(share), "%s%%", units_pct(pct, p->at.pct));
	view_put_places(&(struct view_places){.waits = "waited at ",
					      .at = p->at.at,
					      .syscall = p->at.syscall,
					      .share = share,
					      .owner_at = p->now.owner_at},
			l);
	l->x = 1;
	l->y++;
}

/* Of the numbers, and on a lock's page above them of who holds it. */
static int detail_sum_lines(const struct view *v, const struct detail_page *p, int width)
{
	return (v->scope.mask & 1u << BY_LOCK ? 2 : 1) + inversion_lines(&p->now, width) +
	       has_places(p);
}

static void place_wide(struct detail_page *p, struct rect r, int sum)
{
	struct rect rows[6], cols[3], left[2];
	int did = detail_did_lines(p, r.w), use = detail_use_lines(p, r);
	int holds = detail_holds_lines(p, r);
	bool has_series = p->series.n > 0 || p->mmap.hold.n_waits > 0;
	int queue = detail_queue_lines(p, r);

	layout_rows(r,
		    (struct layout_part[]){{sum, sum, 0},
					   {did, did, 0},
					   {use, use, 0},
					   {queue, queue, 0},
					   {4, 4, 1},
					   {holds, holds, 0}},
		    6, rows);
	p->r_did = rows[1];
	p->r_use = rows[2];
	p->r_holds = rows[5];
	layout_cols(rows[4], (struct layout_part[]){{44, 44, 2}, {2, 2, 0}, {60, 60, 5}}, 3, cols);
	layout_rows(cols[0],
		    (struct layout_part[]){{5, (int)p->hist.n + 1, 0}, {has_series ? 5 : 0, 12, 0}},
		    has_series ? 2 : 1, left);
	p->r_sum = rows[0];
	p->r_queue = rows[3];
	p->r_hist = left[0];
	p->r_time = has_series ? left[1] : (struct rect){0};
	place_tables(p, cols[2], r.h / 3);
}

/* Of a tall page they take what the histogram needs, and the course with it. */
static int graphs_most(const struct detail_page *p, int most)
{
	int lines = (int)p->hist.n + 1 > COURSE_H ? (int)p->hist.n + 1 : COURSE_H;

	return lines < most ? lines : most;
}

static void place_narrow(struct detail_page *p, struct rect r, int sum)
{
	struct rect rows[7], cols[3];
	int did = detail_did_lines(p, r.w), use = detail_use_lines(p, r);
	int holds = detail_holds_lines(p, r);
	bool has_series = p->series.n > 0 || p->mmap.hold.n_waits > 0;
	int queue = detail_queue_lines(p, r);
	int graphs = r.h < 18 ? 0 : (queue ? 6 : 7) - has_places(p);
	int most = graphs_most(p, r.h / 3);

	layout_rows(r,
		    (struct layout_part[]){{sum, sum, 0},
					   {did, did, 0},
					   {use, use, 0},
					   {queue, queue, 0},
					   {graphs, graphs ? most : 0, 0},
					   {6, 8, 1},
					   {holds, holds, 0}},
		    7, rows);
	p->r_did = rows[1];
	p->r_use = rows[2];
	p->r_holds = rows[6];
	if (has_series)
		layout_cols(rows[4], (struct layout_part[]){{42, 42, 1}, {2, 2, 0}, {16, 34, 1}}, 3,
			    cols);
	p->r_sum = rows[0];
	p->r_queue = rows[3];
	p->r_hist = has_series ? cols[0] : rows[4];
	p->r_time = has_series ? cols[2] : (struct rect){0};
	place_tables(p, rows[5], p->tall ? r.h / 4 : 5);
}

struct length {
	const char *name;
	uint64_t ns;
	bool at_least;
};

static int length_width(const struct length *f)
{
	char buf[UNITS_BUF];

	return 3 + text_width(f->name) + f->at_least + text_width(units_ns(buf, f->ns));
}

static void put_ns(struct line *l, const char *name, uint64_t ns, bool at_least)
{
	char buf[UNITS_BUF];

	line_printf(l, ROLE_DIM, "  %s ", name);
	if (at_least)
		line_put(l, ROLE_BOLD, "≥");
	line_put(l, ROLE_BOLD, units_ns(buf, ns));
}

/* ", 2 more readers": of whom there is evidence. */
static void say_others(const struct query_lock_now *now, char *ret, size_t size)
{
	unsigned n = 0;

	for (const char *p = now->readers; p && (p = strchr(p, '\n')); p++)
		n++;
	*ret = 0;
	if (n)
		snprintf(ret, size, ", %u more R?", n);
}

/* "held by mm/5219 W (sure) ~2.1s, running on 1": the first line of a lock's page. */
static void draw_holder(const struct query_lock_now *now, const struct detail_page *p,
			struct line *l)
{
	char others[32], is[256], ns[UNITS_BUF], since[64] = "";

	if (!now->holder && now->unknown && p->waiters.n_total) {
		line_put(l, ROLE_DIM, now->unknown);
		return;
	}
	if (!now->holder) {
		line_put(l, ROLE_DIM,
			 p->waiters.n_total ? "the holder is not known" : "no task waits now");
		if (now->unknown)
			line_whole(l, ROLE_DIM, "; %s", now->unknown);
		return;
	}
	say_others(now, others, sizeof(others));
	if (now->held)
		snprintf(since, sizeof(since), ", %s", now->held);
	else if (now->held_ns)
		snprintf(since, sizeof(since), " ~%s", units_ns(ns, now->held_ns));
	if (strcmp(now->certainty, "free") == 0) {
		line_put(l, ROLE_WAITING, "free, being handed over");
		if (now->next)
			line_printf(l, ROLE_BOLD, " to %s", now->next);
		return;
	}
	line_put(l, ROLE_WAITING, "held by ");
	line_printf(l, ROLE_BOLD, "%s", now->holder);
	line_printf(l, ROLE_WAITING, " (%s)%s%s", now->certainty, since, now->is ? ", " : "");
	snprintf(is, sizeof(is), "%s%s", now->is ? now->is : "", others);
	line_put_brackets(l, ROLE_WAITING, is);
	if (now->unknown)
		line_whole(l, ROLE_DIM, "; %s", now->unknown);
}

/* Those that matter less are left out, whole, where the line has no room for all. */
static void put_lengths(struct line *l, const struct query_hist *h, uint64_t n)
{
	const struct length all[] = {
		{"total", h->total_ns, h->at_least}, {"avg", h->total_ns / n, h->at_least},
		{"p50", h->p50_ns, h->at_least},     {"p99", h->p99_ns, h->at_least},
		{"max", h->max_ns, h->max_at_least}, {"spin", h->spun_ns, false}};
	enum { LENGTHS = sizeof(all) / sizeof(*all) };
	/* max, total, p99, avg, spin, p50 */
	static const int rank[LENGTHS] = {4, 0, 3, 1, 5, 2};
	bool shown[LENGTHS] = {0};
	int room = l->r.w - l->x;

	for (int i = 0; i < LENGTHS; i++) {
		int width = length_width(&all[rank[i]]);
		bool is_wide_only = rank[i] == 2 && l->r.w < WIDE_W;
		bool is_none = rank[i] == 5 && !h->spun_ns;
		shown[rank[i]] = width <= room && !is_wide_only && !is_none;
		room -= shown[rank[i]] ? width : 0;
	}
	for (int i = 0; i < LENGTHS; i++)
		if (shown[i])
			put_ns(l, all[i].name, all[i].ns, all[i].at_least);
}

static void draw_sum(const struct view *v, const struct detail_page *p, struct screen *s)
{
	struct line l = {.s = s, .r = p->r_sum, .x = 1};
	char buf[UNITS_BUF], window[APP_WINDOW_TEXT];

	const struct query_lock_now *now = &p->now;

	if (v->scope.mask & 1u << BY_LOCK) {
		draw_holder(now, p, &l);
		l.x = 1;
		l.y++;
	}
	if (now->inversion)
		draw_inversion(now, &l);
	if (has_places(p))
		draw_places(p, &l);
	const struct query_hist *h = &p->hist;
	uint64_t n = h->n_waits + h->n_inflight;

	if (p->waiters.n_total)
		line_printf(&l, ROLE_WAITING, "%zu waiting now  ", p->waiters.n_total);
	line_put(&l, ROLE_BOLD, units_count(buf, p->hist.n_waits));
	if (l.r.w >= WIDE_W)
		line_put(&l, ROLE_DIM, p->hist.n_waits == 1 ? " wait" : " waits");
	line_printf(&l, ROLE_DIM, " in %s", app_window_text(v->app, window));
	if (now->parts_text)
		line_printf(&l, ROLE_WAITING, ", of it %s", now->parts_text);
	if (n)
		put_lengths(&l, h, n);
}

/* Names of locks have the end of the address at most. */
static const char *hist_title(const struct view *v, char *buf, size_t size)
{
	uint64_t addr = 0;

	if (v->scope.mask & 1u << BY_LOCK && query_lock_has_address(v->query, v->scope.id[BY_LOCK]))
		addr = query_lock_addr(v->query, v->scope.id[BY_LOCK]);
	if (!addr)
		return "wait histogram";
	snprintf(buf, size, "waits of 0x%" PRIx64, addr);
	return buf;
}

static void draw_hist(const struct view *v, const struct detail_page *p, struct screen *s)
{
	char title[80];
	struct rect body = layout_below(p->r_hist, 1);

	if (p->r_hist.h < 2)
		return;
	if (p->mmap.wait.n_waits) {
		char n[UNITS_BUF];
		snprintf(title, sizeof(title), "time to get it, %s acquisitions",
			 units_count(n, p->mmap.wait.n_waits));
		widget_rule(s, p->r_hist, 0, title);
		widget_hist(s, body, &p->mmap.wait);
		return;
	}
	widget_rule(s, p->r_hist, 0, hist_title(v, title, sizeof(title)));
	view_draw_window(v, s, p->r_hist);
	if (p->hist.n)
		widget_hist(s, body, &p->hist);
	else
		screen_put(s, body, 1, 0, ROLE_DIM, "no wait has ended yet");
}

static void draw_hold(const struct detail_page *p, struct screen *s)
{
	if (p->r_time.h < 2 || !p->mmap.hold.n_waits)
		return;
	widget_rule(s, p->r_time, 0, "time that it was held");
	widget_hist(s, layout_below(p->r_time, 1), &p->mmap.hold);
}

static uint64_t mean_of_last(const uint64_t *v, uint32_t n, uint32_t last)
{
	uint64_t sum = 0;

	last = last < n ? last : n;
	for (uint32_t i = n - last; i < n; i++)
		sum += v[i];
	return last ? sum / last : 0;
}

/* The course on its own scale, and below it the course of all locks for comparison. */
static void draw_time(const struct detail_page *p, uint32_t last, struct screen *s)
{
	struct rect body = layout_below(p->r_time, 1), graph, all;
	uint64_t now = mean_of_last(p->series.v, p->series.n, last);
	uint64_t of = mean_of_last(p->series.all, p->series.n, last);
	char title[128], value[UNITS_BUF], share[UNITS_BUF], peak[UNITS_BUF];

	if (p->r_time.h < 3 || !p->series.n)
		return;
	int n = !now || !of ? snprintf(title, sizeof(title), "wait/s ·")
			    : snprintf(title, sizeof(title), "wait/s %s tasks, %s%% of all",
				       units_tasks(value, (double)now),
				       units_pct(share, (double)now * 100.0 / (double)of));
	if (body.w > 48)
		snprintf(title + n, sizeof(title) - (size_t)n, ", peak %s",
			 units_tasks(peak, (double)widget_series_max(p->series.v, p->series.n)));
	widget_rule(s, p->r_time, 0, title);
	graph = all = body;
	graph.h = body.h - 1;
	all.y += graph.h;
	all.h = 1;
	widget_graph(s, graph, p->series.v, p->series.n, 0);
	screen_put(s, all, 0, 0, ROLE_DIM, "all ");
	widget_sparkline(s, all, 4, 0, all.w - 4, p->series.all, p->series.n, 0);
}

static void draw_main(struct view_detail *d, struct detail_page *p, struct screen *s)
{
	struct table_style style = {.columns = app_columns(d->v.app),
				    .heat = "wait_ns_per_s",
				    .search = app_search(d->v.app),
				    .tick = d->v.query->model->n_ticks};
	struct tree_style tree = {.by_count = d->by_count,
				  .limit = app_percent_limit(d->v.app),
				  .search = app_search(d->v.app)};
	char title[160];

	const char *filter = app_filter(d->v.app);
	bool is_part = d->v.query->only && *filter, of_rows = *app_row_filter(d->v.app);

	if (d->by == BY_TREE) {
		snprintf(title, sizeof(title), "%s (%s %%)  c count or wait  i invert  b table%s%s",
			 d->inverted ? "call paths from the outside" : "callers",
			 d->by_count ? "count" : "wait",
			 of_rows   ? "  filter: tables only"
			 : is_part ? "  filter "
				   : "",
			 is_part && !of_rows ? filter : "");
		tree.empty = "no wait with a call path has ended yet";
		pane_draw_tree(&d->set, PANE_MAIN, s, p->r_main, title, &p->tree, &tree);
		return;
	}
	int n = snprintf(title, sizeof(title), "by %s  b next",
			 query_by_name((enum query_by)d->by));
	if (*filter)
		snprintf(title + n, sizeof(title) - (size_t)n, "  filter %s%s%s", filter,
			 p->main.wrong.code ? "" : ": ",
			 p->main.wrong.code ? "" : view_count_text(&d->v, &p->main.table));
	style.empty = view_empty_text(&d->v, &p->main.table);
	list_part_draw(&p->main, s, p->r_main, title, &style, NULL);
}

static void draw_more(struct view_detail *d, const struct detail_page *p, struct screen *s)
{
	struct table_style style = {.columns = app_columns(d->v.app),

				    .heat = "wait_ns_per_s",
				    .empty = "none",
				    .tick = d->v.query->model->n_ticks};
	char title[40];

	d->more_by = p->more_by;
	snprintf(title, sizeof(title), "by %s", query_by_name(p->more_by));
	pane_draw_table(&d->set, PANE_MORE, s, p->r_more, title, &p->more, &style);
}

static void draw_waiters(struct view_detail *d, const struct detail_page *p, struct screen *s)
{
	struct table_style style = {.columns = app_columns(d->v.app),
				    .heat = "since_ns",
				    .empty = "no task waits here now",
				    .tick = d->v.query->model->n_ticks};

	pane_draw_table(&d->set, PANE_WAITERS, s, p->r_waiters, "waiting now", &p->waiters, &style);
}

void detail_place(const struct view *v, struct detail_page *p, struct rect r)
{
	if (v->scope.mask & 1u << BY_LOCK)
		(void)query_lock_now_by_id(v->query, v->scope.id[BY_LOCK], &p->now);
	if (r.w >= WIDE_W)
		place_wide(p, r, detail_sum_lines(v, p, r.w));
	else
		place_narrow(p, r, detail_sum_lines(v, p, r.w));
}

void detail_draw_page(struct view_detail *d, struct detail_page *p, struct screen *s)
{
	draw_sum(&d->v, p, s);
	detail_draw_queue(p, s);
	detail_draw_did(p, s);
	detail_draw_holds(p, s);
	detail_draw_use(&d->v, p, s);
	draw_hist(&d->v, p, s);
	draw_time(p, app_buckets(d->v.app), s);
	draw_hold(p, s);
	draw_main(d, p, s);
	view_draw_window(&d->v, s, p->r_main);
	draw_more(d, p, s);
	view_draw_window(&d->v, s, p->r_more);
	draw_waiters(d, p, s);
}
