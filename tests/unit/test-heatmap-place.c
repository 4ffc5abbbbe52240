// SPDX-License-Identifier: GPL-2.0-only
/*
 * The heat map on the screen: its parts never overlap or leave their room, whatever that is; what
 * is drawn stays inside of it; half blocks have the colours of both rows; a click finds its cell.
 */
#include "kontend/hist.h"
#include "kontend/mem.h"
#include "widgets/heatmap.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static bool inside(struct rect a, struct rect b)
{
	return a.w >= 0 && a.h >= 0 && a.x >= b.x && a.y >= b.y && a.x + a.w <= b.x + b.w &&
	       a.y + a.h <= b.y + b.h;
}

static bool overlap(struct rect a, struct rect b)
{
	return a.w > 0 && a.h > 0 && b.w > 0 && b.h > 0 && a.x < b.x + b.w && b.x < a.x + a.w &&
	       a.y < b.y + b.h && b.y < a.y + a.h;
}

static void places_at_every_size(void **state)
{
	(void)state;
	for (int w = 0; w <= 310; w++)
		for (int h = 0; h <= 90; h++)
			for (int letters = 0; letters < 2; letters++) {
				const struct rect all = {3, 2, w, h};
				struct heatmap_place p = heatmap_place(all, letters);
				struct rect parts[] = {p.lengths, p.map, p.now, p.times};
				assert_int_equal(p.per_line, letters ? 1 : 2);
				for (size_t i = 0; i < 4; i++) {
					if (!parts[i].w || !parts[i].h)
						continue;
					assert_true(inside(parts[i], all));
					for (size_t k = 0; k < i; k++)
						assert_false(overlap(parts[i], parts[k]));
				}
				/* All of the room is used, and none for nothing. */
				assert_true(p.map.w == 0 || p.lengths.w + p.map.w + p.now.w == w);
				assert_true(p.map.w == 0 || p.map.h + p.times.h == h);
				assert_true(w < 60 || h < 2 || p.now.w > 0);
			}
}

/* Cells with so many waits in so many columns and rows; the last row and column have most. */
static struct query_heatmap make(uint32_t columns, uint32_t rows)
{
	struct query_heatmap h = {.known = true,
				  .column_ns = 1 << 21,
				  .columns = columns,
				  .rows = rows,
				  .bucket = 40,
				  .per_row = 1};

	h.cells = calloc((size_t)columns * rows + 1, sizeof(*h.cells));
	h.now = calloc((size_t)rows + 1, sizeof(*h.now));
	assert_non_null(h.cells);
	assert_non_null(h.now);
	for (uint32_t i = 0; i < columns * rows; i++)
		h.cells[i] = (struct query_heatmap_cell){i, i * 1000ull};
	h.most_n = h.n = columns && rows ? columns * rows - 1 : 0;
	h.most_ns = h.ns = h.most_n * 1000;
	if (rows)
		h.now[rows - 1] = 12345;
	return h;
}

static void nothing_is_drawn_outside(void **state)
{
	struct screen s = {0};

	(void)state;
	for (int w = 0; w < 120; w += 7)
		for (int height = 0; height < 30; height++) {
			const struct rect r = {5, 3, w, height};
			const bool letters = height % 2;
			struct heatmap_place p = heatmap_place(r, letters);
			struct query_heatmap h = make(p.map.w > 0 ? (uint32_t)p.map.w : 1,
						      (uint32_t)(p.map.h * (int)p.per_line));
			struct heatmap_look look = {.has_range = true,
						    .range = {0, h.columns - 1, 0, 3},
						    .column = h.columns - 1,
						    .row = h.rows ? h.rows - 1 : UINT32_MAX};
			assert_int_equal(screen_resize(&s, w + 12, height + 8), 0);
			s.letters = letters;
			screen_fill(&s, (struct rect){0, 0, s.w, s.h}, '~', ROLE_DIM);
			heatmap_draw(&s, &p, &h, &look);
			for (int y = 0; y < s.h; y++)
				for (int x = 0; x < s.w; x++)
					if (!inside((struct rect){x, y, 1, 1}, r))
						assert_int_equal(s.cells[y * s.w + x].ch, '~');
			free(h.cells);
			free(h.now);
		}
	screen_deinit(&s);
}

static void halves_have_the_colours_of_their_rows(void **state)
{
	struct screen s = {0};
	const struct rect r = {0, 0, 20, 3};
	struct heatmap_place p = heatmap_place(r, false);
	struct query_heatmap h = make(2, 4);
	struct heatmap_look look = {.column = UINT32_MAX, .row = UINT32_MAX};
	const unsigned most = MAP_LEVELS - 2;

	(void)state;
	h.cells[0].n = 7; /* shortest, first column: most; above it, 2 */
	h.cells[2].n = 0;
	h.cells[1].n = h.cells[3].n = 7;
	h.cells[4].n = 0;
	h.cells[6].n = 7;
	assert_int_equal(screen_resize(&s, 20, 3), 0);
	heatmap_draw(&s, &p, &h, &look);
	const struct display_cell *low = &s.cells[s.w + p.map.x], *high = &s.cells[p.map.x];
	assert_int_equal(low[0].ch, 0x2584);
	assert_int_equal(low[0].role, ROLE_MAP + most * MAP_LEVELS);
	assert_int_equal(low[1].ch, 0x2588);
	assert_int_equal(low[1].role, ROLE_MAP + most * MAP_LEVELS);
	assert_int_equal(high[0].ch, 0x2580);
	assert_int_equal(high[0].role, ROLE_MAP + most * MAP_LEVELS);
	/* Marked and empty is not as empty. */
	look.has_range = true;
	look.range = (struct heatmap_range){0, 0, 1, 2};
	heatmap_draw(&s, &p, &h, &look);
	assert_int_equal(low[0].ch, 0x2580);
	assert_int_equal(low[0].role, ROLE_MAP + (MAP_LEVELS - 1) * MAP_LEVELS + most);
	free(h.cells);
	free(h.now);
	screen_deinit(&s);
}

static void clicks_find_their_cells(void **state)
{
	(void)state;
	for (int letters = 0; letters < 2; letters++) {
		struct heatmap_place p = heatmap_place((struct rect){2, 1, 90, 20}, letters);
		struct query_heatmap h = make(30, 11);
		uint32_t column, row, found = 0;
		for (int y = 0; y < 24; y++)
			for (int x = 0; x < 100; x++) {
				if (!heatmap_cell_at(&p, &h, x, y, &column, &row))
					continue;
				assert_true(column < 30 && row < 11);
				assert_int_equal(x, p.map.x + (int)column);
				assert_int_equal(y,
						 p.map.y + p.map.h - 1 - (int)(row / p.per_line));
				found++;
			}
		assert_int_equal(found, letters ? 30 * 11 : 30 * 6);
		free(h.cells);
		free(h.now);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_at_every_size),
		cmocka_unit_test(nothing_is_drawn_outside),
		cmocka_unit_test(halves_have_the_colours_of_their_rows),
		cmocka_unit_test(clicks_find_their_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
