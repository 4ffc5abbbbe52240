// SPDX-License-Identifier: GPL-2.0-only
/* Samples that are one address each. A full ring drops some: shares are of the samples taken.
 */
#include "bench-sampler.h"
#include "kontend/mem.h"
#include "kontend/perf-event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int bench_sampler_open(struct bench_sampler *s, const struct perf_event_attr *attr, uint32_t cpu,
		       uint32_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	s->fd = perf_event_open(attr, 0, (int)cpu, 0);
	if (s->fd < 0)
		return s->fd;
	s->len = (pages + 1) * page;
	s->map = mmap(NULL, s->len, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->map == MAP_FAILED) {
		int code = -errno;
		close(s->fd);
		return code;
	}
	struct perf_event_mmap_page *head = s->map;
	s->ring = (struct ring){.base = (const uint8_t *)s->map + page,
				.size = pages * page,
				.head = (const uint64_t *)&head->data_head,
				.tail = (uint64_t *)&head->data_tail};
	return 0;
}

static void take_span(const struct iovec *piece, void (*see)(void *ctx, uint64_t ip), void *ctx)
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
			see(ctx, ip);
		at += h.size;
	}
}

void bench_sampler_take(struct bench_sampler *all, size_t n, void (*see)(void *ctx, uint64_t ip),
			void *ctx)
{
	uint8_t *buf = mem_calloc(1, RING_RECORD_MAX);

	for (size_t i = 0; buf && i < n; i++) {
		struct ring *r = &all[i].ring;
		struct iovec run = {.iov_base = buf};
		while (ring_drain(r, ring_head(r), buf, RING_RECORD_MAX, &run.iov_len) == 0)
			take_span(&run, see, ctx);
	}
	mem_free(buf);
}

void bench_sampler_close(struct bench_sampler *s)
{
	munmap(s->map, s->len);
	close(s->fd);
}
