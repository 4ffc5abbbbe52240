/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_STRINGTABLE_H
#define KONTEND_STRINGTABLE_H

#include "kontend/map64.h"
#include "kontend/strpool.h"

/*
 * Numbers texts, for files whose other parts refer to a text by its index: each text once, from 0
 * in the order of first use. It owns copies of the texts. `= {0}` is empty.
 */
struct stringtable {
	struct strpool pool;
	struct map64 indices; /* by address in the pool */
	const char **list;    /* by index */
	size_t n, cap;
};

/* The index of the text, which is added if it is new; UINT32_MAX: no memory. */
uint32_t stringtable_get(struct stringtable *t, const char *text);
/* Frees all, and leaves an empty table. */
void stringtable_deinit(struct stringtable *t);

#endif
