// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that go offline and online, and tasks that end, while they are measured. The events of a CPU
 * end when it goes offline; when it is online again they are opened again into the same ring. A
 * session of tasks ends with the last of them.
 *
 * Each step reads which CPUs are online before it puts its round: so the loss of a CPU's records
 * before its events were open again is known before readers get any record of that time. A CPU that
 * was offline for less than a step is recognized by another epoch. Reading that costs a system call
 * for each CPU: only some CPUs are checked in each step, so that the cost does not grow with their
 * number.
 */
#include "drain-internal.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/sysinfo.h"

#define MS 1000000ull

static const uint64_t LOOK_NS = 200 * MS, RELAXED_TASKS_NS = 500 * MS, RELAXED_CPUS_NS = 4000 * MS;
enum { EPOCHS = 16 }; /* CPUs whose epoch is checked each LOOK_NS */

/*
 * Which records are missing since the CPU went offline. Events of tasks were only inactive. No wait
 * is missing that the feed writes into its own rings, since its programs stay attached.
 */
static enum record_cpu_state state_of(const struct drain *d, const struct drain_ring *r)
{
	if (r->dead)
		return RECORD_CPU_OFFLINE;
	if (d->cpu_wide && perf_session_is_fed(d->session))
		return RECORD_CPU_WAITS_WHOLE;
	return r->gap_unreported ? RECORD_CPU_ONLINE : RECORD_CPU_REPORTED;
}

static void say_state(struct drain *d, struct drain_ring *r)
{
	struct record_cpu state = {.cpu = r->cpu, .online = state_of(d, r)};

	if (r->gone != r->dead && drain_put(d, RECORD_CPU, r->cpu, &state, sizeof(state)) == 0)
		r->gone = r->dead;
}

/*
 * Events of a task, bound to this CPU, were only inactive; the event through which the feed writes
 * has ended.
 */
static bool revive_tasks(struct drain *d, size_t i)
{
	drain_take_ring(d, &d->rings[i]);
	if (perf_session_reopen_output(d->session, i) < 0)
		return false;
	d->rings[i].renewed = perf_session_has(d->session, PERF_OUTPUT);
	return true;
}

static bool revive(struct drain *d, size_t i)
{
	struct drain_ring *r = &d->rings[i];

	if (!d->cpu_wide)
		return revive_tasks(d, i);
	drain_take_ring(d, r);
	if (d->sink->taken)
		d->sink->taken(d->sink->ctx);
	if (perf_session_reopen(d->session, i) < 0)
		return false;
	r->ring = perf_session_ring(d->session, i);
	r->renewed = true;
	r->poll_k = 0;
	d->polls[i].fd = perf_session_poll_fd(d->session, i, 0);
	perf_session_enable_ring(d->session, i);
	r->gap_unreported = !perf_session_is_fed(d->session) && !drain_gap_ends(d, r);
	return true;
}

static bool has_cpu_events(const struct drain *d)
{
	return d->cpu_wide || perf_session_has(d->session, PERF_OUTPUT);
}

/* A CPU that was offline for so short a time that no step saw it has another epoch. */
static void look_at_cpu(struct drain *d, size_t i, bool online)
{
	struct drain_ring *r = &d->rings[i];
	uint64_t epoch = online && has_cpu_events(d) ? sysinfo_cpu_epoch(r->cpu) : r->epoch;

	if (!online || (epoch && r->epoch && epoch != r->epoch))
		r->dead = true;
	say_state(d, r);
	if (epoch)
		r->epoch = epoch;
	if (online && r->dead && revive(d, i))
		r->dead = false;
	say_state(d, r);
}

/* Checks all CPUs: one went offline or online, or could not be opened again the last time. */
static void look_at_cpus(struct drain *d)
{
	uint32_t *online;
	size_t n;

	if (cpu_watch_list(&d->online, &online, &n) < 0)
		return;
	d->cpus_pend = false;
	for (size_t i = 0; i < d->n_rings; i++) {
		struct drain_ring *r = &d->rings[i];
		bool is_online = cpulist_has(online, n, r->cpu);
		look_at_cpu(d, i, is_online);
		d->cpus_pend |= r->gone != r->dead || (is_online && r->dead);
	}
	mem_free(online);
}

/* Checks as many as are due since the last time. Those that are offline are left out. */
static void look_at_epochs(struct drain *d, uint64_t since_ns)
{
	size_t n = EPOCHS * (size_t)(since_ns / LOOK_NS);

	for (n = n < d->n_rings ? n : d->n_rings; n; n--) {
		d->next_epoch = (d->next_epoch + 1) % d->n_rings;
		struct drain_ring *r = &d->rings[d->next_epoch];
		if (r->dead)
			continue;
		look_at_cpu(d, d->next_epoch, true);
		d->cpus_pend |= r->dead;
	}
}

static void check_cpus(struct drain *d, uint64_t now)
{
	uint64_t since = now - d->last_cpus;
	bool due = since >= (d->policy == DRAIN_THROUGHPUT ? RELAXED_CPUS_NS : LOOK_NS);
	bool changed = cpu_watch_look(&d->online);

	d->cpus_pend |= changed;
	if (changed || (due && d->cpus_pend))
		look_at_cpus(d);
	if (!due)
		return;
	d->last_cpus = now;
	if (has_cpu_events(d))
		look_at_epochs(d, since);
}

/*
 * Have all target tasks ended? One that lives is enough, so the ended ones are dropped from the
 * end.
 */
static bool tasks_ended(struct drain *d)
{
	if (!d->tasks)
		return false;
	while (d->n_tasks && !procfs_alive("/proc", &d->tasks[d->n_tasks - 1]))
		d->n_tasks--;
	return !d->n_tasks;
}

/* The descriptor that woke us hung up: its task has ended, or its CPU is offline. */
static void hung_up(struct drain *d, size_t i)
{
	struct drain_ring *r = &d->rings[i];

	d->polls[i].fd = perf_session_poll_fd(d->session, i, ++r->poll_k);
	if (d->polls[i].fd < 0 && d->cpu_wide) {
		r->dead = d->cpus_pend = true;
		say_state(d, r);
	}
}

bool drain_check_liveness(struct drain *d, uint64_t now)
{
	for (size_t i = 0; i < d->n_rings; i++) {
		if (d->polls[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			hung_up(d, i);
	}
	if (d->polls[d->n_rings + DRAIN_CALLERS].revents)
		return true;
	check_cpus(d, now);
	if (now - d->last_tasks < (d->policy == DRAIN_THROUGHPUT ? RELAXED_TASKS_NS : LOOK_NS))
		return false;
	d->last_tasks = now;
	return tasks_ended(d);
}
