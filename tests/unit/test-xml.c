// SPDX-License-Identifier: GPL-2.0-only
/* Text as the content of XML elements: references, characters that XML cannot have, limits. */
#include "kontend/xml.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *text, size_t most, const char *want)
{
	char *got;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	xml_put(out, text, most);
	fclose(out);
	assert_string_equal(got, want);
	free(got);
}

static void test_text(void **state)
{
	(void)state;
	expect("", SIZE_MAX, "");
	expect("a<b> && \"c\" 'd'", SIZE_MAX, "a&lt;b&gt; &amp;&amp; \"c\" 'd'");
	expect("größe 日本", SIZE_MAX, "größe 日本");
	expect("two\nlines", SIZE_MAX, "two\nlines");
	expect("\033[1m\x7f\xc2\x85", SIZE_MAX, "?[1m??");
	expect("\xef\xbf\xbe\xef\xbf\xbf", SIZE_MAX, "??"); /* U+FFFE and U+FFFF */
	expect("a\xff"
	       "b",
	       SIZE_MAX,
	       "a\xef\xbf\xbd"
	       "b");
}

static void test_most(void **state)
{
	(void)state;
	expect("日本語", 2, "日本");
	expect("<<<", 1, "&lt;");
	expect("abc", 0, "");
	expect("abc", 4, "abc");
}

static void test_char(void **state)
{
	static const uint32_t bad[] = {0, 1, '\t', 0x9f, 0xd800, 0xdfff, 0x1fffe, 0x110000};
	char *got;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		xml_put_char(out, bad[i]);
	xml_put_char(out, 0x10fffd);
	fclose(out);
	assert_string_equal(got, "????????\xf4\x8f\xbf\xbd");
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_char),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
