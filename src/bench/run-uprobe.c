// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend bench uprobe`: a line a kind of probe and number of CPUs; the cost of a hit on one CPU
 * is stored for the view of uprobes. The cost of a class is that of the kind whose instruction is
 * of that class on this machine. Then the effect of the same probes on a server whose hot function
 * has one: a line a kind of request and probe, beside the one without.
 */
#include "kontend/bench-request.h"
#include "kontend/bench-uprobe.h"
#include "kontend/cmd.h"
#include "kontend/cpulist.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "kontend/units.h"
#include "kontend/uprobe.h"
#include "run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PARTS = 5, NAME = 32, WORD = 24, COUNTS = 128 };

static const uint64_t PART_NS = 100000000, LEAST_PART_NS = 1000000;

/* The measurements to make. */
struct plan {
	bool wanted[UPROBE_TARGET_KINDS][2]; /* [1]: with a probe at the return */
	bool calls, requests;
	uint32_t counts[COUNTS]; /* of CPUs */
	size_t n_counts;
	uint32_t online;
};

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

/* "nop" is both probes on one, "uprobe-nop" and "uretprobe-nop" one of them. */
static bool take_kind(struct plan *p, const char *word)
{
	bool entry = !strncmp(word, "uprobe-", 7), back = !strncmp(word, "uretprobe-", 10);
	const char *name = word + (entry ? 7 : back ? 10 : 0);

	for (int k = 0; k < UPROBE_TARGET_KINDS; k++) {
		if (strcmp(name, uprobe_target_name((enum uprobe_target)k)) != 0)
			continue;
		p->wanted[k][0] |= !back;
		p->wanted[k][1] |= !entry;
		p->calls = true;
		return true;
	}
	return false;
}

/* The next word of *@list, which is moved past it; NULL: there is none, or it is too long. */
static const char *next_word(const char **list, char word[WORD])
{
	size_t len = *list ? strcspn(*list, ",") : 0;

	if (!*list || len >= WORD)
		return NULL;
	memcpy(word, *list, len);
	word[len] = '\0';
	*list = (*list)[len] ? *list + len + 1 : NULL;
	return word;
}

/* For requests alone only the kinds of published measurements. */
static void take_all(struct plan *p)
{
	for (int k = 0; k < UPROBE_TARGET_KINDS; k++)
		p->wanted[k][0] = p->wanted[k][1] = p->calls || k != UPROBE_TARGET_NOP5;
}

static int plan_kinds(struct plan *p, const char *list, struct error *err)
{
	char word[WORD];

	if (!list) {
		p->calls = p->requests = true;
		take_all(p);
		return 0;
	}
	while (list) {
		const char *kind = next_word(&list, word);
		bool requests = kind && !strcmp(kind, "request");
		if (!requests && (!kind || !take_kind(p, kind)))
			return error_set(err, -EINVAL,
					 "--kind: give nop, nop5, push, ret, uprobe- or uretprobe- "
					 "and one of these, or request; several with commas");
		p->requests |= requests;
	}
	if (!p->calls)
		take_all(p);
	return 0;
}

static int plan_counts(struct plan *p, const char *list, struct error *err)
{
	char word[WORD];

	for (uint32_t n = 1; !list && n <= p->online && p->n_counts < COUNTS;
	     n = next_count(n, p->online))
		p->counts[p->n_counts++] = n;
	while (list) {
		const char *text = next_word(&list, word);
		uint64_t n = 0;
		if (!text || number_parse(text, 1, UINT32_MAX, &n) < 0 || p->n_counts == COUNTS)
			return error_set(err, -EINVAL,
					 "--cpus: give numbers of CPUs, as 1,2,40; at most %d",
					 COUNTS);
		if (n > p->online)
			return error_set(err, -EINVAL, "--cpus %ju: only %u CPUs are online here",
					 (uintmax_t)n, p->online);
		p->counts[p->n_counts++] = (uint32_t)n;
	}
	return 0;
}

static const char *name_of(char buf[NAME], enum uprobe_target kind, bool is_return)
{
	snprintf(buf, NAME, "%s-%s", is_return ? "uretprobe" : "uprobe", uprobe_target_name(kind));
	return buf;
}

