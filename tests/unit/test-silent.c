// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks for which tasks wait without an event, in a snapshot: from the arrays of the BPF programs,
 * whose content may be anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/vmalock.h"
#include "locks/internal.h"
#include "locks/sleepers-shared.h"

#include <stdio.h>
#include <string.h>

enum { SEM = 0x1000, VMA = 0x2000, MM = 0x3000, RCU_SYNC = 0x4000, CALLER = 0x5000 };

/* As fill.c and readers.c have them. */
uint32_t snapshot_locks_add_text(struct locksnap *s, const char *text, size_t size)
{
	char copy[64];

	snprintf(copy, sizeof(copy), "%.*s", (int)size, text);
	return locksnap_add_text(s, copy);
}

uint32_t snapshot_locks_add_long(struct locksnap *s, const char *text)
{
	return locksnap_add_text(s, text);
}

uint32_t snapshot_locks_add_path(struct locksnap *s, const char *proc, int pid, int fd)
{
	(void)proc;
	(void)pid;
	(void)fd;
	return locksnap_add_text(s, "path");
}

static int functions; /* is all that a test knows of the kernel's */

size_t locks_readers_rcu(struct locks_readers *r, const unsigned long long *frames, size_t n)
{
	assert_ptr_equal(r, &functions);
	return n && frames[0] == RCU_SYNC;
}

static struct raw_blocked tasks[8];
static struct raw_keeper keepers[4];
static size_t n_tasks, n_keepers;
static const int64_t ahead_ns = 100;

static struct raw_blocked *add_task(int tid, uint64_t lock, enum raw_part part)
{
	struct raw_blocked *r = &tasks[n_tasks++];

	*r = (struct raw_blocked){.pid = 700,
				  .tid = tid,
				  .state = RAW_STATE_D,
				  .part = part,
				  .lock = lock,
				  .switches = 5,
				  .ran = 1100,
				  .comm = "writer",
				  .process = "agent",
				  .call = {.number = -1},
				  .bytes = 8,
				  .frames = {CALLER}};
	return r;
}

static void fill(struct locksnap *s, bool knows_functions)
{
	const struct raw_blocked_pass of = {
		.blocked = tasks, .n = n_tasks, .proc = "P", .ahead_ns = &ahead_ns};
	const struct raw_silent_pass p = {&of, keepers, n_keepers,
					  knows_functions ? (struct locks_readers *)&functions
							  : NULL};

	assert_int_equal(sleepers_fill_blocked(&of, s), 0);
	assert_int_equal(silent_fill(&p, s), 0);
}

static int begin(void **state)
{
	static struct locksnap s;

	locksnap_deinit(&s);
	s = (struct locksnap){0};
	n_tasks = n_keepers = 0;
	*state = &s;
	return 0;
}

static int end(void **state)
{
	locksnap_deinit(*state);
	return 0;
}

/* The state of a lock shows that some writer waits for RCU; its calls, that it is this task. */
static void only_calls_show_who_waits_for_rcu(void **state)
{
	struct locksnap *s = *state;

	add_task(701, SEM, RAW_RCU_PART);
	struct raw_blocked *r = add_task(702, SEM, RAW_RCU_PART);
	r->frames[0] = RCU_SYNC;
	r->frames[1] = CALLER;
	r->bytes = 16;
	fill(s, true);
	assert_int_equal(s->n_queues, 1);
	assert_int_equal(s->n_waiters, 1);
	assert_int_equal(s->queues[0].type, LOCKSNAP_PCPU);
	assert_int_equal(s->queues[0].addr, SEM);
	assert_int_equal(s->queues[0].certainty, LOCKSNAP_NOBODY);
	assert_int_equal(s->waiters[0].tid, 702);
	assert_int_equal(s->waiters[0].part, LOCKSNAP_RCU);
	assert_int_equal(s->waiters[0].ran_ns, 1000);
	assert_int_equal(s->waiters[0].switches, 5);
	assert_int_equal(s->waiters[0].reader, 0);
	assert_int_equal(s->waiters[0].n_frames, 1);
	assert_int_equal(s->frames[s->waiters[0].frame], CALLER);
	assert_int_equal(s->frames[s->blocked[1].frame], RCU_SYNC);
}

static void without_functions_nothing_waits_for_rcu(void **state)
{
	struct locksnap *s = *state;

	add_task(702, SEM, RAW_RCU_PART)->frames[0] = RCU_SYNC;
	fill(s, false);
	assert_int_equal(s->n_queues, 0);
	assert_int_equal(s->n_blocked, 1);
}

