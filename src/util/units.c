// SPDX-License-Identifier: GPL-2.0-only
/*
 * A scale is a table of units, each with the value from which the next one is used: where rounding
 * to three digits would reach the next unit (999.5, or 59.95 for seconds), so that 999.96us is
 * 1.00ms and never 1000us. Fractions follow the same limits: no text has more digits. Minutes and
 * hours have the next smaller unit instead of a fraction (1m24s, 2h05m), since a single "m" looks
 * like milli.
 * Parsing is done by hand: strtod() accepts signs, hex, "inf" and depends on the locale; options
 * accept none of these.
 */
#include "kontend/units.h"
#include "kontend/textbuf.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	double size;  /* in the smallest unit */
	double bound; /* shown in this unit below that many of it */
};

static const struct unit time_units[] = {
	{"ns", 1, 999.5},
	{"us", 1e3, 999.5},
	{"ms", 1e6, 999.5},
	{"s", 1e9, INFINITY},
};

static const struct unit day_units[] = {
	{"d", 86400e9, 364.5},
	{"y", 365 * 86400e9, INFINITY},
};

static const struct unit count_units[] = {
	{"", 1, 999.5},	    {"k", 1e3, 999.5},	{"M", 1e6, 999.5},     {"G", 1e9, 999.5},
	{"T", 1e12, 999.5}, {"P", 1e15, 999.5}, {"E", 1e18, INFINITY},
};

static const struct unit byte_units[] = {
	{"B", 1, 999.5},      {"K", 0x1p10, 999.5}, {"M", 0x1p20, 999.5},    {"G", 0x1p30, 999.5},
	{"T", 0x1p40, 999.5}, {"P", 0x1p50, 999.5}, {"E", 0x1p60, INFINITY},
};

/* Whole numbers of the smallest unit have no fraction; @v is not negative. */
static const char *units_format(char *buf, double v, const struct unit *u, bool whole)
{
	while (v / u->size >= u->bound) {
		u++;
		whole = false;
	}
	v /= u->size;
	int digits = whole || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
	if (v >= 999.5)
		snprintf(buf, UNITS_BUF, ">999%s", u->name);
	else
		snprintf(buf, UNITS_BUF, "%.*f%s", digits, v, u->name);
	return buf;
}

/* "59m59s", "2h05m": whole numbers of two units, 60 of @small being one of @large. */
static const char *units_pair(char *buf, double v, char large, char small)
{
	unsigned n = (unsigned)(v + 0.5);

	snprintf(buf, UNITS_BUF, "%u%c%02u%c", n / 60, large, n % 60, small);
	return buf;
}

/*
 * Like units_format() below a minute, but without floating point. False: the time is longer, or
 * exactly between two texts, where the rounding of the double decides.
 */
static bool units_exact(char *buf, uint64_t ns)
{
	static const unsigned powers[] = {1, 10, 100};
	uint64_t unit = ns < 999500 ? 1000 : ns < 999500000 ? 1000000 : 1000000000;
	struct textbuf b = textbuf_make(buf, UNITS_BUF);
	unsigned digits = 0;

	if (ns >= 59950000000)
		return false;
	if (ns < 1000)
		unit = 1;
	else
		digits = ns * 100 >= unit * 9995 ? 0 : ns * 1000 >= unit * 9995 ? 1 : 2;
	uint64_t step = unit / powers[digits], n = ns / step, rest = ns % step;
	if (rest * 2 == step)
		return false;
	n += rest * 2 > step;
	textbuf_u64(&b, n / powers[digits]);
	if (digits) {
		textbuf_char(&b, '.');
		textbuf_u64_zeros(&b, n % powers[digits], digits);
	}
	textbuf_str(&b, unit == 1 ? "ns" : unit == 1000 ? "us" : unit == 1000000 ? "ms" : "s");
	textbuf_end(&b);
	return true;
}

/* @ns is not negative. */
static const char *units_time(char *buf, double ns)
{
	double s = ns / 1e9;

	if (s < 59.95)
		return units_format(buf, ns, time_units, true);
	if (s < 3599.5)
		return units_pair(buf, s, 'm', 's');
	if (s < 86370)
		return units_pair(buf, s / 60, 'h', 'm');
	return units_format(buf, ns, day_units, false);
}

static bool units_is_unknown(double v)
{
	return isnan(v) || isinf(v) || v < 0;
}

const char *units_ns(char *buf, uint64_t ns)
{
	return units_exact(buf, ns) ? buf : units_time(buf, (double)ns);
}

const char *units_count(char *buf, uint64_t n)
{
	return units_format(buf, (double)n, count_units, true);
}

/* One decimal below 100: 0.5 and 41.3 align in a column. */
static const char *units_tenths(char *buf, double v)
{
	if (units_is_unknown(v))
		return strcpy(buf, "-");
	if (v == 0)
		return strcpy(buf, "0");
	if (v < 0.05)
		return strcpy(buf, "<0.1");
	if (v >= 99.95)
		return units_format(buf, v, count_units, false);
	snprintf(buf, UNITS_BUF, "%.1f", v);
	return buf;
}

