// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend bench mmap --cost`: the cost of each way to measure mmap_locks for a program that does
 * little but take its own. The same work is done without kontend and beside it, in the order off,
 * on, on, off, which are two pairs; ways take turns, so that other changes on this machine are in
 * all of them. The result is the CPU time of the work. kontend measures in a process of its own,
 * since a session gives up rights that the next one needs.
 */
#include "kontend/bench-mm.h"
#include "kontend/bench-pairs.h"
#include "kontend/clock.h"
#include "kontend/cmd.h"
#include "kontend/damage.h"
#include "kontend/mmlevel.h"
#include "kontend/mmlock.h"
#include "kontend/run.h"
#include "kontend/units.h"
#include "observer.h"
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 20, TEXT = 40 };

static const uint64_t BYTES = 64 << 10, ROUNDS = 3000, S = 1000000000, SETTLE_NS = 300000000;
static const uint64_t TICK_NS = 100000000;

/* Ways to measure: as what --mmap asks for. */
static const struct way {
	const char *name, *mmap;
} ways[] = {
	{"contended", "contended"}, {"counted", "sampled=1000"},
	{"sampled", "sampled"},	    {"all", "all"},
	{"all,paths", "all,paths"},
};

enum { WAYS = sizeof(ways) / sizeof(*ways) };

/* Results of the process that measures. */
struct seen {
	uint64_t events, lost;
	char missing[MMLEVEL_REASON]; /* why the level is another one; "" */
};

struct outcome {
	struct bench_pairs pairs;
	double own_ns, load_ns;
	uint64_t events, lost;
	char missing[MMLEVEL_REASON];
};

struct cost {
	struct bench_mm_options load;
	struct outcome outcomes[WAYS];
	double off_ns; /* of all runs without, */
	uint64_t n_off;
	uint32_t threads;
};

/* In the process that measures. */
static int take_seen(void *ctx, struct run *run, void *answer, struct error *err)
{
	const struct model *m = run->engine.model;
	struct seen *s = answer;

	(void)ctx, (void)err;
	s->events = m->n_events + m->mmlocks->n_events;
	s->lost = m->damage->lost + m->damage->dropped;
	snprintf(s->missing, sizeof(s->missing), "%s", m->mmlocks->how->reason);
	return 0;
}

