/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_USERLAYOUT_H
#define KONTEND_USERLAYOUT_H

#include "kontend/userlock.h"

/*
 * Which lock a thread in futex(2) waits for. The call says only where a word is, and which value
 * it had: condition variables, semaphores, barriers and joins use words, too. So each kind of lock
 * is recognised by its layout in the memory of the program, by the command, and by the value that
 * its library waits on; whatever differs in one of them is no lock. These are of the libraries for
 * 64 bits. BPF programs include this file: plain C types only.
 *
 * pthread_mutex_t of glibc: lock, count, owner, users, kind. It waits while the lock is 2; a robust
 * one while the lock has the owner and the bit "waiters".
 * pthread_rwlock_t of glibc: readers, writers, phase of writing, word of the writers, two of
 * padding, writer, shared, 16 bytes, flags. It waits on the third word and on the fourth, always
 * with the bit "used", which the words of condition variables never have.
 * With priority inheritance the kernel itself reads the owner from the word.
 */

/* Commands of futex(2), and flags in the same argument, as linux/futex.h has them. */
enum userlock_command {
	USERLOCK_WAIT = 0,
	USERLOCK_WAKE = 1,
	USERLOCK_REQUEUE = 3,
	USERLOCK_CMP_REQUEUE = 4,
	USERLOCK_WAKE_OP = 5,
	USERLOCK_LOCK_PI = 6,
	USERLOCK_UNLOCK_PI = 7,
	USERLOCK_WAIT_BITSET = 9,
	USERLOCK_WAKE_BITSET = 10,
	USERLOCK_WAIT_REQUEUE_PI = 11,
	USERLOCK_CMP_REQUEUE_PI = 12,
	USERLOCK_LOCK_PI2 = 13,
	USERLOCK_WAITV = 64, /* futex_waitv(2) with several words, of which this is the first */
};
enum { USERLOCK_PRIVATE = 128, USERLOCK_COMMAND = ~(128 | 256) };
enum { USERLOCK_TID = 0x3fffffff };
#define USERLOCK_HAS_WAITERS 0x80000000u

/* A call of futex(2) in which a thread sleeps. */
struct userlock_call {
	unsigned long long addr;
	unsigned int op, value; /* op: with its flags */
};

/* Words around that of the call, which is at USERLOCK_AT. */
enum { USERLOCK_AT = 3, USERLOCK_WORDS = 14, USERLOCK_MUTEX_WORDS = 5 };
enum userlock_have { /* of which could be read: none, it, those of a mutex, all */
		     USERLOCK_NO_WORD,
		     USERLOCK_ONE_WORD,
		     USERLOCK_OF_MUTEX,
		     USERLOCK_ALL_WORDS,
};

struct userlock_words {
	unsigned int w[USERLOCK_WORDS];
	unsigned int have; /* enum userlock_have */
};

/* A lock, by the words in the memory of the program. */
struct userlock_found {
	unsigned long long addr; /* of the object; for the call it may be a word within */
	unsigned int kind;	 /* enum userlock_kind */
	unsigned int
		owner;	   /* thread number in the namespace of that process; 0: none, or readers */
	unsigned int sure; /* the kernel uses that word, too; else it is evidence */
	unsigned int reads; /* the sleeping thread waits to read */
	unsigned int readers;
};

/* Words of a mutex, and the bits of its kind. */
enum {
	USERLOCK_M_LOCK = USERLOCK_AT,
	USERLOCK_M_OWNER = USERLOCK_AT + 2,
	USERLOCK_M_USERS,
	USERLOCK_M_KIND,
};
enum {
	USERLOCK_M_TYPES = 4,
	USERLOCK_M_TYPE = 0xf,
	USERLOCK_M_ROBUST = 0x10,
	USERLOCK_M_KNOWN = 0x3ff,
	USERLOCK_M_CONTENDED = 2,
};

/* Words of an rwlock, bits of "readers", and the bits of the words that are waited on. */
enum {
	USERLOCK_R_READERS,
	USERLOCK_R_WRITERS,
	USERLOCK_R_PHASE,
	USERLOCK_R_WAIT,
	USERLOCK_R_PAD,
	USERLOCK_R_PAD2,
	USERLOCK_R_WRITER,
	USERLOCK_R_SHARED,
	USERLOCK_R_FLAGS = 12,
};
enum {
	USERLOCK_R_WRITES = 1,
	USERLOCK_R_LOCKED = 2,
	USERLOCK_R_SHIFT = 3,
	USERLOCK_R_MOST_FLAGS = 3,
	USERLOCK_W_WRITES = 1,
	USERLOCK_W_USED = 2,
};

#define USERLOCK_INLINE static inline __attribute__((always_inline))

USERLOCK_INLINE int userlock_is_private(const struct userlock_call *c)
{
	return (c->op & USERLOCK_PRIVATE) != 0;
}

USERLOCK_INLINE int userlock_find_pi(const struct userlock_call *c, const struct userlock_words *m,
				     struct userlock_found *ret)
{
	if (m->have < USERLOCK_ONE_WORD || !(m->w[USERLOCK_AT] & USERLOCK_TID))
		return 0;
	ret->kind = USERLOCK_PI;
	ret->addr = c->addr;
	ret->owner = m->w[USERLOCK_AT] & USERLOCK_TID;
	ret->sure = 1;
	ret->reads = ret->readers = 0;
	return 1;
}

