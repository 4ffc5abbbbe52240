// SPDX-License-Identifier: GPL-2.0-only
/* The sequence that sets a terminal's clipboard: base64 as RFC 4648 has it, and not too much. */
#include "kontend/display.h"
#include "kontend/mem.h"
#include "term/tty.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_sequences(void **state)
{
	static const struct {
		const char *text, *base64;
	} cases[] = {
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
		{"a\tb", "YQli"},
		{"\xc3\xbf?", "w78/"},
		{"\xef\xbf\xbe", "77++"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *base64 = cases[i].base64;
		size_t len = strlen(base64);
		char *got;

		assert_int_equal(tty_clipboard(cases[i].text, &got), 0);
		assert_memory_equal(got, "\033]52;c;", 7);
		assert_memory_equal(got + 7, base64, len);
		assert_string_equal(got + 7 + len, "\a");
		mem_free(got);
	}
}

static void test_most(void **state)
{
	static char text[DISPLAY_COPY_MAX + 2];
	char *got;

	(void)state;
	memset(text, 'x', DISPLAY_COPY_MAX);
	assert_int_equal(tty_clipboard(text, &got), 0);
	assert_int_equal(strlen(got), 7 + (64 << 10) + 1);
	mem_free(got);
	text[DISPLAY_COPY_MAX] = 'x';
	assert_int_equal(tty_clipboard(text, &got), -E2BIG);
}

static void test_terminals(void **state)
{
	(void)state;
	assert_true(tty_has_clipboard("xterm-256color", NULL, NULL));
	assert_true(tty_has_clipboard("tmux-256color", "", "/tmp/tmux,1,0"));
	assert_true(tty_has_clipboard("screen", "12.host", "/tmp/tmux,1,0"));
	assert_false(tty_has_clipboard("screen", "12.host", NULL));
	assert_false(tty_has_clipboard("linux", NULL, NULL));
	assert_false(tty_has_clipboard("linux-16color", NULL, NULL));
	assert_false(tty_has_clipboard(NULL, NULL, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sequences),
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_terminals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
