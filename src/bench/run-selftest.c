// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend bench selftest`: the waits and probes that this program has made, beside those that
 * kontend reports. A line a kind: how many there were and, of waits, for how long. The truth
 * is a range; the error of the report is its distance from that range. Kinds that this machine or
 * user cannot make are printed as such, and are no failure; all others have a limit.
 */
#include "kontend/bench-known.h"
#include "kontend/bench-lock.h"
#include "kontend/cmd.h"
#include "kontend/units.h"
#include "observe.h"
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* FEW waits say nothing: others may have had as many. */
enum { BREAKPOINTS = 2, HITS = 1000, FEW = 100 };

/* Percent that the reported figures may be off. */
static const double SLEEP_WAITS = 2, SLEEP_TIME = 5, SPIN_WAITS = 10, SPIN_TIME = 25, THINGS = 0;
/* A kernel that reports all waits reports at least this part of them. */
static const double REPORTED = 0.8;

static const struct bench_metric m_made = {"made", "1", BENCH_FACT},
				 m_made_most = {"made_most", "1", BENCH_FACT},
				 m_seen = {"seen", "1", BENCH_FACT},
				 m_seen_off = {"seen_off", "%", BENCH_FACT},
				 m_least = {"waited_least", "ns", BENCH_FACT},
				 m_most = {"waited_most", "ns", BENCH_FACT},
				 m_waited = {"waited_seen", "ns", BENCH_FACT},
				 m_waited_off = {"waited_off", "%", BENCH_FACT};

/* The waits made of one kind, in memory shared with the process that makes them. */
struct made {
	enum bench_lock_kind kind;
	struct bench_lock_options options;
	struct bench_lock_result result;
	uint64_t reported; /* waits that spin, by the kernel; UINT64_MAX: not known */
};

/* One line. */
struct line {
	const char *name;
	uint64_t least, most, seen;
	uint64_t least_ns, most_ns, seen_ns; /* 0: no waits */
	double waits_limit, time_limit;
};

struct selftest {
	struct bench_out *out;
	unsigned failed, tried;
	bool has_head;
	bool unseen; /* nothing can be measured: another kind neither */
};

static double off(uint64_t least, uint64_t most, uint64_t seen)
{
	uint64_t bound = seen < least ? least : most;

	if (seen >= least && seen <= most)
		return 0;
	return bound ? ((double)seen - (double)bound) * 100 / (double)bound : 100;
}

static bool is_beyond(double percent, double limit)
{
	return percent > limit || percent < -limit;
}

/* Above the first line: where nothing can be measured there is none. */
static void print_head(struct selftest *t)
{
	if (t->out->text && !t->has_head)
		fprintf(t->out->text, "%-14s %13s %7s %7s  %17s %7s %7s\n", "", "made", "seen",
			"off", "waited", "seen", "off");
	t->has_head = true;
}

/* "12", or "10-12". */
static const char *between(char *buf, size_t size, const char *least, const char *most)
{
	if (strcmp(least, most) == 0)
		snprintf(buf, size, "%s", least);
	else
		snprintf(buf, size, "%s-%s", least, most);
	return buf;
}

static void print_line(FILE *out, const struct line *l, double waits_off, double time_off,
		       bool good)
{
	char a[UNITS_BUF], b[UNITS_BUF], seen[UNITS_BUF], made[2 * UNITS_BUF + 2];

	snprintf(a, sizeof(a), "%llu", (unsigned long long)l->least);
	snprintf(b, sizeof(b), "%llu", (unsigned long long)l->most);
	fprintf(out, "%-14s %13s %7llu %6.1f%%", l->name, between(made, sizeof(made), a, b),
		(unsigned long long)l->seen, waits_off);
	if (l->most_ns)
		fprintf(out, "  %17s %7s %6.1f%%",
			between(made, sizeof(made), units_ns(a, l->least_ns),
				units_ns(b, l->most_ns)),
			units_ns(seen, l->seen_ns), time_off);
	fprintf(out, "%s%s\n", l->most_ns ? "" : "                                    ",
		good ? "  ok" : "  BEYOND THE LIMIT");
	fflush(out);
}

