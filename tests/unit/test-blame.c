// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tasks that others wait for: chains of locks, states of the root meanwhile, readers, circles,
 * late reports of owners, losses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blamed.h"
#include "kontend/blame.h"
#include "kontend/event.h"
#include "kontend/holds.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/profile.h"
#include "kontend/recent.h"
#include "kontend/stack.h"
#include "kontend/task.h"

#include <linux/perf_event.h>

static double charged_time(const struct model *m, int tid, int state)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < m->blame->n; i++)
		if (tid_of(m, m->blame->cells[i].key.task) == tid &&
		    m->blame->cells[i].key.state == state)
			ns += m->blame->cells[i].time_ns;
	return (double)ns / MS;
}

static double waited(const struct model *m)
{
	return (double)m->holds->waited_ns / MS;
}

static void a_chain_is_charged_to_its_root(void **state)
{
	struct model *m = *state;

	begin(m, 701, 0);
	begin(m, 702, 0);
	begin(m, 703, 0);
	clock_ms = 1;
	end(m, 701, 0, 0); /* has lock 0, 702 and 703 wait */
	clock_ms = 3;
	begin(m, 704, 1);
	begin(m, 705, 1);
	clock_ms = 4;
	end(m, 704, 1, 0); /* has lock 1, 705 waits */
	clock_ms = 6;
	begin(m, 701, 1); /* so does 701, who has lock 0 */
	clock_ms = 16;
	end(m, 705, 1, 0); /* has lock 1, 701 waits */
	clock_ms = 20;
	end(m, 701, 1, 0);
	clock_ms = 22;
	assert_ms(all(m), 3 * 1 + 2 * 21 + 1 + 13 + 14);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 0), 2 * 5 + 2 * 2);
	assert_ms(charged(m, 704, BLAME_NOT_FOLLOWED, 1), 12 + 10 + 2 * 10);
	assert_ms(charged(m, 705, BLAME_NOT_FOLLOWED, 1), (1 + 2) * 4);
	assert_ms(charged(m, 701, BLAME_PASSED, 0), 2 * 14);
	assert_ms(charged_time(m, 701, BLAME_PASSED), 14);
	assert_ms(charged_time(m, 701, BLAME_NOT_FOLLOWED), 7);
	assert_ms(charged(m, 0, BLAME_UNKNOWN, -1), 3 + 2);
}

static void what_the_root_does_is_told(void **state)
{
	struct model *m = *state;

	holder(m, 0, -1, HOLDREC_BEGUN, HOLDREC_UNKNOWN);
	begin(m, 702, 0);
	holder(m, 701, 0, HOLDREC_SEEN, HOLDREC_RUNNING);
	clock_ms = 5;
	holder(m, 701, 0, HOLDREC_OFF, HOLDREC_RUNNABLE);
	clock_ms = 12;
	holder(m, 701, 0, HOLDREC_ON, HOLDREC_RUNNING);
	clock_ms = 13;
	holder(m, 701, 0, HOLDREC_OFF, HOLDREC_ASLEEP);
	clock_ms = 30;
	holder(m, 701, 0, HOLDREC_WOKEN, HOLDREC_RUNNABLE);
	clock_ms = 31;
	holder(m, 701, 0, HOLDREC_ON, HOLDREC_RUNNING);
	clock_ms = 33;
	begin(m, 703, 0);
	clock_ms = 35;
	end(m, 702, 0, 0); /* runs from now on, as a task does after its wait */
	clock_ms = 45;
	holder(m, 702, 0, HOLDREC_OFF, HOLDREC_IO);
	clock_ms = 50;
	holder(m, 0, -1, HOLDREC_STOPPED, HOLDREC_UNKNOWN);
	clock_ms = 57;
	assert_ms(all(m), 35 + 24);
	assert_ms(charged(m, 701, BLAME_RUNNING, 0), 5 + 1 + 2 + 2 * 2);
	assert_ms(charged(m, 701, BLAME_RUNNABLE, 0), 7 + 1);
	assert_ms(charged(m, 701, BLAME_ASLEEP, 0), 17);
	assert_ms(charged_time(m, 701, BLAME_RUNNING), 5 + 1 + 4);
	assert_ms(charged(m, 702, BLAME_RUNNING, 0), 10);
	assert_ms(charged(m, 702, BLAME_IO, 0), 5);
	assert_ms(charged(m, 702, BLAME_NOT_FOLLOWED, 0), 7);
	for (size_t i = 0; i < m->blame->n; i++) {
		const struct blame_key *k = &m->blame->cells[i].key;
		if (k->state == BLAME_ASLEEP)
			assert_true(k->why != STACK_OTHER);
		if (k->state == BLAME_RUNNABLE && k->why != TASK_OTHER)
			assert_int_equal(tid_of(m, k->why), 801);
	}
}

