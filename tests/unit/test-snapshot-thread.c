// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots that a thread takes while others go on: all of a round in their order, each as soon as
 * it is there, those of the start only where they are asked for, and nothing twice. Those that cost
 * much are left out of rounds that come often.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/source/drain-internal.h"
#include "../../src/source/snapshot-thread.h"

#include <poll.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

enum { SOURCES = 3 };

struct fake {
	struct snapshot_source look;
	char body[8];
	bool is_silent;
	uint64_t burns_ns; /* of CPU time, each look */
	sem_t *gate;	   /* taken before each look; NULL: there is none */
	int looks, last_looks;
};

static void burn(uint64_t ns)
{
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((uint64_t)((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec) <
		 ns);
}

static void *take_snapshot(struct snapshot_source *l, bool last, size_t *ret_len)
{
	struct fake *f = (struct fake *)l;

	if (f->gate)
		sem_wait(f->gate);
	burn(f->burns_ns);
	f->looks++;
	f->last_looks += last;
	*ret_len = sizeof(f->body);
	return f->is_silent ? NULL : f->body;
}

struct bench {
	struct fake of[SOURCES];
	struct snapshot_thread *thread;
	sem_t gate;
};

static void set_up(struct bench *b)
{
	struct error err = {0};

	memset(b, 0, sizeof(*b));
	assert_int_equal(sem_init(&b->gate, 0, 0), 0);
	for (int i = 0; i < SOURCES; i++) {
		b->of[i].look.kind = (uint16_t)(i + 1);
		b->of[i].look.take = take_snapshot;
		b->of[i].look.each_tick = true;
		b->of[i].look.next = i + 1 < SOURCES ? &b->of[i + 1].look : NULL;
	}
	assert_int_equal(snapshot_thread_new(&b->thread, &b->of[0].look, &err), 0);
	assert_false(snapshot_thread_is_busy(b->thread));
}

static void tear_down(struct bench *b)
{
	snapshot_thread_free(b->thread);
	sem_destroy(&b->gate);
}

static void wait_readable(const struct bench *b)
{
	struct pollfd p = {.fd = snapshot_thread_fd(b->thread), .events = POLLIN};

	assert_int_equal(poll(&p, 1, -1), 1);
}

/* Returns its time. */
static uint64_t expect_some(struct bench *b, int nth)
{
	struct snapshot_taken t;

	/* Collecting takes back what made it readable, for all that was there. */
	while (!snapshot_thread_collect(b->thread, &t))
		wait_readable(b);
	assert_ptr_equal(t.of, &b->of[nth].look);
	assert_ptr_equal(t.body, b->of[nth].body);
	assert_int_equal(t.len, sizeof(b->of[nth].body));
	return t.time_ns;
}

static void expect(struct bench *b, int nth, uint64_t time_ns)
{
	assert_int_equal(expect_some(b, nth), time_ns);
}

/* It may have been asked for long before: its time is that at which it was taken. */
static void expect_of_start(struct bench *b, int nth, uint64_t since_ns)
{
	uint64_t time_ns = expect_some(b, nth);

	assert_true(time_ns > since_ns);
	assert_true(time_ns <= clock_now_ns());
}

static void expect_no_more(struct bench *b)
{
	struct snapshot_taken t;

	assert_false(snapshot_thread_collect(b->thread, &t));
}

static void a_round_is_collected_in_its_order(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b);
	for (uint64_t time_ns = 1; time_ns < 100; time_ns++) {
		snapshot_thread_ask(b.thread, SNAPSHOT_TICK, time_ns);
		assert_true(snapshot_thread_is_busy(b.thread));
		snapshot_thread_wait(b.thread);
		for (int i = 0; i < SOURCES; i++)
			expect(&b, i, time_ns);
		expect_no_more(&b);
		assert_false(snapshot_thread_is_busy(b.thread));
	}
	assert_true(snapshot_thread_cost_ns(b.thread) > 0);
	tear_down(&b);
	assert_int_equal(b.of[SOURCES - 1].looks, 99);
}

