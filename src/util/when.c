// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moments of a recording as users write and read them. Everything becomes nanoseconds of the
 * session clock at once. Wall clock times are converted with the one moment known on both clocks,
 * so setting the clock during the recording shifts nothing within it. A time of day without a date
 * is the first one after the recording's beginning.
 */
#include "kontend/when.h"
#include "kontend/number.h"
#include "kontend/units.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const uint64_t second_ns = 1000000000;
static const uint64_t most_seconds = 366ull * 86400 * 100;

/* Result of parse() for text that is no time; the caller sets the message. */
enum { UNCLEAR = 1 };

static const char forms[] = "like +5m, -10s, 90%, 1:23 or 14:30:05";

uint64_t when_wall_ns(const struct when *w, uint64_t ns)
{
	return w->wall_ns ? w->wall_ns + (ns - w->clock_ns) : 0;
}

static uint64_t clamp(const struct when *w, uint64_t ns)
{
	if (ns < w->begin_ns)
		return w->begin_ns;
	return ns > w->end_ns ? w->end_ns : ns;
}

static uint64_t after(uint64_t from_ns, uint64_t ns)
{
	return ns < UINT64_MAX - from_ns ? from_ns + ns : UINT64_MAX;
}

static bool take_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* ".25" in nanoseconds, if present. */
static uint64_t take_fraction(const char **p)
{
	uint64_t ns = 0, unit = second_ns / 10;

	if (!take_char(p, '.'))
		return 0;
	for (; **p >= '0' && **p <= '9'; (*p)++, unit /= 10)
		ns += (uint64_t)(**p - '0') * unit;
	return ns;
}

/* "1:23", "1:23.5": minutes and seconds. */
static bool parse_minutes(const char *text, uint64_t *ret_ns)
{
	uint64_t m, s;

	if (number_take(&text, most_seconds / 60, &m) < 0 || !take_char(&text, ':') ||
	    number_take(&text, 59, &s) < 0)
		return false;
	*ret_ns = (m * 60 + s) * second_ns + take_fraction(&text);
	return !*text;
}

/* Parses "2026-11-20 " or "2026-11-20T" into @tm; false: leaves @p unchanged. */
static bool take_date(const char **p, struct tm *tm)
{
	const char *at = *p;
	uint64_t y, m, d;

	if (number_take(&at, 9999, &y) < 0 || !take_char(&at, '-') ||
	    number_take(&at, 12, &m) < 0 || !take_char(&at, '-') || number_take(&at, 31, &d) < 0 ||
	    (!take_char(&at, ' ') && !take_char(&at, 'T')))
		return false;
	tm->tm_year = (int)y - 1900;
	tm->tm_mon = (int)m - 1;
	tm->tm_mday = (int)d;
	*p = at;
	return true;
}

struct wall {
	struct tm tm;
	uint64_t fraction_ns;
	bool has_date;
};

/* @or_minutes: "14:30" is a time of day, too. */
static bool parse_wall(const char *text, bool or_minutes, struct wall *ret)
{
	uint64_t h, m, s = 0;

	*ret = (struct wall){0};
	ret->has_date = take_date(&text, &ret->tm);
	if (number_take(&text, 23, &h) < 0 || !take_char(&text, ':') ||
	    number_take(&text, 59, &m) < 0)
		return false;
	if ((*text || !or_minutes) && (!take_char(&text, ':') || number_take(&text, 60, &s) < 0))
		return false;
	ret->tm.tm_hour = (int)h;
	ret->tm.tm_min = (int)m;
	ret->tm.tm_sec = (int)s;
	ret->fraction_ns = take_fraction(&text);
	return !*text;
}

static uint64_t wall_of(const struct wall *t)
{
	struct tm tm = t->tm;

	tm.tm_isdst = -1;
	time_t seconds = mktime(&tm);
	return seconds < 0 ? 0 : (uint64_t)seconds * second_ns + t->fraction_ns;
}

/* A time of day without a date is the first one from @first_s on. */
static uint64_t wall_from(struct wall *t, uint64_t first_s)
{
	time_t seconds = (time_t)first_s;
	struct tm first;

	if (t->has_date)
		return wall_of(t);
	localtime_r(&seconds, &first);
	t->tm.tm_year = first.tm_year;
	t->tm.tm_mon = first.tm_mon;
	t->tm.tm_mday = first.tm_mday;
	uint64_t at = wall_of(t);
	if (at / second_ns >= first_s)
		return at;
	t->tm.tm_mday++;
	return wall_of(t);
}

