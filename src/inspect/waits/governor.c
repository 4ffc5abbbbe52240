// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost is the time of BPF programs plus the CPU time of the process, which reads their records.
 * The numbers of events and records are known at once. The cost of one is measured: over about 50
 * ms, so that the governor reacts to a storm of several times the target within 100 ms, and
 * otherwise over up to two seconds, since a burst is no storm. CPU time comes in lumps, for example
 * a snapshot of all locks each second; it does not count before a step is one second old.
 *
 * Up (fewer reports): at once, and further the more the cost is above the target; but not if
 * reports are hardly any of the cost, since fewer reports would save nothing. Down: when half of
 * the target was enough for a while. This time is doubled each time that a step down was too much,
 * and reset after a long calm.
 */
#include "governor.h"

#include <string.h>

#define MS 1000000ull

static const uint64_t SETTLE_NS = 35 * MS; /* the effect of a step is not visible earlier */
static const uint64_t PATIENCE_NS = 1000 * MS;
static const uint64_t PATIENCE_MOST_NS = 60000 * MS;
static const uint64_t RELAPSE_NS =
	5000 * MS; /* a step up so soon after one down was caused by it */
static const uint64_t FIRST_THRESHOLD_NS = 1000;

static const uint64_t SLOW_NS = 125 * MS;
static const uint64_t OWN_NS = 1000 * MS;
static const uint64_t AVERAGE_NS = 500 * MS;

enum {
	PERIOD_MS = 20,
	IDLE_MS = 50, /* a storm is limited in time if it is detected by then */
	PPM = 1000000,
	FIRST_EVENT_PS = 500000,
	FIRST_REPORTED_PS = 1000000,
	ENOUGH_TIMED = 16,
	ENOUGH_REPORTED = 20000,
	STORM = 4, /* times the target */
	GAIN = 4,  /* a step is taken if it changes the cost by that part of the target */
};

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

unsigned governor_step_reporting(uint64_t ns)
{
	unsigned step = GOVERNOR_THRESHOLDS;

	if (!ns)
		return GOVERNOR_COUNTS;
	while (step && governor_threshold_ns(step) > ns)
		step--;
	return step;
}

void governor_init(struct governor *g, uint32_t target_ppm, uint32_t cpus, unsigned least)
{
	*g = (struct governor){.target_ppm = target_ppm ? target_ppm : 1,
			       .cpus = cpus ? cpus : 1,
			       .least = least,
			       .most = GOVERNOR_COUNTS,
			       .step = least,
			       .event_ps = FIRST_EVENT_PS,
			       .reported_ps = FIRST_REPORTED_PS,
			       .patience_ns = PATIENCE_NS};
}

static void note_look(struct governor_looks *l, unsigned most, const struct governor_look *look)
{
	if (l->n == most) {
		memmove(l->v, l->v + 1, (most - 1) * sizeof(*l->v));
		l->n--;
	}
	l->v[l->n++] = *look;
}

/* The cost of an event on this step, from a sufficient number of them. */
static void measure_event(struct governor *g, const struct governor_look *look)
{
	uint64_t n = look->timed - g->timed_from.timed;

	if (n < ENOUGH_TIMED)
		return;
	g->event_ps = (uint32_t)((look->timed_ns - g->timed_from.timed_ns) * 1000 / n);
	g->timed_from = *look;
	g->is_timed = true;
}

static uint32_t ppm(const struct governor *g, double ns, uint64_t of_ns)
{
	double part = of_ns ? ns * PPM / ((double)of_ns * g->cpus) : 0;

	return part < UINT32_MAX ? (uint32_t)part : UINT32_MAX;
}

/* The CPU time of kontend; 0: it is not known yet. */
static uint32_t own_cost(struct governor *g, const struct governor_look *now)
{
	const struct governor_look *from = &g->slow.v[0];
	uint64_t ns = now->now_ns - from->now_ns, reported = now->reported - from->reported;

	if (ns < OWN_NS)
		return 0;
	if (reported >= ENOUGH_REPORTED)
		g->reported_ps =
			(uint32_t)((double)(now->own_ns - from->own_ns) * 1000 / (double)reported);
	return ppm(g, (double)(now->own_ns - from->own_ns), ns);
}

