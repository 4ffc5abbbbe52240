// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where one is: the views that one came through to the one that is shown, and what their filters
 * leave. The last parts are the ones to be read, so those before give way where there is no room.
 */
#include "kontend/text.h"
#include "priv.h"

static const char *crumb(const struct app *a, size_t i)
{
	return i ? a->stack[i - 1].view->title : a->roots[a->root].view->title;
}

/* Marks are compared, but not by this view. */
static bool is_left_out(struct app *a)
{
	const struct view_ops *ops = app_top(a)->view->ops;

	return app_compare_on(a) && !ops->compares && ops != &view_help;
}

bool crumbs_any(struct app *a)
{
	return a->n_stack > 0 || is_left_out(a) || heat_part_any(&a->part);
}

static int draw_part(struct app *a, struct rect r, int x)
{
	const enum app_part_use use = app_part_use(app_top(a)->view);
	char text[APP_PART_TEXT];

	if (use == PART_NOT)
		return screen_put(&a->screen, r, x, 0, ROLE_WARN,
				  "  of all waits: the selected ones are in locks (2)");
	if (use == PART_NO_WAITS)
		return screen_put(&a->screen, r, x, 0, ROLE_WARN,
				  "  not of waits: the selected ones are in locks (2)");
	x = screen_put(&a->screen, r, x, 0, ROLE_DIM,
		       use == PART_OF_WAITS ? "  waits only " : "  only ");
	return screen_put(&a->screen, r, x, 0, ROLE_MATCH, app_part_text(a, text));
}

void crumbs_draw(struct app *a, struct rect r)
{
	size_t first = a->n_stack;
	int x = 0, w = text_width(crumb(a, first));

	while (first > 0 && w + text_width(crumb(a, first - 1)) + 3 <= r.w - (first > 1 ? 4 : 0))
		w += text_width(crumb(a, --first)) + 3;
	a->crumbs = (struct crumbs){.y = r.y};
	if (first > 0) {
		a->crumbs.of[first - 1].end = r.x + 1;
		x = screen_put(&a->screen, r, x, 0, ROLE_DIM, "… › ");
	}
	for (size_t i = first; i <= a->n_stack; i++) {
		a->crumbs.of[i].x = r.x + x;
		x = screen_put(&a->screen, r, x, 0, i == a->n_stack ? ROLE_BOLD : ROLE_DIM,
			       crumb(a, i));
		a->crumbs.of[i].end = r.x + x;
		if (i < a->n_stack)
			x = screen_put(&a->screen, r, x, 0, ROLE_DIM, " › ");
	}
	if (*a->above)
		x = screen_put(&a->screen, r, screen_put(&a->screen, r, x, 0, ROLE_DIM, "  only "),
			       0, ROLE_MATCH, a->above);
	if (heat_part_any(&a->part) && app_top(a)->view->ops != &view_heat)
		x = draw_part(a, r, x);
	if (is_left_out(a))
		screen_put(&a->screen, r, x, 0, ROLE_WARN,
			   "  of one moment: B minus A is in locks (2)");
}

bool crumbs_click(struct app *a, int x, int y)
{
	const struct crumbs *c = &a->crumbs;
	size_t to = 0;

	while (to < a->n_stack && (x < c->of[to].x || x >= c->of[to].end))
		to++;
	if (y != c->y || to == a->n_stack)
		return false;
	while (a->n_stack > to)
		app_pop(a);
	return true;
}
