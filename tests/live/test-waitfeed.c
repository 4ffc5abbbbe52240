// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits as our BPF programs report them against perf's own events of the same waits, both at once:
 * the same tasks, locks, flags and call chains, although the chains are mostly not unwound but
 * recognized. And only those of the named tasks and of the tasks that they start.
 */
#include "source-test.h"

#include "kontend/clock.h"
#include "kontend/decode.h"
#include "kontend/mem.h"
#include "kontend/waitfeed.h"
#include "kontend/waitrec.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 400, SOURCES = 2, LEAD = 3 };

/* The environment may give how many times slower than usual a machine is: then fewer rounds. */
static int rounds(void)
{
	const char *text = getenv("KONTEND_SLOWNESS");
	int slow = text ? atoi(text) : 1;

	return slow > 1 ? ROUNDS / slow : ROUNDS;
}

struct reported {
	uint64_t time, lock;
	int32_t pid, tid;
	uint32_t flags, n;
	uint64_t frames[WAITREC_FRAMES];
};

/* A source, and the records that it reported. */
struct teller {
	struct waitfeed *feed; /* NULL: perf's events */
	struct source *source;
	struct decode decode;
	struct reported *begins;
	size_t n, cap;
	uint64_t ends, missed;
	bool ended;
};

static void keep(struct teller *t, const struct event *ev)
{
	assert_int_equal(mem_grow(&t->begins, &t->cap, t->n, sizeof(*t->begins)), 0);
	struct reported *k = &t->begins[t->n++];
	*k = (struct reported){.time = ev->time,
			       .lock = ev->begin.lock,
			       .pid = ev->pid,
			       .tid = ev->tid,
			       .flags = ev->begin.flags,
			       .n = ev->begin.n_frames};
	assert_true(k->n <= WAITREC_FRAMES);
	if (k->n)
		memcpy(k->frames, ev->begin.frames, k->n * sizeof(k->frames[0]));
	t->missed += ev->begin.missed;
}

static void take_run(struct teller *t, const struct record *r)
{
	const uint8_t *p = r->data;
	size_t size;

	for (size_t at = 0; at < r->len; at += size) {
		struct event ev;
		int code = decode_event(&t->decode, p + at, r->len - at, r->ring, &ev, &size);
		assert_int_not_equal(code, DECODE_BAD);
		assert_int_not_equal(size, 0);
		if (code == 0 && ev.kind == EVENT_CONTENTION_BEGIN)
			keep(t, &ev);
		t->ends += code == 0 && ev.kind == EVENT_CONTENTION_END;
	}
}

static void take_waits(struct teller *t, int timeout_ms)
{
	struct error err = {0};
	struct record r;
	int code = 0;

	for (int i = 0; i < 1000 && !t->ended; i++) {
		code = source_next(t->source, timeout_ms, &r, &err);
		if (code == SOURCE_IDLE)
			return;
		t->ended = code == SOURCE_END;
		if (code != 0)
			continue;
		if (r.kind == RECORD_PERF)
			take_run(t, &r);
		else if (r.kind == RECORD_ATTR)
			assert_int_equal(decode_add_attr(&t->decode, r.data, r.len, &err), 0);
		else if (r.kind == RECORD_FORMAT)
			assert_int_equal(decode_add_format(&t->decode, r.data, r.len, &err), 0);
		source_release(t->source, &r);
	}
}

static void start(struct teller *t, struct target *target, bool fed)
{
	struct waitfeed_options o = {.target = target, .waits = true, .max_stack = LIVE_MAX_STACK};
	struct live_options l = {.target = *target};
	struct error err = {0};

	*t = (struct teller){0};
	assert_true(waitfeed_covers(&o));
	assert_int_equal(decode_init(&t->decode, &err), 0);
	if (fed && waitfeed_new(&t->feed, &o, NULL, &err) < 0)
		fail_msg("waitfeed_new: %s", err.text);
	l.feed = waitfeed_feed(t->feed);
	t->source = open_source(&l, NULL);
	if (fed && waitfeed_start(t->feed, 0, &err) < 0)
		fail_msg("waitfeed_start: %s", err.text);
	start_source(t->source);
}

static void finish(struct teller *t)
{
	live_stop(t->source);
	for (int i = 0; i < 1000 && !t->ended; i++)
		take_waits(t, 100);
	assert_true(t->ended);
}

static void give_back(struct teller *t)
{
	source_free(t->source);
	waitfeed_free(t->feed);
	decode_deinit(&t->decode);
	mem_free(t->begins);
}

static int by_task_and_time(const void *x, const void *y)
{
	const struct reported *a = x, *b = y;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->time < b->time ? -1 : a->time > b->time;
}

static bool is_same_wait(const struct reported *a, const struct reported *b)
{
	return a->lock == b->lock && a->flags == b->flags;
}

static void print_chain(const char *whose, const struct reported *t)
{
	print_message("%s, flags %x:", whose, t->flags);
	for (uint32_t i = 0; i < t->n; i++)
		print_message(" %llx", (unsigned long long)t->frames[i]);
	print_message("\n");
}

/* From the frames @i and @k on; a chain of the longest length may have been cut. */
static bool is_same_from(const struct reported *a, uint32_t i, const struct reported *b, uint32_t k)
{
	uint32_t n_a = a->n - i, n_b = b->n - k, n = n_a < n_b ? n_a : n_b;
	bool whole = n_a == n_b || (n_a > n ? b->n : a->n) == LIVE_MAX_STACK;

	return whole && !memcmp(a->frames + i, b->frames + k, n * sizeof(a->frames[0]));
}

/*
 * The kernel comes to perf and to BPF by ways of their own, of which the first frames may be. Both
 * chains end where it was entered, or at the limit.
 */
