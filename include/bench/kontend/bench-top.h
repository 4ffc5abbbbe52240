/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_TOP_H
#define KONTEND_BENCH_TOP_H

#include "kontend/sym.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The kernel functions in which a benchmark spends its time: this process's threads on some CPUs,
 * about a thousand samples for each second of CPU time. Code of programs is one function, "[user]".
 */
enum { BENCH_TOP_FUNCTIONS = 3 };

struct bench_top_function {
	char name[48];
	double share; /* of all samples, 0 to 1 */
};

struct bench_top;

/*
 * Samples @cpus from now on, including threads that are started later. NULL: the kernel does not
 * let this user sample, or there is no memory; then this part of the result is missing. @sym is
 * borrowed.
 */
struct bench_top *bench_top_new(const uint32_t *cpus, size_t n, const struct sym *sym);
/* Empties the rings, which hold some seconds. NULL is fine. */
void bench_top_take(struct bench_top *t);
/* One sample; for bench_top_take() and tests. */
void bench_top_count(struct bench_top *t, uint64_t ip);
/* The functions with most samples, at most BENCH_TOP_FUNCTIONS; returns their number. 0 for
 * NULL. */
size_t bench_top_most(const struct bench_top *t, struct bench_top_function *ret);
/*
 * Are samples taken by an interrupt that is delayed while interrupts are off? Then time with
 * interrupts off is attributed to the function that enables them again. That is so except for
 * cycles on machines whose counters interrupt by NMI.
 */
bool bench_top_skid(const struct bench_top *t);
void bench_top_free(struct bench_top *t); /* NULL is fine */

#endif
