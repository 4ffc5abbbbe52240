// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of mmap_locks are on for a part of the time: at the end of a burst a record gives its
 * times, as acquisitions that continue then cannot be paired any more.
 */
#include "drain-mmap.h"
#include "drain-put.h"
#include "kontend/clock.h"
#include "kontend/mmlevel.h"
#include "live-mmap-count.h"

static uint64_t count_now(const struct drain *d)
{
	return d->mmap_count ? live_mmap_count_now(d->mmap_count) : 0;
}

/* One in a tenth of a second at most. */
static void say_interval(struct drain *d, uint64_t from, uint64_t until)
{
	const struct record_snapshot head = {
		.kind = SNAPSHOT_MMAP, .version = MMLEVEL_VERSION, .time_ns = until};

	d->mmap_how.from_ns = from;
	d->mmap_how.to_ns = until;
	d->mmap_how.counted = count_now(d);
	drain_put_snapshot(d, &head, &d->mmap_how, sizeof(d->mmap_how));
}

void drain_mmaps(struct drain *d)
{
	uint64_t now = clock_now_ns();
	enum burst_change change = burst_step(&d->mmaps, now, true);

	if (change == BURST_STAYS)
		return;
	if (change == BURST_OFF)
		d->mmap_how.counted_inside += count_now(d) - d->mmaps_before;
	perf_session_enable_mm(d->session, change == BURST_ON);
	/* Of the time in which some are on and some not it is better to count none than all. */
	if (change == BURST_ON) {
		d->mmaps_from = clock_now_ns();
		d->mmaps_before = count_now(d);
	} else {
		say_interval(d, d->mmaps_from, now);
	}
}

void drain_mmaps_end(struct drain *d, uint64_t now)
{
	if (!d->mmaps.len_ns)
		return;
	if (d->mmaps.on)
		d->mmap_how.counted_inside += count_now(d) - d->mmaps_before;
	say_interval(d, d->mmaps.on ? d->mmaps_from : now, now);
	d->mmaps.on = false;
}