/* The first task that took the CPU had it briefly; the one with most of the time is reported last.
 */
static void sample(struct model *m, int tid, uint64_t leaf)
{
	const uint64_t frames[] = {PERF_CONTEXT_KERNEL,	  leaf,
				   0xffffffff84000010ull, 0xffffffff84000020ull,
				   0xffffffff84000030ull, 0xffffffff84000040ull,
				   0xffffffff84000050ull};

	apply(m, (struct event){.kind = EVENT_SAMPLE,
				.pid = 700,
				.tid = tid,
				.sample = {.frames = frames,
					   .n_frames = 7,
					   .ip = leaf,
					   .period = 1,
					   .is_kernel = true}});
}

static double charged_at(const struct model *m, int tid, uint64_t leaf)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < m->blame->n; i++) {
		const struct blame_cell *c = &m->blame->cells[i];
		bool at = c->key.why && stack_frames(m->stacks, c->key.why)[0] == leaf;
		if (c->key.state == BLAME_RUNNING && tid_of(m, c->key.task) == tid &&
		    (leaf ? at : !c->key.why))
			ns += c->ns;
	}
	return (double)ns / MS;
}

/* From a sample on it runs there, until it sleeps: then it has to be sampled again. */
static void samples_say_where_it_runs(void **state)
{
	const uint64_t one = 0xffffffff85000000ull, two = 0xffffffff86000000ull;
	struct model *m = *state;

	sample(m, 701, one);
	holder(m, 0, -1, HOLDREC_BEGUN, HOLDREC_UNKNOWN);
	begin(m, 702, 0);
	sample(m, 701, two); /* it is not known that it has the lock */
	holder(m, 701, 0, HOLDREC_SEEN, HOLDREC_RUNNING);
	clock_ms = 5;
	sample(m, 701, one);
	clock_ms = 7;
	sample(m, 702, two);
	begin(m, 703, 0);
	clock_ms = 8;
	holder(m, 701, 0, HOLDREC_SEEN, HOLDREC_RUNNING);
	clock_ms = 10;
	sample(m, 701, two);
	clock_ms = 11;
	holder(m, 701, 0, HOLDREC_OFF, HOLDREC_ASLEEP);
	clock_ms = 20;
	sample(m, 701, one); /* asleep by then: a late sample changes nothing */
	clock_ms = 21;
	holder(m, 701, 0, HOLDREC_ON, HOLDREC_RUNNING);
	clock_ms = 24;
	end(m, 702, 0, 0);
	assert_ms(charged_at(m, 701, 0), 5 + 2 * 3);
	assert_ms(charged_at(m, 701, one), 2 + 2 * 3);
	assert_ms(charged_at(m, 701, two), 2 * 1);
	assert_ms(charged(m, 701, BLAME_RUNNING, 0), 5 + 2 + 6 + 2 + 6);
	assert_ms(charged(m, 701, BLAME_ASLEEP, 0), 2 * 10);
	/* The innermost frame, and the outermost ones. */
	for (size_t i = 0; i < m->blame->n; i++) {
		const struct blame_key *k = &m->blame->cells[i].key;
		if (k->state != BLAME_RUNNING || !k->why)
			continue;
		assert_int_equal(m->stacks->stacks[k->why].n, PROFILE_PLACE);
		assert_int_equal(stack_frames(m->stacks, k->why)[1], 0xffffffff84000020ull);
		assert_int_equal(stack_frames(m->stacks, k->why)[4], 0xffffffff84000050ull);
	}
}

