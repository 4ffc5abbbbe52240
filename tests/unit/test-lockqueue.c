// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues of locks in time: overtaken tasks, phases, convoys, starved waits, times of hand-overs;
 * none includes doubtful or lost waits; and random streams against a plain account
 * that looks at every waiting task at every step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/damage.h"
#include "kontend/event.h"
#include "kontend/hist.h"
#include "kontend/limits.h"
#include "kontend/lock.h"
#include "kontend/lockqueue.h"
#include "kontend/locktype.h"
#include "kontend/map64.h"
#include "kontend/model.h"
#include "kontend/record.h"
#include "kontend/series.h"
#include "kontend/task.h"
#include "kontend/wait.h"

#include <stdlib.h>

#define MS 1000000ull
#define START (1000 * MS)
#define LOCK(i) (0xffff888033333300ull + (uint64_t)(i)*0x100)

static const uint64_t frames[] = {0xffffffff81000010, 0xffffffff81000020};

static int setup(void **state)
{
	struct model_limits limits = model_limits_of(0);
	struct model *m = calloc(1, sizeof(*m));

	limits.held = model_limits_held(0);
	*state = m;
	return m ? model_init(m, &limits) : -1;
}

static int teardown(void **state)
{
	model_deinit(*state);
	free(*state);
	return 0;
}

static void begin_on(struct model *m, uint64_t t, int tid, uint64_t lock, uint32_t flags)
{
	const struct event ev = {
		.kind = EVENT_CONTENTION_BEGIN,
		.time = START + t * MS,
		.pid = 700,
		.tid = tid,
		.begin = {.lock = lock, .flags = flags, .frames = frames, .n_frames = 2},
	};

	assert_int_equal(model_apply(m, &ev), 0);
}

static void end_on(struct model *m, uint64_t t, int tid, uint64_t lock, int ret)
{
	const struct event ev = {.kind = EVENT_CONTENTION_END,
				 .time = START + t * MS,
				 .pid = 700,
				 .tid = tid,
				 .end = {.lock = lock, .ret = ret}};

	assert_int_equal(model_apply(m, &ev), 0);
}

static void begin(struct model *m, uint64_t t, int tid, uint32_t flags)
{
	begin_on(m, t, tid, LOCK(0), flags);
}

static void end(struct model *m, uint64_t t, int tid)
{
	end_on(m, t, tid, LOCK(0), 0);
}

static const struct lockqueue *queue_at(const struct model *m, uint64_t addr)
{
	for (int type = LOCK_RWSEM_R; type <= LOCK_MUTEX; type++) {
		const uint32_t *at = map64_get(&m->locks->index, lock_key(addr, type));
		if (at && m->locks->locks[*at].queue)
			return &m->queues->v[m->locks->locks[*at].queue];
	}
	return NULL;
}

static struct lockqueue_sums sums(const struct model *m)
{
	assert_non_null(queue_at(m, LOCK(0)));
	return lockqueue_all(queue_at(m, LOCK(0)));
}

static const struct lockqueue *queue(const struct model *m)
{
	assert_non_null(queue_at(m, LOCK(0)));
	return queue_at(m, LOCK(0));
}

/* The wait in flight of a task. */
static const struct wait *wait_of(const struct model *m, int tid)
{
	for (uint32_t i = 1; i < m->waits->high; i++)
		if (m->waits->waits[i].used && m->tasks->tasks[m->waits->waits[i].task].tid == tid)
			return &m->waits->waits[i];
	fail_msg("%d does not wait", tid);
	return NULL;
}

static void one_at_a_time_is_no_queue(void **state)
{
	struct model *m = *state;

	begin(m, 1, 701, LCB_F_WRITE);
	end(m, 5, 701);
	begin(m, 6, 702, LCB_F_READ);
	end(m, 7, 702);
	begin_on(m, 8, 701, LOCK(1), LCB_F_WRITE);
	begin_on(m, 8, 702, LOCK(2), LCB_F_WRITE);
	assert_int_equal(m->queues->in_use, 0);
	begin_on(m, 9, 703, LOCK(2), LCB_F_READ);
	assert_int_equal(m->queues->in_use, 1);
	assert_int_equal(queue_at(m, LOCK(2))->n[LOCKQUEUE_R], 1);
	assert_int_equal(queue_at(m, LOCK(2))->n[LOCKQUEUE_W], 1);
}

