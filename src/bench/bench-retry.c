// SPDX-License-Identifier: GPL-2.0-only
/*
 * A counter of cycles on each CPU, as precise as the machine has it, whose samples are an address
 * and nothing else. They are counted by their offset in one function. A counter that is off by an
 * instruction or more would count for the wrong one, so such counters are not used.
 */
#include "kontend/bench-retry.h"
#include "bench-sampler.h"
#include "kontend/disasm.h"
#include "kontend/map64.h"
#include "kontend/mem.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>

enum { PER_S = 3989, PAGES = 128, MOST_PRECISE = 3, LEAST_PRECISE = 2, ENOUGH = 20 };

struct bench_retry {
	struct map64 places; /* offset + 1 -> samples */
	uint64_t samples;
	size_t n;
	struct bench_sampler samplers[];
};

static int open_sampler(struct bench_sampler *s, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_freq = PER_S,
		.freq = 1,
		.sample_type = PERF_SAMPLE_IP,
		.inherit = 1,
		.exclude_user = 1,
		.exclude_hv = 1,
	};
	int code = -ENODEV;

	for (unsigned p = MOST_PRECISE; code < 0 && p >= LEAST_PRECISE; p--) {
		attr.precise_ip = p & 3;
		code = bench_sampler_open(s, &attr, cpu, PAGES);
	}
	return code;
}

/* Other kernels accept the request for a precise counter even if they have none. */
static bool knows_precision(void)
{
	return disasm_machine_here() == DISASM_X86_64;
}

static int say_failure(int code, struct error *err)
{
	if (code == -ENOENT || code == -EOPNOTSUPP || code == -ENODEV || code == -EINVAL)
		return error_set(
			err, -ENODEV,
			"This machine has no hardware counter that names the exact instruction");
	return error_errno(err, code, "Cannot sample cycles");
}

int bench_retry_new(struct bench_retry **ret, const uint32_t *cpus, size_t n, struct error *err)
{
	struct bench_retry *r = mem_calloc(1, sizeof(*r) + n * sizeof(*r->samplers));
	int code = n && !knows_precision() ? -ENODEV : 0;

	if (!r)
		return error_enomem(err, "samples");
	for (; code == 0 && r->n < n; r->n += code == 0)
		code = open_sampler(&r->samplers[r->n], cpus[r->n]);
	if (code == 0) {
		*ret = r;
		return 0;
	}
	bench_retry_free(r);
	return say_failure(code, err);
}

void bench_retry_count(struct bench_retry *r, uint64_t offset)
{
	uint32_t *n = map64_get(&r->places, offset + 1);

	r->samples++;
	if (n)
		++*n;
	else
		(void)map64_put(&r->places, offset + 1, 1); /* without memory it is one less */
}

/* A function to be sampled. */
struct within {
	struct bench_retry *r;
	uint64_t start;
	size_t len;
};

static void count_symbol(void *ctx, uint64_t ip)
{
	const struct within *w = ctx;

	if (ip >= w->start && ip - w->start < w->len)
		bench_retry_count(w->r, ip - w->start);
}

void bench_retry_take(struct bench_retry *r, uint64_t start, size_t len)
{
	struct within w = {r, start, len};

	bench_sampler_take(r->samplers, r->n, count_symbol, &w);
}

/* "lock cmpxchgq %rdx,(%rdi)", "casa x1, x2, [x0]" */
static bool is_exchange(const struct disasm_line *l)
{
	return strstr(l->text, "cmpxchg") || strncmp(l->text, "cas", 3) == 0;
}

/* Up to the end of the function. */
static unsigned find_exchanges(struct disasm *d, const uint8_t *code, size_t n, uint32_t ret[2])
{
	struct disasm_line line;
	unsigned found = 0;

	for (size_t at = 0; disasm_line(d, code, n, at, 0, &line); at += line.length)
		if (is_exchange(&line)) {
			if (found < 2)
				ret[found] = line.offset;
			found++;
		}
	return found;
}

int bench_retry_places(const uint8_t *code, size_t n, uint32_t ret[2], struct error *err)
{
	struct disasm *d;
	int r = disasm_open(&d, disasm_machine_here(), err);

	if (r < 0)
		return r;
	unsigned found = find_exchanges(d, code, n, ret);
	disasm_close(d);
	if (found == 2)
		return 0;
	return error_set(err, -ENODATA,
			 "down_read_trylock() of this kernel has %u cmpxchg, not two: its samples "
			 "do not separate tries",
			 found);
}

static uint64_t samples_at(const struct bench_retry *r, uint64_t offset)
{
	const uint32_t *n = map64_get(&r->places, offset + 1);

	return n ? *n : 0;
}

int bench_retry_sum(const struct bench_retry *r, const uint32_t at[2], struct bench_retry_sum *ret,
		    struct error *err)
{
	*ret = (struct bench_retry_sum){.samples = r->samples,
					.first = samples_at(r, at[0]),
					.second = samples_at(r, at[1])};
	if (ret->first + ret->second < ENOUGH || !ret->first)
		return error_set(err, -ENODATA,
				 "Too few samples in down_read_trylock(): give more --rounds");
	ret->per_try = (double)ret->second / (double)ret->first;
	return 0;
}

void bench_retry_free(struct bench_retry *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		bench_sampler_close(&r->samplers[i]);
	map64_deinit(&r->places);
	mem_free(r);
}
