// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sleep costs microseconds, mostly for its call chain, and other switches nearly nothing beyond
 * the call of the program. So the price of a switch follows from the time that the programs
 * measure around each sleep, and the kernel's count of switches. A burst is no reason to leave
 * anything out: two looks in a row must be above the budget, and cost more than the limit.
 */
#include "slept-price.h"

static const uint64_t PATIENCE_NS = 30000000000, PATIENCE_MOST_NS = 960000000000;
/* Of a switch with its wakeup, without what any program there costs. */
static const uint64_t BUDGET_PS = 100000;

enum { DEAR = 2, PS = 1000, PPM = 1000000 };

static void set_level(struct slept_price *p, unsigned level, uint64_t now_ns)
{
	p->level = level;
	p->since_ns = now_ns;
	p->dear = 0;
}

/* More is left out. If that was so not long ago, the next try is later. */
static void step_up(struct slept_price *p, uint64_t now_ns)
{
	if (p->patience_ns && now_ns - p->since_ns < PATIENCE_NS)
		p->patience_ns = p->patience_ns < PATIENCE_MOST_NS / 2 ? p->patience_ns * 2
								       : PATIENCE_MOST_NS;
	if (!p->patience_ns)
		p->patience_ns = PATIENCE_NS;
	set_level(p, p->level + 1, now_ns);
}

unsigned slept_price_look(struct slept_price *p, const struct slept_look *look)
{
	uint64_t span_ns = p->time_ns ? look->time_ns - p->time_ns : 0;
	uint64_t switches = look->switches > p->switches ? look->switches - p->switches : 0;
	uint64_t busy_ns = look->busy_ns - p->busy_ns;

	if (p->level == RAW_SLEPT_OFF)
		p->off_ns += span_ns;
	p->switch_ps = span_ns && look->switches && switches ? busy_ns * PS / switches : 0;
	/* Few switches may be dear: in total they cost next to nothing. */
	bool is_dear = p->switch_ps > BUDGET_PS &&
		       busy_ns / (uint64_t)look->cpus > span_ns / PPM * p->limit_ppm;
	p->dear = is_dear ? p->dear + 1 : 0;
	p->time_ns = look->time_ns;
	p->busy_ns = look->busy_ns;
	p->switches = look->switches;
	if (p->dear >= DEAR && p->level < RAW_SLEPT_OFF)
		step_up(p, look->time_ns);
	else if (p->level && look->time_ns - p->since_ns >= p->patience_ns)
		set_level(p, p->level - 1, look->time_ns);
	return p->level;
}
