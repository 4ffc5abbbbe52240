// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/ranks.h"
#include "kontend/sort.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
	EXACT = 20, /* largest size of the smaller sample */
	/* Room for the counts of two samples of twenty. */
	WAYS_MOST = (EXACT + 1) * (EXACT * (3 * EXACT + 1) + 1),
	STEPS_MOST = 2 * EXACT * WAYS_MOST, /* about a millisecond */
	ALL_MOST = 1000,
};

static int smaller(const void *a, const void *b)
{
	return ((const struct ranked *)a)->v < ((const struct ranked *)b)->v;
}

/* Summary of the ranks. */
struct summed {
	double rank_sum; /* of the first sample */
	double ties;	 /* the sum of t^3 - t over groups of t equal values */
	size_t first;	 /* values of the first sample */
};

/* Equal values share their average rank. */
static struct summed sum_up(const struct ranked *v, size_t n)
{
	struct summed s = {0};

	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !(v[i].v < v[end].v);)
			end++;
		double t = (double)(end - i), rank = (double)(i + 1 + end) / 2;
		s.ties += t * t * t - t;
		for (size_t k = i; k < end; k++) {
			s.rank_sum += v[k].second ? 0 : rank;
			s.first += !v[k].second;
		}
	}
	return s;
}

/* Number of ways to choose values, by their number and their sum of doubled ranks. */
struct ways {
	size_t most;		 /* largest number of chosen values */
	size_t stride;		 /* all sums are below */
	double n[WAYS_MOST + 1]; /* n[chosen * stride + sum] */
};

/* The highest sum of the doubled ranks of @k of @n values. */
static size_t highest(size_t k, size_t n)
{
	return k * (2 * n - k + 1);
}

/* True if there is room and time to count the ways to choose @k of @n values. */
static bool is_countable(size_t k, size_t n)
{
	size_t room = k <= EXACT && n <= ALL_MOST ? (k + 1) * (highest(k, n) + 1) : SIZE_MAX;

	return room <= WAYS_MOST && n * room <= STEPS_MOST;
}

/*
 * Adds the ways in which @times more values with the doubled rank @rank are chosen, each at most
 * once.
 */
static void choose_of(struct ways *w, size_t rank, size_t times, size_t *reached, size_t *sum)
{
	for (; times; times--) {
		*reached += *reached < w->most;
		*sum = *sum + rank < w->stride ? *sum + rank : w->stride - 1;
		for (size_t k = *reached; k; k--) {
			const double *from = &w->n[(k - 1) * w->stride];
			double *to = &w->n[k * w->stride + rank];
			for (size_t i = 0; i + rank <= *sum; i++)
				to[i] += from[i];
		}
	}
}

/*
 * The share of all arrangements in which the doubled ranks of @k values have a sum at least as far
 * from the mean as @sum. With ties the distribution is not symmetric, so both sides are counted.
 */
static double share_as_far(const struct ranked *v, size_t n, size_t k, size_t sum)
{
	struct ways w = {.most = k, .stride = highest(k, n) + 1};
	size_t middle = k * (n + 1), reached = 0, high = 0;
	size_t far = sum > middle ? sum - middle : middle - sum;
	double all = 0, some = 0;

	memset(w.n, 0, (k + 1) * w.stride * sizeof(*w.n));
	w.n[0] = 1;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !(v[i].v < v[end].v);)
			end++;
		choose_of(&w, i + 1 + end, end - i, &reached, &high);
	}
	for (size_t s = 0; s < w.stride; s++) {
		all += w.n[k * w.stride + s];
		if ((s > middle ? s - middle : middle - s) >= far)
			some += w.n[k * w.stride + s];
	}
	return some / all;
}

static double by_normal(double n, double m, double u, double ties)
{
	double both = n + m, half = n * m / 2;
	double spread = sqrt(n * m / 12 * (both + 1 - ties / (both * (both - 1))));
	double z = spread > 0 ? (half - u - 0.5) / spread : 0;

	return z > 0 ? erfc(z / sqrt(2)) : 1;
}

double ranks_probability(struct ranked *v, size_t n)
{
	sort_merge(v, v + n, n, sizeof(*v), smaller);
	struct summed s = sum_up(v, n);
	size_t other = n - s.first;
	double first = (double)s.first, second = (double)other;

	if (!s.first || !other)
		return 1;
	double all = (double)n * (double)(n + 1) / 2;
	if (s.first <= other && is_countable(s.first, n))
		return share_as_far(v, n, s.first, (size_t)(2 * s.rank_sum + 0.5));
	if (other < s.first && is_countable(other, n))
		return share_as_far(v, n, other, (size_t)(2 * (all - s.rank_sum) + 0.5));
	double u = s.rank_sum - first * (first + 1) / 2;
	u = u < first * second - u ? u : first * second - u;
	return by_normal(first, second, u, s.ties);
}

double ranks_least(size_t n_first, size_t n_second)
{
	double p = 2;

	for (size_t i = 1; i <= n_first; i++)
		p *= (double)i / (double)(n_second + i);
	return p < 1 ? p : 1;
}
