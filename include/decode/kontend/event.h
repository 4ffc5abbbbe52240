/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EVENT_H
#define KONTEND_EVENT_H

#include "kontend/holdrec.h"
#include "kontend/inoderec.h"

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
	EVENT_NONE,
	EVENT_CONTENTION_BEGIN, /* lock:contention_begin */
	EVENT_CONTENTION_END,	/* lock:contention_end */
	EVENT_COMM,
	EVENT_FORK,
	EVENT_EXIT,
	EVENT_CGROUP,	    /* PERF_RECORD_CGROUP: names a cgroup id */
	EVENT_LOST,	    /* PERF_RECORD_LOST: the ring was full */
	EVENT_LOST_SAMPLES, /* PERF_RECORD_LOST_SAMPLES */
	EVENT_THROTTLE,
	EVENT_UNTHROTTLE,
	EVENT_TIMER_ENTRY, /* timer:hrtimer_expire_entry */
	EVENT_TIMER_EXIT,  /* timer:hrtimer_expire_exit */
	EVENT_SAMPLE,	   /* of the profile: where a CPU was */
	EVENT_MMAP,	   /* PERF_RECORD_MMAP, MMAP2: code was mapped */
	EVENT_SWITCH,	   /* PERF_RECORD_SWITCH_CPU_WIDE: `tid` goes off its CPU, or on */
	EVENT_OWNER,	   /* of ours: who has the lock that `tid` begins to wait for */
	EVENT_HOLDER,	   /* of ours: what `tid`, which has a lock, does from now on */
	EVENT_MM_START,	   /* mmap_lock:mmap_lock_start_locking */
	EVENT_MM_ACQUIRED, /* mmap_lock:mmap_lock_acquire_returned */
	EVENT_MM_RELEASED, /* mmap_lock:mmap_lock_released */
	EVENT_RELEASE,	   /* lock:contended_release: `tid` lets go, others wait */
	EVENT_INODE,	   /* of ours: which inode has the lock that a task begins to wait for */
};

/*
 * A decoded record. Pointers borrow the record's bytes: valid until the record is released, which
 * order does when its ring's next event is asked for.
 */
struct event {
	uint64_t time; /* ns of the session clock; 0 for what was so before the session */
	uint32_t kind; /* enum event_kind */
	uint32_t cpu;
	int32_t pid; /* as the perf session sees them (its pid namespace) */
	int32_t tid;
	uint64_t cgroup; /* id of the task's cgroup, 0 = not known */
	/* Records of its ring are missing right before it: so decode_event() says. The merge tells
	 * them as an EVENT_LOST of its own. */
	bool after_gap;
	union {
		struct {
			uint64_t lock;
			const uint64_t *frames; /* kernel part, innermost first, no markers */
			uint32_t n_frames;
			uint32_t flags;	 /* LCB_F_*, as the tracepoint gives them */
			uint32_t missed; /* records on this CPU before it, not in the stream */
			/* It began then, and is told only now; 0: it begins. */
			uint64_t since_ns;
			/* Who has the lock; tid 0: no task. */
			int32_t owner_pid, owner_tid;
			uint8_t owner; /* enum waitrec_owner */
			bool owner_asked;
		} begin;
		struct {
			uint64_t lock;
			int32_t ret; /* != 0: the lock was not acquired */
		} end;
		struct {
			uint64_t lock;
		} release;
		struct {
			const char *name; /* NUL-terminated, as the kernel gave it */
			bool exec;
		} comm;
		struct {
			int32_t ppid;
			int32_t ptid;
		} fork;
		struct {
			uint64_t id;
			const char *path;
		} cg;
		struct {
			uint64_t timer, function; /* addresses; an exit has no function */
		} timer;
		struct {
			int32_t other; /* tid of the one before or after; 0 = idle */
			bool out;
			uint16_t size; /* of the record */
		} sw;
		struct {
			uint64_t ip;
			uint64_t period;	/* what it stands for: ns or counts; 0 = not said */
			const uint64_t *frames; /* innermost first, with PERF_CONTEXT_* markers */
			uint32_t n_frames;	/* 0: no call chain */
			uint32_t n_branches;	/* 0: no call stack of the CPU's own */
			const uint64_t
				*branches; /* from, to, flags of each call, innermost first */
			/* User registers and a dump of the user stack; regs NULL: there are none */
			const uint64_t *regs; /* one a bit of the mask, lowest first */
			uint64_t regs_mask;   /* of perf's numbers */
			const uint8_t *stack; /* from the stack pointer upwards */
			uint32_t stack_len;   /* bytes that were really taken */
			bool is_32bit;	      /* registers of a 32-bit program */
		} sample;
		struct {
			uint64_t start, len, pgoff; /* bytes */
			uint64_t ino;
			uint32_t maj, min;
			const char *path;  /* NUL-terminated, as the kernel gave it */
			const uint8_t *id; /* build id; NULL: not said, the inode is */
			uint8_t id_len;	   /* at most 20 */
		} mmap;
		struct {
			uint64_t lock;
			const char *comm; /* NUL-terminated */
			int32_t pid, tid; /* 0: nobody */
			bool hint;	  /* one of its readers, at that moment or before */
		} owner;
		/* `tid` has the lock; BEGUN and STOPPED are of no task. */
		struct {
			uint64_t lock;
			const uint64_t *frames; /* of who falls asleep, innermost first */
			uint32_t n_frames;
			uint32_t missed; /* holders that were not followed, before it */
			const char *comm, *other_comm; /* NUL-terminated */
			int32_t other_pid, other_tid;  /* see holdrec.h; 0: nobody */
			uint8_t what, state;	       /* enum holdrec_what, holdrec_state */
			bool hint;
		} holder;
		struct {
			uint64_t lock, ino;
			uint32_t generation, dev;
			uint8_t which, flags; /* enum inoderec_lock, inoderec_flag */
			uint16_t n_bytes;     /* of `names`, as inoderec.h has them */
			const char *fs, *names;
		} inode;
		struct {
			uint64_t mm;		/* address of the mm_struct */
			uint64_t memcg_id;	/* of its memory cgroup, 0 = not known */
			const char *memcg;	/* its path, where the event has one; NULL */
			const uint64_t *frames; /* of who gets it, as of a wait */
			uint32_t n_frames;	/* 0: not taken */
			bool write, success;
		} mm;
		/* Of the ring, at any time from the event's own on, and before `until`. */
		struct {
			uint64_t n;	/* records */
			uint64_t until; /* 0: no time is known, and it is all that were lost */
		} lost;
	};
};

#endif
