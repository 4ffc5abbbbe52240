// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ribbon on the screen: how many of its rows there are, and clicks on it.
 */
#include "priv.h"
#include "ribbon.h"

enum { TALL_H = 36 /* room for all rows */ };

static struct ribbon ribbon_of(const struct app *a)
{
	const struct app_time *t = &a->time;
	struct ribbon b = {.begin_ns = timeline_begin_ns(t->line),
			   .read_ns = timeline_end_ns(t->line),
			   .end_ns = timeline_whole_ns(t->line),
			   .now_ns = timeline_now_ns(t->line),
			   .from_ns = t->from_ns,
			   .to_ns = t->to_ns,
			   .a_ns = a->marks.ns[MARK_A],
			   .b_ns = a->marks.ns[MARK_B],
			   .incidents = a->query.incidents,
			   .of = t->figures ? t->figures->of : NULL};

	b.buckets = timeline_buckets(t->line, &b.n);
	return b;
}

int app_ribbon_rows(const struct app *a)
{
	const struct app_time *t = &a->time;

	if (!t->line)
		return 0;
	if (t->rows == APP_RIBBON_ONE || (t->rows == APP_RIBBON_FITS && a->screen.h < TALL_H))
		return 1;
	const struct ribbon b = ribbon_of(a);
	return ribbon_rows(&b);
}

void app_ribbon_toggle(struct app *a)
{
	const struct ribbon b = ribbon_of(a);

	if (ribbon_rows(&b) == 1)
		app_say(a, ROLE_DIM, "The ribbon has nothing but waits to show here");
	a->time.rows = app_ribbon_rows(a) > 1 ? APP_RIBBON_ONE : APP_RIBBON_ALL;
}

void app_ribbon_draw(struct app *a, struct rect r)
{
	struct ribbon b;

	a->time.ribbon = r;
	if (!a->time.line || r.h < 1)
		return;
	b = ribbon_of(a);
	ribbon_draw(&b, &a->screen, r);
}

bool app_ribbon_click(struct app *a, int x, int y)
{
	struct rect r = a->time.ribbon;
	struct ribbon b;
	uint64_t ns;

	if (!a->time.line || y < r.y || y >= r.y + r.h)
		return false;
	b = ribbon_of(a);
	if (ribbon_time_at(&b, r, x, &ns))
		app_time_go(a, ns);
	return true;
}
