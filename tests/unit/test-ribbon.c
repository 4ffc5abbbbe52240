// SPDX-License-Identifier: GPL-2.0-only
#include "app/travel.h"
#include "kontend/mem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define S 1000000000ull
enum { TITLE = 16, LABEL = TITLE + 15 }; /* columns that are no strip: to its left, and in all */

static struct ribbon ten_seconds(struct timeline_bucket b[10])
{
	for (uint64_t i = 0; i < 10; i++)
		b[i] = (struct timeline_bucket){.start_ns = (5 + i) * S, .wait_ns = i * S / 9};
	return (struct ribbon){
		.buckets = b,
		.n = 10,
		.begin_ns = 5 * S,
		.end_ns = 15 * S,
		.read_ns = 15 * S,
		.now_ns = 9 * S,
	};
}

/* The screen's text, which the caller frees. */
static char *draw(const struct ribbon *b, struct screen *s, int w, int h)
{
	char *text;

	assert_int_equal(screen_resize(s, w, h), 0);
	screen_clear(s);
	ribbon_draw(b, s, (struct rect){0, 0, w, h});
	assert_int_equal(screen_text(s, &text), 0);
	return text;
}

static void test_a_cell_a_bucket(void **state)
{
	struct timeline_bucket buckets[10];
	struct ribbon b = ten_seconds(buckets);
	struct screen s = {0};
	char *text = draw(&b, &s, 10 + LABEL, 1);

	(void)state;
	/* Where one is: the bucket that ends there. */
	assert_string_equal(text, "wait/s     1.00  ▁▃│▅▆▇▇██ log 1.00s/cell\n");
	assert_int_equal(s.cells[TITLE + 2].role, ROLE_GRAPH);
	assert_int_equal(s.cells[TITLE + 4].role, ROLE_DIM);
	assert_int_equal(s.cells[TITLE + 3].attr, DISPLAY_REVERSE);
	mem_free(text);
	b.from_ns = 6 * S;
	b.to_ns = 9 * S;
	text = draw(&b, &s, 10 + LABEL, 1);
	assert_non_null(strstr(text, "  [▃]▅▆▇▇██ "));
	assert_int_equal(s.cells[TITLE].role, ROLE_DIM);
	assert_int_equal(s.cells[TITLE + 2].role, ROLE_GRAPH);
	mem_free(text);
	screen_deinit(&s);
}

/* The unread part takes its room, and is empty. */
static void test_a_part_is_read(void **state)
{
	struct timeline_bucket buckets[10];
	struct ribbon b = ten_seconds(buckets);
	struct screen s = {0};
	char *text;

	(void)state;
	b.n = 6;
	b.read_ns = b.now_ns = 11 * S;
	text = draw(&b, &s, 10 + LABEL, 1);
	assert_string_equal(text, "wait/s     0.56  ▂▅▆▇│     log 1.00s/cell\n");
	mem_free(text);
	screen_deinit(&s);
}

/* A short stall is seen in a long recording, and nothing where there was none. */
static void test_the_worst_is_shown(void **state)
{
	struct timeline_bucket buckets[1000];
	struct ribbon b = {.buckets = buckets,
			   .n = 1000,
			   .end_ns = 1000 * S,
			   .read_ns = 1000 * S,
			   .now_ns = 1};
	struct screen s = {0};
	char *text;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		buckets[i] = (struct timeline_bucket){.start_ns = i * S};
	buckets[555].wait_ns = S / 1000;
	text = draw(&b, &s, 10 + LABEL, 2);
	assert_string_equal(text, "wait/s    0.001 │    █     log 1m40s/cell\n\n");
	mem_free(text);
	screen_deinit(&s);
}

