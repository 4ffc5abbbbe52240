/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings of our own, one a CPU, in memory that the reader has mapped. A record through perf's ring
 * takes about twice as long, mostly for code and data that are in no cache where tasks wait. So all
 * fields that each record needs are in one cache line, and a record is in one piece: where the next
 * one might not be, the last one before the ring's end is extended to it. Samples have the format
 * of perf's, for the event that programs have. No other program writes on this CPU: see the flag
 * `busy`.
 */
#ifndef KONTEND_INSPECT_WAITS_RING_H
#define KONTEND_INSPECT_WAITS_RING_H

#include "kernel/arch.h"
#include "shared.h"

#include "kontend/holdrec.h"
#include "kontend/inoderec.h"
#include "kontend/waitrec.h"

const volatile struct waits_config config = {0};

/*
 * The field that the reader writes. A test writes rings in a program of user space, by the atomics
 * that the thread sanitizer knows.
 */
#ifndef RING_READ
#define RING_READ(x) (*(const volatile typeof(x) *)&(x))
#endif

/* A sample with id, task, time, and CPU, and its raw data. */
struct ring_record {
	__u32 type;
	__u16 misc, size;
	__u64 id;
	__u32 pid, tid;
	__u64 time;
	__u64 cpu;
	union {
		struct waitrec_begin begin;
		struct waitrec_end end;
		struct holdrec holder;
		struct waitrec_release release;
		struct waitrec_late late;
		struct inoderec inode;
	};
};

enum {
	RING_SAMPLE = 9,    /* PERF_RECORD_SAMPLE */
	RING_IN_KERNEL = 1, /* PERF_RECORD_MISC_KERNEL */
	RING_LEAD = offsetof(struct ring_record, begin),
	RING_BEGIN = offsetof(struct ring_record, begin.frames),
	RING_LATE = offsetof(struct ring_record, late.frames),
	RING_END = RING_LEAD + sizeof(struct waitrec_end),
	RING_RELEASE = RING_LEAD + sizeof(struct waitrec_release),
	RING_MOST = sizeof(struct ring_record),
};

/* A ring's head, its bytes, and how many these are: a power of two that is known when it is loaded.
 */
struct ring_place {
	struct waits_ring *ring;
	void *data;
	__u32 bytes;
};

/* Room for two, as one may have to be as long as that. The reader's line is looked at seldom. */
static __always_inline bool ring_has_room(const struct ring_place *p)
{
	struct waits_ring *r = p->ring;

	if (r->head <= r->most)
		return true;
	/* Stores wait for the branch: nothing is written over what is not read yet. */
	r->most = RING_READ(r->tail) + p->bytes - 2 * RING_MOST;
	return r->head <= r->most;
}

/* Where the next record is to be; NULL is for the verifier, as there is none of that kind. */
static __always_inline struct ring_record *ring_next(const struct ring_place *p)
{
	__u64 at = p->ring->head & (p->bytes - 1);

	barrier_var(at); /* the same register for test and use, or the verifier forgets */
	return at > p->bytes - RING_MOST ? NULL : (void *)((char *)p->data + at);
}

/* The head of a record of @size bytes, with the rest of the ring if that is too small for more. */
static __always_inline __u32 ring_lead(const struct ring_place *p, struct ring_record *rec,
				       __u32 size)
{
	struct waits_ring *r = p->ring;
	__u32 left = p->bytes - (r->head & (p->bytes - 1)) - size;

	if (left < RING_MOST)
		size += left;
	rec->type = RING_SAMPLE;
	rec->misc = RING_IN_KERNEL | WAITREC_REPORTS_GAPS | (r->gap ? WAITREC_AFTER_GAP : 0);
	rec->size = (__u16)size;
	rec->id = r->id;
	r->gap = 0;
	return size;
}

/* Makes the content of the record visible before the record itself. */
static __always_inline __u64 ring_publish(struct waits_ring *r, __u32 size)
{
	__u64 head = r->head + size;

	if (!is_x86()) {
		__sync_fetch_and_add(&r->head, size);
		return head;
	}
	/* Stores are seen in their order, and no lock waits for the lines that they need. */
	barrier();
	*(volatile __u64 *)&r->head = head;
	return head;
}

/*
 * Two programs are called for each event on the ring's CPU, one after the other. The first one
 * notes what it has seen. An event is nested if an interrupt comes in between: then the second
 * program finds that event seen, and takes the outer one for seen as well.
 */
static __always_inline void ring_saw(struct waits_ring *r, __u64 event)
{
	r->interrupted |= r->seen != 0;
	r->seen = event;
}

/* For the second program, once. False: the kernel did not call the first one, which ran already. */
static __always_inline bool ring_was_seen(struct waits_ring *r, __u64 event)
{
	if (r->seen == event) {
		r->seen = 0;
		return true;
	}
	if (!r->interrupted)
		return false;
	r->interrupted = 0;
	return true;
}

#endif
