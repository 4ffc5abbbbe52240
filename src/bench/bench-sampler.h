/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_BENCH_SAMPLER_H
#define KONTEND_SRC_BENCH_SAMPLER_H

#include "kontend/ring.h"

#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;

/* An event of a CPU, whose samples are an address and nothing else, and its ring. */
struct bench_sampler {
	int fd;
	void *map;
	size_t len;
	struct ring ring;
};

/* @pages: size of the ring. 0, or the error of the kernel. */
int bench_sampler_open(struct bench_sampler *s, const struct perf_event_attr *attr, uint32_t cpu,
		       uint32_t pages);
/* Empties the rings of @n samplers: @see gets the address of each sample. */
void bench_sampler_take(struct bench_sampler *all, size_t n, void (*see)(void *ctx, uint64_t ip),
			void *ctx);
void bench_sampler_close(struct bench_sampler *s);

#endif
