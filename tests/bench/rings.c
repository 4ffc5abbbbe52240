// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does one thread keep up with the rings of many CPUs? Rings in plain memory are filled with
 * records and drained into a queue, as the collector does it: what a record takes, what a look at
 * rings takes that are empty, and what waiting for them takes. The queue is emptied in between.
 *
 * Arguments: records in each ring (default 200), passes (default 15). Medians are printed.
 */
#include "kontend/queue.h"
#include "kontend/ring.h"
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* A ring of perf, one of waits and one of nested interrupts; records as of a wait with 12 frames.
 */
enum { RINGS_A_CPU = 3, RING_BYTES = 1 << 16, RECORD_BYTES = 192, LINE = 64, MOST_PASSES = 99 };

struct cpu {
	struct ring rings[RINGS_A_CPU];
	int fd;
};

struct result {
	double look_us, poll_us, record_ns;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *zeros(size_t size)
{
	void *p = aligned_alloc(4096, size);

	if (!p)
		abort();
	return memset(p, 0, size);
}

static struct ring make_ring(void)
{
	/* Head and tail are in a page of their own, as the kernel has them. */
	uint64_t *control = zeros(4096);

	return (struct ring){.base = zeros(RING_BYTES),
			     .size = RING_BYTES,
			     .head = control,
			     .tail = control + LINE / sizeof(*control)};
}

static void free_cpus(struct cpu *cpus, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		for (int k = 0; k < RINGS_A_CPU; k++) {
			free((void *)(uintptr_t)cpus[i].rings[k].base);
			free((void *)(uintptr_t)cpus[i].rings[k].head);
		}
		close(cpus[i].fd);
	}
	free(cpus);
}

static void fill(struct ring *r, unsigned records)
{
	struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = RECORD_BYTES};
	uint64_t head = *r->head;

	for (unsigned i = 0; i < records; i++, head += RECORD_BYTES) {
		for (size_t at = 0; at < RECORD_BYTES; at += sizeof(h))
			memcpy((uint8_t *)(uintptr_t)r->base + ((head + at) & (r->size - 1)), &h,
			       sizeof(h));
	}
	*(uint64_t *)(uintptr_t)r->head = head;
}

static void take_record(struct queue *q, struct ring *r, uint32_t number)
{
	uint64_t head = ring_head(r);

	while (ring_used(r, head)) {
		uint64_t used = ring_used(r, head);
		size_t size, len;
		void *data;
		struct queue_item *it = queue_alloc(
			q, used < RING_RECORD_MAX ? used : RING_RECORD_MAX, &data, &size);
		if (!it || ring_drain(r, head, data, size, &len) != 0)
			abort();
		queue_push(q, it, RECORD_PERF, number, len);
	}
}

static void empty(struct queue *q)
{
	struct record r;

	while (queue_pop(q, &r) == 0)
		queue_release(q, &r);
}

static void take_all(struct queue *q, struct cpu *cpus, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < RINGS_A_CPU; k++)
			take_record(q, &cpus[i].rings[k], k * n + i);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *v, unsigned n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static struct result measure(struct cpu *cpus, unsigned n, unsigned records, unsigned passes)
{
	double look[MOST_PASSES], wait[MOST_PASSES], record[MOST_PASSES], from;
	struct pollfd *polls = calloc(n, sizeof(*polls));
	struct queue *q;

	if (!polls || queue_new(&q, (size_t)1 << 30, NULL) < 0)
		abort();
	for (unsigned i = 0; i < n; i++)
		polls[i] = (struct pollfd){.fd = cpus[i].fd, .events = POLLIN};
	for (unsigned p = 0; p < passes; p++) {
		for (unsigned i = 0; i < n; i++)
			fill(&cpus[i].rings[1], records);
		from = now_ns();
		take_all(q, cpus, n);
		record[p] = (now_ns() - from) / (records * n);
		empty(q);
		from = now_ns();
		take_all(q, cpus, n);
		look[p] = (now_ns() - from) / 1e3;
		from = now_ns();
		if (poll(polls, n, 0) != 0)
			abort();
		wait[p] = (now_ns() - from) / 1e3;
	}
	queue_free(q);
	free(polls);
	return (struct result){median(look, passes), median(wait, passes), median(record, passes)};
}

static struct result with_cpus(unsigned n, unsigned records, unsigned passes)
{
	struct cpu *cpus = calloc(n, sizeof(*cpus));

	if (!cpus)
		abort();
	for (unsigned i = 0; i < n; i++) {
		for (int k = 0; k < RINGS_A_CPU; k++)
			cpus[i].rings[k] = make_ring();
		cpus[i].fd = eventfd(0, EFD_CLOEXEC);
	}
	struct result r = measure(cpus, n, records, passes);
	free_cpus(cpus, n);
	return r;
}

int main(int argc, char **argv)
{
	unsigned records = argc > 1 ? (unsigned)atoi(argv[1]) : 200;
	unsigned passes = argc > 2 ? (unsigned)atoi(argv[2]) : 15;
	struct rlimit files = {4096, 4096};

	if (!records || records * RECORD_BYTES > RING_BYTES || !passes || passes > MOST_PASSES)
		return 2;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	printf("CPUs  a look at empty rings  waiting for them  a record drained\n");
	for (unsigned n = 2; n <= 1024; n *= n == 2 ? 8 : 4) {
		struct result r = with_cpus(n, records, passes);
		printf("%4u  %19.1f us  %13.1f us  %13.1f ns (%.1f M/s)\n", n, r.look_us, r.poll_us,
		       r.record_ns, 1e3 / r.record_ns);
	}
	return 0;
}
