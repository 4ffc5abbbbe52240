// SPDX-License-Identifier: GPL-2.0-only
#include "widgets/chooser.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { W = 60, H = 15 };

static int key(struct chooser *c, uint32_t key)
{
	return chooser_key(c, &(struct display_input){.key = key});
}

static int click(struct chooser *c, int x, int y)
{
	return chooser_key(c, &(struct display_input){.key = KEY_K_CLICK, .x = x, .y = y});
}

static void fill(struct chooser *c, bool ticks, const char *const *names, size_t n)
{
	chooser_open(c, "things", ticks);
	for (size_t i = 0; i < n; i++)
		assert_non_null(chooser_add(c, names[i], "what it is"));
}

static const char *const names[] = {"Alpha", "beta", "Bravo", "gamma", "%"};

static void draw(struct chooser *c)
{
	struct screen s = {0};

	assert_int_equal(screen_resize(&s, W, H), 0);
	chooser_draw(c, &s, (struct rect){0, 2, W, H - 3});
	screen_deinit(&s);
}

static void test_letters(void **state)
{
	static struct chooser c;

	(void)state;
	fill(&c, false, names, 5);
	assert_int_equal(key(&c, 'B'), CHOOSER_MOVED);
	assert_int_equal(c.index, 1);
	assert_int_equal(key(&c, 'b'), CHOOSER_MOVED);
	assert_int_equal(c.index, 2);
	key(&c, 'b');
	assert_int_equal(c.index, 1);
	key(&c, '%');
	assert_int_equal(c.index, 4);
	key(&c, 'a');
	assert_int_equal(c.index, 0);
	assert_int_equal(key(&c, 'x'), 0);
	assert_int_equal(key(&c, ' '), 0);
	assert_int_equal(c.index, 0);
}

static void test_moves(void **state)
{
	static struct chooser c;

	(void)state;
	fill(&c, false, names, 5);
	assert_int_equal(key(&c, KEY_K_UP), 0);
	assert_int_equal(key(&c, KEY_K_DOWN), CHOOSER_MOVED);
	assert_int_equal(key(&c, KEY_K_END), CHOOSER_MOVED);
	assert_int_equal(c.index, 4);
	assert_int_equal(key(&c, KEY_K_WHEEL_DOWN), 0);
	assert_int_equal(key(&c, KEY_K_WHEEL_UP), CHOOSER_MOVED);
	assert_int_equal(key(&c, KEY_K_HOME), CHOOSER_MOVED);
	assert_int_equal(key(&c, KEY_K_ENTER), CHOOSER_TAKEN);
	assert_int_equal(key(&c, KEY_K_ESC), CHOOSER_LEFT);
	assert_int_equal(key(&c, KEY_K_F1), 0);
}

static void test_ticks(void **state)
{
	static struct chooser c;

	(void)state;
	fill(&c, true, names, 5);
	key(&c, 'g');
	assert_int_equal(key(&c, ' '), CHOOSER_TICKED);
	assert_true(c.entries[3].ticked);
	key(&c, KEY_K_HOME);
	key(&c, ' ');
	assert_true(c.entries[0].turn > c.entries[3].turn);
	key(&c, ' ');
	assert_false(c.entries[0].ticked);
	assert_true(c.entries[3].ticked);
}

/* Rows begin below the upper border; beside the box is away. */
static void test_clicks(void **state)
{
	static struct chooser c;

	(void)state;
	fill(&c, false, names, 5);
	draw(&c);
	assert_int_equal(c.box.y + c.box.h, H - 1);
	assert_int_equal(click(&c, 3, c.box.y), 0);
	assert_int_equal(click(&c, 3, c.box.y + c.box.h - 1), 0);
	assert_int_equal(click(&c, 3, c.box.y + 3), CHOOSER_TAKEN);
	assert_int_equal(c.index, 2);
	assert_int_equal(click(&c, 3, c.box.y - 1), CHOOSER_LEFT);
	assert_int_equal(click(&c, c.box.w, c.box.y + 1), CHOOSER_LEFT);
	c.ticks = true;
	assert_int_equal(click(&c, 3, c.box.y + 1), CHOOSER_TICKED);
	assert_true(c.entries[0].ticked);
}

/* Of more entries than there are lines, those about the chosen one are shown, and can be clicked.
 */
static void test_long(void **state)
{
	static struct chooser c;
	char name[16];

	(void)state;
	chooser_open(&c, "many", false);
	for (int i = 0; i < CHOOSER_ENTRIES; i++) {
		snprintf(name, sizeof(name), "entry %d", i);
		assert_non_null(chooser_add(&c, name, ""));
	}
	assert_null(chooser_add(&c, "one more", ""));
	draw(&c);
	assert_int_equal(c.box.h, H - 3);
	key(&c, KEY_K_END);
	draw(&c);
	assert_int_equal(click(&c, 2, c.box.y + 1), CHOOSER_TAKEN);
	assert_int_equal(c.index, CHOOSER_ENTRIES - (c.box.h - 2));
	assert_int_equal(key(&c, KEY_K_PGUP), CHOOSER_MOVED);
	assert_int_equal(c.index, CHOOSER_ENTRIES - (c.box.h - 2) - (c.box.h - 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_letters), cmocka_unit_test(test_moves),
		cmocka_unit_test(test_ticks),	cmocka_unit_test(test_clicks),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
