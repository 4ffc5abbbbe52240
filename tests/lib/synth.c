// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stream built in memory. Perf records are collected per ring; a round turns what each ring has
 * into one RECORD_PERF, as the live collector does, so the engine sees the same sequence of records
 * as from a kernel. Attr and format texts have the fields and offsets of Linux 6.x on x86-64.
 */
#include "synth-int.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TP_BEGIN = 401, TP_END = 402, TP_RELEASE = 403 };
/* Of an event on CPU 0: see id_of(). */
enum { ID_BEGIN = 1000, ID_END = 2000, ID_SIDE = 3000, ID_OUTPUT = 4000, ID_RELEASE = 5000 };
enum { ID_CPUS = 1000, ID_FURTHER = 100000 };

struct buffer {
	uint8_t *data;
	size_t len, cap;
};

struct synth {
	struct buffer *rings;
	uint32_t n_rings;
	struct record *records;
	size_t n, cap;
	uint64_t cgroup;
	uint16_t output_misc;
	bool kernel_only;
	bool mm_path, mm_paths;
	int inside; /* see synth_set_inside() */
};

static const uint64_t sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				    PERF_SAMPLE_CPU | PERF_SAMPLE_RAW | PERF_SAMPLE_CGROUP;

static const char begin_format[] =
	"name: contention_begin\nID: 401\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"%p\", REC->lock_addr\n";

static const char end_format[] =
	"name: contention_end\nID: 402\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int ret;\toffset:16;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"%p\", REC->lock_addr\n";

/* Of Linux 7.x. */
static const char release_format[] =
	"name: contended_release\nID: 403\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"%p\", REC->lock_addr\n";

static void *must(void *p)
{
	if (!p) {
		fputs("synth: out of memory\n", stderr);
		abort();
	}
	return p;
}

static void append(struct buffer *b, const void *data, size_t len)
{
	if (b->len + len > b->cap) {
		while (b->len + len > b->cap)
			b->cap = b->cap ? b->cap * 2 : 4096;
		b->data = must(realloc(b->data, b->cap));
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void append_u64(struct buffer *b, uint64_t v)
{
	append(b, &v, sizeof(v));
}

struct synth *synth_new(uint32_t n_rings)
{
	struct synth *s = must(calloc(1, sizeof(*s)));
	s->rings = must(calloc(n_rings, sizeof(*s->rings)));
	s->n_rings = n_rings;
	return s;
}

void synth_free(struct synth *s)
{
	for (uint32_t i = 0; i < s->n_rings; i++)
		free(s->rings[i].data);
	for (size_t i = 0; i < s->n; i++)
		free(s->records[i].owner);
	free(s->rings);
	free(s->records);
	free(s);
}

void synth_record(struct synth *s, enum record_kind kind, uint32_t ring, const void *data,
		  size_t len)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 64;
		s->records = must(realloc(s->records, s->cap * sizeof(*s->records)));
	}
	void *copy = must(malloc(len ? len : 1));
	if (len)
		memcpy(copy, data, len);
	s->records[s->n++] = (struct record){
		.kind = kind, .ring = ring, .data = copy, .len = len, .owner = copy};
}

/* Those of one event follow each other, and are apart from those of others on any machine. */
static uint64_t id_of(uint64_t id0, uint32_t cpu)
{
	return id0 + cpu % ID_CPUS + cpu / ID_CPUS * (uint64_t)ID_FURTHER;
}

static void add_attr(struct synth *s, uint32_t type, uint64_t config, uint64_t extra, uint64_t id0)
{
	struct perf_event_attr a = {
		.type = type,
		.size = 128,
		.config = config,
		.sample_period = 1,
		.sample_type = sample_type | extra,
		.sample_id_all = 1,
		.exclude_callchain_user = s->kernel_only,
	};
	struct buffer b = {0};

	append(&b, &a, 128 < sizeof(a) ? 128 : sizeof(a));
	for (uint32_t i = 0; i < s->n_rings; i++)
		append_u64(&b, id_of(id0, i));
	synth_record(s, RECORD_ATTR, 0, b.data, b.len);
	free(b.data);
}

void synth_add_attr(struct synth *s, uint64_t config, uint64_t id0)
{
	add_attr(s, PERF_TYPE_TRACEPOINT, config, 0, id0);
}

