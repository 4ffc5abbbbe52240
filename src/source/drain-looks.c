// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots in the stream. They belong to the tick that ends their period, so another thread takes
 * them when the tick is due, and the tick follows them. If they take long the tick does not wait:
 * then its snapshots follow it. Those of the start belong to no tick: no tick waits for them.
 */
#include "drain-internal.h"
#include "snapshot-thread.h"

static const uint64_t HOLD_NS = 250000000u; /* a tick waits for its snapshots at most this long */

static void put_snapshot(struct drain *d, const struct snapshot_taken *t)
{
	struct record_snapshot head = {
		.kind = t->of->kind, .version = t->of->version, .time_ns = t->time_ns};

	if (t->len < sizeof(head))
		return;
	memcpy(t->body, &head, sizeof(head));
	/* One a tick, even into a full queue. Without memory it is left out. */
	(void)d->sink->put_always(d->sink->ctx, RECORD_SNAPSHOT, 0, t->body, t->len);
	/* The model uses it when a later round comes, so there must be one even without events. */
	d->data_until = clock_ns(CLOCK_MONOTONIC);
}

static void collect(struct drain *d)
{
	struct snapshot_taken t;

	while (snapshot_thread_is_busy(d->looks) && snapshot_thread_collect(d->looks, &t))
		put_snapshot(d, &t);
}

static void ask_snapshots(struct drain *d, enum snapshot_round round, uint64_t time_ns,
			  uint64_t now)
{
	snapshot_thread_ask(d->looks, round, time_ns);
	d->asked_ns = now;
	d->held_by_looks = round != SNAPSHOT_START;
}

/* The thread keeps the privileges of its start, so it is started after they were dropped. */
int drain_looks_begin(struct drain *d, int *ret_fd, struct error *err)
{
	int code = d->snapshots ? snapshot_thread_new(&d->looks, d->snapshots, err) : 0;

	if (!d->looks)
		return code;
	*ret_fd = snapshot_thread_fd(d->looks);
	ask_snapshots(d, SNAPSHOT_START, d->mark, d->mark);
	return 0;
}

void drain_looks(struct drain *d, uint64_t now)
{
	if (!d->looks)
		return;
	collect(d);
	if (snapshot_thread_is_busy(d->looks) || now < d->next_tick ||
	    d->next_tick == d->last_asked)
		return;
	d->last_asked = d->next_tick;
	ask_snapshots(d, SNAPSHOT_TICK, d->next_tick, now);
}

uint64_t drain_looks_held_until(const struct drain *d)
{
	return d->asked_ns + (d->tick_now / 2 < HOLD_NS ? d->tick_now / 2 : HOLD_NS);
}

bool drain_looks_hold(const struct drain *d, uint64_t now)
{
	return d->looks && d->held_by_looks && d->next_tick <= d->mark &&
	       snapshot_thread_is_busy(d->looks) && now < drain_looks_held_until(d);
}

void drain_looks_end(struct drain *d, uint64_t now)
{
	if (!d->looks)
		return;
	snapshot_thread_wait(d->looks);
	collect(d);
	ask_snapshots(d, SNAPSHOT_LAST, now, now);
	snapshot_thread_wait(d->looks);
	collect(d);
}

uint64_t drain_looks_cost_ns(const struct drain *d)
{
	return d->looks ? snapshot_thread_cost_ns(d->looks) : 0;
}

void drain_looks_free(struct drain *d)
{
	snapshot_thread_free(d->looks);
	d->looks = NULL;
}
