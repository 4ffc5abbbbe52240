/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_USERWORD_H
#define KONTEND_USERWORD_H

/*
 * Calls that are newer than futex(2), as the calls of that which do the same. BPF programs include
 * this file: plain C types only.
 */
#include "kontend/userlayout.h"

/* A word of futex_waitv(2) and futex_requeue(2), as linux/futex.h has it, and its flags. */
struct userlock_word {
	unsigned long long value, addr;
	unsigned int flags, reserved;
};
enum { USERLOCK_SIZE = 3, USERLOCK_32BITS = 2 };

/* As a call of futex(2). 0: of a size for which the kernel has no sleep. */
USERLOCK_INLINE int userlock_take_word(const struct userlock_word *w, struct userlock_call *ret)
{
	ret->addr = w->addr;
	ret->op = USERLOCK_WAIT_BITSET | (w->flags & USERLOCK_PRIVATE);
	ret->value = (unsigned int)w->value;
	return (w->flags & USERLOCK_SIZE) == USERLOCK_32BITS;
}

/* Of futex_wait(2). */
USERLOCK_INLINE int userlock_take_wait(unsigned long long addr, unsigned long long value,
				       unsigned long long flags, struct userlock_call *ret)
{
	const struct userlock_word w = {value, addr, (unsigned int)flags, 0};

	return userlock_take_word(&w, ret);
}

/* futex_waitv(2), of whose @n words @w is the first. */
USERLOCK_INLINE int userlock_take_waitv(const struct userlock_word *w, unsigned int n,
					struct userlock_call *ret)
{
	int ok = userlock_take_word(w, ret);

	if (n > 1)
		ret->op = USERLOCK_WAITV | (ret->op & USERLOCK_PRIVATE);
	return ok;
}

#endif
