// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limits from which on a figure is worth a look, and bad. The setting changes single rules:
 * RULE=LOOK/BAD, RULE=LOOK, RULE=off.
 */
#include "kontend/number.h"
#include "kontend/query-verdict.h"
#include "kontend/units.h"

#include <errno.h>
#include <string.h>

enum { WORD = 64 };

const struct verdict_limits verdict_defaults = {{
	[VERDICT_DEADLOCK] = {1, 1},
	[VERDICT_INVERSION] = {10e6, 100e6},
	[VERDICT_WAIT] = {5, 50},
	[VERDICT_USER] = {5, 50},
	[VERDICT_LONGEST] = {100e6, 1e9},
	[VERDICT_BLOCKED] = {2e9, 10e9},
	[VERDICT_SPIN] = {50, 0},
	[VERDICT_SLOTS] = {100, 0},
	[VERDICT_SHORT] = {1, 0},
	[VERDICT_ROTATION] = {1, 5},
	[VERDICT_UPROBES] = {5, 25},
	[VERDICT_XOL] = {1, 0},
	[VERDICT_DAMAGE] = {1, 0},
	[VERDICT_MISSING] = {1, 10},
}};

static bool parse_value(enum verdict_rule rule, const char *text, double *ret)
{
	uint64_t ns;

	if (rule == VERDICT_LONGEST || rule == VERDICT_BLOCKED || rule == VERDICT_INVERSION) {
		if (units_parse_ns(text, &ns) < 0)
			return false;
		*ret = (double)ns;
		return ns > 0;
	}
	if (number_take_decimal(&text, ret) < 0)
		return false;
	if (*text == '%')
		text++;
	return !*text && *ret > 0 && *ret < 1e12;
}

static bool parse_limit(enum verdict_rule rule, char *text, struct verdict_limit *ret)
{
	char *bad = strchr(text, '/');

	*ret = (struct verdict_limit){0};
	if (strcmp(text, "off") == 0)
		return true;
	if (bad)
		*bad++ = '\0';
	return parse_value(rule, text, &ret->look) &&
	       (!bad || (parse_value(rule, bad, &ret->bad) && ret->bad >= ret->look));
}

static int parse_word(char *word, struct verdict_limits *l, struct error *err)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	for (unsigned i = 0; i < VERDICT_RULES; i++) {
		if (strcmp(word, query_verdict_rule((enum verdict_rule)i)) != 0)
			continue;
		if (value && parse_limit((enum verdict_rule)i, value, &l->of[i]))
			return 0;
		return error_set(err, -EINVAL,
				 "verdict '%s': give %s=LOOK/BAD, as in %s, or %s=off", word, word,
				 i == VERDICT_LONGEST ? "longest=100ms/1s" : "wait=5/50", word);
	}
	return error_set(err, -EINVAL,
			 "verdict '%s': the rules are deadlock, inversion, wait, user, longest, "
			 "blocked, spin, slots, short, rotation, uprobes, xol, damage and lost",
			 word);
}

int query_verdict_parse(const char *text, struct verdict_limits *l, struct error *err)
{
	char word[WORD];

	for (;;) {
		text += strspn(text, " ,");
		size_t n = strcspn(text, " ,");
		if (!n)
			return 0;
		if (n >= sizeof(word))
			return error_set(err, -EINVAL, "verdict '%.*s': it is too long", WORD,
					 text);
		memcpy(word, text, n);
		word[n] = '\0';
		if (parse_word(word, l, err) < 0)
			return -EINVAL;
		text += n;
	}
}
