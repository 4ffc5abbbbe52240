// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drains all rings, reports up to which time the stream is complete, and decides when to drain
 * again.
 *
 * The kernel gives an event its time first and puts it into the ring a moment later. So a drain has
 * all events that are older than its start by some margin, SETTLE_NS: a ROUND carries the start of
 * an earlier drain, at least SETTLE_NS before the current one. A TICK is due when a round passes
 * its time; to have it early, there is a drain right at the tick and another one SETTLE_NS later.
 * Rounds without new data are left out, which lets an idle reader sleep. A recording gets ticks and
 * rounds when the rings are read anyway.
 *
 * A sink without room does not hold up the rings or the rounds: records that it cannot take are
 * counted and thrown away there, and a RECORD_DROP reports that before the next round.
 */
#include "drain-internal.h"
#include "kontend/mem.h"
#include "kontend/shortsnap.h"
#include "kontend/sysinfo.h"
#include <errno.h>

#define MS 1000000ull

static const uint64_t SETTLE_NS =
	2 * MS; /* from the time of an event to its place in the ring, on a slow CPU */
static const uint64_t RELAXED_SETTLE_NS = 50 * MS;
static const uint64_t DRAIN_NS = 50 * MS; /* rings are read at least this often */
static const uint64_t RELAXED_NS = 500 * MS;
static const uint64_t QUIET_NS =
	200 * MS;	/* for a screen, after a drain that found hardly any data */
enum { QUIET = 64 };	/* hardly any: below this part of each ring */
enum { WORTH = 16 };	/* a ring that is full up to this part is drained at once */
enum { CATCH_UP = 16 }; /* ticks that are put late after a stall, at most */
enum { EARLY_GROWTH = 4 };
enum { OWN_POLLS = 2 }; /* after those of rings and callers: pidfd, snapshots */

bool drain_take_ring(struct drain *d, struct drain_ring *r)
{
	uint64_t head = ring_head(&r->ring), used = ring_used(&r->ring, head);

	r->taken_from = *r->ring.tail;
	if (used > r->max_used)
		r->max_used = used;
	d->is_quiet &= used <= r->ring.size / QUIET;
	d->switch_cost.drain_bytes += used;
	if (used)
		d->sink->take(d->sink->ctx, r, head);
	return used != 0;
}

static void say_drops(struct drain *d)
{
	for (size_t i = 0; i < d->n_all; i++) {
		struct drain_ring *r = &d->rings[i];
		if (!r->drop.records)
			continue;
		if (drain_put(d, RECORD_DROP, r->cpu, &r->drop, sizeof(r->drop)) == 0)
			r->drop = (struct record_drop){0};
	}
}

static void take_all(struct drain *d)
{
	bool data = false;

	d->is_quiet = true;
	for (size_t i = 0; i < d->n_all; i++)
		data |= drain_take_ring(d, &d->rings[i]);
	for (size_t i = 0; i < d->n_rings; i++)
		d->rings[i].renewed |= perf_session_learn(d->session, i);
	if (d->sink->taken)
		d->sink->taken(d->sink->ctx);
	drain_gaps(d);
	if (data)
		d->data_until = clock_ns(CLOCK_MONOTONIC);
	say_drops(d);
}

/*
 * The rings of a CPU count as one: the record has the level of the fullest. The ring of nested
 * interrupts does not count: it is so small that a few waits fill it.
 */
static struct record_fill fill_of(struct drain_ring *r)
{
	struct drain_ring *own = r->own ? r->own : r;
	bool is_own = own->max_used * r->ring.size > r->max_used * own->ring.size;
	const struct drain_ring *most = is_own ? own : r;
	struct record_fill fill = {(uint32_t)most->max_used, (uint32_t)most->ring.size};

	r->max_used = own->max_used = 0;
	return fill;
}

static void say_fills(struct drain *d)
{
	for (size_t i = 0; i < d->n_rings; i++) {
		struct drain_ring *r = &d->rings[i];
		struct record_fill fill = fill_of(r);
		if (fill.used_bytes || r->filled)
			drain_put(d, RECORD_FILL, r->cpu, &fill, sizeof(fill));
		r->filled = fill.used_bytes != 0;
	}
}

/* From the last tick to the next one: those at the start grow to the usual length. */
static uint64_t next_length(struct drain *d)
{
	d->early_ns = d->early_ns * EARLY_GROWTH < d->tick_now ? d->early_ns * EARLY_GROWTH : 0;
	return d->early_ns ? d->early_ns : d->tick_now;
}

static void add_follow(const struct drain *d, struct record_cost *cost)
{
	struct feed_follow f;

	if (!perf_session_follows(d->session, &f) || f.failed)
		return;
	cost->follow_ns = f.longer_ns;
	cost->follow_records = f.records;
	cost->follow_missed = f.missed;
	cost->follow_times = f.times;
	cost->follow_attached_ns = f.attached_ns;
}

