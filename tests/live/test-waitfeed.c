// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits as our BPF programs tell of them against perf's own events of the same waits, both at once:
 * the same tasks, locks, flags and call chains, although the chains are mostly not unwound but
 * recognized. And of the tasks that were named, with those that they start, and of no others.
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

enum { THREADS = 4, ROUNDS = 400, SOURCES = 2 };

/* How many times slower than usual a machine is may be said: it takes fewer rounds then. */
static int rounds(void)
{
	const char *text = getenv("KONTEND_SLOWNESS");
	int slow = text ? atoi(text) : 1;

	return slow > 1 ? ROUNDS / slow : ROUNDS;
}

struct told {
	uint64_t time, lock;
	int32_t pid, tid;
	uint32_t flags, n;
	uint64_t frames[WAITREC_FRAMES];
};

/* A source, and what it told. */
struct teller {
	struct waitfeed *feed; /* NULL: perf's events */
	struct source *source;
	struct decode decode;
	struct told *begins;
	size_t n, cap;
	uint64_t ends, missed;
	bool ended;
};

static void keep(struct teller *t, const struct event *ev)
{
	assert_int_equal(mem_grow(&t->begins, &t->cap, t->n, sizeof(*t->begins)), 0);
	struct told *k = &t->begins[t->n++];
	*k = (struct told){.time = ev->time,
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

static void take(struct teller *t, int timeout_ms)
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
	assert_true(waitfeed_covers(target, o.max_stack));
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
		take(t, 100);
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
	const struct told *a = x, *b = y;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->time < b->time ? -1 : a->time > b->time;
}

static bool is_same_wait(const struct told *a, const struct told *b)
{
	return a->lock == b->lock && a->flags == b->flags;
}

/*
 * Where both are at the tracepoint, the chains begin with the function that calls them. Both end
 * where the kernel was entered, or at the limit.
 */
static bool is_same_chain(const struct told *a, const struct told *b)
{
	return a->n && a->n == b->n && !memcmp(a->frames, b->frames, a->n * sizeof(a->frames[0]));
}

/* How many from @from on are of one task. */
static size_t of_task(const struct teller *t, size_t from)
{
	size_t to = from;

	while (from < t->n && to < t->n && t->begins[to].tid == t->begins[from].tid)
		to++;
	return to - from;
}

static size_t find_task(const struct teller *t, int32_t tid)
{
	size_t i = 0;

	while (i < t->n && t->begins[i].tid != tid)
		i++;
	return i;
}

/*
 * Step by step, as a task may wait for one lock many times in a moment; so of tasks of which either
 * has lost a record nothing can be said.
 */
static void compare(const struct teller *perf, const struct teller *fed)
{
	size_t compared = 0, n;

	qsort(perf->begins, perf->n, sizeof(*perf->begins), by_task_and_time);
	qsort(fed->begins, fed->n, sizeof(*fed->begins), by_task_and_time);
	for (size_t i = 0; i < fed->n; i += n) {
		size_t at = find_task(perf, fed->begins[i].tid);
		n = of_task(fed, i);
		if (of_task(perf, at) != n)
			continue;
		for (size_t k = 0; k < n; k++) {
			assert_true(is_same_wait(&perf->begins[at + k], &fed->begins[i + k]));
			assert_true(is_same_chain(&perf->begins[at + k], &fed->begins[i + k]));
		}
		compared += n;
	}
	print_message("perf %zu begins, fed %zu, compared %zu\n", perf->n, fed->n, compared);
	assert_true(compared >= fed->n / 4);
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
			take(&t[i], 25);
	for (int i = 0; i < SOURCES; i++)
		finish(&t[i]);
	/* A task that has begun to wait when it is killed is counted, and has no more to say. */
	print_message("counted %llu begins and %llu ends; fed %zu and %llu\n",
		      (unsigned long long)storm.begins, (unsigned long long)storm.ends, t[1].n,
		      (unsigned long long)t[1].ends);
	assert_about(t[1].n + t[1].missed, storm.begins, 0);
	assert_about(t[1].ends, storm.ends, 0);
	compare(&t[0], &t[1]);
	for (int i = 0; i < SOURCES; i++)
		give_back(&t[i]);
	assert_int_equal(WEXITSTATUS(storm_end(&storm)), 7);
}

/* Starts a process that contends as soon as it is told to: not before anybody looks. */
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
		take(&t, 25);
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

/* Of a process that nobody named nothing is told, by thread either. */
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
		take(&t, 25);
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
