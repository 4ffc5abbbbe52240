// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event a CPU, of cycles where their counter interrupts by NMI, and of cpu-clock elsewhere, of
 * this process and the threads that it starts, whose samples are an address and nothing else. They
 * are counted by the function that the address is in. A ring that is full drops samples: shares are
 * of those that were taken.
 */
#include "kontend/bench-top.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/ring.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PER_S = 997, PAGES = 32 };

/* Functions by the address of their beginning; these two begin nowhere. */
static const uint64_t USER = 1, UNKNOWN = 2, KERNEL_HALF = 1ull << 63;

/* Counters of other machines interrupt as timers do, unless they are told otherwise at boot. */
#if defined(__x86_64__)
static const bool has_nmi = true;
#else
static const bool has_nmi = false;
#endif

struct sampler {
	int fd;
	void *map;
	size_t len;
	struct ring ring;
};

struct bench_top {
	const struct sym *sym;
	struct map64 functions; /* -> samples */
	uint64_t samples;
	bool nmi; /* samples come also while interrupts are off */
	size_t n;
	struct sampler samplers[];
};

static bool open_sampler(struct sampler *s, uint32_t cpu, bool cycles)
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
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	s->fd = (int)syscall(SYS_perf_event_open, &attr, 0, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (s->fd < 0)
		return false;
	s->len = (PAGES + 1) * page;
	s->map = mmap(NULL, s->len, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->map == MAP_FAILED) {
		close(s->fd);
		return false;
	}
	struct perf_event_mmap_page *head = s->map;
	s->ring = (struct ring){.base = (const uint8_t *)s->map + page,
				.size = PAGES * page,
				.head = (const uint64_t *)&head->data_head,
				.tail = (uint64_t *)&head->data_tail};
	return true;
}

static void close_samplers(struct bench_top *t)
{
	for (; t->n; t->n--) {
		munmap(t->samplers[t->n - 1].map, t->samplers[t->n - 1].len);
		close(t->samplers[t->n - 1].fd);
	}
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

static void take_span(struct bench_top *t, const struct iovec *piece)
{
	const uint8_t *at = piece->iov_base, *end = at + piece->iov_len;
	struct perf_event_header h;
	uint64_t ip;

	while ((size_t)(end - at) >= sizeof(h) + sizeof(ip)) {
		memcpy(&h, at, sizeof(h));
		memcpy(&ip, at + sizeof(h), sizeof(ip));
		if (h.size < sizeof(h) || h.size > (size_t)(end - at))
			return;
		if (h.type == PERF_RECORD_SAMPLE)
			bench_top_count(t, ip);
		at += h.size;
	}
}

void bench_top_take(struct bench_top *t)
{
	uint8_t *buf = t ? mem_calloc(1, RING_RECORD_MAX) : NULL;

	for (size_t i = 0; buf && i < t->n; i++) {
		struct ring *r = &t->samplers[i].ring;
		struct iovec run = {.iov_base = buf};
		while (ring_drain(r, ring_head(r), buf, RING_RECORD_MAX, &run.iov_len) == 0)
			take_span(t, &run);
	}
	mem_free(buf);
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
