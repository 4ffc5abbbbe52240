// SPDX-License-Identifier: GPL-2.0-only
/*
 * One event for each CPU, of this process and the threads that it starts, whose samples are an
 * address and nothing else: cycles if their counter interrupts by NMI, else cpu-clock. Samples are
 * counted by the function that contains the address. A full ring drops samples: shares are of the
 * samples taken.
 */
#include "kontend/bench-top.h"
#include "bench-sampler.h"
#include "kontend/map64.h"
#include "kontend/mem.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PER_S = 997, PAGES = 32 };

/* Functions by the address of their beginning; these two have none. */
static const uint64_t USER = 1, UNKNOWN = 2, KERNEL_HALF = 1ull << 63;

/* Counters of other machines interrupt like timers, unless a boot option changes that. */
#if defined(__x86_64__)
static const bool has_nmi = true;
#else
static const bool has_nmi = false;
#endif

struct bench_top {
	const struct sym *sym;
	struct map64 functions; /* -> samples */
	uint64_t samples;
	bool nmi; /* samples are taken while interrupts are off, too */
	size_t n;
	struct bench_sampler samplers[];
};

static bool open_sampler(struct bench_sampler *s, uint32_t cpu, bool cycles)
{
	struct perf_event_attr attr = {
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = PER_S,
		.freq = 1,
		.sample_type = PERF_SAMPLE_IP,
		.inherit = 1,
		.exclude_hv = 1,
	};

	return bench_sampler_open(s, &attr, cpu, PAGES) == 0;
}

static void close_samplers(struct bench_top *t)
{
	for (; t->n; t->n--)
		bench_sampler_close(&t->samplers[t->n - 1]);
}

static bool open_all(struct bench_top *t, const uint32_t *cpus, size_t n, bool cycles)
{
	while (t->n < n && open_sampler(&t->samplers[t->n], cpus[t->n], cycles))
		t->n++;
	if (t->n < n)
		close_samplers(t);
	return t->n == n;
}

struct bench_top *bench_top_new(const uint32_t *cpus, size_t n, const struct sym *sym)
{
	struct bench_top *t = mem_calloc(1, sizeof(*t) + n * sizeof(*t->samplers));

	if (!t)
		return NULL;
	t->sym = sym;
	t->nmi = has_nmi && open_all(t, cpus, n, true);
	if (t->nmi || open_all(t, cpus, n, false))
		return t;
	bench_top_free(t);
	return NULL;
}

bool bench_top_skid(const struct bench_top *t)
{
	return t && !t->nmi;
}

void bench_top_count(struct bench_top *t, uint64_t ip)
{
	const struct sym_entry *e = ip & KERNEL_HALF ? sym_find(t->sym, ip) : NULL;
	uint64_t key = e ? e->addr : ip & KERNEL_HALF ? UNKNOWN : USER;
	uint32_t *n = map64_get(&t->functions, key);

	t->samples++;
	if (n)
		++*n;
	else
		(void)map64_put(&t->functions, key, 1); /* without memory it is one less */
}

static void count_symbol(void *ctx, uint64_t ip)
{
	bench_top_count(ctx, ip);
}

void bench_top_take(struct bench_top *t)
{
	if (t)
		bench_sampler_take(t->samplers, t->n, count_symbol, t);
}

static void name_of(const struct bench_top *t, uint64_t key, char *ret, size_t size)
{
	const char *name = key == USER	    ? "[user]"
			   : key == UNKNOWN ? "[kernel]"
					    : sym_name(t->sym, key, NULL);

	snprintf(ret, size, "%s", name ? name : "[kernel]");
}

size_t bench_top_most(const struct bench_top *t, struct bench_top_function *ret)
{
	const struct map64_slot *best[BENCH_TOP_FUNCTIONS];
	size_t n = 0;

	for (size_t i = 0; t && t->functions.slots && i <= t->functions.mask; i++) {
		const struct map64_slot *s = &t->functions.slots[i];
		size_t at = n;
		if (!s->used)
			continue;
		while (at && best[at - 1]->value < s->value)
			at--;
		if (at == BENCH_TOP_FUNCTIONS)
			continue;
		n += n < BENCH_TOP_FUNCTIONS;
		memmove(best + at + 1, best + at, (n - 1 - at) * sizeof(*best));
		best[at] = s;
	}
	for (size_t i = 0; i < n; i++) {
		name_of(t, best[i]->key, ret[i].name, sizeof(ret[i].name));
		ret[i].share = (double)best[i]->value / (double)t->samples;
	}
	return n;
}

void bench_top_free(struct bench_top *t)
{
	if (!t)
		return;
	close_samplers(t);
	map64_deinit(&t->functions);
	mem_free(t);
}
