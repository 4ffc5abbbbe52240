// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend bench breakpoint`: how breakpoints that threads inherit slow the creation of threads,
 * and the cost of opening and closing one. Rounds with breakpoints and without take turns, so that
 * other load of the machine meets both; kontend does not measure meanwhile. It measures in rounds
 * of its own, after those that are timed.
 */
#include "kontend/bench-breakpoint.h"
#include "kontend/clock.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/units.h"
#include "run.h"
#include "seen.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BREAKPOINTS = 4, THREADS = 64, REPEAT = 30, RUNS = 10 };

static const uint64_t LATENCY_NS = 300000000, SEEN_NS = 1000000000;

struct bench {
	struct bench_breakpoint_options with, without;
	uint32_t cpus;
	bool is_baseline;		    /* without breakpoints is all that is asked for */
	struct bench_breakpoint_sum sum[2]; /* with, without */
	uint64_t ns[2][RUNS];
};

/* A phase of opening and closing; threads are one a CPU, up to the parallelism. */
static const struct phase {
	const char *name;
	enum bench_breakpoint_target reported; /* whose times are of interest */
	bool tasks, cpus;		       /* a thread a CPU each, */
	bool one_cpu;			       /* or one of a CPU beside the others */
} phases[] = {
	{"of tasks", BENCH_BREAKPOINT_TASK, true, false, false},
	{"of CPUs", BENCH_BREAKPOINT_CPU, false, true, false},
	{"of tasks, beside CPUs", BENCH_BREAKPOINT_TASK, true, false, true},
};

static int read_options(struct bench *b, const struct opts *o, struct error *err)
{
	uint64_t breakpoints = BREAKPOINTS;
	uint32_t *cpus = NULL;
	size_t n = 0;

	if (o->breakpoints && units_parse_count(o->breakpoints, &breakpoints) < 0)
		return error_set(err, -EINVAL, "--breakpoints '%s': give a number from 0",
				 o->breakpoints);
	int code = cpulist_read("online", &cpus, &n);
	mem_free(cpus);
	if (code < 0)
		return error_errno(err, code, "Cannot read which CPUs are online");
	b->cpus = (uint32_t)n;
	b->is_baseline = !breakpoints;
	b->without = (struct bench_breakpoint_options){
		.parallelism = o->parallelism ? (uint32_t)o->parallelism : b->cpus,
		.threads = o->threads ? (uint32_t)o->threads : THREADS,
		.repeat = o->repeat ? (uint32_t)o->repeat : REPEAT,
	};
	b->with = b->without;
	b->with.breakpoints = breakpoints < UINT32_MAX ? (uint32_t)breakpoints : UINT32_MAX;
	b->with.fewer = !o->breakpoints;
	return 0;
}

/* One with breakpoints, one without, and again. */
static int take_turns(struct bench *b, struct error *err)
{
	struct bench_breakpoint with = {.fd = -1}, without = {.fd = -1};
	int code = bench_breakpoint_start(&without, &b->without, err);

	if (code == 0 && !b->is_baseline)
		code = bench_breakpoint_start(&with, &b->with, err);
	b->with.breakpoints = with.breakpoints;
	for (uint32_t i = 0; code == 0 && i < RUNS; i++) {
		if (!b->is_baseline)
			code = bench_breakpoint_run(&with, &b->ns[0][i], err);
		if (code == 0)
			code = bench_breakpoint_run(&without, &b->ns[1][i], err);
	}
	bench_breakpoint_stop(&with);
	bench_breakpoint_stop(&without);
	return code;
}

static int measure_runs(struct bench *b, struct error *err)
{
	int code = take_turns(b, err);

	if (code == 0 && (bench_breakpoint_sum(b->ns[0], RUNS, &b->with, &b->sum[0]) < 0 ||
			  bench_breakpoint_sum(b->ns[1], RUNS, &b->without, &b->sum[1]) < 0))
		code = error_enomem(err, "%d runs", RUNS);
	return code;
}

/* By the medians, in percent. */
static double above_ideal(const struct bench *b)
{
	double ideal = b->sum[1].median;

	return ideal > 0 ? 100 * (b->sum[0].median / ideal - 1) : (double)NAN;
}

