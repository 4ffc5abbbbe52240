// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stolen locks: what reports of holders prove, and what they do not. Random streams come from locks
 * that are played in full, where it is known who took them how: no more counts than was stolen, and
 * exactly what a plain account of all reports proves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/event.h"
#include "kontend/holdrec.h"
#include "kontend/limits.h"
#include "kontend/lock.h"
#include "kontend/lockqueue.h"
#include "kontend/locktype.h"
#include "kontend/map64.h"
#include "kontend/model.h"
#include "kontend/record.h"
#include "kontend/shorts.h"
#include "kontend/shortsnap.h"
#include "kontend/waitrec.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define START (1000 * MS)
#define LOCK 0xffff888033333300ull

static const uint64_t frames[] = {0xffffffff81000010, 0xffffffff81000020};

static int setup(void **state)
{
	struct record_host host = {.targets = "all CPUs"};
	struct model_limits limits = model_limits_of(0);
	struct model *m = calloc(1, sizeof(*m));

	limits.held = model_limits_held(0);
	*state = m;
	if (!m || model_init(m, &limits) < 0)
		return -1;
	model_host(m, &host);
	return 0;
}

static int teardown(void **state)
{
	model_deinit(*state);
	free(*state);
	return 0;
}

static void begin_as(struct model *m, uint64_t t, int tid, uint32_t flags, int owner,
		     enum waitrec_owner is)
{
	const struct event ev = {
		.kind = EVENT_CONTENTION_BEGIN,
		.time = START + t * MS,
		.pid = 700,
		.tid = tid,
		.begin = {.lock = LOCK,
			  .flags = flags,
			  .frames = frames,
			  .n_frames = 2,
			  .owner = is,
			  .owner_pid = owner ? 700 : 0,
			  .owner_tid = owner},
	};

	assert_int_equal(model_apply(m, &ev), 0);
}

/* A task begins to wait, and the lock's word names @owner; 0: no task. */
static void begin(struct model *m, uint64_t t, int tid, uint32_t flags, int owner, bool reads)
{
	begin_as(m, t, tid, flags, owner, reads ? WAITREC_READ : WAITREC_OWNED);
}

/* A record of a holder: it has the lock, or the lock is free and it is the next to take it. */
static void emit_holder(struct model *m, uint64_t t, int tid, enum holdrec_what what)
{
	const struct event ev = {.kind = EVENT_HOLDER,
				 .time = START + t * MS,
				 .pid = 700,
				 .tid = tid,
				 .holder = {.lock = LOCK,
					    .what = (uint8_t)what,
					    .state = HOLDREC_RUNNING,
					    .comm = "holder"}};

	assert_int_equal(model_apply(m, &ev), 0);
}

static void end(struct model *m, uint64_t t, int tid)
{
	const struct event ev = {.kind = EVENT_CONTENTION_END,
				 .time = START + t * MS,
				 .pid = 700,
				 .tid = tid,
				 .end = {.lock = LOCK}};

	assert_int_equal(model_apply(m, &ev), 0);
}

static void lose(struct model *m, uint64_t t)
{
	const struct event ev = {.kind = EVENT_LOST,
				 .time = START + t * MS,
				 .lost = {.n = 1, .until = START + t * MS}};

	assert_int_equal(model_apply(m, &ev), 0);
}

static uint64_t stolen(const struct model *m)
{
	for (int type = 0; type < LOCK_TYPES; type++) {
		const uint32_t *at = map64_get(&m->locks->index, lock_key(LOCK, type));
		if (at && m->locks->locks[*at].queue)
			return lockqueue_all(&m->queues->v[m->locks->locks[*at].queue]).stolen;
	}
	return 0;
}

/* 701 and 702 wait for 801. */
static void two_wait(struct model *m)
{
	begin(m, 1, 701, LCB_F_WRITE, 801, false);
	begin(m, 2, 702, LCB_F_WRITE, 801, false);
}

static void a_holder_that_never_waited_has_stolen_it(void **state)
{
	struct model *m = *state;

	two_wait(m);
	begin(m, 3, 703, LCB_F_WRITE, 801, false);
	assert_int_equal(stolen(m), 0);
	begin(m, 4, 704, LCB_F_WRITE, 802, false);
	assert_int_equal(stolen(m), 1);
	begin(m, 5, 705, LCB_F_WRITE, 802, false);
	assert_int_equal(stolen(m), 1); /* the same, as far as is known */
	begin(m, 6, 706, LCB_F_WRITE, 801, false);
	assert_int_equal(stolen(m), 2);
	assert_int_equal(lockqueue_all(&m->queues->v[1]).passed, 0);
}

static void a_lock_that_is_free_is_stolen_as_well(void **state)
{
	struct model *m = *state;

	two_wait(m);
	begin(m, 3, 703, LCB_F_WRITE, 0, false);
	begin(m, 4, 704, LCB_F_WRITE, 801, false);
	assert_int_equal(stolen(m), 1);
	end(m, 5, 701);
	begin(m, 6, 705, LCB_F_WRITE, 802, false); /* after the end of 701's wait */
	assert_int_equal(stolen(m), 2);
}

