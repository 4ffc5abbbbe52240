// SPDX-License-Identifier: GPL-2.0-only
/*
 * A box over the lower left of the view, as tall as there are entries and room: the titles of a
 * table and its first rows stay in sight, so that the user sees what a choice does. A column for
 * the cursor, a mark or a tick, the name, a word on its state, and its help as far as it goes.
 */
#include "chooser.h"

#include "kontend/text.h"
#include "widget.h"
#include <stdio.h>
#include <string.h>

/* Between the borders: the cursor, the tick, and the blanks around the texts. */
enum { CURSOR_W = 1, MARK_W = 2, TICK_W = 4, GAP = 2, BORDERS = 2 };

enum { SHORT_H = 12 }; /* up to here it may take all lines */

void chooser_open(struct chooser *c, const char *title, bool ticks)
{
	*c = (struct chooser){.ticks = ticks};
	snprintf(c->title, sizeof(c->title), "%s", title);
}

struct chooser_entry *chooser_add(struct chooser *c, const char *name, const char *help)
{
	struct chooser_entry *e = &c->entries[c->n];

	if (c->n == CHOOSER_ENTRIES)
		return NULL;
	c->n++;
	snprintf(e->name, sizeof(e->name), "%s", name);
	snprintf(e->help, sizeof(e->help), "%s", help);
	return e;
}

static uint32_t lower(uint32_t ch)
{
	return ch >= 'A' && ch <= 'Z' ? ch + ('a' - 'A') : ch;
}

static int jump(struct chooser *c, uint32_t ch)
{
	for (size_t i = 1; i <= c->n; i++) {
		size_t at = (c->index + i) % c->n;
		uint32_t first;

		if (text_decode(c->entries[at].name, &first) == 0 || lower(first) != lower(ch))
			continue;
		c->index = at;
		return CHOOSER_MOVED;
	}
	return 0;
}

static int tick(struct chooser *c)
{
	struct chooser_entry *e = &c->entries[c->index];

	if (!c->ticks || !c->n || e->is_fixed)
		return 0;
	e->ticked = !e->ticked;
	e->turn = ++c->turns;
	return CHOOSER_TICKED;
}

static size_t page_of(const struct chooser *c)
{
	return c->box.h > BORDERS ? (size_t)(c->box.h - BORDERS) : 1;
}

static int click(struct chooser *c, const struct display_input *in)
{
	const struct command_arg at = {.x = in->x, .y = in->y};
	size_t row = c->top + (size_t)(in->y - c->box.y - 1);

	if (!widget_inside(c->box, &at))
		return CHOOSER_LEFT;
	if (in->y == c->box.y || in->y == c->box.y + c->box.h - 1 || row >= c->n)
		return 0;
	c->index = row;
	return c->ticks ? tick(c) : CHOOSER_TAKEN;
}

static int move(struct chooser *c, uint32_t key)
{
	static const struct {
		uint32_t key;
		enum command command;
	} moves[] = {{KEY_K_UP, CMD_UP},	   {KEY_K_DOWN, CMD_DOWN}, {KEY_K_WHEEL_UP, CMD_UP},
		     {KEY_K_WHEEL_DOWN, CMD_DOWN}, {KEY_K_PGUP, CMD_PGUP}, {KEY_K_PGDN, CMD_PGDN},
		     {KEY_K_HOME, CMD_TOP},	   {KEY_K_END, CMD_BOTTOM}};
	size_t before = c->index;

	for (size_t i = 0; i < sizeof(moves) / sizeof(*moves); i++)
		if (moves[i].key == key)
			widget_move(moves[i].command, c->n, page_of(c), &c->index);
	return c->index == before ? 0 : CHOOSER_MOVED;
}

int chooser_key(struct chooser *c, const struct display_input *in)
{
	switch (in->key) {
	case KEY_K_ESC:
		return CHOOSER_LEFT;
	case KEY_K_ENTER:
		return c->n ? CHOOSER_TAKEN : CHOOSER_LEFT;
	case ' ':
		return tick(c);
	case KEY_K_CLICK:
	case KEY_K_DCLICK:
		return click(c, in);
	default:
		return in->key < KEY_FIRST ? jump(c, in->key) : move(c, in->key);
	}
}