static void who_kept_it_off_is_known_in_the_end(void **state)
{
	struct model *m = *state;

	holder(m, 0, -1, HOLDREC_BEGUN, HOLDREC_UNKNOWN);
	begin(m, 702, 0);
	holder(m, 701, 0, HOLDREC_SEEN, HOLDREC_RUNNING);
	holder(m, 701, 0, HOLDREC_OFF, HOLDREC_RUNNABLE); /* by 801 */
	clock_ms = 7;
	apply(m, (struct event){.kind = EVENT_HOLDER,
				.pid = 700,
				.tid = 701,
				.holder = {.lock = LOCK(0),
					   .comm = "holder",
					   .other_comm = "hog",
					   .other_pid = 850,
					   .other_tid = 851,
					   .what = HOLDREC_ON,
					   .state = HOLDREC_RUNNING}});
	clock_ms = 8;
	assert_ms(all(m), 8);
	assert_ms(charged(m, 701, BLAME_RUNNABLE, 0), 7);
	for (size_t i = 0; i < m->blame->n; i++)
		if (m->blame->cells[i].key.state == BLAME_RUNNABLE)
			assert_int_equal(tid_of(m, m->blame->cells[i].key.why), 851);
}

/* No record has 701 take the lock; a snapshot, or the next one's owner, reports it later. */
static void who_is_told_of_late_has_had_it_all_the_time(void **state)
{
	struct model *m = *state;

	begin(m, 702, 0);
	clock_ms = 10;
	begin(m, 703, 0);
	owner(m, 703, 0, 701, false);
	clock_ms = 14;
	end(m, 702, 0, 0);
	clock_ms = 15;
	end(m, 703, 0, 0);
	assert_ms(all(m), 14 + 5);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 0), 10 + 8);
	assert_ms(charged(m, 702, BLAME_NOT_FOLLOWED, 0), 1);
}

/* 701 is to blame for the loss before it began to wait; for the rest the task it waits for is. */
static void who_is_told_of_late_may_wait_by_then(void **state)
{
	struct model *m = *state;

	begin(m, 703, 1);
	owner(m, 703, 1, 709, false);
	begin(m, 702, 0);
	clock_ms = 10;
	begin(m, 701, 1);
	clock_ms = 30;
	owner(m, 702, 0, 701, false);
	clock_ms = 31;
	assert_ms(all(m), 31 + 31 + 21);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 0), 10);
	assert_ms(charged(m, 709, BLAME_NOT_FOLLOWED, 1), 31 + 21 + 21);
}

static void readers_share(void **state)
{
	struct model *m = *state;

	begin_as(m, 701, 0, LCB_F_READ);
	begin_as(m, 702, 0, LCB_F_READ);
	begin_as(m, 703, 0, LCB_F_WRITE);
	clock_ms = 2;
	end(m, 701, 0, 0);
	end(m, 702, 0, 0);
	clock_ms = 12;
	end(m, 703, 0, 0);
	assert_ms(all(m), 3 * 2 + 10);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 0), 5);
	assert_ms(charged(m, 702, BLAME_NOT_FOLLOWED, 0), 5);
	begin_as(m, 704, 0, LCB_F_WRITE);
	owner(m, 704, 0, 705, true); /* one of its readers, or it was */
	clock_ms = 20;
	end(m, 704, 0, 0);
	assert_ms(all(m), 3 * 2 + 10 + 8);
	assert_ms(charged(m, 0, BLAME_NOT_FOLLOWED, 0), 8);
	for (size_t i = 0; i < m->blame->n; i++)
		if (m->blame->cells[i].key.task == TASK_OTHER &&
		    m->blame->cells[i].key.state == BLAME_NOT_FOLLOWED)
			assert_int_equal(m->locks->locks[m->blame->cells[i].key.root_lock].type,
					 LOCK_RWSEM_R);
}

