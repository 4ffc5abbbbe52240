// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds what a click is for: the ribbon, the verdict, a view on the way here and the key bar know
 * where they are drawn. A key in brackets, as in "by caller [b]", is known by the text on the
 * screen: so all of them can be clicked, in whatever line a view says them. Anything else is the
 * view's.
 */
#include "kontend/text.h"
#include "priv.h"

enum { WHEEL_ROWS = 3, KEY_TEXT = 16 };

/* Hints are dim; what comes from outside and has brackets is not. */
static bool has(const struct screen *s, int x, int y, uint32_t ch)
{
	const struct display_cell *c = &s->cells[(size_t)y * (size_t)s->w + (size_t)x];

	return c->role == ROLE_DIM && (!ch || c->ch == ch);
}

/* The key between "[" and "]" around a place that may be one of these, or 0. */
static uint32_t key_in_brackets(const struct screen *s, int x, int y)
{
	char name[KEY_TEXT * 4 + 1];
	int from = x;
	size_t len = 0;

	if (x < 0 || x >= s->w || y < 0 || y >= s->h)
		return 0;
	while (from > 0 && x - from < KEY_TEXT && !has(s, from, y, '['))
		from--;
	if (!has(s, from, y, '['))
		return 0;
	while (++from < s->w && has(s, from, y, 0) && !has(s, from, y, ']')) {
		if (len + 4 >= sizeof(name))
			return 0;
		len += text_encode(name + len,
				   s->cells[(size_t)y * (size_t)s->w + (size_t)from].ch);
	}
	name[len] = '\0';
	return from >= x && from < s->w && has(s, from, y, ']') ? command_key_parse(name) : 0;
}

static bool click_key(struct app *a, int x, int y)
{
	struct command_arg arg;
	enum command c = command_of_key(app_mode(a), key_in_brackets(&a->screen, x, y), &arg);

	if (c)
		app_command(a, c, &arg);
	return c;
}

/* In the list or the page that the pointer is on; the keys stay where they are. */
static void turn_wheel(struct app *a, enum command c, const struct command_arg *arg)
{
	bool moved = app_side_point(a, arg->x, arg->y);

	for (int i = 0; i < WHEEL_ROWS; i++)
		app_command(a, c, arg);
	if (moved && !app_side_enter(a))
		app_side_leave(a);
}

void app_mouse(struct app *a, const struct display_input *in)
{
	struct command_arg arg = {.x = in->x, .y = in->y};
	enum command c = in->key == KEY_K_DCLICK ? CMD_DCLICK : CMD_CLICK;

	if (in->key == KEY_K_WHEEL_UP || in->key == KEY_K_WHEEL_DOWN) {
		turn_wheel(a, in->key == KEY_K_WHEEL_UP ? CMD_UP : CMD_DOWN, &arg);
		return;
	}
	app_side_point(a, in->x, in->y);
	if (app_ribbon_click(a, in->x, in->y) || app_sums_click(a, in->x, in->y) ||
	    crumbs_click(a, in->x, in->y) || click_key(a, in->x, in->y))
		return;
	if (in->y == a->screen.h - 1)
		c = keybar_at(&a->keybar, in->x, &arg);
	if (c)
		app_command(a, c, &arg);
}
