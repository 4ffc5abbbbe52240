// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads line by line and keeps what a later line is held against: the family that is open, the
 * names of those that were, all samples seen, and the histogram at hand. Lists are searched from
 * end to end; texts of tests are short.
 */
#include "openmetrics.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 2048, NAME = 256, MANY = 4096 };

struct checker {
	char family[NAME], type[NAME];
	bool has_unit, has_help, has_sample;
	char *seen[MANY]; /* families as "F name", samples as "S name{labels}" */
	size_t n_seen;
	char group[LINE]; /* labels of the histogram at hand without le; "": none is open */
	bool in_group, has_inf, has_count;
	double le, cumulative;
	char *why;
	size_t size;
};

static bool wrong(struct checker *c, const char *what)
{
	snprintf(c->why, c->size, "%s", what);
	return false;
}

static size_t name_len(const char *s, bool colon)
{
	size_t n = 0;

	if (isdigit((unsigned char)*s))
		return 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_' || (colon && s[n] == ':'))
		n++;
	return n;
}

static bool check_line(struct checker *c, char kind, const char *text)
{
	char key[LINE];

	snprintf(key, sizeof(key), "%c %s", kind, text);
	for (size_t i = 0; i < c->n_seen; i++)
		if (strcmp(c->seen[i], key) == 0)
			return wrong(c, "it was there before");
	if (c->n_seen == MANY)
		return wrong(c, "too many of them for this test");
	c->seen[c->n_seen++] = strdup(key);
	return true;
}

static bool end_group(struct checker *c)
{
	bool whole = !c->in_group || (c->has_inf && c->has_count);

	c->in_group = false;
	return whole ? true : wrong(c, "a histogram before it has no +Inf, count or sum");
}

static bool check_type(struct checker *c, const char *name, const char *type)
{
	if (strcmp(type, "counter") != 0 && strcmp(type, "gauge") != 0 &&
	    strcmp(type, "histogram") != 0)
		return wrong(c, "a type that not every reader knows");
	if (!end_group(c) || !check_line(c, 'F', name))
		return false;
	snprintf(c->family, sizeof(c->family), "%s", name);
	snprintf(c->type, sizeof(c->type), "%s", type);
	c->has_unit = c->has_help = c->has_sample = false;
	return true;
}

static bool check_unit(struct checker *c, const char *name, const char *unit)
{
	size_t n = strlen(name), u = strlen(unit);

	if (c->has_unit || c->has_sample)
		return wrong(c, "a unit that is no part of the head");
	c->has_unit = true;
	if (n < u + 2 || strcmp(name + n - u, unit) != 0 || name[n - u - 1] != '_')
		return wrong(c, "the name does not end in the unit");
	return true;
}

/* "# TYPE name rest" */
static bool check_comment(struct checker *c, const char *line)
{
	char what[8] = "", name[NAME] = "", rest[LINE] = "";

	if (sscanf(line, "# %7[A-Z] %255s %2047[^\n]", what, name, rest) < 3)
		return wrong(c, "a comment that is none of TYPE, UNIT, HELP and EOF");
	if (name_len(name, true) != strlen(name))
		return wrong(c, "no name");
	if (strcmp(what, "TYPE") == 0)
		return check_type(c, name, rest);
	if (strcmp(name, c->family) != 0)
		return wrong(c, "the TYPE of this family is not there or not before it");
	if (strcmp(what, "UNIT") == 0)
		return check_unit(c, name, rest);
	if (strcmp(what, "HELP") != 0 || c->has_help || c->has_sample)
		return wrong(c, "no HELP, or a second one");
	c->has_help = true;
	return strchr(rest, '\\') ? wrong(c, "this test knows no escapes in HELP") : true;
}

static bool suffix_fits(const struct checker *c, const char *suffix)
{
	if (strcmp(c->type, "counter") == 0)
		return strcmp(suffix, "_total") == 0;
	if (strcmp(c->type, "gauge") == 0)
		return *suffix == '\0';
	return strcmp(suffix, "_bucket") == 0 || strcmp(suffix, "_count") == 0 ||
	       strcmp(suffix, "_sum") == 0;
}

