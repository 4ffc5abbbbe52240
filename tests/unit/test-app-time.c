// SPDX-License-Identifier: GPL-2.0-only
#include "app-stage.h"
#include "kontend/mem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_plays_by_the_clock(void **state)
{
	struct stage st;
	uint64_t begin;

	(void)state;
	stage_replay(&st);
	begin = stage_at(&st);
	assert_true(app_time_wait_ms(st.app) > 900);
	assert_int_equal(stage_pass(&st, S - 1), ENGINE_IDLE);
	assert_int_equal(stage_pass(&st, 1), ENGINE_TICK);
	assert_int_equal(stage_at(&st), begin + 1);
	/* Late data is caught up with, and the next step is in time again. */
	assert_int_equal(stage_pass(&st, 3 * S + S / 2), ENGINE_TICK);
	assert_int_equal(stage_at(&st), begin + 4);
	assert_in_range(app_time_wait_ms(st.app), 499, 501);
	stage_press(&st, '}');
	stage_press(&st, '}');
	stage_pass(&st, S / 4);
	assert_int_equal(stage_at(&st), begin + 5);
	stage_press(&st, ' ');
	assert_int_equal(app_time_wait_ms(st.app), -1);
	assert_int_equal(stage_pass(&st, 100 * S), ENGINE_IDLE);
	assert_int_equal(stage_at(&st), begin + 5);
	stage_press(&st, ' ');
	assert_int_equal(stage_pass(&st, S / 8), ENGINE_IDLE);
	assert_int_equal(stage_pass(&st, S / 8), ENGINE_TICK);
	assert_int_equal(stage_at(&st), begin + 6);
	stage_close(&st);
}

/* The part that was read is shown while reading continues; then it is played from the beginning. */
static void test_reads_on_the_screen(void **state)
{
	struct stage st;

	(void)state;
	stage_reading(&st);
	assert_true(stage_shows(&st, "reading"));
	for (uint64_t i = 0; i < 5; i++)
		assert_true(stage_pass(&st, S) >= 0);
	app_draw(st.app);
	assert_int_equal(stage_counted(&st), 5);
	assert_true(stage_shows(&st, "+0:05 of 0:05"));
	stage_press(&st, 't');
	assert_true(stage_shows(&st, "Read up to +0:05 so far; reading continues"));
	stage_close(&st);

	stage_reading(&st);
	while (!timeline_is_read(st.timeline))
		assert_true(stage_pass(&st, S) >= 0);
	app_draw(st.app);
	assert_false(stage_shows(&st, "read"));
	assert_true(stage_shows(&st, "▶"));
	assert_int_equal(stage_at(&st), 100);
	stage_close(&st);
}

/* When the user goes back, the rest is kept; reading continues where it was left. */
static void test_goes_in_what_was_read(void **state)
{
	struct stage st;

	(void)state;
	stage_reading(&st);
	for (uint64_t i = 0; i < 5; i++)
		stage_pass(&st, S);
	stage_go(&st, "3");
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(stage_pass(&st, S), ENGINE_IDLE);
	assert_int_equal(stage_counted(&st), 3);
	assert_true(stage_shows(&st, "PAUSED"));
	assert_true(stage_shows(&st, "read"));
	assert_false(stage_shows(&st, "reading"));
	/* A range that ends where reading has come to: it would not be one any more. */
	stage_press(&st, '[');
	stage_go(&st, "19");
	assert_int_equal(stage_counted(&st), 2);
	stage_press(&st, 't');
	assert_true(stage_shows(&st, "Read up to +0:05 so far; \\ forgets the range"));
	assert_int_equal(stage_pass(&st, S), ENGINE_IDLE);
	stage_press(&st, '\\');
	assert_int_equal(stage_counted(&st), 5);
	assert_true(stage_shows(&st, "reading"));
	while (!timeline_is_read(st.timeline))
		assert_true(stage_pass(&st, S) >= 0);
	app_draw(st.app);
	assert_int_equal(stage_counted(&st), SECONDS);
	assert_true(stage_shows(&st, "END"));
	stage_close(&st);
}