static int outside_wall(const struct when *w, const char *text, struct error *err)
{
	char a[WHEN_BUF], b[WHEN_BUF];

	when_date(a, when_wall_ns(w, w->begin_ns), 0);
	if (w->end_ns == WHEN_UNKNOWN)
		return error_set(err, -EINVAL, "\"%.40s\" is outside: this begins %s", text, a);
	return error_set(err, -EINVAL, "\"%.40s\" is outside: this goes from %s to %s", text, a,
			 when_date(b, when_wall_ns(w, w->end_ns), 0));
}

static int from_wall(const struct when *w, struct wall *t, const char *text, uint64_t *ret_ns,
		     struct error *err)
{
	uint64_t begin = when_wall_ns(w, w->begin_ns), at;

	if (!w->wall_ns)
		return error_set(err, -EINVAL,
				 "\"%.40s\": the recording does not say when it was made; 1:23 "
				 "counts from its beginning",
				 text);
	at = wall_from(t, begin / second_ns);
	if (at / second_ns < begin / second_ns)
		return outside_wall(w, text, err);
	*ret_ns = at < begin ? w->begin_ns : after(w->begin_ns, at - begin);
	return *ret_ns > w->end_ns ? outside_wall(w, text, err) : 0;
}

static bool take_percent(const char *text, double *ret)
{
	uint64_t n;

	if (number_take(&text, 100, &n) < 0)
		return false;
	*ret = (double)n + (double)take_fraction(&text) / (double)second_ns;
	return strcmp(text, "%") == 0 && *ret <= 100;
}

static int from_percent(const struct when *w, double pct, const char *text, uint64_t *ret_ns,
			struct error *err)
{
	if (w->end_ns == WHEN_UNKNOWN)
		return error_set(err, -EINVAL,
				 "\"%.24s\": how long this is, is known at its end only; +5m "
				 "counts from its beginning",
				 text);
	*ret_ns = w->begin_ns + (uint64_t)((double)(w->end_ns - w->begin_ns) * pct / 100);
	return 0;
}

/* Seconds on the session clock: "@1234.5", or a number alone that is within the recording. */
static bool parse_stamp(const char *text, const struct when *w, uint64_t *ret_ns)
{
	bool sure = take_char(&text, '@');
	uint64_t s;

	if (number_take(&text, most_seconds, &s) < 0)
		return false;
	*ret_ns = s * second_ns + take_fraction(&text);
	return !*text && (sure || (*ret_ns >= w->begin_ns && *ret_ns <= w->end_ns));
}

/* A duration: "5m", "1:23". */
static bool parse_length(const char *text, uint64_t *ret_ns)
{
	return *text >= '0' && *text <= '9' &&
	       (parse_minutes(text, ret_ns) || units_parse_ns(text, ret_ns) == 0);
}

/* The result may be outside of the recording. 0, UNCLEAR, or -EINVAL with @err. */
static int parse(const char *text, const struct when *w, uint64_t *ret_ns, struct error *err)
{
	struct wall wall;
	uint64_t ns;
	double pct;

	text += strspn(text, " ");
	if (take_percent(text, &pct))
		return from_percent(w, pct, text, ret_ns, err);
	if (parse_stamp(text, w, ret_ns))
		return 0;
	if (parse_wall(text, false, &wall))
		return from_wall(w, &wall, text, ret_ns, err);
	if (!parse_length(text + (*text == '+' || *text == '-'), &ns))
		return UNCLEAR;
	if (*text == '-')
		*ret_ns = ns < w->now_ns ? w->now_ns - ns : 0;
	else
		*ret_ns = after(*text == '+' ? w->now_ns : w->begin_ns, ns);
	return 0;
}

int when_parse(const char *text, const struct when *w, uint64_t *ret_ns, struct error *err)
{
	int r = parse(text, w, ret_ns, err);

	if (r == UNCLEAR)
		return error_set(err, -EINVAL, "\"%.24s\" is no time, %s", text, forms);
	if (r == 0)
		*ret_ns = clamp(w, *ret_ns);
	return r;
}

static int no_range(const char *text, const char *why, const struct when *w, struct error *err)
{
	double begin = (double)w->begin_ns / 1e9, end = (double)w->end_ns / 1e9;
	char to[WHEN_BUF];

	if (w->end_ns == WHEN_UNKNOWN)
		return error_set(err, -EINVAL, "\"%.80s\" %s; it begins at @%.6f", text, why,
				 begin);
	return error_set(err, -EINVAL, "\"%.80s\" %s; it goes from 0:00 to %s (@%.6f to @%.6f)",
			 text, why, when_elapsed(to, w->end_ns - w->begin_ns, 3), begin, end);
}

