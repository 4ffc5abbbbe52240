// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table is a row-major array of typed values beside an array of columns. This file knows how one
 * value looks on a screen or in the text report, so that views and reports cannot differ: three
 * significant digits with the unit attached, a dot for zero, a dash for what is not known and a
 * tilde before what is not exact. CSV and JSON take the raw values instead. It also says which
 * columns are shown where there is no room for all.
 */
#include "kontend/table.h"
#include "kontend/text.h"
#include "kontend/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct value table_unknown;

double table_number(const struct column *c, const struct value *v)
{
	if (!v->known)
		return 0;
	switch (c->type) {
	case COLUMN_COUNT:
	case COLUMN_NS:
		return (double)v->u;
	case COLUMN_RATE:
	case COLUMN_NSRATE:
	case COLUMN_NSDIFF:
	case COLUMN_PCT:
		return v->d;
	default:
		return 0;
	}
}

bool table_descends(const struct column *c)
{
	return c->type != COLUMN_TEXT && c->type != COLUMN_INT && c->type != COLUMN_ADDR;
}

bool table_rises(const struct table *t)
{
	return t->sort_col < t->n_columns && table_descends(&t->columns[t->sort_col]) == t->reverse;
}

size_t table_find_in(const struct column *c, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (c[i].flags && strcmp(c[i].key, name) == 0)
			return i;
	for (size_t i = 0; i < n; i++)
		if (c[i].flags && strcasecmp(c[i].title, name) == 0)
			return i;
	return SIZE_MAX;
}

size_t table_find(const struct table_kind *kind, const char *name)
{
	return table_find_in(kind->columns, kind->n_columns, name);
}

size_t table_column(const struct table *t, const char *key)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (strcmp(t->columns[i].key, key) == 0)
			return i;
	return SIZE_MAX;
}

const struct value *table_cell(const struct table *t, size_t row, const char *key)
{
	size_t col = table_column(t, key);

	return col == SIZE_MAX ? &table_unknown : table_value(t, row, col);
}

const char *table_text(const struct table *t, size_t row, const char *key)
{
	const struct value *v = table_cell(t, row, key);

	return v->known ? v->s : NULL;
}

const char *table_text_or(const struct table *t, size_t row, const char *key, const char *none)
{
	const char *s = table_text(t, row, key);

	return s && *s ? s : none;
}

uint64_t table_u64(const struct table *t, size_t row, const char *key)
{
	const struct value *v = table_cell(t, row, key);

	return v->known ? v->u : 0;
}

size_t table_row(const struct table *t, uint64_t id)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (t->ids[i] == id)
			return i;
	return SIZE_MAX;
}

/* The next column to show at @priority, from @from on; @n: there is none. */
static size_t next_at(const struct table_room *c, size_t n, size_t from, unsigned priority)
{
	while (from < n && (c[from].priority != priority || c[from].width <= 0))
		from++;
	return from;
}

int table_fit(const struct table_room *c, size_t n, int width, int gap, bool *ret_shown)
{
	int left = width, more = 0;

	memset(ret_shown, 0, n * sizeof(*ret_shown));
	for (unsigned priority = 0; priority <= UINT8_MAX; priority++) {
		int kept = priority >= TABLE_NICE ? more : 0;
		for (size_t i = next_at(c, n, 0, priority); i < n;
		     i = next_at(c, n, i + 1, priority)) {
			/* A gap in the order of priorities would show a less wanted column. */
			if (priority && c[i].width + gap > left - kept)
				return left;
			ret_shown[i] = true;
			left -= c[i].width + gap;
			more += priority < TABLE_NICE ? c[i].more : 0;
		}
	}
	return left;
}

static bool is_zero(const struct column *c, const struct value *v)
{
	switch (c->type) {
	case COLUMN_COUNT:
	case COLUMN_NS:
	case COLUMN_BOOL:
		return v->u == 0;
	case COLUMN_RATE:
	case COLUMN_NSRATE:
	case COLUMN_NSDIFF:
	case COLUMN_PCT:
		return !(v->d > 0 || v->d < 0);
	default:
		return false;
	}
}

bool table_is_nothing(const struct column *c, const struct value *v)
{
	uint64_t any = 0;

	if (!v->known)
		return true;
	for (uint32_t i = 0; c->type == COLUMN_SERIES && i < v->n; i++)
		any |= v->series[i];
	if (c->type == COLUMN_SERIES)
		return !any;
	return c->type == COLUMN_TEXT ? !*v->s || !strcmp(v->s, "-") : is_zero(c, v);
}

