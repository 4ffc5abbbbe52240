// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings that the program of waits writes itself, without a reader for a while: the listener is
 * woken, nothing that has been written is overwritten, no record wraps, and all records that found
 * no room are counted. Records that come while a program writes have a ring of their own.
 */
#include "source-test.h"

#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/perf-attr.h"
#include "kontend/waitfeed.h"
#include "kontend/waitrec.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/inspect/waits/shared.h"

enum { THREADS = 4, ROUNDS = 4000, PAGES = 9, LEAD = 40, MOST = 1400, FULL_MS = 50 };

/* A CPU: the event by which the program wakes, and the ring that it writes. */
struct listener {
	uint32_t cpu;
	int fd;
	void *map;
	struct ring ring;
};

enum { CHAINS = 64, SMALL_RING = 1 << 16 /* that a storm fills */ };

struct listeners {
	struct waitfeed *feed;
	struct listener *of;
	size_t n;
	uint64_t begins, ends, missed;
	uint64_t longer; /* records up to the end of their ring */
	bool woken;
	uint64_t called_by[CHAINS]; /* first frames of chains */
	size_t n_called_by;
};

static void listen_on(struct waitfeed *f, struct listener *l, uint32_t cpu)
{
	const struct perf_attr_options o = {
		.kind = TARGET_SYSTEM, .ring_bytes = 1 << 15, .fed = true};
	struct feed *feed = waitfeed_feed(f);
	struct perf_event_attr attr;
	size_t size = PAGES * (size_t)sysconf(_SC_PAGESIZE);

	l->cpu = cpu;
	perf_attr_init(&attr, PERF_OUTPUT, &o);
	l->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	assert_true(l->fd >= 0);
	l->map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd, 0);
	assert_ptr_not_equal(l->map, MAP_FAILED);
	assert_int_equal(feed->set(feed, cpu, l->fd), 0);
	assert_true(feed->ring(feed, cpu, 0, &l->ring));
	assert_int_equal(ioctl(l->fd, PERF_EVENT_IOC_ENABLE, 0), 0);
}

static void begin(struct listeners *l, struct storm *storm)
{
	struct target target = {.kind = TARGET_PIDS, .ids = &storm->pid, .n_ids = 1};
	struct waitfeed_options o = {.target = &target,
				     .waits = true,
				     .max_stack = LIVE_MAX_STACK,
				     .ring_bytes = SMALL_RING};
	struct error err = {0};
	uint32_t *cpus;

	*l = (struct listeners){0};
	if (waitfeed_new(&l->feed, &o, NULL, &err) < 0)
		fail_msg("waitfeed_new: %s", err.text);
	assert_int_equal(cpulist_read("online", &cpus, &l->n), 0);
	l->of = mem_calloc(l->n, sizeof(*l->of));
	assert_non_null(l->of);
	for (size_t i = 0; i < l->n; i++)
		listen_on(l->feed, &l->of[i], cpus[i]);
	mem_free(cpus);
	if (waitfeed_start(l->feed, 0, &err) < 0)
		fail_msg("waitfeed_start: %s", err.text);
}

static void end(struct listeners *l)
{
	for (size_t i = 0; i < l->n; i++) {
		munmap(l->of[i].map, PAGES * (size_t)sysconf(_SC_PAGESIZE));
		close(l->of[i].fd);
	}
	waitfeed_free(l->feed);
	mem_free(l->of);
}

/* A record of so many bytes, and the gap that was left after it. */
static void expect_size(struct listeners *l, uint64_t at, uint32_t size, size_t bytes)
{
	uint64_t end = (at + size) % l->of[0].ring.size;

	l->longer += size != bytes;
	assert_true(size == bytes || (size > bytes && end == 0));
	/* Or the next one might wrap. */
	assert_true(end <= l->of[0].ring.size - LEAD - sizeof(struct waitrec_begin));
}

static bool has_caller(const struct listeners *l, uint64_t frame)
{
	for (size_t i = 0; i < l->n_called_by; i++)
		if (l->called_by[i] == frame)
			return true;
	return false;
}

static void remember(struct listeners *l, uint64_t frame)
{
	if (!has_caller(l, frame) && l->n_called_by < CHAINS)
		l->called_by[l->n_called_by++] = frame;
}

/* The record that is @at, counted since the start: all are samples of ours. */
static size_t take_one(struct listeners *l, uint64_t at, const uint8_t *p)
{
	struct perf_event_header h;
	struct waitrec_begin b = {0};

	memcpy(&h, p, sizeof(h));
	assert_int_equal(h.type, PERF_RECORD_SAMPLE);
	assert_true(h.size >= LEAD + sizeof(struct waitrec_end));
	size_t raw = h.size - (size_t)LEAD;
	memcpy(&b, p + LEAD, raw < sizeof(b) ? raw : sizeof(b));
	assert_int_equal(b.size, raw - sizeof(b.size));
	if (b.magic == WAITREC_END_MAGIC) {
		expect_size(l, at, h.size, LEAD + sizeof(struct waitrec_end));
		l->ends++;
		return h.size;
	}
	assert_int_equal(b.magic, WAITREC_BEGIN_MAGIC);
	expect_size(l, at, h.size,
		    LEAD + sizeof(b) - sizeof(b.frames) + b.n_frames * sizeof(b.frames[0]));
	l->begins++;
	l->missed += b.missed;
	if (b.n_frames)
		remember(l, b.frames[0]);
	return h.size;
}

