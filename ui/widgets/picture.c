// SPDX-License-Identifier: GPL-2.0-only
/*
 * A screen as an SVG picture, as text, or as text with a terminal's escape sequences. The cells are
 * those that a terminal would get, in the colours of the same themes; what a terminal has of its
 * own (background, letters without a role) is dark, or light with the theme for light ones.
 *
 * The picture holds nothing but shapes and text: no script, nothing from elsewhere. Each row is one
 * text element whose characters are the row's, so that they can be selected, searched and tested;
 * a run of it has a place and a length, which keeps columns where they belong in any font. Blocks
 * and lines are drawn besides, and their characters are transparent: see picture-shape.c.
 */
#include "kontend/picture.h"

#include "kontend/mem.h"
#include "kontend/memfile.h"
#include "kontend/text.h"
#include "kontend/xml.h"
#include "theme.h"
#include <errno.h>
#include <string.h>

enum { PAD = 10, LOOKS = ROLES * 2, W = PICTURE_CELL_W, H = PICTURE_CELL_H };

static const char fonts[] = "ui-monospace,SFMono-Regular,Menlo,Consolas,Liberation Mono,"
			    "DejaVu Sans Mono,monospace";

static const char *const formats[] = {
	[PICTURE_SVG] = "svg", [PICTURE_TEXT] = "text", [PICTURE_ANSI] = "ansi"};

/* How cells of a role look; reversed ones are looks of their own. Colours are 0xRRGGBB. */
struct look {
	uint32_t fg, bg;
	int fg256, bg256; /* -1: the terminal's own */
	unsigned attrs;
	bool used;
};

struct canvas {
	FILE *out;
	const struct screen *s;
	uint32_t fg, bg; /* of the terminal */
	struct look looks[LOOKS];
};

int picture_format_parse(const char *name, enum picture_format *ret)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i], name)) {
			*ret = (enum picture_format)i;
			return 0;
		}
	return -EINVAL;
}

static bool ends_in(const char *path, const char *ending)
{
	size_t n = strlen(path), m = strlen(ending);

	return n > m && !strcmp(path + n - m, ending);
}

enum picture_format picture_format_of(const char *path)
{
	return ends_in(path, ".svg")	? PICTURE_SVG
	       : ends_in(path, ".ansi") ? PICTURE_ANSI
					: PICTURE_TEXT;
}

/* One of a terminal's 256 colours: 16 named ones, a cube of 6 levels, 24 greys. */
static uint32_t rgb_of(int color)
{
	static const uint32_t named[] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
					 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
					 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
	static const uint8_t levels[] = {0, 95, 135, 175, 215, 255};

	if (color < 16)
		return named[color];
	if (color >= 232)
		return (uint32_t)(8 + (color - 232) * 10) * 0x010101;
	color -= 16;
	return (uint32_t)levels[color / 36] << 16 | (uint32_t)levels[color / 6 % 6] << 8 |
	       levels[color % 6];
}

static void make_look(struct canvas *c, const struct theme_style *style, bool reversed,
		      struct look *ret)
{
	bool swap = !(style->attrs & THEME_REVERSE) != !reversed;
	int fg = style->fg.c256, bg = style->bg.c256;
	uint32_t front = fg < 0 ? c->fg : rgb_of(fg), back = bg < 0 ? c->bg : rgb_of(bg);

	*ret = (struct look){.fg = swap ? back : front,
			     .bg = swap ? front : back,
			     .fg256 = fg,
			     .bg256 = bg,
			     .attrs = (style->attrs & ~(unsigned)THEME_REVERSE) |
				      (swap ? THEME_REVERSE : 0)};
}

static int begin(struct canvas *c, const struct picture *p, FILE *out)
{
	const struct theme *theme = theme_find(p->theme ? p->theme : theme_name(0));

	if (!theme)
		return -EINVAL;
	bool light = !strcmp(theme->name, "light");
	*c = (struct canvas){.out = out,
			     .s = p->screen,
			     .fg = light ? 0x1f2328 : 0xd0d4da,
			     .bg = light ? 0xffffff : 0x15171c};
	for (size_t i = 0; i < LOOKS; i++) {
		const struct theme_style style = theme_style(theme, (int)i / 2);
		make_look(c, &style, i % 2, &c->looks[i]);
	}
	return 0;
}

