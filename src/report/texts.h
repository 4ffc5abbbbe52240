/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_TEXTS_H
#define KONTEND_REPORT_TEXTS_H

#include "kontend/map64.h"
#include "kontend/strpool.h"

/* Texts by index, each once: the table of strings of a file. `= {0}` is empty. */
struct texts {
	struct strpool pool;
	struct map64 indices; /* by their address in the pool */
	const char **list;
	size_t n, cap;
};

/* Its index; UINT32_MAX: no memory. */
uint32_t texts_get(struct texts *t, const char *text);
void texts_deinit(struct texts *t);

#endif
