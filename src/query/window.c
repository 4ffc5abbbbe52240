// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows of time. The model logs what came in the last minute (recent.h); from it come cells as
 * the model has them, but for the window alone, and every sum is made of those instead. They are
 * summed up once a tick: a window is made of whole ticks. Two are kept, as the verdict speaks of
 * the last tick whatever the tables speak of.
 */
#include "group.h"
#include "internal.h"
#include "kontend/blame-recent.h"
#include "kontend/cell-recent.h"
#include "kontend/mem.h"
#include "kontend/profile.h"
#include "kontend/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEPT = 2 };

/* The sources that a window was summed up from. */
struct stamp {
	uint64_t window_ns, only, generation, profile_generation, tick_ns, n_ticks, zero_ns;
};

/* Kinds of cells. */
enum which { CELLS, HELD, HANDED, TABLES };

struct window {
	struct stamp of[TABLES], of_charged, of_profile; /* all 0: not made yet */
	struct cell_table tables[TABLES];
	struct profile profile;
	struct blame_cell *charged;
	size_t n_charged;
	struct profile_cell *room;
	uint64_t used; /* number of the use */
};

struct query_windows {
	struct window list[KEPT];
	uint64_t n_uses;
};

static struct stamp stamp_of(const struct query *q)
{
	const struct model *m = q->model;

	return (struct stamp){q->window_ns, q->only,	    m->generation, m->profile->generation,
			      m->bucket_ns, m->n_ticks + 1, m->zero_ns};
}

bool query_has_window(const struct query *q)
{
	return q->window_ns && q->model->cells->recent.max;
}

uint64_t query_window_begin(const struct query *q)
{
	if (!query_has_window(q))
		return 0;
	return recent_find(&q->engine->model->cells->recent, q->window_ns).begin_ns;
}

static bool is_of(const struct window *w, uint64_t window_ns)
{
	for (size_t i = 0; i < TABLES; i++)
		if (w->of[i].window_ns == window_ns)
			return true;
	return w->of_charged.window_ns == window_ns || w->of_profile.window_ns == window_ns;
}

static struct window *find_window(struct query *q)
{
	struct window *w, *oldest;

	if (!q->windows)
		q->windows = mem_calloc(1, sizeof(*q->windows));
	if (!q->windows)
		return NULL;
	oldest = q->windows->list;
	for (w = q->windows->list; w < q->windows->list + KEPT; w++) {
		if (is_of(w, q->window_ns))
			break;
		oldest = w->used < oldest->used ? w : oldest;
	}
	w = w < q->windows->list + KEPT ? w : oldest;
	w->used = ++q->windows->n_uses;
	return w;
}

static bool is_made(const struct stamp *s, const struct query *q)
{
	const struct stamp now = stamp_of(q);

	return memcmp(s, &now, sizeof(now)) == 0;
}

/* @t: a table of the engine's model. */
static int make_cells(const struct query *q, const struct cell_table *t, const uint8_t *kept,
		      struct cell_table *ret)
{
	struct recent_window when = recent_find(&t->recent, q->window_ns);

	if (!ret->max && cell_table_init(ret, t->max, t->hists.max_groups))
		return -ENOMEM;
	return cell_recent(t, &when, kept, ret);
}

/* The cells of the window, made if necessary; all cells if there is no window or no memory. */
static const struct cell_table *cells_of(struct query *q, enum which which)
{
	const struct cell_table *const rests[TABLES] = {q->model->cells, q->model->held,
							q->model->handed};
	const struct model *all = q->engine->model;
	const struct cell_table *const whole[TABLES] = {all->cells, all->held, all->handed};
	const uint8_t *const kept[TABLES] = {q->kept_cells, q->kept_held, q->kept_handed};
	const struct cell_table *rest = rests[which];

	if (!query_has_window(q))
		return rest;
	struct window *w = find_window(q);
	if (!w) {
		q->cache->failed = true;
		return rest;
	}
	struct cell_table *ret = &w->tables[which];
	struct stamp *of = &w->of[which];
	if (is_made(of, q))
		return ret;
	*of = (struct stamp){0};
	if (make_cells(q, whole[which], kept[which], ret)) {
		q->cache->failed = true;
		return rest;
	}
	*of = stamp_of(q);
	return ret;
}

const struct cell_table *query_cells(struct query *q)
{
	return cells_of(q, CELLS);
}

const struct cell_table *query_held_cells(struct query *q)
{
	return cells_of(q, HELD);
}

const struct cell_table *query_handed_cells(struct query *q)
{
	return cells_of(q, HANDED);
}

