// SPDX-License-Identifier: GPL-2.0-only
/*
 * On a wide screen the page of the selected row is beside the list, and follows the cursor. It is
 * the page that Enter opens, since the view is asked to open it: meanwhile app_push() does not put
 * the page on the stack, but here. A page that is about the same as the one before stays as it is,
 * with what the user has folded in it. It has no filter of its own: it shows waits that pass that
 * of the list, as a page does that was opened from there.
 *
 * The keys are in the list or in the page. While the page has them it stays, even if its row goes.
 * When a page opens from it, it moves to the stack first, below that one; and so it does on Enter.
 */
#include "priv.h"
#include "widgets/layout.h"
#include "widgets/widget.h"

#include <stdio.h>
#include <string.h>

static bool is_same_scope(const struct query_scope *a, const struct query_scope *b)
{
	if (a->mask != b->mask)
		return false;
	for (unsigned i = 0; i < QUERY_SCOPES; i++)
		if (a->mask & 1u << i && a->id[i] != b->id[i])
			return false;
	return true;
}

static bool is_page(const struct view *v, const struct app_page *p)
{
	return v && v->ops == p->ops && v->row == p->row && is_same_scope(&v->scope, p->scope) &&
	       v->events.context == p->events.context && v->events.process == p->events.process &&
	       v->events.event == p->events.event;
}

void app_side_close(struct app *a)
{
	app_close_view(a->side.view);
	a->side.view = NULL;
	a->side.has_keys = false;
}

static bool has_page(struct app *a)
{
	const struct view *v = app_top(a)->view;

	return v->ops->page && (!v->ops->has_page || v->ops->has_page(v));
}

static bool is_wanted(struct app *a)
{
	return !a->n_stack && !a->side.is_off && has_page(a);
}

struct rect app_side_place(struct app *a, struct rect body)
{
	struct layout_side l = {.list = body};

	if (is_wanted(a))
		l = layout_side(body);
	if (!l.page.w || a->side.of != app_top(a)->view)
		app_side_close(a);
	a->side.of = app_top(a)->view;
	a->side.list = l.list;
	a->side.rect = l.page;
	for (int y = 0; y < l.rule.h; y++)
		screen_put(&a->screen, l.rule, 0, y, ROLE_DIM, y ? "│" : "┬");
	return l.list;
}

static int take_asked(struct app *a, const struct app_page *p)
{
	struct app_side *s = &a->side;

	s->came = true;
	if (is_page(s->view, p)) {
		app_title_view(s->view, p->title);
		return 0;
	}
	app_side_close(a);
	return app_open_page(a, p, s->of, &s->view);
}

static void move_to_stack(struct app *a)
{
	a->stack[a->n_stack++] = (struct app_entry){.view = a->side.view};
	a->side.view = NULL;
	a->side.has_keys = a->side.acts = false;
}

int app_side_take(struct app *a, const struct app_page *p)
{
	bool acts = a->side.acts;

	if (a->side.is_asked)
		return take_asked(a, p);
	if (!acts && !(a->side.view && !a->n_stack && is_page(a->side.view, p)))
		return 1;
	move_to_stack(a);
	return acts;
}

/* Any answer but a page is the reason why there is none. */
static void ask(struct app *a)
{
	struct app_side *s = &a->side;
	struct view *v = app_top(a)->view;

	s->came = false;
	s->why[0] = '\0';
	s->is_asked = true;
	int r = v->ops->page(v);
	s->is_asked = false;
	if (!s->came || r < 0)
		app_side_close(a);
	if (r < 0)
		snprintf(s->why, sizeof(s->why), "%s", strerror(-r));
}

/* "─ rwsem:W mmap_lock mm/5214 ──── [Tab] ─": the key that moves the keys to it, or away. */
static void draw_title(struct app *a, struct rect r)
{
	const struct app_side *s = &a->side;
	const char *key = s->has_keys ? " [Esc] " : " [Tab] ";
	int at = r.w - (int)strlen(key) - 1;
	const struct rect name = {r.x, r.y, s->view ? at : r.w, 1};

	widget_rule(&a->screen, r, 0, NULL);
	if (s->view)
		screen_put(&a->screen, r, at, 0, ROLE_DIM, key);
	widget_rule(&a->screen, name, 0, s->view ? s->view->title : "page of the row");
}

void app_side_draw(struct app *a)
{
	struct app_side *s = &a->side;
	struct rect r = s->rect;

	if (!r.w)
		return;
	if (!s->has_keys)
		ask(a);
	draw_title(a, r);
	r.y++;
	r.h--;
	if (!s->view) {
		view_draw_text(&a->screen, r, ROLE_DIM, *s->why ? s->why : "no row is selected");
		return;
	}
	s->is_drawn = true;
	a->screen.is_passive = !s->has_keys;
	s->view->ops->draw(s->view, &a->screen, r);
	a->screen.is_passive = false;
	s->is_drawn = false;
}

bool app_side_enter(struct app *a)
{
	if (!a->side.view || a->side.has_keys)
		return false;
	a->side.has_keys = true;
	return true;
}

bool app_side_leave(struct app *a)
{
	if (!a->side.has_keys)
		return false;
	a->side.has_keys = false;
	return true;
}

bool app_side_tab(struct app *a, bool forward)
{
	if (forward && app_side_enter(a))
		return true;
	return app_side_leave(a) && !forward;
}

bool app_side_point(struct app *a, int x, int y)
{
	const struct command_arg at = {.x = x, .y = y};

	if (widget_inside(a->side.rect, &at))
		return app_side_enter(a);
	return widget_inside(a->side.list, &at) && app_side_leave(a);
}

void app_side_turn(struct app *a)
{
	a->side.is_off = !a->side.is_off;
	if (a->side.is_off)
		app_say(a, ROLE_NORMAL, "no page beside the list; :side shows it again");
	else if (a->screen.w < LAYOUT_SIDE_W)
		app_say(a, ROLE_NORMAL, "the page of a row is beside the list from %d columns on",
			LAYOUT_SIDE_W);
	else if (!has_page(a))
		app_say(a, ROLE_NORMAL, "rows of this view have no page");
}
