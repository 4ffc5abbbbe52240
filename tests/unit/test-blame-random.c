// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tasks that others wait for: random events against a plain account that walks from each
 * waiting task to its root in each millisecond. Also with lost ends of waits: the charged time and
 * the time that is taken out of it again are together all waiting time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blamed.h"
#include "kontend/blame.h"
#include "kontend/cell.h"
#include "kontend/event.h"
#include "kontend/holdrec.h"
#include "kontend/holds.h"

enum { TASKS = 12, LOCKS = 5, STATES = BLAME_STATES, STEPS = 6000 };

struct plain_task {
	int waits;	/* lock; -1: none */
	uint64_t since; /* order of events */
	int state;
	double own[TASKS + 1][STATES], own_sum, own_circles; /* of the wait that is not over */
};

struct plain_lock {
	int holder; /* -1: unknown */
	uint64_t since;
	int waiters;
};

struct plain {
	struct plain_task tasks[TASKS];
	struct plain_lock locks[LOCKS];
	double charged[TASKS + 1][STATES];
	uint64_t order;
	double sum, doubtful;
	double circles;
};

static bool is_blocked(const struct plain *p, int lock)
{
	int h = p->locks[lock].holder;

	return h >= 0 && p->tasks[h].waits >= 0 && p->tasks[h].since > p->locks[lock].since;
}

/* In each millisecond from a waiter to its root; a circle is charged to a task in it. */
static void count_ms(struct plain *p)
{
	for (int t = 0; t < TASKS; t++) {
		int lock = p->tasks[t].waits, steps = 0;
		if (lock < 0)
			continue;
		struct plain_task *of = &p->tasks[t];
		p->sum++;
		of->own_sum++;
		while (is_blocked(p, lock) && steps++ < LOCKS)
			lock = p->tasks[p->locks[lock].holder].waits;
		int h = p->locks[lock].holder;
		if (steps > LOCKS) {
			p->circles++;
			of->own_circles++;
			continue;
		}
		int by = h < 0 ? TASKS : h, state = h < 0 ? BLAME_UNKNOWN : p->tasks[h].state;
		p->charged[by][state]++;
		of->own[by][state]++;
	}
}

static void forget_own(struct plain_task *t)
{
	memset(t->own, 0, sizeof(t->own));
	t->own_sum = t->own_circles = 0;
}

static void plain_begin(struct plain *p, struct model *m, int t, int lock)
{
	begin(m, 701 + t, lock);
	p->tasks[t].waits = lock;
	p->tasks[t].since = ++p->order;
	forget_own(&p->tasks[t]);
	if (p->locks[lock].waiters++)
		return;
	/* The first waiter gets the owner: a task that does not wait itself. */
	int h = rand() % TASKS;
	if (h == t || p->tasks[h].waits >= 0 || rand() % 3 == 0)
		return;
	p->locks[lock].holder = h;
	p->locks[lock].since = p->order;
	owner(m, 701 + t, lock, 701 + h, false);
}

static bool holds_any(const struct plain *p, int t)
{
	for (int i = 0; i < LOCKS; i++)
		if (p->locks[i].holder == t)
			return true;
	return false;
}

/* A task without a lock is followed no more. */
static void forget_states(struct plain *p)
{
	for (int t = 0; t < TASKS; t++)
		if (!holds_any(p, t))
			p->tasks[t].state = BLAME_NOT_FOLLOWED;
}

static void plain_end(struct plain *p, struct model *m, int t, int ret)
{
	int lock = p->tasks[t].waits;

	end(m, 701 + t, lock, ret);
	p->tasks[t].waits = -1;
	p->order++;
	if (!--p->locks[lock].waiters) {
		p->locks[lock].holder = -1;
	} else if (!ret) {
		p->locks[lock].holder = t;
		p->locks[lock].since = p->order;
		p->tasks[t].state = BLAME_RUNNING;
	}
	forget_states(p);
}

static void plain_state(struct plain *p, struct model *m, int t)
{
	static const struct {
		enum holdrec_what what;
		enum holdrec_state state;
		enum blame_state means;
	} to[] = {{HOLDREC_OFF, HOLDREC_RUNNABLE, BLAME_RUNNABLE},
		  {HOLDREC_OFF, HOLDREC_ASLEEP, BLAME_ASLEEP},
		  {HOLDREC_OFF, HOLDREC_IO, BLAME_IO},
		  {HOLDREC_ON, HOLDREC_RUNNING, BLAME_RUNNING}};
	int i = rand() % 4;

	for (int l = 0; l < LOCKS; l++)
		if (p->locks[l].holder == t) {
			holder(m, 701 + t, l, to[i].what, to[i].state);
			p->tasks[t].state = to[i].means;
			return;
		}
}

