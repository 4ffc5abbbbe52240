// SPDX-License-Identifier: GPL-2.0-only
/*
 * The estimate of the best change: knots of known graphs of waiters and holders, and of random ones
 * against a plain account of reachability.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/limits.h"
#include "kontend/query-knots.h"
#include "kontend/wait-filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define LOCK(i) (0xffff888033333300ull + (uint64_t)(i)*0x100)

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

static void name(struct asked *w, int pid, int tid, const char *comm)
{
	synth_comm(w->rig.synth, 0, CANNED_START, pid, tid, comm);
}

static void begin_of(struct asked *w, uint64_t t, int pid, int tid, int lock, uint32_t flags)
{
	const uint64_t frames[] = {synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH),
				   synth_addr(lock % 2 ? SYNTH_VM_MMAP_PGOFF : SYNTH_VM_MUNMAP),
				   synth_addr(SYNTH_DO_SYSCALL_64)};

	synth_begin(w->rig.synth, 0, CANNED_START + t * MS, pid, tid, LOCK(lock), flags, frames, 3);
}

static void begin(struct asked *w, uint64_t t, int tid, int lock)
{
	begin_of(w, t, 700, tid, lock, LCB_F_WRITE);
}

static void end(struct asked *w, uint64_t t, int tid, int lock)
{
	synth_end(w->rig.synth, 0, CANNED_START + t * MS, 700, tid, LOCK(lock), 0);
}

/* A task that begins to wait sees the owner of the lock. */
static void owner(struct asked *w, uint64_t t, int waiter, int lock, int tid)
{
	const struct ownerrec r = {
		.magic = OWNERREC_MAGIC, .lock = LOCK(lock), .pid = 700, .tid = tid};

	synth_owner(w->rig.synth, 0, CANNED_START + t * MS + 1, waiter, &r);
}

static struct query_knots query_deadlocks(struct asked *w)
{
	struct query_knots ret;

	query_begin(&w->q);
	assert_int_equal(query_knots(&w->q, 10, &ret), 0);
	return ret;
}

static struct query_knots play(struct asked *w)
{
	struct model_limits limits = model_limits_recent(0);

	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, &limits);
	return query_deadlocks(w);
}

static void expect_pct(double got, double want)
{
	if (fabs(got - want) > 0.01)
		fail_msg("%f %% instead of %f %%", got, want);
}

static void one_who_waits_for_nobody_is_a_knot(void **state)
{
	struct asked *w = *state;

	start(w);
	name(w, 700, 701, "a");
	name(w, 700, 702, "b");
	name(w, 700, 703, "c");
	begin(w, 10, 702, 1); /* b has lock 2, and waits for a's */
	owner(w, 10, 702, 1, 701);
	begin(w, 10, 703, 2);
	owner(w, 10, 703, 2, 702);
	end(w, 110, 702, 1);
	end(w, 110, 703, 2);
	struct query_knots k = play(w);
	assert_null(k.refused);
	assert_int_equal(k.found, 1);
	assert_int_equal(k.nodes, 5);
	assert_int_equal(k.edges, 4);
	assert_int_equal(k.weak_edges, 0);
	assert_string_equal(k.knots[0].who, "a/701");
	assert_int_equal(k.knots[0].tasks, 1);
	assert_false(k.knots[0].circle);
	expect_pct(k.knots[0].at_most_pct, 100);
	assert_int_equal(k.waited_ns, k.knots[0].waited_ns);
	assert_int_equal(k.knots[0].addr, LOCK(1));
	assert_string_equal(k.knots[0].kind, "rwsem:W");
	assert_null(k.knots[0].caller); /* it got it without waiting */
	assert_string_equal(k.knots[0].mostly_state, "not_followed");
}

/* A task that releases the lock wants it back at once, and waits while the other one has it. */
static void hand_around(struct asked *w, uint64_t from, int lock, int a, int b)
{
	begin(w, from, a, lock);
	for (uint64_t i = 1; i <= 20; i++) {
		begin(w, from + i * 10, i % 2 ? b : a, lock);
		end(w, from + i * 10, i % 2 ? a : b, lock);
	}
	end(w, from + 210, a, lock);
}

