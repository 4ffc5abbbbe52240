// SPDX-License-Identifier: GPL-2.0-only
/* Samples and mappings as the kernel writes them, given to the stream as raw bytes. */
#include "synth-profile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ID_PROFILE = 6000, ID_SECOND, MOST = 65536 };

struct bytes {
	uint64_t data[MOST / 8];
	size_t len;
};

static void put_bytes(struct bytes *b, const void *p, size_t n)
{
	if (b->len + n > MOST)
		abort();
	if (n)
		memcpy((char *)b->data + b->len, p, n);
	b->len += n;
}

static void put_u64(struct bytes *b, uint64_t v)
{
	put_bytes(b, &v, sizeof(v));
}

static void put_pair(struct bytes *b, uint32_t first, uint32_t second)
{
	put_bytes(b, &first, sizeof(first));
	put_bytes(b, &second, sizeof(second));
}

static void head(struct bytes *b, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {.type = type, .misc = misc};

	b->len = 0;
	put_bytes(b, &h, sizeof(h));
}

static void emit(struct synth *s, uint32_t cpu, struct bytes *b)
{
	uint16_t size = (uint16_t)b->len;

	memcpy((char *)b->data + offsetof(struct perf_event_header, size), &size, sizeof(size));
	synth_raw(s, cpu, b->data, b->len);
}

static void trailer(struct bytes *b, int pid, int tid, uint64_t t, uint32_t cpu)
{
	put_pair(b, (uint32_t)pid, (uint32_t)tid);
	put_u64(b, t);
	put_pair(b, cpu, 0);
	put_u64(b, ID_PROFILE);
}

static void put_text(struct bytes *b, const char *text)
{
	static const char zero[8];

	put_bytes(b, text, strlen(text) + 1);
	put_bytes(b, zero, (8 - b->len % 8) % 8);
}

static void add_event(struct synth *s, uint64_t more, uint64_t branches, uint64_t regs)
{
	struct {
		struct perf_event_attr attr;
		uint64_t id;
	} body = {
		.attr = {.type = PERF_TYPE_SOFTWARE,
			 .size = sizeof(body.attr),
			 .config = PERF_COUNT_SW_CPU_CLOCK,
			 .sample_freq = 999,
			 .freq = 1,
			 .sample_id_all = 1,
			 .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
					PERF_SAMPLE_CALLCHAIN | more,
			 .branch_sample_type = branches,
			 .sample_regs_user = regs},
		.id = ID_PROFILE,
	};

	synth_record(s, RECORD_ATTR, 0, &body, sizeof(body));
}

void synth_profile(struct synth *s)
{
	add_event(s, 0, 0, 0);
}

void synth_profile_second(struct synth *s)
{
	struct {
		struct perf_event_attr attr;
		uint64_t id;
	} body = {.attr = {.type = PERF_TYPE_HARDWARE,
			   .size = sizeof(body.attr),
			   .config = PERF_COUNT_HW_INSTRUCTIONS,
			   .sample_period = 1000000,
			   .sample_id_all = 1,
			   .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP},
		  .id = ID_SECOND};

	synth_record(s, RECORD_ATTR, 0, &body, sizeof(body));
}

