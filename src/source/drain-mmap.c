// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of mmap_locks are on for a part of the time: when that ends the stream is told from
 * when to when they came, as what goes on then cannot be paired any more.
 */
#include "drain-mmap.h"
#include "kontend/clock.h"

static void say(const struct drain *d, uint64_t until)
{
	struct {
		struct record_snapshot head;
		struct mmlevel_how how;
	} r = {{SNAPSHOT_MMAP, MMLEVEL_VERSION, 0, until}, d->mmap_how};

	r.how.from_ns = d->mmaps.from_ns;
	r.how.to_ns = until;
	/* One in a tenth of a second at most, whatever the queue holds. */
	(void)d->sink->put_always(d->sink->ctx, RECORD_SNAPSHOT, 0, &r, sizeof(r));
}

void drain_mmaps(struct drain *d)
{
	uint64_t now = clock_now_ns();
	enum burst_change change = burst_step(&d->mmaps, now, true);

	if (change == BURST_STAYS)
		return;
	perf_session_enable_mm(d->session, change == BURST_ON);
	if (change == BURST_OFF)
		say(d, now);
}

uint64_t drain_next_burst(const struct drain *d, uint64_t at)
{
	if (burst_next(&d->switches) < at)
		at = burst_next(&d->switches);
	return burst_next(&d->mmaps) < at ? burst_next(&d->mmaps) : at;
}