/* Parses one end; "": leaves *ret_ns. */
static int parse_end(const char *text, const char *all, const struct when *w, uint64_t *ret_ns,
		     struct error *err)
{
	char why[120];
	int r = *text ? parse(text, w, ret_ns, err) : 0;

	if (r != UNCLEAR)
		return r;
	snprintf(why, sizeof(why), "is no range: \"%.24s\" is no time, %s", text, forms);
	return no_range(all, why, w, err);
}

int when_parse_range(const char *text, const struct when *w, uint64_t *ret_from_ns,
		     uint64_t *ret_to_ns, struct error *err)
{
	const char *comma = strchr(text, ',');
	struct when relative = *w;
	uint64_t from_ns = w->begin_ns, to_ns = w->end_ns;
	char from[WHEN_BUF * 2];
	int r;

	if (!comma || (size_t)(comma - text) >= sizeof(from) || strchr(comma + 1, ','))
		return no_range(text, "is no range: give FROM,TO, like 0:10,0:20", w, err);
	snprintf(from, sizeof(from), "%.*s", (int)(comma - text), text);
	r = parse_end(from, text, w, &from_ns, err);
	relative.now_ns = from_ns;
	if (r == 0)
		r = parse_end(comma + 1, text, &relative, &to_ns, err);
	if (r < 0)
		return r;
	if (from_ns >= w->end_ns || to_ns <= w->begin_ns)
		return no_range(text, "is outside of the recording", w, err);
	if (to_ns <= from_ns)
		return no_range(text, "is no range: it ends before it begins", w, err);
	*ret_from_ns = clamp(w, from_ns);
	*ret_to_ns = clamp(w, to_ns);
	return 0;
}

static int next_step(const char *text, uint64_t now, uint64_t *ret_ns, struct error *err)
{
	uint64_t step;

	if (units_parse_ns(text + 1, &step) < 0 || step < WHEN_STEP_LEAST_NS ||
	    step > 86400 * second_ns)
		return error_set(
			err, -EINVAL,
			"\"%.24s\" is no step of the wall clock: give one from /1s to /24h", text);
	*ret_ns = now - now % step + step;
	return 0;
}

int when_parse_start(const char *text, uint64_t wall_now_ns, uint64_t *ret_wall_ns,
		     struct error *err)
{
	char now[WHEN_BUF];
	struct wall wall;

	if (*text == '/')
		return next_step(text, wall_now_ns, ret_wall_ns, err);
	if (!parse_wall(text, true, &wall))
		return error_set(err, -EINVAL,
				 "\"%.24s\" is no time to start at, like 14:30, 14:30:05, "
				 "\"2026-11-20 14:30\" or /10s",
				 text);
	uint64_t at = wall_from(&wall, wall_now_ns / second_ns);
	if (at <= wall_now_ns && !wall.has_date) /* later in this second */
		at = wall_from(&wall, wall_now_ns / second_ns + 1);
	if (at <= wall_now_ns)
		return error_set(err, -EINVAL, "\"%.40s\" is past: it is %s now", text,
				 when_date(now, wall_now_ns, 0));
	*ret_wall_ns = at;
	return 0;
}

static int put_fraction(char *buf, size_t size, uint64_t ns, int digits)
{
	unsigned ms = (unsigned)(ns % second_ns / 1000000);

	if (digits <= 0)
		return 0;
	if (digits == 1)
		return snprintf(buf, size, ".%u", ms / 100);
	return snprintf(buf, size, ".%03u", ms);
}

const char *when_elapsed(char *buf, uint64_t ns, int digits)
{
	unsigned long long s = ns / second_ns;
	int n;

	if (s >= 3600)
		n = snprintf(buf, WHEN_BUF, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
	else
		n = snprintf(buf, WHEN_BUF, "%llu:%02llu", s / 60, s % 60);
	put_fraction(buf + n, WHEN_BUF - (size_t)n, ns, digits);
	return buf;
}

const char *when_date(char *buf, uint64_t wall_ns, int digits)
{
	time_t seconds = (time_t)(wall_ns / second_ns);
	struct tm tm;
	size_t n;

	buf[0] = '\0';
	if (!wall_ns || !localtime_r(&seconds, &tm))
		return buf;
	n = strftime(buf, WHEN_BUF - 8, "%Y-%m-%d %H:%M:%S", &tm);
	put_fraction(buf + n, WHEN_BUF - n, wall_ns, digits);
	return buf;
}