/* The value of a label, up to and with its closing quote. */
static bool check_value(struct checker *c, const char **pos)
{
	const char *s = *pos;

	if (*s++ != '"')
		return wrong(c, "a label's value without quotes");
	for (; *s != '"'; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return wrong(c, "a control character or no closing quote");
		if (*s == '\\' && *++s != '\\' && *s != '"' && *s != 'n')
			return wrong(c, "an escape that does not exist");
	}
	*pos = s + 1;
	return true;
}

/* Labels into @rest without le, which goes to @le. */
static bool check_labels(struct checker *c, const char **pos, char *rest, char *le)
{
	const char *s = *pos;
	char names[LINE] = ",";

	if (*s != '{')
		return true;
	do {
		const char *start = ++s;
		size_t n = name_len(s, false);
		char name[NAME + 2];

		snprintf(name, sizeof(name), ",%.*s,", (int)n, s);
		if (!n || s[n] != '=')
			return wrong(c, "a label without name");
		if (strstr(names, name))
			return wrong(c, "a label twice");
		strcat(names, name + 1);
		s += n + 1;
		if (!check_value(c, &s))
			return false;
		if (strcmp(name, ",le,") == 0)
			snprintf(le, NAME, "%.*s", (int)(s - start - 5), start + 4);
		else
			strncat(rest, start, (size_t)(s - start) < LINE ? (size_t)(s - start) : 0);
	} while (*s == ',');
	if (*s != '}')
		return wrong(c, "labels without end");
	*pos = s + 1;
	return true;
}

static bool check_bucket(struct checker *c, const char *labels, const char *le, double value)
{
	char *end;
	double bound = strtod(le, &end);

	if (!*le || (*end && strcmp(le, "+Inf") != 0))
		return wrong(c, "a bucket without bound");
	if (!c->in_group || strcmp(c->group, labels) != 0) {
		if (!end_group(c))
			return false;
		snprintf(c->group, sizeof(c->group), "%s", labels);
		c->in_group = true;
		c->has_inf = c->has_count = false;
		c->le = -INFINITY;
		c->cumulative = 0;
	}
	if (c->has_inf || bound <= c->le)
		return wrong(c, "bounds that do not rise");
	if (value < c->cumulative)
		return wrong(c, "a bucket with less than the one below it");
	c->le = bound;
	c->cumulative = value;
	c->has_inf = isinf(bound);
	return true;
}

static bool check_histogram(struct checker *c, const char *suffix, const char *labels,
			    const char *le, double value)
{
	if (strcmp(suffix, "_bucket") == 0)
		return check_bucket(c, labels, le, value);
	if (!c->in_group || !c->has_inf || strcmp(c->group, labels) != 0 || *le)
		return wrong(c, "a count or sum that does not follow its buckets");
	if (strcmp(suffix, "_count") == 0) {
		c->has_count = true;
		return value == c->cumulative ? true : wrong(c, "a count that is not that of +Inf");
	}
	return true;
}

/* " # {labels} value time", of a bucket that has something in it and that the value is in. */
static bool check_exemplar(struct checker *c, const char *s, const char *suffix, const char *le,
			   double count)
{
	char labels[LINE] = "", own[NAME] = "", *end;

	if (strcmp(suffix, "_bucket") != 0 || count <= 0 || strncmp(s, " # {", 4) != 0)
		return wrong(c, "text after the number");
	s += 3;
	const char *from = s;
	if (!check_labels(c, &s, labels, own))
		return false;
	if (s - from > 128 || *s++ != ' ')
		return wrong(c, "labels of an exemplar that are too long, or no value of it");
	double value = strtod(s, &end);
	if (end == s || *end != ' ' || value > strtod(le, NULL))
		return wrong(c, "an exemplar that is not in its bucket");
	s = end + 1;
	(void)strtod(s, &end);
	return end > s && !*end ? true : wrong(c, "no time of an exemplar");
}