/* Where no writer waits the others have the lock as well, and only have to run. */
static void readers_keep_no_readers_waiting(void **state)
{
	struct model *m = *state;

	for (int i = 0; i < 3; i++)
		begin_as(m, 701 + i, 0, LCB_F_READ);
	clock_ms = 1;
	end(m, 701, 0, 0);
	clock_ms = 5;
	end(m, 702, 0, 0);
	end(m, 703, 0, 0);
	assert_ms(all(m), 3 + 2 * 4);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 0), 0);
	assert_ms(charged(m, 0, BLAME_UNKNOWN, 0), 3 + 2 * 4);
}

/* But a writer that comes then waits for all of them. */
static void a_writer_waits_for_readers_that_were_let_in(void **state)
{
	struct model *m = *state;

	for (int i = 0; i < 3; i++)
		begin_as(m, 701 + i, 0, LCB_F_READ);
	clock_ms = 1;
	end(m, 701, 0, 0);
	clock_ms = 2;
	begin(m, 704, 0);
	clock_ms = 3;
	end(m, 702, 0, 0);
	end(m, 703, 0, 0);
	clock_ms = 12;
	end(m, 704, 0, 0);
	assert_ms(all(m), 3 + 2 + 3 + 9);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 0), 4);
	assert_ms(charged(m, 702, BLAME_NOT_FOLLOWED, 0), 4);
	assert_ms(charged(m, 703, BLAME_NOT_FOLLOWED, 0), 4);
	assert_ms(charged(m, 0, BLAME_UNKNOWN, 0), 3 + 2);
}

/* Two hundred of them: some are known, all of them share. */
static void many_readers_share(void **state)
{
	struct model *m = *state;
	double sum = 0;

	for (int i = 0; i < 200; i++)
		begin_as(m, 1000 + i, 0, LCB_F_READ);
	begin_as(m, 703, 0, LCB_F_WRITE);
	for (int i = 0; i < 200; i++)
		end(m, 1000 + i, 0, 0);
	clock_ms = 200;
	end(m, 703, 0, 0);
	assert_ms(all(m), 200);
	for (int i = 0; i < 200; i++)
		sum += charged(m, 1000 + i, BLAME_NOT_FOLLOWED, 0);
	assert_ms(charged(m, 1000, BLAME_NOT_FOLLOWED, 0), 1);
	assert_ms(sum, 8);
	assert_ms(charged(m, 0, BLAME_NOT_FOLLOWED, 0), 192);
}

/*
 * The lock names one reader at most: the states of each reader are known from the record that it is
 * followed to the record that it no longer has the lock.
 */
static void what_a_reader_does_is_known_once_it_is_followed(void **state)
{
	struct model *m = *state;

	holder(m, 0, -1, HOLDREC_BEGUN, HOLDREC_UNKNOWN);
	for (int i = 0; i < 3; i++)
		begin_as(m, 701 + i, 0, LCB_F_READ);
	begin(m, 704, 0);
	for (int i = 0; i < 3; i++)
		end(m, 701 + i, 0, 0);
	holder(m, 701, 0, HOLDREC_GOT, HOLDREC_RUNNING);
	holder(m, 702, 0, HOLDREC_GOT, HOLDREC_RUNNING);
	clock_ms = 3;
	holder(m, 701, 0, HOLDREC_OFF, HOLDREC_ASLEEP);
	clock_ms = 9;
	holder(m, 702, 0, HOLDREC_GONE, HOLDREC_UNKNOWN);
	clock_ms = 19;
	holder(m, 703, 0, HOLDREC_GONE, HOLDREC_UNKNOWN);
	clock_ms = 25;
	holder(m, 701, 0, HOLDREC_GONE, HOLDREC_UNKNOWN); /* others have it still */
	clock_ms = 26;
	end(m, 704, 0, 0);
	assert_ms(all(m), 26);
	assert_ms(charged(m, 701, BLAME_RUNNING, 0), 1);
	assert_ms(charged(m, 701, BLAME_ASLEEP, 0), 2 + 5 + 6);
	assert_ms(charged_time(m, 701, BLAME_ASLEEP), 22);
	assert_ms(charged(m, 702, BLAME_RUNNING, 0), 1 + 2);
	assert_ms(charged_time(m, 702, BLAME_RUNNING), 9);
	assert_ms(charged(m, 703, BLAME_NOT_FOLLOWED, 0), 1 + 2 + 5);
	assert_ms(charged_time(m, 703, BLAME_RUNNING), 0);
	assert_ms(charged(m, 0, BLAME_NOT_FOLLOWED, 0), 1);
}

