// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend bench uprobe`: a line a kind of probe and number of CPUs, and what one CPU needs for a
 * hit is kept for the view of uprobes. The cost of a class is that of the kind whose instruction is
 * of that class on this machine.
 */
#include "kontend/bench-uprobe.h"
#include "bench.h"
#include "kontend/cpulist.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/units.h"
#include "kontend/uprobe-cost.h"
#include "kontend/uprobe.h"
#include "verbs.h"

#include <stdio.h>

enum { PARTS = 5, NAME = 32 };

static const uint64_t PART_NS = 100000000, LEAST_PART_NS = 1000000;

/* 1 to 8, then in growing steps; the last one is @n. */
static uint32_t next_count(uint32_t cpus, uint32_t n)
{
	uint32_t step = cpus < 8 ? 1 : cpus < 16 ? 2 : 8;

	return cpus < n && cpus + step > n ? n : cpus + step;
}

static uint32_t count_online(void)
{
	uint32_t *cpus;
	size_t n;

	if (cpulist_read("online", &cpus, &n) < 0)
		return 1;
	mem_free(cpus);
	return n ? (uint32_t)n : 1;
}

static void name_row(char buf[NAME], const struct bench_uprobe_row *r)
{
	snprintf(buf, NAME, "%s-%s", r->is_return ? "uretprobe" : "uprobe",
		 bench_uprobe_kind_name(r->kind));
}

static void print_row(FILE *out, const struct bench_uprobe_row *r)
{
	char name[NAME], cost[UNITS_BUF];

	name_row(name, r);
	fprintf(out, "%-21s (%2u cpus): %8.3f ± %5.3fM/s  (%7.3fM/s/cpu)  %6s  %-11s", name,
		r->cpus, r->calls_per_s / 1e6, r->deviation / 1e6, r->calls_per_s / 1e6 / r->cpus,
		units_ns(cost, r->cost_ns), uprobe_class_name((enum upsnap_class)r->class_));
	for (size_t i = 0; i < r->n_top; i++)
		fprintf(out, "%s %2.0f%% %s", i ? "," : " ", r->top[i].share * 100, r->top[i].name);
	fprintf(out, "%s\n", r->n_top ? "" : "  -");
	fflush(out);
}

static const struct bench_metric calls = {"calls", "1/s", BENCH_HIGHER},
				 cost_of_hit = {"CPU of a hit", "ns", BENCH_LOWER};

static void put_figures(struct bench_figures *f, const struct bench_uprobe_row *r)
{
	char name[NAME];

	name_row(name, r);
	bench_figures_put(f, &calls, r->calls_per_s, "%s, %u cpus", name, r->cpus);
	bench_figures_put(f, &cost_of_hit, (double)r->cost_ns, "%s, %u cpus", name, r->cpus);
}

/* The cheapest kind of a class tells its price: the others do more than being hit. */
static void keep(struct uprobe_costs *c, const struct bench_uprobe_row *r)
{
	uint64_t *ns = &c->ns[r->class_][r->is_return];

	if (r->cpus == 1 && r->cost_ns && (!*ns || r->cost_ns < *ns))
		*ns = r->cost_ns;
}

/* Without names, as where they are withheld, everything is "[kernel]". */
static void read_names(struct sym *s)
{
	size_t len = 0;
	char *text = NULL;

	sym_init(s);
	if (fdio_read_file("/proc/kallsyms", &text, &len) >= 0)
		(void)sym_load(s, text, len, NULL);
	mem_free(text);
}

static int measure_all(const struct opts *o, const struct sym *sym, struct uprobe_costs *costs,
		       struct bench_out *out, struct error *err)
{
	uint32_t online = count_online(), rows = 0;
	int code = 0;

	for (uint32_t n = 1; n <= online; n = next_count(n, online))
		rows += 2 * BENCH_UPROBE_KINDS;
	uint64_t part = o->duration_ns ? o->duration_ns / rows / PARTS : PART_NS;
	part = part < LEAST_PART_NS ? LEAST_PART_NS : part;
	for (int kind = 0; kind < BENCH_UPROBE_KINDS; kind++)
		for (int back = 0; back < 2; back++)
			for (uint32_t n = 1; code == 0 && n <= online; n = next_count(n, online)) {
				struct bench_uprobe_row r;
				code = bench_uprobe_row((enum bench_uprobe_kind)kind, back != 0, n,
							PARTS, part, sym, &r, err);
				if (code == 0) {
					if (out->text)
						print_row(out->text, &r);
					put_figures(&out->figures, &r);
					keep(costs, &r);
				}
			}
	return code;
}

int cmd_bench_uprobe(const struct opts *o, struct bench_out *out, struct error *err)
{
	struct uprobe_costs costs = {0};
	struct sym sym;

	read_names(&sym);
	int code = measure_all(o, &sym, &costs, out, err);
	sym_deinit(&sym);
	if (code == 0)
		code = uprobe_cost_store(&costs, err);
	if (code == 0)
		cmd_say(o, "what a hit costs is kept until this machine boots again: the view "
			   "uprobes has it");
	return code;
}
