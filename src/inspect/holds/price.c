// SPDX-License-Identifier: GPL-2.0-only
/*
 * A burst is no reason to leave anything out: two looks in a row must be above the target, or one
 * far above. Down again when a quarter of it was enough for some time, which doubles whenever that
 * was too early. Programs that compare addresses only cost something as well: if they alone cost
 * too much, all steps are soon taken, and the last one stops the measurement.
 */
#include "price.h"

enum { FAR = 8, PATIENCE = 10, PATIENCE_MOST = 640, QUARTER = 4 };

uint32_t holds_price_every(unsigned step)
{
	return step <= HOLDS_STEP_NO_CHAINS ? 1
	       : step == HOLDS_STEP_8	    ? 8
	       : step == HOLDS_STEP_64	    ? 64
					    : 512;
}

static void step_to(struct holds_price *p, unsigned step)
{
	p->step = step;
	p->dear = p->cheap = 0;
}

unsigned holds_price_look(struct holds_price *p, uint64_t span_ns, uint64_t run_ns)
{
	double most = (double)span_ns * p->cpus * p->target_ppm / 1e6;

	if (!p->target_ppm || !span_ns || p->step == HOLDS_STEP_OFF)
		return p->step;
	bool dear = (double)run_ns > most;
	p->dear = dear ? p->dear + 1 : 0;
	p->cheap = (double)run_ns < most / QUARTER ? p->cheap + 1 : 0;
	if (!p->patience)
		p->patience = PATIENCE;
	if (p->dear > 1 || (double)run_ns > most * FAR) {
		p->patience = p->patience < PATIENCE_MOST ? p->patience * 2 : PATIENCE_MOST;
		step_to(p, p->step + 1);
	} else if (p->step && p->cheap >= p->patience) {
		step_to(p, p->step - 1);
	}
	return p->step;
}
