/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_UPROBE_H
#define KONTEND_BENCH_UPROBE_H

#include "kontend/bench-parts.h"
#include "kontend/bench-top.h"
#include "kontend/error.h"
#include "kontend/uprobe-target.h"

#include <stdbool.h>
#include <stdint.h>

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