/* Heights share the scale of this one value's maximum; nothing but zeros is a line of blanks. */
static void format_series(const struct value *v, bool ascii, char *buf, size_t size)
{
	static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const plain[] = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};
	uint64_t max = 0;
	size_t at = 0;

	for (uint32_t i = 0; i < v->n; i++)
		max = v->series[i] > max ? v->series[i] : max;
	buf[0] = '\0';
	for (uint32_t i = 0; i < v->n; i++) {
		double share = max ? (double)v->series[i] / (double)max : 0;
		unsigned step = v->series[i] ? 1 + (unsigned)(share * 7.0) : 0;
		const char *s = (ascii ? plain : bars)[step];
		size_t len = strlen(s);
		if (at + len >= size)
			return;
		memcpy(buf + at, s, len + 1);
		at += len;
	}
}

/* The one character of names that is not ASCII: what stands for the rest of an address. */
static void unmark(char *s)
{
	static const char mark[] = "…";

	for (char *p = strstr(s, mark); p; p = strstr(p, mark)) {
		*p = '~';
		memmove(p + 1, p + sizeof(mark) - 1, strlen(p + sizeof(mark) - 1) + 1);
	}
}

/* A list as "a, b". */
static void format_text(const struct column *c, const char *s, char *buf, size_t size)
{
	char joined[512];
	size_t at = 0;

	if (!(c->flags & COLUMN_LIST)) {
		text_clean(buf, size, s);
		return;
	}
	for (; *s && at + 3 < sizeof(joined); s++) {
		joined[at++] = *s == '\n' ? ',' : *s;
		if (*s == '\n')
			joined[at++] = ' ';
	}
	joined[at] = '\0';
	text_clean(buf, size, joined);
}

/* Only differences are negative. */
static void format_double(const struct column *c, double d, char buf[UNITS_BUF])
{
	char number[UNITS_BUF];

	if (c->type == COLUMN_RATE)
		units_rate(number, fabs(d));
	else if (c->type == COLUMN_NSRATE)
		units_tasks(number, fabs(d));
	else if (c->type == COLUMN_NSDIFF)
		units_nsrate(number, fabs(d));
	else
		units_pct(number, fabs(d));
	snprintf(buf, UNITS_BUF, "%s%.*s", d < 0 ? "-" : "", UNITS_BUF - 2, number);
}

static void format_number(const struct column *c, const struct value *v, char buf[UNITS_BUF])
{
	switch (c->type) {
	case COLUMN_COUNT:
		units_count(buf, v->u);
		break;
	case COLUMN_INT:
		snprintf(buf, UNITS_BUF, "%" PRId64, v->i);
		break;
	case COLUMN_NS:
		units_ns(buf, v->u);
		break;
	case COLUMN_RATE:
	case COLUMN_NSRATE:
	case COLUMN_NSDIFF:
	case COLUMN_PCT:
		format_double(c, v->d, buf);
		break;
	case COLUMN_BOOL:
		strcpy(buf, "yes");
		break;
	default:
		snprintf(buf, UNITS_BUF, "0x%" PRIx64, v->u);
	}
}

const char *table_format(const struct column *c, const struct value *v, bool ascii, char *buf,
			 size_t size)
{
	char number[UNITS_BUF];

	if (size == 0)
		return buf;
	if (!v->known) {
		snprintf(buf, size, "-");
	} else if (c->type == COLUMN_SERIES) {
		format_series(v, ascii, buf, size);
	} else if (c->type == COLUMN_TEXT) {
		bool mark = v->approx && size > 1;
		buf[0] = '~';
		format_text(c, v->s, buf + mark, size - mark);
		if (ascii)
			unmark(buf);
	} else if (is_zero(c, v) && !v->at_least) {
		snprintf(buf, size, "%s", ascii ? "." : "·");
	} else {
		format_number(c, v, number);
		const char *least = ascii ? ">" : "≥";
		snprintf(buf, size, "%s%s%s",
			 v->at_least ? least
			 : v->approx ? "~"
				     : "",
			 c->flags & COLUMN_SIGNED && *number != '-' ? "+" : "", number);
	}
	return buf;
}
