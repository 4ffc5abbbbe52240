// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last line: views by digit, then the commands that have a text for the bar, each with its
 * first key. Items that do not fit are left out; where each one was drawn is kept, so that it can
 * be clicked.
 */
#include "kontend/text.h"
#include "priv.h"

enum { VIEWS_NAMED = 3 };

static int item_width(const char *key, const char *text)
{
	int width = text_width(text);

	return text_width(key) + 1 + (width ? width + 1 : 0);
}

static int draw_item(struct app *a, struct rect r, int x, const char *key, const char *text,
		     const struct keybar_hit *hit, enum role role)
{
	int w = item_width(key, text);

	if (x + w > r.w || a->keybar.n == APP_HITS)
		return x;
	a->keybar.hits[a->keybar.n] = *hit;
	a->keybar.hits[a->keybar.n].x = x;
	a->keybar.hits[a->keybar.n++].w = w;
	screen_fill(&a->screen, (struct rect){r.x + x, r.y, w, 1}, ' ', ROLE_BAR);
	screen_put(&a->screen, r, x, 0, ROLE_KEY, key);
	screen_put(&a->screen, r, x + text_width(key) + 1, 0, role, text);
	return x + w;
}

/* Views without a digit are there only while one is in them. */
static bool is_in_bar(const struct app *a, size_t root)
{
	return a->roots[root].view->ops->digit || root == a->root;
}

static int draw_views(struct app *a, struct rect r, size_t named)
{
	int x = 0;

	for (size_t i = 0; i < a->n_roots; i++) {
		const struct view_ops *ops = a->roots[i].view->ops;
		const struct keybar_hit hit = {.command = CMD_VIEW, .n = ops->digit - '0'};
		char digit[2] = {ops->digit, '\0'};
		bool whole = i < named || i == a->root;

		if (!is_in_bar(a, i))
			continue;

		x = draw_item(a, r, x, digit, whole ? ops->name : "", &hit,
			      i == a->root ? ROLE_SELECTED : ROLE_BAR);
	}
	return x;
}

/* Is it about time, in a recording or while the session is paused? Then that comes first. */
static bool is_about_time(const struct app *a)
{
	return a->time.is_replay || (a->history && a->paused);
}

/* So it is in a function's instructions, with the keys that are there alone. */
static bool is_special(const struct app *a)
{
	return is_about_time(a) || app_mode(a) & COMMAND_CODE;
}

static bool in_past_only(const struct command_info *c)
{
	return c->modes & COMMAND_TIMES && !(c->modes & COMMAND_LIVE);
}

static bool comes_first(const struct app *a, const struct command_info *c)
{
	bool goes_on = c->command == CMD_PAUSE;

	if (app_mode(a) & COMMAND_CODE)
		return c->modes & COMMAND_CODE || c->command == CMD_HELP;
	return is_about_time(a) && (goes_on || in_past_only(c));
}

static bool is_shown(const struct app *a, const struct command_info *c)
{
	return c->bar && command_in(c, app_mode(a)) && (is_about_time(a) || !in_past_only(c));
}

/* Columns that all items take when views after the first @named are shown by their digit alone. */
static int total_width(const struct app *a, size_t named)
{
	char key[16];
	int width = 0;

	for (size_t i = 0; i < a->n_roots; i++) {
		bool whole = i < named || i == a->root;

		if (!is_in_bar(a, i))
			continue;
		width += whole ? item_width("1", a->roots[i].view->ops->name) : 2;
	}
	for (const struct command_info *c = command_table; c->command; c++)
		if (is_shown(a, c))
			width += item_width(command_key_name(c->keys[0], key), c->bar);
	return width;
}

static int draw_commands(struct app *a, struct rect r, int x, bool first)
{
	char key[16];

	for (const struct command_info *c = command_table; c->command; c++) {
		const struct keybar_hit hit = {.command = c->command};
		bool goes_on = c->command == CMD_PAUSE && comes_first(a, c);

		if (is_shown(a, c) && comes_first(a, c) == first)
			x = draw_item(a, r, x, command_key_name(c->keys[0], key),
				      goes_on ? "go on" : c->bar, &hit, ROLE_BAR);
	}
	return x;
}

void keybar_draw(struct app *a, struct rect r)
{
	size_t named = a->n_roots;
	int x;

	/* What keys do is said before the last views are named. */
	while (named > (is_special(a) ? 0 : VIEWS_NAMED) && total_width(a, named) > r.w)
		named--;
	screen_fill(&a->screen, r, ' ', ROLE_BAR);
	x = draw_commands(a, r, draw_views(a, r, named), true);
	draw_commands(a, r, x, false);
}

enum command keybar_at(const struct keybar *k, int x, struct command_arg *ret_arg)
{
	for (size_t i = 0; i < k->n; i++) {
		if (x < k->hits[i].x || x >= k->hits[i].x + k->hits[i].w)
			continue;
		*ret_arg = (struct command_arg){.n = k->hits[i].n};
		return k->hits[i].command;
	}
	return CMD_NONE;
}
