// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chains of waits: those of a stated graph, circles that are proved and such that are not, and
 * random graphs against following each task by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/query-chains.h"
#include "lock-snaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define LOCK(n) (0xffff888000001000ull + 256 * (uint64_t)(n))
#define LOOK (CANNED_START + 500 * MS)
#define END (CANNED_START + 1000 * MS)

enum { MOST = 64, TID = 700 };

/* Task n waits for lock wants[n], held by holder[lock]; -1: none, or not known. */
struct graph {
	int n_tasks, n_locks;
	int wants[MOST], holder[MOST];
	int leader[MOST]; /* of the task's process, if not itself: + 1 */
	bool hint[MOST];
	uint64_t begin[MOST];
};

static int pid_of(const struct graph *g, int task)
{
	return TID + (g->leader[task] ? g->leader[task] - 1 : task);
}

static void one_queue(struct locksnap *s, const struct graph *g, int lock)
{
	struct locksnap_queue q = {.addr = LOCK(lock),
				   .type = LOCKSNAP_RWSEM,
				   .holder_state = LOCKSNAP_RUNNING,
				   .holder_cpu = 1};
	uint32_t place = 0;

	for (int t = 0; t < g->n_tasks; t++)
		if (g->wants[t] == lock && g->begin[t] < LOOK)
			lock_snap_waiter(s, ++place, pid_of(g, t), TID + t, "t", false);
	if (!place)
		return;
	q.writers_waiting = place;
	if (g->holder[lock] >= 0) {
		q.holder_pid = q.holder_tid = TID + g->holder[lock];
		q.holder_comm = locksnap_add_text(s, "t");
		q.certainty = g->hint[lock] ? LOCKSNAP_HINT : LOCKSNAP_SURE;
	}
	assert_int_equal(locksnap_add_queue(s, &q), 0);
}

/* @ended: all have their lock at 600 ms, the task that waits for the last one first. */
static void play_all(struct asked *w, const struct graph *g, bool ended)
{
	struct locksnap s = {0};

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	for (uint64_t at = 0; at < 1000; at++)
		for (int t = 0; t < g->n_tasks; t++)
			if (g->wants[t] >= 0 && g->begin[t] == CANNED_START + at * MS)
				synth_begin(w->rig.synth, 0, g->begin[t], pid_of(g, t), TID + t,
					    LOCK(g->wants[t]), LCB_F_WRITE, NULL, 0);
	for (int l = 0; l < g->n_locks; l++)
		one_queue(&s, g, l);
	lock_snap_emit(w->rig.synth, &s, LOOK);
	for (int t = 0; ended && t < g->n_tasks; t++)
		if (g->wants[t] >= 0)
			synth_end(w->rig.synth, 0, CANNED_START + (600 + (uint64_t)t) * MS,
				  pid_of(g, t), TID + t, LOCK(g->wants[t]), 0);
	synth_tick(w->rig.synth, END);
	asked_play(w, NULL);
}

static void play(struct asked *w, const struct graph *g)
{
	play_all(w, g, false);
}

static struct table query_table(struct asked *w)
{
	const struct query_spec spec = {0};
	struct error err = {0};
	struct table t;

	assert_int_equal(query_chains(&w->q, &spec, &t, &err), 0);
	return t;
}

static bool is_row(const struct table *t, size_t row, const char *kind)
{
	return !strcmp(cell_s(t, row, "row"), kind);
}

