// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last line: all views, then the keys of the view that is shown, then those that are there
 * everywhere, each with what it does. Where there is no room views have short names, and where that
 * is too much, too, the later ones only digits: in a recording help and the keys that move in time
 * come before names, in code its own keys, and names before all others. Where each item was drawn
 * is kept, so that it can be clicked.
 */
#include "kontend/text.h"
#include "priv.h"

/* How the views are named: in full, or the first of them by short names, and the one shown. */
struct naming {
	bool full, letters; /* letters: with the views that have one in place of a digit */
	size_t named;
};

static int item_width(const char *key, const char *text)
{
	int width = text_width(text);

	return text_width(key) + 1 + (width ? width + 1 : 0);
}

static bool has_digit(const struct view_ops *ops)
{
	return ops->digit >= '0' && ops->digit <= '9';
}

/* A short name goes with its digit: "2lock". */
static bool has_gap(struct naming naming, const struct view_ops *ops)
{
	return naming.full || !has_digit(ops);
}

static int view_width(struct naming naming, const struct view_ops *ops, const char *text)
{
	return item_width("1", text) - (!has_gap(naming, ops) && *text);
}

/* @gap: between the key and what it does. */
static int draw_item(struct app *a, struct rect r, int x, const char *key, const char *text,
		     int gap, const struct keybar_hit *hit, enum role role)
{
	int w = item_width(key, text) - (*text && !gap);

	if (x + w > r.w || a->keybar.n == APP_HITS)
		return x;
	a->keybar.hits[a->keybar.n] = *hit;
	a->keybar.hits[a->keybar.n].x = x;
	a->keybar.hits[a->keybar.n++].w = w;
	screen_fill(&a->screen, (struct rect){r.x + x, r.y, w, 1}, ' ', ROLE_BAR);
	screen_put(&a->screen, r, x, 0, ROLE_KEY, key);
	screen_put(&a->screen, r, x + text_width(key) + gap, 0, role, text);
	return x + w;
}

/* Views without a key are there only while one is in them, those with a letter if there is room. */
static bool is_in_bar(const struct app *a, size_t root, struct naming naming)
{
	const struct view_ops *ops = a->roots[root].view->ops;

	return has_digit(ops) || root == a->root || (ops->digit && naming.letters);
}

static const char *view_text(const struct app *a, size_t root, struct naming naming)
{
	const struct view_ops *ops = a->roots[root].view->ops;

	if (naming.full || !ops->brief)
		return ops->name;
	return root < naming.named || root == a->root ? ops->brief : "";
}

static int draw_views(struct app *a, struct rect r, struct naming naming)
{
	int x = 0;

	for (size_t i = 0; i < a->n_roots; i++) {
		const struct view_ops *ops = a->roots[i].view->ops;
		const struct keybar_hit hit = {.command = CMD_VIEW, .n = ops->digit};
		char digit[2] = {ops->digit, '\0'};

		if (is_in_bar(a, i, naming))
			x = draw_item(a, r, x, digit, view_text(a, i, naming), has_gap(naming, ops),
				      &hit, i == a->root ? ROLE_SELECTED : ROLE_BAR);
	}
	return x;
}

/* Is it about time, in a recording or while the session is paused? Then that comes first. */
static bool is_about_time(const struct app *a)
{
	return a->time.is_replay || (a->history && a->paused);
}

static bool in_past_only(const struct command_info *c)
{
	return c->modes & COMMAND_TIMES && !(c->modes & COMMAND_LIVE);
}

/* The view's own text for that command; NULL: none. */
static const char *of_view(const struct app *a, enum command c)
{
	const struct view *v = app_keys(a);

	for (const struct view_key *k = v->ops->keys; k && k->command; k++)
		if (k->command == c)
			return k->text;
	return NULL;
}

/* From what is wanted most: help, what moves in time, the view's own, more about time, the rest. */
enum rank { HELP, TIME, OWN, MORE, REST, RANKS, NEVER };

