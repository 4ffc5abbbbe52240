// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cost of looks, of a CPU per second. The time runs from look to look, and the cost of a look
 * is that of the time before it.
 */
#include "cost.h"
#include "kontend/clock.h"

static const uint64_t SECOND = 1000000000;

uint64_t inspect_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void inspect_cost(struct inspect_cost *c, struct snap_head *h, uint64_t cpu_ns)
{
	uint64_t now = inspect_cpu_ns(), run = h->time_ns - c->from_ns;

	h->cost_ns = now - cpu_ns;
	if (!c->from_ns) {
		c->from_ns = h->time_ns;
		return;
	}
	c->sum_ns += h->cost_ns;
	/* Ticks are not of exactly the same length. */
	if (run >= SECOND - SECOND / 20) {
		c->per_s_ns = (uint64_t)((double)c->sum_ns * (double)SECOND / (double)run + 0.5);
		c->from_ns = h->time_ns;
		c->sum_ns = 0;
	}
	h->cost_per_s_ns = c->per_s_ns;
}
