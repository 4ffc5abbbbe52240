/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_IDLECLOCK_H
#define KONTEND_IDLECLOCK_H

/*
 * A clock that runs while at least one CPU is idle, as records have it: in units of 256 ns above a
 * bit that is always set, so that it starts again after nine minutes. 0: not known. The BPF program
 * includes this file: plain C types only.
 */
enum { IDLECLOCK_UNIT = 8, IDLECLOCK_MOST = 0x7fffffff };

static inline unsigned int idleclock_short(unsigned long long ns)
{
	return (unsigned int)(ns >> IDLECLOCK_UNIT) << 1 | 1;
}

/* The time from @from to the later @to, both known; one that is a bit earlier counts as the same.
 */
static inline unsigned long long idleclock_ns(unsigned int from, unsigned int to)
{
	unsigned int units = ((to >> 1) - (from >> 1)) & IDLECLOCK_MOST;

	return units <= IDLECLOCK_MOST / 2 ? (unsigned long long)units << IDLECLOCK_UNIT : 0;
}

#endif
