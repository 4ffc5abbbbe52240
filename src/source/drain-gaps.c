// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports losses of rings in time. The kernel reports the loss in the next record of the ring,
 * which may come late or never. So a ring that had no room gets a record of a loss in the kernel's
 * format, after the records that were read from it and before any later round. It has no number:
 * the next record counts the lost ones; at the end the counts of the kernel or the feed do.
 *
 * A ring has room again as soon as it was drained, so no record after that moment is missing.
 */
#include "drain-internal.h"
#include <linux/perf_event.h>

enum { ROOM = 8192 }; /* bytes: more than any record of a wait */

/* PERF_RECORD_LOST or PERF_RECORD_LOST_SAMPLES, and the trailer that all events of a session have.
 */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, pad;
	uint64_t id;
};

struct lost {
	struct perf_event_header header;
	uint64_t id, n;
	struct trailer trailer;
};

struct lost_samples {
	struct perf_event_header header;
	uint64_t n;
	struct trailer trailer;
};

static struct trailer trailer_of(const struct drain *d, uint32_t cpu, uint64_t time_ns)
{
	size_t n;
	const uint64_t *ids = perf_session_ids(d->session, PERF_BEGIN, &n);

	return (struct trailer){.time = time_ns, .cpu = cpu, .id = n ? ids[0] : 0};
}

static bool say_gap(struct drain *d, const struct drain_ring *r, uint64_t time_ns, uint64_t n)
{
	struct lost l = {.header = {.type = PERF_RECORD_LOST, .size = sizeof(l)},
			 .n = n,
			 .trailer = trailer_of(d, r->cpu, time_ns)};

	l.id = l.trailer.id;
	return d->sink->put(d->sink->ctx, RECORD_PERF, r->number, &l, sizeof(l)) == 0;
}

bool drain_gap_ends(struct drain *d, const struct drain_ring *r)
{
	return say_gap(d, r, clock_ns(CLOCK_MONOTONIC), 0);
}

/* May a record have found no room, from the last read until now? */
static bool was_full(const struct drain_ring *r)
{
	uint64_t size = r->ring.size, room = size / 4 < ROOM ? size / 4 : ROOM;

	return ring_head(&r->ring) - r->taken_from > size - room;
}

/* Uses the count of the kernel; without one, a ring that may have been full counts as full. */
static void look_at_perf(struct drain *d, size_t i)
{
	struct drain_ring *r = &d->rings[i];
	uint64_t lost = r->lost + 1;

	if (!was_full(r))
		return;
	(void)perf_session_lost(d->session, i, &lost);
	if (lost != r->lost && say_gap(d, r, clock_ns(CLOCK_MONOTONIC), 0))
		r->lost = lost;
}

static bool has_gap(const struct drain_ring *r)
{
	return __atomic_load_n(r->ring.gap, __ATOMIC_ACQUIRE);
}

/* The feed notes that it had no room; its next record ends and reports the gap. */
static void look_at_own(struct drain *d, struct drain_ring *r)
{
	uint64_t head = ring_head(&r->ring);

	if (has_gap(r) && (!r->gap_reported || r->gap_head != head))
		r->gap_reported = say_gap(d, r, clock_ns(CLOCK_MONOTONIC), 0);
	r->gap_head = head;
}

void drain_gaps(struct drain *d)
{
	for (size_t i = 0; i < d->n_rings; i++)
		look_at_perf(d, i);
	for (size_t i = d->n_rings; i < d->n_all; i++)
		look_at_own(d, &d->rings[i]);
}

/*
 * Records that are missing without a gap are missing in pairs: they are counted, and no wait is
 * doubtful.
 */
static void end_own(struct drain *d, const struct drain_ring *r)
{
	uint64_t n = __atomic_load_n(r->ring.missed, __ATOMIC_ACQUIRE);

	if (n)
		(void)say_gap(d, r, has_gap(r) ? clock_ns(CLOCK_MONOTONIC) : 1, n);
}

/* As perf record does: the number of all lost records. */
static void tally(struct drain *d)
{
	struct perf_counts counts = {0};
	struct lost_samples l = {.header = {.type = PERF_RECORD_LOST_SAMPLES, .size = sizeof(l)},
				 .trailer = trailer_of(d, d->rings[0].cpu, 0)};

	if (perf_session_counts(d->session, &counts) < 0 || !counts.lost)
		return;
	l.n = counts.lost;
	(void)d->sink->put(d->sink->ctx, RECORD_PERF, d->rings[0].number, &l, sizeof(l));
}

void drain_gaps_end(struct drain *d)
{
	for (size_t i = d->n_rings; i < d->n_all; i++)
		end_own(d, &d->rings[i]);
	if (d->n_all == d->n_rings && d->n_rings && d->sink->is_whole(d->sink->ctx))
		tally(d);
}
