// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instructions themselves: numbers, the place, maybe the bytes, lines from jumps to where they
 * go, the text. Columns of numbers that have no room are left out before the text is cut.
 */
#include "annotate.h"
#include "arrows.h"
#include "kontend/engine.h"
#include "kontend/maps.h"
#include "kontend/text.h"
#include "widgets/layout.h"
#include "widgets/widget.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WIDE = 100, VERY_WIDE = 140, PLACE_W = 8, ADDRESS_W = 16, NUMBERS = 3 };

struct frame {
	struct view_annotate *o;
	const struct query_annotate *a;
	struct screen *s;
	struct rect r; /* of the list, with its titles */
	struct annotate_rows rows;
	struct arrows arrows;
	uint8_t *cells;			     /* of the arrows in lines that are seen */
	enum annotate_unit numbers[NUMBERS]; /* the first one is that which was chosen */
	int n_numbers, number_x[NUMBERS];
	int place_x, place_w, bytes_x, bytes_w, arrows_x, text_x;
	uint64_t most; /* of the unit */
	size_t hottest;
	const char *search;
};

static struct column column_of(const struct query_annotate *a, enum annotate_unit u)
{
	const struct column columns[ANNOTATE_UNITS] = {
		[ANNOTATE_PCT] = {.title = "CPU%", .type = COLUMN_PCT, .width = 5},
		[ANNOTATE_SAMPLES] = {.title = "SAMPLES", .type = COLUMN_COUNT, .width = 7},
		[ANNOTATE_PERIOD] = {.title = a->is_time ? "TIME" : "PERIOD",
				     .type = a->is_time ? COLUMN_NS : COLUMN_COUNT,
				     .width = 6},
		[ANNOTATE_WAIT] = {.title = "WAIT", .type = COLUMN_NS, .width = 6},
	};

	return columns[u];
}

static int longest(const struct query_annotate *a)
{
	int most = 1;

	for (size_t i = 0; i < a->n; i++)
		most = a->lines[i].length > most ? a->lines[i].length : most;
	return most;
}

static bool has_column(const struct frame *f, enum annotate_unit u)
{
	if (u == f->o->unit || u == ANNOTATE_PERIOD)
		return false;
	if (u == ANNOTATE_WAIT)
		return f->a->waits;
	return u == ANNOTATE_PCT || f->r.w >= WIDE;
}

static void place_columns(struct frame *f)
{
	int x = 1;

	f->numbers[f->n_numbers++] = f->o->unit;
	for (int u = 0; u < ANNOTATE_UNITS && f->n_numbers < NUMBERS; u++)
		if (has_column(f, (enum annotate_unit)u))
			f->numbers[f->n_numbers++] = (enum annotate_unit)u;
	for (int i = 0; i < f->n_numbers; i++) {
		f->number_x[i] = x;
		/* Behind the first one is room for the mark of the hottest line. */
		x += column_of(f->a, f->numbers[i]).width + (i ? 1 : 2);
	}
	f->place_x = x;
	f->place_w = f->o->addresses ? ADDRESS_W : PLACE_W;
	x += f->place_w + 1;
	if (f->o->bytes && f->a->source) {
		int most = f->r.w < WIDE ? 20 : 3 * DISASM_BYTES - 1, w = 3 * longest(f->a) - 1;

		f->bytes_x = x;
		f->bytes_w = w < most ? w : most;
		x += f->bytes_w + 1;
	}
	f->arrows_x = x;
	f->text_x = x + (int)arrows_width(&f->arrows) + 2;
}

static int place_arrows(struct frame *f, struct arena *arena, size_t page)
{
	const struct query_annotate *a = f->a;
	unsigned lanes = f->r.w < WIDE ? 4 : f->r.w < VERY_WIDE ? 6 : 10;

	f->arrows.items = arena_alloc(arena, (a->n + 1) * sizeof(*f->arrows.items));
	if (!f->arrows.items)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++)
		if (a->lines[i].jumps)
			f->arrows.items[f->arrows.n++] = (struct arrow){
				.from = f->rows.of_line[i],
				.to = f->rows.of_line[annotate_line_at(a, a->lines[i].jump)]};
	return arrows_place(&f->arrows, arena, f->rows.n, page, lanes);
}

