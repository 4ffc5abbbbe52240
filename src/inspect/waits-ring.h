/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings of our own, one a CPU, in memory that the reader has mapped. What goes through perf's takes
 * about twice as long, most of it for code and data that no cache has where tasks wait. Samples are
 * written as perf writes them, of its event that programs have. Nobody else writes on this CPU: see
 * the flag `busy`.
 */
#ifndef KONTEND_INSPECT_WAITS_RING_H
#define KONTEND_INSPECT_WAITS_RING_H

#include "kernel.h"
#include "waits-shared.h"

#include "../../include/kontend/waitrec.h"

const volatile struct waits_config config = {0};

enum {
	RING_SAMPLE = 9,    /* PERF_RECORD_SAMPLE */
	RING_IN_KERNEL = 1, /* PERF_RECORD_MISC_KERNEL */
	/* Of a sample with id, task, time, and CPU: bytes in front of the size of its raw data. */
	RING_LEAD = 40,
	RING_BEGIN = RING_LEAD + sizeof(struct waitrec_begin) - WAITREC_FRAMES * 8,
	RING_END = RING_LEAD + sizeof(struct waitrec_end),
	RING_MOST = RING_LEAD + sizeof(struct waitrec_begin),
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* who loads it knows how many CPUs there are */
	__type(key, __u32);
	__type(value, struct waits_ring);
} own SEC(".maps");

/* Who waits, and when. */
struct ring_wait {
	__u64 pid_tid, now, lock;
};

static __always_inline void ring_put(struct waits_ring *r, __u64 *at, __u64 word)
{
	__u64 i = *at / sizeof(word) & (WAITS_RING / sizeof(word) - 1);

	barrier_var(i);
	if (i < WAITS_RING / sizeof(word))
		r->data[i] = word;
	*at += sizeof(word);
}

static __always_inline bool ring_has_room(const struct waits_ring *r)
{
	return r->head + RING_MOST - r->tail <= WAITS_RING;
}

/* The words that all records begin with, @size bytes of them in all, up to the lock. */
static __always_inline void ring_lead(struct waits_ring *r, __u64 *at, __u64 size, __u64 magic,
				      const struct ring_wait *w)
{
	ring_put(r, at, RING_SAMPLE | (__u64)RING_IN_KERNEL << 32 | size << 48);
	ring_put(r, at, r->id);
	ring_put(r, at, w->pid_tid >> 32 | w->pid_tid << 32);
	ring_put(r, at, w->now);
	ring_put(r, at, bpf_get_smp_processor_id());
	ring_put(r, at, (size - RING_LEAD - 4) | magic << 32);
	ring_put(r, at, w->lock);
}

#endif
