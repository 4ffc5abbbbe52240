// SPDX-License-Identifier: GPL-2.0-only
/*
 * Expensive events that are on for a part of the time only. A record gives the times of each burst.
 *
 * Context switches are recorded only while another program's events count tasks: only then does a
 * switch change events, and its cost matters. The record also has the cost of the burst.
 *
 * The events of mmap_locks end in the middle of some acquisitions: readers need the times of the
 * burst, since they cannot pair these.
 */
#include "drain-internal.h"
#include "kontend/mmlevel.h"
#include "live-internal.h"

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
		from = drain_cpu_ns();
		perf_session_enable(d->session, PERF_SWITCH);
		d->switch_cost = (struct record_burst){.turn_ns = drain_cpu_ns() - from};
		return false;
	case BURST_OFF:
		from = drain_cpu_ns();
		perf_session_disable(d->session, PERF_SWITCH);
		d->switch_cost.turn_ns += drain_cpu_ns() - from;
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

static uint64_t mmap_count(const struct drain *d)
{
	return d->mmap_count ? live_mmap_count_now(d->mmap_count) : 0;
}

/* At most ten times a second. */
static void say_mmap_burst(struct drain *d, uint64_t from, uint64_t until)
{
	const struct record_snapshot head = {
		.kind = SNAPSHOT_MMAP, .version = MMLEVEL_VERSION, .time_ns = until};

	d->mmap_how.from_ns = from;
	d->mmap_how.to_ns = until;
	d->mmap_how.counted = mmap_count(d);
	drain_put_snapshot(d, &head, &d->mmap_how, sizeof(d->mmap_how));
}

void drain_mmaps(struct drain *d)
{
	uint64_t now = clock_now_ns();
	enum burst_change change = burst_step(&d->mmaps, now, true);

	if (change == BURST_STAYS)
		return;
	if (change == BURST_OFF)
		d->mmap_how.counted_inside += mmap_count(d) - d->mmaps_before;
	perf_session_enable_mm(d->session, change == BURST_ON);
	/* While only some of the events are on, counting none is more exact than counting all. */
	if (change == BURST_ON) {
		d->mmaps_from = clock_now_ns();
		d->mmaps_before = mmap_count(d);
	} else {
		say_mmap_burst(d, d->mmaps_from, now);
	}
}

void drain_mmaps_end(struct drain *d, uint64_t now)
{
	if (!d->mmaps.len_ns)
		return;
	if (d->mmaps.on)
		d->mmap_how.counted_inside += mmap_count(d) - d->mmaps_before;
	say_mmap_burst(d, d->mmaps.on ? d->mmaps_from : now, now);
	d->mmaps.on = false;
}
