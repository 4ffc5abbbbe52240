/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_PARTS_H
#define KONTEND_BENCH_PARTS_H

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

#endif