static double own_ns(const struct bench_observer *ob)
{
	struct timespec t = {0};
	clockid_t clock;

	if (clock_getcpuclockid(ob->child.pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
		return 0;
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double ns_of(const struct timeval *t)
{
	return (double)t->tv_sec * 1e9 + (double)t->tv_usec * 1e3;
}

static int work(const struct bench_mm_options *o)
{
	struct bench_mm_result r;

	(void)prctl(PR_SET_NAME, "bench-mmap", 0, 0, 0);
	return bench_mm_map(o, &r, NULL) < 0;
}

/* CPU time of the work, done once by a process of its own. */
static int run_load(const struct cost *c, double *ret, struct error *err)
{
	struct rusage used;
	int status = 0;

	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		_exit(work(&c->load));
	if (pid < 0)
		return error_errno(err, -errno, "Cannot start the process that is measured");
	while (wait4(pid, &status, 0, &used) < 0)
		if (errno != EINTR)
			return error_errno(err, -errno, "Cannot wait for the measured process");
	if (status)
		return error_set(err, -ECHILD,
				 "The process that maps and unmaps has failed: it may have no "
				 "memory, or may start no threads");
	*ret = ns_of(&used.ru_utime) + ns_of(&used.ru_stime);
	return 0;
}

static int run_beside(const struct cost *c, const struct bench_observer *ob, struct outcome *out,
		      double *on, struct error *err)
{
	double before = own_ns(ob);
	int code = run_load(c, on, err);

	out->own_ns += own_ns(ob) - before;
	out->load_ns += code == 0 ? *on : 0;
	return code;
}

static int measure(const struct cost *c, const struct way *way, struct outcome *out, double on[2],
		   struct error *err)
{
	const struct opts o = {
		.verb = VERB_REPORT, .delay_ns = TICK_NS, .no_follow = true, .mmap = way->mmap};
	const struct bench_observer_job job = {
		.opts = &o, .size = sizeof(struct seen), .take = take_seen};
	struct bench_observer ob;
	struct seen s = {0};
	int code = bench_observer_start(&ob, &job, err);

	if (code < 0)
		return code;
	clock_sleep_ns(SETTLE_NS);
	for (int i = 0; code == 0 && i < 2; i++)
		code = run_beside(c, &ob, out, &on[i], err);
	int ended = bench_observer_stop(&ob, &s, err);
	code = code < 0 ? code : ended;
	if (code < 0)
		return code;
	out->events += s.events;
	out->lost += s.lost;
	memcpy(out->missing, s.missing, sizeof(out->missing));
	return 0;
}

/* Two pairs. */
static int take_turn(struct cost *c, size_t way, struct error *err)
{
	struct outcome *out = &c->outcomes[way];
	double off[2], on[2] = {0};
	int code = run_load(c, &off[0], err);

	if (code == 0)
		code = measure(c, &ways[way], out, on, err);
	if (code == 0)
		code = run_load(c, &off[1], err);
	for (int i = 0; code == 0 && i < 2; i++) {
		c->off_ns += off[i];
		c->n_off++;
		if (bench_pairs_add(&out->pairs, off[i], on[i]) < 0)
			code = error_enomem(err, "the figures");
	}
	return code;
}

static const struct bench_metric cost_pct = {"cpu", "%", BENCH_LOWER},
				 low_pct = {"cpu-low", "%", BENCH_FACT},
				 high_pct = {"cpu-high", "%", BENCH_FACT},
				 own_pct = {"own", "%", BENCH_LOWER},
				 events = {"events", "1", BENCH_FACT},
				 lost = {"lost", "1", BENCH_FACT},
				 n_pairs = {"pairs", "1", BENCH_FACT};

static double own_of(const struct outcome *o)
{
	return o->load_ns > 0 ? 100 * o->own_ns / o->load_ns : (double)NAN;
}

static void put_figures(struct bench_figures *f, const char *name, const struct outcome *o,
			const struct bench_pairs_sum *s)
{
	bool known = !*o->missing;
	const struct {
		const struct bench_metric *metric;
		double value;
	} all[] = {
		{&cost_pct, known ? s->median : (double)NAN},
		{&low_pct, known ? s->low : (double)NAN},
		{&high_pct, known ? s->high : (double)NAN},
		{&own_pct, known ? own_of(o) : (double)NAN},
		{&events, (double)o->events},
		{&lost, (double)o->lost},
		{&n_pairs, (double)s->n},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		bench_figures_put(f, all[i].metric, all[i].value, "%s", name);
}

static void print_row(FILE *out, const char *name, const struct outcome *o,
		      const struct bench_pairs_sum *s)
{
	char interval[TEXT] = "too few pairs", n[UNITS_BUF], m[UNITS_BUF];

	if (*o->missing) {
		fprintf(out, "%-10s not available: %s\n", name, o->missing);
		return;
	}
	if (!isnan(s->low))
		snprintf(interval, sizeof(interval), "%+.2f to %+.2f", s->low, s->high);
	fprintf(out, "%-10s %+8.2f  %-20s %7.2f %8s %8s\n", name, s->median, interval, own_of(o),
		units_count(n, o->events), units_count(m, o->lost));
}

static int print_cost(struct cost *c, struct bench_out *out, struct error *err)
{
	char bytes[UNITS_BUF];

	if (out->text)
		fprintf(out->text,
			"mmap: %" PRIu32 " threads, %s, rounds %" PRIu64
			": %.3f s of CPU time without kontend; %zu pairs for each way\n"
			"%-10s %8s  %-20s %7s %8s %8s\n",
			c->threads, units_bytes(bytes, c->load.bytes), c->load.rounds,
			c->n_off ? c->off_ns / (double)c->n_off / (double)S : 0,
			c->outcomes[0].pairs.n, "--mmap", "cost %", "95 %", "own %", "events",
			"lost");
	for (size_t i = 0; i < WAYS; i++) {
		const struct outcome *o = &c->outcomes[i];
		struct bench_pairs_sum s;
		if (bench_pairs_sum(&o->pairs, &s) < 0)
			return error_enomem(err, "the figures");
		if (out->text)
			print_row(out->text, ways[i].name, o, &s);
		put_figures(&out->figures, ways[i].name, o, &s);
	}
	return 0;
}

/* Once without kontend, so that first-time costs are over; it also sets the number of threads. */
static int warm_up(struct cost *c, struct error *err)
{
	struct bench_mm_options o = c->load;
	struct bench_mm_result r;

	o.rounds = 1;
	int code = bench_mm_map(&o, &r, err);
	c->threads = r.threads;
	return code;
}

int bench_run_mmap_cost(const struct opts *o, struct bench_out *out, struct error *err)
{
	uint64_t turns = ((o->pairs ? o->pairs : PAIRS) + 1) / 2;
	struct bench_counts counts;
	struct cost c = {.load = {.bytes = o->size ? o->size : BYTES,
				  .rounds = o->rounds ? o->rounds : ROUNDS}};
	int code = bench_counts(o, &counts, err);

	if (code == 0 && (counts.is_list || o->measure))
		code = error_set(err, -EINVAL,
				 "--cost is of one number of threads, and of no "
				 "--measure");
	c.load.threads = counts.v[0];
	if (code == 0)
		code = warm_up(&c, err);
	if (code == 0)
		cmd_say(o, "%zu ways to measure, %" PRIu64 " pairs each: this takes a while",
			(size_t)WAYS, 2 * turns);
	for (uint64_t i = 0; code == 0 && i < turns; i++)
		for (size_t way = 0; code == 0 && way < WAYS; way++)
			code = take_turn(&c, way, err);
	if (code == 0)
		code = print_cost(&c, out, err);
	for (size_t i = 0; i < WAYS; i++)
		bench_pairs_deinit(&c.outcomes[i].pairs);
	return code;
}
