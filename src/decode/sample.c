// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records to events, with PERF_RECORD_SAMPLE as the hot path. One length check covers all fixed
 * fields, and one each the variable ones; only the words that the model needs are copied. The call
 * chain stays in place, without its context markers and cut where the user part begins.
 */
#include "sample.h"
#include "kontend/filelock.h"
#include "kontend/ownerrec.h"
#include "kontend/runrec.h"
#include "kontend/sleeprec.h"
#include "kontend/taskid.h"
#include "kontend/taskrec.h"
#include "kontend/userrec.h"
#include "kontend/waitrec.h"
#include <stddef.h>

static const struct decode_attr *attr_of(const struct decode *d, const uint8_t *rec, size_t size)
{
	if (d->identifier) {
		if (size < sizeof(struct perf_event_header) + 8)
			return NULL;
		return decode_find_attr(d, load_u64(rec + sizeof(struct perf_event_header)));
	}
	if (!d->n_attrs || d->mixed)
		return NULL;
	const struct decode_attr *first = &d->attrs[0];
	if (first->off_id && size >= first->off_id + 8u)
		return decode_find_attr(d, load_u64(rec + first->off_id));
	return d->n_attrs == 1 ? first : NULL;
}

/* Bytes of a PERF_SAMPLE_READ field, 0 when truncated. */
static size_t read_size(const struct decode_attr *a, const uint8_t *p, size_t left)
{
	size_t words = 0, times = 0, each = 1;

	if (a->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		times++;
	if (a->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		times++;
	if (a->read_format & PERF_FORMAT_ID)
		each++;
	if (a->read_format & PERF_FORMAT_LOST)
		each++;
	words = times + each;
	if (a->read_format & PERF_FORMAT_GROUP) {
		if (left < 8)
			return 0;
		uint64_t n = load_u64(p);
		if (n > left / 8)
			return 0;
		words = 1 + times + (size_t)n * each;
	}
	return words * 8 <= left ? words * 8 : 0;
}

/* The part of a chain in user space: from its marker on, which is the last one. */
static void user_frames(const uint64_t *ips, uint64_t n, struct event *ev)
{
	uint64_t from = n;

	while (from && ips[from - 1] < PERF_CONTEXT_MAX)
		from--;
	if (from && ips[from - 1] == PERF_CONTEXT_USER) {
		ev->begin.user = ips + from;
		ev->begin.n_user = (uint32_t)(n - from);
	}
}

/* The kernel part of a chain: after its marker, up to the next marker. */
static void kernel_frames(const struct decode_attr *a, const uint64_t *ips, uint64_t n,
			  const uint64_t **ret, uint32_t *ret_n)
{
	uint64_t from = 0, to;

	if (a->kernel_chain && n && ips[0] == PERF_CONTEXT_KERNEL) {
		*ret = ips + 1;
		*ret_n = (uint32_t)n - 1;
		return;
	}
	while (from < n && ips[from] >= PERF_CONTEXT_MAX && ips[from] != PERF_CONTEXT_KERNEL)
		from++;
	if (from < n && ips[from] == PERF_CONTEXT_KERNEL)
		from++;
	else if (from)
		from = n; /* only user or guest frames follow */
	for (to = from; to < n && ips[to] < PERF_CONTEXT_MAX; to++)
		;
	*ret = ips + from;
	*ret_n = (uint32_t)(to - from);
}

/* Both parts. */
static inline void begin_frames(const struct decode_attr *a, const uint64_t *ips, uint64_t n,
				struct event *ev)
{
	kernel_frames(a, ips, n, &ev->begin.frames, &ev->begin.n_frames);
	if (!a->kernel_chain)
		user_frames(ips, n, ev);
}

/* No chain, and no holder. */
static inline void clear_begin(struct event *ev)
{
	ev->begin.frames = ev->begin.user = NULL;
	ev->begin.n_frames = ev->begin.n_user = 0;
	ev->begin.missed = 0;
	ev->begin.since_ns = 0;
	ev->begin.owner = WAITREC_NOT_SAID;
	ev->begin.user_is = WAITREC_USER_NONE;
	ev->begin.on = (struct waitrec_on){0};
	ev->begin.ino = ev->begin.file = ev->begin.owner_file = 0;
	ev->begin.held_ns = ev->begin.spun_ns = 0;
	ev->begin.idle = 0;
	ev->begin.par = 0;
}

static uint64_t load_field(const uint8_t *raw, struct trace_field f)
{
	switch (f.size) {
	case 8:
		return load_u64(raw + f.offset);
	case 4:
		return load_u32(raw + f.offset);
	case 2:
		return (uint64_t)(raw[f.offset] | raw[f.offset + 1] << 8);
	default:
		return raw[f.offset];
	}
}

static int owner_fields(const uint8_t *raw, size_t len, struct event *ev)
{
	const char *comm = (const char *)raw + offsetof(struct ownerrec, comm);
	struct ownerrec r;

	if (len < sizeof(r))
		return DECODE_BAD;
	memcpy(&r, raw, sizeof(r));
	if (r.tid < 0 || r.hint > 1 || !memchr(comm, 0, sizeof(r.comm)))
		return DECODE_BAD;
	ev->owner.lock = r.lock;
	ev->owner.pid = r.pid;
	ev->owner.tid = r.tid;
	ev->owner.hint = r.hint;
	ev->owner.comm = comm;
	return 0;
}

/* The record is not about the current task. */
static int holder_fields(const uint8_t *raw, size_t len, struct event *ev)
{
	const size_t before = sizeof(uint32_t), head = offsetof(struct holdrec, frames) - before;
	const char *comm = (const char *)raw - before + offsetof(struct holdrec, comm);
	const char *other = (const char *)raw - before + offsetof(struct holdrec, other_comm);
	struct holdrec r;

	if (len < head)
		return DECODE_BAD;
	memcpy(&r, raw - before, before + head);
	bool of_task = r.what != HOLDREC_BEGUN && r.what != HOLDREC_STOPPED;
	if (r.what >= HOLDREC_WHATS || r.state >= HOLDREC_STATES || r.hint > 1 ||
	    (of_task && !r.tid) || r.n_frames > HOLDREC_FRAMES ||
	    r.n_frames > (len - head) / sizeof(r.frames[0]) || !memchr(comm, 0, sizeof(r.comm)) ||
	    !memchr(other, 0, sizeof(r.other_comm)))
		return DECODE_BAD;
	ev->kind = EVENT_HOLDER;
	ev->pid = r.pid;
	ev->tid = r.tid;
	ev->holder.lock = r.lock;
	ev->holder.frames = (const uint64_t *)(const void *)(raw + head);
	ev->holder.n_frames = r.n_frames;
	ev->holder.missed = r.missed;
	ev->holder.comm = comm;
	ev->holder.other_comm = other;
	ev->holder.other_pid = r.other_pid;
	ev->holder.other_tid = r.other_tid;
	ev->holder.idle = r.idle;
	ev->holder.what = (uint8_t)r.what;
	ev->holder.state = (uint8_t)r.state;
	ev->holder.hint = r.hint;
	return 0;
}

static int inode_fields(const uint8_t *raw, size_t len, struct event *ev)
{
	const size_t before = sizeof(uint32_t);
	const char *fs = (const char *)raw - before + offsetof(struct inoderec, fs);
	const char *names = (const char *)raw - before + offsetof(struct inoderec, names);
	const size_t most = sizeof(struct inoderec) - before;
	struct inoderec r = {0};

	if (len < offsetof(struct inoderec, start) - before)
		return DECODE_BAD;
	memcpy(&r, raw - before,
	       len < most ? offsetof(struct inoderec, start) : sizeof(struct inoderec));
	if (r.which >= INODEREC_LOCKS || r.flags >= INODEREC_FLAGS || r.n_bytes > sizeof(r.names) ||
	    (r.n_bytes && names[r.n_bytes - 1]) || !memchr(fs, 0, sizeof(r.fs)))
		return DECODE_BAD;
	ev->kind = EVENT_INODE;
	ev->inode.lock = r.lock;
	ev->inode.ino = r.ino;
	ev->inode.generation = r.generation;
	ev->inode.start = r.start;
	ev->inode.past = r.past;
	ev->inode.dev = r.dev;
	ev->inode.which = (uint8_t)r.which;
	ev->inode.flags = (uint8_t)r.flags;
	ev->inode.n_bytes = (uint16_t)r.n_bytes;
	ev->inode.fs = fs;
	ev->inode.names = names;
	return 0;
}

static int task_fields(const uint8_t *raw, size_t len, struct event *ev)
{
	static const uint8_t kinds[] = {EVENT_FORK, EVENT_COMM, EVENT_EXIT};
	const char *comm = (const char *)raw + offsetof(struct taskrec, comm);
	struct taskrec r;

	if (len < sizeof(r))
		return DECODE_BAD;
	memcpy(&r, raw, sizeof(r));
	if (r.what > TASKREC_EXIT || r.tid <= 0 || !memchr(comm, 0, sizeof(r.comm)))
		return DECODE_BAD;
	ev->kind = kinds[r.what];
	ev->pid = r.pid;
	ev->tid = r.tid;
	if (r.what == TASKREC_COMM) {
		ev->comm.name = comm;
		ev->comm.exec = false;
	} else {
		ev->fork.ppid = r.ppid;
		ev->fork.ptid = r.ptid;
	}
	return 0;
}

_Static_assert(offsetof(struct waitrec_late, begin_ns) == offsetof(struct waitrec_begin, frames) &&
		       offsetof(struct waitrec_late, spun) == offsetof(struct waitrec_begin, held),
	       "both begin with the same fields");

enum {
	WAIT_HEAD = offsetof(struct waitrec_begin, frames),
	WAIT_HEAD2 = offsetof(struct waitrec_begin, par),
	WAIT_HEAD1 = offsetof(struct waitrec_begin, owner_pid),
};

/* @late: it has a begin time. @all: the size of what is before that and the frames, by version. */
static inline int wait_begin_fields(const uint8_t *raw, size_t len, bool late, size_t all,
				    struct event *ev)
{
	struct waitrec_begin r = {0};
	const size_t before = sizeof(r.size), head = all - before,
		     frames = late ? head + sizeof(uint64_t) : head;

	if (len < frames)
		return DECODE_BAD;
	memcpy(&r, raw - before, before + head);
	uint64_t since_ns = late ? load_u64(raw + head) : 0;
	if (r.n_frames > WAITREC_FRAMES || r.n_user > WAITREC_USER || r.user >= WAITREC_USERS ||
	    (size_t)(r.n_frames + r.n_user) > (len - frames) / sizeof(r.frames[0]) ||
	    (late && (!since_ns || since_ns > ev->time)) || r.owner >= WAITREC_OWNERS ||
	    r.owner_asked & ~(WAITREC_OWNERS_ASKED | WAITREC_HAS_ON | WAITREC_LOSES) ||
	    r.owner_tid < 0 ||
	    !decode_on(raw + frames + (r.n_frames + r.n_user) * sizeof(r.frames[0]), raw + len,
		       r.owner_asked & WAITREC_HAS_ON, &ev->begin.on))
		return DECODE_BAD;
	ev->kind = EVENT_CONTENTION_BEGIN;
	ev->cgroup = r.cgroup;
	ev->begin.lock = r.lock;
	ev->begin.flags = r.flags;
	ev->begin.missed = r.missed;
	ev->begin.since_ns = since_ns;
	ev->begin.n_frames = r.n_frames;
	ev->begin.frames = (const uint64_t *)(const void *)(raw + frames);
	ev->begin.n_user = r.n_user;
	ev->begin.user = ev->begin.frames + r.n_frames;
	ev->begin.user_is = r.user;
	ev->begin.owner_pid = r.owner_pid;
	ev->begin.owner_tid = r.owner_tid;
	ev->begin.owner = (uint8_t)r.owner;
	ev->begin.owner_asked = r.owner_asked & WAITREC_OWNERS_ASKED;
	ev->begin.loses = r.owner_asked & WAITREC_LOSES;
	ev->begin.ino = ev->begin.file = ev->begin.owner_file = 0;
	bool is_file = filelock_is(r.lock);
	ev->begin.held_ns = late || !is_file ? 0 : waitrec_age_ns(r.held);
	ev->begin.idle = late || is_file ? 0 : r.held;
	ev->begin.par = r.par;
	ev->begin.spun_ns = late ? waitrec_age_ns(r.held) : 0;
	if (ev->tid == -1)
		ev->tid = r.tid;
	return 0;
}

static inline void no_idle(struct event *ev)
{
	ev->end.par = ev->end.idle = ev->end.began = 0;
	ev->end.is_lost_known = ev->end.is_par_known = false;
}

/* @all: its length, of this version. */
static int wait_end_fields(const uint8_t *raw, size_t len, size_t all, struct event *ev)
{
	struct waitrec_end r = {0};
	const size_t before = sizeof(r.size);

	if (len < all - before)
		return DECODE_BAD;
	memcpy(&r, raw - before, all);
	no_idle(ev);
	ev->end.idle = r.idle;
	ev->end.began = r.began;
	ev->end.par = r.par;
	ev->kind = EVENT_CONTENTION_END;
	ev->end.lock = r.lock;
	ev->end.ret = r.ret;
	ev->end.owner_file = 0;
	if (ev->tid == -1)
		ev->tid = r.tid;
	return 0;
}

static int wait_release_fields(const uint8_t *raw, size_t len, struct event *ev)
{
	struct waitrec_release r;
	const size_t before = sizeof(r.size);

	if (len < sizeof(r) - before)
		return DECODE_BAD;
	memcpy(&r, raw - before, sizeof(r));
	ev->kind = EVENT_RELEASE;
	ev->release.lock = r.lock;
	if (ev->tid == -1)
		ev->tid = r.tid;
	return 0;
}

/* Output of BPF programs; the magic number shows if it is kontend's. */
static int output_fields(const uint8_t *raw, size_t len, struct event *ev)
{
	if (len >= 8 && load_u64(raw) == OWNERREC_MAGIC)
		return owner_fields(raw, len, ev);
	if (len >= 8 && load_u64(raw) == TASKREC_MAGIC)
		return task_fields(raw, len, ev);
	if (len >= 4 && load_u32(raw) == HOLDREC_MAGIC)
		return holder_fields(raw, len, ev);
	if (len >= 4 && load_u32(raw) == INODEREC_MAGIC)
		return inode_fields(raw, len, ev);
	if (len >= 4 && load_u32(raw) == SLEEPREC_MAGIC)
		return decode_sleep(raw, len, ev);
	if (len >= 4 && (load_u32(raw) == USERREC_MAGIC || load_u32(raw) == USERREC1_MAGIC))
		return decode_user(raw, len, ev);
	if (len >= 4 && load_u32(raw) == RUNREC_MAGIC)
		return decode_run(raw, len, ev);
	if (len >= 4 && load_u32(raw) == WAITREC_BEGIN_MAGIC)
		return wait_begin_fields(raw, len, false, WAIT_HEAD, ev);
	if (len >= 4 && load_u32(raw) == WAITREC_LATE_MAGIC)
		return wait_begin_fields(raw, len, true, WAIT_HEAD, ev);
	if (len >= 4 && load_u32(raw) == WAITREC_BEGIN2_MAGIC)
		return wait_begin_fields(raw, len, false, WAIT_HEAD2, ev);
	if (len >= 4 && load_u32(raw) == WAITREC_LATE2_MAGIC)
		return wait_begin_fields(raw, len, true, WAIT_HEAD2, ev);
	if (len >= 4 && load_u32(raw) == WAITREC_BEGIN1_MAGIC)
		return wait_begin_fields(raw, len, false, WAIT_HEAD1, ev);
	if (len >= 4 && load_u32(raw) == WAITREC_LATE1_MAGIC)
		return wait_begin_fields(raw, len, true, WAIT_HEAD1, ev);
	if (len >= 4 && load_u32(raw) == WAITREC_FRAMES_MAGIC)
		return decode_frames(raw, len, ev);
	if (len >= 4 && load_u32(raw) == WAITREC_END_MAGIC)
		return wait_end_fields(raw, len, sizeof(struct waitrec_end), ev);
	if (len >= 4 && load_u32(raw) == WAITREC_END1_MAGIC)
		return wait_end_fields(raw, len, WAITREC_END1, ev);
	if (len >= 4 && load_u32(raw) == WAITREC_END2_MAGIC)
		return wait_end_fields(raw, len, WAITREC_END2, ev);
	if (len >= 4 && load_u32(raw) == WAITREC_RELEASE_MAGIC)
		return wait_release_fields(raw, len, ev);
	return DECODE_SKIP;
}

/* A text of the entry: u16 offset, u16 size including NUL. NULL: out of bounds. */
static const char *text_at(const uint8_t *raw, size_t len, uint32_t loc)
{
	size_t from = loc & 0xffff, size = loc >> 16;

	if (!size || from > len || size > len - from || raw[from + size - 1])
		return NULL;
	return (const char *)raw + from;
}

static int mm_fields(const struct trace_event *tp, const uint8_t *raw, size_t len, struct event *ev)
{
	const struct trace_field *m = &tp->memcg, *s = &tp->success;

	if ((size_t)m->offset + m->size > len || (size_t)s->offset + s->size > len)
		return DECODE_BAD;
	ev->mm.mm = load_field(raw, tp->lock);
	ev->mm.write = load_field(raw, tp->arg) != 0;
	ev->mm.success = !s->size || load_field(raw, *s);
	ev->mm.memcg_id = m->size == 8 ? load_u64(raw + m->offset) : 0;
	ev->mm.memcg = NULL;
	ev->mm.frames = NULL;
	ev->mm.n_frames = 0;
	if (m->size != 4)
		return 0;
	ev->mm.memcg = text_at(raw, len, load_u32(raw + m->offset));
	return ev->mm.memcg ? 0 : DECODE_BAD;
}

/*
 * Perf has PIDs of its PID namespace: 0 for the idle task and for all tasks outside, -1 for a task
 * after its exit. The trace entry has the PID of the initial namespace, which distinguishes them.
 */
static void name_by_entry(struct decode *d, const uint8_t *raw, struct event *ev)
{
	int32_t host = (int32_t)load_u32(raw);

	if (ev->tid > 0 || host <= 0)
		return;
	if (ev->tid == 0)
		d->is_inner = true;
	ev->tid = d->is_inner ? taskid_outside(host) : host;
	if (d->is_inner)
		ev->pid = ev->tid; /* the entry lacks the process */
}

/* Does the entry have that field? */
static bool has_field(struct trace_field f, size_t len)
{
	return (size_t)f.offset + f.size <= len;
}

static void file_begin_fields(enum filelock_kind kind, bool reads, uint32_t dev, uint64_t ino,
			      struct event *ev)
{
	ev->kind = EVENT_CONTENTION_BEGIN;
	clear_begin(ev);
	ev->begin.lock = filelock_addr(kind, dev, ino);
	ev->begin.start = ev->begin.past = 0;
	ev->begin.flags = filelock_flags(kind, reads);
	ev->begin.dev = dev;
	ev->begin.ino = ino;
}

/* Which part of the file: the tracepoint has the last byte. */
static int file_part_fields(const struct trace_event *tp, const uint8_t *raw, size_t len,
			    struct event *ev)
{
	if (!has_field(tp->start, len) || !has_field(tp->end, len))
		return DECODE_BAD;
	ev->begin.file = ev->begin.lock;
	ev->begin.start = load_field(raw, tp->start);
	ev->begin.past = load_field(raw, tp->end) + 1;
	ev->begin.lock = filelock_part(ev->begin.file, ev->begin.start, ev->begin.past);
	return 0;
}

/* The owner that has the lock now, or has given it back. */
static int file_owner_fields(const struct trace_event *tp, const uint8_t *raw, size_t len,
			     uint64_t type, struct event *ev)
{
	bool has_part = tp->start.size != 0;

	if (!has_field(tp->owner, len) || !has_field(tp->start, len) || !has_field(tp->end, len))
		return DECODE_BAD;
	ev->end.owner_file = tp->owner.size ? load_field(raw, tp->owner) : 0;
	ev->end.start = has_part ? load_field(raw, tp->start) : 0;
	ev->end.past = has_part ? load_field(raw, tp->end) + 1 : FILELOCK_EOF;
	ev->end.gives_back = type == FILELOCK_UNLOCK;
	ev->end.reads = type == FILELOCK_READ;
	return 0;
}

/* A try that has to wait begins a wait; one that may wait and need not ends it. */
static int file_fields(const struct trace_event *tp, const uint8_t *raw, size_t len,
		       struct event *ev)
{
	static const enum filelock_kind kinds[] = {FILELOCK_FLOCK, FILELOCK_POSIX, FILELOCK_LEASE,
						   FILELOCK_LEASE};
	enum filelock_kind kind = kinds[tp->kind - EVENT_FLOCK];

	if (!has_field(tp->dev, len) || !has_field(tp->flags, len) || !has_field(tp->type, len))
		return DECODE_BAD;
	uint64_t ino = load_field(raw, tp->lock), type = load_field(raw, tp->type);
	uint32_t dev = (uint32_t)load_field(raw, tp->dev);
	int32_t ret = tp->arg.size ? (int32_t)load_field(raw, tp->arg) : 0;
	if (tp->kind == EVENT_LEASE_BLOCK || (ret == FILELOCK_DEFERRED && tp->arg.size)) {
		file_begin_fields(kind, type == FILELOCK_READ, dev, ino, ev);
		if (!has_field(tp->owner, len))
			return DECODE_BAD;
		ev->begin.owner_file = tp->owner.size ? load_field(raw, tp->owner) : 0;
		return tp->start.size ? file_part_fields(tp, raw, len, ev) : 0;
	}
	bool is_end = tp->kind == EVENT_LEASE_UNBLOCK ||
		      (type != FILELOCK_UNLOCK && load_field(raw, tp->flags) & FILELOCK_SLEEP);
	ev->kind = EVENT_CONTENTION_END;
	ev->end.lock = filelock_addr(kind, dev, ino);
	ev->end.ret = is_end ? ret : FILELOCK_OVER;
	no_idle(ev);
	ev->end.owner_file = 0;
	return ret ? 0 : file_owner_fields(tp, raw, len, type, ev);
}

static int raw_fields(struct decode *d, const struct decode_attr *a, const uint8_t *raw, size_t len,
		      struct event *ev)
{
	const struct trace_event *tp = &a->tp;

	if (tp->kind == EVENT_OWNER)
		return output_fields(raw, len, ev);
	if ((size_t)tp->lock.offset + tp->lock.size > len ||
	    (size_t)tp->arg.offset + tp->arg.size > len)
		return DECODE_BAD;
	uint64_t lock = load_field(raw, tp->lock);
	switch (tp->kind) {
	case EVENT_CONTENTION_BEGIN:
		ev->begin.lock = lock;
		ev->begin.flags = (uint32_t)load_field(raw, tp->arg);
		break;
	case EVENT_CONTENTION_END:
		ev->end.lock = lock;
		ev->end.ret = (int32_t)load_field(raw, tp->arg);
		no_idle(ev);
		ev->end.owner_file = 0;
		break;
	case EVENT_RELEASE:
		ev->release.lock = lock;
		break;
	case EVENT_MM_START:
	case EVENT_MM_ACQUIRED:
	case EVENT_MM_RELEASED:
		if (mm_fields(tp, raw, len, ev) != 0)
			return DECODE_BAD;
		break;
	case EVENT_FLOCK:
	case EVENT_POSIX_LOCK:
	case EVENT_LEASE_BLOCK:
	case EVENT_LEASE_UNBLOCK:
		if (file_fields(tp, raw, len, ev) != 0)
			return DECODE_BAD;
		break;
	default:
		ev->timer.timer = lock;
		ev->timer.function = tp->arg.size ? load_field(raw, tp->arg) : 0;
	}
	if (tp->pid.size == 4 && tp->pid.offset + 4u <= len)
		name_by_entry(d, raw + tp->pid.offset, ev);
	return 0;
}

static void fixed_fields(const struct decode_attr *a, const uint8_t *rec, struct event *ev)
{
	if (a->off_tid) {
		ev->pid = (int32_t)load_u32(rec + a->off_tid);
		ev->tid = (int32_t)load_u32(rec + a->off_tid + 4);
	}
	if (a->off_time)
		ev->time = load_u64(rec + a->off_time);
	if (a->off_cpu)
		ev->cpu = load_u32(rec + a->off_cpu);
}

/* Reads the fields between the fixed ones and RAW. False: truncated. */
static bool take_chain(const struct decode_attr *a, const uint8_t **at, const uint8_t *end,
		       const uint64_t **ret, uint64_t *ret_n)
{
	const uint8_t *p = *at;

	*ret = NULL;
	*ret_n = 0;
	if (a->sample_type & PERF_SAMPLE_READ) {
		size_t n = read_size(a, p, (size_t)(end - p));
		if (!n)
			return false;
		p += n;
	}
	if (a->sample_type & PERF_SAMPLE_CALLCHAIN) {
		if (end - p < 8)
			return false;
		*ret_n = load_u64(p);
		if (*ret_n > (size_t)(end - p - 8) / 8)
			return false;
		*ret = (const uint64_t *)(const void *)(p + 8);
		p += 8 + *ret_n * 8;
	}
	*at = p;
	return true;
}

static int variable_fields(struct decode *d, const struct decode_attr *a, const uint8_t *p,
			   const uint8_t *end, struct event *ev)
{
	const uint64_t *frames;
	uint64_t n;

	if (!take_chain(a, &p, end, &frames, &n))
		return DECODE_BAD;
	if (frames && a->tp.kind == EVENT_CONTENTION_BEGIN)
		begin_frames(a, frames, n, ev);
	if (end - p < 4)
		return DECODE_BAD;
	uint32_t raw = load_u32(p);
	if (raw > (size_t)(end - p - 4))
		return DECODE_BAD;
	int r = raw_fields(d, a, p + 4, raw, ev);
	if (!r && frames && a->tp.kind == EVENT_MM_ACQUIRED)
		kernel_frames(a, frames, n, &ev->mm.frames, &ev->mm.n_frames);
	if (!r && frames && event_is_file_try(a->tp.kind) && ev->kind == EVENT_CONTENTION_BEGIN)
		begin_frames(a, frames, n, ev);
	p += 4 + (size_t)raw;
	if (!r && a->has_cgroup && end - p >= 8)
		ev->cgroup = load_u64(p);
	return r;
}

/*
 * Fast path for nearly every sample: fixed fields, a call chain (at an end of a wait maybe none), a
 * trace entry with fields of the usual sizes, at most a cgroup after it. False: another layout, or
 * invalid; the generic path decides.
 */
static inline bool decode_plain(const struct decode_attr *a, const uint8_t *rec, size_t size,
				struct event *ev)
{
	const uint8_t *chain = rec + a->off_tail;
	size_t least = a->off_tail + a->chain_head + 4u;

	if (!a->is_plain || size < least)
		return false;
	uint64_t n = a->chain_head ? load_u64(chain) : 0;
	if (n > (size - least) / 8)
		return false;
	const uint8_t *raw = chain + a->chain_head + n * 8 + 4;
	size_t left = size - least - n * 8;
	uint32_t len = load_u32(raw - 4);
	ev->tid = (int32_t)load_u32(rec + a->off_tid + 4);
	if (len > left || len < a->raw_least || ev->tid <= 0)
		return false;
	ev->kind = a->tp.kind;
	ev->pid = (int32_t)load_u32(rec + a->off_tid);
	ev->time = load_u64(rec + a->off_time);
	ev->cpu = load_u32(rec + a->off_cpu);
	if (a->has_cgroup && left - len >= 8)
		ev->cgroup = load_u64(raw + len);
	/* Without the field its offset is 0, and the loaded value is not used. */
	uint32_t arg = load_u32(raw + a->tp.arg.offset);
	if (ev->kind == EVENT_CONTENTION_BEGIN) {
		clear_begin(ev);
		ev->begin.lock = load_u64(raw + a->tp.lock.offset);
		ev->begin.flags = arg;
		begin_frames(a, (const uint64_t *)(const void *)(chain + 8), n, ev);
	} else if (ev->kind == EVENT_CONTENTION_END) {
		ev->end.lock = load_u64(raw + a->tp.lock.offset);
		ev->end.ret = (int32_t)arg;
		no_idle(ev);
		ev->end.owner_file = 0;
	} else {
		ev->release.lock = load_u64(raw + a->tp.lock.offset);
	}
	return true;
}

/* The record says which mode the CPU was in; of guests and old files the address decides. */
static bool is_kernel_mode(const uint8_t *rec, uint64_t ip)
{
	struct perf_event_header h;

	memcpy(&h, rec, sizeof(h));
	unsigned mode = h.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_USER)
		return mode == PERF_RECORD_MISC_KERNEL;
	return ip >> 63;
}

/* A sample of the profile. */
static int profile_fields(const struct decode_attr *a, const uint8_t *rec, size_t size,
			  struct event *ev)
{
	const uint8_t *p = rec + a->off_tail, *end = rec + size;
	uint64_t n;

	ev->sample.ip = load_u64(rec + a->off_ip);
	ev->sample.is_kernel = is_kernel_mode(rec, ev->sample.ip);
	ev->sample.period = a->off_period ? load_u64(rec + a->off_period) : 0;
	ev->sample.branches = ev->sample.regs = NULL;
	ev->sample.n_branches = 0;
	ev->sample.number = a->number;
	if (!take_chain(a, &p, end, &ev->sample.frames, &n))
		return DECODE_BAD;
	ev->sample.n_frames = (uint32_t)n;
	return a->has_user_part ? decode_user_part(a, p, end, ev) : 0;
}

/* In rings filled by BPF, the first record after a gap reports it. */
static void note_gap(const uint8_t *rec, struct event *ev)
{
	struct perf_event_header h;
	bool is_begin = ev->kind == EVENT_CONTENTION_BEGIN;

	if (!is_begin && ev->kind != EVENT_CONTENTION_END && ev->kind != EVENT_RELEASE &&
	    ev->kind != EVENT_HOLDER && ev->kind != EVENT_INODE)
		return;
	memcpy(&h, rec, sizeof(h));
	ev->after_gap = h.misc & WAITREC_AFTER_GAP ||
			(is_begin && ev->begin.missed && !(h.misc & WAITREC_REPORTS_GAPS));
}

/* Once an event: is it one that the user asked for? Names are known by its first sample. */
static void settle(struct decode *d, size_t index)
{
	struct decode_attr *a = &d->attrs[index];

	a->is_settled = true;
	if (a->can_sample && eventlist_match(&d->list, d->asked) >> a->number & 1)
		a->tp.kind = EVENT_SAMPLE;
}

static int decode_sample(struct decode *d, const uint8_t *rec, size_t size, struct event *ev)
{
	const struct decode_attr *a = attr_of(d, rec, size);

	/* The event was not announced, or its id cannot be determined. */
	if (!a)
		return DECODE_BAD;
	d->samples[a->number]++;
	if (decode_plain(a, rec, size, ev))
		return 0;
	if (a->tp.kind == EVENT_NONE && d->asked && !a->is_settled)
		settle(d, (size_t)(a - d->attrs));
	if (a->tp.kind == EVENT_NONE) {
		if (a->off_time && size >= a->off_tail)
			ev->time = load_u64(rec + a->off_time);
		return DECODE_SKIP;
	}
	if (size < a->off_tail)
		return DECODE_BAD;
	ev->kind = a->tp.kind;
	if (ev->kind == EVENT_CONTENTION_BEGIN)
		clear_begin(ev);
	fixed_fields(a, rec, ev);
	if (ev->kind == EVENT_SAMPLE) {
		if (d->is_inner && !ev->tid)
			ev->pid = ev->tid = TASKID_OUTSIDE;
		return profile_fields(a, rec, size, ev);
	}
	int r = variable_fields(d, a, rec + a->off_tail, rec + size, ev);
	if (!r && a->tp.kind == EVENT_OWNER)
		note_gap(rec, ev);
	return r;
}

int decode_event(struct decode *d, const void *data, size_t len, uint32_t cpu, struct event *ret,
		 size_t *ret_size)
{
	struct perf_event_header h;
	int r;

	*ret_size = 0;
	if (len < sizeof(h) || (uintptr_t)data % 8) {
		d->n_bad++;
		return DECODE_BAD;
	}
	memcpy(&h, data, sizeof(h));
	if (h.size < sizeof(h) || h.size % 8 || h.size > len) {
		d->n_bad++;
		return DECODE_BAD;
	}
	*ret_size = h.size;
	ret->time = 0;
	ret->cpu = cpu;
	ret->pid = ret->tid = -1;
	ret->cgroup = 0;
	ret->after_gap = false;
	if (h.type == PERF_RECORD_SAMPLE)
		r = decode_sample(d, data, h.size, ret);
	else
		r = decode_other(d, data, h.size, h.type, ret);
	/* No kernel clock reaches that value: it is no valid time. */
	if (r == 0 && ret->time > INT64_MAX)
		r = DECODE_BAD;
	if (r == DECODE_SKIP)
		d->n_skipped++;
	else if (r == DECODE_BAD)
		d->n_bad++;
	return r;
}
