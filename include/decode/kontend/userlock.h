/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_USERLOCK_H
#define KONTEND_USERLOCK_H

/*
 * Locks of programs in user space, whose waiters sleep in futex(2). Processes use the same
 * addresses, so the address of such a lock is made of the number of its address space, or of the
 * file that is mapped there, and of the address or the offset. No kernel has an object there. BPF
 * programs may include this file: plain C types only.
 */
enum userlock_kind {
	USERLOCK_MUTEX,	  /* pthread_mutex_t and what else has its layout */
	USERLOCK_RWLOCK,  /* pthread_rwlock_t */
	USERLOCK_PI,	  /* a futex with priority inheritance */
	USERLOCK_SEM,	  /* a semaphore that is used as a lock */
	USERLOCK_FUTEX,	  /* a lock that another library or language makes itself */
	USERLOCK_RUNTIME, /* one that the runtime of the program names: PostgreSQL, Python */
	USERLOCK_KINDS
};

/* In the flags of a wait: kind + 1, from this bit on; an rwlock also has LCB_F_READ or _WRITE. */
enum { USERLOCK_SHIFT = 20, USERLOCK_READS = 2, USERLOCK_WRITES = 4 };

static inline unsigned int userlock_flags(enum userlock_kind kind, int reads)
{
	unsigned int mode = kind == USERLOCK_RWLOCK ? reads ? USERLOCK_READS : USERLOCK_WRITES : 0;

	return ((unsigned int)kind + 1) << USERLOCK_SHIFT | mode;
}

/* @space: of the process or of the file; @at: address in that process, offset in that file. */
static inline unsigned long long userlock_addr(unsigned long long space, unsigned long long at)
{
	unsigned long long x = space * 0x9e3779b97f4a7c15ull ^ at * 0xc2b2ae3d27d4eb4full;

	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15ull;
	x ^= x >> 29;
	return x >> 8 | 0xc1ull << 56;
}

/* Mixes bits as hash_u64() does. */
static inline unsigned long long userlock_mix(unsigned long long x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

/*
 * The number of an address space: by the process, its begin in ticks of /proc/PID/stat, and the
 * address of its stack there, which another program does not have.
 */
static inline unsigned long long userlock_space(int pid, unsigned long long ticks,
						unsigned long long stack)
{
	unsigned long long who = (unsigned long long)(unsigned int)pid << 40;

	return userlock_mix(userlock_mix(ticks ^ who) ^ stack) | 1;
}

/* The same of a file that processes have mapped; @dev: major << 20 | minor. */
static inline unsigned long long userlock_file(unsigned long long ino, unsigned int dev)
{
	return userlock_mix(ino) ^ (unsigned long long)dev << 1;
}

static inline int userlock_is(unsigned long long addr)
{
	return addr >> 56 == 0xc1;
}

#endif
