/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_LOCKFN_H
#define KONTEND_SYM_LOCKFN_H

#include "kontend/sym.h"

static inline bool sym_type_is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/*
 * Between which indices the names with given first two letters stand. Few functions share these, so
 * that most of a kernel's hundred thousand are known to be none by one look.
 */
struct lockfn_filter {
	uint8_t from[32 * 32], to[32 * 32];
};
void lockfn_filter_init(struct lockfn_filter *f);

/* What a function is by its name, of which @len characters stand before a compiler's suffix. */
enum sym_lockfn lockfn_by_name(const struct lockfn_filter *f, const char *name, size_t len);

/* Marks the functions between the table's labels, too, among @n of its entries, sorted. */
void lockfn_mark_ranges(const struct sym *s, struct sym_entry *entries, size_t n);

#endif
