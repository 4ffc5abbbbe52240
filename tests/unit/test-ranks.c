// SPDX-License-Identifier: GPL-2.0-only
/* Probabilities of ranks, against what counting all arrangements gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include "kontend/ranks.h"

#include <math.h>

enum { MOST = 16 };

static double probability(const double *a, size_t n, const double *b, size_t m)
{
	struct ranked v[2 * MOST * 4];

	for (size_t i = 0; i < n; i++)
		v[i] = (struct ranked){a[i], false};
	for (size_t i = 0; i < m; i++)
		v[n + i] = (struct ranked){b[i], true};
	return ranks_probability(v, n + m);
}

static void assert_near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.9f, not %.9f", got, want);
}

/* How many pairs have the first below the second. */
static unsigned u_of(unsigned chosen, unsigned n_all)
{
	unsigned u = 0;

	for (unsigned i = 0; i < n_all; i++)
		for (unsigned k = i + 1; k < n_all; k++)
			u += (chosen >> i & 1) && !(chosen >> k & 1);
	return u;
}

/* All ways to choose @n of the ranks: as far from the middle as @chosen, or farther. */
static double counted(unsigned chosen, unsigned n, unsigned n_all)
{
	double middle = n * (n_all - n) / 2.0, far = fabs(u_of(chosen, n_all) - middle);
	unsigned all = 0, some = 0;

	for (unsigned c = 0; c < 1u << n_all; c++) {
		if ((unsigned)__builtin_popcount(c) != n)
			continue;
		all++;
		some += fabs(u_of(c, n_all) - middle) >= far - 1e-9;
	}
	return (double)some / all;
}

static void probabilities_are_counted(void **state)
{
	(void)state;
	for (unsigned n_all = 2; n_all <= 9; n_all++) {
		for (unsigned c = 1; c + 1 < 1u << n_all; c += n_all > 7 ? 7 : 1) {
			double a[MOST], b[MOST];
			size_t n = 0, m = 0;
			for (unsigned i = 0; i < n_all; i++)
				if (c >> i & 1)
					a[n++] = i;
				else
					b[m++] = i;
			assert_near(probability(a, n, b, m), counted(c, (unsigned)n, n_all), 1e-12);
		}
	}
}

static void the_least_is_that_of_samples_apart(void **state)
{
	static const double low[] = {1, 2, 3, 4, 5}, high[] = {11, 12, 13, 14, 15, 16, 17, 18};

	(void)state;
	for (size_t n = 1; n <= 5; n++)
		for (size_t m = 1; m <= 8; m++)
			assert_near(ranks_least(n, m), probability(low, n, high, m), 1e-12);
	assert_true(ranks_least(3, 4) >= 0.05 && ranks_least(4, 4) < 0.05);
	assert_true(ranks_least(3, 5) < 0.05 && ranks_least(2, 7) >= 0.05);
	assert_true(ranks_least(2, 8) < 0.05);
	assert_near(ranks_least(0, 3), 1, 0);
	assert_near(probability(low, 0, high, 3), 1, 0);
}

/* All ways to choose @n of @n_all values, some of them equal: see counted(). */
static double counted_with_ties(const double *v, unsigned chosen, unsigned n, unsigned n_all)
{
	unsigned all = 0, some = 0;
	double middle = n * (n_all + 1) / 2.0, rank[MOST], far = 0;

	for (unsigned i = 0; i < n_all; i++) {
		unsigned below = 0, same = 0;
		for (unsigned k = 0; k < n_all; k++) {
			below += v[k] < v[i];
			same += !(v[k] < v[i]) && !(v[i] < v[k]);
		}
		rank[i] = below + (same + 1) / 2.0;
		far += chosen >> i & 1 ? rank[i] : 0;
	}
	far = fabs(far - middle);
	for (unsigned c = 0; c < 1u << n_all; c++) {
		double sum = 0;
		if ((unsigned)__builtin_popcount(c) != n)
			continue;
		for (unsigned i = 0; i < n_all; i++)
			sum += c >> i & 1 ? rank[i] : 0;
		all++;
		some += fabs(sum - middle) >= far - 1e-9;
	}
	return (double)some / all;
}