/* The first two that wait at a time make a queue; hand-overs and convoys count from the beginning.
 */
static void a_queue_has_what_was_before(void **state)
{
	struct model *m = *state;

	begin(m, 1, 701, LCB_F_READ);
	end(m, 2, 701);
	begin(m, 3, 702, LCB_F_READ);
	end(m, 18, 702); /* 15 ms */
	begin(m, 20, 701, LCB_F_WRITE);
	end(m, 21, 701);
	begin(m, 22, 702, LCB_F_WRITE);
	end_on(m, 52, 702, LOCK(0), -4); /* 30 ms, and it fails */
	begin(m, 60, 701, LCB_F_WRITE);
	begin(m, 61, 702, LCB_F_READ);
	end(m, 62, 701);
	end(m, 63, 702);
	assert_int_equal(sums(m).handed[LOCKQUEUE_R], 3);
	assert_int_equal(sums(m).handed[LOCKQUEUE_W], 2);
	assert_int_equal(sums(m).phases[LOCKQUEUE_R], 2);
	assert_int_equal(sums(m).phases[LOCKQUEUE_W], 1); /* it is not over */
	assert_int_equal(sums(m).phase_most, 2);
	assert_int_equal(sums(m).convoys, 2);
	assert_int_equal(sums(m).convoy_ns, 45 * MS);
	assert_int_equal(sums(m).convoy_longest_ns, 30 * MS);
	model_zero(m);
	begin_on(m, 70, 701, LOCK(1), LCB_F_WRITE);
	end_on(m, 71, 701, LOCK(1), 0);
	model_zero(m);
	begin_on(m, 72, 701, LOCK(1), LCB_F_WRITE);
	begin_on(m, 73, 702, LOCK(1), LCB_F_WRITE);
	end_on(m, 74, 701, LOCK(1), 0);
	assert_int_equal(lockqueue_all(queue_at(m, LOCK(1))).handed[LOCKQUEUE_W], 1);
}

static void who_came_first_and_got_it_later_was_passed_over(void **state)
{
	struct model *m = *state;

	begin(m, 1, 701, LCB_F_WRITE);
	begin(m, 2, 702, LCB_F_WRITE);
	begin(m, 3, 703, LCB_F_WRITE);
	end(m, 4, 703);
	end(m, 5, 702);
	assert_int_equal(lockqueue_wait(m, wait_of(m, 701)).passed, 2);
	assert_int_equal(lockqueue_wait(m, wait_of(m, 701)).handed, 2);
	assert_int_equal(sums(m).passed, 1); /* 702; what goes on is not in it yet */
	end(m, 30, 701);
	assert_int_equal(sums(m).passed, 3);
	assert_int_equal(sums(m).passed_waits, 2);
	assert_int_equal(sums(m).passed_most.n, 2);
	assert_int_equal(sums(m).passed_most.ns, 29 * MS);
	assert_int_equal(sums(m).passed_longest_ns, 29 * MS);
	assert_int_equal(m->tasks->tasks[sums(m).passed_most.task].tid, 701);
	assert_int_equal(sums(m).handed[LOCKQUEUE_W], 3);
	assert_int_equal(sums(m).longest, 3);
}

static void readers_pass_over_writers_alone(void **state)
{
	struct model *m = *state;

	begin(m, 1, 701, LCB_F_READ);
	begin(m, 2, 702, LCB_F_WRITE);
	begin(m, 3, 703, LCB_F_READ);
	begin(m, 4, 704, LCB_F_WRITE);
	end(m, 5, 703); /* passes over 702, not 701 */
	end(m, 6, 704); /* passes over both */
	assert_int_equal(lockqueue_wait(m, wait_of(m, 701)).passed, 1);
	assert_int_equal(lockqueue_wait(m, wait_of(m, 702)).passed, 2);
	end(m, 7, 701);
	end(m, 8, 702);
	assert_int_equal(sums(m).passed, 3);
	assert_int_equal(sums(m).passed_waits, 2);
}

