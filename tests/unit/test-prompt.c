// SPDX-License-Identifier: GPL-2.0-only
#include "app/prompt.h"
#include "kontend/command.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int type(struct prompt *p, const char *text)
{
	uint32_t ch;
	size_t n;
	int r = 0;

	for (; (n = text_decode(text, &ch)) > 0; text += n)
		r = prompt_key(p, ch);
	return r;
}

static void test_editing(void **state)
{
	static struct prompt p;

	(void)state;
	prompt_open(&p, PROMPT_FILTER, "");
	assert_int_equal(type(&p, "ab日c"), PROMPT_EDITED);
	assert_string_equal(p.text, "ab日c");
	prompt_key(&p, KEY_K_LEFT);
	prompt_key(&p, KEY_K_LEFT);
	type(&p, "é");
	assert_string_equal(p.text, "abé日c");
	assert_int_equal(prompt_key(&p, KEY_K_DEL), PROMPT_EDITED);
	assert_string_equal(p.text, "abéc");
	prompt_key(&p, KEY_K_BACKSPACE);
	assert_string_equal(p.text, "abc");
	prompt_key(&p, KEY_K_END);
	assert_int_equal(prompt_key(&p, KEY_K_DEL), 0);
	type(&p, " de fg");
	prompt_key(&p, KEY_K_CTRL | 'w');
	assert_string_equal(p.text, "abc de ");
	prompt_key(&p, KEY_K_HOME);
	assert_int_equal(prompt_key(&p, KEY_K_LEFT), 0);
	type(&p, "x");
	assert_string_equal(p.text, "xabc de ");
	prompt_key(&p, KEY_K_END);
	prompt_key(&p, KEY_K_CTRL | 'u');
	assert_string_equal(p.text, "");
	assert_int_equal(prompt_key(&p, KEY_K_BACKSPACE), PROMPT_CANCEL);
	assert_int_equal(prompt_key(&p, KEY_K_ESC), PROMPT_CANCEL);
	assert_int_equal(prompt_key(&p, KEY_K_F5), 0);
	assert_int_equal(prompt_key(&p, 7), 0);
	assert_string_equal(p.text, "");
}

static void test_full_buffer(void **state)
{
	static struct prompt p;

	(void)state;
	prompt_open(&p, PROMPT_FILTER, "");
	for (int i = 0; i < PROMPT_TEXT * 2; i++)
		type(&p, "日");
	assert_int_equal(p.len, strlen(p.text));
	assert_true(p.len < PROMPT_TEXT);
	assert_int_equal(p.len % 3, 0);
	while (p.len)
		prompt_key(&p, KEY_K_BACKSPACE);
	assert_string_equal(p.text, "");
}

static void enter(struct prompt *p, enum prompt_kind kind, const char *text)
{
	prompt_open(p, kind, "");
	type(p, text);
	assert_int_equal(prompt_key(p, KEY_K_ENTER), PROMPT_DONE);
}

static void test_history(void **state)
{
	static struct prompt p;
	char line[8];

	(void)state;
	for (int i = 0; i < PROMPT_HISTORY + 4; i++) {
		snprintf(line, sizeof(line), "f%d", i);
		enter(&p, PROMPT_FILTER, line);
	}
	enter(&p, PROMPT_FILTER, line); /* the same again is one line */
	enter(&p, PROMPT_FILTER, "");	/* nothing is none */
	enter(&p, PROMPT_PALETTE, "quit");
	prompt_open(&p, PROMPT_FILTER, "");
	type(&p, "new");
	assert_int_equal(prompt_key(&p, KEY_K_DOWN), 0);
	prompt_key(&p, KEY_K_UP);
	assert_string_equal(p.text, "f19");
	prompt_key(&p, KEY_K_UP);
	assert_string_equal(p.text, "f18");
	for (int i = 0; i < 40; i++)
		prompt_key(&p, KEY_K_UP);
	assert_string_equal(p.text, "f4"); /* the oldest that is kept */
	for (int i = 0; i < 40; i++)
		prompt_key(&p, KEY_K_DOWN);
	assert_string_equal(p.text, "new");
}

static void test_completion(void **state)
{
	static struct prompt p;

	(void)state;
	prompt_open(&p, PROMPT_PALETTE, "");
	type(&p, "th");
	prompt_key(&p, KEY_K_TAB);
	assert_string_equal(p.text, "theme ");
	type(&p, "c");
	prompt_key(&p, KEY_K_TAB);
	assert_string_equal(p.text, "theme cvd");
	prompt_open(&p, PROMPT_PALETTE, "by ");
	prompt_key(&p, KEY_K_TAB);
	assert_string_equal(p.text, "by lock");
	prompt_key(&p, KEY_K_TAB);
	assert_string_equal(p.text, "by caller");
	for (int i = 0; i < 10; i++)
		prompt_key(&p, KEY_K_TAB);
	assert_string_equal(p.text, "by lock"); /* around */
	prompt_open(&p, PROMPT_PALETTE, "nonsense");
	assert_int_equal(prompt_key(&p, KEY_K_TAB), 0);
	assert_string_equal(p.text, "nonsense");
	prompt_open(&p, PROMPT_PALETTE, "sort ");
	assert_int_equal(prompt_key(&p, KEY_K_TAB), 0); /* columns are the view's */
	prompt_open(&p, PROMPT_FILTER, "th");
	assert_int_equal(prompt_key(&p, KEY_K_TAB), 0);
}

static void test_cursor_stays_in_sight(void **state)
{
	static struct prompt p;
	struct screen s = {0};
	char *text;

	(void)state;
	assert_int_equal(screen_resize(&s, 20, 2), 0);
	prompt_open(&p, PROMPT_FILTER, "a line longer than the screen!");
	prompt_draw(&p, &s, (struct rect){0, 1, 20, 1});
	assert_int_equal(screen_text(&s, &text), 0);
	assert_string_equal(text, "\nfilter: the screen!\n");
	mem_free(text);
	assert_int_equal(s.cells[20 + 18].attr & DISPLAY_REVERSE, 0);
	assert_int_equal(s.cells[20 + 19].attr & DISPLAY_REVERSE, DISPLAY_REVERSE);
	screen_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_editing),
		cmocka_unit_test(test_full_buffer),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_completion),
		cmocka_unit_test(test_cursor_stays_in_sight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