static void random_step(struct plain *p, struct model *m)
{
	int t = rand() % TASKS, lock = rand() % LOCKS;

	if (rand() % 4 == 0)
		plain_state(p, m, t);
	else if (p->tasks[t].waits >= 0)
		plain_end(p, m, t, rand() % 5 == 0 ? -4 : 0);
	else if (p->locks[lock].holder != t)
		plain_begin(p, m, t, lock);
}

/* The end of the wait of @t was lost. */
static void take_back(struct plain *p, int t)
{
	struct plain_task *of = &p->tasks[t];

	for (int by = 0; by <= TASKS; by++)
		for (int s = 0; s < STATES; s++)
			p->charged[by][s] -= of->own[by][s];
	p->circles -= of->own_circles;
	p->sum -= of->own_sum;
	p->doubtful += of->own_sum;
	of->waits = -1;
}

/* Records are missing: all waits may be over, and nothing is known of any holder. */
static void lose_all(struct plain *p, struct model *m)
{
	apply(m, (struct event){.kind = EVENT_LOST, .lost = {.n = 1, .until = now()}});
	for (int t = 0; t < TASKS; t++) {
		int lock = p->tasks[t].waits;
		if (lock < 0)
			continue;
		take_back(p, t);
		end(m, 701 + t, lock, 0);
	}
	for (int i = 0; i < LOCKS; i++)
		p->locks[i] = (struct plain_lock){.holder = -1};
	forget_states(p);
}

/* One end is missing, as its task begins to wait for the same lock again. */
static void lose_one(struct plain *p, struct model *m)
{
	int t = rand() % TASKS, lock = p->tasks[t].waits;

	if (lock < 0)
		return;
	take_back(p, t);
	p->order++;
	if (!--p->locks[lock].waiters)
		p->locks[lock].holder = -1;
	forget_states(p);
	plain_begin(p, m, t, lock);
}

static void check(struct plain *p, struct model *m)
{
	double circles = 0;

	assert_ms(all(m), p->sum);
	assert_ms((double)m->blame->doubtful_ns / MS, p->doubtful);
	assert_ms((double)m->holds->doubtful_ns / MS, p->doubtful);
	for (int t = 0; t < TASKS; t++) {
		for (int s = BLAME_NOT_FOLLOWED; s < BLAME_CIRCLE; s++)
			assert_ms(charged(m, 701 + t, s, -1), p->charged[t][s]);
		circles += charged(m, 701 + t, BLAME_CIRCLE, -1);
	}
	assert_ms(circles, p->circles);
}

/* No task kept others waiting for longer than they waited; the figures of holds are their sum. */
static void check_bounds(const struct model *m)
{
	uint64_t charged_ns = 0;

	for (size_t i = 0; i < m->blame->n; i++)
		assert_true(m->blame->cells[i].time_ns <= m->blame->cells[i].ns);
	for (size_t i = 0; i < m->held->n; i++)
		charged_ns += cell_sums(m->held, &m->held->cells[i]).waited_ns;
	assert_int_equal(m->holds->charged_ns, charged_ns);
	assert_true(charged_ns <= m->holds->waited_ns);
}

static void play(struct plain *p, struct model *m, bool loses)
{
	for (int i = 0; i < TASKS; i++)
		p->tasks[i] = (struct plain_task){.waits = -1, .state = BLAME_NOT_FOLLOWED};
	for (int i = 0; i < LOCKS; i++)
		p->locks[i].holder = -1;
	holder(m, 0, -1, HOLDREC_BEGUN, HOLDREC_UNKNOWN);
	for (int i = 0; i < STEPS; i++) {
		for (int ms = rand() % 4; ms; ms--, clock_ms++)
			count_ms(p);
		/* A wait that begins after a hold has begun is charged by times. */
		apply(m, (struct event){.kind = EVENT_THROTTLE});
		if (loses && rand() % 150 == 0)
			lose_all(p, m);
		else if (loses && rand() % 20 == 0)
			lose_one(p, m);
		else
			random_step(p, m);
		if (i % 500 == 499)
			check(p, m);
		count_ms(p);
		clock_ms++;
	}
	check(p, m);
}

static void equals_a_plain_account(void **state)
{
	struct plain p = {.circles = 0};

	srand(21);
	play(&p, *state, false);
	assert_true(p.circles > 100 && p.charged[3][BLAME_ASLEEP] > 50);
}

static void ends_that_are_lost(void **state)
{
	struct plain p = {.circles = 0};

	srand(22);
	play(&p, *state, true);
	check_bounds(*state);
	assert_true(p.circles > 20 && p.charged[3][BLAME_ASLEEP] > 50);
	assert_true(p.doubtful > 1000 && p.sum > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equals_a_plain_account, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_that_are_lost, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
