/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EVENT_H
#define KONTEND_EVENT_H

#include "kontend/event-kind.h"
#include "kontend/holdrec.h"
#include "kontend/inoderec.h"
#include "kontend/waitrec.h"

#include <stdbool.h>
#include <stdint.h>

struct runrec;

/*
 * A decoded record. Pointers borrow the record's bytes: valid until the record is released, which
 * order does when the next event of its ring is requested.
 */
struct event {
	uint64_t time; /* ns of the session clock; 0: state before the session */
	uint32_t kind; /* enum event_kind */
	uint32_t cpu;
	int32_t pid; /* in the PID namespace of the perf session */
	int32_t tid;
	uint64_t cgroup; /* id of the task's cgroup, 0 = not known */
	/* Set by decode_event(): records of its ring are missing right before it. The merge reports
	 * them as a separate EVENT_LOST. */
	bool after_gap;
	union {
		struct {
			uint64_t lock;
			const uint64_t *frames; /* kernel part, innermost first, no markers */
			uint32_t n_frames;
			uint32_t n_user;
			const uint64_t *user; /* the same of the program */
			uint32_t flags;	      /* LCB_F_*, as in the tracepoint */
			uint32_t missed;      /* records missing on this CPU before it */
			/* The wait began then, and is reported only now; 0: it begins. */
			uint64_t since_ns;
			/* Owner of the lock; tid 0: no task. */
			int32_t owner_pid, owner_tid;
			uint8_t owner; /* enum waitrec_owner */
			bool owner_asked;
			uint8_t user_is; /* enum waitrec_user; of perf's events WAITREC_USER_NONE */
			struct waitrec_on on;
			uint32_t dev;
			uint64_t ino; /* with `dev`: of the file; 0: of none, or not known */
			/* Of the lock of a part of a file: that of the file, and the bytes, as
			 * filelock_part() has them; 0: it is of a whole file, or of none. */
			uint64_t file, start, past;
			/* The lock of a file was taken so long before; 0: not known. */
			uint64_t held_ns;
			/* With since_ns, of a mutex: it has spun so long; 0: not known. */
			uint64_t spun_ns;
			uint32_t idle;	     /* idleclock.h; 0: not known */
			bool loses;	     /* but when it ends, that is */
			uint64_t par;	     /* parclock.h; 0: not known */
			uint64_t owner_file; /* as below, of who waits */
		} begin;
		struct {
			uint64_t lock;
			int32_t ret;	      /* != 0: the lock was not acquired */
			uint32_t idle, began; /* idleclock.h: now, and where the wait began */
			uint64_t par;	      /* parclock.h; 0: not known */
			uint64_t lost_ns;     /* if is_lost_known, without these */
			uint64_t par_ns;      /* if is_par_known, the same */
			/* By a tracepoint at each try to lock a file: what has or had the lock, an
			 * open file or a process; 0: it is no such try, or without a result. */
			uint64_t owner_file;
			uint64_t start, past; /* of the file */
			bool gives_back, reads, is_lost_known, is_par_known;
		} end;
		struct {
			uint64_t lock;
		} release;
		struct {
			const char *name; /* NUL-terminated, unchanged from the kernel */
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
			int32_t other; /* tid of the previous or next task; 0 = idle */
			bool out;
			uint16_t size; /* of the record */
		} sw;
		struct {
			uint64_t ip;
			uint64_t period;	/* its weight: ns or counts; 0 = not known */
			const uint64_t *frames; /* innermost first, with PERF_CONTEXT_* markers */
			uint32_t n_frames;	/* 0: no call chain */
			uint32_t n_branches;	/* 0: no call stack from the CPU */
			const uint64_t
				*branches; /* from, to, flags of each call, innermost first */
			/* User registers and a dump of the user stack; regs NULL: none */
			const uint64_t *regs; /* one per bit of the mask, lowest first */
			uint64_t regs_mask;   /* register numbers of perf */
			const uint8_t *stack; /* from the stack pointer upwards */
			uint32_t stack_len;   /* bytes really dumped */
			bool is_32bit;	      /* registers of a 32-bit program */
			bool is_kernel;	      /* the CPU ran the kernel, as the record says */
			uint8_t number;	      /* of the event: eventlist.h */
		} sample;
		struct {
			uint64_t cookie;
			const uint64_t *frames; /* innermost first, with PERF_CONTEXT_* markers */
			uint32_t n_frames;
		} deferred;
		struct {
			uint64_t start, len, pgoff; /* bytes */
			uint64_t ino;
			uint32_t maj, min;
			const char *path;  /* NUL-terminated, unchanged from the kernel */
			const uint8_t *id; /* build id; NULL: the event has the inode instead */
			uint8_t id_len;	   /* at most 20 */
		} mmap;
		struct {
			uint64_t start;
			uint32_t len;	  /* bytes, of new code at least 1; it does not wrap */
			bool is_bpf;	  /* else out of line: trampolines, slots of kprobes */
			bool is_gone;	  /* unregistered */
			const char *name; /* NUL-terminated, unchanged from the kernel */
		} ksym;
		struct {
			uint64_t lock;
			const char *comm; /* NUL-terminated */
			int32_t pid, tid; /* 0: no task */
			bool hint;	  /* a reader of the lock, now or earlier */
		} owner;
		struct {
			uint64_t lock;
			const uint64_t *user; /* innermost first */
			uint32_t n_user;
			uint8_t user_is; /* enum waitrec_user */
			struct waitrec_on on;
		} frames;
		/* `tid` holds the lock; BEGUN and STOPPED are of no task. */
		struct {
			uint64_t lock;
			const uint64_t *frames; /* of a task that falls asleep, innermost first */
			uint32_t n_frames;
			uint32_t missed;	       /* holders not followed before it */
			const char *comm, *other_comm; /* NUL-terminated */
			int32_t other_pid, other_tid;  /* see holdrec.h; 0: no task */
			uint32_t idle;		       /* idleclock.h; 0: not known */
			uint8_t what, state;	       /* enum holdrec_what, holdrec_state */
			bool hint;
		} holder;
		struct {
			uint64_t lock, ino;
			uint64_t start, past; /* filelock_part() */
			uint32_t generation, dev;
			uint8_t which, flags; /* enum inoderec_lock, inoderec_flag */
			uint16_t n_bytes;     /* of `names`, in the format of inoderec.h */
			const char *fs, *names;
		} inode;
		struct {
			uint64_t begin_ns, length_ns;
			const uint64_t *frames; /* innermost first */
			uint32_t n_frames;	/* 0: not known */
			uint32_t n_user;
			const uint64_t *user; /* the same of the program */
			uint32_t missed;      /* records that its CPU could not write before */
			const char *comm, *waker_comm; /* NUL-terminated */
			int32_t waker_pid, waker_tid;  /* 0: the idle task */
			bool io;		       /* the kernel accounts it as I/O */
			uint8_t user_is;	       /* enum waitrec_user */
		} sleep;
		const struct runrec *run; /* its frames end with n_frames + n_waker_frames */
		/* See userrec.h. */
		struct {
			uint64_t lock, begin_ns, length_ns, woken_ns;
			uint64_t addr, pc;
			const uint64_t *frames; /* of the program, innermost first */
			uint32_t n_frames;	/* 0: not known */
			uint32_t missed;	/* records that its CPU could not write before */
			const char *comm;	/* NUL-terminated */
			int32_t owner_pid, owner_tid, waker_pid, waker_tid;
			uint64_t lost_ns; /* a CPU was idle for so long, if is_lost_known */
			uint64_t par_ns;  /* and other threads ran, if is_par_known */
			uint32_t op, value, cpu;
			bool is_lost_known, is_par_known;
			uint8_t kind, flags; /* enum userlock_kind, userrec_flag */
			uint8_t user_is;     /* enum waitrec_user */
		} user;
		struct {
			uint64_t mm;		/* address of the mm_struct */
			uint64_t memcg_id;	/* of its memory cgroup, 0 = not known */
			const char *memcg;	/* its path, if the event has one; NULL */
			const uint64_t *frames; /* of the task that gets the lock, as of a wait */
			uint32_t n_frames;	/* 0: not recorded */
			bool write, success;
		} mm;
		/* Lost from the ring at any time from the event's own to `until`. */
		struct {
			uint64_t n;	/* records */
			uint64_t until; /* 0: time not known; the total of all losses */
			/* Of an event that only samples where CPUs are. Not set for LOST: the ring
			 * is shared by events. */
			bool of_profile;
		} lost; /* THROTTLE: of_profile alone */
	};
};

static inline bool event_is_file_try(uint32_t kind)
{
	return kind >= EVENT_FLOCK && kind <= EVENT_LEASE_UNBLOCK;
}

/* Is it the end of the wait that the model has applied last, if there is one? */
static inline bool event_ends_wait(const struct event *ev)
{
	return ev->kind == EVENT_CONTENTION_END || ev->kind == EVENT_USER;
}

/*
 * May it be of a time before the measurement? Mappings of compiled code have the time at which it
 * was compiled.
 */
static inline bool event_may_be_of_before(const struct event *ev)
{
	return ev->kind == EVENT_MMAP;
}

#endif