static int make_charged(const struct query *q, struct window *w)
{
	const struct blame *b = q->engine->model->blame;
	struct recent_window when = recent_find(&b->recent, q->window_ns);

	mem_free(w->charged);
	w->charged = mem_calloc(b->n + 1, sizeof(*w->charged));
	w->n_charged = w->charged ? blame_recent(b, &when, q->kept_charged, w->charged) : 0;
	return w->charged ? 0 : -ENOMEM;
}

const struct blame_cell *query_charged(struct query *q, size_t *ret_n)
{
	const struct blame *all = q->model->blame;

	*ret_n = all->n;
	if (!query_has_window(q) || !all->recent.max)
		return all->cells;
	if (q->no_blame) {
		*ret_n = 0;
		return NULL;
	}
	struct window *w = find_window(q);
	if (w && !is_made(&w->of_charged, q)) {
		w->of_charged = (struct stamp){0};
		if (make_charged(q, w) == 0)
			w->of_charged = stamp_of(q);
	}
	if (!w || !w->of_charged.window_ns) {
		q->cache->failed = true;
		return all->cells;
	}
	*ret_n = w->n_charged;
	return w->charged;
}

static int make_profile(const struct query *q, struct window *w)
{
	const struct profile *p = q->engine->model->profile;
	struct recent_window when = recent_find(&p->recent, q->window_ns);

	mem_free(w->room);
	w->room = mem_calloc(p->n + 1, sizeof(*w->room));
	return w->room ? profile_recent(p, &when, q->kept_samples, w->room, &w->profile) : -ENOMEM;
}

/* All but the samples is the model's, which lives on: borrowed tables may have moved since. */
static void borrow(struct profile *w, const struct profile *p)
{
	struct profile now = *p;

	now.cells = w->cells;
	now.n = w->n;
	now.samples = w->samples;
	now.period = w->period;
	*w = now;
}

static const struct profile *windowed(struct query *q)
{
	const struct profile *p = q->model->profile;

	if (!q->window_ns || !p->recent.max)
		return p;
	struct window *w = find_window(q);
	if (w && !is_made(&w->of_profile, q)) {
		w->of_profile = (struct stamp){0};
		if (make_profile(q, w) == 0)
			w->of_profile = stamp_of(q);
	}
	if (!w || !w->of_profile.window_ns) {
		q->cache->failed = true;
		return p;
	}
	borrow(&w->profile, p);
	return &w->profile;
}

const struct profile *query_profile(struct query *q)
{
	return query_recorded_profile(q, windowed(q));
}

uint64_t query_rate_ns(const struct query *q)
{
	if (!query_has_window(q))
		return q->model->rate_ns;
	struct recent_window w = recent_find(&q->model->cells->recent, q->window_ns);
	return w.end_ns - w.begin_ns;
}

/* "500ms" "10s" "1min": as short as it can be said. */
static const char *spell(char buf[UNITS_BUF], uint64_t ns)
{
	const uint64_t s = 1000000000, whole = (ns + s / 2) / s;

	if (ns < s - s / 20)
		snprintf(buf, UNITS_BUF, "%" PRIu64 "ms", (ns + 500000) / 1000000);
	else if (whole % 60)
		snprintf(buf, UNITS_BUF, "%" PRIu64 "s", whole);
	else
		snprintf(buf, UNITS_BUF, "%" PRIu64 "min", whole / 60);
	return buf;
}

const char *query_window_text(const struct query *q, char buf[QUERY_WINDOW_TEXT])
{
	char asked[UNITS_BUF], kept[UNITS_BUF];

	if (!query_has_window(q)) {
		snprintf(buf, QUERY_WINDOW_TEXT, "all");
		return buf;
	}
	struct recent_window w = recent_find(&q->model->cells->recent, q->window_ns);
	uint64_t ns = w.end_ns - w.begin_ns, most = q->window_ns;
	/* A tick may be longer than the window. */
	spell(asked, ns > most + most / 2 ? ns : most);
	if (w.is_short)
		snprintf(buf, QUERY_WINDOW_TEXT, "%s (%s kept)", asked, spell(kept, ns));
	else
		snprintf(buf, QUERY_WINDOW_TEXT, "%s", asked);
	return buf;
}

void query_window_deinit(struct query *q)
{
	for (size_t i = 0; q->windows && i < KEPT; i++) {
		for (size_t t = 0; t < TABLES; t++)
			cell_table_deinit(&q->windows->list[i].tables[t]);
		mem_free(q->windows->list[i].charged);
		mem_free(q->windows->list[i].room);
	}
	mem_free(q->windows);
	q->windows = NULL;
}
