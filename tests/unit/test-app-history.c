// SPDX-License-Identifier: GPL-2.0-only
#include "app-stage.h"
#include "kontend/mem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_goes_back_in_a_pause(void **state)
{
	struct stage st;

	(void)state;
	stage_live(&st);
	stage_ticks(&st, 11);
	assert_int_equal(stage_counted(&st), 10);
	assert_false(stage_shows(&st, "go to"));
	stage_press(&st, ' ');
	assert_true(stage_shows(&st, "PAUSED 0:10"));
	assert_true(stage_shows(&st, "T goes back 0:10"));
	assert_true(stage_shows(&st, "Space go on"));
	stage_press(&st, 'T');
	stage_press(&st, 'T');
	stage_press(&st, 'T');
	assert_in_range(stage_counted(&st), 7, 8);
	stage_press(&st, 'r');
	assert_int_equal(stage_counted(&st), 0);
	stage_go(&st, "4");
	stage_press(&st, '[');
	stage_go(&st, "+3s");
	stage_press(&st, ']');
	assert_true(stage_shows(&st, "RANGE +0:04 to +0:07"));
	assert_int_equal(stage_counted(&st), 3);
	stage_to_the_end(&st); /* collects meanwhile; the picture stays */
	assert_int_equal(stage_counted(&st), 3);
	stage_press(&st, ' ');
	assert_false(stage_shows(&st, "RANGE"));
	assert_int_equal(stage_counted(&st), 10);
	stage_ticks(&st, 1);
	assert_int_equal(stage_counted(&st), 11);
	stage_to_the_end(&st);
	assert_int_equal(stage_counted(&st), SECONDS);
	assert_true(stage_shows(&st, "ended"));
	assert_true(stage_shows(&st, "lost ·"));
	stage_close(&st);
}

/* A mark outlives the pause that it was set in, and needs none. */
static void test_marks(void **state)
{
	struct stage st;

	(void)state;
	stage_live(&st);
	stage_ticks(&st, 6);
	stage_press(&st, '2');
	stage_press(&st, 'm');
	assert_false(app_paused(st.app));
	stage_ticks(&st, 2);
	stage_press(&st, 'T');
	stage_press(&st, 'm');
	assert_true(stage_shows(&st, "B minus A"));
	stage_press(&st, ' ');
	stage_ticks(&st, 2);
	assert_true(stage_shows(&st, "B - A: 0:0"));
	stage_press(&st, KEY_K_ESC);
	assert_false(stage_shows(&st, "B - A: 0:0"));
	stage_close(&st);
}

/* A key that goes in time pauses by itself; leaving the program from there is in order. */
static void test_going_in_time_pauses(void **state)
{
	struct stage st;

	(void)state;
	stage_live(&st);
	stage_press(&st, 'T');
	assert_true(stage_shows(&st, "nothing to go back to yet"));
	stage_press(&st, ' ');
	stage_ticks(&st, 6);
	stage_press(&st, 'r');
	assert_true(app_paused(st.app));
	assert_int_equal(stage_counted(&st), 0);
	stage_press(&st, ' ');
	assert_int_equal(stage_counted(&st), 5);
	stage_press(&st, 'z'); /* live: what z has always meant */
	assert_int_equal(stage_counted(&st), 0);
	stage_ticks(&st, 2);
	assert_int_equal(stage_counted(&st), 2);
	stage_press(&st, 'T');
	stage_close(&st);
}

/* At the end of the session one can still go back, and forth again. */
static void test_goes_back_from_the_end(void **state)
{
	struct stage st;

	(void)state;
	stage_live(&st);
	stage_to_the_end(&st);
	assert_true(stage_shows(&st, "ended"));
	stage_press(&st, 'r');
	assert_int_equal(stage_counted(&st), 0);
	stage_press(&st, 'Z');
	assert_int_equal(stage_counted(&st), SECONDS);
	stage_press(&st, ' ');
	stage_to_the_end(&st);
	assert_int_equal(stage_counted(&st), SECONDS);
	stage_close(&st);
}

static void test_history_without_memory(void **state)
{
	struct stage st;

	(void)state;
	stage_live(&st);
	stage_ticks(&st, 11);
	for (long k = 0; k < 150; k++) {
		mem_fail_after(k);
		app_key(st.app, &(struct display_input){.key = k & 1 ? 'T' : ' '});
		mem_fail_after(-1);
	}
	if (!app_paused(st.app))
		stage_press(&st, ' ');
	stage_press(&st, 'r');
	assert_int_equal(stage_counted(&st), 0);
	stage_press(&st, ' ');
	stage_to_the_end(&st);
	assert_int_equal(stage_counted(&st), SECONDS);
	stage_close(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_back_in_a_pause),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_going_in_time_pauses),
		cmocka_unit_test(test_goes_back_from_the_end),
		cmocka_unit_test(test_history_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