static const char *format_number(const struct frame *f, const struct query_code_line *l,
				 enum annotate_unit u, char *buf, size_t size)
{
	const struct column c = column_of(f->a, u);
	struct value v = {.u = annotate_value(l, u), .known = true};

	if (u == ANNOTATE_PCT)
		v = (struct value){.d = l->pct, .known = true};
	return table_format(&c, &v, f->s->ascii, buf, size);
}

static void draw_number(const struct frame *f, const struct query_code_line *l, int i, int y)
{
	enum annotate_unit u = f->numbers[i];
	const struct column c = column_of(f->a, u);
	enum role role = ROLE_NORMAL;
	char buf[64];

	if (!i && f->most)
		role = widget_heat((double)annotate_value(l, u) / (double)f->most);
	format_number(f, l, u, buf, sizeof(buf));
	screen_put(f->s, f->r, f->number_x[i] + c.width - text_width(buf), y, role, buf);
}

static const char *format_place(const struct frame *f, const struct query_code_line *l, char *buf,
				size_t size)
{
	if (!f->o->addresses)
		snprintf(buf, size, "+0x%llx", (unsigned long long)l->offset);
	else
		snprintf(buf, size, "%llx", (unsigned long long)(f->a->place + l->offset));
	return buf;
}

static void draw_place(const struct frame *f, const struct query_code_line *l, int y)
{
	char buf[40];

	format_place(f, l, buf, sizeof(buf));
	screen_put(f->s, f->r, f->place_x + f->place_w - text_width(buf), y, ROLE_DIM, buf);
}

static void draw_bytes(const struct frame *f, const struct query_code_line *l, int y)
{
	char buf[3 * DISASM_BYTES + 1] = "";
	int n = 0;

	for (int i = 0; f->bytes_w && i < l->length && i < DISASM_BYTES; i++)
		n += snprintf(buf + n, 4, i ? " %02x" : "%02x", l->code[i]);
	widget_text(f->s, f->r, f->bytes_x, y, f->bytes_w, ROLE_DIM, buf);
}

/* The lines that lead somewhere, and in front of a jump where that is. */
static void draw_arrows(const struct frame *f, const struct query_code_line *l, size_t row, int y)
{
	unsigned w = arrows_width(&f->arrows);
	const uint8_t *cells = f->cells + row * w;

	for (unsigned i = 0; i < w; i++)
		screen_put(f->s, f->r, f->arrows_x + (int)i, y,
			   cells[i] & ARROW_CHOSEN ? ROLE_BOLD : ROLE_DIM, arrows_glyph(cells[i]));
	if (l && l->jumps)
		screen_put(f->s, f->r, f->arrows_x + (int)w, y, ROLE_NORMAL,
			   l->jump > l->offset ? "↓" : "↑");
}

static void draw_source(const struct frame *f, const struct query_code_line *l, size_t row, int y)
{
	char buf[ANNOTATE_SOURCE];
	bool found = *f->search && text_contains(annotate_source(l, buf), f->search);

	draw_arrows(f, NULL, row, y);
	widget_text(f->s, f->r, f->text_x, y, f->r.w - f->text_x, found ? ROLE_MATCH : ROLE_DIM,
		    annotate_source(l, buf));
}

static void draw_text(const struct frame *f, const struct query_code_line *l, int y)
{
	char buf[QUERY_ANNOTATE_TEXT];
	const char *what = query_annotate_note(l);
	size_t len = strlen(query_annotate_text(l, buf)), note = what ? strlen(what) + 4 : 0;
	bool found = *f->search && text_contains(buf, f->search);
	char *behind = buf + len - note;
	int x = f->text_x, w;

	widget_text(f->s, f->r, x, y, f->r.w - x, found ? ROLE_MATCH : ROLE_NORMAL, buf);
	*behind = '\0';
	w = text_width(buf);
	*behind = ' ';
	if (note && !found)
		widget_text(f->s, f->r, x + w, y, f->r.w - x - w, l->skid ? ROLE_WARN : ROLE_DIM,
			    behind);
}

static void report_row(const struct frame *f, const struct query_code_line *l)
{
	char buf[QUERY_ANNOTATE_TEXT];

	for (int i = 0; i < f->n_numbers; i++)
		screen_row_put(f->s, format_number(f, l, f->numbers[i], buf, sizeof(buf)));
	screen_row_put(f->s, format_place(f, l, buf, sizeof(buf)));
	screen_row_put(f->s, query_annotate_text(l, buf));
}

