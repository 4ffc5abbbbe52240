/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EVENT_KIND_H
#define KONTEND_EVENT_KIND_H

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
	EVENT_SWITCH,	   /* PERF_RECORD_SWITCH_CPU_WIDE: `tid` leaves its CPU, or gets it */
	EVENT_OWNER,	   /* by kontend: owner of the lock that `tid` begins to wait for */
	EVENT_FRAMES,	   /* by kontend: call chain of the program of who begins to wait */
	EVENT_HOLDER,	   /* by kontend: state of `tid`, which holds a lock, from now on */
	EVENT_MM_START,	   /* mmap_lock:mmap_lock_start_locking */
	EVENT_MM_ACQUIRED, /* mmap_lock:mmap_lock_acquire_returned */
	EVENT_MM_RELEASED, /* mmap_lock:mmap_lock_released */
	EVENT_RELEASE,	   /* lock:contended_release: `tid` releases, others wait */
	EVENT_DEFERRED,	   /* PERF_RECORD_CALLCHAIN_DEFERRED: user part of earlier samples */
	EVENT_INODE,	   /* by kontend: inode whose lock a task begins to wait for */
	EVENT_KSYMBOL,	   /* PERF_RECORD_KSYMBOL: the kernel made code, or gave it up */
	/* Tries to lock a file: each is decoded as the begin or the end of a wait (filelock.h). */
	EVENT_FLOCK,	     /* filelock:flock_lock_inode */
	EVENT_POSIX_LOCK,    /* filelock:posix_lock_inode */
	EVENT_LEASE_BLOCK,   /* filelock:break_lease_block */
	EVENT_LEASE_UNBLOCK, /* filelock:break_lease_unblock */
	EVENT_SLEEP,	     /* by kontend: a sleep of `tid` in state D has ended */
	EVENT_USER,	     /* by kontend: a sleep of `tid` in futex(2) has ended */
	EVENT_RUN,	     /* by kontend: what `tid` did until now (runrec.h) */
};

#endif
