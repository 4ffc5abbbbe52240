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

/*
 * How a page is touched. Since Linux 6.4 most page faults take only the lock of the mapping, and
 * the mmap_lock if that is not enough.
 */
enum bench_mm_mode {
	BENCH_MM_ANON,	    /* by the program: a fault with the mapping's own lock */
	BENCH_MM_KERNEL,    /* by the kernel, as a system call writes there */
	BENCH_MM_FRESH,	    /* by the program, in mappings that were never touched */
	BENCH_MM_GROWSDOWN, /* below a mapping that grows downwards, like stacks */
	BENCH_MM_MODES,
};

const char *bench_mm_mode_name(enum bench_mm_mode mode);
int bench_mm_mode_parse(const char *name, enum bench_mm_mode *ret); /* 0 or -EINVAL */

struct bench_mm_options {
	uint32_t threads;	 /* 0: one for each permitted CPU */
	uint64_t bytes;		 /* of the one mapping; of each thread's mapping in a round */
	uint64_t rounds;	 /* page-fault: mappings, one after another; mmap: mappings of
				  * each thread */
	enum bench_mm_mode mode; /* of page-fault */
};

struct bench_mm_result {
	uint32_t threads;
	uint64_t pages;			  /* touched in all */
	uint64_t usr_ns, sys_ns, real_ns; /* from the release of the threads to their end */
};

/* 0, -EINVAL: less than a page for each thread, or the error of the kernel, with @err. */
int bench_mm_fault(const struct bench_mm_options *o, struct bench_mm_result *ret,
		   struct error *err);
int bench_mm_map(const struct bench_mm_options *o, struct bench_mm_result *ret, struct error *err);

/*
 * Acquisitions of the mmap_lock for a page, counted by the kernel's own events: in a run of its
 * own, as counting takes time. Index 0 is for readers, 1 for writers; a write lock that becomes a
 * read lock counts for both.
 */
struct bench_mm_locks {
	uint64_t pages, got[2];
};

/* 0, or the reason why these events cannot be counted here, with @err. */
int bench_mm_locks(enum bench_mm_mode mode, struct bench_mm_locks *ret, struct error *err);

#endif
