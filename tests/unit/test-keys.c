// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each key in the line of keys does something: each key of each view, once there are rows, and the
 * names of views that have a digit are there in both lengths.
 */
#include "app-stage.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static size_t try_keys(struct stage *st, const struct view_ops *ops)
{
	size_t n = 0;

	for (const struct view_key *k = ops->keys; k && k->command; k++, n++) {
		st->app->message[0] = '\0';
		app_command(st->app, k->command, &(struct command_arg){0});
		app_draw(st->app);
		if (strstr(st->app->message, "does nothing"))
			fail_msg("%s: %s: %s", ops->name, k->text, st->app->message);
		st->app->prompt.kind = PROMPT_NONE;
		app_command(st->app, CMD_VIEW, &(struct command_arg){.text = ops->name});
		app_draw(st->app);
	}
	return n;
}

static void test_no_key_is_idle(void **state)
{
	struct stage st;
	size_t n = 0;

	(void)state;
	stage_live(&st);
	stage_ticks(&st, 3);
	for (size_t i = 0; view_roots[i]; i++) {
		app_command(st.app, CMD_VIEW, &(struct command_arg){.text = view_roots[i]->name});
		app_draw(st.app);
		n += try_keys(&st, view_roots[i]);
	}
	assert_true(n > 30);
	stage_close(&st);
}

static void test_views_have_two_names(void **state)
{
	(void)state;
	for (size_t i = 0; view_roots[i]; i++) {
		const struct view_ops *o = view_roots[i];

		assert_int_equal(o->brief != NULL, o->digit >= '0' && o->digit <= '9');
		assert_true(!o->brief || strlen(o->brief) <= strlen(o->name));
		assert_non_null(o->keys);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_key_is_idle),
		cmocka_unit_test(test_views_have_two_names),
	};

	return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
