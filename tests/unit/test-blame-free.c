// SPDX-License-Identifier: GPL-2.0-only
/*
 * A lock that no task has, as it is being handed over: blame and held charge the task that is to
 * take it, and no longer the one that had it before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blamed.h"
#include "kontend/blame.h"
#include "kontend/cell-owner.h"
#include "kontend/cell.h"
#include "kontend/event.h"
#include "kontend/inoderec.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"

static double held_waited(const struct model *m, int tid)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < m->held->n; i++)
		if (tid_of(m, cell_key(&m->held->cells[i]).task) == tid)
			ns += cell_sums(m->held, &m->held->cells[i]).waited_ns;
	return (double)ns / MS;
}

/* 801 lets go of it at 10 ms, and 701 gets it at 25 ms, as others keep it off the CPU. */
static void a_free_lock_is_charged_to_the_next_task(void **state)
{
	struct model *m = *state;

	begin(m, 701, 1);
	owner(m, 701, 1, 801, false);
	begin(m, 702, 1);
	clock_ms = 10;
	holder(m, 701, 1, HOLDREC_HANDED, HOLDREC_ASLEEP);
	clock_ms = 25;
	end(m, 701, 1, 0);
	clock_ms = 40;
	end(m, 702, 1, 0);
	all(m);
	assert_ms(charged(m, 801, BLAME_NOT_FOLLOWED, 1), 2 * 10);
	assert_ms(charged(m, 701, BLAME_RUNNABLE, 1), 2 * 15);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 1), 15);
	assert_ms(held_waited(m, 801), 2 * 10);
	assert_ms(held_waited(m, 701), 2 * 15 + 15);
}

/* A task that waits for the next one's own lock waits because of the same wake-up. */
static void a_free_lock_is_the_root_of_a_chain(void **state)
{
	struct model *m = *state;

	begin(m, 703, 2);
	owner(m, 703, 2, 701, false);
	begin(m, 701, 1);
	owner(m, 701, 1, 801, false);
	clock_ms = 10;
	holder(m, 701, 1, HOLDREC_HANDED, HOLDREC_ASLEEP);
	clock_ms = 25;
	end(m, 701, 1, 0);
	all(m);
	assert_ms(charged(m, 801, BLAME_NOT_FOLLOWED, 1), 2 * 10);
	assert_ms(charged(m, 701, BLAME_RUNNABLE, 1), 2 * 15);
}

static void a_task_that_steals_a_free_lock_is_charged(void **state)
{
	struct model *m = *state;

	begin(m, 701, 1);
	owner(m, 701, 1, 801, false);
	begin(m, 702, 1);
	clock_ms = 10;
	holder(m, 701, 1, HOLDREC_HANDED, HOLDREC_ASLEEP);
	clock_ms = 12;
	holder(m, 802, 1, HOLDREC_SEEN, HOLDREC_RUNNING);
	clock_ms = 20;
	holder(m, 701, 1, HOLDREC_HANDED, HOLDREC_ASLEEP);
	clock_ms = 23;
	end(m, 701, 1, 0);
	all(m);
	assert_ms(charged(m, 701, BLAME_RUNNABLE, 1), 2 * (2 + 3));
	assert_ms(charged(m, 802, BLAME_NOT_FOLLOWED, 1), 2 * 8);
	assert_ms(held_waited(m, 802), 2 * 8);
}

/* 701 gave up, and a record that was read before 702 got the lock comes after that. */
static void the_next_task_may_have_gone(void **state)
{
	struct model *m = *state;

	begin(m, 701, 1);
	owner(m, 701, 1, 801, false);
	begin(m, 702, 1);
	begin(m, 703, 1);
	clock_ms = 10;
	holder(m, 701, 1, HOLDREC_HANDED, HOLDREC_ASLEEP);
	clock_ms = 14;
	end(m, 701, 1, -4);
	clock_ms = 20;
	end(m, 702, 1, 0);
	holder(m, 702, 1, HOLDREC_HANDED, HOLDREC_RUNNING);
	clock_ms = 25;
	end(m, 703, 1, 0);
	all(m);
	assert_ms(charged(m, 701, BLAME_RUNNABLE, 1), 3 * 4);
	assert_ms(charged(m, 0, BLAME_UNKNOWN, 1), 2 * 6);
	assert_ms(charged(m, 702, BLAME_NOT_FOLLOWED, 1), 5);
	assert_ms(charged(m, 702, BLAME_RUNNABLE, 1), 0);
}

/*
 * In each round 801 takes the lock unseen, and 701 waits for it for 20 ms. That 701 got the lock in
 * the round before must not hide the hold of 801.
 */
static void each_hold_before_a_hand_over_counts(void **state)
{
	struct model *m = *state;
	uint64_t n = 0;

	for (uint64_t at = 10; at < 400; at += 100) {
		clock_ms = at;
		begin(m, 701, 1);
		owner(m, 701, 1, 801, false);
		clock_ms = at + 15; /* BPF reads the owner again */
		holder(m, 801, 1, HOLDREC_SEEN, HOLDREC_ASLEEP);
		clock_ms = at + 20;
		holder(m, 701, 1, HOLDREC_HANDED, HOLDREC_ASLEEP);
		clock_ms = at + 21;
		end(m, 701, 1, 0);
	}
	for (size_t i = 0; i < m->held->n; i++) {
		struct cell_sums s = cell_sums(m->held, &m->held->cells[i]);
		if (tid_of(m, cell_key(&m->held->cells[i]).task) != 801)
			continue;
		n += s.n;
		assert_ms((double)s.min_ns / MS, 20);
		assert_ms((double)s.max_ns / MS, 20);
	}
	assert_int_equal(n, 4);
	assert_ms(held_waited(m, 801), 4 * 20);
}

/* They turn out to wait for another file's lock: reports since they began are of that one, too. */
static void the_lock_may_be_another_files(void **state)
{
	struct model *m = *state;

	begin(m, 703, 1);
	clock_ms = 2;
	end(m, 703, 1, 0);
	clock_ms = 5;
	begin(m, 701, 1);
	owner(m, 701, 1, 801, false);
	begin(m, 702, 1);
	clock_ms = 10;
	holder(m, 701, 1, HOLDREC_HANDED, HOLDREC_ASLEEP);
	clock_ms = 14;
	apply(m, (struct event){.kind = EVENT_INODE,
				.inode = {.lock = LOCK(1),
					  .ino = 12,
					  .generation = 2,
					  .flags = INODEREC_CHANGED,
					  .fs = "ext4",
					  .names = ""}});
	clock_ms = 20;
	end(m, 701, 1, -4);
	clock_ms = 30;
	end(m, 702, 1, -4);
	assert_ms(all(m), 2 + 15 + 25);
	assert_ms(charged(m, 701, BLAME_RUNNABLE, 1), 2 * 10);
	for (uint32_t i = LOCK_TYPES; i < m->locks->n; i++)
		assert_int_equal(cell_owner_next(m->locks->locks[i].has.who), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_free_lock_is_charged_to_the_next_task),
		TEST(a_free_lock_is_the_root_of_a_chain),
		TEST(a_task_that_steals_a_free_lock_is_charged),
		TEST(the_next_task_may_have_gone),
		TEST(each_hold_before_a_hand_over_counts),
		TEST(the_lock_may_be_another_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