static void take_records(struct listeners *l, struct ring *r)
{
	static uint8_t buf[RING_RECORD_MAX];
	uint64_t head = ring_head(r);
	size_t len;

	assert_true(ring_used(r, head) <= r->size);
	while (ring_used(r, head)) {
		uint64_t from = *r->tail;
		assert_int_equal(ring_drain(r, head, buf, sizeof(buf), &len), 0);
		for (size_t at = 0; at < len;)
			at += take_one(l, from + at, buf + at);
	}
}

static bool is_full(const struct listener *l)
{
	return ring_used(&l->ring, ring_head(&l->ring)) > l->ring.size - MOST;
}

static void look_at_rings(struct listeners *l, bool *full)
{
	for (size_t i = 0; i < l->n; i++) {
		struct pollfd p = {.fd = l->of[i].fd, .events = POLLIN};
		l->woken |= poll(&p, 1, 0) == 1 && p.revents & POLLIN;
		*full |= is_full(&l->of[i]);
	}
}

static void what_finds_no_room_is_counted(void **state)
{
	struct listeners l;
	struct storm storm;
	bool full = false;

	(void)state;
	storm_fork(&storm, THREADS, ROUNDS);
	begin(&l, &storm);
	waitfeed_feed(l.feed)->enable(waitfeed_feed(l.feed), true);
	storm_go(&storm);
	while (!full && !storm_finished(&storm)) {
		look_at_rings(&l, &full);
		poll(NULL, 0, 1);
	}
	poll(NULL, 0, FULL_MS);
	assert_true(full);
	assert_true(l.woken);
	while (!storm_finished(&storm)) {
		for (size_t i = 0; i < l.n; i++)
			take_records(&l, &l.of[i].ring);
		poll(NULL, 0, 1);
	}
	waitfeed_feed(l.feed)->enable(waitfeed_feed(l.feed), false);
	for (size_t i = 0; i < l.n; i++)
		take_records(&l, &l.of[i].ring);
	print_message("counted %llu, reported %llu, and reported as missing %llu\n",
		      (unsigned long long)(storm.begins + storm.ends),
		      (unsigned long long)(l.begins + l.ends), (unsigned long long)l.missed);
	assert_true(l.missed > 0);
	assert_true(l.longer > 0);
	assert_about(l.begins + l.ends + l.missed, storm.begins + storm.ends, 0);
	end(&l);
	assert_int_equal(WEXITSTATUS(storm_end(&storm)), 7);
}

/* As an interrupt finds them that comes while a program writes. */
static void set_busy(struct listeners *l, unsigned busy)
{
	for (size_t i = 0; i < l->n; i++) {
		struct waits_ring *r = (void *)(uintptr_t)l->of[i].ring.head;
		__atomic_store_n(&r->busy, busy, __ATOMIC_RELEASE);
	}
}

static void take_nested(struct listeners *l)
{
	struct feed *feed = waitfeed_feed(l->feed);
	struct ring usual = l->of[0].ring;

	for (size_t i = 0; i < l->n; i++) {
		assert_true(feed->ring(feed, l->of[i].cpu, 1, &l->of[0].ring));
		take_records(l, &l->of[0].ring);
	}
	l->of[0].ring = usual;
}

/* All waits of a storm by way of the rings of interrupts, or of the usual ones. */
static void run_storm(struct listeners *l, bool nested)
{
	struct storm storm;

	storm_fork(&storm, THREADS, ROUNDS / 4);
	begin(l, &storm);
	set_busy(l, nested);
	waitfeed_feed(l->feed)->enable(waitfeed_feed(l->feed), true);
	storm_go(&storm);
	for (bool last = false; !last;) {
		last = storm_finished(&storm);
		take_nested(l);
		for (size_t i = 0; i < l->n; i++)
			take_records(l, &l->of[i].ring);
	}
	waitfeed_feed(l->feed)->enable(waitfeed_feed(l->feed), false);
	set_busy(l, 0);
	end(l);
	assert_int_equal(WEXITSTATUS(storm_end(&storm)), 7);
}

static void an_interrupt_has_a_ring_of_its_own(void **state)
{
	struct listeners usual, nested;

	(void)state;
	run_storm(&usual, false);
	run_storm(&nested, true);
	print_message("usual %llu begins, nested %llu and %llu missing\n",
		      (unsigned long long)usual.begins, (unsigned long long)nested.begins,
		      (unsigned long long)nested.missed);
	assert_true(nested.begins > 0 && nested.ends > 0);
	assert_true(nested.n_called_by > 0);
	/* The same frames are skipped: chains begin where those of the usual program do. */
	for (size_t i = 0; i < nested.n_called_by; i++)
		assert_true(has_caller(&usual, nested.called_by[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_finds_no_room_is_counted, count_before,
						count_after),
		cmocka_unit_test_setup_teardown(an_interrupt_has_a_ring_of_its_own, count_before,
						count_after),
	};

	if (geteuid() != 0) {
		puts("SKIP: measuring needs root");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