static void what_is_there_does_not_wait_for_the_rest(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b);
	b.of[2].gate = &b.gate;
	snapshot_thread_ask(b.thread, SNAPSHOT_TICK, 7);
	expect(&b, 0, 7);
	expect(&b, 1, 7);
	expect_no_more(&b);
	assert_true(snapshot_thread_is_busy(b.thread));
	sem_post(&b.gate);
	expect(&b, 2, 7);
	assert_false(snapshot_thread_is_busy(b.thread));
	tear_down(&b);
}

static void some_have_nothing_to_say(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b);
	b.of[0].is_silent = b.of[2].is_silent = true;
	snapshot_thread_ask(b.thread, SNAPSHOT_TICK, 7);
	snapshot_thread_wait(b.thread);
	expect(&b, 1, 7);
	expect_no_more(&b);
	assert_false(snapshot_thread_is_busy(b.thread));
	tear_down(&b);
}

static void the_start_and_the_end_are_asked_for(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b);
	b.of[1].look.at_start = true;
	uint64_t asked_ns = clock_now_ns();
	snapshot_thread_ask(b.thread, SNAPSHOT_START, asked_ns);
	snapshot_thread_wait(b.thread);
	expect_of_start(&b, 1, asked_ns);
	expect_no_more(&b);
	assert_int_equal(b.of[0].looks, 0);
	snapshot_thread_ask(b.thread, SNAPSHOT_LAST, 2);
	snapshot_thread_wait(b.thread);
	for (int i = 0; i < SOURCES; i++) {
		expect(&b, i, 2);
		assert_int_equal(b.of[i].last_looks, 1);
	}
	tear_down(&b);
}

static void round_of(struct bench *b, enum snapshot_round round, uint64_t time_ns)
{
	struct snapshot_taken t;

	snapshot_thread_ask(b->thread, round, time_ns);
	snapshot_thread_wait(b->thread);
	while (snapshot_thread_collect(b->thread, &t))
		;
}

static void what_costs_much_comes_once_a_second(void **state)
{
	const uint64_t tenth = 100000000;
	struct bench b;

	(void)state;
	set_up(&b);
	b.of[0].look.each_tick = false;
	b.of[0].burns_ns = b.of[1].burns_ns = 2000000;
	for (uint64_t i = 0; i < 30; i++)
		round_of(&b, SNAPSHOT_TICK, 1000000000 + i * tenth);
	assert_int_equal(b.of[0].looks, 4);
	assert_int_equal(b.of[1].looks, 30);
	round_of(&b, SNAPSHOT_LAST, 1000000000 + 30 * tenth);
	assert_int_equal(b.of[0].looks, 5);
	tear_down(&b);
}

/* Ending in the middle of a round waits for it: no body is freed while it is written. */
static void the_round_at_hand_is_finished(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b);
	snapshot_thread_ask(b.thread, SNAPSHOT_TICK, 1);
	tear_down(&b);
	assert_int_equal(b.of[SOURCES - 1].looks, 1);
}

/* The programs of the first snapshots may be loaded after measuring has begun. */
static void no_tick_waits_for_those_of_the_start(void **state)
{
	struct error err = {0};
	struct bench b;
	struct drain d = {.tick_now = 1000000000, .mark = 1};
	int fd;

	(void)state;
	set_up(&b);
	snapshot_thread_free(b.thread);
	b.of[0].gate = &b.gate;
	b.of[0].look.at_start = true;
	d.snapshots = &b.of[0].look;
	assert_int_equal(drain_looks_begin(&d, &fd, &err), 0);
	assert_true(snapshot_thread_is_busy(d.looks));
	assert_false(drain_looks_hold(&d, d.asked_ns));
	sem_post(&b.gate);
	snapshot_thread_wait(d.looks);
	b.thread = d.looks;
	expect_of_start(&b, 0, d.mark);
	expect_no_more(&b);
	d.next_tick = 2;
	d.mark = 3;
	drain_looks(&d, 3);
	assert_true(drain_looks_hold(&d, 3));
	sem_post(&b.gate);
	tear_down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_round_is_collected_in_its_order),
		cmocka_unit_test(what_is_there_does_not_wait_for_the_rest),
		cmocka_unit_test(some_have_nothing_to_say),
		cmocka_unit_test(the_start_and_the_end_are_asked_for),
		cmocka_unit_test(what_costs_much_comes_once_a_second),
		cmocka_unit_test(the_round_at_hand_is_finished),
		cmocka_unit_test(no_tick_waits_for_those_of_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
