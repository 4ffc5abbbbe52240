// SPDX-License-Identifier: GPL-2.0-only
/* Medians of pairs, and the confidence interval of a median by the percentile bootstrap. */
#include "kontend/bench-pairs.h"
#include "kontend/mem.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 2000 };

int bench_pairs_add(struct bench_pairs *p, double off, double on)
{
	if (!(off > 0))
		return 0;
	if (mem_grow(&p->pct, &p->cap, p->n, sizeof(*p->pct)) < 0)
		return -ENOMEM;
	p->pct[p->n++] = 100 * (on / off - 1);
	return 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median_of(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* xorshift64*: the same numbers each time, so that the same pairs have the same interval. */
static size_t draw(uint64_t *state, size_t n)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (size_t)(((*state * 0x2545f4914f6cdd1dull) >> 32) * n >> 32);
}

static void draw_medians(const struct bench_pairs *p, double *drawn, double *medians)
{
	uint64_t state = 0x9e3779b97f4a7c15ull;

	for (int i = 0; i < DRAWS; i++) {
		for (size_t k = 0; k < p->n; k++)
			drawn[k] = p->pct[draw(&state, p->n)];
		medians[i] = median_of(drawn, p->n);
	}
	qsort(medians, DRAWS, sizeof(*medians), compare);
}

int bench_pairs_sum(const struct bench_pairs *p, struct bench_pairs_sum *ret)
{
	double *room = mem_calloc(p->n + DRAWS, sizeof(*room));

	if (!room)
		return -ENOMEM;
	*ret = (struct bench_pairs_sum){
		.n = p->n, .median = (double)NAN, .low = (double)NAN, .high = (double)NAN};
	if (p->n) {
		memcpy(room, p->pct, p->n * sizeof(*room));
		ret->median = median_of(room, p->n);
	}
	if (p->n >= BENCH_PAIRS_LEAST) {
		draw_medians(p, room, room + p->n);
		ret->low = room[p->n + DRAWS / 40];
		ret->high = room[p->n + DRAWS - 1 - DRAWS / 40];
	}
	mem_free(room);
	return 0;
}

void bench_pairs_deinit(struct bench_pairs *p)
{
	mem_free(p->pct);
	*p = (struct bench_pairs){0};
}