/* 0 holds lock 0, for which 1 waits; 1 holds lock 1, for which 2 and 3 wait. */
static void a_chain_leads_to_its_root(void **state)
{
	static const char *const rows[] = {"root", "lock", "waiter", "lock", "waiter"};
	static const int parents[] = {-1, 0, 1, 2, 3}, behind[] = {3, 3, 2, 2, 0};
	struct asked *w = *state;
	struct graph g = {4, 2, {-1, 0, 1, 1}, {0, 1}, {0, 0, 0, 3}, {0}, {0}};
	struct query_chains_sum sum;

	for (int t = 0; t < 4; t++)
		g.begin[t] = CANNED_START + (uint64_t)(100 * t) * MS;
	play(w, &g);
	struct table t = query_table(w);
	assert_int_equal(t.n_rows, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(cell_s(&t, i, "row"), rows[i]);
		assert_int_equal(cell_u(&t, i, "behind"), behind[i]);
		assert_int_equal(cell_at(&t, i, "parent")->known, parents[i] >= 0);
		if (parents[i] >= 0)
			assert_int_equal(cell_at(&t, i, "parent")->i, parents[i]);
		assert_int_equal(cell_u(&t, i, "node"), i);
	}
	assert_int_equal(cell_u(&t, 0, "tid"), TID);
	assert_string_equal(cell_s(&t, 0, "state"), "running");
	assert_string_equal(cell_s(&t, 0, "certainty"), "sure");
	assert_int_equal(cell_u(&t, 0, "waited_ns"), (900 + 800 + 700) * MS);
	assert_int_equal(cell_u(&t, 0, "longest_ns"), 900 * MS);
	assert_int_equal(cell_u(&t, 3, "waited_ns"), (800 + 700) * MS);
	assert_string_equal(query_chains_root(&w->q, LOCK(1)), "t/700 W, running on 1");
	assert_null(query_chains_root(&w->q, LOCK(0))); /* held by the root itself */
	assert_null(query_chains_root(&w->q, LOCK(9)));
	assert_int_equal(query_chains_sum(&w->q, &sum), 0);
	assert_int_equal(sum.roots, 1);
	assert_int_equal(sum.tasks, 3);
	assert_int_equal(sum.circles, 0);
	assert_int_equal(sum.sum_ns, 2400 * MS);
}

/* The same when all of it is over: a chain of waits that have ended. */
static void an_ended_chain_is_kept(void **state)
{
	static const char *const rows[] = {"root", "lock", "waiter", "lock", "waiter"};
	static const int parents[] = {-1, 0, 1, 2, 3};
	struct asked *w = *state;
	struct graph g = {4, 2, {-1, 0, 1, 1}, {0, 1}, {0, 0, 0, 3}, {0}, {0}};
	struct query_chains_sum sum;

	for (int t = 0; t < 4; t++)
		g.begin[t] = CANNED_START + (uint64_t)(100 * t) * MS;
	play_all(w, &g, true);
	struct table t = query_table(w);
	assert_int_equal(t.n_rows, 5);
	for (size_t i = 0; i < t.n_rows; i++) {
		const struct value *parent = cell_at(&t, i, "parent");
		assert_true(is_row(&t, i, rows[i]));
		assert_int_equal(parent->known ? parent->i : -1, parents[i]);
		assert_int_equal(cell_u(&t, i, "ended"), 1);
		assert_in_range(cell_u(&t, i, "ended_ns"), 397 * MS, 399 * MS);
	}
	assert_int_equal(cell_at(&t, 0, "tid")->i, TID);
	assert_int_equal(cell_u(&t, 0, "behind"), 3);
	assert_int_equal(cell_u(&t, 0, "longest_ns"), 501 * MS);
	assert_int_equal(query_chains_sum(&w->q, &sum), 0);
	assert_int_equal(sum.roots, 0);
	assert_int_equal(sum.ended_roots, 1);
	assert_int_equal(sum.ended_tasks, 3);
}

/* One task waits three times for a lock, another one once: two tasks wait behind its holder. */
static void a_task_that_waited_often_counts_once(void **state)
{
	static const int tids[] = {TID + 1, TID + 1, TID + 2, TID + 1};
	struct asked *w = *state;
	struct query_chains_sum sum;

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	for (uint64_t i = 0; i < 4; i++) {
		synth_begin(w->rig.synth, 0, CANNED_START + 10 * i * MS, TID, tids[i], LOCK(0),
			    LCB_F_WRITE, NULL, 0);
		synth_end(w->rig.synth, 0, CANNED_START + (10 * i + 5) * MS, TID, tids[i], LOCK(0),
			  0);
	}
	synth_tick(w->rig.synth, END);
	asked_play(w, NULL);
	struct table t = query_table(w);
	assert_int_equal(t.n_rows, 3);
	assert_true(is_row(&t, 0, "root") && is_row(&t, 1, "lock") && is_row(&t, 2, "waiter"));
	assert_int_equal(cell_u(&t, 0, "behind"), 2);
	assert_int_equal(cell_u(&t, 1, "behind"), 2);
	assert_int_equal(cell_u(&t, 2, "tasks"), 2);
	assert_int_equal(cell_u(&t, 0, "waited_ns"), 20 * MS);
	assert_int_equal(query_chains_sum(&w->q, &sum), 0);
	assert_int_equal(sum.ended_roots, 1);
	assert_int_equal(sum.ended_tasks, 2);
	assert_int_equal(sum.ended_sum_ns, 20 * MS);
	assert_int_equal(sum.ended_longest_ns, 5 * MS);
}

