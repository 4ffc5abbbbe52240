// SPDX-License-Identifier: GPL-2.0-only
/* A suite as text, a line a figure below a line a benchmark, and as JSON with every run's value. */
#include "kontend/text.h"
#include "kontend/units.h"
#include "run-suite.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LEAST_WIDTH = 24 };

const char *bench_suite_value(char buf[BENCH_SUITE_VALUE], double v, const char *unit)
{
	char text[UNITS_BUF];

	if (!isfinite(v))
		snprintf(buf, BENCH_SUITE_VALUE, "-");
	else if (strcmp(unit, "ns") == 0 && v >= 0 && v < 1e18)
		snprintf(buf, BENCH_SUITE_VALUE, "%s", units_ns(text, (uint64_t)(v + 0.5)));
	else if (strcmp(unit, "B/s") == 0 && v >= 0 && v < 1e18)
		snprintf(buf, BENCH_SUITE_VALUE, "%s/s", units_bytes(text, (uint64_t)(v + 0.5)));
	else if (strcmp(unit, "1/s") == 0 && v >= 0)
		snprintf(buf, BENCH_SUITE_VALUE, "%s/s", units_rate(text, v));
	else if (strcmp(unit, "1") == 0 && v >= 0 && v == floor(v) && v < 1e18)
		snprintf(buf, BENCH_SUITE_VALUE, "%s", units_count(text, (uint64_t)v));
	else
		snprintf(buf, BENCH_SUITE_VALUE, "%.3f%.16s", v, strcmp(unit, "1") ? unit : "");
	return buf;
}

int bench_suite_width(const struct bench_suite *s)
{
	int most = LEAST_WIDTH;

	for (size_t i = 0; i < s->n; i++) {
		int width = text_width(s->figures[i].of);
		most = width > most ? width : most;
	}
	return most;
}

static void print_head(FILE *out, const struct bench_suite *s, int width)
{
	char took[UNITS_BUF];

	fprintf(out, "# kontend bench suite: %s, %s: Linux %s, %s, %u CPUs, kontend %s; %u runs",
		s->date, s->host, s->kernel, s->machine, s->cpus, s->version, s->runs);
	if (s->took_ns)
		fprintf(out, " in %s", units_ns(took, s->took_ns));
	fprintf(out, "\n# MAD: the median distance of the runs from their median\n");
	fprintf(out, "  %-*s %-18s %10s %10s  %s\n", width, "", "", "median", "MAD", "better");
}

static void print_figure(FILE *out, const struct bench_suite_figure *f, int width)
{
	char median[BENCH_SUITE_VALUE], mad[BENCH_SUITE_VALUE];

	bench_suite_value(median, bench_stats_median(f->v, f->n), f->unit);
	bench_suite_value(mad, bench_stats_mad(f->v, f->n), f->unit);
	fprintf(out, "  %-*s %-18s %10s %10s  %s\n", width, f->of, f->metric, median, mad,
		bench_figures_better(f->better));
}

void bench_suite_print(FILE *out, const struct bench_suite *s)
{
	const char *bench = "";
	int width = bench_suite_width(s);

	print_head(out, s, width);
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->figures[i].bench, bench) != 0)
			fprintf(out, "%s\n", s->figures[i].bench);
		bench = s->figures[i].bench;
		print_figure(out, &s->figures[i], width);
	}
	for (size_t i = 0; i < s->n_skipped; i++)
		fprintf(out, "%s: %s%s\n", s->skipped[i].bench,
			strncmp(s->skipped[i].why, FAILED, strlen(FAILED)) ? "skipped: " : "",
			s->skipped[i].why);
}

static void put_figure(struct jsonw *j, const struct bench_suite_figure *f)
{
	jsonw_begin(j, NULL, '{', true);
	jsonw_str(j, "bench", f->bench);
	jsonw_str(j, "case", f->of);
	jsonw_str(j, "metric", f->metric);
	jsonw_str(j, "unit", f->unit);
	jsonw_str(j, "better", bench_figures_better(f->better));
	jsonw_double(j, "median", bench_stats_median(f->v, f->n));
	jsonw_double(j, "mad", bench_stats_mad(f->v, f->n));
	jsonw_begin(j, "values", '[', true);
	for (size_t i = 0; i < f->n; i++)
		jsonw_double(j, NULL, f->v[i]);
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}

void bench_suite_put(struct jsonw *j, const struct bench_suite *s)
{
	jsonw_str(j, "schema", BENCH_SUITE_SCHEMA);
	jsonw_str(j, "version", s->version);
	jsonw_str(j, "date", s->date);
	jsonw_str(j, "host", s->host);
	jsonw_str(j, "kernel", s->kernel);
	jsonw_str(j, "machine", s->machine);
	jsonw_u64(j, "cpus", s->cpus);
	jsonw_u64(j, "runs", s->runs);
	jsonw_begin(j, "figures", '[', false);
	for (size_t i = 0; i < s->n; i++)
		put_figure(j, &s->figures[i]);
	jsonw_end(j, ']');
	jsonw_begin(j, "skipped", '[', false);
	for (size_t i = 0; i < s->n_skipped; i++) {
		jsonw_begin(j, NULL, '{', true);
		jsonw_str(j, "bench", s->skipped[i].bench);
		jsonw_str(j, "reason", s->skipped[i].why);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}
