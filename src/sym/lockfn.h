/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_LOCKFN_H
#define KONTEND_SYM_LOCKFN_H

#include "kontend/sym.h"

static inline bool sym_type_is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* Fills `lockfn` of all entries, by the ranges of the table and by name. */
void lockfn_mark(struct sym *s);

#endif