static bool is_same_chain(const struct reported *perf, const struct reported *fed)
{
	for (uint32_t i = 0; i <= LEAD && i < perf->n; i++)
		for (uint32_t k = 0; k <= LEAD && k < fed->n; k++)
			if (is_same_from(perf, i, fed, k))
				return true;
	print_chain("perf", perf);
	print_chain("fed", fed);
	return false;
}

/*
 * Perf comes first at each tracepoint. So its last record of a task before @fed is of the same
 * wait, unless we have reported another one since: then a record was lost.
 */
static bool is_of(const struct reported *fed, const struct reported *perf,
		  const struct reported *fed_before)
{
	if (perf->tid != fed->tid || !is_same_wait(perf, fed))
		return false;
	return !fed_before || by_task_and_time(fed_before, perf) < 0;
}

static void compare(const struct teller *perf, const struct teller *fed)
{
	size_t compared = 0;

	qsort(perf->begins, perf->n, sizeof(*perf->begins), by_task_and_time);
	qsort(fed->begins, fed->n, sizeof(*fed->begins), by_task_and_time);
	for (size_t i = 0, k = 0; k < fed->n; k++) {
		const struct reported *f = &fed->begins[k];
		while (i < perf->n && by_task_and_time(&perf->begins[i], f) <= 0)
			i++;
		if (!i || !is_of(f, &perf->begins[i - 1], k ? f - 1 : NULL))
			continue;
		assert_true(is_same_chain(&perf->begins[i - 1], f));
		compared++;
	}
	print_message("perf %zu begins, fed %zu, compared %zu\n", perf->n, fed->n, compared);
	assert_true(compared >= fed->n / 2);
}

/* This kernel may drop what happens on a CPU that is about to sleep. */
static void assert_told(uint64_t got, uint64_t want)
{
	assert_true(got >= want - want / 20 && got <= want + want / 100);
}

static void waits_are_those_that_perf_sees(void **state)
{
	struct teller t[SOURCES];
	struct storm storm;

	(void)state;
	storm_fork(&storm, THREADS, rounds());
	struct target target = {.kind = TARGET_PIDS, .ids = &storm.pid, .n_ids = 1};
	start(&t[0], &target, false);
	start(&t[1], &target, true);
	storm_go(&storm);
	while (!storm_finished(&storm))
		for (int i = 0; i < SOURCES; i++)
			take_waits(&t[i], 25);
	for (int i = 0; i < SOURCES; i++)
		finish(&t[i]);
	/* A task that has begun to wait when it is killed is counted, and has no more to say. */
	print_message("counted %llu begins and %llu ends; fed %zu and %llu\n",
		      (unsigned long long)storm.begins, (unsigned long long)storm.ends, t[1].n,
		      (unsigned long long)t[1].ends);
	assert_told(t[1].n + t[1].missed, storm.begins);
	assert_told(t[1].ends, storm.ends);
	compare(&t[0], &t[1]);
	for (int i = 0; i < SOURCES; i++)
		give_back(&t[i]);
	assert_int_equal(WEXITSTATUS(storm_end(&storm)), 7);
}

/* Starts a process that contends as soon as it may: not before the sources are open. */
static pid_t parent_of_storm(int *ret_go)
{
	int fds[2];
	char c;

	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(fds[1]);
		if (read(fds[0], &c, 1) == 1 && fork() == 0)
			storm_run(THREADS, rounds());
		while (wait(NULL) > 0)
			;
		_exit(0);
	}
	close(fds[0]);
	*ret_go = fds[1];
	return pid;
}

static void those_that_are_started_are_told_of(void **state)
{
	struct teller t;
	struct storm other;
	size_t of_child = 0, of_others = 0;
	int go;

	(void)state;
	storm_fork(&other, THREADS, rounds());
	pid_t pid = parent_of_storm(&go);
	struct target target = {.kind = TARGET_PIDS, .ids = &pid, .n_ids = 1};
	start(&t, &target, true);
	storm_go(&other);
	assert_int_equal(write(go, "g", 1), 1);
	while (waitpid(pid, NULL, WNOHANG) == 0 || !storm_finished(&other))
		take_waits(&t, 25);
	finish(&t);
	for (size_t i = 0; i < t.n; i++) {
		of_others += t.begins[i].pid == other.pid;
		of_child += t.begins[i].pid != pid;
	}
	print_message("%zu begins, %zu of the child, %zu of others\n", t.n, of_child, of_others);
	assert_true((int)of_child >= rounds() / 8);
	assert_int_equal(of_others, 0);
	give_back(&t);
	close(go);
	assert_int_equal(WEXITSTATUS(storm_end(&other)), 7);
}

/* Waits of a process that was not named are not reported, by thread either. */
static void threads_are_told_of_alone(void **state)
{
	struct teller t;
	struct storm storm;

	(void)state;
	storm_fork(&storm, THREADS, rounds());
	/* Its first thread waits for the others, and for no lock. */
	struct target target = {.kind = TARGET_TIDS, .ids = &storm.pid, .n_ids = 1};
	start(&t, &target, true);
	storm_go(&storm);
	while (!storm_finished(&storm))
		take_waits(&t, 25);
	finish(&t);
	for (size_t i = 0; i < t.n; i++)
		assert_int_equal(t.begins[i].tid, storm.pid);
	assert_true(storm.begins > 2 * t.n);
	give_back(&t);
	assert_int_equal(WEXITSTATUS(storm_end(&storm)), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(waits_are_those_that_perf_sees, count_before,
						count_after),
		cmocka_unit_test_setup_teardown(those_that_are_started_are_told_of, count_before,
						count_after),
		cmocka_unit_test_setup_teardown(threads_are_told_of_alone, count_before,
						count_after),
	};

	if (geteuid() != 0) {
		puts("SKIP: measuring needs root");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
