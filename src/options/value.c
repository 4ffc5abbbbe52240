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

/* Default while waiting for incidents, which may take weeks; the screen has none. */
static const uint32_t INCIDENTS_PPM = 10000;
static const uint32_t SLEEPS_PPM = 20000, ALL_PPM = 1000000;

int opts_overhead(const struct opts *o, uint32_t *ret_ppm, struct error *err)
{
	const char *text = o->max_overhead, *at = text;
	double percent;

	*ret_ppm = !text && o->verb == VERB_RECORD && o->triggers[0] ? INCIDENTS_PPM : 0;
	if (!text || strcmp(text, "off") == 0)
		return 0;
	if (number_take_decimal(&at, &percent) < 0 || (strcmp(at, "%") != 0 && *at) ||
	    percent < 0.01 || percent > 100)
		return error_set(err, -EINVAL,
				 "--max-overhead '%s': give a percentage of the CPU time of all "
				 "CPUs from 0.01%% to 100%%, like 1%%, or off",
				 text);
	*ret_ppm = (uint32_t)(percent * 10000 + 0.5);
	return 0;
}

uint32_t opts_sleeps_ppm(const struct opts *o)
{
	struct error err = {0};
	uint32_t ppm;

	if (!o->max_overhead || opts_overhead(o, &ppm, &err) < 0)
		return SLEEPS_PPM;
	return ppm ? ppm : ALL_PPM;
}

/*
 * Lock types have two names: the one that `perf lock` prints and the one of its documentation and
 * of the kernel. Tables have the printed ones, so opts_filter() replaces the others in filters. It
 * replaces only whole words, as names of functions may contain them.
 */
static const struct {
	const char *from, *to;
} type_aliases[] = {
	{"rtmutex", "rt-mutex"},      {"rt_mutex", "rt-mutex"},	    {"percpu-rwsem", "pcpu-sem"},
	{"percpu-rwmem", "pcpu-sem"}, {"percpu_rwsem", "pcpu-sem"}, {"pcpu_sem", "pcpu-sem"},
};

static const char filter_delimiters[] = " \t!:=<>~|()\"";

/* The replacement for the word of @len bytes; NULL: keep it. */
static const char *type_alias(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(type_aliases) / sizeof(*type_aliases); i++)
		if (strlen(type_aliases[i].from) == len &&
		    memcmp(type_aliases[i].from, word, len) == 0)
			return type_aliases[i].to;
	return NULL;
}

static int append_word(char *ret, size_t size, size_t *used, const char *s, size_t len)
{
	if (*used + len >= size)
		return -E2BIG;
	memcpy(ret + *used, s, len);
	*used += len;
	ret[*used] = '\0';
	return 0;
}

int opts_filter(const char *filter, char *ret, size_t size, struct error *err)
{
	size_t used = 0;
	int r = append_word(ret, size, &used, "", 0);

	while (r == 0 && *filter) {
		size_t len = strcspn(filter, filter_delimiters);
		const char *name = type_alias(filter, len);

		if (len)
			r = name ? append_word(ret, size, &used, name, strlen(name))
				 : append_word(ret, size, &used, filter, len);
		filter += len;
		if (r == 0 && *filter)
			r = append_word(ret, size, &used, filter++, 1);
	}
	if (r < 0)
		return error_set(err, -EINVAL, "--filter: give fewer than %zu bytes", size);
	return 0;
}
