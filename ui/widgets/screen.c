// SPDX-License-Identifier: GPL-2.0-only
/*
 * The grid of cells that one frame is drawn into. A cell is one character with a role; colours are
 * the display's business. A wide character takes two cells, the right one with ch 0: a write
 * to one half blanks the other, so a display never meets half a character. Everything that
 * is written is clipped to a rectangle and to the grid, cleaned of control characters, and in ASCII
 * mode replaced by its nearest ASCII look, so views write the same text for every terminal.
 */
#include "kontend/screen.h"

#include "kontend/mem.h"
#include "kontend/text.h"
#include "kontend/textbuf.h"
#include "screen-ascii.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
	if (y < c.y || y >= c.y + c.h)
		return;
	for (int x = c.x; x < c.x + c.w; x++)
		s->cells[(size_t)y * (size_t)s->w + (size_t)x].role = (uint8_t)role;
}

void screen_reverse(struct screen *s, struct rect r, int x, int y)
{
	struct rect c = clip(s, r);

	x += r.x;
	y += r.y;
	if (x >= c.x && x < c.x + c.w && y >= c.y && y < c.y + c.h)
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
	if (s->row)
		s->row->at = s->row->from;
	return s->row;
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
