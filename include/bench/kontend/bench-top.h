/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_TOP_H
#define KONTEND_BENCH_TOP_H

#include "kontend/sym.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where a benchmark spends its time: this process's threads on some CPUs, looked at about a
 * thousand times a second of CPU time each, by function of the kernel. What is in programs is one
 * function, "[user]".
 */
enum { BENCH_TOP_FUNCTIONS = 3 };

struct bench_top_function {
	char name[48];
	double share; /* of all samples, 0 to 1 */
};

struct bench_top;

/*
 * Samples @cpus from now on; threads that are started later are among them. NULL: the kernel lets
 * nobody sample here, or there is no memory; then nobody is told where. @sym is borrowed.
 */
struct bench_top *bench_top_new(const uint32_t *cpus, size_t n, const struct sym *sym);
/* Takes what is in the rings, which are for some seconds. NULL is fine. */
void bench_top_take(struct bench_top *t);
/* One sample; for bench_top_take() and tests. */
void bench_top_count(struct bench_top *t, uint64_t ip);
/* The functions with most samples, at most BENCH_TOP_FUNCTIONS; how many. 0 of NULL. */
size_t bench_top_most(const struct bench_top *t, struct bench_top_function *ret);
/*
 * Are samples taken by an interrupt that waits while interrupts are off? Then what is done
 * meanwhile stands at the function that lets them in again. So it is but for cycles on machines
 * whose counters interrupt by NMI.
 */
bool bench_top_skid(const struct bench_top *t);
void bench_top_free(struct bench_top *t); /* NULL is fine */

#endif
