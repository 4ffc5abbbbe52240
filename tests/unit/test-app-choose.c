// SPDX-License-Identifier: GPL-2.0-only
#include "app-stage.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The display of the stage, which notes what theme it was given last. */
static char shown[16];

static int note_theme(struct display *d, const char *name)
{
	(void)d;
	if (!strcmp(name, "none"))
		return -EINVAL;
	snprintf(shown, sizeof(shown), "%s", name);
	return 0;
}

static void command(struct stage *st, const char *line)
{
	stage_press(st, ':');
	for (; *line; line++)
		stage_press(st, (uint32_t)*line);
	stage_press(st, KEY_K_ENTER);
}

/* A theme is shown while one is on it; Esc brings back the one that was there. */
static void test_theme(void **state)
{
	struct display_ops ops;
	struct stage st;

	(void)state;
	stage_live(&st);
	ops = *st.display->ops;
	ops.theme = note_theme;
	st.display->ops = &ops;
	command(&st, "theme light");
	assert_string_equal(shown, "light");
	command(&st, "theme");
	assert_true(stage_shows(&st, "for colour blindness"));
	stage_press(&st, 'm');
	assert_string_equal(shown, "mono");
	stage_press(&st, KEY_K_ESC);
	assert_string_equal(shown, "light");
	assert_false(stage_shows(&st, "for colour blindness"));
	command(&st, "theme");
	stage_press(&st, KEY_K_DOWN);
	stage_press(&st, KEY_K_ENTER);
	assert_string_equal(shown, "cvd");
	assert_string_equal(st.app->theme, "cvd");
	command(&st, "theme none");
	assert_string_equal(st.app->theme, "cvd");
	assert_true(stage_shows(&st, "No theme is called 'none'"));
	stage_close(&st);
}

static struct {
	char table[32], keys[QUERY_COLUMNS_TEXT];
	int code, n;
} kept;

static int note_columns(void *arg, const char *where, const char *table, const char *keys,
			struct error *err)
{
	assert_null(arg);
	assert_string_equal(where, "/home/u/config");
	snprintf(kept.table, sizeof(kept.table), "%s", table);
	snprintf(kept.keys, sizeof(kept.keys), "%s", keys ? keys : "as built");
	kept.n++;
	return kept.code < 0 ? error_set(err, kept.code, "Cannot write it") : 0;
}

/* In the list of columns: the tick of @name is the other one. */
static void tick(struct stage *st, char letter)
{
	stage_press(st, KEY_K_HOME);
	stage_press(st, (uint32_t)letter);
	stage_press(st, ' ');
}

static void test_columns(void **state)
{
	const struct app_keep keep = {note_columns, NULL, "/home/u/config"};
	struct stage st;

	(void)state;
	stage_live(&st);
	st.app->keep = &keep;
	command(&st, "view locks");
	assert_true(stage_shows(&st, "AVG"));
	stage_press(&st, 'o');
	tick(&st, 'a');
	tick(&st, 't'); /* the type, which stays */
	stage_press(&st, KEY_K_ESC);
	assert_int_equal(kept.n, 0);
	assert_true(stage_shows(&st, "AVG"));
	stage_press(&st, 'o');
	tick(&st, 'a');
	stage_press(&st, KEY_K_ENTER);
	assert_true(stage_shows(&st, "kept in /home/u/config"));
	assert_false(stage_shows(&st, "AVG"));
	assert_string_equal(kept.table, "locks");
	assert_null(strstr(kept.keys, "avg_ns"));
	assert_non_null(strstr(kept.keys, ",locks,")); /* which is not there when by lock */
	stage_press(&st, 'o');
	tick(&st, 'a');
	stage_press(&st, KEY_K_ENTER);
	assert_ptr_equal(strstr(kept.keys, "avg_ns,"), kept.keys);
	stage_close(&st);
}

static void test_columns_not_kept(void **state)
{
	const struct app_keep keep = {note_columns, NULL, "/home/u/config"};
	struct stage st;

	(void)state;
	kept.code = -EACCES;
	stage_live(&st);
	command(&st, "view locks");
	stage_press(&st, 'o');
	tick(&st, 'a');
	stage_press(&st, KEY_K_ENTER);
	assert_true(stage_shows(&st, "without a configuration nothing is kept"));
	assert_false(stage_shows(&st, "AVG"));
	st.app->keep = &keep;
	stage_press(&st, 'o');
	tick(&st, 'm');
	stage_press(&st, KEY_K_ENTER);
	assert_true(stage_shows(&st, "not kept: Cannot write it"));
	stage_close(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_theme),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_columns_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