static void put_line(struct bench_figures *f, const struct line *l, double waits_off,
		     double time_off)
{
	bench_figures_put(f, &m_made, (double)l->least, "%s", l->name);
	if (l->most != l->least)
		bench_figures_put(f, &m_made_most, (double)l->most, "%s", l->name);
	bench_figures_put(f, &m_seen, (double)l->seen, "%s", l->name);
	bench_figures_put(f, &m_seen_off, waits_off, "%s", l->name);
	if (!l->most_ns)
		return;
	bench_figures_put(f, &m_least, (double)l->least_ns, "%s", l->name);
	bench_figures_put(f, &m_most, (double)l->most_ns, "%s", l->name);
	bench_figures_put(f, &m_waited, (double)l->seen_ns, "%s", l->name);
	bench_figures_put(f, &m_waited_off, time_off, "%s", l->name);
}

static void judge(struct selftest *t, const struct line *l)
{
	double waits_off = off(l->least, l->most, l->seen);
	double time_off = l->most_ns ? off(l->least_ns, l->most_ns, l->seen_ns) : 0;
	bool good = !is_beyond(waits_off, l->waits_limit) && !is_beyond(time_off, l->time_limit);

	print_head(t);
	t->tried++;
	t->failed += !good;
	if (t->out->text)
		print_line(t->out->text, l, waits_off, time_off, good);
	put_line(&t->out->figures, l, waits_off, time_off);
}

static void say_skipped(struct selftest *t, const char *name, const char *why)
{
	print_head(t);
	if (t->out->text)
		fprintf(t->out->text, "%-14s not here: %s\n", name, why);
}

/* Errors that are no fault of kontend. */
static bool cannot(int code)
{
	return code == -EPERM || code == -EACCES || code == -EOPNOTSUPP || code == -ENOSYS ||
	       code == -ENODEV || code == -ENOSPC;
}

/* A lock of that name is another one where sleeping locks take the place of spinning ones. */
static int type_seen(const char *name, const struct bench_observed *o)
{
	static const struct {
		const char *name;
		enum lock_type is, on_rt;
	} types[] = {
		{"mutex", LOCK_MUTEX, LOCK_RT_MUTEX},
		{"spinlock", LOCK_SPINLOCK, LOCK_RT_MUTEX},
		{"rwsem:R", LOCK_RWSEM_R, LOCK_RWLOCK_RT_R},
		{"rwsem:W", LOCK_RWSEM_W, LOCK_RWLOCK_RT_W},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strcmp(types[i].name, name) == 0)
			return o->types[types[i].is].waits || !o->types[types[i].on_rt].waits
				       ? (int)types[i].is
				       : (int)types[i].on_rt;
	return LOCK_UNKNOWN;
}

static int make_waits(void *ctx, struct error *err)
{
	struct made *m = ctx;
	int fd = bench_known_count_spins();
	int code = bench_lock(m->kind, &m->options, &m->result, err);

	m->reported = bench_known_reported(fd);
	return code;
}

/*
 * Without paravirtual spinlocks the kernel does not report a task that waits alone, only those that
 * queue behind another waiter: it has a count of these. Then that count is the truth to compare
 * with.
 */
static bool compare_reported(struct selftest *t, const char *name, const struct bench_lock_sum *s,
			     const struct made *m, const struct bench_observed *o)
{
	const struct line l = {.name = name,
			       .least = m->reported,
			       .most = m->reported,
			       .seen = o->types[LOCK_SPINLOCK].all,
			       .waits_limit = SPIN_WAITS};

	if (s->most < FEW) {
		say_skipped(t, name, "threads have hardly met, as others had the CPUs");
		return true;
	}
	if (m->reported == UINT64_MAX || (double)m->reported >= (double)s->least * REPORTED)
		return false;
	print_head(t);
	if (t->out->text)
		fprintf(t->out->text,
			"%-14s %llu waits were made: this kernel reports only waiters "
			"behind another waiter\n",
			name, (unsigned long long)s->least);
	if (m->reported < FEW)
		say_skipped(t, name, "it has reported hardly any");
	else
		judge(t, &l);
	return true;
}

static void compare(struct selftest *t, const struct made *m, const struct bench_lock_sum *s,
		    const struct bench_observed *o)
{
	const char *name = m->kind == BENCH_LOCK_FUTEX ? "futex bucket" : s->type;
	int type = type_seen(s->type, o);
	bool spins = strcmp(s->type, "spinlock") == 0;
	struct line l = {.name = name,
			 .least = s->least,
			 .most = s->most,
			 .seen = o->types[type].waits,
			 .least_ns = s->least_ns,
			 .most_ns = s->most_ns,
			 .seen_ns = o->types[type].total_ns,
			 .waits_limit = spins ? SPIN_WAITS : SLEEP_WAITS,
			 .time_limit = spins ? SPIN_TIME : SLEEP_TIME};

	if (type == LOCK_RWLOCK_RT_R || type == LOCK_RWLOCK_RT_W)
		say_skipped(t, name,
			    "PREEMPT_RT reports one wait for a rwsem as waits for two locks");
	else if (!spins || type != LOCK_SPINLOCK || !compare_reported(t, name, s, m, o))
		judge(t, &l);
}

