// SPDX-License-Identifier: GPL-2.0-only
/*
 * The session of a benchmark of breakpoints. It looks at slots ten times a second, records all
 * waits, and samples CPUs.
 */
#include "seen.h"
#include "kontend/clock.h"
#include "kontend/locktype.h"
#include "kontend/query-hot.h"
#include "kontend/query-perf.h"
#include "kontend/run.h"
#include "kontend/units.h"

#include <math.h>
#include <string.h>

enum { HZ = 997 };

static const uint64_t TICK_NS = 100000000;

/* The top functions of the published profiles, before and after the lock was split. */
static const char *const published[BENCH_SEEN_PUBLISHED] = {
	"osq_lock",
	"task_bp_pinned",
	"rhashtable_jhash2",
	"toggle_bp_slot",
	"queued_spin_lock_slowpath",
};

/* And the locks of the accounting, by release of the kernel. */
static const char *const lock_names[] = {"bp_cpuinfo_sem", "perf_event_mutex", "nr_bp_mutex"};

static int take_waits(struct query *q, struct bench_seen *s)
{
	struct query_perf_waits w;
	int code = query_perf_waits(q, true, &w);

	for (size_t i = 0; code == 0 && i < w.n_locks && i < BENCH_SEEN_LOCKS; i++) {
		struct bench_seen_lock *l = &s->locks[s->n_locks++];
		snprintf(l->name, sizeof(l->name), "%s", w.locks[i].name);
		snprintf(l->type, sizeof(l->type), "%s", locktype_name(w.locks[i].type));
		l->contended = w.locks[i].contended;
		l->total_ns = w.locks[i].total_ns;
		l->max_ns = w.locks[i].max_ns;
	}
	return code;
}

static int32_t number(const struct table *t, size_t row, const char *key)
{
	const struct value *v = table_cell(t, row, key);

	return v->known ? (int32_t)v->i : -1;
}

/* Of the CPU where most were taken. */
static int take_slots(struct query *q, struct bench_seen *s, struct error *err)
{
	struct query_spec all = {0};
	struct table t;
	int code = query_perf_slots(q, &all, &t, err);

	s->slots = s->most = -1;
	for (size_t i = 0; code == 0 && i < t.n_rows; i++) {
		int32_t most = number(&t, i, "most_used");
		if (most < s->most)
			continue;
		s->most = most;
		s->slots = number(&t, i, "slots");
	}
	return code;
}

static void note_hot(struct bench_seen *s, const char *name, double pct)
{
	if (s->n_hot < BENCH_SEEN_HOT) {
		struct bench_seen_hot *h = &s->hot[s->n_hot++];
		snprintf(h->name, sizeof(h->name), "%s", name);
		h->pct = pct;
	}
	for (size_t i = 0; i < BENCH_SEEN_PUBLISHED; i++)
		if (!strcmp(name, published[i]))
			s->published_pct[i] += pct;
}

static int take_hot(struct query *q, struct bench_seen *s, struct error *err)
{
	struct query_zoom zoom = {0};
	struct query_hot_spec spec = {.zoom = &zoom};
	struct query_hot_sum sum;
	struct table t;
	int code = query_zoom_parse("comm=bench-bp", NULL, &zoom, err);

	code = code < 0 ? code : query_hot_sum(q, &zoom, &sum);
	code = code < 0 ? code : query_hot_named(q, &spec, &t, err);
	s->samples = code == 0 ? sum.part : 0;
	for (size_t i = 0; code == 0 && i < t.n_rows; i++) {
		const struct value *name = table_cell(&t, i, "symbol");
		const struct value *pct = table_cell(&t, i, "pct");
		if (name->known && pct->known && pct->d > 0)
			note_hot(s, name->s, pct->d);
	}
	return code;
}

/* In the process that measures. */
static int take_seen(void *ctx, struct run *run, void *answer, struct error *err)
{
	struct bench_seen *s = answer;
	struct query q = {0};
	int code = query_init(&q, &run->engine);

	(void)ctx;
	code = code < 0 ? code : take_waits(&q, s);
	code = code < 0 ? code : take_slots(&q, s, err);
	code = code < 0 ? code : take_hot(&q, s, err);
	query_deinit(&q);
	return code < 0 ? error_errno(err, code, "Cannot sum up the measurement") : 0;
}

