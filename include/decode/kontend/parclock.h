/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PARCLOCK_H
#define KONTEND_PARCLOCK_H

/*
 * The time that the other threads of a process have run on CPUs, as records have it: nanoseconds
 * modulo 2^51 with the lowest bit set, and above them a number of the process, which changes where
 * the time of another one was counted meanwhile. 0: not known. Times of two records of one thread
 * can be compared. The BPF program includes this file: plain C types only.
 */
enum { PARCLOCK_BITS = 51, PARCLOCK_CPUS = 1 << 13 };

#define PARCLOCK_MASK ((1ull << PARCLOCK_BITS) - 1)

static inline unsigned long long parclock(unsigned int process, unsigned long long ns)
{
	return (unsigned long long)process << PARCLOCK_BITS | (ns & PARCLOCK_MASK) | 1;
}

/* False: it is not known. Clocks of CPUs differ a bit, so what is below zero is none. */
static inline int parclock_ns(unsigned long long from, unsigned long long to,
			      unsigned long long *ret)
{
	unsigned long long ns = (to - from) & PARCLOCK_MASK;

	*ret = ns > PARCLOCK_MASK / 2 ? 0 : ns;
	return from && to && from >> PARCLOCK_BITS == to >> PARCLOCK_BITS;
}

#endif