static bool moves_in_time(enum command c)
{
	return c == CMD_PAUSE || c == CMD_PLAY || c == CMD_STEP || c == CMD_JUMP;
}

static enum rank rank_of(const struct app *a, const struct command_info *c)
{
	if (!command_in(c, app_mode(a)) || (in_past_only(c) && !is_about_time(a)))
		return NEVER;
	if (c->command == CMD_HELP)
		return HELP;
	if (is_about_time(a) && c->bar && (in_past_only(c) || c->command == CMD_PAUSE))
		return moves_in_time(c->command) ? TIME : MORE;
	if (of_view(a, c->command) || (c->bar && c->modes & COMMAND_CODE))
		return OWN;
	return c->bar ? REST : NEVER;
}

/* The effect of the key here and now. */
static const char *text_of(const struct app *a, const struct command_info *c)
{
	const char *own = of_view(a, c->command);

	if (c->command == CMD_PAUSE && a->paused)
		return "go on";
	if (c->command == CMD_PLAY && a->time.playing)
		return "pause";
	return own ? own : c->bar;
}

/* The keys that a view has, in its own order; NULL: the end. */
static const struct command_info *next_own(const struct app *a, const struct view_key **at)
{
	for (; *at && (*at)->command; (*at)++)
		for (const struct command_info *c = command_table; c->command; c++)
			if (c->command == (*at)->command && c->keys[0] && rank_of(a, c) == OWN) {
				(*at)++;
				return c;
			}
	return NULL;
}

static int draw_command(struct app *a, struct rect r, int x, const struct command_info *c)
{
	const struct keybar_hit hit = {.command = c->command};
	char key[16];

	return draw_item(a, r, x, command_key_name(c->keys[0], key), text_of(a, c), 1, &hit,
			 ROLE_BAR);
}

static int draw_commands(struct app *a, struct rect r, int x, enum rank rank)
{
	const struct view_key *keys = app_keys(a)->ops->keys;
	const struct command_info *c;

	while (rank == OWN && (c = next_own(a, &keys)))
		x = draw_command(a, r, x, c);
	if (rank == OWN && app_keys(a)->ops->keys)
		return x;
	for (c = command_table; c->command; c++)
		if (rank_of(a, c) == rank)
			x = draw_command(a, r, x, c);
	return x;
}

static int width_of_views(const struct app *a, struct naming naming)
{
	int width = 0;

	for (size_t i = 0; i < a->n_roots; i++)
		if (is_in_bar(a, i, naming))
			width += view_width(naming, a->roots[i].view->ops, view_text(a, i, naming));
	return width;
}

/* Columns that all keys up to that rank take. */
static int width_of_keys(const struct app *a, enum rank most)
{
	char key[16];
	int width = 0;

	for (const struct command_info *c = command_table; c->command; c++)
		if (rank_of(a, c) <= most)
			width += item_width(command_key_name(c->keys[0], key), text_of(a, c));
	return width;
}

static struct naming naming_of(const struct app *a, int w)
{
	bool is_code = app_mode(a) & COMMAND_CODE, special = is_code || is_about_time(a);
	struct naming naming = {.full = true, .letters = true};
	int keys = width_of_keys(a, is_code ? OWN : special ? TIME : HELP);

	/* All keys come before views that have a letter. */
	if (width_of_views(a, naming) + width_of_keys(a, REST) <= w)
		return naming;
	naming.letters = false;
	if (width_of_views(a, naming) + width_of_keys(a, special ? REST : OWN) <= w)
		return naming;
	naming = (struct naming){.named = a->n_roots};
	while (naming.named && width_of_views(a, naming) + keys > w)
		naming.named = special ? naming.named - 1 : 0;
	return naming;
}

void keybar_draw(struct app *a, struct rect r)
{
	screen_fill(&a->screen, r, ' ', ROLE_BAR);
	int x = draw_views(a, r, naming_of(a, r.w));
	for (unsigned rank = HELP; rank < RANKS; rank++)
		x = draw_commands(a, r, x, (enum rank)rank);
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