static int test_waits(struct selftest *t, enum bench_lock_kind kind, const struct opts *opts,
		      struct error *err)
{
	struct made *m = bench_observe_memory(sizeof(*m));
	struct bench_observed o;
	char comm[16];

	if (!m)
		return error_enomem(err, "the workloads");
	snprintf(comm, sizeof(comm), "bench-%s", bench_lock_name(kind));
	m->kind = kind;
	m->options = (struct bench_lock_options){(uint32_t)opts->threads, opts->rounds};
	const struct bench_observe_work w = {make_waits, m, comm};
	int code = bench_observe(&w, &o, err);

	t->unseen = o.unseen;
	if (code == 0 && o.lost && t->out->text)
		fprintf(t->out->text, "%-14s %llu records were lost: figures are too low\n",
			bench_lock_name(kind), (unsigned long long)o.lost);
	for (size_t i = 0; code == 0 && i < m->result.n_sums; i++)
		if (m->result.sums[i].type)
			compare(t, m, &m->result.sums[i], &o);
	bench_observe_forget(m, sizeof(*m));
	return code;
}

static int make_breakpoints(void *ctx, struct error *err)
{
	(void)ctx;
	return bench_known_breakpoints(BREAKPOINTS, err);
}

static int make_hits(void *ctx, struct error *err)
{
	(void)ctx;
	return bench_known_hits(HITS, err);
}

static int test_breakpoints(struct selftest *t, struct error *err)
{
	const struct bench_observe_work w = {make_breakpoints, NULL, "bench-slots"};
	struct bench_observed o;
	int code = bench_observe(&w, &o, err);

	t->unseen = o.unseen;
	if (code == 0 && o.no_slots[0])
		return error_set(err, -EOPNOTSUPP, "%s", o.no_slots);
	const struct line l = {.name = "breakpoints",
			       .least = BREAKPOINTS,
			       .most = BREAKPOINTS,
			       .seen = o.breakpoints,
			       .waits_limit = THINGS};
	if (code == 0)
		judge(t, &l);
	return code;
}

static int test_hits(struct selftest *t, struct error *err)
{
	const struct bench_observe_work w = {make_hits, NULL, "bench-hits"};
	struct bench_observed o;
	int code = bench_observe(&w, &o, err);

	t->unseen = o.unseen;
	if (code == 0 && o.no_probes[0])
		return error_set(err, -EOPNOTSUPP, "%s", o.no_probes);
	const struct line l = {.name = "uprobe hits",
			       .least = HITS,
			       .most = HITS,
			       .seen = o.hits,
			       .waits_limit = THINGS};
	if (code == 0)
		judge(t, &l);
	return code;
}

/* Goes on where a kind cannot be made here. */
static int passed(struct selftest *t, const char *name, int code, struct error *err)
{
	if (t->unseen || !cannot(code))
		return code;
	say_skipped(t, name, err->text);
	*err = (struct error){0};
	return 0;
}

int bench_run_selftest(const struct opts *o, struct bench_out *out, struct error *err)
{
	struct selftest t = {.out = out};
	int code = 0;

	for (int i = 0; code == 0 && i < BENCH_LOCK_KINDS; i++) {
		code = test_waits(&t, (enum bench_lock_kind)i, o, err);
		code = passed(&t, bench_lock_name((enum bench_lock_kind)i), code, err);
	}
	if (code == 0)
		code = passed(&t, "breakpoints", test_breakpoints(&t, err), err);
	if (code == 0)
		code = passed(&t, "uprobe hits", test_hits(&t, err), err);
	if (code == 0 && !t.tried)
		code = error_set(err, -EOPNOTSUPP, "Nothing can be tried here by this user");
	if (code == 0 && t.failed)
		code = error_set(err, -ERANGE,
				 "%u of %u kinds were seen otherwise than they were made", t.failed,
				 t.tried);
	return code;
}