static void phases_are_runs_of_a_mode(void **state)
{
	static const uint32_t modes[] = {LCB_F_READ, LCB_F_READ, LCB_F_WRITE, LCB_F_READ,
					 LCB_F_READ, LCB_F_READ, LCB_F_WRITE, LCB_F_WRITE};
	struct model *m = *state;

	for (int i = 0; i < 8; i++)
		begin(m, 1, 701 + i, modes[i]);
	for (int i = 0; i < 8; i++)
		end(m, 2 + i, 701 + i);
	assert_int_equal(sums(m).phases[LOCKQUEUE_R], 2);
	assert_int_equal(sums(m).phases[LOCKQUEUE_W], 2);
	assert_int_equal(sums(m).handed[LOCKQUEUE_R], 5);
	assert_int_equal(sums(m).phase_most, 3);
}

static void convoys_last_until_nobody_waits(void **state)
{
	struct model *m = *state;

	begin(m, 1, 701, LCB_F_WRITE);
	begin(m, 2, 702, LCB_F_WRITE);
	end(m, 5, 701);
	end(m, 11, 702); /* 10 ms: no longer than that */
	assert_int_equal(sums(m).convoys, 0);
	begin(m, 20, 701, LCB_F_WRITE);
	begin(m, 25, 702, LCB_F_WRITE);
	end(m, 26, 701);
	begin(m, 30, 701, LCB_F_WRITE);
	end(m, 32, 702);
	end(m, 51, 701);
	assert_int_equal(sums(m).convoys, 1);
	assert_int_equal(sums(m).convoy_ns, 31 * MS);
	assert_int_equal(sums(m).convoy_longest_ns, 31 * MS);
	begin(m, 60, 701, LCB_F_WRITE);
	assert_int_equal(queue_at(m, LOCK(0))->busy_ns, START + 60 * MS);
}

static void who_waits_for_many_hand_overs_starves(void **state)
{
	struct model *m = *state;
	uint64_t t = 2;

	begin(m, 1, 701, LCB_F_WRITE);
	for (int i = 0; i < LOCKQUEUE_STARVED; i++, t += 2) {
		begin(m, t, 702, LCB_F_READ);
		end(m, t + 1, 702);
	}
	end(m, t, 701);
	assert_int_equal(sums(m).starved, 0);
	begin(m, ++t, 701, LCB_F_WRITE);
	for (int i = 0; i <= LOCKQUEUE_STARVED; i++, t += 2) {
		begin(m, t, 702, LCB_F_READ);
		end(m, t + 1, 702);
	}
	end(m, t + 5, 701);
	assert_int_equal(sums(m).starved, 1);
	assert_int_equal(sums(m).starved_most.n, LOCKQUEUE_STARVED + 1);
	assert_int_equal(sums(m).passed_most.n, LOCKQUEUE_STARVED + 1);
	assert_int_equal(m->tasks->tasks[sums(m).starved_most.task].tid, 701);
}

static void who_fails_has_passed_over_nobody(void **state)
{
	struct model *m = *state;

	begin(m, 1, 701, LCB_F_WRITE);
	begin(m, 2, 702, LCB_F_WRITE);
	begin(m, 3, 703, LCB_F_WRITE);
	end_on(m, 4, 703, LOCK(0), -4);
	end(m, 5, 702);
	end_on(m, 6, 701, LOCK(0), -4);
	assert_int_equal(sums(m).handed[LOCKQUEUE_W], 1);
	assert_int_equal(sums(m).passed, 1); /* 701 waited while 702 got it */
	assert_int_equal(queue_at(m, LOCK(0))->n[LOCKQUEUE_W], 0);
}

static void lose(struct model *m, uint64_t t)
{
	const struct record_drop drop = {.records = 1};

	model_round(m, START + t * MS);
	model_drop(m, &drop);
	for (int i = 0; i < 4; i++)
		model_settle(m, START + t * MS);
}