/* The word of the lock is free, and the first in its queue is the next to take it. */
static void a_lock_that_is_handed_over_is_stolen_as_well(void **state)
{
	struct model *m = *state;

	two_wait(m);
	begin_as(m, 3, 703, LCB_F_WRITE, 701, WAITREC_HANDED);
	begin(m, 4, 704, LCB_F_WRITE, 801, false); /* the same task took it again */
	assert_int_equal(stolen(m), 1);
	emit_holder(m, 5, 701, HOLDREC_HANDED);
	emit_holder(m, 6, 801, HOLDREC_SEEN);
	assert_int_equal(stolen(m), 2);
	emit_holder(m, 7, 701, HOLDREC_HANDED);
	emit_holder(m, 8, 701, HOLDREC_SEEN); /* it has waited for it */
	end(m, 9, 701);
	assert_int_equal(stolen(m), 2);
}

static void a_holder_that_waited_has_not_stolen_it(void **state)
{
	struct model *m = *state;

	two_wait(m);
	begin(m, 3, 703, LCB_F_WRITE, 702, false); /* 702 has it, and its wait is not over yet */
	end(m, 4, 702);
	begin(m, 5, 704, LCB_F_WRITE, 702, false);
	end(m, 6, 701);
	begin(m, 7, 705, LCB_F_WRITE, 701, false);
	assert_int_equal(stolen(m), 0);
}

/* 801 had it before any of those that wait did, or the holder before is not known. */
static void nothing_counts_without_a_wait_older_than_two_reports(void **state)
{
	struct model *m = *state;

	two_wait(m);
	end(m, 3, 701);
	end(m, 4, 702);
	begin(m, 5, 701, LCB_F_WRITE, 802, false);
	begin(m, 6, 702, LCB_F_WRITE, 802, false);
	assert_int_equal(stolen(m), 0);
}

static void readers_steal_from_writers_alone(void **state)
{
	struct model *m = *state;

	begin(m, 1, 701, LCB_F_READ, 801, false);
	begin(m, 2, 702, LCB_F_READ, 801, false);
	begin(m, 3, 703, LCB_F_READ, 802, true);
	assert_int_equal(stolen(m), 0); /* readers have it, and more are let in */
	begin(m, 4, 704, LCB_F_WRITE, 802, true);
	begin(m, 5, 705, LCB_F_READ, 803, true);
	assert_int_equal(stolen(m), 1); /* passes over 704 */
	end(m, 6, 703);
	begin(m, 7, 706, LCB_F_READ, 703, true); /* let in, and named a while after */
	assert_int_equal(stolen(m), 1);
	begin(m, 8, 707, LCB_F_READ, 804, false); /* a writer passes over all */
	assert_int_equal(stolen(m), 2);
}

static void nothing_counts_where_a_wait_may_be_missing(void **state)
{
	struct record_host host = {.targets = "pid 700"};
	struct model *m = *state;

	two_wait(m);
	lose(m, 3);
	begin(m, 4, 703, LCB_F_WRITE, 802, false);
	assert_int_equal(stolen(m), 0);
	begin(m, 5, 704, LCB_F_WRITE, 802, false);
	begin(m, 6, 708, LCB_F_WRITE, 802, false); /* the queue of before was given up */
	begin(m, 6, 705, LCB_F_WRITE, 803, false);
	assert_int_equal(stolen(m), 1);
	end(m, 7, 804); /* it waited since before there were events */
	begin(m, 8, 706, LCB_F_WRITE, 804, false);
	assert_int_equal(stolen(m), 1);
	assert_true(lockqueue_sees_stealing(m));
	model_host(m, &host);
	assert_false(lockqueue_sees_stealing(m));
	begin(m, 9, 707, LCB_F_WRITE, 805, false);
	assert_int_equal(stolen(m), 1);
}

/* The shortest waits are only summed up: 802 may have waited unseen, but less than that. */
static void a_wait_must_be_older_than_those_that_are_not_reported(void **state)
{
	struct model *m = *state;

	m->shorts->head.most_ns = 10 * MS;
	two_wait(m);
	begin(m, 8, 703, LCB_F_WRITE, 802, false);
	assert_int_equal(stolen(m), 0);
	begin(m, 20, 704, LCB_F_WRITE, 802, false);
	begin(m, 30, 705, LCB_F_WRITE, 803, false);
	assert_int_equal(stolen(m), 1);
	m->shorts->head.spent_ns[SHORTSNAP_COUNTS] = 1;
	assert_false(lockqueue_sees_stealing(m));
}

static void zero_and_copies_begin_with_what_is_known(void **state)
{
	struct model *m = *state, copy;

	two_wait(m);
	begin(m, 3, 703, LCB_F_WRITE, 802, false);
	model_tick(m, START + 4 * MS);
	assert_int_equal(stolen(m), 1);
	assert_int_equal(model_copy(&copy, m), 0);
	model_zero(m);
	assert_int_equal(stolen(m), 0);
	begin(m, 5, 704, LCB_F_WRITE, 803, false);
	begin(&copy, 5, 704, LCB_F_WRITE, 803, false);
	assert_int_equal(stolen(m), 1);
	assert_int_equal(stolen(&copy), 2);
	model_deinit(&copy);
}