static void print_row(FILE *out, const struct bench_uprobe_row *r)
{
	char name[NAME], cost[UNITS_BUF];

	fprintf(out, "%-21s (%2u cpus): ", name_of(name, r->kind, r->is_return), r->cpus);
	if (isfinite(r->took.per_s))
		fprintf(out, "%8.3f ± %5.3fM/s  (%7.3fM/s/cpu)", r->took.per_s / 1e6,
			r->took.deviation / 1e6, r->took.per_s / 1e6 / r->cpus);
	else
		fputs("       - no call: no thread got a CPU ", out);
	fprintf(out, "  %6s  %-11s", bench_parts_cost(cost, r->took.cost_ns),
		uprobe_class_name((enum upsnap_class)r->class_));
	for (size_t i = 0; i < r->n_top; i++)
		fprintf(out, "%s %2.0f%% %s", i ? "," : " ", r->top[i].share * 100, r->top[i].name);
	fprintf(out, "%s\n", r->n_top ? "" : "  -");
	fflush(out);
}

static const struct bench_metric calls = {"calls", "1/s", BENCH_HIGHER},
				 cost_of_hit = {"cpu_of_hit", "ns", BENCH_LOWER},
				 by_timer = {"sampled_by_timer", "1", BENCH_FACT},
				 requests = {"requests", "1/s", BENCH_HIGHER},
				 cost_of_request = {"cpu_of_request", "ns", BENCH_LOWER},
				 taken = {"taken_by_probe", "%", BENCH_LOWER};

static void put_figures(struct bench_figures *f, const struct bench_uprobe_row *r)
{
	char name[NAME];

	name_of(name, r->kind, r->is_return);
	bench_figures_put(f, &calls, r->took.per_s, "%s, %u cpus", name, r->cpus);
	bench_figures_put(f, &cost_of_hit, r->took.cost_ns, "%s, %u cpus", name, r->cpus);
}