static void what_is_doubtful_counts_in_nothing(void **state)
{
	struct model *m = *state;

	begin(m, 1, 701, LCB_F_WRITE);
	begin(m, 2, 702, LCB_F_WRITE);
	lose(m, 20);
	assert_int_equal(queue_at(m, LOCK(0))->n[LOCKQUEUE_W], 0);
	assert_int_equal(sums(m).convoys, 1); /* up to the loss a task waited */
	assert_int_equal(sums(m).convoy_ns, 19 * MS);
	end(m, 21, 702);
	end(m, 22, 701);
	assert_int_equal(sums(m).passed, 0);
	assert_int_equal(sums(m).handed[LOCKQUEUE_W], 0);
	begin(m, 30, 701, LCB_F_READ);
	begin(m, 31, 702, LCB_F_READ);
	end(m, 32, 701);
	lose(m, 33);
	begin(m, 34, 703, LCB_F_READ);
	end(m, 35, 703);
	assert_int_equal(sums(m).phases[LOCKQUEUE_R], 2); /* who knows what was in between */
	end(m, 36, 702);
	begin(m, 37, 703, LCB_F_READ);
	end(m, 38, 703);
	assert_int_equal(sums(m).phases[LOCKQUEUE_R], 3); /* 702, in doubt, ended one */
}

/* The end of 701 was not reported: when it left is unknown, and so is since when others wait. */
static void who_lost_its_end_is_in_no_queue(void **state)
{
	struct model *m = *state;

	begin(m, 1, 701, LCB_F_WRITE);
	begin(m, 2, 702, LCB_F_WRITE);
	begin(m, 3, 703, LCB_F_WRITE);
	end(m, 4, 703);
	begin(m, 40, 701, LCB_F_WRITE); /* again */
	assert_int_equal(m->damage->unmatched_begin, 1);
	assert_int_equal(queue_at(m, LOCK(0))->n[LOCKQUEUE_W], 2);
	assert_int_equal(queue_at(m, LOCK(0))->busy_ns, START + 2 * MS);
	assert_int_equal(sums(m).passed, 0);
	end(m, 41, 702);
	end(m, 42, 701);
	assert_int_equal(sums(m).passed, 1); /* 702, by 703 */
	assert_int_equal(sums(m).convoys, 1);
	assert_int_equal(sums(m).convoy_ns, 40 * MS);
}

static void release(struct model *m, uint64_t t, int tid)
{
	const struct event ev = {.kind = EVENT_RELEASE,
				 .time = START + t * MS,
				 .pid = 700,
				 .tid = tid,
				 .release = {.lock = LOCK(0)}};

	assert_int_equal(model_apply(m, &ev), 0);
}

/* release.c decides which releases are a hand-over: see test-release. */
static void hand_overs_have_times_where_releases_are_told(void **state)
{
	struct model *m = *state;

	begin(m, 1, 701, LCB_F_WRITE);
	begin(m, 2, 702, LCB_F_WRITE);
	begin(m, 3, 703, LCB_F_WRITE);
	end(m, 10, 701);
	assert_int_equal(queue(m)->times_n, 0);
	assert_null(m->queues->hists.groups);
	release(m, 20, 701);
	end(m, 22, 702);
	release(m, 30, 702);
	end(m, 38, 703);
	assert_int_equal(queue(m)->times_n, 2);
	assert_int_equal(queue(m)->times_min_ns, 2 * MS);
	assert_int_equal(queue(m)->times_max_ns, 8 * MS);
	struct hist hist = {0};
	hist_pool_sum(&m->queues->hists, queue(m)->times, &hist);
	assert_int_equal(hist.n, 2);
	begin(m, 40, 701, LCB_F_WRITE);
	begin(m, 41, 702, LCB_F_WRITE);
	release(m, 42, 703);
	lose(m, 43);
	end(m, 44, 701); /* in doubt */
	assert_int_equal(queue(m)->times_n, 2);
}