/* Where the lock's word does not name the owner, no state is assumed. */
static void only_who_is_named_is_followed_without_a_record(void **state)
{
	static const struct {
		uint32_t flags;
		int state;
	} all_of[] = {
		{LCB_F_MUTEX, BLAME_RUNNING},
		{LCB_F_WRITE, BLAME_RUNNING},
		{LCB_F_RT, BLAME_RUNNING},
		{LCB_F_SPIN, BLAME_RUNNING},
		{LCB_F_READ, BLAME_NOT_FOLLOWED},
		{LCB_F_PERCPU | LCB_F_READ, BLAME_UNKNOWN}, /* keeps no task waiting */
		{LCB_F_PERCPU | LCB_F_WRITE, BLAME_NOT_FOLLOWED},
		{LCB_F_RT | LCB_F_READ, BLAME_NOT_FOLLOWED},
		{LCB_F_RT | LCB_F_WRITE, BLAME_NOT_FOLLOWED},
		{0, BLAME_NOT_FOLLOWED},
	};
	struct model *m = *state;

	holder(m, 0, -1, HOLDREC_BEGUN, HOLDREC_UNKNOWN);
	for (int i = 0; i < (int)(sizeof(all_of) / sizeof(all_of[0])); i++) {
		uint32_t flags = all_of[i].flags;
		bool reads = flags & LCB_F_READ;
		begin_as(m, 710 + 2 * i, i, flags);
		apply(m, (struct event){.kind = EVENT_CONTENTION_BEGIN,
					.pid = 700,
					.tid = 711 + 2 * i,
					.cpu = 1,
					.begin = {.lock = LOCK(i),
						  .flags = reads ? flags ^ LCB_F_READ ^ LCB_F_WRITE
								 : flags}});
		end(m, 710 + 2 * i, i, 0);
	}
	clock_ms = 5;
	all(m);
	for (int i = 0; i < (int)(sizeof(all_of) / sizeof(all_of[0])); i++) {
		assert_ms(charged(m, 710 + 2 * i, BLAME_RUNNING, i),
			  all_of[i].state == BLAME_RUNNING ? 5 : 0);
		assert_ms(charged(m, 710 + 2 * i, BLAME_NOT_FOLLOWED, i),
			  all_of[i].state == BLAME_NOT_FOLLOWED ? 5 : 0);
	}
}

/* Readers that come again have released the lock, without a record: there is no circle. */
static void who_waits_for_a_lock_has_let_go_of_it(void **state)
{
	struct model *m = *state;

	begin_as(m, 701, 0, LCB_F_READ);
	begin_as(m, 702, 0, LCB_F_READ);
	begin_as(m, 703, 0, LCB_F_WRITE);
	end(m, 701, 0, 0);
	end(m, 702, 0, 0);
	clock_ms = 10;
	begin_as(m, 701, 0, LCB_F_READ);
	clock_ms = 14;
	begin_as(m, 702, 0, LCB_F_READ);
	clock_ms = 20; /* 703 is the next one, and a third reader still has the lock */
	end(m, 703, 0, 0);
	clock_ms = 25;
	end(m, 701, 0, 0);
	end(m, 702, 0, 0);
	assert_ms(all(m), 20 + 15 + 11);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 0), 5);
	assert_ms(charged(m, 702, BLAME_NOT_FOLLOWED, 0), 5 + 4 + 4);
	assert_ms(charged(m, 0, BLAME_UNKNOWN, 0), 3 * 6);
	assert_ms(charged(m, 703, BLAME_NOT_FOLLOWED, 0), 2 * 5);
	for (int tid = 701; tid <= 703; tid++)
		assert_ms(charged(m, tid, BLAME_CIRCLE, -1), 0);
}