/* The cheapest kind of a class has the price of a hit: the others do more than being hit. */
static void keep(struct uprobe_costs *c, const struct bench_uprobe_row *r)
{
	uint64_t *ns = &c->ns[r->class_][r->is_return];

	if (r->cpus == 1 && r->took.cost_ns >= 1 && (!*ns || r->took.cost_ns < (double)*ns))
		*ns = (uint64_t)r->took.cost_ns;
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

static size_t count_probes(const struct plan *p)
{
	size_t n = 0;

	for (int k = 0; k < UPROBE_TARGET_KINDS; k++)
		n += (size_t)p->wanted[k][0] + p->wanted[k][1];
	return n;
}

static uint64_t part_ns(const struct plan *p, uint64_t duration_ns)
{
	size_t probes = count_probes(p), rows = p->calls ? probes * p->n_counts : 0;

	rows += p->requests ? BENCH_REQUEST_OPS * (probes + 1) : 0;
	uint64_t ns = duration_ns && rows ? duration_ns / rows / PARTS : PART_NS;
	return ns < LEAST_PART_NS ? LEAST_PART_NS : ns;
}

/* Prints a note if the functions of a table may be others than those that took the time. */
static void say_skid(const struct bench_uprobe_row *last, struct bench_out *out)
{
	/* Each run has the same figures: without a sample it is not known. */
	bench_figures_put(&out->figures, &by_timer, last->n_top ? last->skid : (double)NAN,
			  "functions");
	if (out->text && last->n_top && last->skid)
		fputs("functions: sampled by a timer: time with interrupts off is "
		      "attributed to the function that enables them\n",
		      out->text);
}

static int measure_calls(const struct plan *p, uint64_t part, struct uprobe_costs *costs,
			 struct bench_out *out, struct error *err)
{
	struct bench_uprobe_row r = {0};
	struct sym sym;
	int code = 0;

	read_names(&sym);
	for (int row = 0; row < 2 * UPROBE_TARGET_KINDS; row++)
		for (size_t i = 0; code == 0 && i < p->n_counts; i++) {
			if (!p->wanted[row / 2][row % 2])
				continue;
			code = bench_uprobe_row((enum uprobe_target)(row / 2), row % 2 != 0,
						p->counts[i], PARTS, part, &sym, &r, err);
			if (code < 0)
				continue;
			if (out->text)
				print_row(out->text, &r);
			put_figures(&out->figures, &r);
			keep(costs, &r);
		}
	sym_deinit(&sym);
	if (code == 0)
		say_skid(&r, out);
	return code;
}

static void report_request(const struct bench_request_row *r, double without, struct bench_out *out)
{
	char name[NAME] = "no probe", cost[UNITS_BUF];
	double part = without > 0 ? 100 * (1 - r->took.per_s / without) : (double)NAN;

	if (r->probed)
		name_of(name, r->kind, r->is_return);
	bench_figures_put(&out->figures, &requests, r->took.per_s, "%s, %s",
			  bench_request_op_name(r->op), name);
	bench_figures_put(&out->figures, &cost_of_request, r->took.cost_ns, "%s, %s",
			  bench_request_op_name(r->op), name);
	if (r->probed)
		bench_figures_put(&out->figures, &taken, part, "%s, %s",
				  bench_request_op_name(r->op), name);
	if (!out->text)
		return;
	fprintf(out->text, "request-%s %-15s: ", bench_request_op_name(r->op), name);
	if (isfinite(r->took.per_s))
		fprintf(out->text, "%8.2f ± %5.2fk/s", r->took.per_s / 1e3,
			r->took.deviation / 1e3);
	else
		fputs("       - none answered", out->text);
	fprintf(out->text, "  %6s", bench_parts_cost(cost, r->took.cost_ns));
	if (r->probed && isfinite(part))
		fprintf(out->text, "  %+6.1f%%", -part);
	fputc('\n', out->text);
	fflush(out->text);
}

static int measure_requests(const struct plan *p, enum bench_request_op op, uint64_t part,
			    struct bench_out *out, struct error *err)
{
	struct bench_request_row r = {.op = op};
	int code = bench_request_row(&r, PARTS, part, err);
	double without = r.took.per_s;

	if (code == 0)
		report_request(&r, 0, out);
	for (int row = 0; code == 0 && row < 2 * UPROBE_TARGET_KINDS; row++) {
		r = (struct bench_request_row){
			.op = op,
			.probed = true,
			.kind = (enum uprobe_target)(row % UPROBE_TARGET_KINDS),
			.is_return = row >= UPROBE_TARGET_KINDS};
		if (!p->wanted[r.kind][r.is_return])
			continue;
		code = bench_request_row(&r, PARTS, part, err);
		if (code == 0)
			report_request(&r, without, out);
	}
	return code;
}

static int measure_all(const struct plan *p, uint64_t part, struct bench_out *out,
		       struct uprobe_costs *costs, struct error *err)
{
	int code = p->calls ? measure_calls(p, part, costs, out, err) : 0;

	for (int op = 0; p->requests && code == 0 && op < BENCH_REQUEST_OPS; op++)
		code = measure_requests(p, (enum bench_request_op)op, part, out, err);
	return code;
}

static bool has_one_cpu(const struct plan *p)
{
	for (size_t i = 0; i < p->n_counts; i++)
		if (p->counts[i] == 1)
			return true;
	return false;
}

int bench_run_uprobe(const struct opts *o, struct bench_out *out, struct error *err)
{
	struct plan p = {.online = count_online()};
	struct uprobe_costs costs = {0};
	int code = plan_kinds(&p, o->bench_kinds, err);

	code = code ? code : plan_counts(&p, o->cpu_counts, err);
	if (code == 0)
		code = measure_all(&p, part_ns(&p, o->duration_ns), out, &costs, err);
	/* A part of the kinds is no measurement of the other classes. */
	bool whole = !o->bench_kinds && has_one_cpu(&p);
	if (code == 0 && whole)
		code = uprobe_cost_store(&costs, err);
	if (code == 0 && whole)
		cmd_say(o, "what a hit costs is kept until this machine boots again: the view "
			   "uprobes has it");
	return code;
}
