// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue of a lock on its page: how long it was in each bucket, readers and writers apart on one
 * scale, below that when the lock was handed over, and what became of those who waited.
 */
#include "detail.h"
#include "kontend/screen.h"
#include "kontend/units.h"

enum { FIRST_X = 10, MOST_CELLS = 40, ROOM_H = 20, LABELS_W = 30 };

int detail_queue_lines(const struct detail_page *p, struct rect r)
{
	return p->queue.n && r.h >= ROOM_H ? DETAIL_QUEUE_H : 0;
}

static int cells(const struct query_queued_lock *q, int width)
{
	int room = q->has_modes ? (width - LABELS_W) / 2 : width - LABELS_W;

	room = room < MOST_CELLS ? room : MOST_CELLS;
	return room < (int)q->n ? room : (int)q->n;
}

static uint64_t scale(const struct query_queued_lock *q)
{
	uint64_t r = widget_series_max(q->readers, q->n), w = widget_series_max(q->writers, q->n);

	return r > w ? r : w;
}

static void draw_lengths(const struct query_queued_lock *q, struct screen *s, struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1};
	int w = cells(q, r.w);

	line_put(&l, ROLE_DIM, "queue");
	l.x = FIRST_X;
	if (q->has_modes) {
		screen_put(s, r, FIRST_X - 2, 0, ROLE_DIM, "R");
		widget_sparkline(s, r, l.x, 0, w, q->readers, q->n, scale(q));
		l.x += w;
		line_put(&l, ROLE_DIM, "  W ");
	}
	widget_sparkline(s, r, l.x, 0, w, q->writers, q->n, scale(q));
	l.x += w;
	line_printf(&l, ROLE_BOLD, "  %u", q->longest);
	line_put(&l, ROLE_DIM, " at most");
}

/* The newest at the right, as above. */
static void draw_marks(const struct query_queued_lock *q, struct screen *s, struct rect r)
{
	int w = cells(q, r.w);

	screen_put(s, r, 1, 1, ROLE_DIM, "handed");
	for (int i = 0; i < w; i++) {
		bool any = q->handed[q->n - (uint32_t)w + (uint32_t)i];
		screen_put(s, r, FIRST_X + i, 1, any ? ROLE_GRAPH : ROLE_DIM, any ? "|" : "·");
	}
}

static void draw_sums(const struct query_queued_lock *q, struct screen *s, struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1, .y = 2};
	char a[UNITS_BUF], b[UNITS_BUF];

	line_printf(&l, ROLE_DIM, "handed over ");
	line_put(&l, ROLE_BOLD, units_count(a, q->handed_n));
	line_put(&l, ROLE_DIM, q->handed_n == 1 ? " time" : " times");
	if (q->times_n)
		line_whole(&l, ROLE_DIM, ": P50 %s, P99 %s", units_ns(a, q->p50_ns),
			   units_ns(b, q->p99_ns));
	if (q->passed)
		line_whole(&l, ROLE_NORMAL, "  passed over %s (worst %s)",
			   units_count(a, q->passed), units_count(b, q->passed_most));
	else
		line_whole(&l, ROLE_DIM, "  no waiter overtook another");
	if (q->stolen)
		line_whole(&l, ROLE_NORMAL, "  stolen ≥%s", units_count(a, q->stolen));
	if (q->convoy_now_ns)
		line_whole(&l, ROLE_WAITING, "  convoy %s", units_ns(a, q->convoy_now_ns));
	else if (q->convoys)
		line_whole(&l, ROLE_DIM, "  convoy %s", units_ns(a, q->convoy_longest_ns));
	if (q->starved)
		line_whole(&l, ROLE_DIM, "  starved %s", units_count(a, q->starved));
}

void detail_draw_queue(const struct detail_page *p, struct screen *s)
{
	if (p->r_queue.h < DETAIL_QUEUE_H)
		return;
	draw_lengths(&p->queue, s, p->r_queue);
	draw_marks(&p->queue, s, p->r_queue);
	draw_sums(&p->queue, s, p->r_queue);
}