static void draw_line(const struct frame *f, size_t line, size_t row)
{
	const struct query_code_line *l = &f->a->lines[line];
	int y = (int)row + 1;

	for (int i = 0; i < f->n_numbers; i++)
		draw_number(f, l, i, y);
	if (line == f->hottest)
		screen_put(f->s, f->r, f->number_x[0] + column_of(f->a, f->numbers[0]).width, y,
			   ROLE_HEAT_HIGH, "▶");
	draw_place(f, l, y);
	draw_bytes(f, l, y);
	draw_arrows(f, l, row, y);
	draw_text(f, l, y);
	if (line == f->o->line) {
		screen_put(f->s, f->r, 0, y, ROLE_SELECTED, "›");
		screen_mark(f->s, f->r, y, ROLE_SELECTED);
		if (screen_row_begin(f->s))
			report_row(f, l);
	}
}

static void draw_titles(const struct frame *f)
{
	const char *place = !f->o->addresses		       ? "OFFSET"
			    : map_frame_is_kernel(f->a->start) ? "ADDRESS"
							       : "PLACE IN FILE";

	screen_fill(f->s, (struct rect){f->r.x, f->r.y, f->r.w, 1}, ' ', ROLE_TITLE);
	for (int i = 0; i < f->n_numbers; i++) {
		const struct column c = column_of(f->a, f->numbers[i]);

		screen_put(f->s, f->r, f->number_x[i] + c.width - text_width(c.title), 0,
			   ROLE_TITLE, c.title);
	}
	screen_put(f->s, f->r, f->place_x + f->place_w - text_width(place), 0, ROLE_TITLE, place);
	if (f->bytes_w)
		widget_text(f->s, f->r, f->bytes_x, 0, f->bytes_w, ROLE_TITLE, "BYTES");
	if (f->a->source)
		screen_put(f->s, f->r, f->text_x, 0, ROLE_TITLE, "INSTRUCTION");
}

/*
 * A line that is far away is shown in the middle; the line of the source above the chosen one is in
 * sight with it, if there is one.
 */
static void scroll(struct view_annotate *o, const struct annotate_rows *rows, size_t page)
{
	size_t row = o->n ? rows->of_line[o->line] : 0;

	if (o->jumped && (row < o->top || row >= o->top + page))
		o->top = row > page / 2 ? row - page / 2 : 0;
	o->jumped = false;
	if (row && page > 1 && rows->items[row - 1].is_source)
		o->top = widget_scroll(o->top, row - 1, rows->n, page);
	o->top = widget_scroll(o->top, row, rows->n, page);
}

static void draw_rows(struct frame *f, size_t page)
{
	struct view_annotate *o = f->o;

	o->n_shown = o->n_instructions = 0;
	for (size_t i = 0; i < page && o->top + i < f->rows.n; i++) {
		const struct annotate_row *row = &f->rows.items[o->top + i];

		if (row->is_source)
			draw_source(f, &f->a->lines[row->line], i, (int)i + 1);
		else
			draw_line(f, row->line, i);
		o->n_instructions += !row->is_source;
		if (i < ANNOTATE_SHOWN)
			o->shown[o->n_shown++] = row->line;
	}
}

int annotate_draw_list(struct view_annotate *o, const struct query_annotate *a, struct screen *s,
		       struct rect r)
{
	struct arena *arena = &o->v.query->arena;
	size_t page = r.h > 1 ? (size_t)r.h - 1 : 0;
	struct frame f = {.o = o,
			  .a = a,
			  .s = s,
			  .r = r,
			  .hottest = annotate_hottest(a, o->unit),
			  .search = app_search(o->v.app)};

	if (annotate_rows(a, !o->no_source, arena, &f.rows) < 0 ||
	    place_arrows(&f, arena, page) < 0)
		return -ENOMEM;
	f.cells = arena_alloc(arena, page * arrows_width(&f.arrows) + 1);
	if (!f.cells)
		return -ENOMEM;
	f.most = f.hottest < a->n ? annotate_value(&a->lines[f.hottest], o->unit) : 0;
	o->list = r;
	scroll(o, &f.rows, page);
	arrows_draw(&f.arrows, o->top, page, o->n ? f.rows.of_line[o->line] : 0, f.cells);
	place_columns(&f);
	draw_titles(&f);
	draw_rows(&f, page);
	return 0;
}
