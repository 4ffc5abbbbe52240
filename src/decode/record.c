// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decodes the perf records other than samples that the model needs (tasks, cgroup names, code,
 * losses), and their sample_id trailer. All others are skipped and counted: new record types are no
 * reason to stop. Strings are checked to end within their record.
 */
#include "kontend/decode.h"
#include "sample.h"

enum { HEADER = sizeof(struct perf_event_header), MOST_ID = 20 };

/* Since Linux 6.19; missing in older headers. */
enum { RECORD_CALLCHAIN_DEFERRED = 22 };

/* PERF_RECORD_MISC_LOST_SAMPLES_BPF: dropped by a filter. */
#define MISC_FILTERED (1u << 15)

/* The attr whose sample_id layout ends the record: from the identifier, or the only layout. */
static const struct decode_attr *trailer_attr(const struct decode *d, const uint8_t *rec,
					      size_t size)
{
	if (d->identifier && d->n_attrs && size >= HEADER + 8)
		return decode_find_attr(d, load_u64(rec + size - 8));
	return d->n_attrs && !d->mixed ? &d->attrs[0] : NULL;
}

/* Reads time, CPU and task from the trailer; returns the size of the record without it. */
static size_t read_trailer(const struct decode *d, const uint8_t *rec, size_t size,
			   struct event *ev)
{
	const struct decode_attr *a = trailer_attr(d, rec, size);

	if (!a || !a->trail_size || size < HEADER + (size_t)a->trail_size)
		return size;
	const uint8_t *end = rec + size;
	if (a->trail_time)
		ev->time = load_u64(end - a->trail_time);
	if (a->trail_cpu)
		ev->cpu = load_u32(end - a->trail_cpu);
	if (a->trail_tid) {
		ev->pid = (int32_t)load_u32(end - a->trail_tid);
		ev->tid = (int32_t)load_u32(end - a->trail_tid + 4);
	}
	return size - a->trail_size;
}

enum { KSYMBOL_NAME = HEADER + 16, TRAILER_MOST = 6 * sizeof(uint64_t) };

size_t decode_ksymbol_size(const uint8_t *rec, size_t size, size_t all,
			   size_t (*length_of)(const void *ctx, uint64_t id), const void *ctx)
{
	const uint8_t *end =
		size > KSYMBOL_NAME ? memchr(rec + KSYMBOL_NAME, 0, size - KSYMBOL_NAME) : NULL;
	size_t at = end ? ((size_t)(end - rec) + 8) & ~(size_t)7 : size;

	if (all)
		return at < size && (size - at) % all == 0 ? at + all : 0;
	for (size_t len = 8; len <= TRAILER_MOST && at + len <= size; len += 8)
		if (length_of(ctx, load_u64(rec + at + len - 8)) == len)
			return at + len;
	return 0;
}

static size_t trailer_length(const void *ctx, uint64_t id)
{
	const struct decode *d = ctx;
	const uint32_t *index = map64_get(&d->ids, id);

	return index ? d->attrs[*index].trail_size : 0;
}

size_t decode_whole_size(const struct decode *d, const uint8_t *rec, size_t size)
{
	bool by_id = d->identifier && d->n_attrs > 1;

	if (load_u32(rec) != PERF_RECORD_KSYMBOL)
		return size;
	if (!by_id && (!d->n_attrs || d->mixed || !d->attrs[0].trail_size))
		return 0;
	return decode_ksymbol_size(rec, size, by_id ? 0 : d->attrs[0].trail_size, trailer_length,
				   d);
}

/* A NUL-terminated string at @at within the first @len bytes, or NULL. */
static const char *string_at(const uint8_t *rec, size_t at, size_t len)
{
	if (at >= len || !memchr(rec + at, 0, len - at))
		return NULL;
	return (const char *)rec + at;
}

static int decode_comm(const uint8_t *rec, size_t len, struct event *ev)
{
	const char *name = string_at(rec, HEADER + 8, len);
	struct perf_event_header h;

	if (!name)
		return DECODE_BAD;
	memcpy(&h, rec, sizeof(h));
	ev->kind = EVENT_COMM;
	ev->pid = (int32_t)load_u32(rec + HEADER);
	ev->tid = (int32_t)load_u32(rec + HEADER + 4);
	ev->comm.name = name;
	ev->comm.exec = h.misc & PERF_RECORD_MISC_COMM_EXEC;
	return 0;
}

