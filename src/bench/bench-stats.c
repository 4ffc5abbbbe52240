// SPDX-License-Identifier: GPL-2.0-only
/*
 * Medians, since a run that was disturbed by other programs says nothing about the others. Random
 * numbers come from a generator with a fixed seed.
 */
#include "kontend/bench-stats.h"
#include "kontend/sort.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { DRAWS = 2000, DRAWN_RUNS = 200 };

static int is_less(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b;
}

static void sort_values(double *v, size_t n)
{
	double room[DRAWS];

	sort_merge(v, room, n, sizeof(*v), is_less);
}

/* The median of sorted values. */
static double middle(const double *v, size_t n)
{
	return n ? (v[(n - 1) / 2] + v[n / 2]) / 2 : (double)NAN;
}

static size_t take_finite(double *to, const double *v, size_t n)
{
	n = n < BENCH_STATS_MOST ? n : BENCH_STATS_MOST;
	memcpy(to, v, n * sizeof(*v));
	return n;
}

double bench_stats_median(const double *v, size_t n)
{
	double sorted[BENCH_STATS_MOST];

	n = n ? take_finite(sorted, v, n) : 0;
	sort_values(sorted, n);
	return middle(sorted, n);
}

double bench_stats_mad(const double *v, size_t n)
{
	double away[BENCH_STATS_MOST], median = bench_stats_median(v, n);

	n = n ? take_finite(away, v, n) : 0;
	for (size_t i = 0; i < n; i++)
		away[i] = fabs(away[i] - median);
	sort_values(away, n);
	return middle(away, n);
}

static uint32_t draw(uint64_t *seed, size_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (uint32_t)((*seed >> 16) % below);
}

static double median_of_draw(uint64_t *seed, const double *v, size_t n)
{
	double drawn[DRAWN_RUNS];

	for (size_t i = 0; i < n; i++)
		drawn[i] = v[draw(seed, n)];
	sort_values(drawn, n);
	return middle(drawn, n);
}

static bool all_above_zero(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(v[i] > 0) || !isfinite(v[i]))
			return false;
	return n > 0;
}

void bench_stats_ratio(const double *a, size_t n_a, const double *b, size_t n_b,
		       struct bench_stats_ratio *ret)
{
	double ratios[DRAWS];
	uint64_t seed = 0x9e3779b97f4a7c15;

	*ret = (struct bench_stats_ratio){0};
	n_a = n_a < DRAWN_RUNS ? n_a : DRAWN_RUNS;
	n_b = n_b < DRAWN_RUNS ? n_b : DRAWN_RUNS;
	/* There are no ratios of zero or negative values. */
	if (!all_above_zero(a, n_a) || !all_above_zero(b, n_b))
		return;
	ret->ratio = bench_stats_median(b, n_b) / bench_stats_median(a, n_a);
	ret->known = isfinite(ret->ratio) && ret->ratio > 0;
	if (!ret->known || n_a < BENCH_STATS_LEAST || n_b < BENCH_STATS_LEAST)
		return;
	for (int i = 0; i < DRAWS; i++) {
		double of_a = median_of_draw(&seed, a, n_a);
		ratios[i] = median_of_draw(&seed, b, n_b) / of_a;
		if (!isfinite(ratios[i]))
			return;
	}
	sort_values(ratios, DRAWS);
	ret->low = ratios[DRAWS / 40];
	ret->high = ratios[DRAWS - 1 - DRAWS / 40];
	ret->has_interval = true;
}

bool bench_stats_differs(const struct bench_stats_ratio *r)
{
	return r->has_interval && (r->low > 1 || r->high < 1);
}
