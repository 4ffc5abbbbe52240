// SPDX-License-Identifier: GPL-2.0-only
/*
 * The grid of cells that the views draw a frame into. A cell is one character with a role; the
 * display chooses colours. A wide character takes two cells, the right one with ch 0: a write to
 * one half blanks the other, so a display never gets half a character. Each write is clipped to a
 * rectangle and to the grid, and cleaned of control characters. ASCII mode replaces characters by
 * the ASCII character that looks most like them, so views write the same text for every terminal.
 *
 * `struct line` is a pen: it writes word after word into one line, each in its role, and stops at
 * the end of the line. So views can build a line from optional parts.
 */
#include "kontend/screen.h"

#include "kontend/bisect.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include "kontend/textbuf.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * The characters that views draw with, sorted by code point. The eight levels of a sparkline keep
 * eight different characters, since they carry data; the eighths of a bar's last cell are rounded
 * to one half.
 */
static const struct {
	uint64_t ch;
	char ascii;
} ascii_table[] = {
	{0x00b1, '+'},	{0x00b5, 'u'},	{0x00b7, '.'}, {0x00d7, 'x'}, {0x2013, '-'}, {0x2014, '-'},
	{0x2018, '\''}, {0x2019, '\''}, {0x201c, '"'}, {0x201d, '"'}, {0x2022, '*'}, {0x2026, '~'},
	{0x2039, '<'},	{0x203a, '>'},	{0x2190, '<'}, {0x2191, '^'}, {0x2192, '>'}, {0x2193, 'v'},
	{0x2264, '<'},	{0x2265, '>'},	{0x2500, '-'}, {0x2502, '|'}, {0x250c, '+'}, {0x2510, '+'},
	{0x2514, '`'},	{0x2518, '+'},	{0x251c, '|'}, {0x2524, '|'}, {0x252c, '+'}, {0x2534, '+'},
	{0x253c, '+'},	{0x2581, '_'},	{0x2582, '.'}, {0x2583, '-'}, {0x2584, '='}, {0x2585, '+'},
	{0x2586, '*'},	{0x2587, '%'},	{0x2588, '#'}, {0x2589, '#'}, {0x258a, '#'}, {0x258b, '#'},
	{0x258c, '#'},	{0x258d, '|'},	{0x258e, '|'}, {0x258f, '|'}, {0x2590, '#'}, {0x2591, ':'},
	{0x2592, ':'},	{0x2593, '#'},	{0x25a0, '#'}, {0x25a1, '.'}, {0x25b2, '^'}, {0x25b4, '^'},
	{0x25b6, '>'},	{0x25b8, '+'},	{0x25bc, 'v'}, {0x25be, '-'}, {0x25c0, '<'}, {0x25cf, '*'},
};

/* The ASCII character that looks most like @ch: @ch itself below 0x80, '?' if there is none. */
static uint32_t screen_ascii(uint32_t ch)
{
	size_t n = BISECT(ascii_table, sizeof(ascii_table) / sizeof(ascii_table[0]), ch, ch);

	if (ch < 0x80)
		return ch;
	return n && ascii_table[n - 1].ch == ch ? (uint32_t)ascii_table[n - 1].ascii : '?';
}

enum { LINE_BYTES = 2048 };

