// SPDX-License-Identifier: GPL-2.0-only
/*
 * The error that `--mmap sampled` reports, on made-up loads whose acquisitions are all known. They
 * are seen in bursts as the collector makes them, slower meanwhile, and a little beyond them, as
 * switching takes its time. In 95 of 100 runs the truth must be within the error; for loads that
 * come and go 90 are enough, since acquisitions outside of the bursts are unknown. The error must
 * not be large in general either.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/query/mmap/list.h"
#include "kontend/burst.h"
#include "kontend/mmlevel.h"
#include "kontend/mmlock.h"
#include "kontend/strpool.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MS = 1000000, RUNS = 200 };

struct load {
	const char *name;
	/* Acquisitions of one process and of another in a millisecond, at @ms of @of. */
	double (*rate)(const struct load *l, int process, double ms, double of);
	double least; /* of the runs: truth within the error */
};

struct sim {
	struct mmlocks l;
	struct strpool names;
	uint64_t random, phase;
	uint64_t truth[2], seen_at_edges;
	struct mmlevel_how how;
};

static struct sim sim;

static double random01(void)
{
	sim.random ^= sim.random << 13;
	sim.random ^= sim.random >> 7;
	sim.random ^= sim.random << 17;
	return (double)(sim.random >> 11) / 9007199254740992.0;
}

static double steady(const struct load *l, int process, double ms, double of)
{
	(void)l, (void)ms, (void)of;
	return process ? 1 : 3;
}

/* As good as alone: its share is the same in each burst. */
static double alone(const struct load *l, int process, double ms, double of)
{
	(void)l, (void)ms, (void)of;
	return process ? 0.01 : 3;
}

static double waves(const struct load *l, int process, double ms, double of)
{
	(void)l, (void)of;
	double at = sin((ms + (double)sim.phase) / 700);
	return process ? 1 : 3 + 2.5 * at;
}

/* On for 30 to 400 ms and off for as long. */
static double on_and_off(const struct load *l, int process, double ms, double of)
{
	(void)l, (void)of;
	double length = 30 + (double)(sim.phase % 370);
	return process ? 2 : fmod(ms, 2 * length) < length ? 4 : 0;
}

/* One that begins later and ends before. */
static double a_part(const struct load *l, int process, double ms, double of)
{
	(void)l;
	double from = of * (double)(sim.phase % 40) / 100;
	return process ? 1 : ms > from && ms < from + of * 0.6 ? 4 : 0;
}

static const struct load loads[] = {
	{"steady", steady, 0.95},	  {"alone", alone, 0.95},   {"waves", waves, 0.95},
	{"on and off", on_and_off, 0.90}, {"a part", a_part, 0.90},
};

static void acquire(int process, uint64_t t)
{
	struct event ev = {.kind = EVENT_MM_ACQUIRED,
			   .time = t,
			   .pid = 100 + process,
			   .tid = 100 + process,
			   .mm = {.mm = 0x1000u * (unsigned)(process + 1), .success = true}};

	assert_int_equal(mmlock_event(&sim.l, &ev, &sim.names, 0), 0);
	ev.kind = EVENT_MM_RELEASED;
	assert_int_equal(mmlock_event(&sim.l, &ev, &sim.names, 0), 0);
}

static uint64_t counted(void)
{
	return sim.truth[0] + sim.truth[1];
}

/* A millisecond: events are @written, and the program is slower for it. */
static void pass(const struct load *l, double ms, double of, bool written)
{
	for (int p = 0; p < 2; p++) {
		double rate = l->rate(l, p, ms, of) * (written ? 0.7 : 1);
		int n = 0;
		for (int i = 0; i < 8; i++)
			n += random01() < rate / 8;
		sim.truth[p] += (unsigned)n;
		for (int i = 0; written && i < n; i++)
			acquire(p, (uint64_t)(ms * MS) + (unsigned)i);
	}
}

/* Events come from the moment that they are switched on, and until they are off, 2 ms later. */
static void run(const struct load *l, int of_ms)
{
	struct burst b = {.len_ns = 50u * MS, .every_ns = 500u * MS, .spread = true};
	uint64_t inside = 0, from = 0;
	int off_at = -1;

	b.random = sim.random | 1;
	for (int ms = 1; ms <= of_ms; ms++) {
		enum burst_change c = burst_step(&b, (uint64_t)ms * MS, true);
		if (c == BURST_ON) {
			from = (uint64_t)ms * MS;
			inside = counted();
		} else if (c == BURST_OFF || (ms == of_ms && b.on)) {
			sim.how.counted_inside += counted() - inside;
			off_at = ms + 2;
		}
		bool written = b.on || ms < off_at;
		if ((ms == off_at || ms == of_ms) && off_at > 0) {
			sim.how.from_ns = from;
			sim.how.to_ns = (uint64_t)ms * MS;
			sim.how.counted = counted();
			mmlock_how(&sim.l, &sim.how, 0);
			off_at = -1;
		}
		pass(l, ms, of_ms, written);
	}
	sim.how.from_ns = sim.how.to_ns = (uint64_t)of_ms * MS;
	sim.how.counted = counted();
	mmlock_how(&sim.l, &sim.how, 0);
}

/* The figure reported for the first process, and its error; false: nothing was seen. */
static bool reported(double *ret, double *ret_error)
{
	uint32_t next[8];
	struct query_mmap_events e = {0};
	double scale = (double)sim.l.counted / (double)sim.l.got_before;

	for (uint32_t i = 2; i < 2 * sim.l.n; i++)
		if (sim.l.mms[i / 2].mm == 0x1000)
			query_mmap_add(&e, &sim.l, i, next);
	*ret = (double)e.before * scale;
	*ret_error = query_mmap_error(&e, &sim.l, scale, (double)sim.l.counted);
	return e.before > 0;
}

static void check_load(const struct load *l, int of_ms)
{
	int within = 0, known = 0;
	double bias = 0, wide = 0;

	for (int i = 0; i < RUNS; i++) {
		double is, error;
		sim.truth[0] = sim.truth[1] = 0;
		sim.phase = (uint64_t)(random01() * 10000);
		sim.how = (struct mmlevel_how){.level = MMLEVEL_SAMPLED, .one_in = 10};
		assert_int_equal(mmlock_init(&sim.l), 0);
		sim.names = (struct strpool){0};
		run(l, of_ms);
		if (reported(&is, &error)) {
			double truth = (double)sim.truth[0];
			known++;
			within += fabs(is - truth) <= error;
			bias += (is - truth) / truth / RUNS;
			wide += error / truth / RUNS;
		}
		mmlock_deinit(&sim.l);
		strpool_deinit(&sim.names);
	}
	printf("%s, %d s: truth within the error in %d of %d, bias %+.1f %%, error %.1f %%\n",
	       l->name, of_ms / 1000, within, known, 100 * bias, 100 * wide);
	assert_true(known > RUNS / 2);
	assert_true(within >= l->least * known);
	assert_true(fabs(bias) < 0.06);
	if (l->rate == steady && of_ms >= 20000)
		assert_true(wide < 0.08);
}

static void test_truth_is_within_the_error(void **state)
{
	(void)state;
	sim.random = 4711;
	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
		check_load(&loads[i], 2000);
		check_load(&loads[i], 5000);
		check_load(&loads[i], 20000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_truth_is_within_the_error)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