static void pair(struct graph *g, uint64_t begin_0, uint64_t begin_1)
{
	*g = (struct graph){3, 2, {1, 0, 0}, {0, 1}, {0}, {0}, {begin_0, begin_1, begin_1}};
}

/* Both wait before the snapshot, which has both: they wait for ever, and so does a third task. */
static void crossed_locks_are_a_deadlock(void **state)
{
	struct asked *w = *state;
	struct query_chains_sum sum;
	struct query_deadlock d;
	struct graph g;

	pair(&g, CANNED_START + 10 * MS, CANNED_START + 20 * MS);
	play(w, &g);
	struct table t = query_table(w);
	assert_string_equal(cell_s(&t, 0, "row"), "deadlock");
	assert_null(query_chains_root(&w->q, LOCK(0)));
	assert_int_equal(cell_u(&t, 0, "behind"), 3);
	assert_int_equal(query_chains_sum(&w->q, &sum), 0);
	assert_int_equal(sum.circles, 1);
	assert_int_equal(sum.proved, 1);
	assert_int_equal(sum.roots, 1);
	assert_int_equal(sum.tasks, 3);
	assert_int_equal(sum.sum_ns, (990 + 980 + 980) * MS);
	assert_int_equal(query_chains_deadlock(&w->q, &d), 0);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.tasks, 2);
	assert_int_equal(d.longest_ns, 990 * MS);
	assert_string_equal(d.who, "t/701 W, t/700 W");
	assert_string_equal(d.have, "t/701 W has 0xffff888000001100, t/700 W has "
				    "0xffff888000001000");
}

/* One of them began to wait after the look: it may have let go of its lock before. */
static void what_began_later_proves_nothing(void **state)
{
	struct asked *w = *state;
	struct query_chains_sum sum;
	struct query_deadlock d;
	struct graph g;

	pair(&g, CANNED_START + 10 * MS, CANNED_START + 600 * MS);
	play(w, &g);
	assert_int_equal(query_chains_deadlock(&w->q, &d), 0);
	assert_int_equal(d.n, 0);
	assert_int_equal(query_chains_sum(&w->q, &sum), 0);
	assert_int_equal(sum.proved, 0);
}

static void a_reader_that_had_it_proves_nothing(void **state)
{
	struct asked *w = *state;
	struct query_chains_sum sum;
	struct graph g;

	pair(&g, CANNED_START + 10 * MS, CANNED_START + 20 * MS);
	g.hint[1] = true;
	play(w, &g);
	assert_int_equal(query_chains_sum(&w->q, &sum), 0);
	assert_int_equal(sum.circles, 1);
	assert_int_equal(sum.proved, 0);
}

/* A snapshot is of another moment than the events: the holder of a lock does not wait for it. */
static void nobody_waits_for_himself(void **state)
{
	struct asked *w = *state;
	struct graph g = {2, 1, {0, 0}, {1}, {0}, {0}, {CANNED_START + MS, CANNED_START + 2 * MS}};

	play(w, &g);
	struct table t = query_table(w);
	assert_string_equal(cell_s(&t, 0, "row"), "root");
	assert_false(cell_at(&t, 0, "tid")->known);
	assert_int_equal(cell_u(&t, 0, "behind"), 2);
	assert_int_equal(t.n_rows, 4);
}

