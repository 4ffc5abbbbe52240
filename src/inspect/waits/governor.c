// SPDX-License-Identifier: GPL-2.0-only
/*
 * Costs are what programs of BPF take, events by what one costs, and the CPU time of the process,
 * which reads what these wrote. Events are known at once; CPU time comes in lumps, so it is looked
 * at over up to eight looks, and no step is taken on less than two of the same step.
 *
 * Up: at once, and the further the more it is above the target, so that a storm is met within
 * 100 ms. Down: when half of the target has been enough for a while, which is doubled each time
 * that a step down was too much, and forgotten when it has been calm for long.
 */
#include "governor.h"

#include <string.h>

#define MS 1000000ull

static const uint64_t SETTLE_NS = 35 * MS; /* what a step has done is not seen before */
static const uint64_t PATIENCE_NS = 1000 * MS;
static const uint64_t PATIENCE_MOST_NS = 60000 * MS;
static const uint64_t RELAPSE_NS = 5000 * MS; /* a step up so soon after one down was its fault */
static const uint64_t FIRST_THRESHOLD_NS = 1000;

enum { PPM = 1000000, FIRST_EVENT_PS = 500000, ENOUGH_TIMED = 16 };

uint64_t governor_threshold_ns(unsigned step)
{
	return step && step <= GOVERNOR_THRESHOLDS ? FIRST_THRESHOLD_NS << (step - 1) : 0;
}

unsigned governor_step_of(uint64_t threshold_ns)
{
	unsigned step = threshold_ns != 0;

	while (step && step < GOVERNOR_THRESHOLDS && governor_threshold_ns(step) < threshold_ns)
		step++;
	return step;
}

void governor_init(struct governor *g, uint32_t target_ppm, uint32_t cpus, unsigned least)
{
	*g = (struct governor){.target_ppm = target_ppm ? target_ppm : 1,
			       .cpus = cpus ? cpus : 1,
			       .least = least,
			       .step = least,
			       .event_ps = FIRST_EVENT_PS,
			       .patience_ns = PATIENCE_NS};
}

static void note(struct governor *g, const struct governor_look *look)
{
	if (g->n_looks == GOVERNOR_LOOKS) {
		memmove(g->looks, g->looks + 1, (GOVERNOR_LOOKS - 1) * sizeof(*g->looks));
		g->n_looks--;
	}
	g->looks[g->n_looks++] = *look;
}

/* What an event costs on this step, of enough of them. */
static void measure_event(struct governor *g, const struct governor_look *look)
{
	uint64_t n = look->timed - g->timed_from.timed;

	if (n < ENOUGH_TIMED)
		return;
	g->event_ps = (uint32_t)((look->timed_ns - g->timed_from.timed_ns) * 1000 / n);
	g->timed_from = *look;
}

static uint32_t ppm(const struct governor *g, double ns, uint64_t of_ns)
{
	double part = of_ns ? ns * PPM / ((double)of_ns * g->cpus) : 0;

	return part < UINT32_MAX ? (uint32_t)part : UINT32_MAX;
}

static uint32_t cost(const struct governor *g, const struct governor_look *now)
{
	const struct governor_look *first = &g->looks[0], *last = &g->looks[g->n_looks - 2];
	double events = (double)(now->events - last->events) * g->event_ps / 1000;

	return ppm(g, events, now->now_ns - last->now_ns) +
	       ppm(g, (double)(now->own_ns - first->own_ns), now->now_ns - first->now_ns);
}

static void go_to(struct governor *g, unsigned step, const struct governor_look *look)
{
	g->step = step;
	g->stepped_ns = look->now_ns;
	g->calm_ns = 0;
	g->looks[0] = g->timed_from = *look;
	g->n_looks = 1;
}

static void go_up(struct governor *g, const struct governor_look *look)
{
	uint32_t by = g->cost_ppm / g->target_ppm;
	unsigned far = by >= 8 ? 8 : by >= 4 ? 4 : by >= 2 ? 2 : 1;

	if (look->now_ns - g->stepped_ns > RELAPSE_NS)
		g->patience_ns = PATIENCE_NS;
	else if (g->patience_ns < PATIENCE_MOST_NS)
		g->patience_ns *= 2;
	go_to(g, g->step + far < GOVERNOR_COUNTS ? g->step + far : GOVERNOR_COUNTS, look);
}

static bool is_calm(struct governor *g, uint64_t now)
{
	if (g->cost_ppm > g->target_ppm / 2)
		g->calm_ns = 0;
	else if (!g->calm_ns)
		g->calm_ns = now;
	return g->calm_ns && now - g->calm_ns >= g->patience_ns;
}

bool governor_step(struct governor *g, const struct governor_look *look)
{
	note(g, look);
	measure_event(g, look);
	if (g->n_looks < 2 || look->now_ns <= g->looks[0].now_ns)
		return false;
	g->cost_ppm = cost(g, look);
	if (g->cost_ppm > g->target_ppm) {
		g->calm_ns = 0;
		if (g->step >= GOVERNOR_COUNTS || look->now_ns - g->stepped_ns < SETTLE_NS)
			return false;
		go_up(g, look);
		return true;
	}
	if (!is_calm(g, look->now_ns) || g->step <= g->least)
		return false;
	/* Where next to nothing is spent there is nothing to be careful of. */
	unsigned far = g->cost_ppm < g->target_ppm / 8 ? 4 : 1;
	go_to(g, g->step > g->least + far ? g->step - far : g->least, look);
	return true;
}