static void two_that_pass_a_lock_are_one_knot(void **state)
{
	struct asked *w = *state;

	start(w);
	name(w, 700, 701, "a");
	name(w, 700, 702, "b");
	hand_around(w, 10, 0, 701, 702);
	struct query_knots k = play(w);
	assert_int_equal(k.found, 1);
	assert_int_equal(k.knots[0].tasks, 2);
	assert_true(k.knots[0].circle);
	assert_string_equal(k.knots[0].caller, "__vm_munmap");
	assert_int_equal(k.knots[0].waited_ns + k.unknown_ns, k.waited_ns);
	/* The holder before the first one is unknown: it may have been the other one. */
	assert_int_equal(k.unknown_ns, 10 * MS);
	assert_int_equal(k.knots[0].open_ns, 10 * MS);
	expect_pct(k.knots[0].waited_pct, 100 * 200.0 / 210);
	expect_pct(k.knots[0].at_most_pct, 100);
	const char *text = query_knots_sentence(&w->q, &k.knots[0]);
	assert_non_null(strstr(text, "at most 100% (95.2% known) of the waiting ends with "));
	assert_non_null(strstr(text, "a/701"));
	assert_non_null(strstr(text, ", who wait for each other: "));
	assert_non_null(strstr(text, ", got in __vm_munmap, "));
}

static void the_stronger_one_goes_first(void **state)
{
	struct asked *w = *state;

	start(w);
	name(w, 700, 701, "weak");
	name(w, 700, 702, "strong");
	for (int i = 0; i < 2; i++) {
		begin(w, 10, 711 + i, i);
		owner(w, 10, 711 + i, i, 701 + i);
	}
	end(w, 10 + 40, 711, 0);
	end(w, 10 + 60, 712, 1);
	struct query_knots k = play(w);
	assert_int_equal(k.found, 2);
	assert_string_equal(k.knots[0].who, "strong/702");
	assert_string_equal(k.knots[1].who, "weak/701");
	expect_pct(k.knots[0].at_most_pct, 60);
	expect_pct(k.knots[1].at_most_pct, 40);
	assert_int_equal(k.knots[0].addr, LOCK(1));
	assert_int_equal(k.knots[1].addr, LOCK(0));
}

/* A wait of a thousandth does not lead out of a knot. */
static void weak_edges_are_left_out_and_counted(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10, 711, 0);
	owner(w, 10, 711, 0, 701);
	begin(w, 20, 701, 1);
	owner(w, 20, 701, 1, 702);
	end(w, 21, 701, 1);
	end(w, 810, 711, 0);
	struct query_knots k = play(w);
	assert_int_equal(k.edges, 4);
	assert_int_equal(k.weak_edges, 2);
	assert_int_equal(k.weak_ns, 1 * MS);
	assert_int_equal(k.found, 1);
	assert_int_equal(k.waited_ns, 801 * MS);
	assert_int_equal(k.knots[0].waited_ns, 799 * MS);
}

static void many_of_one_name_are_one_node(void **state)
{
	enum { THREADS = 200 };
	struct asked *w = *state;
	uint64_t t = 10;

	start(w);
	for (int i = 0; i < THREADS; i++) {
		name(w, 700, 701 + i, "worker");
		begin(w, t++, 701 + i, 0);
	}
	for (int i = 0; i < THREADS; i++)
		end(w, t++, 701 + i, 0);
	struct query_knots k = play(w);
	assert_int_equal(k.merged, THREADS);
	assert_int_equal(k.nodes, 2);
	assert_int_equal(k.found, 1);
	assert_int_equal(k.knots[0].tasks, THREADS);
	assert_true(k.knots[0].circle);
	assert_string_equal(k.knots[0].who, "200 threads worker of 700");
	assert_int_equal(k.knots[0].waited_ns + k.unknown_ns, k.waited_ns);
}

static void many_processes_of_one_name_are_one_node(void **state)
{
	enum { PROCESSES = 60 };
	struct asked *w = *state;
	uint64_t t = 10;

	start(w);
	for (int i = 0; i < PROCESSES; i++) {
		name(w, 701 + i, 701 + i, "postgres");
		begin_of(w, t++, 701 + i, 701 + i, 0, LCB_F_WRITE);
	}
	for (int i = 0; i < PROCESSES; i++)
		synth_end(w->rig.synth, 0, CANNED_START + t++ * MS, 701 + i, 701 + i, LOCK(0), 0);
	struct query_knots k = play(w);
	assert_int_equal(k.found, 1);
	assert_string_equal(k.knots[0].who, "60 tasks postgres");
}