static void print_sum(FILE *out, const char *name, const struct bench_breakpoint_sum *s,
		      const char *above)
{
	fprintf(out, "%-22s %13.6f %13.6f %11.3f ± %-9.3f %s\n", name, s->usecs_op, s->usecs_op_cpu,
		s->median, s->deviation, above);
}

static void print_runs(FILE *out, const struct bench *b)
{
	char name[32], above[32];

	fprintf(out,
		"breakpoint: %d runs, in each %" PRIu32 " times %" PRIu32
		" threads are created and "
		"joined, by %" PRIu32 " side by side\n",
		RUNS, b->with.repeat, b->with.threads, b->with.parallelism);
	fprintf(out, "%-22s %13s %13s %23s %s\n", "", "usecs/op", "usecs/op/cpu",
		"median usecs/op ±    ", "above ideal");
	if (!b->is_baseline) {
		snprintf(name, sizeof(name), "%" PRIu32 " breakpoint%s", b->with.breakpoints,
			 b->with.breakpoints == 1 ? "" : "s");
		snprintf(above, sizeof(above), "%.1f%%", above_ideal(b));
		print_sum(out, name, &b->sum[0], above);
	}
	print_sum(out, "no breakpoints", &b->sum[1], "-");
	fflush(out);
}

static const struct bench_metric breakpoints = {"breakpoints", "1", BENCH_FACT},
				 parallelism = {"parallelism", "1", BENCH_FACT},
				 threads_made = {"threads", "1", BENCH_FACT},
				 repeat = {"repeat", "1", BENCH_FACT},
				 op = {"op", "ns", BENCH_LOWER},
				 op_cpu = {"op_cpu", "ns", BENCH_LOWER},
				 median = {"op_median", "ns", BENCH_LOWER},
				 deviation = {"op_deviation", "ns", BENCH_FACT},
				 above = {"above_ideal", "%", BENCH_LOWER},
				 opened = {"opened", "1", BENCH_FACT},
				 open_p50 = {"open_p50", "ns", BENCH_LOWER},
				 open_p99 = {"open_p99", "ns", BENCH_LOWER},
				 close_p50 = {"close_p50", "ns", BENCH_LOWER},
				 close_p99 = {"close_p99", "ns", BENCH_LOWER};

static void put_sum(struct bench_figures *f, const char *of, const struct bench_breakpoint_sum *s)
{
	bench_figures_put(f, &op, s->usecs_op * 1e3, "%s", of);
	bench_figures_put(f, &op_cpu, s->usecs_op_cpu * 1e3, "%s", of);
	bench_figures_put(f, &median, s->median * 1e3, "%s", of);
	bench_figures_put(f, &deviation, s->deviation * 1e3, "%s", of);
}

static void put_facts(struct bench_figures *f, const struct bench *b)
{
	bench_figures_put(f, &breakpoints, b->with.breakpoints, "what was done");
	bench_figures_put(f, &parallelism, b->with.parallelism, "what was done");
	bench_figures_put(f, &threads_made, b->with.threads, "what was done");
	bench_figures_put(f, &repeat, b->with.repeat, "what was done");
}

static void put_runs(struct bench_figures *f, const struct bench *b)
{
	put_facts(f, b);
	put_sum(f, "no breakpoints", &b->sum[1]);
	if (b->is_baseline)
		return;
	put_sum(f, "breakpoints", &b->sum[0]);
	bench_figures_put(f, &above, above_ideal(b), "breakpoints");
}

static void print_latency(FILE *out, const struct phase *p, uint32_t threads,
			  const struct bench_breakpoint_latency *l)
{
	const uint64_t ns[] = {l->open_p50_ns, l->open_p99_ns, l->close_p50_ns, l->close_p99_ns};
	char text[UNITS_BUF];

	fprintf(out, "%-22s %7" PRIu32 " %8s", p->name, threads, units_count(text, l->n));
	for (size_t i = 0; i < sizeof(ns) / sizeof(*ns); i++)
		fprintf(out, " %9s", units_ns(text, ns[i]));
	fputc('\n', out);
	fflush(out);
}

