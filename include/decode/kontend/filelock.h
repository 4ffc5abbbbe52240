/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FILELOCK_H
#define KONTEND_FILELOCK_H

/*
 * Locks of files: flock(2), fcntl(2), and leases. No address in the kernel identifies them for all
 * sources: the tracepoints and /proc/locks have device and inode. So the address of such a lock is
 * made of these, and of the kind of lock. No kernel has an object there. The BPF program includes
 * this file: plain C types only.
 */
enum filelock_kind { FILELOCK_FLOCK, FILELOCK_POSIX, FILELOCK_LEASE, FILELOCK_KINDS };

/* In the flags of a wait, beside the bits LCB_F_READ or LCB_F_WRITE: kind + 1, from this bit on. */
enum { FILELOCK_SHIFT = 16, FILELOCK_READS = 2, FILELOCK_WRITES = 4 };

static inline unsigned int filelock_flags(enum filelock_kind kind, int reads)
{
	return ((unsigned int)kind + 1) << FILELOCK_SHIFT |
	       (reads ? FILELOCK_READS : FILELOCK_WRITES);
}

/* Results of a wait: a signal ended it; it ended at some time before, which was not reported. */
enum { FILELOCK_SIGNAL = -4 /* EINTR */, FILELOCK_OVER = -125 /* ECANCELED */ };

/* Types of requests, as fcntl(2) has them on all architectures of 64 bits. */
enum filelock_type { FILELOCK_READ, FILELOCK_WRITE, FILELOCK_UNLOCK };

/* Of a request that may wait. */
enum { FILELOCK_SLEEP = 128 };

/* The result of a try after which the task waits, in the tracepoints. */
enum { FILELOCK_DEFERRED = 1 };

/* @dev: major << 20 | minor, as in the kernel. */
static inline unsigned long long filelock_addr(enum filelock_kind kind, unsigned int dev,
					       unsigned long long ino)
{
	unsigned long long x = ino * 0x9e3779b97f4a7c15ull;

	x ^= (((unsigned long long)dev << 2) + (unsigned int)kind) * 0xc2b2ae3d27d4eb4full;
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15ull;
	x ^= x >> 29;
	return x >> 8 | 0xc0ull << 56;
}

/*
 * A part of a file that fcntl() locks is a lock of its own, so that each has its holder and its
 * waiters: from the byte @start on, up to @past. The whole file has the address of the file; so has
 * an unknown part, of which @past is 0.
 */
#define FILELOCK_EOF (1ull << 63)

static inline unsigned long long filelock_part(unsigned long long file, unsigned long long start,
					       unsigned long long past)
{
	unsigned long long x = file ^ start * 0x9e3779b97f4a7c15ull;

	if (!past || (!start && past == FILELOCK_EOF))
		return file;
	x ^= x >> 32;
	x = (x ^ past) * 0xc2b2ae3d27d4eb4full;
	x ^= x >> 29;
	return x >> 8 | 0xc0ull << 56;
}

static inline int filelock_is(unsigned long long addr)
{
	return addr >> 56 == 0xc0;
}

#endif