int bench_seen_start(struct bench_seen_session *s, struct error *err)
{
	const struct opts o = {.verb = VERB_REPORT, .delay_ns = TICK_NS, .freq = HZ};
	const struct bench_observer_job job = {
		.opts = &o, .size = sizeof(struct bench_seen), .take = take_seen};
	int code = bench_observer_start(&s->observer, &job, err);

	s->from_ns = clock_now_ns();
	return code;
}

int bench_seen_stop(struct bench_seen_session *s, struct bench_seen *ret, struct error *err)
{
	uint64_t ns = clock_now_ns() - s->from_ns;
	int code = bench_observer_stop(&s->observer, ret, err);

	if (code == 0)
		ret->ns = ns;
	return code;
}

static void print_locks(const struct bench_seen *s, FILE *out)
{
	char n[UNITS_BUF], all[UNITS_BUF], worst[UNITS_BUF];

	if (!s->n_locks)
		fputs("no task waited for the slots' locks\n", out);
	for (size_t i = 0; i < s->n_locks; i++)
		fprintf(out, "waits for %s (%s): %s, %s in all, worst %s\n", s->locks[i].name,
			s->locks[i].type, units_count(n, s->locks[i].contended),
			units_ns(all, s->locks[i].total_ns), units_ns(worst, s->locks[i].max_ns));
}

void bench_seen_print(const struct bench_seen *s, FILE *out)
{
	char ns[UNITS_BUF];

	fprintf(out, "\nwhat kontend saw in %s of it:\n", units_ns(ns, s->ns));
	if (s->most >= 0)
		fprintf(out, "slots: at most %d of %d of a CPU were taken\n", s->most, s->slots);
	else
		fputs("slots: not known\n", out);
	print_locks(s, out);
	fputs("hot:", out);
	for (size_t i = 0; i < s->n_hot; i++)
		fprintf(out, "%s %.2f%% %s", i ? "," : "", s->hot[i].pct, s->hot[i].name);
	fputs(s->n_hot ? "\n" : " -\n", out);
}

static const struct bench_metric most_taken = {"most_taken", "1", BENCH_FACT},
				 of_a_cpu = {"slots", "1", BENCH_FACT},
				 waits = {"waits", "1", BENCH_FACT},
				 waited = {"waited", "ns", BENCH_FACT},
				 worst_wait = {"worst_wait", "ns", BENCH_FACT},
				 share = {"share", "%", BENCH_FACT};

static void put_lock(const struct bench_seen *s, const char *name, struct bench_figures *f)
{
	struct bench_seen_lock sum = {0};
	const double unknown = s ? 0 : (double)NAN;

	for (size_t i = 0; s && i < s->n_locks; i++) {
		const struct bench_seen_lock *l = &s->locks[i];
		if (strcmp(l->name, name) != 0)
			continue;
		sum.contended += l->contended;
		sum.total_ns += l->total_ns;
		sum.max_ns = l->max_ns > sum.max_ns ? l->max_ns : sum.max_ns;
	}
	bench_figures_put(f, &waits, (double)sum.contended + unknown, "seen: %s", name);
	bench_figures_put(f, &waited, (double)sum.total_ns + unknown, "seen: %s", name);
	bench_figures_put(f, &worst_wait, (double)sum.max_ns + unknown, "seen: %s", name);
}

void bench_seen_put(const struct bench_seen *s, struct bench_figures *f)
{
	bool known = s && s->most >= 0, sampled = s && s->samples;

	bench_figures_put(f, &most_taken, known ? s->most : (double)NAN, "seen: slots");
	bench_figures_put(f, &of_a_cpu, known ? s->slots : (double)NAN, "seen: slots");
	for (size_t i = 0; i < sizeof(lock_names) / sizeof(*lock_names); i++)
		put_lock(s, lock_names[i], f);
	for (size_t i = 0; i < BENCH_SEEN_PUBLISHED; i++)
		bench_figures_put(f, &share, sampled ? s->published_pct[i] : (double)NAN,
				  "seen: %s", published[i]);
}
