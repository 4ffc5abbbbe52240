/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EXPORT_TEXTS_H
#define KONTEND_EXPORT_TEXTS_H

#include "kontend/map64.h"
#include "kontend/strpool.h"

/* The table of strings of a file: each text once, by index. `= {0}` is empty. */
struct texts {
	struct strpool pool;
	struct map64 indices; /* by address in the pool */
	const char **list;
	size_t n, cap;
};

/* The index of the text; UINT32_MAX: no memory. */
uint32_t texts_get(struct texts *t, const char *text);
void texts_deinit(struct texts *t);

#endif
