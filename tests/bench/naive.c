// SPDX-License-Identifier: GPL-2.0-only
/*
 * The least that a report of a recording has to do: one pass over the file as it lies, each
 * sample's task, time, lock and call chain, waits from begin to end, their sums by chain. No order
 * of time between CPUs, no names, no other records, and nothing is checked. The time of a real
 * report is compared with it.
 *
 *     naive FILE	by perf record -g -e lock:contention_begin,lock:contention_end, in this
 * order
 */
#include "kontend/load.h"
#include "kontend/perfdata.h"
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BITS = 16, LOCK_AT = 8, WORD = 8, RUNS = 4096 };

struct run {
	const uint8_t *p, *end; /* samples, and other records between them */
};

struct naive {
	uint16_t begin_id; /* of the tracepoint */
	size_t tid_at, time_at, chain_at;
	struct {
		uint64_t lock, time, chain;
	} begun[1 << BITS]; /* by task */
	struct {
		uint64_t chain, waits, ns, max_ns;
	} sums[1 << BITS];
	struct run runs[RUNS]; /* of a round */
	size_t n_runs;
	uint64_t last; /* time of the last sample of the last run */
};

static _Noreturn void fail(const char *why)
{
	fprintf(stderr, "naive: %s\n", why);
	exit(1);
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
	return (hash ^ v) * 0x9e3779b97f4a7c15ull;
}

static void add_wait(struct naive *n, uint64_t chain, uint64_t ns)
{
	size_t i = mix(chain, 0) >> (64 - BITS);

	while (n->sums[i].waits && n->sums[i].chain != chain)
		i = (i + 1) % (1 << BITS);
	n->sums[i].chain = chain;
	n->sums[i].waits++;
	n->sums[i].ns += ns;
	if (ns > n->sums[i].max_ns)
		n->sums[i].max_ns = ns;
}

static void sample(struct naive *n, const uint8_t *p)
{
	uint64_t frames = load_u64(p + n->chain_at), chain = 0, time = load_u64(p + n->time_at);
	const uint8_t *frame = p + n->chain_at + WORD, *raw = frame + frames * WORD + 4;
	uint64_t lock = load_u64(raw + LOCK_AT);
	size_t task = load_u32(p + n->tid_at) % (1 << BITS);

	/* The upper half is of other things. */
	if ((uint16_t)load_u32(raw) != n->begin_id) {
		if (n->begun[task].lock == lock)
			add_wait(n, n->begun[task].chain, time - n->begun[task].time);
		n->begun[task].lock = 0;
		return;
	}
	for (uint64_t i = 0; i < frames; i++)
		chain = mix(chain, load_u64(frame + i * WORD));
	n->begun[task].lock = lock;
	n->begun[task].time = time;
	n->begun[task].chain = chain;
}

static struct perf_event_header header(const uint8_t *p)
{
	struct perf_event_header h;

	memcpy(&h, p, sizeof(h));
	return h;
}

/* The next sample of a run, or none. */
static bool find_sample(struct run *r)
{
	while (r->p < r->end && header(r->p).type != PERF_RECORD_SAMPLE)
		r->p += header(r->p).size;
	return r->p < r->end;
}

static void merge(struct naive *n)
{
	for (;;) {
		struct run *first = NULL;
		uint64_t time = 0;

		for (size_t i = 0; i < n->n_runs; i++) {
			struct run *r = &n->runs[i];
			if (!find_sample(r))
				continue;
			uint64_t t = load_u64(r->p + n->time_at);
			time = first && time < t ? time : t;
			first = t == time ? r : first;
		}
		if (!first)
			break;
		sample(n, first->p);
		first->p += header(first->p).size;
	}
	n->n_runs = 0;
	n->last = UINT64_MAX;
}

/* A run ends where time goes back: what follows is of another CPU. */
static void take_record(struct naive *n, const uint8_t *p, size_t size)
{
	uint64_t t = load_u64(p + n->time_at);

	if ((t < n->last || !n->n_runs) && n->n_runs < RUNS)
		n->runs[n->n_runs++].p = p;
	n->runs[n->n_runs - 1].end = p + size;
	n->last = t;
}

static void pass(struct naive *n, const uint8_t *p, const uint8_t *end)
{
	struct perf_event_header r;

	for (; p < end; p += r.size) {
		r = header(p);
		if (r.type == PERF_RECORD_SAMPLE)
			take_record(n, p, r.size);
		else if (r.type == PERFDATA_TYPE_FINISHED_ROUND)
			merge(n);
	}
	merge(n);
}

/* Words of a sample up to one that a bit stands for, all present. */
static size_t place(uint64_t type, uint64_t upto)
{
	static const uint64_t order[] = {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,
					 PERF_SAMPLE_TID,	 PERF_SAMPLE_TIME,
					 PERF_SAMPLE_ADDR,	 PERF_SAMPLE_ID,
					 PERF_SAMPLE_STREAM_ID,	 PERF_SAMPLE_CPU,
					 PERF_SAMPLE_PERIOD,	 PERF_SAMPLE_CALLCHAIN};
	size_t at = sizeof(struct perf_event_header);

	for (size_t i = 0; order[i] != upto; i++)
		at += type & order[i] ? WORD : 0;
	return at;
}

static void read_attr(struct naive *n, const uint8_t *p)
{
	struct perf_event_attr attr = {0};
	const uint64_t needed =
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;

	memcpy(&attr, p, PERF_ATTR_SIZE_VER0);
	if (attr.type != PERF_TYPE_TRACEPOINT || (attr.sample_type & needed) != needed ||
	    attr.sample_type & PERF_SAMPLE_READ)
		fail("see the head of its source for what it reads");
	n->begin_id = (uint16_t)attr.config;
	n->tid_at = place(attr.sample_type, PERF_SAMPLE_TID) + 4;
	n->time_at = place(attr.sample_type, PERF_SAMPLE_TIME);
	n->chain_at = place(attr.sample_type, PERF_SAMPLE_CALLCHAIN);
}

int main(int argc, char **argv)
{
	static struct naive n;
	struct perfdata_header h;
	struct stat st;
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 || fstat(fd, &st) || (size_t)st.st_size < sizeof(h))
		fail("which file is to be read?");
	const uint8_t *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		fail("the file cannot be mapped");
	memcpy(&h, file, sizeof(h));
	if (h.magic != PERFDATA_MAGIC || h.size != sizeof(h))
		fail("the file has another layout");
	read_attr(&n, file + h.attrs.offset);
	pass(&n, file + h.data.offset, file + h.data.offset + h.data.size);
	uint64_t waits = 0, ns = 0, chains = 0;
	for (size_t i = 0; i < 1 << BITS; i++) {
		waits += n.sums[i].waits;
		ns += n.sums[i].ns;
		chains += n.sums[i].waits != 0;
	}
	printf("%" PRIu64 " waits by %" PRIu64 " chains, %" PRIu64 " ns\n", waits, chains, ns);
	return 0;
}