void synth_add_attr_chain(struct synth *s, uint64_t config, uint64_t id0)
{
	add_attr(s, PERF_TYPE_TRACEPOINT, config, PERF_SAMPLE_CALLCHAIN, id0);
}

void synth_set_mm_paths(struct synth *s)
{
	s->mm_paths = true;
}

bool synth_mm_paths(const struct synth *s)
{
	return s->mm_paths;
}

void synth_set_mm_path(struct synth *s, bool path)
{
	s->mm_path = path;
}

bool synth_mm_path(const struct synth *s)
{
	return s->mm_path;
}

static void add_format(struct synth *s, const char *system, const char *text)
{
	struct buffer b = {0};

	append(&b, system, strlen(system) + 1);
	append(&b, text, strlen(text));
	synth_record(s, RECORD_FORMAT, 0, b.data, b.len);
	free(b.data);
}

void synth_prologue(struct synth *s, const char *kallsyms)
{
	struct record_host host = {.clock_ns = 0,
				   .wall_ns = 1795184405120000000ull,
				   .cpus = s->n_rings,
				   .cpus_online = s->n_rings,
				   .release = "6.18.44",
				   .machine = "x86_64",
				   .targets = "all CPUs",
				   .method = "perf ring"};

	synth_record(s, RECORD_HOST, 0, &host, sizeof(host));
	if (kallsyms)
		synth_record(s, RECORD_KALLSYMS, 0, kallsyms, strlen(kallsyms));
	add_format(s, "lock", begin_format);
	add_format(s, "lock", end_format);
	add_attr(s, PERF_TYPE_TRACEPOINT, TP_BEGIN, PERF_SAMPLE_CALLCHAIN, ID_BEGIN);
	add_attr(s, PERF_TYPE_TRACEPOINT, TP_END, 0, ID_END);
	add_attr(s, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0, ID_SIDE);
}

static struct buffer *ring_of(struct synth *s, uint32_t cpu)
{
	if (cpu >= s->n_rings)
		abort();
	return &s->rings[cpu];
}

static size_t open_record(struct buffer *b, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {.type = type, .misc = misc};
	size_t at = b->len;

	append(b, &h, sizeof(h));
	return at;
}

static void close_record(struct buffer *b, size_t at)
{
	static const uint8_t zero[8];
	struct perf_event_header h;

	append(b, zero, (8 - (b->len - at) % 8) % 8);
	memcpy(&h, b->data + at, sizeof(h));
	h.size = (uint16_t)(b->len - at);
	memcpy(b->data + at, &h, sizeof(h));
}

struct who {
	uint32_t cpu;
	int pid, tid;
	uint64_t t;
};

static void sample_head(struct buffer *b, uint64_t id, struct who w)
{
	uint32_t ids[2] = {(uint32_t)w.pid, (uint32_t)w.tid}, cpu[2] = {w.cpu, 0};

	append_u64(b, id_of(id, w.cpu));
	append(b, ids, sizeof(ids));
	append_u64(b, w.t);
	append(b, cpu, sizeof(cpu));
}

void synth_set_inside(struct synth *s, int last)
{
	s->inside = last;
}

/* As perf's session sees them, and as the trace entry has the thread. */
static struct who seen_by_perf(const struct synth *s, struct who w, int *ret_entry)
{
	*ret_entry = w.tid;
	if (s->inside && w.tid > 0 && w.tid <= s->inside)
		*ret_entry = w.tid + SYNTH_HOST;
	else if (s->inside)
		w.pid = w.tid = 0;
	return w;
}

/* RAW: u32 size, then the trace entry; the kernel pads so that the whole is 8-byte aligned. */
static void sample_raw(struct buffer *b, uint16_t tp, int tid, uint64_t lock, uint32_t arg)
{
	struct {
		uint32_t size;
		uint16_t type;
		uint8_t flags, preempt;
		int32_t pid;
		uint32_t lock_low, lock_high; /* the u64 is not aligned within RAW */
		uint32_t arg;
	} raw = {.size = 20,
		 .type = tp,
		 .pid = tid,
		 .lock_low = (uint32_t)lock,
		 .lock_high = (uint32_t)(lock >> 32),
		 .arg = arg};

	append(b, &raw, sizeof(raw));
}

