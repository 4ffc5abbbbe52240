// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bottom line, in which the user types filters, searches and commands. Editing works on whole
 * UTF-8 characters in a fixed buffer. Up and Down walk through the history of that kind of prompt.
 *
 * Tab cycles through the completions of the text before the first Tab: names of commands for the
 * first word, then values of the argument where there is a fixed list (themes, groupings, views).
 * The lists are the tables that execute the line, so completions and commands cannot disagree.
 */
#include "prompt.h"

#include "kontend/command.h"
#include "kontend/query-blame.h"
#include "kontend/query.h"
#include "kontend/text.h"
#include "kontend/view.h"
#include "views/annotate.h"
#include "widgets/theme.h"
#include <stdio.h>
#include <string.h>

/* Values of an argument by index, from the table that its command uses; NULL after the last. */
static const char *by_value(size_t i)
{
	return i < QUERY_BYS ? query_by_name((enum query_by)i) : NULL;
}

static const char *view_value(size_t i)
{
	return view_roots[i] ? view_roots[i]->name : NULL;
}

static const char *set_value(size_t i)
{
	return i < BLAME_SETS ? query_blame_set_name((enum blame_set)i) : NULL;
}

static const char *delay_value(size_t i)
{
	static const char *const values[] = {"100ms", "500ms", "1s", "2s", "5s", "10s", "60s"};

	return i < sizeof(values) / sizeof(values[0]) ? values[i] : NULL;
}

static const char *unit_value(size_t i)
{
	return annotate_unit_name(i < ANNOTATE_UNITS ? (enum annotate_unit)i : ANNOTATE_UNITS);
}

typedef const char *values_fn(size_t i);

static values_fn *values_of(enum command c)
{
	switch (c) {
	case CMD_BY:
		return by_value;
	case CMD_VIEW:
		return view_value;
	case CMD_SET:
		return set_value;
	case CMD_THEME:
		return theme_name;
	case CMD_DELAY:
		return delay_value;
	case CMD_UNIT:
		return unit_value;
	default:
		return NULL;
	}
}

/* Finds commands whose name begins with the first word of @line. Returns how many, at most @max. */
static size_t prompt_matches(enum command_mode mode, const char *line,
			     const struct command_info **ret, size_t max)
{
	size_t n = 0, len;

	line += strspn(line, " ");
	len = strcspn(line, " ");
	for (const struct command_info *i = command_table; i->command && n < max; i++) {
		bool whole = line[len] == ' ';

		if (command_in(i, mode) && !strncmp(i->name, line, len) &&
		    (!whole || i->name[len] == '\0'))
			ret[n++] = i;
	}
	return n;
}

static bool complete_value(enum command_mode mode, const char *line, const char *value, size_t nth,
			   char *out, size_t size)
{
	struct command_arg arg;
	values_fn *values = values_of(command_parse(mode, line, &arg));
	size_t len = strlen(value);

	for (size_t i = 0; values && values(i); i++) {
		if (strncmp(values(i), value, len) != 0 || nth-- > 0)
			continue;
		snprintf(out, size, "%.*s%s", (int)(value - line), line, values(i));
		return true;
	}
	return false;
}

/* Writes the @nth completion of a palette line into @out. Returns false after the last one. */
static bool prompt_complete(enum command_mode mode, const char *line, size_t nth, char *out,
			    size_t size)
{
	const struct command_info *found[COMMANDS];
	const char *name = line + strspn(line, " ");
	const char *end = name + strcspn(name, " ");
	size_t n;

	if (*end)
		return complete_value(mode, line, end + strspn(end, " "), nth, out, size);
	n = prompt_matches(mode, line, found, COMMANDS);
	if (nth >= n)
		return false;
	snprintf(out, size, "%s%s", found[nth]->name, found[nth]->arg ? " " : "");
	return true;
}

static const char *const labels[PROMPT_KINDS] = {
	[PROMPT_NONE] = "",	[PROMPT_FILTER] = "filter: ", [PROMPT_SEARCH] = "search: ",
	[PROMPT_PALETTE] = ":", [PROMPT_GO] = "go to: ",      [PROMPT_CUT] = "write the range to: ",
};

static void set_text(struct prompt *p, const char *text)
{
	snprintf(p->text, sizeof(p->text), "%s", text);
	p->len = strlen(p->text);
	p->cursor = p->len;
}

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text)
{
	p->kind = kind;
	p->at = -1;
	p->cycle = 0;
	set_text(p, text);
}

static void remember(struct prompt *p)
{
	struct prompt_history *h = &p->history[p->kind];
	size_t keep = h->n < PROMPT_HISTORY ? h->n : PROMPT_HISTORY - 1;

	if (!p->len || (h->n && !strcmp(h->lines[0], p->text)))
		return;
	memmove(h->lines[1], h->lines[0], keep * sizeof(h->lines[0]));
	memcpy(h->lines[0], p->text, sizeof(p->text));
	h->n = keep + 1;
}

static int browse(struct prompt *p, int step)
{
	const struct prompt_history *h = &p->history[p->kind];
	int at = p->at + step;

	if (at < -1 || at >= (int)h->n)
		return 0;
	if (p->at == -1)
		memcpy(p->saved, p->text, sizeof(p->text));
	p->at = at;
	set_text(p, at == -1 ? p->saved : h->lines[at]);
	return PROMPT_EDITED;
}