static bool check_sample(struct checker *c, const char *line)
{
	size_t n = name_len(line, true), family = strlen(c->family);
	char name[NAME], labels[LINE] = "", le[NAME] = "", key[LINE], *end;
	const char *s = line + n;

	snprintf(name, sizeof(name), "%.*s", (int)n, line);
	if (!family || strncmp(name, c->family, family) != 0 || !suffix_fits(c, name + family))
		return wrong(c, "a sample that is not of the family above it");
	if (!check_labels(c, &s, labels, le))
		return false;
	snprintf(key, sizeof(key), "%.*s", (int)(s - line), line);
	if (!check_line(c, 'S', key))
		return false;
	if (*s++ != ' ' || !isdigit((unsigned char)*s))
		return wrong(c, "no number, or a negative one");
	double value = strtod(s, &end);
	if (*end && !check_exemplar(c, end, name + family, le, value))
		return false;
	c->has_sample = true;
	if (strcmp(c->type, "histogram") == 0)
		return check_histogram(c, name + family, labels, le, value);
	return true;
}

static size_t check_lines(struct checker *c, const char *text)
{
	size_t number = 1;

	for (;; number++) {
		size_t len = strcspn(text, "\n");
		char line[LINE];

		if (text[len] != '\n' || len >= LINE) {
			wrong(c, "no EOF, or a line without end");
			return number;
		}
		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		text += len + 1;
		if (strcmp(line, "# EOF") == 0)
			break;
		if (!(line[0] == '#' ? check_comment(c, line) : check_sample(c, line)))
			return number;
	}
	if (!end_group(c))
		return number;
	if (*text)
		wrong(c, "text after EOF");
	return *text ? number + 1 : 0;
}

size_t openmetrics_check(const char *text, char *why, size_t size)
{
	struct checker *c = calloc(1, sizeof(*c));
	size_t line;

	if (!c)
		abort();
	c->why = why;
	c->size = size;
	line = check_lines(c, text);
	for (size_t i = 0; i < c->n_seen; i++)
		free(c->seen[i]);
	free(c);
	return line;
}

double openmetrics_value(const char *text, const char *sample)
{
	size_t n = strlen(sample);

	for (const char *s = text; s && *s; s = strchr(s, '\n'), s = s ? s + 1 : NULL)
		if (strncmp(s, sample, n) == 0 && s[n] == ' ')
			return strtod(s + n, NULL);
	return -1;
}

/* Of a line: the length of its sample, without the number; 0: it is no counter. */
static size_t counter_len(const char *line)
{
	static const char *const ends[] = {"_total", "_bucket", "_count", "_sum"};
	size_t name = strcspn(line, "{ \n"), len = strcspn(line, "\n");
	const char *exemplar = memmem(line, len, " # ", 3);

	len = exemplar ? (size_t)(exemplar - line) : len;
	while (len && line[len] != ' ')
		len--;
	for (size_t i = 0; *line != '#' && i < sizeof(ends) / sizeof(*ends); i++)
		if (name > strlen(ends[i]) &&
		    strncmp(line + name - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
			return len;
	return 0;
}

bool openmetrics_fell(const char *before, const char *now, unsigned *n, char *buf, size_t size)
{
	for (const char *s = before; s && *s; s = strchr(s, '\n'), s = s ? s + 1 : NULL) {
		size_t len = counter_len(s);

		if (!len)
			continue;
		snprintf(buf, size, "%.*s", (int)len, s);
		if (openmetrics_value(now, buf) < strtod(s + len, NULL))
			return true;
		++*n;
	}
	return false;
}

double openmetrics_total(const char *text, const char *prefix, const char *within, unsigned *ret_n)
{
	double sum = 0;

	*ret_n = 0;
	for (const char *s = text; s && *s; s = strchr(s, '\n'), s = s ? s + 1 : NULL) {
		size_t len = strcspn(s, "\n");
		const char *labels = strchr(s, '}');

		if (strncmp(s, prefix, strlen(prefix)) || !labels || labels > s + len ||
		    !memmem(s, (size_t)(labels - s) + 1, within, strlen(within)))
			continue;
		sum += strtod(labels + 1, NULL);
		++*ret_n;
	}
	return sum;
}