static void append_chain(struct buffer *b, const uint64_t *frames, uint32_t n)
{
	append_u64(b, n ? n + 1 : 0);
	if (!n)
		return;
	append_u64(b, PERF_CONTEXT_KERNEL);
	append(b, frames, n * sizeof(*frames));
}

void synth_begin(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, uint64_t lock,
		 uint32_t flags, const uint64_t *frames, uint32_t n)
{
	struct buffer *b = ring_of(s, cpu);
	size_t at = open_record(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	int entry;

	struct who w = seen_by_perf(s, (struct who){cpu, pid, tid, t}, &entry);
	sample_head(b, ID_BEGIN, w);
	append_chain(b, frames, n);
	sample_raw(b, TP_BEGIN, entry, lock, flags);
	append_u64(b, s->cgroup);
	close_record(b, at);
}

void synth_end(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, uint64_t lock, int ret)
{
	struct buffer *b = ring_of(s, cpu);
	size_t at = open_record(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	int entry;

	struct who w = seen_by_perf(s, (struct who){cpu, pid, tid, t}, &entry);
	sample_head(b, ID_END, w);
	sample_raw(b, TP_END, entry, lock, (uint32_t)ret);
	append_u64(b, s->cgroup);
	close_record(b, at);
}

void synth_releases(struct synth *s)
{
	add_format(s, "lock", release_format);
	add_attr(s, PERF_TYPE_TRACEPOINT, TP_RELEASE, 0, ID_RELEASE);
}

/* Its entry ends with the lock: the kernel pads it to 20 bytes. */
void synth_release(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, uint64_t lock)
{
	struct buffer *b = ring_of(s, cpu);
	size_t at = open_record(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	int entry;

	struct who w = seen_by_perf(s, (struct who){cpu, pid, tid, t}, &entry);
	sample_head(b, ID_RELEASE, w);
	sample_raw(b, TP_RELEASE, entry, lock, 0);
	append_u64(b, s->cgroup);
	close_record(b, at);
}

void synth_owner(struct synth *s, uint32_t cpu, uint64_t t, int tid, const struct ownerrec *owner)
{
	struct buffer *b = ring_of(s, cpu);
	size_t at = open_record(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	uint32_t size = sizeof(*owner) + 4;

	sample_head(b, ID_OUTPUT, (struct who){cpu, tid, tid, t});
	append(b, &size, sizeof(size));
	append(b, owner, sizeof(*owner));
	append(b, "\0\0\0", 4);
	append_u64(b, s->cgroup);
	close_record(b, at);
}

void synth_outputs(struct synth *s)
{
	add_attr(s, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, 0, ID_OUTPUT);
}

static void put_sample(struct synth *s, uint64_t id, struct who w, bool chain,
		       const uint64_t *frames, uint32_t n_frames, const void *raw, size_t len)
{
	struct buffer *b = ring_of(s, w.cpu);
	uint16_t misc = (uint16_t)(PERF_RECORD_MISC_KERNEL | s->output_misc);
	size_t at = open_record(b, PERF_RECORD_SAMPLE, misc);
	uint32_t size = (uint32_t)len;

	sample_head(b, id, w);
	if (chain)
		append_chain(b, frames, n_frames);
	append(b, &size, sizeof(size));
	append(b, raw, len);
	append_u64(b, s->cgroup);
	close_record(b, at);
}

void synth_raw_sample(struct synth *s, uint64_t id, uint32_t cpu, uint64_t t, int pid, int tid,
		      const void *raw, size_t len)
{
	put_sample(s, id, (struct who){cpu, pid, tid, t}, false, NULL, 0, raw, len);
}

void synth_chain_sample(struct synth *s, uint64_t id, uint32_t cpu, uint64_t t, int pid, int tid,
			const uint64_t *frames, uint32_t n_frames, const void *raw, size_t len)
{
	put_sample(s, id, (struct who){cpu, pid, tid, t}, true, frames, n_frames, raw, len);
}

static void close_side(struct buffer *b, size_t at, struct who w)
{
	uint32_t ids[2] = {(uint32_t)w.pid, (uint32_t)w.tid}, cpu[2] = {w.cpu, 0};
	static const uint8_t zero[8];

	append(b, zero, (8 - (b->len - at) % 8) % 8);
	append(b, ids, sizeof(ids));
	append_u64(b, w.t);
	append(b, cpu, sizeof(cpu));
	append_u64(b, id_of(ID_SIDE, w.cpu));
	close_record(b, at);
}

void synth_comm(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, const char *comm)
{
	struct buffer *b = ring_of(s, cpu);
	size_t at = open_record(b, PERF_RECORD_COMM, 0);
	uint32_t ids[2] = {(uint32_t)pid, (uint32_t)tid};

	append(b, ids, sizeof(ids));
	append(b, comm, strlen(comm) + 1);
	close_side(b, at, (struct who){cpu, pid, tid, t});
}

void synth_ksymbol(struct synth *s, uint32_t cpu, uint64_t t, uint64_t addr, uint32_t len,
		   bool gone, const char *name)
{
	struct buffer *b = ring_of(s, cpu);
	size_t at = open_record(b, PERF_RECORD_KSYMBOL, 0);
	uint16_t kind[2] = {PERF_RECORD_KSYMBOL_TYPE_BPF,
			    gone ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0};

	append(b, &addr, sizeof(addr));
	append(b, &len, sizeof(len));
	append(b, kind, sizeof(kind));
	append(b, name, strlen(name) + 1);
	close_side(b, at, (struct who){cpu, 0, 0, t});
}

static void task_record(struct synth *s, uint32_t type, struct who w, int ppid, int ptid)
{
	struct buffer *b = ring_of(s, w.cpu);
	size_t at = open_record(b, type, 0);
	uint32_t ids[4] = {(uint32_t)w.pid, (uint32_t)ppid, (uint32_t)w.tid, (uint32_t)ptid};

	append(b, ids, sizeof(ids));
	append_u64(b, w.t);
	close_side(b, at, w);
}

void synth_fork(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, int ppid, int ptid)
{
	task_record(s, PERF_RECORD_FORK, (struct who){cpu, pid, tid, t}, ppid, ptid);
}

void synth_exit(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid)
{
	task_record(s, PERF_RECORD_EXIT, (struct who){cpu, pid, tid, t}, pid, tid);
}

void synth_lost(struct synth *s, uint32_t cpu, uint64_t t, uint64_t n)
{
	struct buffer *b = ring_of(s, cpu);
	size_t at = open_record(b, PERF_RECORD_LOST, 0);

	append_u64(b, id_of(ID_BEGIN, cpu));
	append_u64(b, n);
	close_side(b, at, (struct who){cpu, 0, 0, t});
}

void synth_lost_samples(struct synth *s, uint32_t cpu, uint64_t t, uint64_t n)
{
	struct buffer *b = ring_of(s, cpu);
	size_t at = open_record(b, PERF_RECORD_LOST_SAMPLES, 0);

	append_u64(b, n), close_side(b, at, (struct who){cpu, 0, 0, t});
}

void synth_throttle(struct synth *s, uint32_t cpu, uint64_t t)
{
	struct buffer *b = ring_of(s, cpu);
	size_t at = open_record(b, PERF_RECORD_THROTTLE, 0);

	append_u64(b, t);
	append_u64(b, id_of(ID_BEGIN, cpu));
	append_u64(b, 0);
	close_side(b, at, (struct who){cpu, 0, 0, t});
}

void synth_cgroup(struct synth *s, uint32_t cpu, uint64_t t, uint64_t id, const char *path)
{
	struct buffer *b = ring_of(s, cpu);
	size_t at = open_record(b, PERF_RECORD_CGROUP, 0);

	append_u64(b, id);
	append(b, path, strlen(path) + 1);
	close_side(b, at, (struct who){cpu, 0, 0, t});
}

void synth_snapshot(struct synth *s, uint16_t kind, uint16_t version, uint64_t t, size_t len)
{
	struct record_snapshot head = {.kind = kind, .version = version, .time_ns = t};
	uint8_t *body = must(calloc(1, sizeof(head) + len));
	uint32_t seed = (uint32_t)t * 31 + kind;

	memcpy(body, &head, sizeof(head));
	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525 + 1013904223;
		body[sizeof(head) + i] = (uint8_t)(seed >> 24);
	}
	synth_record(s, RECORD_SNAPSHOT, 0, body, sizeof(head) + len);
	free(body);
}

void synth_kernel_chains(struct synth *s)
{
	s->kernel_only = true;
}

void synth_set_misc(struct synth *s, uint16_t misc)
{
	s->output_misc = misc;
}

void synth_set_cgroup(struct synth *s, uint64_t id)
{
	s->cgroup = id;
}

void synth_raw(struct synth *s, uint32_t cpu, const void *data, size_t len)
{
	append(ring_of(s, cpu), data, len);
}

void synth_flush(struct synth *s)
{
	for (uint32_t i = 0; i < s->n_rings; i++) {
		if (!s->rings[i].len)
			continue;
		synth_record(s, RECORD_PERF, i, s->rings[i].data, s->rings[i].len);
		s->rings[i].len = 0;
	}
}

void synth_round(struct synth *s, uint64_t t)
{
	synth_flush(s);
	synth_record(s, RECORD_ROUND, 0, &t, sizeof(t));
}

void synth_tick(struct synth *s, uint64_t t)
{
	synth_flush(s);
	synth_record(s, RECORD_TICK, 0, &t, sizeof(t));
	synth_record(s, RECORD_ROUND, 0, &t, sizeof(t));
}

size_t synth_count(const struct synth *s)
{
	return s->n;
}

struct record *synth_at(struct synth *s, size_t k)
{
	return &s->records[k];
}

void synth_output(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, const void *raw,
		  size_t len)
{
	synth_raw_sample(s, ID_OUTPUT, cpu, t, pid, tid, raw, len);
}

void synth_wait_begin(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid,
		      const struct waitrec_begin *begin)
{
	const size_t before = sizeof(begin->size);
	size_t all = (size_t)begin->n_frames + begin->n_user +
		     (begin->owner_asked & WAITREC_HAS_ON ? WAITREC_ON_WORDS : 0);
	size_t most = sizeof(begin->frames) / sizeof(begin->frames[0]);
	size_t n = all < most ? all : most;
	size_t len = offsetof(struct waitrec_begin, frames) + n * sizeof(begin->frames[0]);

	synth_output(s, cpu, t, pid, tid, (const uint8_t *)begin + before, len - before);
}

void synth_wait_end(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid,
		    const struct waitrec_end *end)
{
	const size_t before = sizeof(end->size);

	synth_output(s, cpu, t, pid, tid, (const uint8_t *)end + before, sizeof(*end) - before);
}

void synth_wait_release(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid,
			const struct waitrec_release *release)
{
	const size_t before = sizeof(release->size);

	synth_output(s, cpu, t, pid, tid, (const uint8_t *)release + before,
		     sizeof(*release) - before);
}

/* Written where some other task runs. */
void synth_inode(struct synth *s, uint32_t cpu, uint64_t t, const struct inoderec *inode)
{
	const size_t before = sizeof(inode->size);

	synth_output(s, cpu, t, 1, 1, (const uint8_t *)inode + before, sizeof(*inode) - before);
}

void synth_user(struct synth *s, uint32_t cpu, uint64_t t, const struct userrec *sleep)
{
	const size_t before = sizeof(sleep->size);
	size_t len = offsetof(struct userrec, frames) + sleep->n_frames * sizeof(uint64_t);

	synth_output(s, cpu, t, 1, 1, (const uint8_t *)sleep + before, len - before);
}

void synth_run(struct synth *s, uint32_t cpu, uint64_t t, const struct runrec *run)
{
	const size_t before = sizeof(run->size);
	size_t n = (size_t)run->n_frames + run->n_user + run->n_waker_frames;
	size_t len = offsetof(struct runrec, frames) + n * sizeof(uint64_t);

	synth_output(s, cpu, t, 1, 1, (const uint8_t *)run + before, len - before);
}

void synth_sleep(struct synth *s, uint32_t cpu, uint64_t t, const struct sleeprec *sleep)
{
	const size_t before = sizeof(sleep->size);
	size_t len = offsetof(struct sleeprec, frames) +
		     (size_t)(sleep->n_frames + sleep->n_user) * sizeof(uint64_t);

	synth_output(s, cpu, t, 1, 1, (const uint8_t *)sleep + before, len - before);
}

void synth_holder(struct synth *s, uint32_t cpu, uint64_t t, const struct holdrec *holder)
{
	const size_t before = sizeof(holder->size);
	size_t n = holder->n_frames < HOLDREC_FRAMES ? holder->n_frames : HOLDREC_FRAMES;
	size_t len = offsetof(struct holdrec, frames) + n * sizeof(holder->frames[0]);

	synth_output(s, cpu, t, 1, 1, (const uint8_t *)holder + before, len - before);
}