static void buckets_have_the_longest_queue(void **state)
{
	struct model *m = *state;

	begin(m, 1, 701, LCB_F_WRITE);
	begin(m, 2, 702, LCB_F_READ);
	begin(m, 3, 703, LCB_F_READ);
	end(m, 4, 703);
	model_tick(m, START + 10 * MS);
	end(m, 11, 702);
	model_tick(m, START + 20 * MS);
	end(m, 21, 701);
	model_tick(m, START + 30 * MS);
	model_tick(m, START + 40 * MS);
	const uint32_t expected[4][3] = {{1, 2, 1}, {1, 1, 1}, {1, 0, 1}, {0, 0, 0}};
	for (unsigned i = 0; i < 4; i++) {
		struct lockqueue_bucket b = lockqueue_bucket(
			series_at(&queue_at(m, LOCK(0))->series, m->n_ticks, 3 - i));
		assert_int_equal(b.n[LOCKQUEUE_W], expected[i][0]);
		assert_int_equal(b.n[LOCKQUEUE_R], expected[i][1]);
		assert_int_equal(b.handed, expected[i][2]);
	}
}

static void zero_begins_anew_and_copies_go_on(void **state)
{
	struct model *m = *state, copy;

	begin(m, 1, 701, LCB_F_WRITE);
	begin(m, 2, 702, LCB_F_WRITE);
	begin(m, 3, 703, LCB_F_WRITE);
	end(m, 4, 703);
	release(m, 5, 703);
	end(m, 6, 702);
	model_tick(m, START + 7 * MS);
	assert_int_equal(model_copy(&copy, m), 0);
	model_zero(m);
	assert_int_equal(sums(m).handed[LOCKQUEUE_W], 0);
	assert_int_equal(queue(m)->times_n, 0);
	assert_int_equal(sums(m).longest, 1);
	end(m, 8, 701);
	assert_int_equal(sums(m).handed[LOCKQUEUE_W], 1);
	assert_int_equal(sums(m).passed, 2); /* a whole wait, as it ends now */
	assert_int_equal(sums(&copy).handed[LOCKQUEUE_W], 2);
	assert_int_equal(queue(&copy)->times_n, 1);
	assert_int_equal(queue_at(&copy, LOCK(0))->n[LOCKQUEUE_W], 1);
	end(&copy, 8, 701);
	assert_int_equal(sums(&copy).handed[LOCKQUEUE_W], 3);
	assert_int_equal(sums(&copy).passed_most.n, 2);
	assert_int_equal(queue_at(&copy, LOCK(0))->series.ticks, 1);
	model_deinit(&copy);
}

/* Locks that two wait for at a time may be any number; queues are not. */
static void queues_are_bounded_and_forgotten_with_their_locks(void **state)
{
	enum { LOCKS = 40000 };
	struct model *m = *state;
	uint64_t t = 1;

	for (int i = 0; i < LOCKS; i++, t += 4) {
		begin_on(m, t, 701, LOCK(i), i % 2 ? LCB_F_WRITE : LCB_F_READ);
		begin_on(m, t + 1, 702, LOCK(i), LCB_F_WRITE);
		end_on(m, t + 2, 702, LOCK(i), 0);
		end_on(m, t + 3, 701, LOCK(i), 0);
		if (i % 4096 == 0)
			model_tick(m, START + t * MS);
	}
	assert_int_equal(m->queues->in_use, LOCKQUEUE_MOST);
	assert_int_equal(m->queues->n, LOCKQUEUE_MOST + 1);
	assert_true(m->queues->no_room > 0);
	assert_true(lock_table_full(m->locks) || m->locks->n < LOCKS);
	uint32_t with_queue = 0;
	for (uint32_t i = 0; i < m->locks->n; i++) {
		const struct lock *l = &m->locks->locks[i];
		with_queue += l->queue != 0;
		assert_true(!l->queue || m->queues->v[l->queue].used);
		assert_true(!l->queue || !l->twin || m->locks->locks[l->twin].queue == l->queue);
	}
	assert_true(with_queue >= LOCKQUEUE_MOST);
}

/* A plain account: all waiting tasks are checked whenever a task gets the lock. */
enum { TASKS = 300, LOCKS = 3, STEPS = 30000 };

struct task_account {
	bool waits, reads, doubtful;
	int lock;
	uint64_t begin, order;
	uint32_t passed, handed;
};

