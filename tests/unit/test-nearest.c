// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"malloc", "calloc",	 "realloc", "mallopt",
				    "free",   "mallinf", "malloc",  "malloc_usable_size"};

static struct nearest nearest_of(const char *word)
{
	struct nearest n = {.word = word};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		nearest_consider(&n, names[i]);
	return n;
}

static void the_nearest_first(void **state)
{
	struct nearest n = nearest_of("maloc");

	(void)state;
	assert_int_equal(n.n, 3);
	assert_string_equal(n.names[0], "malloc");
	assert_int_equal(n.distance[0], 1);
	assert_string_equal(n.names[1], "calloc");
	assert_string_equal(n.names[2], "realloc");
}

static void each_once_and_no_more_than_there_is_room_for(void **state)
{
	struct nearest n = nearest_of("mall");

	(void)state;
	assert_int_equal(n.n, 3); /* four begin with it */
	assert_string_equal(n.names[0], "malloc");
	assert_string_equal(n.names[1], "mallopt");
	assert_string_equal(n.names[2], "mallinf");
}

static void nothing_is_near(void **state)
{
	char word[200];

	(void)state;
	assert_int_equal(nearest_of("x").n, 0);
	memset(word, 'm', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(nearest_of(word).n, 0);
	assert_int_equal(nearest_of("").n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_first),
		cmocka_unit_test(each_once_and_no_more_than_there_is_room_for),
		cmocka_unit_test(nothing_is_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
