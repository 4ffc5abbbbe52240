// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/uprobe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void good_ones(void **state)
{
	static const struct {
		const char *text;
		struct uprobe_spec want;
	} all[] = {
		{"/bin/app:parse", {"/bin/app", "parse", 0, false}},
		{"app:parse+0x1f", {"app", "parse", 0x1f, false}},
		{"app:parse+12", {"app", "parse", 12, false}},
		{"app:parse%return", {"app", "parse", 0, true}},
		{"app:parse+0%return", {"app", "parse", 0, true}},
		{"app:0x1340", {"app", "", 0x1340, false}},
		{"app:0x1340%return", {"app", "", 0x1340, true}},
		{"/a:b/c d:_ZN3foo3barEv.cold", {"/a:b/c d", "_ZN3foo3barEv.cold", 0, false}},
		{"app:%", {"app", "%", 0, false}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct uprobe_spec s;
		if (uprobe_spec_parse(all[i].text, &s, NULL) < 0)
			fail_msg("%s is refused", all[i].text);
		assert_string_equal(s.binary, all[i].want.binary);
		assert_string_equal(s.function, all[i].want.function);
		assert_int_equal(s.offset, all[i].want.offset);
		assert_int_equal(s.is_return, all[i].want.is_return);
	}
}

static void bad_ones(void **state)
{
	static const char *const all[] = {
		"",
		"app",
		":parse",
		"app:",
		"app:%return",
		"app:+1",
		"app:parse+",
		"app:p+x",
		"app:p+-1",
		"app:p+1x",
		"app:1x",
		"app:0x",
		"app:p+0xg",
		"app:p+1+2",
		"app:p+1%return",
		"app:0xfffffffffffffffff",
	};
	char text[1024];
	struct uprobe_spec s;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		err = (struct error){0};
		if (uprobe_spec_parse(all[i], &s, &err) == 0)
			fail_msg("%s is taken", all[i]);
		assert_true(*err.text != '\0');
	}
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	text[300] = ':';
	assert_true(uprobe_spec_parse(text, &s, NULL) < 0);
	text[100] = ':';
	text[300] = 'a';
	assert_true(uprobe_spec_parse(text, &s, NULL) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_ones),
		cmocka_unit_test(bad_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
