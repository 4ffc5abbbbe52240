// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of mmap_locks are on for a part of the time: when that ends the stream is told from
 * when to when they came, as what goes on then cannot be paired any more.
 */
#include "drain-mmap.h"
#include "kontend/clock.h"
#include "kontend/mmlevel.h"
#include "live-mmap-count.h"

static uint64_t count_now(const struct drain *d)
{
	return d->mmap_count ? live_mmap_count_now(d->mmap_count) : 0;
}

static void say(struct drain *d, uint64_t from, uint64_t until)
{
	struct {
		struct record_snapshot head;
		struct mmlevel_how how;
	} r = {{SNAPSHOT_MMAP, MMLEVEL_VERSION, 0, until}, {0}};

	d->mmap_how.from_ns = from;
	d->mmap_how.to_ns = until;
	d->mmap_how.counted = count_now(d);
	r.how = d->mmap_how;
	/* One in a tenth of a second at most, whatever the queue holds. */
	(void)d->sink->put_always(d->sink->ctx, RECORD_SNAPSHOT, 0, &r, sizeof(r));
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
		say(d, d->mmaps_from, now);
	}
}

void drain_mmaps_end(struct drain *d, uint64_t now)
{
	if (!d->mmaps.len_ns)
		return;
	if (d->mmaps.on)
		d->mmap_how.counted_inside += count_now(d) - d->mmaps_before;
	say(d, d->mmaps.on ? d->mmaps_from : now, now);
	d->mmaps.on = false;
}

uint64_t drain_next_burst(const struct drain *d, uint64_t at)
{
	if (burst_next(&d->switches) < at)
		at = burst_next(&d->switches);
	return burst_next(&d->mmaps) < at ? burst_next(&d->mmaps) : at;
}