/* A lock that is played: who has it, how it was taken, and who waits since when. */
enum { TASKS = 40, STEPS = 120000 };

struct game {
	int holder; /* -1: none */
	int n_waiting;
	uint64_t since[TASKS]; /* 0: does not wait */
	/* The last report, or hand-over to a task that waited: of which moment, and whose. */
	uint64_t reported;
	int told_who;
	bool by_wait; /* the holder has waited for it */
	uint64_t stolen, proved;
};

static bool one_waits_since(const struct game *g, uint64_t t)
{
	for (int i = 0; i < TASKS; i++)
		if (g->since[i] && g->since[i] <= t)
			return true;
	return false;
}

static void play_report(struct game *g, uint64_t now)
{
	if (g->holder >= 0 && g->reported && g->told_who != g->holder && !g->by_wait &&
	    one_waits_since(g, g->reported))
		g->proved++;
	g->reported = now;
	g->told_who = g->holder;
}

static void play_take(struct model *m, struct game *g, int i, uint64_t now)
{
	g->by_wait = g->since[i] != 0;
	g->holder = i;
	if (!g->since[i]) {
		g->stolen += g->n_waiting > 0;
		return;
	}
	g->since[i] = 0;
	g->n_waiting--;
	end(m, now, 701 + i);
	g->reported = g->n_waiting ? now : 0;
	g->told_who = i;
}

/* The first in the queue; -1: no task waits. */
static int first_waits(const struct game *g)
{
	int first = -1;

	for (int i = 0; i < TASKS; i++)
		if (g->since[i] && (first < 0 || g->since[i] < g->since[first]))
			first = i;
	return first;
}

static void play_begin(struct model *m, struct game *g, int i, uint64_t now)
{
	int next = g->holder < 0 ? first_waits(g) : -1;

	if (next >= 0)
		begin_as(m, now, 701 + i, LCB_F_WRITE, 701 + next, WAITREC_HANDED);
	else
		begin(m, now, 701 + i, LCB_F_WRITE, g->holder < 0 ? 0 : 701 + g->holder, false);
}

static void play_step(struct model *m, struct game *g, unsigned *seed, uint64_t now)
{
	int i = rand_r(seed) % (now / 5000 % 2 ? TASKS : 5);

	if (g->n_waiting && rand_r(seed) % 4 == 0) {
		emit_holder(m, now, 701 + (g->holder < 0 ? first_waits(g) : g->holder),
			    g->holder < 0 ? HOLDREC_HANDED : HOLDREC_SEEN);
		play_report(g, now);
	} else if (g->holder == i) {
		g->holder = -1;
	} else if (g->holder < 0 && (g->since[i] || rand_r(seed) % 3 == 0)) {
		play_take(m, g, i, now);
	} else if (!g->since[i]) {
		play_begin(m, g, i, now);
		g->since[i] = now;
		g->n_waiting++;
		play_report(g, now);
	}
}

static void random_streams_count_what_is_proved(void **state)
{
	struct model *m = *state;
	struct game g = {.holder = -1};
	unsigned seed = 5;
	bool is_queue = false;

	for (uint64_t now = 1; now <= STEPS; now++) {
		play_step(m, &g, &seed, now);
		/* There is a queue from when two wait at a time: what was before is not looked at.
		 */
		if (!is_queue && g.n_waiting < 2)
			g.reported = g.proved = g.stolen = 0;
		if (!is_queue && g.n_waiting == 2) {
			is_queue = true;
			g.proved = 0;
		}
		if (now % 100 == 0)
			model_tick(m, START + now * MS);
		assert_int_equal(stolen(m), g.proved);
		assert_true(g.proved <= g.stolen);
	}
	print_message("%u proved of %u\n", (unsigned)g.proved, (unsigned)g.stolen);
	assert_true(g.proved > 50 && g.proved < g.stolen);
}

int main(void)
{
#define ON_MODEL(TEST) cmocka_unit_test_setup_teardown(TEST, setup, teardown)
	const struct CMUnitTest tests[] = {
		ON_MODEL(a_holder_that_never_waited_has_stolen_it),
		ON_MODEL(a_lock_that_is_free_is_stolen_as_well),
		ON_MODEL(a_lock_that_is_handed_over_is_stolen_as_well),
		ON_MODEL(a_holder_that_waited_has_not_stolen_it),
		ON_MODEL(nothing_counts_without_a_wait_older_than_two_reports),
		ON_MODEL(readers_steal_from_writers_alone),
		ON_MODEL(nothing_counts_where_a_wait_may_be_missing),
		ON_MODEL(a_wait_must_be_older_than_those_that_are_not_reported),
		ON_MODEL(zero_and_copies_begin_with_what_is_known),
		ON_MODEL(random_streams_count_what_is_proved),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
