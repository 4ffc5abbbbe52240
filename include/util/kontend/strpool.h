/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_STRPOOL_H
#define KONTEND_STRPOOL_H

#include "kontend/arena.h"
#include <stddef.h>
#include <stdint.h>

/*
 * Interned strings: equal text has one address, valid until strpool_deinit(). The number of texts
 * is limited by the owner (symbols, comms and paths are interned; nothing per event). `= {0}` is
 * empty.
 */
struct strpool {
	struct arena arena;
	const char **slots; /* open addressing on the text's hash */
	size_t mask;
	size_t count;
};

const char *strpool_intern(struct strpool *p, const char *s);		      /* NULL on ENOMEM */
const char *strpool_intern_n(struct strpool *p, const char *s, size_t len);   /* stops at a NUL */
const char *strpool_find(const struct strpool *p, const char *s, size_t len); /* NULL: not there */
void strpool_deinit(struct strpool *p);

#endif