/* A storm of a hundred seconds a second leaves milliseconds visible, and nothing is nothing. */
static void test_one_storm_flattens_nothing(void **state)
{
	static const uint64_t waits[10] = {0,	  1,	 S / 1000, S / 100, S / 10,
					   S / 2, S * 1, S * 10,   S * 100, S};
	struct timeline_bucket buckets[10];
	struct ribbon b = ten_seconds(buckets);
	struct screen s = {0};

	(void)state;
	for (size_t i = 0; i < 10; i++)
		buckets[i].wait_ns = waits[i];
	b.now_ns = b.end_ns;
	char *text = draw(&b, &s, 10 + LABEL, 1);
	assert_string_equal(text, "wait/s      100  ▁▁▁▂▃▄▆█│ log 1.00s/cell\n");
	mem_free(text);
	screen_deinit(&s);
}

/* Rows that are nothing throughout are left out; what has a limit is drawn as a part of it. */
static void test_rows(void **state)
{
	static const uint64_t of[TIMELINE_FIGURES] = {[TIMELINE_SLOTS] = 8};
	struct timeline_bucket buckets[10];
	struct ribbon b = ten_seconds(buckets);
	struct screen s = {0};

	(void)state;
	assert_int_equal(ribbon_rows(&b), 1);
	b.of = of;
	b.now_ns = b.end_ns;
	for (size_t i = 0; i < 9; i++)
		buckets[i].figures[TIMELINE_SLOTS] = i;
	buckets[3].figures[TIMELINE_SHORT] = 1;
	buckets[4].figures[TIMELINE_SHORT] = 92;
	buckets[8].figures[TIMELINE_ROTATION] = S / 100;
	assert_int_equal(ribbon_rows(&b), 4);
	char *text = draw(&b, &s, 10 + LABEL, 5);
	assert_string_equal(text, "wait/s     1.00  ▁▃▄▅▆▇▇█│ log 1.00s/cell\n"
				  "slots      of 8  ▁▂▃▄▅▆▇█│\n"
				  "short        92    ▁█    │ log\n"
				  "rotation   1.0%         █│ log\n"
				  "\n");
	mem_free(text);
	text = draw(&b, &s, 10 + LABEL, 2);
	assert_null(strstr(text, "short"));
	mem_free(text);
	screen_deinit(&s);
}

/* Every cell can be clicked, later cells lead to later times, and the last one to the end. */
static void test_clicks(void **state)
{
	struct timeline_bucket buckets[10];
	struct ribbon b = ten_seconds(buckets);

	(void)state;
	for (int w = LABEL + 1; w < 300; w++) {
		struct rect r = {3, 1, w, 1};
		uint64_t before = b.begin_ns, ns;

		assert_false(ribbon_time_at(&b, r, 2 + TITLE, &ns));
		for (int x = 3 + TITLE; x < 3 + TITLE + w - LABEL; x++) {
			assert_true(ribbon_time_at(&b, r, x, &ns));
			assert_true(ns > before);
			before = ns;
		}
		assert_int_equal(before, b.end_ns);
		assert_false(ribbon_time_at(&b, r, 3 + TITLE + w - LABEL, &ns));
	}
}

static void test_odd_sizes_and_times(void **state)
{
	struct timeline_bucket buckets[10], none = {.start_ns = 7};
	struct ribbon b = ten_seconds(buckets);
	struct ribbon empty = {
		.buckets = &none, .n = 1, .begin_ns = 7, .end_ns = 7, .read_ns = 7, .now_ns = 7};
	struct screen s = {0};

	(void)state;
	b.to_ns = b.from_ns = b.now_ns = UINT64_MAX;
	for (int w = 1; w < 1500; w += w < 60 ? 1 : 97) {
		for (int h = 1; h < 4; h++) {
			mem_free(draw(&b, &s, w, h));
			mem_free(draw(&empty, &s, w, h));
		}
	}
	screen_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_cell_a_bucket),
		cmocka_unit_test(test_a_part_is_read),
		cmocka_unit_test(test_the_worst_is_shown),
		cmocka_unit_test(test_clicks),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_one_storm_flattens_nothing),
		cmocka_unit_test(test_odd_sizes_and_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