struct lock_account {
	bool is_queue;
	uint32_t waiting, longest;
	uint64_t busy, handed[2], phases[2];
	int phase; /* mode; -1: none */
	uint32_t phase_n, phase_most;
	uint64_t passed, passed_waits, passed_longest, starved, convoys, convoy, convoy_longest;
	uint32_t passed_most, starved_most;
};

struct account {
	struct task_account t[TASKS];
	struct lock_account l[LOCKS];
	uint64_t order;
};

static void raise32(uint32_t *most, uint32_t n)
{
	*most = n > *most ? n : *most;
}

static void raise64(uint64_t *most, uint64_t n)
{
	*most = n > *most ? n : *most;
}

static void account_begin(struct account *a, int i, int lock, bool reads, uint64_t now)
{
	struct lock_account *l = &a->l[lock];

	a->t[i] = (struct task_account){
		.waits = true, .lock = lock, .reads = reads, .begin = now, .order = a->order++};
	if (!l->waiting++)
		l->busy = now;
	l->is_queue |= l->waiting > 1;
	raise32(&l->longest, l->waiting);
}

static void account_left(struct lock_account *l, uint64_t now)
{
	if (--l->waiting || now - l->busy <= 10)
		return;
	l->convoys++;
	l->convoy += now - l->busy;
	raise64(&l->convoy_longest, now - l->busy);
}

static void account_got(struct account *a, const struct task_account *by)
{
	struct lock_account *l = &a->l[by->lock];

	for (int k = 0; k < TASKS; k++) {
		struct task_account *t = &a->t[k];
		if (!t->waits || t->doubtful || t->lock != by->lock || t == by)
			continue;
		t->handed++;
		t->passed += t->order < by->order && !(t->reads && by->reads);
	}
	l->handed[by->reads]++;
	l->phases[by->reads] += l->phase != by->reads;
	l->phase_n = l->phase == by->reads ? l->phase_n + 1 : 1;
	l->phase = by->reads;
	if (by->reads)
		raise32(&l->phase_most, l->phase_n);
}

static void account_end(struct account *a, int i, bool got, uint64_t now)
{
	struct task_account *t = &a->t[i];
	struct lock_account *l = &a->l[t->lock];

	t->waits = false;
	if (t->doubtful) {
		l->phase = got ? -1 : l->phase;
		return;
	}
	l->passed += t->passed;
	l->passed_waits += t->passed > 0;
	raise32(&l->passed_most, t->passed);
	if (t->passed)
		raise64(&l->passed_longest, now - t->begin);
	if (t->handed > LOCKQUEUE_STARVED) {
		l->starved++;
		raise32(&l->starved_most, t->handed);
	}
	if (got)
		account_got(a, t);
	account_left(l, now);
}

static void account_lose(struct account *a, uint64_t now)
{
	for (int i = 0; i < TASKS; i++) {
		if (!a->t[i].waits || a->t[i].doubtful)
			continue;
		a->t[i].doubtful = true;
		account_left(&a->l[a->t[i].lock], now);
	}
	for (int i = 0; i < LOCKS; i++)
		a->l[i].phase = -1;
}

static void compare(const struct model *m, const struct lock_account *l, int i)
{
	const struct lockqueue *q = queue_at(m, LOCK(i));
	const struct lockqueue_sums all = lockqueue_all(q), *s = &all;

	assert_true(l->is_queue);
	assert_int_equal(q->n[LOCKQUEUE_R] + q->n[LOCKQUEUE_W], l->waiting);
	assert_int_equal(s->longest, l->longest);
	for (int mode = 0; mode < LOCKQUEUE_MODES; mode++) {
		assert_int_equal(s->handed[mode], l->handed[mode]);
		assert_int_equal(s->phases[mode], l->phases[mode]);
	}
	assert_int_equal(s->phase_most, l->phase_most);
	assert_int_equal(s->passed, l->passed);
	assert_int_equal(s->passed_waits, l->passed_waits);
	assert_int_equal(s->passed_most.n, l->passed_most);
	assert_int_equal(s->passed_longest_ns, l->passed_longest * MS);
	assert_int_equal(s->starved, l->starved);
	assert_int_equal(s->starved_most.n, l->starved_most);
	assert_int_equal(s->convoys, l->convoys);
	assert_int_equal(s->convoy_ns, l->convoy * MS);
	assert_int_equal(s->convoy_longest_ns, l->convoy_longest * MS);
}

