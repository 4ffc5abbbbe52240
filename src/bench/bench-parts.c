// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rates of parts. A thread that got no CPU has measured nothing: that is neither a rate of 0 nor a
 * cost of 0 ns, which would look like the best one.
 */
#include "kontend/bench-parts.h"
#include "kontend/units.h"

#include <math.h>
#include <stdio.h>

void bench_parts_add(struct bench_parts *p, uint64_t n, uint64_t ns)
{
	double rate = ns ? (double)n * 1e9 / (double)ns : 0;

	p->sum += rate;
	p->squares += rate * rate;
	p->events += n;
	p->n++;
}

struct bench_parts_result bench_parts_sum(const struct bench_parts *p, uint64_t cpu_ns)
{
	if (!p->n || !p->events)
		return (struct bench_parts_result){(double)NAN, (double)NAN, (double)NAN};
	double mean = p->sum / p->n, variance = p->squares / p->n - mean * mean;
	return (struct bench_parts_result){
		.per_s = mean,
		.deviation = variance > 0 ? sqrt(variance) : 0,
		.cost_ns = (double)(cpu_ns / p->events),
	};
}

const char *bench_parts_cost(char *buf, double cost_ns)
{
	if (isfinite(cost_ns))
		return units_ns(buf, (uint64_t)cost_ns);
	snprintf(buf, UNITS_BUF, "-");
	return buf;
}