static void reports_say_it_above_the_table(void **state)
{
	struct asked *w = *state;

	start(w);
	name(w, 700, 702, "strong");
	begin(w, 10, 711, 1);
	owner(w, 10, 711, 1, 702);
	end(w, 70, 711, 1);
	begin(w, 100, 712, 0);
	end(w, 140, 712, 0);
	play(w);
	struct report_spec s = {.format = REPORT_TEXT, .views = REPORT_BLAME};
	char *text = asked_report(&w->q, &s);
	const char *line =
		strstr(text, "\n# what would help most, by knots of who waits for whom: 1 "
			     "found; 40.0% of the waiting ends with holders not known by "
			     "name\n#  1. at most 60.0% of the waiting ends with strong/702: ");
	assert_non_null(line);
	assert_true(line < strstr(text, "\n# BECAUSE OF"));
	free(text);
	s.format = REPORT_JSON;
	text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, "\"at_most_pct\": 60"));
	assert_non_null(strstr(text, "\"unknown_ns\": 40000000"));
	assert_non_null(
		strstr(text, "\"sentence\": \"at most 60.0% of the waiting ends with strong/702"));
	free(text);
}

/* Readers and writers wait for one lock, though the model has two. */
static void both_modes_are_one_lock(void **state)
{
	struct asked *w = *state;

	start(w);
	begin_of(w, 10, 700, 701, 0, LCB_F_WRITE);
	begin_of(w, 20, 700, 702, 0, LCB_F_READ);
	end(w, 20, 701, 0);
	begin_of(w, 60, 700, 701, 0, LCB_F_WRITE);
	end(w, 60, 702, 0);
	begin_of(w, 90, 700, 702, 0, LCB_F_READ);
	end(w, 90, 701, 0);
	end(w, 120, 702, 0);
	struct query_knots k = play(w);
	assert_int_equal(k.nodes, 3);
	assert_int_equal(k.found, 1);
	assert_int_equal(k.knots[0].tasks, 2);
}

static void a_window_and_a_filter_have_their_own(void **state)
{
	struct model_limits limits = model_limits_recent(0);
	struct asked *w = *state;
	struct error err = {0};

	start(w);
	for (int s = 0; s < 20; s++) {
		uint64_t t = 1000 * (uint64_t)s;
		int lock = s >= 15;
		begin(w, t + 10, 711, lock);
		owner(w, t + 10, 711, lock, 701 + lock);
		end(w, t + 110, 711, lock);
		synth_tick(w->rig.synth, CANNED_START + (t + 1000) * MS);
	}
	asked_play(w, &limits);
	struct query_knots k = query_deadlocks(w);
	assert_int_equal(k.found, 2);
	expect_pct(k.knots[0].at_most_pct, 75);
	w->q.window_ns = 5000 * MS;
	k = query_deadlocks(w);
	assert_int_equal(k.found, 1);
	assert_int_equal(k.waited_ns, 500 * MS);
	assert_int_equal(k.knots[0].addr, LOCK(1));
	w->q.window_ns = 0;
	query_begin(&w->q);
	assert_int_equal(wait_filter_set(&w->q, "caller:munmap", &err), 0);
	assert_int_equal(query_knots(&w->q, 10, &k), 0);
	assert_int_equal(k.found, 1);
	assert_int_equal(k.knots[0].addr, LOCK(0));
	expect_pct(k.knots[0].at_most_pct, 100);
	query_begin(&w->q);
	assert_int_equal(wait_filter_set(&w->q, "tid=711", &err), 0);
	assert_int_equal(query_knots(&w->q, 10, &k), 0);
	assert_non_null(k.refused);
	assert_int_equal(k.found, 0);
	wait_filter_end(&w->q);
}

/* Waits one after the other, each of one task for a lock that another has all the time. */
enum { TASKS = 12, ROUNDS = 60 };

struct account {
	uint64_t ns[TASKS][TASKS]; /* waited by, for the lock of */
	uint64_t to[TASKS], all;
};

static void reach_all(bool reach[TASKS][TASKS])
{
	for (int k = 0; k < TASKS; k++)
		for (int i = 0; i < TASKS; i++)
			for (int j = 0; j < TASKS; j++)
				reach[i][j] |= reach[i][k] && reach[k][j];
}

static bool is_strong(const struct account *a, int i, int j)
{
	return a->ns[i][j] && a->ns[i][j] * 100 >= a->all;
}

