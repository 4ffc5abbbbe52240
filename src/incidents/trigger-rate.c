// SPDX-License-Identifier: GPL-2.0-only
/* A ring of steps and their sum: a step is emptied when time comes round to it again. */
#include "trigger-rate.h"

#include <string.h>

static void advance(struct rate *r, uint64_t step)
{
	if (step <= r->at)
		return;
	if (step - r->at >= RATE_STEPS) {
		memset(r->steps, 0, sizeof(r->steps));
		r->sum = 0;
		r->at = step;
		return;
	}
	while (r->at < step) {
		uint64_t *next = &r->steps[++r->at % RATE_STEPS];
		r->sum -= *next;
		*next = 0;
	}
}

static void add_step(struct rate *r, uint64_t step, uint64_t n)
{
	if (step + RATE_STEPS <= r->at || step > r->at)
		return;
	r->steps[step % RATE_STEPS] += n;
	r->sum += n;
}

void rate_add(struct rate *r, uint64_t ns, uint64_t n)
{
	advance(r, ns / RATE_STEP_NS);
	add_step(r, ns / RATE_STEP_NS, n);
}

void rate_add_span(struct rate *r, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t first, last = to_ns / RATE_STEP_NS;

	advance(r, last);
	if (from_ns >= to_ns)
		return;
	first = r->at + 1 > RATE_STEPS ? r->at + 1 - RATE_STEPS : 0;
	if (from_ns < first * RATE_STEP_NS)
		from_ns = first * RATE_STEP_NS;
	for (uint64_t step = from_ns / RATE_STEP_NS; step < last; step++) {
		uint64_t end = (step + 1) * RATE_STEP_NS;
		add_step(r, step, end - from_ns);
		from_ns = end;
	}
	if (to_ns > from_ns)
		add_step(r, last, to_ns - from_ns);
}

uint64_t rate_sum(struct rate *r, uint64_t ns)
{
	advance(r, ns / RATE_STEP_NS);
	return r->sum;
}
