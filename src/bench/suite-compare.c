// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two suites side by side: of each figure that both have, the ratio of the medians and its 95 %
 * confidence interval. Only if 1 is outside of that is it called better or worse. Figures that are
 * not comparable, as there are facts, are counted only.
 */
#include "run-suite.h"

#include <string.h>

struct count {
	unsigned by[BENCH_SUITE_WORSE + 1];
	unsigned only_before, only_now;
};

static double percent(double ratio)
{
	return (ratio - 1) * 100;
}

static void print_change(FILE *out, int width, const struct bench_suite_figure *before,
			 const struct bench_suite_figure *now, const struct bench_stats_ratio *r,
			 enum bench_suite_verdict verdict)
{
	char a[BENCH_SUITE_VALUE], b[BENCH_SUITE_VALUE], interval[48] = "too few runs";

	if (r->has_interval)
		snprintf(interval, sizeof(interval), "%+.1f%% to %+.1f%%", percent(r->low),
			 percent(r->high));
	else if (!r->known)
		snprintf(interval, sizeof(interval), "not above 0");
	fprintf(out, "  %-*s %-14s %10s %10s ", width, now->of, now->metric,
		bench_suite_value(a, bench_stats_median(before->v, before->n), now->unit),
		bench_suite_value(b, bench_stats_median(now->v, now->n), now->unit));
	if (r->known)
		fprintf(out, "%+7.1f%%", percent(r->ratio));
	else
		fprintf(out, "%8s", "-");
	fprintf(out, "  %-20s %s\n", interval,
		verdict >= BENCH_SUITE_SAME ? bench_suite_verdict_name(verdict) : "");
}

static void count_missing(const struct bench_suite *before, const struct bench_suite *now,
			  struct count *c)
{
	for (size_t i = 0; i < before->n; i++)
		c->only_before += !bench_suite_find(now, &before->figures[i]);
	for (size_t i = 0; i < now->n; i++)
		c->only_now += !bench_suite_find(before, &now->figures[i]);
}

static void print_all(FILE *out, const struct bench_suite *before, const struct bench_suite *now,
		      struct count *c)
{
	const char *bench = "";
	int width = bench_suite_width(now);

	for (size_t i = 0; i < now->n; i++) {
		const struct bench_suite_figure *f = &now->figures[i];
		const struct bench_suite_figure *was = bench_suite_find(before, f);
		struct bench_stats_ratio r;
		if (!was)
			continue;
		enum bench_suite_verdict verdict = bench_suite_judge(was, f, &r);
		c->by[verdict]++;
		if (verdict == BENCH_SUITE_FACT)
			continue;
		if (strcmp(f->bench, bench) != 0)
			fprintf(out, "%s\n", f->bench);
		bench = f->bench;
		print_change(out, width, was, f, &r, verdict);
	}
}

void bench_compare_print(FILE *out, const struct bench_suite *before, const struct bench_suite *now,
			 const char *name)
{
	struct count c = {0};

	fprintf(out, "# compared with %s: %s, %s: Linux %s, %s, %u CPUs, kontend %s; %u runs\n",
		name, before->date, before->host, before->kernel, before->machine, before->cpus,
		before->version, before->runs);
	fprintf(out, "  %-*s %-14s %10s %10s %8s  %-20s\n", bench_suite_width(now), "", "",
		"before", "now", "change", "95 % interval");
	print_all(out, before, now, &c);
	count_missing(before, now, &c);
	fprintf(out, "# %u better, %u worse, %u the same as far as %u and %u runs can show",
		c.by[BENCH_SUITE_BETTER], c.by[BENCH_SUITE_WORSE], c.by[BENCH_SUITE_SAME],
		before->runs, now->runs);
	fprintf(out,
		"; not compared: %u facts, %u without an interval, %u only before, %u only now\n",
		c.by[BENCH_SUITE_FACT], c.by[BENCH_SUITE_UNKNOWN], c.only_before, c.only_now);
}

static void put_change(struct jsonw *j, const struct bench_suite_figure *before,
		       const struct bench_suite_figure *now)
{
	struct bench_stats_ratio r;
	enum bench_suite_verdict verdict = bench_suite_judge(before, now, &r);

	if (verdict == BENCH_SUITE_FACT)
		return;
	jsonw_begin(j, NULL, '{', true);
	jsonw_str(j, "bench", now->bench);
	jsonw_str(j, "case", now->of);
	jsonw_str(j, "metric", now->metric);
	jsonw_str(j, "unit", now->unit);
	jsonw_double(j, "before", bench_stats_median(before->v, before->n));
	jsonw_double(j, "now", bench_stats_median(now->v, now->n));
	if (r.known)
		jsonw_double(j, "ratio", r.ratio);
	else
		jsonw_null(j, "ratio");
	jsonw_begin(j, "interval", '[', true);
	for (int i = 0; r.has_interval && i < 2; i++)
		jsonw_double(j, NULL, i ? r.high : r.low);
	jsonw_end(j, ']');
	jsonw_str(j, "verdict", bench_suite_verdict_name(verdict));
	jsonw_end(j, '}');
}

void bench_compare_put(struct jsonw *j, const struct bench_suite *before,
		       const struct bench_suite *now, const char *name)
{
	jsonw_begin(j, "compared_with", '{', false);
	jsonw_str(j, "file", name);
	jsonw_str(j, "date", before->date);
	jsonw_str(j, "host", before->host);
	jsonw_str(j, "kernel", before->kernel);
	jsonw_u64(j, "runs", before->runs);
	jsonw_begin(j, "changes", '[', false);
	for (size_t i = 0; i < now->n; i++) {
		const struct bench_suite_figure *was = bench_suite_find(before, &now->figures[i]);
		if (was)
			put_change(j, was, &now->figures[i]);
	}
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}
