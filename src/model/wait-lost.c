// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of waits: for how long a CPU was idle meanwhile that the task could have used. A clock
 * of the source runs while at least one CPU is idle (idleclock.h). Begins and ends of waits have
 * what it shows, so the part of a wait is exact, and so is each tick: the source reads the clock
 * there. It is not known of a task that may not use all CPUs, and where the source has no clock.
 */
#include "wait-lost.h"
#include "internal.h"
#include "kontend/event.h"
#include "kontend/idleclock.h"
#include "kontend/model.h"
#include "kontend/parclock.h"
#include "kontend/record.h"

#include <stddef.h>
#include <string.h>

/* So that no time of the clock is 0, and none is before its begin. */
static const uint64_t FIRST_NS = 1ull << 62;

/* In full, as the record of a moment shows it; 0: not known. */
static uint64_t full_ns(struct lost_clock *c, uint32_t shown)
{
	if (!shown)
		return 0;
	if (!c->shown) {
		c->shown = shown;
		c->ns = FIRST_NS;
	}
	return c->ns + idleclock_ns(c->shown, shown) - idleclock_ns(shown, c->shown);
}

uint64_t wait_lost_clock(struct model *m, uint32_t shown, uint64_t time_ns)
{
	struct lost_clock *c = &m->waits->lost;
	uint64_t ns = full_ns(c, shown);

	if (ns && time_ns >= c->at_ns) {
		c->at_ns = time_ns;
		c->shown = shown;
		c->ns = ns > c->ns ? ns : c->ns;
	}
	return ns;
}

/* Read a bit later than @tick_ns, as of which it is. */
void wait_lost_tick(struct model *m, const void *payload, size_t len, uint64_t tick_ns)
{
	struct lost_clock *c = &m->waits->lost;
	struct record_cost r;

	if (len < sizeof(r))
		return;
	memcpy(&r, payload, sizeof(r));
	uint64_t ns = r.idle_at_ns ? full_ns(c, idleclock_short(r.idle_ns)) : 0;
	if (!ns || tick_ns <= c->at_ns)
		return;
	if (r.idle_at_ns > tick_ns && ns > c->ns) {
		double part = (double)(tick_ns - c->at_ns) / (double)(r.idle_at_ns - c->at_ns);
		ns = c->at_ns ? c->ns + (uint64_t)((double)(ns - c->ns) * part) : ns;
	}
	ns = ns > c->ns ? ns : c->ns;
	c->shown = idleclock_short(ns - c->ns + ((uint64_t)(c->shown >> 1) << IDLECLOCK_UNIT));
	c->ns = ns;
	c->at_ns = tick_ns;
}

void wait_lost_begin(struct model *m, struct wait *w, const struct event *ev)
{
	w->idle_ns = wait_lost_clock(m, ev->begin.idle, ev->time);
	w->lost_at_ns = w->begin_ns;
	w->lost_ns = 0;
	w->loses = ev->begin.loses || w->idle_ns;
	w->par = ev->begin.par;
}

/* The part until then, when the clock showed @idle_ns. */
static uint64_t take(const struct model *m, struct wait *w, uint64_t idle_ns, uint64_t until_ns)
{
	uint64_t from_ns = w->lost_at_ns > m->zero_ns ? w->lost_at_ns : m->zero_ns;
	uint64_t most = until_ns > from_ns ? until_ns - from_ns : 0;
	uint64_t ns = idle_ns > w->idle_ns ? idle_ns - w->idle_ns : 0;

	ns = ns < most ? ns : most;
	w->idle_ns = idle_ns;
	w->lost_at_ns = until_ns;
	w->lost_ns += ns;
	return ns;
}

uint64_t wait_lost_take(struct model *m, struct wait *w, uint64_t until_ns)
{
	return w->idle_ns ? take(m, w, m->waits->lost.ns, until_ns) : 0;
}

bool wait_lost_end(struct model *m, struct wait *w, const struct event *ev, uint64_t *ret_ns)
{
	uint64_t now = wait_lost_clock(m, ev->end.idle, ev->time);

	if (ev->end.is_lost_known) {
		uint64_t most = wait_part_ns(w, m->zero_ns, ev->time);
		*ret_ns = w->lost_ns = ev->end.lost_ns < most ? ev->end.lost_ns : most;
		return true;
	}
	if (!w->idle_ns)
		w->idle_ns = full_ns(&m->waits->lost, ev->end.began);
	*ret_ns = now && w->idle_ns ? take(m, w, now, ev->time) : 0;
	return now && w->idle_ns;
}

bool wait_lost(const struct model *m, const struct wait *w, bool ended, uint64_t *ret_ns)
{
	struct wait now = *w;

	if (ended ? !w->is_lost : !w->idle_ns)
		return false;
	if (!ended)
		(void)take(m, &now, m->waits->lost.ns, m->now_ns);
	*ret_ns = now.lost_ns;
	return true;
}

bool wait_par_end(const struct model *m, const struct wait *w, const struct event *ev,
		  uint64_t *ret_ns)
{
	unsigned long long ns = ev->end.par_ns;
	bool is_known = ev->end.is_par_known || parclock_ns(w->par, ev->end.par, &ns);

	/* When in the wait they ran is not known. */
	if (!is_known || w->begin_ns < m->zero_ns || ev->time <= w->begin_ns)
		return false;
	if (ns / PARCLOCK_CPUS >= ev->time - w->begin_ns)
		return false;
	*ret_ns = ns;
	return true;
}

void wait_lost_zero(struct model *m)
{
	for (uint32_t i = 1; i < m->waits->high; i++) {
		struct wait *w = &m->waits->waits[i];
		if (w->used)
			(void)wait_lost_take(m, w, m->now_ns);
		w->lost_ns = 0;
	}
}
