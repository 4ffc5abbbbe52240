// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts that a test expects, kept in files so that a review shows what a change does to them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GOLDEN_MAX = 1 << 20 };

static char *golden_read(const char *path)
{
	char *text = calloc(1, GOLDEN_MAX);
	FILE *f = fopen(path, "r");

	assert_non_null(text);
	if (!f)
		fail_msg("%s: cannot be read; UPDATE=1 writes it", path);
	assert_true(fread(text, 1, GOLDEN_MAX - 1, f) > 0);
	fclose(f);
	return text;
}

void golden_check(const char *text, const char *name)
{
	const char *update = getenv("UPDATE"), *dir = getenv("GOLDEN_DIR");
	char path[512], *want;

	snprintf(path, sizeof(path), "%s/%s.golden", dir ? dir : "tests/golden", name);
	if (update && strcmp(update, "1") == 0) {
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fputs(text, f);
		assert_int_equal(fclose(f), 0);
	}
	want = golden_read(path);
	assert_string_equal(text, want);
	free(want);
}
