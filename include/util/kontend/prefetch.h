/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PREFETCH_H
#define KONTEND_PREFETCH_H

/*
 * For walks over records, which are slower than memory only when memory is asked in time: called
 * for each record with the place some records ahead, it asks for the lines there and does not wait.
 * Three lines are about a record with its call chain. Any address will do, also one behind the end.
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
