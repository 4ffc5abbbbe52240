// SPDX-License-Identifier: GPL-2.0-only
/*
 * Figures in the order in which they came first. There are some hundreds of them, so a lookup
 * compares them one by one, beginning after the one found last: all runs have them in the same
 * order.
 */
#include "kontend/bench-suite.h"
#include "kontend/mem.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_named(const struct bench_suite_figure *f, const char *bench, const char *of,
		     const char *metric, const char *unit)
{
	return strcmp(f->metric, metric) == 0 && strcmp(f->of, of) == 0 &&
	       strcmp(f->bench, bench) == 0 && strcmp(f->unit, unit) == 0;
}

static size_t find_figure(const struct bench_suite *s, const char *bench, const char *of,
			  const char *metric, const char *unit)
{
	for (size_t i = 0; i < s->n; i++)
		if (is_named(&s->figures[i], bench, of, metric, unit))
			return i;
	return SIZE_MAX;
}

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

struct bench_suite_figure *bench_suite_figure(struct bench_suite *s, const char *bench,
					      const char *of, const char *metric, const char *unit)
{
	size_t i = find_figure(s, bench, of, metric, unit);

	if (i != SIZE_MAX)
		return &s->figures[i];
	if (mem_grow(&s->figures, &s->cap, s->n, sizeof(*s->figures)) < 0)
		return NULL;
	struct bench_suite_figure *f = &s->figures[s->n++];
	*f = (struct bench_suite_figure){0};
	copy(f->bench, sizeof(f->bench), bench);
	copy(f->of, sizeof(f->of), of);
	copy(f->metric, sizeof(f->metric), metric);
	copy(f->unit, sizeof(f->unit), unit);
	return f;
}

const struct bench_suite_figure *bench_suite_find(const struct bench_suite *s,
						  const struct bench_suite_figure *f)
{
	size_t i = find_figure(s, f->bench, f->of, f->metric, f->unit);

	return i == SIZE_MAX ? NULL : &s->figures[i];
}

int bench_suite_add(struct bench_suite_figure *f, double value)
{
	if (!isfinite(value) || f->n == BENCH_STATS_MOST)
		return 0;
	if (mem_grow(&f->v, &f->cap, f->n, sizeof(*f->v)) < 0)
		return -ENOMEM;
	f->v[f->n++] = value;
	return 0;
}

static int add_skipped(struct bench_suite *s, const struct bench_suite_skipped *skipped)
{
	if (mem_grow(&s->skipped, &s->cap_skipped, s->n_skipped, sizeof(*s->skipped)) < 0)
		return -ENOMEM;
	s->skipped[s->n_skipped++] = *skipped;
	return 0;
}

static int skip(struct bench_suite *s, const char *bench, const char *why, bool is_part)
{
	struct bench_suite_skipped one = {.is_part = is_part};

	copy(one.bench, sizeof(one.bench), bench);
	copy(one.why, sizeof(one.why), why);
	for (const struct bench_suite_skipped *k = s->skipped; k < s->skipped + s->n_skipped; k++)
		if (strcmp(k->bench, one.bench) == 0 && k->is_part == is_part &&
		    (!is_part || strcmp(k->why, one.why) == 0))
			return 0;
	return add_skipped(s, &one);
}

int bench_suite_skip(struct bench_suite *s, const char *bench, const char *why)
{
	return skip(s, bench, why, false);
}

int bench_suite_skip_part(struct bench_suite *s, const char *bench, const char *why)
{
	return skip(s, bench, why, true);
}

void bench_suite_deinit(struct bench_suite *s)
{
	for (size_t i = 0; i < s->n; i++)
		mem_free(s->figures[i].v);
	mem_free(s->figures);
	mem_free(s->skipped);
	*s = (struct bench_suite){0};
}

enum bench_suite_verdict bench_suite_judge(const struct bench_suite_figure *before,
					   const struct bench_suite_figure *now,
					   struct bench_stats_ratio *ret)
{
	*ret = (struct bench_stats_ratio){0};
	if (now->better == BENCH_FACT)
		return BENCH_SUITE_FACT;
	bench_stats_ratio(before->v, before->n, now->v, now->n, ret);
	if (!ret->has_interval)
		return BENCH_SUITE_UNKNOWN;
	if (!bench_stats_differs(ret))
		return BENCH_SUITE_SAME;
	return (ret->ratio > 1) == (now->better == BENCH_HIGHER) ? BENCH_SUITE_BETTER
								 : BENCH_SUITE_WORSE;
}

const char *bench_suite_verdict_name(enum bench_suite_verdict v)
{
	static const char *const names[] = {"fact", "unknown", "same", "better", "worse"};

	return names[v];
}
