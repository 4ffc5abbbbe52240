/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_UPROBE_H
#define KONTEND_BENCH_UPROBE_H

#include "kontend/bench-top.h"
#include "kontend/error.h"
#include "kontend/uprobe-target.h"

#include <stdbool.h>
#include <stdint.h>

/* The rate at which something happened, measured in parts of the time, and its cost. */
struct bench_parts {
	double sum, squares; /* of the rates of the parts */
	uint32_t n;
	uint64_t events;
};

/* All members are NaN if nothing happened in any part, as the thread had no CPU. */
struct bench_parts_result {
	double per_s, deviation; /* mean and standard deviation of the parts */
	double cost_ns;		 /* CPU time of one */
};

/* Adds a part of @ns in which it happened @n times. */
void bench_parts_add(struct bench_parts *p, uint64_t n, uint64_t ns);
/* @cpu_ns: CPU time in all parts. */
struct bench_parts_result bench_parts_sum(const struct bench_parts *p, uint64_t cpu_ns);

/* "15.6us", or "-" for NaN; @buf has UNITS_BUF bytes. */
const char *bench_parts_cost(char *buf, double cost_ns);

/*
 * How many hits of a uprobe per second are possible here: threads bound to one CPU each call
 * functions of this program, whose first instruction is a nop, a nop of five bytes, a push or a
 * ret, with a probe that only counts.
 */
struct bench_uprobe_row {
	enum uprobe_target kind;
	bool is_return;
	uint32_t cpus;
	/* Calls of all CPUs together, and the CPU time of each. */
	struct bench_parts_result took;
	uint32_t class_; /* enum upsnap_class of its instruction here */
	/* The functions that take most time; none: this user may not sample. */
	struct bench_top_function top[BENCH_TOP_FUNCTIONS];
	size_t n_top;
	bool skid; /* sampled by a timer: see bench_top_skid() */
};

/*
 * One row: @parts times @part_ns of calls. @sym: names of the kernel's functions. 0; -EPERM and
 * other errors of placing the probe, with @err.
 */
int bench_uprobe_row(enum uprobe_target kind, bool is_return, uint32_t cpus, uint32_t parts,
		     uint64_t part_ns, const struct sym *sym, struct bench_uprobe_row *ret,
		     struct error *err);

#endif
