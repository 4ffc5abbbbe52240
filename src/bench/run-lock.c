// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend bench mutex`, `rwsem`, `spinlock` and `futex`: waits for one lock of the kernel, and
 * what this program itself counts: how many, and for how long at least and at most. A profiler that
 * measures it meanwhile should see the same.
 */
#include "kontend/bench-lock.h"
#include "kontend/units.h"
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/prctl.h>

static const struct bench_metric waits = {"waits", "1", BENCH_FACT},
				 waits_most = {"waits_most", "1", BENCH_FACT},
				 least = {"waited_least", "ns", BENCH_FACT},
				 most = {"waited_most", "ns", BENCH_FACT},
				 holds = {"holds", "1", BENCH_FACT},
				 held = {"held", "ns", BENCH_FACT},
				 hand_p50 = {"handover_p50", "ns", BENCH_LOWER},
				 hand_p99 = {"handover_p99", "ns", BENCH_LOWER},
				 calls = {"calls", "1/s", BENCH_HIGHER},
				 call = {"call_alone", "ns", BENCH_LOWER};

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void print_sum(FILE *out, const struct bench_lock_sum *s)
{
	fprintf(out, "%s: ", s->type ? s->type : "in memory");
	if (s->least == s->most)
		fprintf(out, "%" PRIu64 " waits", s->least);
	else
		fprintf(out, "%" PRIu64 " to %" PRIu64 " waits", s->least, s->most);
	fprintf(out, ", %.3f to %.3f ms%s\n", ms(s->least_ns), ms(s->most_ns),
		s->type ? "" : ": the kernel has no event for them");
}

static void print_result(FILE *out, const char *name, const struct bench_lock_result *r)
{
	char p50[UNITS_BUF], p99[UNITS_BUF];
	size_t i = 0;

	if (r->lock) {
		fprintf(out, "%s: %u threads wait for %s, held %" PRIu64 " times, %.3f ms\n", name,
			r->threads, r->lock, r->holds, ms(r->held_ns));
		for (; i < r->n_sums - (r->called != NULL); i++)
			print_sum(out, &r->sums[i]);
		fprintf(out, "handed on: p50 %s, p99 %s\n", units_ns(p50, r->hand_p50_ns),
			units_ns(p99, r->hand_p99_ns));
	}
	if (r->called) {
		fprintf(out, "%s: %u threads call for %s, %" PRIu64 " times, %s/s, %s alone\n",
			name, r->callers, r->called, r->calls, units_rate(p50, r->calls_per_s),
			units_ns(p99, r->call_ns));
		print_sum(out, &r->sums[i]);
	}
	fflush(out);
}

static void put_sum(struct bench_figures *f, const struct bench_lock_sum *s)
{
	const char *of = s->type ? s->type : "in memory";

	bench_figures_put(f, &waits, (double)s->least, "%s", of);
	if (s->most != s->least)
		bench_figures_put(f, &waits_most, (double)s->most, "%s", of);
	bench_figures_put(f, &least, (double)s->least_ns, "%s", of);
	bench_figures_put(f, &most, (double)s->most_ns, "%s", of);
}

static void put_result(struct bench_figures *f, const struct bench_lock_result *r)
{
	if (r->lock) {
		bench_figures_put(f, &holds, (double)r->holds, "%u threads", r->threads);
		bench_figures_put(f, &held, (double)r->held_ns, "%u threads", r->threads);
		bench_figures_put(f, &hand_p50, (double)r->hand_p50_ns, "%u threads", r->threads);
		bench_figures_put(f, &hand_p99, (double)r->hand_p99_ns, "%u threads", r->threads);
	}
	for (size_t i = 0; i < r->n_sums; i++)
		put_sum(f, &r->sums[i]);
	if (r->called) {
		bench_figures_put(f, &calls, r->calls_per_s, "%u callers", r->callers);
		bench_figures_put(f, &call, (double)r->call_ns, "%u callers", r->callers);
	}
}

static int run(enum bench_lock_kind kind, const struct opts *o, struct bench_out *out,
	       struct error *err)
{
	const struct bench_lock_options options = {(uint32_t)o->threads, o->rounds};
	struct bench_lock_result r;
	char comm[16];

	/* Locks of the process are called by its name. */
	snprintf(comm, sizeof(comm), "bench-%s", bench_lock_name(kind));
	(void)prctl(PR_SET_NAME, comm, 0, 0, 0);
	int code = bench_lock(kind, &options, &r, err);
	if (code < 0)
		return code;
	if (out->text)
		print_result(out->text, bench_lock_name(kind), &r);
	put_result(&out->figures, &r);
	return 0;
}

int bench_run_mutex(const struct opts *o, struct bench_out *out, struct error *err)
{
	return run(BENCH_LOCK_MUTEX, o, out, err);
}

int bench_run_rwsem(const struct opts *o, struct bench_out *out, struct error *err)
{
	return run(BENCH_LOCK_RWSEM, o, out, err);
}

int bench_run_spinlock(const struct opts *o, struct bench_out *out, struct error *err)
{
	return run(BENCH_LOCK_SPINLOCK, o, out, err);
}

int bench_run_futex(const struct opts *o, struct bench_out *out, struct error *err)
{
	return run(BENCH_LOCK_FUTEX, o, out, err);
}