static const struct display_cell *cell_at(const struct canvas *c, int x, int y)
{
	return &c->s->cells[(size_t)y * (size_t)c->s->w + (size_t)x];
}

static size_t look_id(const struct display_cell *cell)
{
	return (size_t)cell->role * 2 + (cell->attr & DISPLAY_REVERSE ? 1 : 0);
}

static const struct look *look_at(const struct canvas *c, int x, int y)
{
	return &c->looks[look_id(cell_at(c, x, y))];
}

/* After the last cell of row @y that says something. */
static int row_end(const struct canvas *c, int y)
{
	int x = c->s->w;

	while (x > 0 && cell_at(c, x - 1, y)->ch == ' ')
		x--;
	return x;
}

static void put_char(FILE *out, uint32_t ch)
{
	char bytes[8];

	fwrite(bytes, 1, text_encode(bytes, ch), out);
}

/*
 * A run: cells of one look that are letters of ASCII, or drawn, or one other letter
 * alone, as that may come from a font with other widths.
 */
enum kind { LETTERS, DRAWN, ALONE };

static enum kind kind_of(const struct display_cell *cell)
{
	if (cell->ch < 0x7f)
		return LETTERS;
	return picture_shape(cell->ch) ? DRAWN : ALONE;
}

/* Blanks are of every look, as their background is drawn elsewhere, but for a line below them. */
static bool goes_on(const struct canvas *c, const struct display_cell *first,
		    const struct display_cell *next)
{
	if (next->ch == ' ' && !(c->looks[look_id(first)].attrs & THEME_UNDERLINE) &&
	    !(c->looks[look_id(next)].attrs & THEME_UNDERLINE))
		return true;
	return look_id(first) == look_id(next) && kind_of(first) == kind_of(next);
}

static int run_end(const struct canvas *c, int x, int y, int end)
{
	const struct display_cell *first = cell_at(c, x, y);
	int to = x + 1;

	if (kind_of(first) == ALONE)
		return to < end && cell_at(c, to, y)->ch == 0 ? to + 1 : to;
	while (to < end && cell_at(c, to, y)->ch && goes_on(c, first, cell_at(c, to, y)))
		to++;
	return to;
}

static void put_run(const struct canvas *c, int x, int to, int y)
{
	const struct display_cell *first = cell_at(c, x, y);

	if (kind_of(first) == DRAWN)
		fputs("<tspan class=\"d\"", c->out);
	else
		fprintf(c->out, "<tspan class=\"t%zu\"", look_id(first));
	fprintf(c->out, " x=\"%d\" textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\">", x * W,
		(to - x) * W);
	for (; x < to; x++)
		if (cell_at(c, x, y)->ch)
			xml_put_char(c->out, cell_at(c, x, y)->ch);
	fputs("</tspan>", c->out);
}

static void put_row(const struct canvas *c, int y)
{
	int end = row_end(c, y);

	fprintf(c->out, "<text y=\"%d\">", y * H + PICTURE_BASE);
	for (int x = 0, to; x < end; x = to) {
		to = run_end(c, x, y, end);
		put_run(c, x, to, y);
	}
	fputs("</text>\n", c->out);
}

static void put_grounds(const struct canvas *c, int y)
{
	for (int x = 0, to; x < c->s->w; x = to) {
		uint32_t bg = look_at(c, x, y)->bg;

		for (to = x + 1; to < c->s->w && look_at(c, to, y)->bg == bg; to++)
			;
		if (bg != c->bg)
			fprintf(c->out,
				"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
				"fill=\"#%06x\"/>\n",
				x * W, y * H, (to - x) * W, H, bg);
	}
}

/* All that is drawn of one look is one path. */
static void put_shapes(const struct canvas *c, size_t look)
{
	size_t n = 0;

	for (int y = 0; y < c->s->h; y++)
		for (int x = 0; x < c->s->w; x++) {
			const struct display_cell *cell = cell_at(c, x, y);

			if (look_id(cell) != look || !picture_shape(cell->ch))
				continue;
			if (!n++)
				fprintf(c->out, "<path class=\"t%zu\" d=\"", look);
			picture_shape_put(c->out, cell->ch, x * W, y * H);
		}
	if (n)
		fputs("\"/>\n", c->out);
}

