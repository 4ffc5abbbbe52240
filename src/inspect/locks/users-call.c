// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which lock a thread in futex(2) waits for. The call says only where a word is, and which value
 * it had: condition variables, semaphores, barriers and joins use words, too. So each kind of lock
 * is recognised by its layout in the memory of the program, by the command, and by the value that
 * its library waits on; whatever differs in one of them is no lock. These are of the libraries for
 * 64 bits.
 *
 * pthread_mutex_t of glibc: lock, count, owner, users, kind. It waits while the lock is 2; a robust
 * one while the lock has the owner and the bit "waiters".
 * pthread_rwlock_t of glibc: readers, writers, phase of writing, word of the writers, two of
 * padding, writer, shared, 16 bytes, flags. It waits on the third word and on the fourth, always
 * with the bit "used", which the words of condition variables never have.
 * With priority inheritance the kernel itself reads the owner from the word.
 */
#include "kontend/number.h"
#include "users.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

enum { LOCK_PI2 = 13 }; /* FUTEX_LOCK_PI2, which old headers lack */

/* Words of a mutex, and the bits of its kind. */
enum { M_LOCK, M_COUNT, M_OWNER, M_USERS, M_KIND, M_WORDS };
enum { M_TYPES = 4, M_TYPE = 0xf, M_ROBUST = 0x10, M_KNOWN = 0x3ff, M_CONTENDED = 2 };

/* Words of an rwlock, bits of "readers", and the bits of the words that are waited on. */
enum { R_READERS, R_WRITERS, R_PHASE, R_WAIT, R_PAD, R_PAD2, R_WRITER, R_SHARED, R_FLAGS = 12 };
enum { R_WORDS = 13, R_WRITES = 1, R_LOCKED = 2, R_SHIFT = 3, R_MOST_FLAGS = 3 };
enum { W_WRITES = 1, W_USED = 2 };

static bool take_blank_hex(const char **at, uint64_t *ret)
{
	while (**at == ' ')
		++*at;
	return number_take_hex(at, ret) == 0;
}

bool users_call_parse(const char *line, struct users_call *ret)
{
	uint64_t number, addr, op, value;
	const char *at = line;

	if (number_take(&at, INT_MAX, &number) < 0 || number != SYS_futex ||
	    !take_blank_hex(&at, &addr) || !take_blank_hex(&at, &op) ||
	    !take_blank_hex(&at, &value))
		return false;
	*ret = (struct users_call){addr, (uint32_t)op, (uint32_t)value};
	return true;
}

bool users_call_is_private(const struct users_call *c)
{
	return c->op & FUTEX_PRIVATE_FLAG;
}

static bool find_pi(const struct users_call *c, users_read *read, void *arg, struct users_lock *ret)
{
	uint32_t word;

	if (!read(arg, c->addr, &word, sizeof(word)) || !(word & FUTEX_TID_MASK))
		return false;
	*ret = (struct users_lock){
		.kind = USERLOCK_PI, .addr = c->addr, .owner = word & FUTEX_TID_MASK, .sure = true};
	return true;
}

static bool find_mutex(const struct users_call *c, users_read *read, void *arg,
		       struct users_lock *ret)
{
	uint32_t w[M_WORDS];

	if (!read(arg, c->addr, w, sizeof(w)) || w[M_LOCK] != c->value)
		return false;
	if (w[M_KIND] & ~(uint32_t)M_KNOWN || (w[M_KIND] & M_TYPE) >= M_TYPES)
		return false;
	bool is_robust = w[M_KIND] & M_ROBUST;
	bool waits = is_robust ? w[M_LOCK] & FUTEX_WAITERS : w[M_LOCK] == M_CONTENDED;
	*ret = (struct users_lock){.kind = USERLOCK_MUTEX,
				   .addr = c->addr,
				   .owner = is_robust ? w[M_LOCK] & FUTEX_TID_MASK : w[M_OWNER],
				   .sure = is_robust};
	return waits && ret->owner && (is_robust || w[M_USERS]);
}

static bool is_rwlock(const struct users_call *c, const uint32_t w[R_WORDS])
{
	uint32_t shared = users_call_is_private(c) ? 0 : 1;

	return w[R_SHARED] == shared && w[R_FLAGS] <= R_MOST_FLAGS && !w[R_PAD] && !w[R_PAD2];
}

/* Readers and the writer that is next wait for the phase, other writers for the lock. */
static bool find_rwlock(const struct users_call *c, users_read *read, void *arg,
			struct users_lock *ret)
{
	bool at_phase = true;
	uint32_t w[R_WORDS];
	uint64_t base = c->addr - R_PHASE * sizeof(*w);
	bool found = read(arg, base, w, sizeof(w)) && w[R_PHASE] == c->value && is_rwlock(c, w);

	if (!found) {
		base = c->addr - R_WAIT * sizeof(*w);
		at_phase = false;
		found = read(arg, base, w, sizeof(w)) && w[R_WAIT] == c->value && is_rwlock(c, w);
	}
	if (!found || (c->value != W_USED && c->value != (W_USED | W_WRITES)))
		return false;
	bool written = w[R_READERS] & R_WRITES;
	uint32_t readers = w[R_READERS] >> R_SHIFT;
	*ret = (struct users_lock){.kind = USERLOCK_RWLOCK,
				   .addr = base,
				   .owner = w[R_WRITER],
				   .reads = at_phase && c->value & W_WRITES,
				   .readers = written ? 0 : readers};
	return ret->owner ? w[R_READERS] & R_LOCKED : !written && readers;
}

bool users_lock_find(const struct users_call *c, users_read *read, void *arg,
		     struct users_lock *ret)
{
	switch (c->op & FUTEX_CMD_MASK) {
	case FUTEX_LOCK_PI:
	case LOCK_PI2:
		return find_pi(c, read, arg, ret);
	case FUTEX_WAIT:
		return find_mutex(c, read, arg, ret);
	case FUTEX_WAIT_BITSET:
		return find_rwlock(c, read, arg, ret) || find_mutex(c, read, arg, ret);
	default:
		return false;
	}
}