int screen_resize(struct screen *s, int w, int h)
{
	if (w < 1)
		w = 1;
	if (h < 1)
		h = 1;
	if (!s->cells || w != s->w || h != s->h) {
		struct display_cell *cells = mem_calloc((size_t)w * (size_t)h, sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		mem_free(s->cells);
		s->cells = cells;
		s->w = w;
		s->h = h;
	}
	screen_clear(s);
	return 0;
}

void screen_clear(struct screen *s)
{
	const struct display_cell blank = {.ch = ' ', .role = ROLE_NORMAL};

	for (int i = 0; i < s->w * s->h; i++)
		s->cells[i] = blank;
}

void screen_deinit(struct screen *s)
{
	mem_free(s->cells);
	*s = (struct screen){0};
}

/* @r cut to the grid; an empty one has w or h 0. */
static struct rect clip(const struct screen *s, struct rect r)
{
	int x1 = r.x + r.w < s->w ? r.x + r.w : s->w;
	int y1 = r.y + r.h < s->h ? r.y + r.h : s->h;

	r.x = r.x > 0 ? r.x : 0;
	r.y = r.y > 0 ? r.y : 0;
	r.w = x1 > r.x ? x1 - r.x : 0;
	r.h = y1 > r.y ? y1 - r.y : 0;
	return r;
}

static void set_cell(struct screen *s, int x, int y, uint32_t ch, enum role role)
{
	struct display_cell *row = s->cells + (size_t)y * (size_t)s->w;

	if (ch && row[x].ch == 0 && x > 0)
		row[x - 1].ch = ' ';
	if (x + 1 < s->w && row[x + 1].ch == 0)
		row[x + 1].ch = ' ';
	row[x] = (struct display_cell){.ch = ch, .role = (uint8_t)role};
}

/* Where drawing happens: a row of the grid between two columns. */
struct span {
	int y, from, to;
};

/* Returns the columns that the character takes. */
static int put_char(struct screen *s, struct span in, int x, uint32_t ch, enum role role)
{
	int width;

	if (s->ascii)
		ch = screen_ascii(ch);
	width = text_char_width(ch);
	if (width < 1)
		return 0; /* a cell holds one code point: combining marks are left out */
	if (x < in.from || x + width > in.to) {
		if (x >= in.from && x < in.to)
			set_cell(s, x, in.y, ' ', role);
		else if (x < in.from && x + width > in.from)
			set_cell(s, in.from, in.y, ' ', role);
		return width;
	}
	set_cell(s, x, in.y, ch, role);
	if (width == 2)
		set_cell(s, x + 1, in.y, 0, role);
	return width;
}

/* The last word in sight: where it begins, whether it is cut, and whether it is a figure. */
struct word {
	int x;
	bool any, is_figure, has_gap; /* a blank after it is seen, too */
};

static void next_char(struct word *w, struct span in, const char *p, uint32_t ch, int x)
{
	if (ch == ' ') {
		w->any = false;
		w->has_gap = x < in.to;
	} else if (!w->any && x < in.to) {
		*w = (struct word){.x = x, .any = true, .is_figure = text_is_figure(p)};
	}
}

/*
 * The text goes on beyond the edge. A part of a figure is another figure: it goes. Of all else a
 * part with a mark says enough. @names: a mark also after a word that is there as a whole.
 */
static void mark_cut(struct screen *s, struct span in, const struct word *w, bool names,
		     enum role role)
{
	int at = in.to - 1;

	if (!w->any && (!names || (w->is_figure && !w->has_gap)))
		return;
	if (w->any && w->is_figure && w->x >= in.from)
		at = w->x;
	for (int x = at; x < in.to; x++)
		set_cell(s, x, in.y, ' ', role);
	set_cell(s, at, in.y, s->ascii ? screen_ascii(0x2026) : 0x2026, role);
}

static int put_text(struct screen *s, struct rect r, int x, int y, enum role role, const char *text,
		    bool names)
{
	struct rect c = clip(s, r);
	struct span in = {.y = r.y + y, .from = c.x, .to = c.x + c.w};
	bool is_in = in.y >= c.y && in.y < c.y + c.h && c.w > 0, is_cut = false;
	struct word word = {0};
	char clean[LINE_BYTES], kept[LINE_BYTES];
	uint32_t ch;
	size_t n;

	text_clean(clean, sizeof(clean), text);
	bool keeps = names && text_keep_id(kept, sizeof(kept), clean, r.w - x);
	for (const char *p = keeps ? kept : clean; (n = text_decode(p, &ch)) > 0; p += n) {
		int at = r.x + x, w = text_char_width(ch);

		if (!is_in || is_cut || w < 1) {
			x += !is_in || w > 0 ? w : 0;
			continue;
		}
		next_char(&word, in, p, ch, at);
		x += put_char(s, in, at, ch, role);
		is_cut = at + w > in.to;
		if (is_cut && r.x + x > in.from)
			mark_cut(s, in, &word, names, role);
	}
	return x;
}

int screen_put(struct screen *s, struct rect r, int x, int y, enum role role, const char *text)
{
	return put_text(s, r, x, y, role, text, false);
}

int screen_put_name(struct screen *s, struct rect r, int x, int y, enum role role, const char *text)
{
	return put_text(s, r, x, y, role, text, true);
}

int screen_printf(struct screen *s, struct rect r, int x, int y, enum role role, const char *fmt,
		  ...)
{
	char buf[LINE_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	return screen_put(s, r, x, y, role, buf);
}

void screen_fill(struct screen *s, struct rect r, uint32_t ch, enum role role)
{
	struct rect c = clip(s, r);

	for (int y = c.y; y < c.y + c.h; y++) {
		struct span in = {.y = y, .from = c.x, .to = c.x + c.w};
		int width = 1;

		for (int x = c.x; x<c.x + c.w; x += width> 0 ? width : 1)
			width = put_char(s, in, x, ch, role);
	}
}

void screen_mark(struct screen *s, struct rect r, int y, enum role role)
{
	struct rect c = clip(s, r);

	y += r.y;
	if (y < c.y || y >= c.y + c.h || (s->is_passive && role == ROLE_SELECTED))
		return;
	for (int x = c.x; x < c.x + c.w; x++)
		s->cells[(size_t)y * (size_t)s->w + (size_t)x].role = (uint8_t)role;
}

void screen_reverse(struct screen *s, struct rect r, int x, int y)
{
	struct rect c = clip(s, r);

	x += r.x;
	y += r.y;
	if (!s->is_passive && x >= c.x && x < c.x + c.w && y >= c.y && y < c.y + c.h)
		s->cells[(size_t)y * (size_t)s->w + (size_t)x].attr |= DISPLAY_REVERSE;
}

/* Index after the last cell of the row that is not blank. */
static int row_end(const struct display_cell *row, int w)
{
	while (w > 0 && row[w - 1].ch == ' ')
		w--;
	return w;
}

bool screen_row_begin(struct screen *s)
{
	if (!s->row || s->is_passive)
		return false;
	s->row->at = s->row->from;
	return true;
}

void screen_row_put(struct screen *s, const char *text)
{
	struct textbuf *b = s->row;
	char one[8], clean[8];
	uint32_t ch;

	if (b->at > b->from)
		textbuf_char(b, '\t');
	for (size_t n; (n = text_decode(text, &ch)) > 0; text += n) {
		memcpy(one, text, n);
		one[n] = '\0';
		const char *put = ch == '\n' ? ", " : text_clean(clean, sizeof(clean), one);
		if (strlen(put) <= (size_t)(b->end - b->at))
			textbuf_str(b, put);
	}
}

int screen_text(const struct screen *s, char **ret_text)
{
	char *text = mem_calloc((size_t)s->h * ((size_t)s->w * 4 + 1) + 1, 1);
	char *p = text;

	if (!text)
		return -ENOMEM;
	for (int y = 0; y < s->h; y++) {
		const struct display_cell *row = s->cells + (size_t)y * (size_t)s->w;
		int end = row_end(row, s->w);

		for (int x = 0; x < end; x++)
			if (row[x].ch)
				p += text_encode(p, row[x].ch);
		*p++ = '\n';
	}
	*p = '\0';
	*ret_text = text;
	return 0;
}

void line_put(struct line *l, enum role role, const char *text)
{
	l->x = screen_put(l->s, l->r, l->x, l->y, role, text);
}

void line_printf(struct line *l, enum role role, const char *fmt, ...)
{
	char buf[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	line_put(l, role, buf);
}

/* The last bracket that is open at the end of the part that fits into @room columns, or NULL. */
static char *open_bracket(char *text, int room)
{
	char *end = text + strlen(text), *bracket;

	while (end > text && text_width(text) > room)
		*--end = '\0';
	bracket = strrchr(text, '(');
	return bracket && !strchr(bracket, ')') ? bracket : NULL;
}

void line_put_brackets(struct line *l, enum role role, const char *text)
{
	char buf[256];
	int room = l->r.w - l->x;

	snprintf(buf, sizeof(buf), "%s", text);
	char *bracket = text_width(buf) > room ? open_bracket(buf, room) : NULL;
	if (!bracket) {
		line_put(l, role, text);
		return;
	}
	while (bracket > buf && bracket[-1] == ' ')
		bracket--;
	*bracket = '\0';
	line_put(l, role, buf);
}

bool line_whole(struct line *l, enum role role, const char *fmt, ...)
{
	char buf[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (l->x + text_width(buf) > l->r.w)
		return false;
	line_put(l, role, buf);
	return true;
}