static void put_latency(struct bench_figures *f, const struct phase *p, bool known,
			const struct bench_breakpoint_latency *l)
{
	const struct {
		const struct bench_metric *metric;
		uint64_t value;
	} all[] = {
		{&opened, l->n},
		{&open_p50, l->open_p50_ns},
		{&open_p99, l->open_p99_ns},
		{&close_p50, l->close_p50_ns},
		{&close_p99, l->close_p99_ns},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		bench_figures_put(f, all[i].metric, known ? (double)all[i].value : (double)NAN,
				  "breakpoints %s", p->name);
}

/*
 * A phase that this user may not run, or that finds no free slot, prints why; the others still run.
 */
static int run_phase(const struct bench *b, const struct phase *p, struct bench_out *out,
		     struct error *err)
{
	struct bench_breakpoint_latency l[BENCH_BREAKPOINT_TARGETS] = {{0}};
	uint32_t n = b->with.parallelism < b->cpus ? b->with.parallelism : b->cpus;
	const uint32_t threads[BENCH_BREAKPOINT_TARGETS] = {
		[BENCH_BREAKPOINT_TASK] = p->tasks ? n : 0,
		[BENCH_BREAKPOINT_CPU] = p->cpus ? n : p->one_cpu,
	};
	struct error why = {0};
	int code = bench_breakpoint_latency(threads, LATENCY_NS, l, &why);
	bool known = code == 0 && l[p->reported].n;

	if (code < 0 && code != -ENOSPC && code != -EACCES && code != -EPERM)
		return error_set(err, code, "%s", why.text);
	put_latency(&out->figures, p, known, &l[p->reported]);
	if (out->text && known)
		print_latency(out->text, p, threads[p->reported], &l[p->reported]);
	else if (out->text)
		fprintf(out->text, "%-22s not available: %s\n", p->name, why.text);
	return 0;
}

static int measure_latency(const struct bench *b, struct bench_out *out, struct error *err)
{
	int code = 0;

	if (out->text)
		fprintf(out->text, "\n%-22s %7s %8s %9s %9s %9s %9s\n", "opened and closed",
			"threads", "times", "open p50", "p99", "close p50", "p99");
	for (size_t i = 0; code == 0 && i < sizeof(phases) / sizeof(*phases); i++)
		code = run_phase(b, &phases[i], out, err);
	return code;
}

/* Runs for a while, and what makes writers of the lock, while a session is on. */
static int load(const struct bench *b, struct error *err)
{
	struct bench_breakpoint_latency l[BENCH_BREAKPOINT_TARGETS];
	const uint32_t threads[BENCH_BREAKPOINT_TARGETS] = {b->cpus, b->cpus};
	struct bench_breakpoint with;
	struct error ignored = {0};
	uint64_t ns, until = clock_now_ns() + SEEN_NS;

	int code = bench_breakpoint_start(&with, &b->with, err);
	while (code == 0 && clock_now_ns() < until)
		code = bench_breakpoint_run(&with, &ns, err);
	/* CPUs have no slot beside the threads that have them all. */
	bench_breakpoint_stop(&with);
	/* If this user may open none on CPUs, run_phase() has printed that. */
	if (code == 0)
		(void)bench_breakpoint_latency(threads, LATENCY_NS, l, &ignored);
	return code;
}

/* A user who may not measure has the other figures all the same. */
static int measure_seen(const struct bench *b, struct bench_out *out, struct error *err)
{
	struct bench_seen_session s;
	struct bench_seen seen = {0};
	struct error why = {0};

	if (bench_seen_start(&s, &why) < 0) {
		if (out->text)
			fprintf(out->text, "\nwhat kontend saw: not available: %s\n", why.text);
		bench_seen_put(NULL, &out->figures);
		return 0;
	}
	int code = load(b, err);
	int ended = bench_seen_stop(&s, &seen, code < 0 ? NULL : err);
	code = code < 0 ? code : ended;
	if (code < 0)
		return code;
	if (out->text)
		bench_seen_print(&seen, out->text);
	bench_seen_put(&seen, &out->figures);
	return 0;
}

int bench_run_breakpoint(const struct opts *o, struct bench_out *out, struct error *err)
{
	struct bench b = {0};
	int code = read_options(&b, o, err);

	code = code < 0 ? code : measure_runs(&b, err);
	if (code == 0 && out->text)
		print_runs(out->text, &b);
	if (code == 0)
		put_runs(&out->figures, &b);
	if (code == 0 && !b.is_baseline)
		code = measure_latency(&b, out, err);
	if (code == 0 && !b.is_baseline)
		code = measure_seen(&b, out, err);
	return code;
}