static void put_style(struct canvas *c)
{
	for (int i = 0; i < c->s->w * c->s->h; i++)
		c->looks[look_id(&c->s->cells[i])].used = true;
	fprintf(c->out,
		"<style>text{font:%dpx %s;white-space:pre}path{shape-rendering:crispEdges}"
		".d{fill-opacity:0}",
		PICTURE_FONT, fonts);
	for (size_t i = 0; i < LOOKS; i++) {
		const struct look *l = &c->looks[i];

		if (l->used)
			fprintf(c->out, "\n.t%zu{fill:#%06x%s%s%s}", i, l->fg,
				l->attrs & THEME_BOLD ? ";font-weight:bold" : "",
				l->attrs & THEME_DIM ? ";fill-opacity:.65" : "",
				l->attrs & THEME_UNDERLINE ? ";text-decoration:underline" : "");
	}
	fputs("</style>\n", c->out);
}

static void write_svg(struct canvas *c, const char *title)
{
	int w = c->s->w * W + 2 * PAD, h = c->s->h * H + 2 * PAD;

	fprintf(c->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" role=\"img\" xml:space=\"preserve\">\n<title>",
		w, h, w, h);
	xml_put(c->out, title ? title : "kontend", SIZE_MAX);
	fputs("</title>\n", c->out);
	put_style(c);
	fprintf(c->out,
		"<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#%06x\"/>\n"
		"<g transform=\"translate(%d %d)\">\n",
		w, h, c->bg, PAD, PAD);
	for (int y = 0; y < c->s->h; y++)
		put_grounds(c, y);
	for (size_t i = 0; i < LOOKS; i++)
		if (c->looks[i].used)
			put_shapes(c, i);
	for (int y = 0; y < c->s->h; y++)
		put_row(c, y);
	fputs("</g>\n</svg>\n", c->out);
}

static void write_text(const struct canvas *c)
{
	for (int y = 0; y < c->s->h; y++) {
		int end = row_end(c, y);

		for (int x = 0; x < end; x++)
			if (cell_at(c, x, y)->ch)
				put_char(c->out, cell_at(c, x, y)->ch);
		fputc('\n', c->out);
	}
}

static void put_colors(FILE *out, const struct look *l)
{
	fputs("\033[0", out);
	if (l->attrs & THEME_BOLD)
		fputs(";1", out);
	if (l->attrs & THEME_DIM)
		fputs(";2", out);
	if (l->attrs & THEME_UNDERLINE)
		fputs(";4", out);
	if (l->attrs & THEME_REVERSE)
		fputs(";7", out);
	if (l->fg256 >= 0)
		fprintf(out, ";38;5;%d", l->fg256);
	if (l->bg256 >= 0)
		fprintf(out, ";48;5;%d", l->bg256);
	fputc('m', out);
}

/* With the blanks at the ends of rows, which may be a bar's. */
static void write_ansi(const struct canvas *c)
{
	for (int y = 0; y < c->s->h; y++) {
		const struct look *before = NULL;

		for (int x = 0; x < c->s->w; x++) {
			if (look_at(c, x, y) != before)
				put_colors(c->out, look_at(c, x, y));
			before = look_at(c, x, y);
			if (cell_at(c, x, y)->ch)
				put_char(c->out, cell_at(c, x, y)->ch);
		}
		fputs("\033[0m\n", c->out);
	}
}

int picture_write(const struct picture *p, enum picture_format format, FILE *out)
{
	struct canvas c;
	int r = begin(&c, p, out);

	if (r < 0)
		return r;
	switch (format) {
	case PICTURE_SVG:
		write_svg(&c, p->title);
		break;
	case PICTURE_TEXT:
		write_text(&c);
		break;
	case PICTURE_ANSI:
		write_ansi(&c);
		break;
	}
	return 0;
}

int picture_text(const struct picture *p, enum picture_format format, char **ret)
{
	struct memfile m = {0};
	FILE *f = memfile_open(&m);

	if (!f)
		return -ENOMEM;
	int r = picture_write(p, format, f);
	bool failed = fflush(f) != 0 || ferror(f);
	fclose(f);
	if (r == 0 && failed)
		r = -ENOMEM;
	if (r < 0)
		mem_free(m.text);
	else
		*ret = m.text;
	return r;
}