static void compare_waits(const struct model *m, const struct account *a)
{
	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (!w->used)
			continue;
		const struct task_account *t = &a->t[m->tasks->tasks[w->task].tid - 701];
		assert_true(t->waits && t->doubtful == !w->lines_up);
		struct lockqueue_wait through = lockqueue_wait(m, w);
		assert_int_equal(through.passed, t->doubtful ? 0 : t->passed);
		assert_int_equal(through.handed, t->doubtful ? 0 : t->handed);
	}
}

/* So many wait at a time: seldom more than one, some, nearly all. */
static int pick(struct account *a, unsigned *seed, int among, bool oldest)
{
	int best = rand_r(seed) % among;

	for (int i = 0; oldest && i < among; i++)
		if (a->t[i].waits && (!a->t[best].waits || a->t[i].order < a->t[best].order))
			best = i;
	return best;
}

static void random_step(struct model *m, struct account *a, unsigned *seed, uint64_t now)
{
	static const int among[] = {3, 20, TASKS};
	int i = pick(a, seed, among[now / 1000 % 3], rand_r(seed) % 4 == 0);
	struct task_account *t = &a->t[i];

	if (rand_r(seed) % 2000 == 0) {
		lose(m, now);
		account_lose(a, now);
	} else if (!t->waits) {
		int lock = rand_r(seed) % LOCKS;
		bool reads = rand_r(seed) % 3 != 0;
		begin_on(m, now, 701 + i, LOCK(lock), reads ? LCB_F_READ : LCB_F_WRITE);
		account_begin(a, i, lock, reads, now);
	} else {
		bool got = rand_r(seed) % 8 != 0;
		end_on(m, now, 701 + i, LOCK(t->lock), got ? 0 : -4);
		account_end(a, i, got, now);
	}
}

static void random_streams_agree_with_a_plain_account(void **state)
{
	struct model *m = *state, copy;
	struct account *a = calloc(1, sizeof(*a));
	unsigned seed = 21;

	assert_non_null(a);
	for (int i = 0; i < LOCKS; i++)
		a->l[i].phase = -1;
	for (uint64_t now = 1; now <= STEPS; now++) {
		random_step(m, a, &seed, now);
		if (now % 100)
			continue;
		compare_waits(m, a);
		model_tick(m, START + now * MS);
		/* A copy continues in the same way. */
		if (now % 5000 == 0) {
			assert_int_equal(model_copy(&copy, m), 0);
			model_deinit(m);
			*m = copy;
		}
	}
	for (int i = 0; i < LOCKS; i++)
		compare(m, &a->l[i], i);
	for (int i = 0; i < LOCKS; i++)
		assert_true(a->l[i].passed > 1000 && a->l[i].starved > 100 && a->l[i].convoys > 3 &&
			    a->l[i].longest > 20);
	free(a);
}

int main(void)
{
#define ON_MODEL(TEST) cmocka_unit_test_setup_teardown(TEST, setup, teardown)
	const struct CMUnitTest tests[] = {
		ON_MODEL(one_at_a_time_is_no_queue),
		ON_MODEL(a_queue_has_what_was_before),
		ON_MODEL(who_came_first_and_got_it_later_was_passed_over),
		ON_MODEL(readers_pass_over_writers_alone),
		ON_MODEL(phases_are_runs_of_a_mode),
		ON_MODEL(convoys_last_until_nobody_waits),
		ON_MODEL(who_waits_for_many_hand_overs_starves),
		ON_MODEL(who_fails_has_passed_over_nobody),
		ON_MODEL(what_is_doubtful_counts_in_nothing),
		ON_MODEL(who_lost_its_end_is_in_no_queue),
		ON_MODEL(hand_overs_have_times_where_releases_are_told),
		ON_MODEL(buckets_have_the_longest_queue),
		ON_MODEL(zero_begins_anew_and_copies_go_on),
		ON_MODEL(queues_are_bounded_and_forgotten_with_their_locks),
		ON_MODEL(random_streams_agree_with_a_plain_account),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
