// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/ranks.h"
#include "kontend/sort.h"

#include <math.h>

enum { EXACT = 20 };

static int smaller(const void *a, const void *b)
{
	return ((const struct ranked *)a)->v < ((const struct ranked *)b)->v;
}

/* What of the ranks is needed. */
struct summed {
	double rank_sum; /* of the first sample */
	double ties;	 /* the sum of t^3 - t, of t that are equal */
	size_t first;	 /* values of the first sample */
};

/* Equal values share the ranks that they have together. */
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

/*
 * The share of all arrangements whose U is at most @u. How many there are of each U are the
 * coefficients of a Gaussian binomial: multiplied by 1 - q^(m+i), divided by 1 - q^i.
 */
static double share_up_to(size_t n, size_t m, size_t u)
{
	double ways[EXACT * EXACT + 1] = {1}, all = 1, some = 0;

	for (size_t i = 1; i <= n; i++) {
		for (size_t k = u + 1; k-- > m + i;)
			ways[k] -= ways[k - m - i];
		for (size_t k = i; k <= u; k++)
			ways[k] += ways[k - i];
		all *= (double)(m + i) / (double)i;
	}
	for (size_t k = 0; k <= u; k++)
		some += ways[k];
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
	double u = s.rank_sum - first * (first + 1) / 2;
	u = u < first * second - u ? u : first * second - u;
	if (s.ties > 0 || s.first > EXACT || other > EXACT)
		return by_normal(first, second, u, s.ties);
	double p = 2 * share_up_to(s.first, other, (size_t)(u + 0.5));
	return p < 1 ? p : 1;
}

double ranks_least(size_t n_first, size_t n_second)
{
	double p = 2;

	for (size_t i = 1; i <= n_first; i++)
		p *= (double)i / (double)(n_second + i);
	return p < 1 ? p : 1;
}