/* Values of 0 to 3, so that most of them are equal to another one. */
static void equal_values_are_counted(void **state)
{
	uint32_t random = 12345;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		double v[MOST], a[MOST], b[MOST];
		unsigned n_all = 4 + i % 9, n = 0, m = 0, chosen = 0;
		for (unsigned k = 0; k < n_all; k++) {
			random = random * 1664525 + 1013904223;
			v[k] = random >> 30;
			bool first = k == 0 || (k > 1 && random >> 20 & 1);
			chosen |= (unsigned)first << k;
			if (first)
				a[n++] = v[k];
			else
				b[m++] = v[k];
		}
		assert_near(probability(a, n, b, m), counted_with_ties(v, chosen, n, n_all), 1e-12);
		assert_near(probability(b, m, a, n), counted_with_ties(v, chosen, n, n_all), 1e-12);
	}
}

/* A row that so many of the recordings of one group have, and none of the other: the exact chance.
 */
static void rows_of_one_group_alone_are_exact(void **state)
{
	static const struct {
		size_t have, all;
		double pct;
	} cases[] = {
		{4, 6, 6.0606}, {4, 7, 6.9930}, {4, 8, 7.6923}, {4, 10, 8.6687}, {3, 5, 16.6667}};
	static const double nothing[MOST];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double a[MOST] = {0};
		for (size_t k = 0; k < cases[i].have; k++)
			a[k] = (double)(10 + k);
		assert_near(100 * probability(a, cases[i].all, nothing, cases[i].all), cases[i].pct,
			    0.0001);
	}
}

/* The same of samples of twenty is exact; a single value more, and it is the normal distribution.
 */
static void twenty_are_counted_more_are_near(void **state)
{
	double a[2 * MOST] = {0}, b[2 * MOST] = {0};

	(void)state;
	for (size_t k = 0; k < 5; k++)
		a[k] = 1;
	/* 2 * C(35, 15) / C(40, 20), as there is one of the other side for each. */
	assert_near(probability(a, 20, b, 20), 0.0471240, 1e-6);
	double p = probability(a, 21, b, 21);
	assert_true(p < 0.0471240 && p > 0.01);
	/* One against many is counted: the largest of 100 is 2 of 100. */
	for (size_t k = 0; k < 2 * MOST; k++)
		b[k] = (double)k;
	a[0] = 99;
	assert_near(probability(a, 1, b, 2 * MOST), 2.0 / (2 * MOST + 1), 1e-12);
}

/* Where values are many it is the normal distribution: near the exact one. */
static void many_values_are_near(void **state)
{
	double a[2 * MOST], b[2 * MOST];

	(void)state;
	for (int i = 0; i < 2 * MOST; i++) {
		a[i] = 2 * i;
		b[i] = 2 * i + 1;
	}
	/* U is 120 of 256: 0.7804 by all arrangements. */
	assert_near(probability(a, MOST, b, MOST), 0.7804, 0.0001);
	assert_true(probability(a, 2 * MOST, b, 2 * MOST) > 0.7);
	for (int i = 0; i < 2 * MOST; i++)
		b[i] += 40;
	assert_true(probability(a, 2 * MOST, b, 2 * MOST) < 0.0001);
	for (int i = 0; i < MOST; i++)
		a[i] = b[i] = 7;
	assert_near(probability(a, MOST, b, MOST), 1, 0);
	/* Half of them have nothing of it. */
	for (int i = 0; i < MOST; i++) {
		a[i] = 0;
		b[i] = i % 2 ? i : 0;
	}
	double p = probability(a, MOST, b, MOST);
	assert_true(p > 0.0005 && p < 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probabilities_are_counted),
		cmocka_unit_test(the_least_is_that_of_samples_apart),
		cmocka_unit_test(equal_values_are_counted),
		cmocka_unit_test(rows_of_one_group_alone_are_exact),
		cmocka_unit_test(twenty_are_counted_more_are_near),
		cmocka_unit_test(many_values_are_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
