// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend bench rotation`: the cost for a workload of having more events open than there are
 * counters: for each CPU, or for each CPU and the workload alone, which old kernels went through as
 * a whole at each turn. A line a case; each is measured by a session of its own, in a process of
 * its own, since a session gives up rights that the next one needs.
 */
#include "kontend/bench-rotation.h"
#include "kontend/clock.h"
#include "kontend/cmd.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/pmus.h"
#include "kontend/query-rotation-phases.h"
#include "kontend/query-rotation.h"
#include "kontend/run.h"
#include "kontend/units.h"
#include "observer.h"
#include "run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EVENTS = 29, CELL = 16, WHY = 600, SHARES = 3 };

static const uint64_t BYTES = 48 << 20, CASE_NS = 1500000000, SWITCHES_NS = 500000000;
static const uint64_t TICK_NS = 100000000;

/* Results of one case. */
struct figures {
	uint64_t rotations, p50_ns, p99_ns; /* on the workload's CPU */
	double per_s, cpu_pct;
	uint64_t switches, switch_ns;
	double bytes_per_s;
	uint64_t elsewhere;
	/* Of the look at phases. */
	struct query_rotation_phase phase;
	char no_phases[WHY], no_cgroups[WHY];
};

/* The timer of the workload's CPU that rotated most. */
static int take_row(struct query *q, uint32_t cpu, const struct query_rotation_costs *c,
		    const struct table *t, struct figures *f)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		struct query_rotation_row row;
		int code = query_rotation_row(q, t->ids[i], c, &row);
		if (code < 0)
			return code;
		if (row.what_if.cpu != cpu || row.hist.n_waits < f->rotations)
			continue;
		f->rotations = row.hist.n_waits;
		f->p50_ns = row.hist.p50_ns;
		f->p99_ns = row.hist.p99_ns;
		f->per_s = row.what_if.per_s;
		f->cpu_pct = row.what_if.cpu_pct;
		f->elsewhere = row.elsewhere;
	}
	return 0;
}

static void take_switches(uint32_t cpu, const struct query_rotation_costs *c, struct figures *f)
{
	for (size_t i = 0; i < c->n_switches; i++) {
		const struct query_rotation_switches *s = &c->switches[i];
		if (s->cpu != cpu)
			continue;
		f->switches = s->loaded_n ? s->loaded_n : s->plain_n;
		f->switch_ns = s->loaded_n ? s->loaded_p50_ns : s->plain_p50_ns;
	}
}

/* Of the workload's CPU. */
static int take_phases(struct query *q, uint32_t cpu, struct figures *f)
{
	struct query_rotation_phases p;
	int code = query_rotation_phases(q, &p);

	if (code < 0)
		return code;
	snprintf(f->no_phases, sizeof(f->no_phases), "%s", p.reason);
	snprintf(f->no_cgroups, sizeof(f->no_cgroups), "%s", p.cgroup_reason);
	for (size_t i = 0; i < p.n_cpus; i++)
		if (p.cpus[i].cpu == cpu)
			f->phase = p.cpus[i];
	return 0;
}

/* In the process that measures. */
static int take_figures(void *ctx, struct run *run, void *answer, struct error *err)
{
	const uint32_t cpu = *(const uint32_t *)ctx;
	struct figures *f = answer;
	struct query_spec spec = {.average = true};
	struct query_rotation_costs costs;
	struct query q = {0};
	struct table t;

	int code = query_init(&q, &run->engine);
	if (code == 0)
		code = query_rotation(&q, &spec, &t, err);
	if (code == 0)
		code = query_rotation_costs(&q, &costs);
	if (code == 0)
		code = take_row(&q, cpu, &costs, &t, f);
	if (code == 0)
		take_switches(cpu, &costs, f);
	if (code == 0)
		code = take_phases(&q, cpu, f);
	query_deinit(&q);
	return code < 0 ? error_errno(err, code, "Cannot sum up the measurement") : 0;
}

/* For @ns, by a process of its own. */
static int measure(const struct bench_rotation *b, uint32_t cpu, uint64_t ns, bool phases,
		   struct figures *ret, struct error *err)
{
	const struct opts o = {.verb = VERB_REPORT,
			       .no_stack = true,
			       .delay_ns = TICK_NS,
			       .phases = phases,
			       .switches_ns = phases ? 0 : SWITCHES_NS,
			       .no_switches = phases};
	const struct bench_observer_job job = {
		.opts = &o, .size = sizeof(*ret), .take = take_figures, .ctx = &cpu};
	struct bench_observer ob;
	int code = bench_observer_start(&ob, &job, err);

	if (code < 0)
		return code;
	uint64_t from_ns = clock_now_ns(), from = bench_rotation_bytes(b);
	clock_sleep_ns(ns);
	uint64_t took = clock_now_ns() - from_ns, bytes = bench_rotation_bytes(b) - from;
	code = bench_observer_stop(&ob, ret, err);
	if (code == 0)
		ret->bytes_per_s = took ? (double)bytes * 1e9 / (double)took : 0;
	return code;
}

