// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any text as a trigger: it is taken or refused with a sentence that has a place, and what is taken
 * can be watched for, also with more blanks, and with a condition that cannot be beside it.
 */
#include "fuzz.h"
#include "kontend/engine.h"
#include "kontend/mem.h"
#include "kontend/trigger.h"

#include <errno.h>
#include <string.h>

enum { LONGEST = 400 };

static int check(const char *expr)
{
	struct error err = {0};
	int r = trigger_check(expr, &err);

	fuzz_require(r == 0 || (r == -EINVAL && strstr(err.text, "column ")));
	return r;
}

/* Whatever parts it was checked by, together they are a filter. */
static void watch(const char *expr)
{
	struct engine e = {0};
	struct error err = {0};
	struct triggers *t;

	fuzz_require(triggers_new(&t, &e, &expr, 1, &err) == 0);
	triggers_free(t);
	fuzz_require(!e.watch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char s[LONGEST + 1], longer[LONGEST + 64];

	size = size < LONGEST ? size : LONGEST;
	memcpy(s, data, size);
	s[size] = '\0';
	if (check(s) < 0)
		return 0;
	watch(s);
	/* Quotes that are not closed would hold these blanks. */
	snprintf(longer, sizeof(longer), "  %s\t ", s);
	fuzz_require(strchr(s, '"') || check(longer) == 0);
	snprintf(longer, sizeof(longer), "deadlock %s", s);
	fuzz_require(check(longer) == -EINVAL);
	snprintf(longer, sizeof(longer), "wait>1s (type:mutex | mode:R) %s", s);
	fuzz_require(check(longer) == -EINVAL);
	return 0;
}
