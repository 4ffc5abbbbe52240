// SPDX-License-Identifier: GPL-2.0-only
/* Reports of the mouse, in both forms, byte by byte: whole, in parts, and broken at each byte. */
#include "term/mouse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static enum mouse_state feed(struct mouse_report *r, enum mouse_form form, const char *bytes)
{
	enum mouse_state state = MOUSE_GOES_ON;

	mouse_begin(r, form, 0);
	for (const char *p = bytes; *p && state == MOUSE_GOES_ON; p++) {
		state = mouse_take(r, (unsigned char)*p, 0);
		assert_true(p[1] || state != MOUSE_IS_WHOLE || r->form == MOUSE_NONE);
		assert_true(!p[1] || state != MOUSE_IS_WHOLE);
	}
	return state;
}

static void reports_are_read(void **state)
{
	static const struct {
		enum mouse_form form;
		const char *bytes;
		enum mouse_button button;
		bool is_pressed;
		int x, y;
	} cases[] = {
		{MOUSE_SGR, "0;8;24M", MOUSE_LEFT, true, 7, 23},
		{MOUSE_SGR, "0;8;24m", MOUSE_LEFT, false, 7, 23},
		{MOUSE_SGR, "28;510;210M", MOUSE_LEFT, true, 509, 209}, /* Shift, Meta, Control */
		{MOUSE_SGR, "1;1;1M", MOUSE_OTHER, true, 0, 0},
		{MOUSE_SGR, "32;2;3M", MOUSE_OTHER, true, 1, 2}, /* it moves */
		{MOUSE_SGR, "64;10;11M", MOUSE_WHEEL_UP, true, 9, 10},
		{MOUSE_SGR, "65;10;11M", MOUSE_WHEEL_DOWN, true, 9, 10},
		{MOUSE_SGR, "66;10;11M", MOUSE_OTHER, true, 9, 10},
		{MOUSE_SGR, "128;10;11M", MOUSE_OTHER, true, 9, 10},
		{MOUSE_BYTES, " (8", MOUSE_LEFT, true, 7, 23},
		{MOUSE_BYTES, "#(8", MOUSE_OTHER, false, 7, 23},
		{MOUSE_BYTES, "`!!", MOUSE_WHEEL_UP, true, 0, 0},
		{MOUSE_BYTES, "a\xff\xff", MOUSE_WHEEL_DOWN, true, 222, 222},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mouse_report r;

		assert_int_equal(feed(&r, cases[i].form, cases[i].bytes), MOUSE_IS_WHOLE);
		assert_int_equal(r.button, cases[i].button);
		assert_int_equal(r.is_pressed, cases[i].is_pressed);
		assert_int_equal(r.x, cases[i].x);
		assert_int_equal(r.y, cases[i].y);
	}
}

static void broken_reports_end(void **state)
{
	static const char *const sgr[] = {"q",	   ";",	      "M",	  "0q",	    "0M",
					  "0;q",   "0;;",     "0;1q",	  "0;1M",   "0;1;q",
					  "0;1;M", "0;1;1q",  "0;1;1;",	  "0;0;1M", "0;1;0M",
					  "\033",  "1000000", "0;1000000"};
	static const char *const bytes[] = {"\033", " \033", "  \033", "!  "};

	(void)state;
	for (size_t i = 0; i < sizeof(sgr) / sizeof(*sgr); i++) {
		struct mouse_report r;

		assert_int_equal(feed(&r, MOUSE_SGR, sgr[i]), MOUSE_IS_BROKEN);
		assert_int_equal(r.form, MOUSE_NONE);
	}
	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		struct mouse_report r;

		assert_int_equal(feed(&r, MOUSE_BYTES, bytes[i]), MOUSE_IS_BROKEN);
		assert_int_equal(r.form, MOUSE_NONE);
	}
}

/* The rest may come in another packet; much later, it is a key. */
static void the_rest_comes_soon(void **state)
{
	struct mouse_report r;
	uint64_t now_ns = 5000000000;

	(void)state;
	mouse_begin(&r, MOUSE_SGR, now_ns);
	for (const char *p = "0;8;24"; *p; p++) {
		now_ns += 900000000;
		assert_int_equal(mouse_take(&r, *p, now_ns), MOUSE_GOES_ON);
	}
	assert_int_equal(mouse_take(&r, 'M', now_ns + 1), MOUSE_IS_WHOLE);
	mouse_begin(&r, MOUSE_SGR, now_ns);
	assert_int_equal(mouse_take(&r, '2', now_ns + 1000000001), MOUSE_IS_BROKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_are_read),
		cmocka_unit_test(broken_reports_end),
		cmocka_unit_test(the_rest_comes_soon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