void synth_sample_second(struct synth *s, uint32_t cpu, uint64_t ip)
{
	struct bytes b;

	head(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put_u64(&b, ID_SECOND);
	put_u64(&b, ip);
	emit(s, cpu, &b);
}

void synth_profile_dumps(struct synth *s, uint64_t regs_mask)
{
	add_event(s, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, 0, regs_mask);
}

void synth_profile_calls(struct synth *s)
{
	add_event(s, PERF_SAMPLE_BRANCH_STACK,
		  PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK, 0);
}

static void begin_sample(struct bytes *b, uint32_t cpu, uint64_t t, int pid, int tid,
			 uint64_t period, struct synth_chain c)
{
	uint64_t n = c.n_kernel + (c.n_kernel != 0) + c.n_user + (c.n_user != 0);

	head(b, PERF_RECORD_SAMPLE, c.n_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
	put_u64(b, ID_PROFILE);
	put_u64(b, c.n_kernel ? c.kernel[0] : c.n_user ? c.user[0] : c.ip);
	put_pair(b, (uint32_t)pid, (uint32_t)tid);
	put_u64(b, t);
	put_pair(b, cpu, 0);
	put_u64(b, period);
	put_u64(b, n);
	if (c.n_kernel)
		put_u64(b, PERF_CONTEXT_KERNEL);
	for (uint32_t i = 0; i < c.n_kernel; i++)
		put_u64(b, c.kernel[i]);
	if (c.n_user)
		put_u64(b, PERF_CONTEXT_USER);
	for (uint32_t i = 0; i < c.n_user; i++)
		put_u64(b, c.user[i]);
}

void synth_sample(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, uint64_t period,
		  struct synth_chain c)
{
	struct bytes b;

	begin_sample(&b, cpu, t, pid, tid, period, c);
	emit(s, cpu, &b);
}

void synth_dump(struct synth *s, uint64_t t, int pid, struct synth_chain c,
		const struct synth_dump *d)
{
	struct bytes b;

	begin_sample(&b, 0, t, pid, pid, 1, c);
	put_u64(&b, d->abi);
	for (uint32_t i = 0; d->abi && i < d->n_regs; i++)
		put_u64(&b, d->regs[i]);
	put_u64(&b, d->size);
	put_bytes(&b, d->stack, d->size);
	if (d->size)
		put_u64(&b, d->there);
	emit(s, 0, &b);
}

void synth_calls(struct synth *s, uint64_t t, int pid, struct synth_chain c, const uint64_t *from,
		 uint32_t n)
{
	struct bytes b;

	begin_sample(&b, 0, t, pid, pid, 1, c);
	put_u64(&b, n);
	for (uint32_t i = 0; i < n; i++) {
		put_u64(&b, from[i]);
		put_u64(&b, from[i] + 64);
		put_u64(&b, 0);
	}
	emit(s, 0, &b);
}

void synth_mmap(struct synth *s, uint32_t cpu, uint64_t t, int pid, uint64_t start, uint64_t len,
		uint64_t pgoff, const char *path)
{
	bool is_here = access(path, F_OK) == 0;
	struct bytes b;

	head(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	put_pair(&b, (uint32_t)pid, (uint32_t)pid);
	put_u64(&b, start);
	put_u64(&b, len);
	put_u64(&b, pgoff);
	put_pair(&b, 8, 1);
	put_u64(&b, is_here ? 0 : 7);
	put_u64(&b, 0);
	put_pair(&b, 5, 2);
	put_text(&b, path);
	trailer(&b, pid, pid, t, cpu);
	emit(s, cpu, &b);
}

void synth_mmap_id(struct synth *s, uint32_t cpu, uint64_t t, int pid, uint64_t start, uint64_t len,
		   const char *path, const uint8_t id[20])
{
	struct bytes b;

	head(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	put_pair(&b, (uint32_t)pid, (uint32_t)pid);
	put_u64(&b, start);
	put_u64(&b, len);
	put_u64(&b, 0);
	put_bytes(&b, &(uint32_t){20}, sizeof(uint32_t));
	put_bytes(&b, id, 20);
	put_pair(&b, 5, 2);
	put_text(&b, path);
	trailer(&b, pid, pid, t, cpu);
	emit(s, cpu, &b);
}

void synth_profile_lost(struct synth *s, uint32_t cpu, uint64_t n)
{
	struct bytes b;

	head(&b, PERF_RECORD_LOST_SAMPLES, 0);
	put_u64(&b, n);
	trailer(&b, 0, 0, 0, cpu);
	emit(s, cpu, &b);
}

void synth_profile_throttle(struct synth *s, uint32_t cpu, uint64_t t)
{
	struct bytes b;

	head(&b, PERF_RECORD_THROTTLE, 0);
	put_u64(&b, t);
	put_u64(&b, ID_PROFILE);
	put_u64(&b, 0);
	trailer(&b, 0, 0, t, cpu);
	emit(s, cpu, &b);
}

void synth_exec(struct synth *s, uint32_t cpu, uint64_t t, int pid, const char *comm)
{
	struct bytes b;

	head(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put_pair(&b, (uint32_t)pid, (uint32_t)pid);
	put_text(&b, comm);
	trailer(&b, pid, pid, t, cpu);
	emit(s, cpu, &b);
}
