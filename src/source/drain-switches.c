// SPDX-License-Identifier: GPL-2.0-only
/*
 * Context switches are recorded in short bursts, and only while the events of another program
 * follow tasks: then it matters which tasks are switched. A record gives the cost of each burst.
 */
#include "drain-switches.h"
#include "drain-put.h"
#include "kontend/clock.h"
#include <time.h>

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static bool tasks_have_events(const struct drain *d)
{
	for (const struct snapshot_source *l = d->snapshots; l; l = l->next) {
		if (l->has_tasks)
			return true;
	}
	return false;
}

bool drain_switches_turn(struct drain *d, uint64_t *ret_until)
{
	uint64_t now = *ret_until = clock_ns(CLOCK_MONOTONIC), from = 0;

	switch (burst_step(&d->switches, now, d->switches_asked || tasks_have_events(d))) {
	case BURST_ON:
		from = cpu_ns();
		perf_session_enable(d->session, PERF_SWITCH);
		d->switch_cost = (struct record_burst){.turn_ns = cpu_ns() - from};
		return false;
	case BURST_OFF:
		from = cpu_ns();
		perf_session_disable(d->session, PERF_SWITCH);
		d->switch_cost.turn_ns += cpu_ns() - from;
		return true;
	default:
		return false;
	}
}

void drain_switches_say(struct drain *d, uint64_t until)
{
	const struct record_snapshot head = {
		.kind = SNAPSHOT_BURST, .version = RECORD_BURST_VERSION, .time_ns = until};
	struct record_burst burst = d->switch_cost;

	burst.from_ns = d->switches.from_ns;
	burst.to_ns = until;
	burst.own_ps = d->switch_ps;
	drain_put_snapshot(d, &head, &burst, sizeof(burst));
}