static void all_wait_for_the_writer_that_waits_for_readers(void **state)
{
	struct locksnap *s = *state;

	add_task(701, SEM, RAW_READS_PART);
	add_task(702, 0, RAW_NO_PART);
	add_task(703, SEM, RAW_READERS_PART);
	add_task(704, SEM, RAW_WRITES_PART);
	add_task(705, SEM + 8, RAW_READERS_PART);
	fill(s, false);
	assert_int_equal(s->n_queues, 2);
	assert_int_equal(s->n_waiters, 4);
	const struct locksnap_queue *q = &s->queues[0];
	assert_int_equal(q->readers_waiting, 1);
	assert_int_equal(q->writers_waiting, 2);
	assert_int_equal(q->certainty, LOCKSNAP_SURE);
	assert_int_equal(q->holder_tid, 703);
	assert_int_equal(q->holder_state, LOCKSNAP_ASLEEP);
	assert_int_equal(s->frames[q->holder_frame], CALLER);
	assert_int_equal(s->queues[1].holder_tid, 705);
	static const uint32_t parts[] = {LOCKSNAP_NO_PART, LOCKSNAP_READERS_PART, LOCKSNAP_NO_PART};
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(s->waiters[i].queue, 0);
		assert_int_equal(s->waiters[i].position, i + 1);
		assert_int_equal(s->waiters[i].part, parts[i]);
		assert_int_equal(s->waiters[i].reader, i == 0);
	}
}

static void put_keeper(int tid, uint64_t vma, uint64_t ran)
{
	struct raw_keeper *k = &keepers[n_keepers++];

	*k = (struct raw_keeper){.vma = vma,
				 .pid = 800,
				 .tid = tid,
				 .cpu = 1,
				 .ran = ran,
				 .comm = "fault",
				 .bytes = 16,
				 .frames = {CALLER, CALLER + 8}};
}

static struct raw_blocked *change(int tid)
{
	struct raw_blocked *r = add_task(tid, VMA, RAW_NO_PART);

	r->mm = MM;
	r->start = 0x7f0000001000;
	r->past = 0x7f0000003000;
	return r;
}

static void who_keeps_a_mapping_is_evidence(void **state)
{
	struct locksnap *s = *state;

	change(701);
	put_keeper(802, VMA, 900);
	put_keeper(803, VMA, 500);
	put_keeper(804, VMA + 8, 100);
	fill(s, false);
	assert_int_equal(s->n_queues, 1);
	const struct locksnap_queue *q = &s->queues[0];
	assert_int_equal(q->type, LOCKSNAP_VMA_LOCK);
	assert_true(vmalock_is(q->addr));
	assert_int_equal(q->addr, vmalock_addr(MM, 0x7f0000001000));
	assert_int_equal(q->certainty, LOCKSNAP_EVIDENCE);
	assert_int_equal(q->holder_tid, 803); /* asleep for longest */
	assert_int_equal(q->n_evident, 2);
	assert_int_equal(s->n_readers, 2);
	assert_int_equal(s->readers[1].tid, 802);
	assert_int_equal(s->readers[1].n_frames, 2);
	assert_int_equal(s->n_names, 1);
	assert_int_equal(s->names[0].kind, LOCKSNAP_VMA);
	assert_int_equal(s->names[0].pid, 700);
	assert_string_equal(locksnap_text(s, s->names[0].comm), "agent");
	assert_int_equal(s->names[0].past, 0x7f0000003000);
}

static void a_mapping_of_others_has_their_name(void **state)
{
	struct locksnap *s = *state;

	change(701)->is_foreign = 1;
	put_keeper(803, VMA, 500);
	fill(s, false);
	assert_int_equal(s->names[0].pid, 800);
	assert_string_equal(locksnap_text(s, s->names[0].comm), "fault");
}

static void frames_that_failed_are_none(void **state)
{
	struct locksnap *s = *state;

	change(701)->bytes = -14;
	put_keeper(803, VMA, 500);
	keepers[0].bytes = -14;
	fill(s, true);
	assert_int_equal(s->waiters[0].n_frames, 0);
	assert_int_equal(s->readers[0].n_frames, 0);
	assert_int_equal(s->queues[0].holder_tid, 803);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(only_calls_show_who_waits_for_rcu),
		TEST(without_functions_nothing_waits_for_rcu),
		TEST(all_wait_for_the_writer_that_waits_for_readers),
		TEST(who_keeps_a_mapping_is_evidence),
		TEST(a_mapping_of_others_has_their_name),
		TEST(frames_that_failed_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
