/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCKTYPE_H
#define KONTEND_LOCKTYPE_H

#include <stdbool.h>
#include <stdint.h>

/* Flags of lock:contention_begin (include/trace/events/lock.h). */
enum {
	LCB_F_SPIN = 1,
	LCB_F_READ = 2,
	LCB_F_WRITE = 4,
	LCB_F_RT = 8,
	LCB_F_PERCPU = 16,
	LCB_F_MUTEX = 32,
	LCB_F_VMA = 1 << 24, /* of waits that looks have seen: no event has it */
};

/* Type and mode in one; named as `perf lock` names them. */
enum lock_type {
	LOCK_SPINLOCK,
	LOCK_RQSPINLOCK, /* has the flags of the former; its functions are others */
	LOCK_RWLOCK_R,
	LOCK_RWLOCK_W,
	LOCK_RWSEM_R,
	LOCK_RWSEM_W,
	LOCK_PCPU_SEM_R,
	LOCK_PCPU_SEM_W,
	LOCK_MUTEX,
	LOCK_RT_MUTEX,
	LOCK_RWLOCK_RT_R,
	LOCK_RWLOCK_RT_W,
	LOCK_SEMAPHORE,
	LOCK_FLOCK_R, /* this and the others of files: filelock.h */
	LOCK_FLOCK_W,
	LOCK_POSIX_R,
	LOCK_POSIX_W,
	LOCK_LEASE_R,
	LOCK_LEASE_W,
	LOCK_VMA,	 /* of a mapping: vmalock.h */
	LOCK_USER_MUTEX, /* this and the next six are of programs: userlock.h */
	LOCK_USER_RWLOCK_R,
	LOCK_USER_RWLOCK_W,
	LOCK_USER_PI,
	LOCK_USER_SEM,
	LOCK_USER_FUTEX,
	LOCK_USER_RUNTIME,
	LOCK_UNKNOWN, /* a flag combination that no kernel known to us emits */
	LOCK_TYPES,
};

enum lock_type locktype_from_flags(uint32_t flags);
const char *locktype_name(enum lock_type t);  /* "rwsem:W": as perf lock prints it */
const char *locktype_base(enum lock_type t);  /* "rwsem" */
const char *locktype_mode(enum lock_type t);  /* "R", "W" or "" */
const char *locktype_world(enum lock_type t); /* whose it is: "kernel", "user" or "file" */
/* The same by locktype_name() or _base(); NULL: it is neither. */
const char *locktype_world_of(const char *name);
/* Several may hold it at once. */
static inline bool locktype_is_reader(unsigned t)
{
	return t == LOCK_RWLOCK_R || t == LOCK_RWSEM_R || t == LOCK_PCPU_SEM_R ||
	       t == LOCK_RWLOCK_RT_R || t == LOCK_FLOCK_R || t == LOCK_POSIX_R ||
	       t == LOCK_LEASE_R || t == LOCK_USER_RWLOCK_R;
}

/* The other mode of the same lock; its own where there is none. */
static inline enum lock_type locktype_twin(enum lock_type t)
{
	if (locktype_is_reader(t))
		return (enum lock_type)(t + 1);
	return t && locktype_is_reader(t - 1u) ? (enum lock_type)(t - 1) : t;
}

/* Of a file, not of the kernel: it is known by device and inode, not by its address. */
static inline bool locktype_is_file(unsigned t)
{
	return t >= LOCK_FLOCK_R && t <= LOCK_LEASE_W;
}

/* Of a program: its waiters sleep in futex(2), or as its runtime lets them. */
static inline bool locktype_is_user(unsigned t)
{
	return t >= LOCK_USER_MUTEX && t <= LOCK_USER_RUNTIME;
}

/* The waiter burns its CPU and cannot be moved (spinlock, rwlock): paired by CPU, not by task. */
static inline bool locktype_is_spin(enum lock_type t)
{
	return t <= LOCK_RWLOCK_W;
}

#endif