/* Time that the task waited for tasks with which it is in no circle. */
static uint64_t leads_out(const struct account *a, bool reach[TASKS][TASKS], int i)
{
	uint64_t ns = 0;

	for (int j = 0; j < TASKS; j++)
		if (is_strong(a, i, j) && !reach[j][i])
			ns += a->ns[i][j];
	return ns;
}

/* The sums of knots, by their first task; 0: it is in none, or not the first. */
static int account_knots(const struct account *a, uint64_t ret[TASKS], int size[TASKS])
{
	bool reach[TASKS][TASKS] = {{false}};
	int n = 0;

	for (int i = 0; i < TASKS; i++)
		for (int j = 0; j < TASKS; j++)
			reach[i][j] = is_strong(a, i, j);
	reach_all(reach);
	for (int i = 0; i < TASKS; i++) {
		bool blocks = false;
		uint64_t out = 0;
		ret[i] = 0;
		size[i] = 0;
		for (int j = 0; j < TASKS; j++)
			blocks |= j != i && reach[j][i];
		for (int j = 0; blocks && j < TASKS; j++) {
			if (j != i && !(reach[i][j] && reach[j][i]))
				continue;
			if (j < i)
				blocks = false;
			ret[i] += a->to[j];
			out += leads_out(a, reach, j);
			size[i]++;
		}
		ret[i] = blocks && out <= ret[i] / QUERY_KNOTS_OUT_PART ? ret[i] : 0;
		n += ret[i] != 0;
	}
	return n;
}

static void compare(const struct query_knots *k, const struct account *a)
{
	uint64_t want[TASKS];
	int size[TASKS];

	assert_int_equal(k->waited_ns, a->all);
	assert_int_equal(k->found, account_knots(a, want, size));
	for (size_t i = 0; i < k->n; i++) {
		int at;
		for (at = 0; at < TASKS; at++)
			if (want[at] == k->knots[i].waited_ns && size[at] == (int)k->knots[i].tasks)
				break;
		assert_true(at < TASKS);
		want[at] = 0;
		assert_true(!i || k->knots[i].waited_ns <= k->knots[i - 1].waited_ns);
	}
}

static int random_graph(struct asked *w, unsigned *seed)
{
	struct account a = {0};
	uint64_t t = 1;
	int edges = 1 + rand_r(seed) % (2 * TASKS);

	start(w);
	for (int e = 0; e < edges; e++) {
		int i = rand_r(seed) % TASKS, j = rand_r(seed) % TASKS;
		/* One of a few is too weak to count. */
		uint64_t ms = rand_r(seed) % 6 ? 50 + (uint64_t)rand_r(seed) % 50 : 1;
		if (i == j)
			continue;
		begin(w, t, 701 + i, j);
		owner(w, t, 701 + i, j, 701 + j);
		end(w, t + ms, 701 + i, j);
		t += ms + 1;
		a.ns[i][j] += ms * MS;
		a.to[j] += ms * MS;
		a.all += ms * MS;
	}
	synth_tick(w->rig.synth, CANNED_START + (t + 1) * MS);
	struct model_limits limits = model_limits_recent(0);
	asked_play(w, &limits);
	struct query_knots k = query_deadlocks(w);
	compare(&k, &a);
	return (int)k.found;
}

static void random_graphs_agree_with_a_plain_account(void **state)
{
	unsigned seed = 21;
	int several = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct asked *w;
		assert_int_equal(asked_setup_empty((void **)&w), 0);
		several += random_graph(w, &seed) > 1;
		asked_teardown((void **)&w);
	}
	assert_true(several > ROUNDS / 6);
}

int main(void)
{
#define ON_STREAM(TEST) cmocka_unit_test_setup_teardown(TEST, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		ON_STREAM(one_who_waits_for_nobody_is_a_knot),
		ON_STREAM(two_that_pass_a_lock_are_one_knot),
		ON_STREAM(the_stronger_one_goes_first),
		ON_STREAM(weak_edges_are_left_out_and_counted),
		ON_STREAM(many_of_one_name_are_one_node),
		ON_STREAM(many_processes_of_one_name_are_one_node),
		ON_STREAM(reports_say_it_above_the_table),
		ON_STREAM(both_modes_are_one_lock),
		ON_STREAM(a_window_and_a_filter_have_their_own),
		cmocka_unit_test(random_graphs_agree_with_a_plain_account),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