/* The same for a task that was the owner, as reported when another one began to wait. */
static void who_is_told_to_have_what_it_waits_for_has_it_no_more(void **state)
{
	struct model *m = *state;

	begin(m, 702, 0);
	clock_ms = 4;
	begin(m, 701, 0);
	clock_ms = 10;
	owner(m, 702, 0, 701, false);
	clock_ms = 12;
	end(m, 702, 0, 0);
	clock_ms = 13;
	end(m, 701, 0, 0);
	assert_ms(all(m), 12 + 9);
	assert_ms(charged(m, 701, BLAME_CIRCLE, -1), 0);
	assert_ms(charged(m, 702, BLAME_CIRCLE, -1), 0);
}

static void a_circle_is_said(void **state)
{
	struct model *m = *state;

	begin(m, 703, 0);
	owner(m, 703, 0, 701, false);
	begin(m, 704, 1);
	owner(m, 704, 1, 702, false);
	clock_ms = 1;
	begin(m, 701, 1);
	clock_ms = 2;
	begin(m, 702, 0);
	clock_ms = 12;
	assert_ms(all(m), 12 + 12 + 11 + 10);
	assert_ms(charged(m, 702, BLAME_CIRCLE, -1), 4 * 10);
	clock_ms = 13;
	end(m, 701, 1, -4); /* gives up: 702 waits for 701, who runs */
	clock_ms = 15;
	assert_ms(all(m), 15 + 15 + 12 + 13);
	assert_ms(charged(m, 702, BLAME_CIRCLE, -1), 4 * 11);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 0), 1 + 3 * 2);
}

/* More locks of one task, more tasks at one lock, more circles than are kept: the sum stays. */
static void what_is_too_much_is_charged_all_the_same(void **state)
{
	struct model *m = *state;

	for (int i = 0; i < 100; i++) {
		begin(m, 1000 + i, i);
		owner(m, 1000 + i, i, 701, false);
	}
	for (int i = 0; i < 1100; i++) {
		begin(m, 2000 + i, 200 + i);
		owner(m, 2000 + i, 200 + i, 4000 + i, false);
		begin(m, 4000 + i, 199);
	}
	for (int i = 0; i < 80; i++) {
		begin(m, 6000 + i, 2000 + i);
		owner(m, 6000 + i, 2000 + i, 7000 + i, false);
		begin(m, 7000 + i, 2000 + i + 100);
		owner(m, 7000 + i, 2000 + i + 100, 6000 + i, false);
	}
	clock_ms = 10;
	assert_ms(all(m), 10 * (100 + 2 * 1100 + 2 * 80));
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, -1), 10 * 64);
	assert_int_equal(m->blame->n_circles, 64);
	for (int i = 0; i < 80; i++)
		end(m, 6000 + i, 2000 + i, -4);
	assert_int_equal(m->blame->n_circles, 0);
	begin(m, 701, 300); /* the waiters of its locks now wait behind this wait */
	clock_ms = 11;
	all(m);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, -1), 10 * 64);
}

static void what_is_lost_ends_what_is_known(void **state)
{
	struct model *m = *state;

	begin(m, 701, 0);
	begin(m, 702, 0);
	clock_ms = 1;
	end(m, 701, 0, 0);
	clock_ms = 5;
	apply(m, (struct event){.kind = EVENT_LOST, .lost = {.n = 3, .until = now()}});
	clock_ms = 9;
	begin(m, 703, 0);
	clock_ms = 10;
	end(m, 703, 0, 0);
	/* 702 waited for 5 ms until records were lost, 4 of them because of 701. */
	assert_ms(all(m), 1 + 1);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 0), 0);
	assert_ms(charged(m, 0, BLAME_UNKNOWN, 0), 1 + 1);
	assert_int_equal(m->blame->doubtful_ns, 5 * MS);
	assert_int_equal(m->holds->doubtful_ns, 5 * MS);
	assert_int_equal(m->holds->waited_ns, 2 * MS);
}

