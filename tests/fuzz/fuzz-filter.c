// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any text as a filter: it is taken or refused with a sentence, and what is taken stays so when it
 * is negated, doubled or put into parentheses.
 */
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/query.h"

#include <errno.h>
#include <string.h>

enum { LONGEST = 400 };

static int check(const char *filter)
{
	struct error err = {0};
	int r = query_filter_check(filter, &query_locks_kind, &err);

	fuzz_require(r == 0 || (r == -EINVAL && err.text[0]));
	return r;
}

static void check_around(const char *before, const char *filter, const char *between,
			 const char *again, const char *after)
{
	char text[2 * LONGEST + 16];

	snprintf(text, sizeof(text), "%s%s%s%s%s", before, filter, between, again, after);
	check(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char s[LONGEST + 1];

	size = size < LONGEST ? size : LONGEST;
	memcpy(s, data, size);
	s[size] = '\0';
	if (check(s) < 0)
		return 0;
	check_around("!(", s, "", "", ")");
	check_around("", s, " ", s, "");
	check_around("(", s, ") | (", s, ")");
	return 0;
}
