/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_RETRY_H
#define KONTEND_BENCH_RETRY_H

#include "kontend/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * How often down_read_trylock() retries for each try: if it has two compare and exchange
 * instructions, the second one runs when the first one found the lock in use. An instruction that
 * waits for its cache line takes nearly all of the time, so samples of either, by a counter that
 * names the exact instruction, are proportional to how often it ran.
 */
struct bench_retry;

/*
 * Offsets of the two in the function's code. 0; -ENODATA: there are not two; or the error of
 * disasm_open(); with @err.
 */
int bench_retry_places(const uint8_t *code, size_t n, uint32_t ret[2], struct error *err);

/*
 * Samples this process and the threads that it starts. -ENODEV: no counter here names the exact
 * instruction; or the error of the kernel; with @err.
 */
int bench_retry_new(struct bench_retry **ret, const uint32_t *cpus, size_t n, struct error *err);
/* Empties the rings, which hold some seconds; counts samples in @len bytes from @start. */
void bench_retry_take(struct bench_retry *r, uint64_t start, size_t len);
/* One sample; for bench_retry_take() and tests. */
void bench_retry_count(struct bench_retry *r, uint64_t offset);
void bench_retry_free(struct bench_retry *r); /* NULL is fine */

struct bench_retry_sum {
	uint64_t samples;	/* in the function */
	uint64_t first, second; /* at its two instructions */
	double per_try;		/* retries for each try */
};

/* Sums up, with the two instructions at @at. 0; -ENODATA: there are too few samples, with @err. */
int bench_retry_sum(const struct bench_retry *r, const uint32_t at[2], struct bench_retry_sum *ret,
		    struct error *err);

#endif