static void who_has_ended_has_nothing(void **state)
{
	struct model *m = *state;

	begin(m, 701, 0);
	begin(m, 702, 0);
	clock_ms = 1;
	end(m, 701, 0, 0);
	clock_ms = 5;
	apply(m, (struct event){.kind = EVENT_EXIT, .pid = 700, .tid = 701});
	clock_ms = 9;
	end(m, 702, 0, 0);
	assert_ms(all(m), 2 + 8);
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 0), 4);
	assert_ms(charged(m, 0, BLAME_UNKNOWN, 0), 2 + 4);
}

/* More cells than there is room for: the sum stays. */
static void cells_that_are_folded_keep_their_sum(void **state)
{
	struct model *m = *state;

	for (int i = 0; i < 6000; i++) {
		begin(m, 2000 + i, i);
		owner(m, 2000 + i, i, 20000 + i, false);
		clock_ms++;
		end(m, 2000 + i, i, 0);
	}
	assert_ms(all(m), 6000);
	assert_true(m->blame->n <= 4096 && m->blame->folded > 0);
	assert_ms(all(m), waited(m));
}

/* The log of the last minute has what the cells have, also after they were folded. */
static void the_log_has_the_same(void **state)
{
	struct model *m = *state;
	uint64_t ns = 0, time = 0, cells = 0, times = 0;

	m->blame->recent.max = 1 << 16;
	for (int i = 0; i < 6000; i++) {
		begin(m, 2000 + i, i);
		owner(m, 2000 + i, i, 20000 + i, false);
		clock_ms += 1;
		end(m, 2000 + i, i, 0);
		if (i % 100 == 99)
			model_tick(m, now());
	}
	const struct recent *r = &m->blame->recent;
	for (size_t i = 0; i < r->n; i++) {
		assert_true(recent_index(r->words[i]) < m->blame->n);
		ns += recent_kind(r->words[i]) == RECENT_WAIT ? recent_value(r->words[i]) : 0;
		time += recent_kind(r->words[i]) == RECENT_SAMPLE ? recent_value(r->words[i]) : 0;
	}
	for (size_t i = 0; i < m->blame->n; i++) {
		cells += m->blame->cells[i].ns;
		times += m->blame->cells[i].time_ns;
	}
	assert_int_equal(ns, cells);
	assert_int_equal(time, times);
	assert_int_equal(ns, 6000 * MS);
}

static void a_copy_goes_on_alike(void **state)
{
	struct model *m = *state, copy;

	begin(m, 701, 0);
	begin(m, 702, 0);
	end(m, 701, 0, 0);
	clock_ms = 3;
	begin(m, 701, 1);
	assert_int_equal(model_copy(&copy, m), 0);
	clock_ms = 9;
	end(m, 701, 1, 0);
	end(&copy, 701, 1, 0);
	clock_ms = 12;
	assert_ms(all(m), all(&copy));
	assert_ms(charged(m, 701, BLAME_NOT_FOLLOWED, 0),
		  charged(&copy, 701, BLAME_NOT_FOLLOWED, 0));
	assert_ms(charged(&copy, 701, BLAME_PASSED, 0), 6);
	model_deinit(&copy);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_chain_is_charged_to_its_root),
		TEST(what_the_root_does_is_told),
		TEST(samples_say_where_it_runs),
		TEST(who_kept_it_off_is_known_in_the_end),
		TEST(who_is_told_of_late_has_had_it_all_the_time),
		TEST(who_is_told_of_late_may_wait_by_then),
		TEST(readers_share),
		TEST(readers_keep_no_readers_waiting),
		TEST(a_writer_waits_for_readers_that_were_let_in),
		TEST(many_readers_share),
		TEST(what_a_reader_does_is_known_once_it_is_followed),
		TEST(only_who_is_named_is_followed_without_a_record),
		TEST(who_waits_for_a_lock_has_let_go_of_it),
		TEST(who_is_told_to_have_what_it_waits_for_has_it_no_more),
		TEST(a_circle_is_said),
		TEST(what_is_too_much_is_charged_all_the_same),
		TEST(what_is_lost_ends_what_is_known),
		TEST(who_has_ended_has_nothing),
		TEST(cells_that_are_folded_keep_their_sum),
		TEST(the_log_has_the_same),
		TEST(a_copy_goes_on_alike),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