/* An owner of 0 is that of a mutex that is just being handed over, or of no mutex. */
USERLOCK_INLINE int userlock_find_mutex(const struct userlock_call *c,
					const struct userlock_words *m, struct userlock_found *ret)
{
	unsigned int lock = m->w[USERLOCK_M_LOCK], kind = m->w[USERLOCK_M_KIND];
	int robust = (kind & USERLOCK_M_ROBUST) != 0;

	if (m->have < USERLOCK_OF_MUTEX || lock != c->value ||
	    kind & ~(unsigned int)USERLOCK_M_KNOWN || (kind & USERLOCK_M_TYPE) >= USERLOCK_M_TYPES)
		return 0;
	if (robust ? !(lock & USERLOCK_HAS_WAITERS) : lock != USERLOCK_M_CONTENDED)
		return 0;
	ret->kind = USERLOCK_MUTEX;
	ret->addr = c->addr;
	ret->owner = robust ? lock & USERLOCK_TID : m->w[USERLOCK_M_OWNER];
	ret->sure = (unsigned int)robust;
	ret->reads = ret->readers = 0;
	return ret->owner && (robust || m->w[USERLOCK_M_USERS]);
}

/* @w: its first word. */
USERLOCK_INLINE int userlock_is_rwlock(const struct userlock_call *c, const unsigned int *w)
{
	return w[USERLOCK_R_SHARED] == (userlock_is_private(c) ? 0u : 1u) &&
	       w[USERLOCK_R_FLAGS] <= USERLOCK_R_MOST_FLAGS && !w[USERLOCK_R_PAD] &&
	       !w[USERLOCK_R_PAD2];
}

/*
 * The two words are neighbours, so each looks somewhat like the other: readers wait while one
 * writes; a writer waits for another one that has the lock or is next.
 */
USERLOCK_INLINE int userlock_is_at_phase(const struct userlock_call *c, const unsigned int *w)
{
	return userlock_is_rwlock(c, w) &&
	       (!(c->value & USERLOCK_W_WRITES) || w[USERLOCK_R_READERS] & USERLOCK_R_WRITES);
}

USERLOCK_INLINE int userlock_is_at_wait(const struct userlock_call *c, const unsigned int *w)
{
	return userlock_is_rwlock(c, w) && c->value & USERLOCK_W_WRITES &&
	       w[USERLOCK_R_READERS] & USERLOCK_R_LOCKED &&
	       w[USERLOCK_R_PHASE] <= (USERLOCK_W_USED | USERLOCK_W_WRITES);
}

USERLOCK_INLINE int userlock_take_rwlock(const struct userlock_call *c, const unsigned int *w,
					 unsigned int word, struct userlock_found *ret)
{
	int written = w[USERLOCK_R_READERS] & USERLOCK_R_WRITES;
	unsigned int readers = w[USERLOCK_R_READERS] >> USERLOCK_R_SHIFT;

	ret->kind = USERLOCK_RWLOCK;
	ret->addr = c->addr - word * sizeof(*w);
	ret->owner = w[USERLOCK_R_WRITER];
	ret->sure = 0;
	ret->reads = word == USERLOCK_R_PHASE && c->value & USERLOCK_W_WRITES;
	ret->readers = written ? 0 : readers;
	return ret->owner ? (w[USERLOCK_R_READERS] & USERLOCK_R_LOCKED) != 0 : !written && readers;
}

/* Readers and the writer that is next wait for the phase, other writers for the lock. */
USERLOCK_INLINE int userlock_find_rwlock(const struct userlock_call *c,
					 const struct userlock_words *m, struct userlock_found *ret)
{
	const unsigned int *phase = m->w + USERLOCK_AT - USERLOCK_R_PHASE,
			   *wait = m->w + USERLOCK_AT - USERLOCK_R_WAIT;

	if (m->have < USERLOCK_ALL_WORDS || m->w[USERLOCK_AT] != c->value ||
	    (c->value != USERLOCK_W_USED && c->value != (USERLOCK_W_USED | USERLOCK_W_WRITES)))
		return 0;
	if (userlock_is_at_phase(c, phase) && userlock_take_rwlock(c, phase, USERLOCK_R_PHASE, ret))
		return 1;
	return userlock_is_at_wait(c, wait) && userlock_take_rwlock(c, wait, USERLOCK_R_WAIT, ret);
}

/*
 * Does the thread in @c wait for a lock? 0: for a condition, or for something that no layout says.
 * 1 is not enough if there is an owner: that thread has to exist.
 */
USERLOCK_INLINE int userlock_find(const struct userlock_call *c, const struct userlock_words *m,
				  struct userlock_found *ret)
{
	switch (c->op & USERLOCK_COMMAND) {
	case USERLOCK_LOCK_PI:
	case USERLOCK_LOCK_PI2:
		return userlock_find_pi(c, m, ret);
	case USERLOCK_WAIT:
		return userlock_find_mutex(c, m, ret);
	case USERLOCK_WAIT_BITSET:
		return userlock_find_rwlock(c, m, ret) || userlock_find_mutex(c, m, ret);
	default:
		return 0;
	}
}

#endif
