// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/mem.h"
#include "kontend/picture.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *made(const struct screen *s, enum picture_format format, const char *theme)
{
	const struct picture p = {.screen = s, .theme = theme, .title = "a & b"};
	char *text;

	assert_int_equal(picture_text(&p, format, &text), 0);
	return text;
}

static struct rect whole(const struct screen *s)
{
	return (struct rect){0, 0, s->w, s->h};
}

static struct screen screen_of(int w, int h)
{
	struct screen s = {0};

	assert_int_equal(screen_resize(&s, w, h), 0);
	return s;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

/* The whole of a small one, so that a change of the form is seen. */
static void test_picture_as_a_whole(void **state)
{
	struct screen s = screen_of(12, 2);

	(void)state;
	screen_put(&s, whole(&s), 0, 0, ROLE_HEADER, "<a&b>");
	screen_put(&s, whole(&s), 6, 0, ROLE_SELECTED, "x…");
	screen_put(&s, whole(&s), 0, 1, ROLE_GRAPH, "▁█");
	screen_put(&s, whole(&s), 3, 1, ROLE_NORMAL, "日 y");
	char *svg = made(&s, PICTURE_SVG, NULL);
	assert_string_equal(
		svg,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"128\" height=\"56\" "
		"viewBox=\"0 0 128 56\" role=\"img\" xml:space=\"preserve\">\n"
		"<title>a &amp; b</title>\n"
		"<style>text{font:15px ui-monospace,SFMono-Regular,Menlo,Consolas,Liberation "
		"Mono,DejaVu Sans Mono,monospace;white-space:pre}path{shape-rendering:crispEdges}"
		".d{fill-opacity:0}\n"
		".t0{fill:#d0d4da}\n"
		".t6{fill:#87d7ff;font-weight:bold}\n"
		".t12{fill:#ffffff;font-weight:bold}\n"
		".t32{fill:#5fafff}</style>\n"
		"<rect width=\"128\" height=\"56\" rx=\"6\" fill=\"#15171c\"/>\n"
		"<g transform=\"translate(10 10)\">\n"
		"<rect x=\"54\" y=\"0\" width=\"18\" height=\"18\" fill=\"#005f87\"/>\n"
		"<path class=\"t32\" d=\"M0 34h9v2h-9zM9 18h9v18h-9z\"/>\n"
		"<text y=\"14\">"
		"<tspan class=\"t6\" x=\"0\" textLength=\"54\" "
		"lengthAdjust=\"spacingAndGlyphs\">&lt;a&amp;b&gt; </tspan>"
		"<tspan class=\"t12\" x=\"54\" textLength=\"9\" "
		"lengthAdjust=\"spacingAndGlyphs\">x</tspan>"
		"<tspan class=\"t12\" x=\"63\" textLength=\"9\" "
		"lengthAdjust=\"spacingAndGlyphs\">…</tspan></text>\n"
		"<text y=\"32\">"
		"<tspan class=\"d\" x=\"0\" textLength=\"27\" "
		"lengthAdjust=\"spacingAndGlyphs\">▁█ </tspan>"
		"<tspan class=\"t0\" x=\"27\" textLength=\"18\" "
		"lengthAdjust=\"spacingAndGlyphs\">日</tspan>"
		"<tspan class=\"t0\" x=\"45\" textLength=\"18\" "
		"lengthAdjust=\"spacingAndGlyphs\"> y</tspan></text>\n"
		"</g>\n</svg>\n");
	mem_free(svg);
	screen_deinit(&s);
}

static void test_text_is_that_of_the_screen(void **state)
{
	struct screen s = screen_of(8, 3);
	char *expected;

	(void)state;
	screen_put(&s, whole(&s), 1, 0, ROLE_WARN, "日本");
	screen_put(&s, whole(&s), 3, 2, ROLE_BAR, "x  ");
	assert_int_equal(screen_text(&s, &expected), 0);
	char *text = made(&s, PICTURE_TEXT, "cvd");
	assert_string_equal(text, expected);
	mem_free(text);
	mem_free(expected);
	screen_deinit(&s);
}

static void test_colors_of_a_terminal(void **state)
{
	struct screen s = screen_of(4, 1);

	(void)state;
	screen_put(&s, whole(&s), 0, 0, ROLE_SELECTED, "ab");
	screen_put(&s, whole(&s), 2, 0, ROLE_NORMAL, "c");
	screen_reverse(&s, whole(&s), 2, 0);
	char *text = made(&s, PICTURE_ANSI, NULL);
	assert_string_equal(text, "\033[0;1;38;5;231;48;5;24mab\033[0;7mc\033[0m \033[0m\n");
	mem_free(text);
	text = made(&s, PICTURE_ANSI, "mono"); /* a cursor on what is reversed is not */
	assert_string_equal(text, "\033[0;7mab\033[0;7mc\033[0m \033[0m\n");
	mem_free(text);
	screen_deinit(&s);
}

/* A reversed cell has its colours exchanged, and its background is the letters' colour. */
static void test_reversed_cells_are_exchanged(void **state)
{
	struct screen s = screen_of(3, 1);

	(void)state;
	screen_put(&s, whole(&s), 0, 0, ROLE_NORMAL, "abc");
	screen_reverse(&s, whole(&s), 1, 0);
	char *svg = made(&s, PICTURE_SVG, "light");
	assert_has(svg, "fill=\"#ffffff\"/>\n<g");
	assert_has(svg, ".t0{fill:#1f2328}\n.t1{fill:#ffffff}");
	assert_has(svg, "<rect x=\"9\" y=\"0\" width=\"9\" height=\"18\" fill=\"#1f2328\"/>");
	mem_free(svg);
	screen_deinit(&s);
}

/* Cells of which XML knows nothing, and all that this knows, in every look. */
static void test_nothing_breaks_the_form(void **state)
{
	static const uint32_t odd[] = {1, 0x1b, 0x7f, 0x9b, 0xd800, 0xfffe, 0x1ffff, 0x110000};
	struct screen s = screen_of((int)(sizeof(odd) / sizeof(*odd)), 1);

	(void)state;
	for (int i = 0; i < s.w; i++)
		s.cells[i] = (struct display_cell){.ch = odd[i], .role = (uint8_t)i};
	char *svg = made(&s, PICTURE_SVG, NULL);
	int n = 0;
	for (const char *p = svg; *p; p++) {
		assert_true((unsigned char)*p >= ' ' || *p == '\n');
		n += *p == '?';
	}
	assert_int_equal(n, s.w);
	mem_free(svg);
	screen_deinit(&s);
}

/* A drawn character stays in its cell and does not reach into the next. */
static void test_shapes_are_within_their_cells(void **state)
{
	size_t n = 0;

	(void)state;
	for (uint32_t ch = 0; ch < 0x3000; ch++) {
		char *path = NULL;
		size_t len;

		if (!picture_shape(ch))
			continue;
		n++;
		FILE *f = open_memstream(&path, &len);
		picture_shape_put(f, ch, 0, 0);
		fclose(f);
		assert_true(len > 0 && path[0] == 'M' && path[len - 1] == 'z');
		int x = 0, y = 0, used;
		for (const char *p = path; *p; p += used) {
			char c = *p++;
			int a, b;

			used = 0;
			if (c == 'M' || c == 'L')
				assert_int_equal(sscanf(p, "%d %d%n", &x, &y, &used), 2);
			else if (c == 'h' || c == 'v')
				assert_int_equal(sscanf(p, "%d%n", &a, &used), 1);
			else
				assert_int_equal(c, 'z');
			b = c == 'h' || c == 'v' ? a : 0;
			x += c == 'h' ? b : 0;
			y += c == 'v' ? b : 0;
			assert_true(x >= 0 && x <= PICTURE_CELL_W);
			assert_true(y >= 0 && y <= PICTURE_CELL_H);
		}
		free(path);
	}
	assert_int_equal(n, 17 + 11 + 7 + 4);
}

/* It is written whole, or the call reports that memory ran out. */
static void test_memory_may_be_short(void **state)
{
	struct screen s = screen_of(80, 24);
	const struct picture p = {.screen = &s, .title = "none"};
	char *text;
	int r = -ENOMEM;

	(void)state;
	for (long k = 0; r; k++) {
		mem_fail_after(k);
		r = picture_text(&p, PICTURE_SVG, &text);
		mem_fail_after(-1);
		assert_true(r == 0 || (r == -ENOMEM && k < 20));
	}
	assert_has(text, "</svg>\n");
	mem_free(text);
	screen_deinit(&s);
}

static void test_names_of_formats(void **state)
{
	enum picture_format f;

	(void)state;
	assert_int_equal(picture_format_parse("ansi", &f), 0);
	assert_int_equal(f, PICTURE_ANSI);
	assert_int_equal(picture_format_parse("png", &f), -EINVAL);
	assert_int_equal(picture_format_of("a/b.svg"), PICTURE_SVG);
	assert_int_equal(picture_format_of("b.ansi"), PICTURE_ANSI);
	assert_int_equal(picture_format_of(".svg"), PICTURE_TEXT);
	assert_int_equal(picture_format_of("svg"), PICTURE_TEXT);
	const struct picture none = {.screen = NULL, .theme = "no such"};
	assert_int_equal(picture_write(&none, PICTURE_TEXT, stderr), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_picture_as_a_whole),
		cmocka_unit_test(test_text_is_that_of_the_screen),
		cmocka_unit_test(test_colors_of_a_terminal),
		cmocka_unit_test(test_reversed_cells_are_exchanged),
		cmocka_unit_test(test_nothing_breaks_the_form),
		cmocka_unit_test(test_shapes_are_within_their_cells),
		cmocka_unit_test(test_memory_may_be_short),
		cmocka_unit_test(test_names_of_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