static void say_cost(struct drain *d, uint64_t until)
{
	const struct record_snapshot head = {
		.kind = SNAPSHOT_COST, .version = RECORD_COST_VERSION, .time_ns = until};
	struct record_cost cost = d->cost;

	cost.to_ns = clock_ns(CLOCK_MONOTONIC);
	cost.bpf_maps = d->bpf_maps ? d->bpf_maps() : 0;
	cost.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - d->cpu_before_ns;
	cost.looks_ns = drain_looks_cost_ns(d);
	cost.resident = sysinfo_resident();
	add_follow(d, &cost);
	if (!perf_session_idle(d->session, &cost.idle_at_ns, &cost.idle_ns))
		cost.idle_at_ns = cost.idle_ns = 0;
	drain_put_snapshot(d, &head, &cost, sizeof(cost));
}

static void forget_shorts(struct drain *d)
{
	mem_free(d->shorts);
	d->shorts = NULL;
}

/* Reads the sums of the feed as of @at into a snapshot, which say_shorts() puts. */
static void read_shorts(struct drain *d, bool begin, uint64_t at)
{
	const struct record_snapshot head = {
		.kind = SNAPSHOT_SHORT, .version = SHORTSNAP_VERSION, .time_ns = at};
	size_t len;
	const void *payload = perf_session_shorts(d->session, begin, at, &len);
	uint8_t *body = payload ? mem_calloc(1, sizeof(head) + len) : NULL;

	forget_shorts(d);
	if (!body)
		return;
	memcpy(body, &head, sizeof(head));
	memcpy(body + sizeof(head), payload, len);
	d->shorts = body;
	d->shorts_len = sizeof(head) + len;
	d->shorts_ns = at;
}

static void say_shorts(struct drain *d)
{
	if (d->shorts)
		(void)d->sink->put_always(d->sink->ctx, RECORD_SNAPSHOT, 0, d->shorts,
					  d->shorts_len);
	forget_shorts(d);
}

/*
 * A tick is put when all events before it were read, up to half a second after it. Sums that were
 * read only then would include later waits as well, so they are read in the first step after the
 * tick. If several ticks have passed, the sums are those of the last one.
 */
static void read_shorts_in_time(struct drain *d, uint64_t now)
{
	if (now < d->next_tick || (d->shorts && d->shorts_ns >= d->next_tick))
		return;
	read_shorts(d, false, now - (now - d->next_tick) % d->tick_now);
}

/* Ticks that are due by @until, oldest first. */
static void say_ticks(struct drain *d, uint64_t until)
{
	if (d->next_tick > until)
		return;
	say_fills(d);
	say_cost(d, d->next_tick);
	read_shorts_in_time(d, d->next_tick);
	say_shorts(d);
	uint64_t behind = (until - d->next_tick) / d->tick_now;
	if (behind > CATCH_UP)
		d->next_tick += behind * d->tick_now;
	for (; d->next_tick <= until; d->next_tick += next_length(d)) {
		drain_put(d, RECORD_TICK, 0, &d->next_tick, sizeof(d->next_tick));
		d->last_tick = d->next_tick;
	}
}

/* After a drain that began at @t0: all events up to the mark are in the queue. */
static void say_progress(struct drain *d, uint64_t t0)
{
	if (t0 - d->mark < (d->policy == DRAIN_THROUGHPUT ? RELAXED_SETTLE_NS : SETTLE_NS) ||
	    drain_looks_hold(d, t0))
		return;
	say_ticks(d, d->mark);
	if (d->last_round < d->data_until &&
	    drain_put(d, RECORD_ROUND, 0, &d->mark, sizeof(d->mark)) == 0)
		d->last_round = d->mark;
	d->mark = t0;
}

/* Drains the rings, and counts the cost of draining while switches are among the records. */
static void take_counted(struct drain *d)
{
	uint64_t until;
	bool ended = drain_switches_turn(d, &until), counts = ended || d->switches.on;
	uint64_t from = counts ? drain_cpu_ns() : 0;

	take_all(d);
	if (counts)
		d->switch_cost.drain_ns += drain_cpu_ns() - from;
	if (ended)
		drain_switches_say(d, until);
}

/* When a burst of switches or of mmap_locks begins or ends next, if that is before @at; else @at.
 */
static uint64_t next_burst(const struct drain *d, uint64_t at)
{
	if (burst_next(&d->switches) < at)
		at = burst_next(&d->switches);
	return burst_next(&d->mmaps) < at ? burst_next(&d->mmaps) : at;
}

/*
 * Kernel and feed wake the collector when a ring fills; the rest depends on how soon the reader
 * needs the data.
 */
