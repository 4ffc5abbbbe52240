// SPDX-License-Identifier: GPL-2.0-only
/* Averages as perf bench prints them, the median, and percentiles. */
#include "bench-breakpoint-int.h"
#include "kontend/bench-breakpoint.h"
#include "kontend/mem.h"
#include "kontend/sort.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static int is_before(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y;
}

int bench_breakpoint_sort(uint64_t *ns, size_t n)
{
	uint64_t *room = mem_calloc(n + 1, sizeof(*room));

	if (!room)
		return -ENOMEM;
	sort_merge(ns, room, n, sizeof(*ns), is_before);
	mem_free(room);
	return 0;
}

uint64_t bench_breakpoint_percentile(const uint64_t *sorted, size_t n, double percent)
{
	size_t rank = (size_t)ceil((double)n * percent / 100);

	if (!n)
		return 0;
	rank = rank < n ? rank : n;
	return sorted[rank ? rank - 1 : 0];
}

int bench_breakpoint_sum(uint64_t *ns, size_t n, const struct bench_breakpoint_options *o,
			 struct bench_breakpoint_sum *ret)
{
	double per_op = 1e3 * o->threads * o->repeat, sum = 0, squares = 0;

	*ret = (struct bench_breakpoint_sum){0};
	if (bench_breakpoint_sort(ns, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sum += (double)ns[i] / per_op;
	if (!n)
		return 0;
	ret->usecs_op = sum / (double)n;
	ret->usecs_op_cpu = ret->usecs_op * o->parallelism;
	ret->median = ((double)ns[n / 2] + (double)ns[(n - 1) / 2]) / 2 / per_op;
	for (size_t i = 0; i < n; i++) {
		double off = (double)ns[i] / per_op - ret->usecs_op;
		squares += off * off;
	}
	ret->deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	return 0;
}