/* The cost of waits since @from, and the part of it that records cause. */
static uint32_t waits_cost(const struct governor *g, const struct governor_look *from,
			   const struct governor_look *now, uint32_t *ret_reported)
{
	uint64_t ns = now->now_ns - from->now_ns;
	double events = (double)(now->events - from->events) * g->event_ps / 1000;

	*ret_reported =
		ppm(g, (double)(now->reported - from->reported) * g->reported_ps / 1000, ns);
	return ppm(g, events, ns) + *ret_reported;
}

static void measure(struct governor *g, const struct governor_look *now)
{
	uint32_t own = own_cost(g, now), reported;

	g->storm_ppm = waits_cost(g, &g->quick.v[0], now, &reported);
	g->cost_ppm = g->varies_ppm = waits_cost(g, &g->slow.v[0], now, &reported);
	if (own > reported)
		g->cost_ppm += own - reported;
}

static void go_to(struct governor *g, unsigned step, const struct governor_look *look)
{
	g->step = step;
	g->stepped_ns = look->now_ns;
	g->calm_ns = 0;
	g->quick.v[0] = g->slow.v[0] = g->timed_from = *look;
	g->quick.n = g->slow.n = 1;
}

static void go_up(struct governor *g, const struct governor_look *look)
{
	uint32_t most = g->storm_ppm > g->varies_ppm ? g->storm_ppm : g->varies_ppm;
	uint32_t by = most / g->target_ppm;
	unsigned far = by >= 8 ? 8 : by >= 4 ? 4 : by >= 2 ? 2 : 1;

	if (look->now_ns - g->stepped_ns > RELAPSE_NS)
		g->patience_ns = PATIENCE_NS;
	else if (g->patience_ns < PATIENCE_MOST_NS)
		g->patience_ns *= 2;
	go_to(g, g->step + far < g->most ? g->step + far : g->most, look);
}

static bool is_calm(struct governor *g, uint64_t now)
{
	bool varies = g->varies_ppm > g->target_ppm / GAIN / 2;

	if (g->cost_ppm > g->target_ppm / 2 && varies)
		g->calm_ns = 0;
	else if (!g->calm_ns)
		g->calm_ns = now;
	return g->calm_ns && now - g->calm_ns >= g->patience_ns;
}

/* The cost may be higher for a moment; it must be lower again before that counts. */
static bool is_storm(const struct governor *g, uint64_t now)
{
	return g->storm_ppm / STORM > g->target_ppm && now - g->stepped_ns >= SETTLE_NS;
}

/* Would fewer reports reduce the cost? */
static bool is_too_much(const struct governor *g, uint64_t now)
{
	return g->cost_ppm > g->target_ppm && g->varies_ppm > g->target_ppm / GAIN &&
	       now - g->slow.v[0].now_ns >= AVERAGE_NS;
}

unsigned governor_period_ms(const struct governor *g)
{
	uint32_t most = g->storm_ppm > g->varies_ppm ? g->storm_ppm : g->varies_ppm;

	return g->step == g->least && most < g->target_ppm / GAIN ? IDLE_MS : PERIOD_MS;
}

bool governor_bound(struct governor *g, unsigned most, const struct governor_look *look)
{
	g->most = most > g->least ? most : g->least;
	if (g->step <= g->most)
		return false;
	go_to(g, g->most, look);
	return true;
}

bool governor_step(struct governor *g, const struct governor_look *look)
{
	bool first = !g->slow.n;

	measure_event(g, look);
	if (first || look->now_ns - g->slow.v[g->slow.n - 1].now_ns >= SLOW_NS)
		note_look(&g->slow, GOVERNOR_SLOW, look);
	if (!first && look->now_ns > g->quick.v[0].now_ns)
		measure(g, look);
	note_look(&g->quick, GOVERNOR_QUICK, look);
	if (first)
		return false;
	if (g->step < g->most && (is_storm(g, look->now_ns) || is_too_much(g, look->now_ns))) {
		go_up(g, look);
		return true;
	}
	if (!is_calm(g, look->now_ns) || g->step <= g->least)
		return false;
	/* At almost no cost there is no reason for caution. */
	unsigned far = g->cost_ppm < g->target_ppm / 8 ? 4 : 1;
	go_to(g, g->step > g->least + far ? g->step - far : g->least, look);
	return true;
}
