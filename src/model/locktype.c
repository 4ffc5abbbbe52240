// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lock types from the flags of lock:contention_begin. The names are those of `perf lock
 * contention`, so that the two tools can be read side by side; that of resilient spinlocks, which
 * it does not know, is the kernel's own word. A mutex marks its spinning phase by SPIN beside
 * MUTEX; it is a mutex all the same. Flags 0 are what counting semaphores give.
 */
#include "kontend/locktype.h"
#include "kontend/filelock.h"
#include "kontend/userlock.h"

#include <string.h>

struct type_info {
	const char *name, *base, *mode;
};

static const struct type_info type_table[LOCK_TYPES] = {
	[LOCK_SPINLOCK] = {"spinlock", "spinlock", ""},
	[LOCK_RQSPINLOCK] = {"rqspinlock", "rqspinlock", ""},
	[LOCK_RWLOCK_R] = {"rwlock:R", "rwlock", "R"},
	[LOCK_RWLOCK_W] = {"rwlock:W", "rwlock", "W"},
	[LOCK_RWSEM_R] = {"rwsem:R", "rwsem", "R"},
	[LOCK_RWSEM_W] = {"rwsem:W", "rwsem", "W"},
	[LOCK_PCPU_SEM_R] = {"pcpu-sem:R", "pcpu-sem", "R"},
	[LOCK_PCPU_SEM_W] = {"pcpu-sem:W", "pcpu-sem", "W"},
	[LOCK_MUTEX] = {"mutex", "mutex", ""},
	[LOCK_RT_MUTEX] = {"rt-mutex", "rt-mutex", ""},
	[LOCK_RWLOCK_RT_R] = {"rwlock-rt:R", "rwlock-rt", "R"},
	[LOCK_RWLOCK_RT_W] = {"rwlock-rt:W", "rwlock-rt", "W"},
	[LOCK_SEMAPHORE] = {"semaphore", "semaphore", ""},
	[LOCK_FLOCK_R] = {"flock:R", "flock", "R"},
	[LOCK_FLOCK_W] = {"flock:W", "flock", "W"},
	[LOCK_POSIX_R] = {"posix:R", "posix", "R"},
	[LOCK_POSIX_W] = {"posix:W", "posix", "W"},
	[LOCK_LEASE_R] = {"lease:R", "lease", "R"},
	[LOCK_LEASE_W] = {"lease:W", "lease", "W"},
	[LOCK_USER_MUTEX] = {"mutex(u)", "mutex(u)", ""},
	[LOCK_USER_RWLOCK_R] = {"rwlock(u):R", "rwlock(u)", "R"},
	[LOCK_USER_RWLOCK_W] = {"rwlock(u):W", "rwlock(u)", "W"},
	[LOCK_USER_PI] = {"pi(u)", "pi(u)", ""},
	[LOCK_USER_SEM] = {"sem(u)", "sem(u)", ""},
	[LOCK_USER_FUTEX] = {"futex(u)", "futex(u)", ""},
	[LOCK_USER_RUNTIME] = {"lock(u)", "lock(u)", ""},
	[LOCK_VMA] = {"vma", "vma", ""},
	[LOCK_UNKNOWN] = {"unknown", "unknown", ""},
};

/* Type + 1 by flags, without the spinning phase of mutexes; 0: unknown. */
static const uint8_t by_flags[64] = {
	[LCB_F_SPIN] = LOCK_SPINLOCK + 1,
	[LCB_F_SPIN | LCB_F_READ] = LOCK_RWLOCK_R + 1,
	[LCB_F_SPIN | LCB_F_WRITE] = LOCK_RWLOCK_W + 1,
	[LCB_F_READ] = LOCK_RWSEM_R + 1,
	[LCB_F_WRITE] = LOCK_RWSEM_W + 1,
	[LCB_F_PERCPU | LCB_F_READ] = LOCK_PCPU_SEM_R + 1,
	[LCB_F_PERCPU | LCB_F_WRITE] = LOCK_PCPU_SEM_W + 1,
	[LCB_F_MUTEX] = LOCK_MUTEX + 1,
	[LCB_F_MUTEX | LCB_F_SPIN] = LOCK_MUTEX + 1,
	[LCB_F_RT] = LOCK_RT_MUTEX + 1,
	[LCB_F_RT | LCB_F_READ] = LOCK_RWLOCK_RT_R + 1,
	[LCB_F_RT | LCB_F_WRITE] = LOCK_RWLOCK_RT_W + 1,
	[0] = LOCK_SEMAPHORE + 1,
};

static enum lock_type of_file(uint32_t flags)
{
	uint32_t kind = flags >> FILELOCK_SHIFT, mode = flags & ((1u << FILELOCK_SHIFT) - 1);

	if (kind > FILELOCK_KINDS || (mode != LCB_F_READ && mode != LCB_F_WRITE))
		return LOCK_UNKNOWN;
	return (enum lock_type)(LOCK_FLOCK_R + 2 * (kind - 1) + (mode == LCB_F_WRITE));
}

static enum lock_type of_program(uint32_t flags)
{
	uint32_t mode = flags & ((1u << USERLOCK_SHIFT) - 1);

	switch ((flags >> USERLOCK_SHIFT) - 1) {
	case USERLOCK_MUTEX:
		return mode ? LOCK_UNKNOWN : LOCK_USER_MUTEX;
	case USERLOCK_PI:
		return mode ? LOCK_UNKNOWN : LOCK_USER_PI;
	case USERLOCK_SEM:
		return mode ? LOCK_UNKNOWN : LOCK_USER_SEM;
	case USERLOCK_FUTEX:
		return mode ? LOCK_UNKNOWN : LOCK_USER_FUTEX;
	case USERLOCK_RUNTIME:
		return mode ? LOCK_UNKNOWN : LOCK_USER_RUNTIME;
	case USERLOCK_RWLOCK:
		if (mode != LCB_F_READ && mode != LCB_F_WRITE)
			return LOCK_UNKNOWN;
		return mode == LCB_F_READ ? LOCK_USER_RWLOCK_R : LOCK_USER_RWLOCK_W;
	default:
		return LOCK_UNKNOWN;
	}
}

enum lock_type locktype_from_flags(uint32_t flags)
{
	if (flags == LCB_F_VMA)
		return LOCK_VMA;
	if (flags >> USERLOCK_SHIFT)
		return of_program(flags);
	if (flags >> FILELOCK_SHIFT)
		return of_file(flags);
	if (flags >= sizeof(by_flags) || !by_flags[flags])
		return LOCK_UNKNOWN;
	return (enum lock_type)(by_flags[flags] - 1);
}

const char *locktype_name(enum lock_type t)
{
	return type_table[t].name;
}

const char *locktype_base(enum lock_type t)
{
	return type_table[t].base;
}

const char *locktype_mode(enum lock_type t)
{
	return type_table[t].mode;
}

const char *locktype_world(enum lock_type t)
{
	return locktype_is_user(t) ? "user" : locktype_is_file(t) ? "file" : "kernel";
}

const char *locktype_world_of(const char *name)
{
	size_t len = strcspn(name, ":");

	for (int t = 0; t < LOCK_TYPES; t++)
		if (strlen(type_table[t].base) == len && memcmp(type_table[t].base, name, len) == 0)
			return locktype_world((enum lock_type)t);
	return NULL;
}
