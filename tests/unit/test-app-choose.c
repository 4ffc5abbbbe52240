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
	assert_true(stage_shows(&st, "No theme is called \"none\""));
	stage_close(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_theme),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