/* Columns that the texts of all entries take. */
struct widths {
	int mark, name, state, help;
};

static struct widths widths_of(const struct chooser *c)
{
	struct widths w = {.mark = c->ticks ? TICK_W : MARK_W};

	for (size_t i = 0; i < c->n; i++) {
		const struct chooser_entry *e = &c->entries[i];
		int name = text_width(e->name), state = text_width(e->state);
		int help = text_width(e->help);

		w.name = name > w.name ? name : w.name;
		w.state = state > w.state ? state : w.state;
		w.help = help > w.help ? help : w.help;
	}
	w.state += w.state ? GAP : 0;
	w.help += w.help ? GAP : 0;
	return w;
}

static struct rect place(const struct chooser *c, const struct widths *w, struct rect r)
{
	int title = text_width(c->title) + GAP + GAP;
	int width = CURSOR_W + w->mark + w->name + w->state + w->help + 1;
	int height = (int)c->n + BORDERS, most = r.h > SHORT_H ? r.h * 2 / 3 : r.h;

	width = (width > title ? width : title) + BORDERS;
	width = width < r.w ? width : r.w;
	height = height < most ? height : most;
	return (struct rect){r.x, r.y + r.h - height, width, height};
}

static void draw_border(const struct chooser *c, struct screen *s)
{
	const struct rect b = c->box;

	for (int y = 0; y < b.h; y++) {
		bool first = y == 0, last = y == b.h - 1;

		screen_put(s, b, 0, y, ROLE_DIM, first ? "┌" : last ? "└" : "│");
		screen_put(s, b, b.w - 1, y, ROLE_DIM, first ? "┐" : last ? "┘" : "│");
		for (int x = 1; (first || last) && x < b.w - 1; x++)
			screen_put(s, b, x, y, ROLE_DIM, "─");
	}
	screen_printf(s, (struct rect){b.x + 2, b.y, b.w - 3, 1}, 0, 0, ROLE_BOLD, " %s ",
		      c->title);
	if (c->n > page_of(c))
		screen_printf(s, (struct rect){b.x + 2, b.y + b.h - 1, b.w - 3, 1}, 0, 0, ROLE_DIM,
			      " %zu of %zu ", c->index + 1, c->n);
}

static void draw_entry(const struct chooser *c, size_t i, const struct widths *w, struct screen *s,
		       struct rect line)
{
	const struct chooser_entry *e = &c->entries[i];
	const char *tick = e->ticked ? "[x]" : "[ ]", *now = e->is_now ? "•" : " ";
	int x = CURSOR_W;

	screen_put(s, line, x, 0, ROLE_KEY, c->ticks ? tick : now);
	x += w->mark;
	screen_put(s, line, x, 0, e->is_now ? ROLE_BOLD : ROLE_NORMAL, e->name);
	x += w->name;
	if (*e->state)
		screen_put(s, line, x + GAP, 0, ROLE_WARN, e->state);
	x += w->state;
	screen_put(s, line, x + GAP, 0, ROLE_DIM, e->help);
	if (i != c->index)
		return;
	screen_put(s, line, 0, 0, ROLE_SELECTED, "›");
	screen_mark(s, line, 0, ROLE_SELECTED);
}

void chooser_draw(struct chooser *c, struct screen *s, struct rect r)
{
	struct widths w = widths_of(c);

	c->box = place(c, &w, r);
	c->top = widget_scroll(c->top, c->index, c->n, page_of(c));
	screen_fill(s, c->box, ' ', ROLE_NORMAL);
	draw_border(c, s);
	for (size_t i = 0; i < page_of(c) && c->top + i < c->n; i++)
		draw_entry(
			c, c->top + i, &w, s,
			(struct rect){c->box.x + 1, c->box.y + 1 + (int)i, c->box.w - BORDERS, 1});
}