static void test_speed_has_bounds(void **state)
{
	struct stage st;

	(void)state;
	stage_replay(&st);
	for (int i = 0; i < 10; i++)
		stage_press(&st, '{');
	assert_true(stage_shows(&st, "x1/8 ▶"));
	assert_true(stage_shows(&st, "No slower"));
	assert_int_equal(stage_pass(&st, 8 * S - 8), ENGINE_IDLE);
	assert_int_equal(stage_pass(&st, 8), ENGINE_TICK);
	for (int i = 0; i < 12; i++)
		stage_press(&st, '}');
	assert_true(stage_shows(&st, "x64 ▶"));
	assert_int_equal(stage_pass(&st, S), ENGINE_TICK);
	assert_true(stage_shows(&st, "No faster"));
	app_draw(st.app);
	stage_press(&st, KEY_K_UP);
	assert_true(stage_shows(&st, "x64 END"));
	assert_int_equal(stage_pass(&st, S), ENGINE_IDLE);
	/* From the end it begins again. */
	stage_press(&st, ' ');
	assert_int_equal(timeline_now_ns(st.timeline), 100 * S);
	assert_true(stage_shows(&st, "x64 ▶"));
	stage_close(&st);
}

static void test_steps_and_edges(void **state)
{
	struct stage st;

	(void)state;
	stage_replay(&st);
	stage_press(&st, 'T');
	assert_true(stage_shows(&st, "This is the beginning"));
	assert_true(stage_shows(&st, "PAUSED"));
	for (uint64_t i = 0; i < SECONDS; i++) {
		assert_int_equal(stage_at(&st), 100 + i);
		assert_int_equal(stage_counted(&st), i);
		stage_press(&st, 't');
	}
	assert_int_equal(stage_at(&st), 100 + SECONDS);
	assert_false(stage_shows(&st, "This is the end"));
	stage_press(&st, 't');
	assert_true(stage_shows(&st, "This is the end"));
	for (uint64_t i = SECONDS; i-- > 0;) {
		stage_press(&st, 'T');
		assert_int_equal(stage_at(&st), 100 + i);
		assert_int_equal(stage_counted(&st), i);
	}
	stage_press(&st, 'Z');
	assert_int_equal(stage_counted(&st), SECONDS);
	stage_press(&st, 'r');
	assert_int_equal(stage_counted(&st), 0);
	stage_close(&st);
}

/* Tables cover the time from the begin of the range, if that is earlier, to the cursor. */
static void test_ranges(void **state)
{
	struct stage st;

	(void)state;
	stage_replay(&st);
	stage_go(&st, "5");
	assert_int_equal(stage_counted(&st), 5);
	stage_press(&st, '[');
	assert_true(stage_shows(&st, "counting from 0:05"));
	assert_int_equal(stage_counted(&st), 5); /* until one moves, all of it */
	stage_go(&st, "9");
	assert_int_equal(stage_counted(&st), 4);
	assert_false(app_averages(st.app));
	assert_true(stage_shows(&st, "+0:09, counted from +0:05"));
	stage_press(&st, ']');
	assert_true(app_averages(st.app));
	assert_int_equal(stage_counted(&st), 4);
	assert_true(stage_shows(&st, "RANGE +0:05 to +0:09"));
	/* Elsewhere the marks stay, and an end can be moved. */
	stage_go(&st, "3");
	assert_int_equal(stage_counted(&st), 3);
	assert_false(app_averages(st.app));
	stage_press(&st, '[');
	assert_int_equal(stage_at(&st), 109);
	assert_int_equal(stage_counted(&st), 6);
	stage_go(&st, "+2s");
	assert_int_equal(stage_counted(&st), 8);
	stage_press(&st, '\\');
	assert_int_equal(stage_at(&st), 111);
	assert_int_equal(stage_counted(&st), 11);
	stage_press(&st, '\\');
	assert_true(stage_shows(&st, "No range is marked"));
	stage_close(&st);
}

static void test_ranges_from_either_end(void **state)
{
	struct stage st;

	(void)state;
	stage_replay(&st);
	stage_go(&st, "9");
	stage_press(&st, ']');
	assert_true(stage_shows(&st, "RANGE +0:00 to +0:09"));
	assert_int_equal(stage_counted(&st), 9);
	stage_press(&st, '[');
	assert_true(stage_shows(&st, "The range ends here"));
	stage_go(&st, "12");
	stage_press(&st, '['); /* after the end: they change places */
	assert_true(stage_shows(&st, "RANGE +0:09 to +0:12"));
	assert_int_equal(stage_counted(&st), 3);
	/* Esc forgets the range when nothing else is left to leave. */
	stage_press(&st, '2');
	stage_press(&st, KEY_K_ENTER);
	stage_press(&st, KEY_K_ESC);
	assert_true(stage_shows(&st, "RANGE"));
	stage_press(&st, KEY_K_ESC);
	assert_false(stage_shows(&st, "RANGE"));
	assert_int_equal(stage_counted(&st), 12);
	stage_press(&st, 'z'); /* counts again from here, as live */
	stage_press(&st, ']');
	assert_true(stage_shows(&st, "The range begins here"));
	stage_press(&st, 't');
	assert_int_equal(stage_counted(&st), 1);
	stage_close(&st);
}

