// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holders that their lock does not name, or names too long: writers of a percpu-rwsem, because of
 * which alone its readers wait, and readers that have exited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blamed.h"
#include "kontend/blame.h"
#include "kontend/cell-owner.h"
#include "kontend/event.h"
#include "kontend/holder.h"
#include "kontend/locktype.h"
#include "kontend/map64.h"
#include "kontend/task.h"
#include "kontend/wait.h"

/* In whatever state. */
static double charged_to(const struct model *m, int tid)
{
	double ms = 0;

	for (int state = 0; state < BLAME_PASSED; state++)
		ms += charged(m, tid, state, -1);
	return ms;
}

static const struct wait *wait_of(const struct model *m, int tid)
{
	const uint32_t *task = map64_get(&m->tasks->by_tid, (uint32_t)tid);
	const struct task *t = &m->tasks->tasks[task ? *task : TASK_OTHER];

	assert_int_equal(t->depth, 1);
	return &m->waits->waits[t->waits[0]];
}

/*
 * Readers of a percpu-rwsem wait for a writer alone, which is reported while it waits for the
 * earlier readers to finish: also if it waited for another writer.
 */
static void readers_of_a_percpu_rwsem_wait_for_its_writer(void **state)
{
	const uint32_t reads = LCB_F_PERCPU | LCB_F_READ, writes = LCB_F_PERCPU | LCB_F_WRITE;
	struct model *m = *state;

	holder(m, 0, -1, HOLDREC_BEGUN, HOLDREC_UNKNOWN);
	begin_as(m, 702, 0, reads);
	clock_ms = 2;
	begin_as(m, 703, 0, reads);
	holder(m, 701, 0, HOLDREC_SEEN, HOLDREC_ASLEEP); /* since the lock is waited for */
	clock_ms = 3;
	begin_as(m, 709, 0, writes);
	clock_ms = 10;
	end(m, 702, 0, 0); /* was let in before */
	clock_ms = 12;
	holder(m, 701, 0, HOLDREC_ON, HOLDREC_RUNNING);
	clock_ms = 13;
	holder(m, 701, 0, HOLDREC_UNFOLLOWED, HOLDREC_UNKNOWN);
	clock_ms = 15;
	holder(m, 701, 0, HOLDREC_RELEASED, HOLDREC_RUNNING);
	end(m, 703, 0, 0);
	clock_ms = 16;
	begin_as(m, 704, 0, reads);
	holder(m, 709, 0, HOLDREC_SEEN, HOLDREC_ASLEEP); /* has it, and waits for readers */
	clock_ms = 20;
	end(m, 709, 0, 0);
	clock_ms = 21;
	holder(m, 709, 0, HOLDREC_RELEASED, HOLDREC_RUNNING);
	end(m, 704, 0, 0);
	assert_ms(all(m), 10 + 13 + 17 + 5);
	assert_ms(charged(m, 701, BLAME_ASLEEP, 0), 8 + 10 + 9);
	assert_ms(charged(m, 701, BLAME_RUNNING, 0), 2);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 0), 2 + 2 * 2);
	assert_ms(charged(m, 709, BLAME_ASLEEP, 0), 2 * 4);
	assert_ms(charged(m, 709, BLAME_NOT_FOLLOWED, 0), 1 + 1);
	for (int tid = 702; tid <= 704; tid++)
		assert_ms(charged(m, tid, BLAME_NOT_FOLLOWED, -1), 0);
	assert_int_equal(m->blame->nodes[1].writes, 2);
}

/*
 * The writer did not wait for readers, so that the lock never named it: it is known as it lets go,
 * and has had the lock all the time. Readers that it wakes wait for it until they run.
 */
static void a_writer_is_known_at_the_latest_as_it_lets_go(void **state)
{
	const uint32_t reads = LCB_F_PERCPU | LCB_F_READ;
	struct model *m = *state;

	holder(m, 0, -1, HOLDREC_BEGUN, HOLDREC_UNKNOWN);
	begin_as(m, 702, 0, reads);
	begin_as(m, 703, 0, reads);
	begin_as(m, 704, 0, reads);
	clock_ms = 10;
	holder(m, 701, 0, HOLDREC_RELEASED, HOLDREC_RUNNING);
	clock_ms = 11;
	end(m, 702, 0, 0);
	clock_ms = 14;
	end(m, 703, 0, 0);
	begin_as(m, 705, 0, reads); /* for a writer that lets go after the end */
	clock_ms = 18;
	end(m, 704, 0, 0);
	clock_ms = 20;
	assert_ms(all(m), 11 + 14 + 18 + 6);
	assert_ms(charged_to(m, 701), 11 + 14 + 18 + 4);
	assert_int_equal(m->blame->nodes[1].writes, 1);
	clock_ms = 21;
	end(m, 705, 0, 0);
	assert_ms(charged(m, 0, BLAME_UNKNOWN, -1), 3);
}

/* The word of a lock may name a reader that has exited; nothing is charged to it from then on. */
static void a_task_that_has_exited_is_no_holder(void **state)
{
	struct model *m = *state;
	uint64_t reported_ns;

	holder(m, 0, -1, HOLDREC_BEGUN, HOLDREC_UNKNOWN);
	begin_as(m, 701, 1, LCB_F_WRITE); /* so that it is known */
	end(m, 701, 1, 0);
	begin_as(m, 702, 0, LCB_F_WRITE);
	owner(m, 702, 0, 701, true);
	clock_ms = 5;
	const struct wait *w = wait_of(m, 702);
	assert_int_equal(tid_of(m, cell_owner_task(holder_now(m, w, &reported_ns))), 701);
	apply(m, (struct event){.kind = EVENT_EXIT, .pid = 700, .tid = 701});
	assert_int_equal(holder_now(m, w, &reported_ns), OWNER_NONE);
	size_t n_tasks = m->tasks->n;
	holder(m, 701, 0, HOLDREC_OFF, HOLDREC_ASLEEP); /* for ever */
	clock_ms = 6;
	begin_as(m, 703, 0, LCB_F_WRITE);
	assert_int_equal(m->tasks->n, n_tasks + 1);
	apply(m, (struct event){.kind = EVENT_OWNER,
				.pid = 700,
				.tid = 703,
				.owner = {.lock = LOCK(0), .pid = 700, .tid = 701, .hint = true}});
	assert_int_equal(m->tasks->n, n_tasks + 1);
	assert_int_equal(holder_now(m, w, &reported_ns), OWNER_NONE);
	clock_ms = 10;
	end(m, 702, 0, 0);
	clock_ms = 12;
	end(m, 703, 0, 0);
	assert_ms(charged_to(m, 701), 0);
	/* A new task has its number. */
	apply(m, (struct event){.kind = EVENT_FORK, .pid = 900, .tid = 701});
	begin_as(m, 704, 0, LCB_F_WRITE);
	owner(m, 704, 0, 701, false);
	w = wait_of(m, 704);
	assert_int_equal(tid_of(m, cell_owner_task(holder_now(m, w, &reported_ns))), 701);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(readers_of_a_percpu_rwsem_wait_for_its_writer),
		TEST(a_writer_is_known_at_the_latest_as_it_lets_go),
		TEST(a_task_that_has_exited_is_no_holder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