static uint64_t longest_wait(const struct drain *d)
{
	switch (d->policy) {
	case DRAIN_EVENTS:
		return DRAIN_NS;
	case DRAIN_SCREEN:
		return d->is_quiet ? QUIET_NS : DRAIN_NS;
	default:
		return RELAXED_NS;
	}
}

/* When to drain next, if no ring asks for it before. */
static uint64_t next_drain(const struct drain *d)
{
	uint64_t most = longest_wait(d);
	uint64_t every = d->tick_now / 2 < most ? d->tick_now / 2 : most;
	uint64_t at = d->last_drain + (d->policy == DRAIN_THROUGHPUT ? most : every);
	uint64_t settled = d->mark + SETTLE_NS;

	at = next_burst(d, at);
	/* At a tick snapshots may be taken, of that time. */
	if (d->policy == DRAIN_THROUGHPUT)
		return d->next_tick > d->last_drain && d->next_tick < at ? d->next_tick : at;
	/* The tick has passed but was not put yet: drain as soon as the mark may become a round. */
	if (d->next_tick <= d->mark) {
		if (drain_looks_hold(d, d->last_drain))
			settled = drain_looks_held_until(d);
		return settled < at ? settled : at;
	}
	return d->next_tick < at ? d->next_tick : at;
}

static size_t polls_of(const struct drain *d)
{
	return d->n_rings + DRAIN_CALLERS + OWN_POLLS;
}

/* True at @until, and when anything but the watermark of a ring woke us. */
static bool wait_once(struct drain *d, uint64_t until)
{
	size_t n = polls_of(d);
	uint64_t now = clock_ns(CLOCK_MONOTONIC), ns = until > now ? until - now : 0;
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	if (ppoll(d->polls, n, &t, NULL) <= 0) {
		for (size_t i = 0; i < n; i++)
			d->polls[i].revents = 0;
		return true;
	}
	for (size_t i = 0; i < n; i++) {
		if (d->polls[i].revents && (i >= d->n_rings || d->polls[i].revents != POLLIN))
			return true;
	}
	return false;
}

/*
 * The watermarks of the kernel are at fixed places of a ring, and the last drain may have ended
 * just before one.
 */
static bool is_worth_it(const struct drain *d)
{
	for (size_t i = 0; i < d->n_all; i++) {
		const struct ring *r = &d->rings[i].ring;
		if (ring_used(r, ring_head(r)) >= r->size / WORTH)
			return true;
	}
	return false;
}

unsigned drain_wait(struct drain *d, const int fds[2], uint64_t most_ns)
{
	struct pollfd *callers = d->polls + d->n_rings;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until = next_drain(d);
	unsigned ready = 0;

	if (until > now && until - now > most_ns)
		until = now + most_ns;
	for (size_t i = 0; i < DRAIN_CALLERS; i++)
		callers[i].fd = fds[i];
	while (!wait_once(d, until) && !is_worth_it(d))
		;
	for (unsigned i = 0; i < DRAIN_CALLERS; i++)
		ready |= callers[i].revents ? 1u << i : 0;
	return ready;
}

bool drain_step(struct drain *d, const struct drain_sink *sink)
{
	uint64_t t0 = clock_ns(CLOCK_MONOTONIC), cpu = drain_cpu_ns();

	d->sink = sink;
	if (!d->shorts_begun) {
		read_shorts(d, true, d->cost.from_ns);
		say_shorts(d);
	}
	d->shorts_begun = true;
	read_shorts_in_time(d, t0);
	bool end = drain_check_liveness(d, t0);
	drain_mmaps(d);
	take_counted(d);
	d->last_drain = t0;
	drain_looks(d, t0);
	say_progress(d, t0);
	d->cost.drain_ns += drain_cpu_ns() - cpu;
	return end;
}

void drain_finish(struct drain *d, const struct drain_sink *sink)
{
	d->sink = sink;
	perf_session_disable_all(d->session);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	take_all(d);
	drain_gaps_end(d);
	drain_mmaps_end(d, now);
	drain_looks_end(d, now);
	say_ticks(d, d->mark);
	say_fills(d);
	say_cost(d, now);
	read_shorts(d, false, now);
	say_shorts(d);
	sink->put_always(sink->ctx, RECORD_TICK, 0, &now, sizeof(now));
}

/* Begins and ends that are not read yet in @r. */
static uint64_t samples_left(const struct ring *r)
{
	uint64_t head = ring_head(r), n = 0;
	struct ring_span s = {.end = *r->tail};

	while (ring_peek(r, s.end, head, r->size, &s) == 0)
		n += s.samples;
	return n;
}