/* Playing goes on from the begin of a range without forgetting it. */
static void test_plays_within_a_range(void **state)
{
	struct stage st;

	(void)state;
	stage_replay(&st);
	stage_go(&st, "5");
	stage_press(&st, '[');
	for (uint64_t i = 1; i < 10; i++) {
		assert_int_equal(stage_pass(&st, S), ENGINE_TICK);
		assert_int_equal(stage_counted(&st), i);
	}
	stage_close(&st);
}

static void test_clicks_on_the_ribbon(void **state)
{
	struct stage st;

	(void)state;
	stage_replay(&st);
	app_key(st.app, &(struct display_input){.key = KEY_K_CLICK, .x = 40, .y = 1});
	assert_int_equal(stage_at(&st), 110);
	app_key(st.app, &(struct display_input){.key = KEY_K_CLICK, .x = 66, .y = 1});
	assert_int_equal(stage_at(&st), 110);
	app_key(st.app, &(struct display_input){.key = KEY_K_CLICK, .x = 64, .y = 1});
	assert_int_equal(stage_at(&st), 120);
	stage_close(&st);
}

/* Marks are forgotten before the range is; going elsewhere leaves the comparison unchanged. */
static void test_marks(void **state)
{
	struct stage st;

	(void)state;
	stage_replay(&st);
	stage_press(&st, ' ');
	stage_press(&st, '2');
	stage_go(&st, "4");
	stage_press(&st, 'm');
	assert_true(stage_shows(&st, "A is at 0:04"));
	stage_go(&st, "15");
	stage_press(&st, 'm');
	assert_true(stage_shows(&st, "B - A: 0:15 - 0:04"));
	assert_true(stage_shows(&st, "B minus A"));
	stage_press(&st, 'r');
	assert_true(stage_shows(&st, "B - A: 0:15 - 0:04"));
	stage_press(&st, '1');
	assert_true(stage_shows(&st, "of one moment"));
	stage_press(&st, '[');
	stage_press(&st, KEY_K_ESC);
	assert_false(stage_shows(&st, "B - A"));
	stage_press(&st, KEY_K_ESC);
	for (const char *c = ":mark c\n:mark off\n"; *c; c++)
		stage_press(&st, *c == '\n' ? KEY_K_ENTER : (uint32_t)*c);
	assert_true(stage_shows(&st, "Nothing is marked"));
	stage_close(&st);
}

/* Keys that work only while live are absent here, and the other way round. */
static void test_commands_of_the_mode(void **state)
{
	struct stage st;

	(void)state;
	stage_replay(&st);
	stage_press(&st, ' ');
	stage_press(&st, '+');
	assert_false(stage_shows(&st, "refresh every"));
	stage_go(&st, "soon");
	assert_true(stage_shows(&st, "is no time"));
	stage_press(&st, ':');
	for (const char *c = "delay 2s"; *c; c++)
		stage_press(&st, (uint32_t)*c);
	stage_press(&st, KEY_K_ENTER);
	assert_true(stage_shows(&st, "No command is called"));
	stage_close(&st);
}

/* Lack of memory is reported, and continuing afterwards leads to the right state. */
static void test_without_memory(void **state)
{
	struct stage st;

	(void)state;
	stage_replay(&st);
	stage_press(&st, ' ');
	for (long k = 0; k < 200; k++) {
		mem_fail_after(k);
		app_key(st.app, &(struct display_input){.key = k & 1 ? 'Z' : 'r'});
		mem_fail_after(-1);
	}
	stage_press(&st, 'r');
	assert_int_equal(stage_counted(&st), 0);
	stage_press(&st, 'Z');
	assert_int_equal(stage_counted(&st), SECONDS);
	stage_close(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plays_by_the_clock),
		cmocka_unit_test(test_reads_on_the_screen),
		cmocka_unit_test(test_goes_in_what_was_read),
		cmocka_unit_test(test_speed_has_bounds),
		cmocka_unit_test(test_steps_and_edges),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_ranges_from_either_end),
		cmocka_unit_test(test_plays_within_a_range),
		cmocka_unit_test(test_clicks_on_the_ribbon),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_commands_of_the_mode),
		cmocka_unit_test(test_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
