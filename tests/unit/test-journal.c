// SPDX-License-Identifier: GPL-2.0-only
/* Whether a stream is the journal's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int pair[2];

static int set_up(void **state)
{
	(void)state;
	unsetenv("JOURNAL_STREAM");
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
}

static int tear_down(void **state)
{
	(void)state;
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static void name_it(const char *rest)
{
	struct stat st;
	char text[64];

	assert_int_equal(fstat(pair[0], &st), 0);
	snprintf(text, sizeof(text), "%" PRIu64 ":%" PRIu64 "%s", (uint64_t)st.st_dev,
		 (uint64_t)st.st_ino, rest);
	setenv("JOURNAL_STREAM", text, 1);
}

static void nobody_said_so(void **state)
{
	(void)state;
	assert_false(journal_has(pair[0]));
}

static void only_that_stream(void **state)
{
	(void)state;
	name_it("");
	assert_true(journal_has(pair[0]));
	assert_false(journal_has(pair[1]));
	assert_false(journal_has(-1));
	assert_int_equal(dup2(pair[1], pair[0]), pair[0]); /* sent somewhere else */
	assert_false(journal_has(pair[0]));
}

static void what_names_nothing(void **state)
{
	static const char *const texts[] = {"", ":", "0:0", "x:y", "8:1:2"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		setenv("JOURNAL_STREAM", texts[i], 1);
		assert_false(journal_has(pair[0]));
	}
	name_it("1");
	assert_false(journal_has(pair[0]));
}

int main(void)
{
#define WITH_PAIR(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_PAIR(nobody_said_so),
		WITH_PAIR(only_that_stream),
		WITH_PAIR(what_names_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