/* Deeper than is shown: a row stands for the rest, and nothing is missing in the sums. */
static void depth_is_bounded(void **state)
{
	struct asked *w = *state;
	struct graph g = {.n_tasks = MOST, .n_locks = MOST - 1};
	size_t more = 0;

	for (int t = 0; t < MOST; t++) {
		g.wants[t] = t - 1; /* and holds lock t */
		g.holder[t] = t;
		g.begin[t] = CANNED_START + MS;
	}
	play(w, &g);
	struct table t = query_table(w);
	assert_int_equal(cell_u(&t, 0, "behind"), MOST - 1);
	for (size_t i = 0; i < t.n_rows; i++)
		more += is_row(&t, i, "more");
	assert_int_equal(more, 1);
	assert_true(is_row(&t, t.n_rows - 1, "more"));
	assert_true(cell_u(&t, t.n_rows - 1, "behind") > 0);
}

/* The task that it waits for in the end; -2: unknown, -3: a circle. */
static int root_of(const struct graph *g, int task)
{
	for (int steps = 0; steps <= MOST; steps++) {
		int holder = g->holder[g->wants[task]];
		if (holder < 0 || g->wants[holder] == g->wants[task])
			return -2;
		if (g->wants[holder] < 0)
			return holder;
		task = holder;
	}
	return -3;
}

static void randomize(struct graph *g, unsigned *seed)
{
	*g = (struct graph){.n_tasks = 2 + rand_r(seed) % (MOST - 2),
			    .n_locks = 1 + rand_r(seed) % 20};
	for (int t = 0; t < g->n_tasks; t++) {
		g->wants[t] = rand_r(seed) % 3 ? rand_r(seed) % g->n_locks : -1;
		g->begin[t] = CANNED_START + (uint64_t)(rand_r(seed) % 400) * MS;
	}
	for (int l = 0; l < g->n_locks; l++)
		g->holder[l] = rand_r(seed) % 5 ? rand_r(seed) % g->n_tasks : -1;
}

static void compare(const struct table *t, const struct graph *g)
{
	unsigned behind[MOST] = {0}, circles = 0, unknown = 0, waiting = 0, got_unknown = 0,
		 got_circles = 0, got_waiting = 0;

	for (int i = 0; i < g->n_tasks; i++) {
		if (g->wants[i] < 0)
			continue;
		int root = root_of(g, i);
		waiting++;
		unknown += root == -2;
		circles += root == -3;
		if (root >= 0)
			behind[root]++;
	}
	for (size_t i = 0; i < t->n_rows; i++) {
		unsigned n = (unsigned)cell_u(t, i, "behind");
		if (is_row(t, i, "waiter"))
			got_waiting += (unsigned)cell_u(t, i, "tasks");
		if (is_row(t, i, "deadlock"))
			got_circles += n;
		if (!is_row(t, i, "root"))
			continue;
		if (!cell_at(t, i, "tid")->known)
			got_unknown += n;
		else
			assert_int_equal(n, behind[cell_at(t, i, "tid")->i - TID]);
		if (cell_at(t, i, "tid")->known)
			behind[cell_at(t, i, "tid")->i - TID] = 0;
	}
	for (int i = 0; i < g->n_tasks; i++)
		assert_int_equal(behind[i], 0); /* each root is a row */
	assert_int_equal(got_waiting, waiting);
	assert_int_equal(got_circles, circles);
	assert_int_equal(got_unknown, unknown);
}

static void random_graphs_are_followed(void **state)
{
	unsigned seed = 7;

	for (int i = 0; i < 300; i++) {
		struct graph g;
		if (i) {
			asked_teardown(state);
			assert_int_equal(asked_setup_empty(state), 0);
		}
		randomize(&g, &seed);
		play(*state, &g);
		struct table t = query_table(*state);
		compare(&t, &g);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_chain_leads_to_its_root),
		TEST(an_ended_chain_is_kept),
		TEST(a_task_that_waited_often_counts_once),
		TEST(crossed_locks_are_a_deadlock),
		TEST(what_began_later_proves_nothing),
		TEST(a_reader_that_had_it_proves_nothing),
		TEST(nobody_waits_for_himself),
		TEST(depth_is_bounded),
		TEST(random_graphs_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
