// SPDX-License-Identifier: GPL-2.0-only
/*
 * The phases of a wait for a mutex, which spins and sleeps in turn: an event reports where each one
 * begins. A wait that is reported late says how long it has spun in all; when that was is not
 * known, so the open tick has it, like the rest of such a wait.
 */
#include "wait-phases.h"
#include "internal.h"
#include "kontend/event.h"
#include "kontend/model.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Of the present phase, from @from_ns on. */
static uint64_t phase_ns(const struct wait *w, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t from = later(w->phase_ns, from_ns);

	return wait_spins(w) && until_ns > from ? until_ns - from : 0;
}

static void reported_late(const struct model *m, struct wait *w, const struct event *ev)
{
	uint64_t all = wait_part_ns(w, m->zero_ns, ev->time),
		 spun = ev->begin.spun_ns < all ? ev->begin.spun_ns : all;

	w->is_split = ev->begin.spun_ns != 0;
	w->phase_ns = 0;
	w->open_spun_ns += later(spun, w->spun_ns) - w->spun_ns;
	w->spun_ns = later(spun, w->spun_ns);
}

void wait_phases_begin(const struct model *m, struct wait *w, const struct event *ev)
{
	if (!(ev->begin.flags & LCB_F_MUTEX))
		return;
	if (ev->begin.since_ns) {
		reported_late(m, w, ev);
		return;
	}
	w->is_split = true;
	w->phase_ns = ev->time;
}

void wait_phases_next(const struct model *m, struct wait *w, const struct event *ev)
{
	w->spun_ns += phase_ns(w, m->zero_ns, ev->time);
	w->open_spun_ns += phase_ns(w, m->bucket_ns, ev->time);
	w->phase_ns = w->is_split ? ev->time : 0;
}

uint64_t wait_phases_take(const struct model *m, struct wait *w, uint64_t until_ns)
{
	uint64_t ns = w->open_spun_ns + phase_ns(w, m->bucket_ns, until_ns);

	w->open_spun_ns = 0;
	return ns;
}

void wait_phases_zero(struct model *m)
{
	for (uint32_t i = 1; i < m->waits->high; i++)
		m->waits->waits[i].spun_ns = m->waits->waits[i].open_spun_ns = 0;
}

uint64_t wait_spun_ns(const struct wait *w, uint64_t from_ns, uint64_t now_ns)
{
	return w->spun_ns + phase_ns(w, from_ns, now_ns);
}