const char *units_rate(char *buf, double per_s)
{
	return units_tenths(buf, per_s);
}

const char *units_nsrate(char *buf, double ns_per_s)
{
	if (units_is_unknown(ns_per_s))
		return strcpy(buf, "-");
	return units_time(buf, ns_per_s);
}

/* A task that always waits has one second of wait time per second. */
const char *units_tasks(char *buf, double ns_per_s)
{
	double v = ns_per_s / 1e9;

	if (units_is_unknown(ns_per_s))
		return strcpy(buf, "-");
	if (v <= 0)
		return strcpy(buf, "0");
	if (v < 0.00005)
		return strcpy(buf, "<.0001");
	if (v >= 0.0995)
		return units_format(buf, v, count_units, false);
	snprintf(buf, UNITS_BUF, "%.*f", v < 0.00095 ? 4 : 3, v);
	return buf;
}

const char *units_pct(char *buf, double pct)
{
	return units_tenths(buf, pct);
}

const char *units_bytes(char *buf, uint64_t bytes)
{
	return units_format(buf, (double)bytes, byte_units, true);
}

/* Digits, optionally a point and more digits: their positions, and the text after them. */
struct units_number {
	uint64_t whole;
	const char *fraction;
	size_t n_fraction;
	const char *suffix;
};

/* 0, -EINVAL when there is no number, -ERANGE when it is too large. */
static int units_scan(const char *s, struct units_number *ret)
{
	const char *digits = s;
	struct units_number n = {0};
	bool overflow = false;

	for (; *s >= '0' && *s <= '9'; s++)
		overflow |= __builtin_mul_overflow(n.whole, 10u, &n.whole) ||
			    __builtin_add_overflow(n.whole, (uint64_t)(*s - '0'), &n.whole);
	if (s == digits)
		return -EINVAL;
	if (*s == '.') {
		n.fraction = ++s;
		n.n_fraction = strspn(s, "0123456789");
		s += n.n_fraction;
		if (!n.n_fraction)
			return -EINVAL;
	}
	n.suffix = s;
	*ret = n;
	return overflow ? -ERANGE : 0;
}

/* Exact while the unit has enough digits; digits below the smallest unit are cut. */
static int units_scale(const struct units_number *n, uint64_t unit, uint64_t *ret)
{
	uint64_t v, part = 0;

	if (__builtin_mul_overflow(n->whole, unit, &v))
		return -ERANGE;
	/* From the last digit on, so that nothing is rounded before it is added. */
	for (size_t i = n->n_fraction; i-- > 0;)
		part = (part + unit * (uint64_t)(n->fraction[i] - '0')) / 10;
	if (__builtin_add_overflow(v, part, &v))
		return -ERANGE;
	*ret = v;
	return 0;
}

/* The unit with this name (@len bytes), in ns; 0: none. */
static uint64_t units_time_of(const char *name, size_t len)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} suffixes[] = {
		{"", 1000000000},  {"ns", 1},	       {"us", 1000},	     {"ms", 1000000},
		{"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000},
	};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strlen(suffixes[i].name) == len && !memcmp(name, suffixes[i].name, len))
			return suffixes[i].ns;
	return 0;
}

/* Numbers with ever smaller units, the last of which may have a fraction. */
int units_parse_ns(const char *s, uint64_t *ret_ns)
{
	uint64_t sum = 0, part, above = UINT64_MAX;
	struct units_number n;

	do {
		size_t len;

		if (units_scan(s, &n))
			return -EINVAL;
		len = strcspn(n.suffix, "0123456789.");
		s = n.suffix + len;

		uint64_t unit = units_time_of(n.suffix, len);

		if (!unit || unit >= above || (above != UINT64_MAX && !len) ||
		    (*s && (!len || n.n_fraction)))
			return -EINVAL;
		if (units_scale(&n, unit, &part) || __builtin_add_overflow(sum, part, &sum))
			return -EINVAL;
		above = unit;
	} while (*s);
	*ret_ns = sum;
	return 0;
}

static int parse_scaled(const char *s, const char *letters, uint64_t power, uint64_t *ret)
{
	struct units_number n;
	uint64_t unit = 1;
	int r = units_scan(s, &n);

	if (r == -EINVAL)
		return r;
	if (*n.suffix) {
		const char *letter = strchr(letters, *n.suffix == 'K' ? 'k' : *n.suffix);

		if (!letter || n.suffix[1])
			return -EINVAL;
		for (const char *p = letters; p <= letter; p++)
			unit *= power;
	}
	if (unit == 1 && n.n_fraction)
		return -EINVAL;
	return r ? r : units_scale(&n, unit, ret);
}

int units_parse_count(const char *s, uint64_t *ret)
{
	return parse_scaled(s, "kMG", 1000, ret);
}

int units_parse_bytes(const char *s, uint64_t *ret)
{
	return parse_scaled(s, "kMGT", 1024, ret);
}