int drain_counts(const struct drain *d, struct perf_counts *ret)
{
	uint64_t not_taken = 0;

	/* No event of perf counts the waits that a feed reports. */
	if (perf_session_is_fed(d->session))
		return -ENOTSUP;
	/* First, so that events that come meanwhile are not missing in the counts. */
	for (size_t i = 0; i < d->n_rings; i++)
		not_taken += samples_left(&d->rings[i].ring);
	int r = perf_session_counts(d->session, ret);
	if (r < 0)
		return r;
	not_taken += ret->lost_events;
	ret->events -= not_taken < ret->events ? not_taken : ret->events;
	return 0;
}

void drain_set_tick(struct drain *d, uint64_t tick)
{
	if (tick == d->tick_now)
		return;
	d->tick_now = tick;
	d->early_ns = 0;
	d->next_tick = d->last_tick + tick;
	/* A shorter tick may be overdue: then it is due now, once. */
	if (d->next_tick < d->mark)
		d->next_tick = d->mark;
}

void drain_tick_now(struct drain *d)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	/* A tick that is due, and was not put yet, does as well. */
	if (now >= d->next_tick)
		return;
	d->early_ns = 0;
	d->next_tick = now;
}

int drain_begin(struct drain *d, uint64_t tick_ns, uint64_t first_ns, struct error *err)
{
	d->mark = d->last_tick = d->last_drain = d->last_cpus = d->last_tasks =
		clock_ns(CLOCK_MONOTONIC);
	d->cost.from_ns = d->mark;
	d->cpu_before_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	d->tick_now = tick_ns;
	d->early_ns = first_ns < tick_ns ? first_ns : 0;
	d->next_tick = d->last_tick + (d->early_ns ? d->early_ns : tick_ns);
	return drain_looks_begin(d, &d->polls[polls_of(d) - 1].fd, err);
}

void drain_restore_ids(const struct drain_ring *r, void *records, size_t len)
{
	if (r->renewed)
		perf_session_restore_ids(r->of->session, (size_t)(r - r->of->rings), records, len);
}

static void set_up_ring(struct drain *d, size_t i)
{
	struct drain_ring *r = &d->rings[i];

	r->of = d;
	r->ring = perf_session_ring(d->session, i);
	r->cpu = r->number = perf_session_cpu(d->session, i);
	r->epoch = sysinfo_cpu_epoch(r->cpu);
	d->polls[i].fd = perf_session_poll_fd(d->session, i, 0);
}

/* The @nth own ring of the feed for the CPU of @r. */
static void set_up_own(struct drain *d, struct drain_ring *r, unsigned nth, uint32_t cpus)
{
	struct drain_ring *own = &d->rings[d->n_all];

	if (!perf_session_own_ring(d->session, (size_t)(r - d->rings), nth, &own->ring))
		return;
	own->of = d;
	own->cpu = r->cpu;
	own->number = (nth + 1) * cpus + r->cpu;
	r->own = nth ? r->own : own;
	d->n_all++;
}

/* Their numbers follow those of all CPUs. */
static void set_up_all_own(struct drain *d)
{
	uint32_t cpus = 0;

	for (size_t i = 0; i < d->n_rings; i++)
		cpus = d->rings[i].cpu >= cpus ? d->rings[i].cpu + 1 : cpus;
	for (unsigned nth = 0; nth < FEED_RINGS; nth++)
		for (size_t i = 0; i < d->n_rings; i++)
			set_up_own(d, &d->rings[i], nth, cpus);
}

int drain_init(struct drain *d, struct error *err)
{
	d->online.fd = -1;
	d->n_rings = d->n_all = perf_session_rings(d->session);
	d->rings = mem_calloc((1 + FEED_RINGS) * d->n_rings, sizeof(*d->rings));
	d->polls = mem_calloc(polls_of(d), sizeof(*d->polls));
	if (!d->rings || !d->polls)
		return error_enomem(err, "the collector of %zu rings", d->n_rings);
	for (size_t i = 0; i < d->n_rings; i++)
		set_up_ring(d, i);
	set_up_all_own(d);
	for (size_t i = 0; i < polls_of(d); i++)
		d->polls[i] = (struct pollfd){.fd = d->polls[i].fd, .events = POLLIN};
	d->polls[d->n_rings + DRAIN_CALLERS].fd = d->pidfd;
	d->polls[polls_of(d) - 1].fd = -1;
	cpu_watch_open(&d->online, "/sys/devices/system/cpu/online");
	d->cpus_pend = true; /* CPUs may have gone offline since the events were opened */
	return 0;
}

void drain_deinit(struct drain *d)
{
	drain_looks_free(d);
	forget_shorts(d);
	if (d->polls)
		cpu_watch_close(&d->online);
	mem_free(d->rings);
	mem_free(d->polls);
	d->rings = NULL;
	d->polls = NULL;
}