/* Right-aligned text, or "-" without a sample. */
static void print_cell(FILE *out, int width, bool known, const char *text)
{
	fprintf(out, " %*s", width, known ? text : "-");
}

static void print_line(FILE *out, enum bench_rotation_case which, uint32_t opened,
		       const struct figures *f, double without)
{
	char buf[UNITS_BUF], text[CELL];

	fprintf(out, "%-12s %8u", bench_rotation_name(which), opened);
	print_cell(out, 11, f->rotations, units_rate(buf, f->per_s));
	print_cell(out, 8, f->rotations, units_ns(buf, f->p50_ns));
	print_cell(out, 8, f->rotations, units_ns(buf, f->p99_ns));
	snprintf(text, sizeof(text), "%.2f", f->cpu_pct);
	print_cell(out, 6, f->rotations, text);
	print_cell(out, 8, f->switches, units_ns(buf, f->switch_ns));
	snprintf(text, sizeof(text), "%.0fM/s", f->bytes_per_s / 1e6);
	print_cell(out, 10, true, text);
	snprintf(text, sizeof(text), "%.3fx", f->bytes_per_s > 0 ? without / f->bytes_per_s : 0);
	print_cell(out, 9, f->bytes_per_s > 0, text);
	fputc('\n', out);
	fflush(out);
}

static const struct bench_metric opened = {"events_opened", "1", BENCH_FACT},
				 rotations = {"rotations", "1/s", BENCH_FACT},
				 rotation_p50 = {"rotation_p50", "ns", BENCH_LOWER},
				 rotation_p99 = {"rotation_p99", "ns", BENCH_LOWER},
				 cpu = {"CPU of rotation", "%", BENCH_LOWER},
				 switch_p50 = {"context_switch_p50", "ns", BENCH_LOWER},
				 workload = {"workload", "B/s", BENCH_HIGHER},
				 slowdown = {"slowdown", "1", BENCH_LOWER};

static const struct bench_metric elsewhere = {"events_elsewhere", "1", BENCH_FACT},
				 out_p50 = {"schedule_out_p50", "ns", BENCH_LOWER},
				 out_p99 = {"schedule_out_p99", "ns", BENCH_LOWER},
				 in_p50 = {"schedule_in_p50", "ns", BENCH_LOWER},
				 in_p99 = {"schedule_in_p99", "ns", BENCH_LOWER},
				 cgroup_switch = {"cgroup_switch", "ns", BENCH_LOWER};

static double if_any(uint64_t n, double value)
{
	return n ? value : (double)NAN;
}

