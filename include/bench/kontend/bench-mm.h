/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_MM_H
#define KONTEND_BENCH_MM_H

#include "kontend/error.h"

#include <stdint.h>

/*
 * Two workloads that contend for the mmap_lock of this process: threads, each bound to a CPU and
 * released together, touch an anonymous mapping page by page, or map, touch and unmap memory of
 * their own as fast as they can.
 */
struct bench_mm_options {
	uint32_t threads; /* 0: one for each CPU that may be used */
	uint64_t bytes;	  /* of the one mapping; of each thread's mapping in a round */
	uint64_t rounds;  /* page-fault: mappings, one after another; mmap: mappings a thread */
};

struct bench_mm_result {
	uint32_t threads;
	uint64_t pages;			  /* touched in all */
	uint64_t usr_ns, sys_ns, real_ns; /* from the release of the threads to their end */
};

/* 0, -EINVAL: less than a page a thread, or what the kernel said, with @err. */
int bench_mm_fault(const struct bench_mm_options *o, struct bench_mm_result *ret,
		   struct error *err);
int bench_mm_map(const struct bench_mm_options *o, struct bench_mm_result *ret, struct error *err);

#endif
