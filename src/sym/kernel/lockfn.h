/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_LOCKFN_H
#define KONTEND_SYM_LOCKFN_H

#include "kontend/sym.h"

static inline bool sym_type_is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/*
 * Index range of the table's names for each pair of first two letters. Few functions share these
 * pairs, so one lookup rejects most of a kernel's hundred thousand functions.
 */
struct lockfn_filter {
	uint8_t from[32 * 32], to[32 * 32];
};
void lockfn_filter_init(struct lockfn_filter *f);

/* Role of a function by its name, of which @len characters precede a compiler's suffix. */
enum sym_lockfn lockfn_by_name(const struct lockfn_filter *f, const char *name, size_t len);

/* Marks functions between the table's section labels, too, among @n of its sorted entries. */
void lockfn_mark_ranges(const struct sym *s, struct sym_entry *entries, size_t n);

#endif
