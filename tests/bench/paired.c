// SPDX-License-Identifier: GPL-2.0-only
/* The median of differences and its bootstrap interval; the same values give the same one. */
#include "paired.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 2000 };

void paired_add(struct paired *p, double v)
{
	if (p->n == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 64;
		double *more = realloc(p->v, cap * sizeof(*more));
		if (!more)
			abort();
		p->v = more;
		p->cap = cap;
	}
	p->v[p->n++] = v;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts @v. */
static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct paired_middle paired_middle(const struct paired *p)
{
	double medians[SAMPLES];
	double *v = calloc(p->n + 1, sizeof(*v));
	uint64_t random = 88172645463325252u;
	struct paired_middle m = {0};

	if (!v)
		abort();
	for (int i = 0; p->n && i < SAMPLES; i++) {
		for (size_t k = 0; k < p->n; k++)
			v[k] = p->v[next_random(&random) % p->n];
		medians[i] = median(v, p->n);
	}
	if (p->n) {
		memcpy(v, p->v, p->n * sizeof(*v));
		m.median = median(v, p->n);
		qsort(medians, SAMPLES, sizeof(*medians), by_value);
		m.low = medians[SAMPLES / 40];
		m.high = medians[SAMPLES - 1 - SAMPLES / 40];
	}
	free(v);
	return m;
}

void paired_free(struct paired *p)
{
	free(p->v);
	*p = (struct paired){0};
}
