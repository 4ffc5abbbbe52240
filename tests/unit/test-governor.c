// SPDX-License-Identifier: GPL-2.0-only
/* Costs that are made up, and what the governor does about them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "waits/governor.h"

#define MS 1000000ull

enum { EVENT_NS = 400, CPUS = 2, TARGET_PPM = 10000 };

/* A machine: events a second, how much of them lasts longer than each step's threshold. */
struct machine {
	struct governor g;
	struct governor_look look;
	double events_per_ms;
	double reported[GOVERNOR_COUNTS +
			1]; /* part of events that is reported one by one, by step */
	double event_ns[GOVERNOR_COUNTS + 1];
	double record_ns, fixed_per_ms;
};

static void set_up(struct machine *m)
{
	*m = (struct machine){.record_ns = 1000, .look = {.now_ns = 1000 * MS}};
	for (unsigned i = 0; i <= GOVERNOR_COUNTS; i++) {
		m->event_ns[i] = i == GOVERNOR_COUNTS ? 100 : i ? 200 : EVENT_NS;
		m->reported[i] = i == GOVERNOR_COUNTS ? 0 : 1.0 / (1 << i);
	}
	governor_init(&m->g, TARGET_PPM, CPUS, 0);
	governor_step(&m->g, &m->look);
}

static void run_ms(struct machine *m, unsigned ms)
{
	unsigned period;

	for (unsigned t = 0; t < ms; t += period) {
		unsigned step = m->g.step;
		period = governor_period_ms(&m->g);
		double n = m->events_per_ms * period, reported = n * m->reported[step];
		m->look.now_ns += period * MS;
		m->look.events += (uint64_t)n;
		m->look.timed += (uint64_t)(n / 61);
		m->look.timed_ns += (uint64_t)(n / 61) * (uint64_t)m->event_ns[step];
		m->look.reported += (uint64_t)reported;
		m->look.own_ns += (uint64_t)(reported * m->record_ns + m->fixed_per_ms * period);
		governor_step(&m->g, &m->look);
	}
}

static void test_steps_are_thresholds(void **state)
{
	(void)state;
	assert_int_equal(governor_threshold_ns(0), 0);
	assert_int_equal(governor_threshold_ns(1), 1000);
	assert_int_equal(governor_threshold_ns(11), 1024000);
	assert_int_equal(governor_threshold_ns(GOVERNOR_COUNTS), 0);
	assert_int_equal(governor_step_of(0), 0);
	assert_int_equal(governor_step_of(1), 1);
	assert_int_equal(governor_step_of(1000), 1);
	assert_int_equal(governor_step_of(1001), 2);
	assert_int_equal(governor_step_of(UINT64_MAX), GOVERNOR_THRESHOLDS);
}

static void test_calm_is_told_whole(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	m.events_per_ms = 1;
	run_ms(&m, 60000);
	assert_int_equal(m.g.step, 0);
	assert_int_equal(governor_period_ms(&m.g), 50);
	assert_true(m.g.cost_ppm < TARGET_PPM / 2);
	assert_false(m.g.is_timed); /* too few were */
}

static void test_storm_is_met_within_100_ms(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	run_ms(&m, 5000);
	/* Of 2 CPUs 1 %: 20 us a ms. Records alone would take ten times that. */
	m.events_per_ms = 200;
	run_ms(&m, 100);
	assert_true(m.g.step > 3);
	assert_true(m.g.storm_ppm < 5 * TARGET_PPM);
	run_ms(&m, 3000);
	/* 200 events of 100 ns a ms are what counting takes. */
	assert_true(m.g.cost_ppm <= TARGET_PPM * 21 / 20);
}

static void test_no_threshold_helps_then_counts(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	for (unsigned i = 0; i < GOVERNOR_COUNTS; i++)
		m.reported[i] = 1;
	m.events_per_ms = 100;
	run_ms(&m, 1000);
	assert_int_equal(m.g.step, GOVERNOR_COUNTS);
	run_ms(&m, 60000);
	assert_true(m.g.step > 4);
}

/* Where a caller waits for long waits, they are reported at any cost. */
static void test_long_waits_may_be_told_at_any_cost(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	for (unsigned i = 0; i < GOVERNOR_COUNTS; i++)
		m.reported[i] = 1;
	m.g.most = GOVERNOR_THRESHOLDS;
	m.events_per_ms = 100;
	run_ms(&m, 1000);
	assert_int_equal(m.g.step, GOVERNOR_THRESHOLDS);
	run_ms(&m, 60000);
	assert_true(m.g.step <= GOVERNOR_THRESHOLDS);
}

/* A caller asks for shorter waits while the governor is further up already. */
static void test_a_new_bound_holds_at_once(void **state)
{
	const struct governor_look now = {.now_ns = 3600000000000};
	struct machine m;

	(void)state;
	set_up(&m);
	assert_int_equal(governor_step_reporting(0), GOVERNOR_COUNTS);
	assert_int_equal(governor_step_reporting(999), 0);
	assert_int_equal(governor_step_reporting(1000), 1);
	assert_int_equal(governor_step_reporting(5000000), 13);
	assert_int_equal(governor_threshold_ns(13), 4096000);
	assert_int_equal(governor_step_reporting(UINT64_MAX), GOVERNOR_THRESHOLDS);
	m.g.step = GOVERNOR_COUNTS;
	assert_true(governor_bound(&m.g, 13, &now));
	assert_int_equal(m.g.step, 13);
	assert_false(governor_bound(&m.g, 13, &now));
	/* A threshold that was asked for stays. */
	m.g.least = m.g.step = 14;
	assert_false(governor_bound(&m.g, 13, &now));
	assert_int_equal(m.g.step, 14);
}

static void test_comes_back_when_it_is_over(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	m.events_per_ms = 400;
	run_ms(&m, 2000);
	assert_int_not_equal(m.g.step, 0);
	m.events_per_ms = 1;
	run_ms(&m, 90000);
	assert_int_equal(m.g.step, 0);
}

/* On the edge it does not go to and fro. */
static void test_hysteresis(void **state)
{
	struct machine m;
	unsigned changes = 0, last;

	(void)state;
	set_up(&m);
	m.events_per_ms = 18;
	run_ms(&m, 20000);
	last = m.g.step;
	for (unsigned i = 0; i < 3000; i++) {
		run_ms(&m, 20);
		changes += m.g.step != last;
		last = m.g.step;
	}
	assert_in_range(changes, 0, 10);
}

static void test_what_telling_less_does_not_mend(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	m.events_per_ms = 1;
	m.fixed_per_ms = 50000; /* 2.5 % of both CPUs */
	run_ms(&m, 60000);
	assert_int_equal(m.g.step, 0);
	assert_true(m.g.cost_ppm > TARGET_PPM);
}

static void test_threshold_that_was_asked_for_stays(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	governor_init(&m.g, TARGET_PPM, CPUS, 5);
	run_ms(&m, 60000);
	assert_int_equal(m.g.step, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_are_thresholds),
		cmocka_unit_test(test_calm_is_told_whole),
		cmocka_unit_test(test_storm_is_met_within_100_ms),
		cmocka_unit_test(test_no_threshold_helps_then_counts),
		cmocka_unit_test(test_long_waits_may_be_told_at_any_cost),
		cmocka_unit_test(test_a_new_bound_holds_at_once),
		cmocka_unit_test(test_comes_back_when_it_is_over),
		cmocka_unit_test(test_hysteresis),
		cmocka_unit_test(test_what_telling_less_does_not_mend),
		cmocka_unit_test(test_threshold_that_was_asked_for_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
