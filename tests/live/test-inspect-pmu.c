// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of a real PMU: those of a CPU are found, also where each PMU has a context of its own
 * (before 6.2). While one counts, its count is of before, as the kernel sums up when it is read or
 * leaves the PMU: it is marked so, and has no rate. When it is off, the count is what its owner
 * reads, and rates begin.
 */
#include "kontend/inspect.h"
#include "live.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct test {
	struct inspect *inspect;
	struct perfsnap snap;
	int failures, fd;
	uint64_t id;
};

#define CHECK(t, good, ...) live_check(&(t)->failures, good, __VA_ARGS__)

static int open_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t read_count(const struct test *t)
{
	uint64_t n = 0;

	return read(t->fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static const struct snap_event *look_at_event(struct test *t)
{
	struct error err = {0};

	if (!CHECK(t, inspect_take(t->inspect, INSPECT_ALL, &t->snap, &err) == 0, "%s", err.text))
		return NULL;
	for (size_t i = 0; i < t->snap.n_events; i++)
		if (t->snap.events[i].id == t->id)
			return &t->snap.events[i];
	CHECK(t, false, "the counter is not listed");
	return NULL;
}

static void check_on(struct test *t)
{
	uint64_t before = read_count(t);
	const struct snap_event *e = look_at_event(t);
	uint64_t after = read_count(t);

	if (!e)
		return;
	CHECK(t, e->state == SNAP_ACTIVE && e->cpu == 0 && e->flags & SNAP_CPU_BOUND,
	      "state %d cpu %d flags %x", e->state, e->cpu, e->flags);
	CHECK(t, e->context && t->snap.contexts[e->context - 1].cpu == 0, "it is in context %u",
	      e->context);
	CHECK(t, e->flags & SNAP_STALE, "its count is not marked as stale");
	CHECK(t, e->count >= before && e->count <= after, "count %llu, not %llu to %llu",
	      (unsigned long long)e->count, (unsigned long long)before, (unsigned long long)after);
	CHECK(t, e->hits == UINT64_MAX, "%llu hits without a known time",
	      (unsigned long long)e->hits);
}

static void check_off(struct test *t)
{
	if (!CHECK(t, ioctl(t->fd, PERF_EVENT_IOC_DISABLE, 0) == 0, "it cannot be switched off"))
		return;
	for (int round = 0; round < 2; round++) {
		const struct snap_event *e = look_at_event(t);
		if (!e)
			return;
		CHECK(t, e->state == SNAP_OFF && !(e->flags & SNAP_STALE), "off: state %d flags %x",
		      e->state, e->flags);
		CHECK(t, e->count == read_count(t), "off: count %llu, not %llu",
		      (unsigned long long)e->count, (unsigned long long)read_count(t));
		CHECK(t, e->hits == (round ? 0 : UINT64_MAX), "off: %llu hits in look %d",
		      (unsigned long long)e->hits, round);
	}
}

int main(void)
{
	struct inspect_options o = {0};
	struct error err = {0};
	struct test t = {0};

	setvbuf(stdout, NULL, _IOLBF, 0);
	live_need_root();
	t.fd = open_counter();
	if (t.fd < 0) {
		printf("skipped: no PMU counts cycles here: %s\n", strerror(errno));
		return LIVE_SKIP;
	}
	if (ioctl(t.fd, PERF_EVENT_IOC_ID, &t.id) < 0 ||
	    inspect_bpf_new(&t.inspect, &o, &err) < 0) {
		printf("skipped: %s\n", err.text);
		return LIVE_SKIP;
	}
	for (int i = 0; i < 10; i++)
		check_on(&t);
	check_off(&t);
	inspect_free(t.inspect);
	perfsnap_deinit(&t.snap);
	close(t.fd);
	printf("%d failures\n", t.failures);
	return t.failures != 0;
}