static int decode_task(const uint8_t *rec, size_t len, uint32_t kind, struct event *ev)
{
	if (len < HEADER + 24)
		return DECODE_BAD;
	ev->kind = kind;
	ev->pid = (int32_t)load_u32(rec + HEADER);
	ev->fork.ppid = (int32_t)load_u32(rec + HEADER + 4);
	ev->tid = (int32_t)load_u32(rec + HEADER + 8);
	ev->fork.ptid = (int32_t)load_u32(rec + HEADER + 12);
	ev->time = load_u64(rec + HEADER + 16);
	return 0;
}

static int decode_cgroup(const uint8_t *rec, size_t len, struct event *ev)
{
	const char *path = string_at(rec, HEADER + 8, len);

	if (!path)
		return DECODE_BAD;
	ev->kind = EVENT_CGROUP;
	ev->cg.id = load_u64(rec + HEADER);
	ev->cg.path = path;
	return 0;
}

/* No wait is read from it. False if that is not known. */
static bool is_profile(const struct decode_attr *a)
{
	return a && (a->tp.kind == EVENT_SAMPLE ||
		     (a->type != PERF_TYPE_TRACEPOINT && a->type != PERF_TYPE_SOFTWARE));
}

/*
 * LOST: id, count; the id is that of the event that could write again, so it does not say which
 * events lost records. LOST_SAMPLES: count; its trailer has the id.
 */
static int decode_loss(const uint8_t *rec, size_t len, uint32_t kind, size_t at, struct event *ev)
{
	struct perf_event_header h;

	if (len < HEADER + at + 8)
		return DECODE_BAD;
	memcpy(&h, rec, sizeof(h));
	if (kind == EVENT_LOST_SAMPLES && h.misc & MISC_FILTERED)
		return DECODE_SKIP;
	ev->kind = kind;
	ev->lost.n = load_u64(rec + HEADER + at);
	ev->lost.until = ev->time;
	ev->lost.of_profile = false;
	return 0;
}

static int decode_lost_samples(const struct decode *d, const uint8_t *rec, size_t size, size_t len,
			       struct event *ev)
{
	int r = decode_loss(rec, len, EVENT_LOST_SAMPLES, 0, ev);

	if (r == 0)
		ev->lost.of_profile = is_profile(trailer_attr(d, rec, size));
	return r;
}

/* Time, id, id of the stream. */
static int decode_throttle(const struct decode *d, const uint8_t *rec, size_t len, uint32_t kind,
			   struct event *ev)
{
	if (len < HEADER + 24)
		return DECODE_BAD;
	ev->kind = kind;
	ev->lost.of_profile = is_profile(decode_find_attr(d, load_u64(rec + HEADER + 8)));
	if (!ev->time)
		ev->time = load_u64(rec + HEADER);
	return 0;
}

/* next_prev_pid, next_prev_tid: the next or the previous task. */
static int decode_switch(const uint8_t *rec, size_t len, struct event *ev)
{
	struct perf_event_header h;

	if (len < HEADER + 8)
		return DECODE_BAD;
	memcpy(&h, rec, sizeof(h));
	ev->kind = EVENT_SWITCH;
	ev->sw.out = h.misc & PERF_RECORD_MISC_SWITCH_OUT;
	ev->sw.size = h.size;
	ev->sw.other = (int32_t)load_u32(rec + HEADER + 4);
	return 0;
}

/*
 * MMAP: pid, tid, address, length, offset, name. MMAP2 has between offset and name the device and
 * inode, or a build id, then protection and flags. Mappings of the kernel's text and of data are
 * skipped.
 */