static size_t char_before(const struct prompt *p)
{
	size_t at = p->cursor;

	while (at > 0 && ((unsigned char)p->text[--at] & 0xc0) == 0x80)
		continue;
	return at;
}

static size_t char_after(const struct prompt *p)
{
	uint32_t ch;

	return p->cursor + text_decode(p->text + p->cursor, &ch);
}

static int erase(struct prompt *p, size_t from, size_t to)
{
	if (from == to)
		return 0;
	memmove(p->text + from, p->text + to, p->len - to + 1);
	p->len -= to - from;
	p->cursor = from;
	return PROMPT_EDITED;
}

static int insert(struct prompt *p, uint32_t ch)
{
	char utf8[4];
	size_t n;

	if (ch < ' ' || ch == 0x7f || ch >= KEY_FIRST)
		return 0;
	n = text_encode(utf8, ch);
	if (p->len + n >= sizeof(p->text))
		return 0;
	memmove(p->text + p->cursor + n, p->text + p->cursor, p->len - p->cursor + 1);
	memcpy(p->text + p->cursor, utf8, n);
	p->len += n;
	p->cursor += n;
	return PROMPT_EDITED;
}

static int complete(struct prompt *p)
{
	char next[PROMPT_TEXT];

	if (p->kind != PROMPT_PALETTE)
		return 0;
	if (p->cycle == 0)
		memcpy(p->completed, p->text, sizeof(p->text));
	if (!prompt_complete(p->mode, p->completed, p->cycle, next, sizeof(next))) {
		p->cycle = 0;
		if (!prompt_complete(p->mode, p->completed, 0, next, sizeof(next)))
			return 0;
	}
	p->cycle++;
	set_text(p, next);
	return PROMPT_EDITED;
}

static size_t word_before(const struct prompt *p)
{
	size_t at = p->cursor;

	while (at > 0 && p->text[at - 1] == ' ')
		at--;
	while (at > 0 && p->text[at - 1] != ' ')
		at--;
	return at;
}

static int edit(struct prompt *p, uint32_t key)
{
	switch (key) {
	case KEY_K_BACKSPACE:
		return p->len ? erase(p, char_before(p), p->cursor) : PROMPT_CANCEL;
	case KEY_K_DEL:
		return erase(p, p->cursor, char_after(p));
	case KEY_K_CTRL | 'u':
		return erase(p, 0, p->cursor);
	case KEY_K_CTRL | 'w':
		return erase(p, word_before(p), p->cursor);
	case KEY_K_LEFT:
		p->cursor = char_before(p);
		return 0;
	case KEY_K_RIGHT:
		p->cursor = char_after(p);
		return 0;
	case KEY_K_HOME:
	case KEY_K_CTRL | 'a':
		p->cursor = 0;
		return 0;
	case KEY_K_END:
	case KEY_K_CTRL | 'e':
		p->cursor = p->len;
		return 0;
	default:
		return insert(p, key);
	}
}

int prompt_key(struct prompt *p, uint32_t key)
{
	if (key == KEY_K_TAB)
		return complete(p);
	p->cycle = 0;
	switch (key) {
	case KEY_K_ENTER:
		remember(p);
		return PROMPT_DONE;
	case KEY_K_ESC:
		return PROMPT_CANCEL;
	case KEY_K_UP:
		return browse(p, 1);
	case KEY_K_DOWN:
		return browse(p, -1);
	default:
		return edit(p, key);
	}
}

/* Lines above the palette: what can be meant, with help. */
static void draw_matches(const struct prompt *p, struct screen *s, struct rect r)
{
	const char *typed = p->cycle ? p->completed : p->text;
	const struct command_info *found[8];
	size_t n = prompt_matches(p->mode, typed, found, sizeof(found) / sizeof(found[0]));

	for (size_t i = 0; i < n; i++) {
		struct rect line = {r.x, r.y - (int)(n - i), r.w, 1};

		if (line.y < 1)
			continue;
		screen_fill(s, line, ' ', ROLE_NORMAL);
		screen_put(s, line, 0, 0, ROLE_DIM, "│");
		screen_printf(s, line, 2, 0, ROLE_BOLD, "%s %s", found[i]->name,
			      found[i]->arg ? found[i]->arg : "");
		screen_put(s, line, 24, 0, ROLE_DIM, found[i]->help);
	}
}

void prompt_draw(const struct prompt *p, struct screen *s, struct rect r)
{
	const char *label = labels[p->kind];
	char before[PROMPT_TEXT];
	int cursor_x, shift;

	if (p->kind == PROMPT_PALETTE)
		draw_matches(p, s, r);
	snprintf(before, sizeof(before), "%.*s", (int)p->cursor, p->text);
	cursor_x = text_width(label) + text_width(before);
	/* The cursor stays visible in a line longer than the screen. */
	shift = cursor_x > r.w - 1 ? cursor_x - (r.w - 1) : 0;
	screen_fill(s, r, ' ', ROLE_NORMAL);
	screen_put(s, r, text_width(label) - shift, 0, ROLE_NORMAL, p->text);
	screen_fill(s, (struct rect){r.x, r.y, text_width(label), r.h}, ' ', ROLE_KEY);
	screen_put(s, r, 0, 0, ROLE_KEY, label);
	screen_reverse(s, r, cursor_x - shift, 0);
}