static void put_figures(struct bench_figures *to, enum bench_rotation_case which, uint32_t events,
			const struct figures *f, double without)
{
	const struct {
		const struct bench_metric *metric;
		double value;
	} all[] = {
		{&opened, events},
		{&rotations, if_any(f->rotations, f->per_s)},
		{&rotation_p50, if_any(f->rotations, (double)f->p50_ns)},
		{&rotation_p99, if_any(f->rotations, (double)f->p99_ns)},
		{&cpu, if_any(f->rotations, f->cpu_pct)},
		{&switch_p50, if_any(f->switches, (double)f->switch_ns)},
		{&workload, f->bytes_per_s},
		{&slowdown, f->bytes_per_s > 0 ? without / f->bytes_per_s : (double)NAN},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		bench_figures_put(to, all[i].metric, all[i].value, "%s",
				  bench_rotation_name(which));
}

/* With the probes of phases, which lengthen what they are in: so in a measurement of its own. */
static void put_phases(struct bench_figures *to, enum bench_rotation_case which,
		       const struct figures *f)
{
	const struct query_rotation_phase *p = &f->phase;
	const struct {
		const struct bench_metric *metric;
		double value;
	} all[] = {
		{&elsewhere, if_any(f->rotations, (double)f->elsewhere)},
		{&out_p50, if_any(p->n, (double)p->out_p50_ns)},
		{&out_p99, if_any(p->n, (double)p->out_p99_ns)},
		{&in_p50, if_any(p->n, (double)p->in_p50_ns)},
		{&in_p99, if_any(p->n, (double)p->in_p99_ns)},
		{&cgroup_switch, if_any(p->switches, (double)p->switch_avg_ns)},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		bench_figures_put(to, all[i].metric, all[i].value, "%s",
				  bench_rotation_name(which));
}

static void print_phases(FILE *out, enum bench_rotation_case which, const struct figures *f)
{
	const struct query_rotation_phase *p = &f->phase;
	char buf[UNITS_BUF];

	fprintf(out, "%-12s", bench_rotation_name(which));
	print_cell(out, 9, f->rotations, units_count(buf, f->elsewhere));
	print_cell(out, 9, p->n, units_ns(buf, p->out_p50_ns));
	print_cell(out, 9, p->n, units_ns(buf, p->out_p99_ns));
	print_cell(out, 9, p->n, units_ns(buf, p->in_p50_ns));
	print_cell(out, 9, p->n, units_ns(buf, p->in_p99_ns));
	print_cell(out, 9, p->switches, units_count(buf, p->switches));
	print_cell(out, 9, p->switches, units_ns(buf, p->switch_avg_ns));
	fputc('\n', out);
}

/* Results of one case, printed after all cases. */
struct result {
	bool measured;
	struct figures plain, phases;
};

static void print_all_phases(FILE *out, const struct result *results)
{
	const struct figures *none = &results[BENCH_ROTATION_NONE].phases;

	fprintf(out, "\nphases, with a probe in the kernel where they meet%s%s\n",
		*none->no_phases ? ": not available: " : "", none->no_phases);
	if (*none->no_cgroups)
		fprintf(out, "switches of cgroups: not available: %s\n", none->no_cgroups);
	fprintf(out, "%-12s %9s %9s %9s %9s %9s %9s %9s\n", "", "elsewhere", "out p50", "out p99",
		"in p50", "in p99", "cgroup sw", "each");
	for (int i = 0; i < BENCH_ROTATION_CASES; i++)
		if (results[i].measured)
			print_phases(out, (enum bench_rotation_case)i, &results[i].phases);
	fflush(out);
}

static int measure_case(enum bench_rotation_case which, const struct bench_rotation_options *o,
			uint64_t ns, double *without, struct result *ret, struct bench_out *out,
			struct error *err)
{
	struct bench_rotation b;
	int code = bench_rotation_start(&b, which, o, err);

	if (code == 0)
		code = measure(&b, o->cpu, ns / SHARES * (SHARES - 1), false, &ret->plain, err);
	if (code == 0)
		code = measure(&b, o->cpu, ns / SHARES, true, &ret->phases, err);
	if (code == 0) {
		uint32_t n = bench_rotation_opened(&b);
		ret->measured = true;
		if (which == BENCH_ROTATION_NONE)
			*without = ret->plain.bytes_per_s;
		if (out->text)
			print_line(out->text, which, n, &ret->plain, *without);
		put_figures(&out->figures, which, n, &ret->plain, *without);
		put_phases(&out->figures, which, &ret->phases);
	}
	bench_rotation_stop(&b);
	return code;
}

/* Cgroups are not to be had everywhere: the other cases are. */
static int run_case(enum bench_rotation_case which, const struct bench_rotation_options *o,
		    uint64_t ns, double *without, struct result *ret, struct bench_out *out,
		    struct error *err)
{
	int code = measure_case(which, o, ns, without, ret, out, err);

	if (which != BENCH_ROTATION_CGROUPS || code != -EOPNOTSUPP)
		return code;
	if (out->text)
		fprintf(out->text, "%-12s not available: %s\n", bench_rotation_name(which),
			err->text);
	error_set(&out->lacks, code, "%s: %s", bench_rotation_name(which), err->text);
	*err = (struct error){0};
	return 0;
}

/* The last CPU: the first one has most to do for others. */
static int last_cpu(uint32_t *ret, size_t *ret_n, struct error *err)
{
	uint32_t *cpus;
	int code = cpulist_read("online", &cpus, ret_n);

	if (code < 0)
		return error_errno(err, code, "Cannot read which CPUs are online");
	*ret = *ret_n ? cpus[*ret_n - 1] : 0;
	mem_free(cpus);
	return 0;
}

static void print_head(FILE *out, const struct bench_rotation_options *b, const struct pmus *pmus,
		       size_t cpus)
{
	char bytes[UNITS_BUF];

	fprintf(out,
		"rotation: %u events of cycles for each of %zu CPUs, %s every %u ms; the workload "
		"streams through %s on CPU %u\n",
		b->events, cpus, pmus->items[0].name, pmus->items[0].interval_ms,
		units_bytes(bytes, b->bytes), b->cpu);
	fprintf(out, "%-12s %8s %11s %8s %8s %6s %8s %10s %9s\n", "", "events", "rotations/s",
		"p50", "p99", "CPU%", "switch", "workload", "slowdown");
	fflush(out);
}

int bench_run_rotation(const struct opts *o, struct bench_out *out, struct error *err)
{
	struct bench_rotation_options b = {.events = o->events ? (uint32_t)o->events : EVENTS,
					   .bytes = o->size ? o->size : BYTES};
	uint64_t ns = o->duration_ns ? o->duration_ns / BENCH_ROTATION_CASES : CASE_NS;
	struct result *results = mem_calloc(BENCH_ROTATION_CASES, sizeof(*results));
	double without = 0;
	struct pmus pmus;
	size_t cpus;

	pmus_read("/sys/bus/event_source/devices", &pmus);
	int code = results ? last_cpu(&b.cpu, &cpus, err) : error_enomem(err, "the results");
	if (code == 0 && !pmus.n)
		code = error_set(err, -ENODEV,
				 "Nothing rotates here: this machine has no hardware counters that "
				 "events could take turns on");
	if (code == 0 && out->text)
		print_head(out->text, &b, &pmus, cpus);
	for (int i = 0; code == 0 && i < BENCH_ROTATION_CASES; i++)
		code = run_case((enum bench_rotation_case)i, &b, ns, &without, &results[i], out,
				err);
	if (code == 0 && out->text)
		print_all_phases(out->text, results);
	mem_free(results);
	return code;
}