static int decode_mmap(const uint8_t *rec, size_t len, uint32_t type, struct event *ev)
{
	size_t name = HEADER + (type == PERF_RECORD_MMAP2 ? 64 : 32);
	const char *path = string_at(rec, name, len);
	struct perf_event_header h;

	if (!path)
		return DECODE_BAD;
	memcpy(&h, rec, sizeof(h));
	if ((h.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER ||
	    h.misc & PERF_RECORD_MISC_MMAP_DATA)
		return DECODE_SKIP;
	ev->kind = EVENT_MMAP;
	ev->pid = (int32_t)load_u32(rec + HEADER);
	ev->tid = (int32_t)load_u32(rec + HEADER + 4);
	ev->mmap.start = load_u64(rec + HEADER + 8);
	ev->mmap.len = load_u64(rec + HEADER + 16);
	ev->mmap.pgoff = load_u64(rec + HEADER + 24);
	ev->mmap.maj = ev->mmap.min = 0;
	ev->mmap.ino = 0;
	ev->mmap.path = path;
	ev->mmap.id = NULL;
	ev->mmap.id_len = 0;
	if (type == PERF_RECORD_MMAP2 && h.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		/* Length, three bytes of padding, the id. */
		ev->mmap.id = rec + HEADER + 36;
		ev->mmap.id_len = rec[HEADER + 32] <= MOST_ID ? rec[HEADER + 32] : 0;
	} else if (type == PERF_RECORD_MMAP2) {
		ev->mmap.maj = load_u32(rec + HEADER + 32);
		ev->mmap.min = load_u32(rec + HEADER + 36);
		ev->mmap.ino = load_u64(rec + HEADER + 40);
	}
	return 0;
}

/* Cookie, number of frames, frames; the task is in the trailer. */
static int decode_deferred(const uint8_t *rec, size_t len, struct event *ev)
{
	if (len < HEADER + 16 || load_u64(rec + HEADER + 8) > (len - HEADER - 16) / 8)
		return DECODE_BAD;
	ev->kind = EVENT_DEFERRED;
	ev->deferred.cookie = load_u64(rec + HEADER);
	ev->deferred.n_frames = (uint32_t)load_u64(rec + HEADER + 8);
	ev->deferred.frames = (const uint64_t *)(const void *)(rec + HEADER + 16);
	return 0;
}

/* Address, length, type, flags, name. */
static int decode_ksymbol(const uint8_t *rec, size_t len, struct event *ev)
{
	const char *name = string_at(rec, KSYMBOL_NAME, len);

	if (!name)
		return DECODE_BAD;
	uint32_t what = load_u32(rec + HEADER + 12), type = what & UINT16_MAX;
	if (type != PERF_RECORD_KSYMBOL_TYPE_BPF && type != PERF_RECORD_KSYMBOL_TYPE_OOL)
		return DECODE_SKIP;
	ev->kind = EVENT_KSYMBOL;
	ev->ksym.start = load_u64(rec + HEADER);
	ev->ksym.len = load_u32(rec + HEADER + 8);
	ev->ksym.is_bpf = type == PERF_RECORD_KSYMBOL_TYPE_BPF;
	ev->ksym.is_gone = what >> 16 & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	ev->ksym.name = name;
	/* Without a time that can be read it stays where the stream has it. */
	ev->time = ev->time <= INT64_MAX ? ev->time : 0;
	bool is_range = ev->ksym.len && ev->ksym.start + ev->ksym.len > ev->ksym.start;
	return is_range || ev->ksym.is_gone ? 0 : DECODE_BAD;
}

/* Skips records of tasks outside of the PID namespace: perf gives them pid and tid 0. */
static int skip_unknown(const struct event *ev, int code)
{
	return code == 0 && !ev->pid && !ev->tid ? DECODE_SKIP : code;
}

int decode_other(const struct decode *d, const uint8_t *rec, size_t size, uint32_t type,
		 struct event *ev)
{
	size_t whole = decode_whole_size(d, rec, size);
	size_t len = whole ? read_trailer(d, rec, whole, ev) : size;

	switch (type) {
	case PERF_RECORD_COMM:
		return skip_unknown(ev, decode_comm(rec, len, ev));
	case PERF_RECORD_FORK:
		return skip_unknown(ev, decode_task(rec, len, EVENT_FORK, ev));
	case PERF_RECORD_EXIT:
		return skip_unknown(ev, decode_task(rec, len, EVENT_EXIT, ev));
	case PERF_RECORD_CGROUP:
		return decode_cgroup(rec, len, ev);
	case PERF_RECORD_LOST:
		return decode_loss(rec, len, EVENT_LOST, 8, ev);
	case PERF_RECORD_LOST_SAMPLES:
		return decode_lost_samples(d, rec, size, len, ev);
	case PERF_RECORD_THROTTLE:
		return decode_throttle(d, rec, len, EVENT_THROTTLE, ev);
	case PERF_RECORD_UNTHROTTLE:
		return decode_throttle(d, rec, len, EVENT_UNTHROTTLE, ev);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return skip_unknown(ev, decode_mmap(rec, len, type, ev));
	case RECORD_CALLCHAIN_DEFERRED:
		return skip_unknown(ev, decode_deferred(rec, len, ev));
	case PERF_RECORD_KSYMBOL:
		return decode_ksymbol(rec, len, ev);
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return decode_switch(rec, len, ev);
	default:
		return DECODE_SKIP;
	}
}
