// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets an option to its argument, by its kind. Command lines and configurations use the same code,
 * so that a value means the same in both.
 */
#include "internal.h"
#include "kontend/number.h"
#include "kontend/units.h"

#include <errno.h>
#include <string.h>

struct opts_setter {
	struct opts *o;
	const struct opts_info *i;
	struct error *err;
};

static void *field(const struct opts_setter *s)
{
	return (char *)s->o + s->i->offset;
}

static int bad_value(const struct opts_setter *s, const char *value, const char *want)
{
	return error_set(s->err, -EINVAL, "--%s '%s': give %s; see 'kontend %s --help'", s->i->name,
			 value, want, opts_verb_info(s->o->verb)->name);
}

/*
 * Words of earlier versions that scripts and configurations may contain, with their replacements
 * and reasons.
 */
static const struct {
	const char *option, *word, *now, *why;
} old_words[] = {
	{"format", "chrome", "perfetto", "whose viewer opens such traces"},
	{"mmap", "pid", "all", "which measures only the processes that --pid or a command names"},
	{"mmap", "pid,paths", "all,paths",
	 "which measures only the processes that --pid or a command names"},
};

/* 0, or -EINVAL for a word of an earlier version. */
static int check_old_word(const struct opts_setter *s, const char *value)
{
	for (size_t i = 0; value && i < sizeof(old_words) / sizeof(*old_words); i++)
		if (!strcmp(s->i->name, old_words[i].option) && !strcmp(value, old_words[i].word) &&
		    opts_has_word(s->i->words, old_words[i].now, strlen(old_words[i].now)))
			return error_set(s->err, -EINVAL, "--%s '%s' is gone: give %s, %s",
					 s->i->name, value, old_words[i].now, old_words[i].why);
	return 0;
}

static int set_time(const struct opts_setter *s, const char *value)
{
	char want[96], least[UNITS_BUF], most[UNITS_BUF];
	uint64_t ns;

	if (units_parse_ns(value, &ns) == 0 && ns >= s->i->min && ns <= s->i->max) {
		*(uint64_t *)field(s) = ns;
		return 0;
	}
	snprintf(want, sizeof(want), "a time from %s to %s, like 2, 1.5s or 500ms",
		 units_ns(least, s->i->min), units_ns(most, s->i->max));
	return bad_value(s, value, want);
}

static int set_count(const struct opts_setter *s, const char *value)
{
	char want[96];
	uint64_t n;

	if (units_parse_count(value, &n) == 0 && n >= s->i->min && n <= s->i->max) {
		*(uint64_t *)field(s) = n;
		return 0;
	}
	snprintf(want, sizeof(want), "a number from %llu to %llu", (unsigned long long)s->i->min,
		 (unsigned long long)s->i->max);
	return bad_value(s, value, want);
}

static int set_size(const struct opts_setter *s, const char *value)
{
	char want[96], least[UNITS_BUF];
	uint64_t n;

	if (units_parse_bytes(value, &n) == 0 && n >= s->i->min && n <= s->i->max) {
		*(uint64_t *)field(s) = n;
		return 0;
	}
	snprintf(want, sizeof(want), "a size of at least %s, like 100M or 2G",
		 units_bytes(least, s->i->min));
	return bad_value(s, value, want);
}

static int set_choice(const struct opts_setter *s, const char *value)
{
	char want[160];

	if (*value && opts_has_word(s->i->words, value, strlen(value))) {
		*(const char **)field(s) = value;
		return 0;
	}
	snprintf(want, sizeof(want), "one of: %s", s->i->words);
	return bad_value(s, value, want);
}

static int set_text(const struct opts_setter *s, const char *value)
{
	if (!*value)
		return bad_value(s, value, "something that is not empty");
	*(const char **)field(s) = value;
	return 0;
}

static int set_list(const struct opts_setter *s, const char *value)
{
	const char **list = field(s);
	size_t n = 0;

	while (n < OPTS_LIST_MAX && list[n])
		n++;
	if (!*value)
		return bad_value(s, value, "something that is not empty");
	if (n == OPTS_LIST_MAX)
		return error_set(s->err, -EINVAL, "--%s can be given %d times at most", s->i->name,
				 OPTS_LIST_MAX);
	list[n] = value;
	return 0;
}

static int set_flag(const struct opts_setter *s, const char *value)
{
	bool yes = !value || strcmp(value, "yes") == 0;

	if (!yes && strcmp(value, "no") != 0)
		return bad_value(s, value, "yes or no");
	*(bool *)field(s) = yes;
	return 0;
}

static int set_power(const struct opts_setter *s, const char *value)
{
	uint64_t n;

	if (units_parse_count(value, &n) == 0 && n & (n - 1))
		return bad_value(s, value, "a power of two, like 128");
	return set_count(s, value);
}

static int set_percent(const struct opts_setter *s, const char *value)
{
	const char *at = value;
	double v;

	if (number_take_decimal(&at, &v) < 0 || *at || v > 100)
		return bad_value(s, value, "a number from 0 to 100, like 0.5");
	return set_text(s, value);
}

static int set_value(const struct opts_setter *s, const char *value)
{
	switch (s->i->kind) {
	case OPTS_FLAG:
		return set_flag(s, value);
	case OPTS_PRESET:
		return set_text(s, s->i->words);
	case OPTS_TEXT:
		return set_text(s, value);
	case OPTS_LIST:
		return set_list(s, value);
	case OPTS_CHOICE:
		return set_choice(s, value);
	case OPTS_PERCENT:
		return set_percent(s, value);
	case OPTS_TIME:
		return set_time(s, value);
	case OPTS_SIZE:
		return set_size(s, value);
	case OPTS_POWER:
		return set_power(s, value);
	case OPTS_LEVEL:
	case OPTS_COUNT:
		return set_count(s, value ? value : "1");
	}
	return -EINVAL;
}

int opts_set(struct opts *o, const struct opts_info *i, const char *value, struct error *err)
{
	const struct opts_setter s = {o, i, err};
	int r = check_old_word(&s, value);

	if (r == 0)
		r = set_value(&s, value);
	if (r == 0)
		o->given[opts_row(i)] = true;
	return r;
}

bool opts_is_said(const struct opts *o, const struct opts_info *i)
{
	return o->given[opts_row(i)];
}
