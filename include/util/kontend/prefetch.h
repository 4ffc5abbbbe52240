/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PREFETCH_H
#define KONTEND_PREFETCH_H

/*
 * For walks over records, which are faster than memory: called for each record with an address some
 * records ahead, it prefetches the cache lines there without waiting. Three lines are about a
 * record with its call chain. Any address is allowed, even beyond the end.
 */
static inline void prefetch_record(const void *p)
{
	enum { LINE = 64 };
	const char *at = p;

	__builtin_prefetch(at);
	__builtin_prefetch(at + LINE);
	__builtin_prefetch(at + 2 * LINE);
}

#endif
