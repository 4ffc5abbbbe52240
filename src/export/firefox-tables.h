/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EXPORT_FIREFOX_TABLES_H
#define KONTEND_EXPORT_FIREFOX_TABLES_H

#include "kontend/jsonw.h"
#include "kontend/locktype.h"
#include "kontend/stringtable.h"
#include "trace-int.h"

/* Categories: each has its own colour in the graph of a thread. */
enum firefox_category { FIREFOX_OTHER, FIREFOX_SLEEPS, FIREFOX_SPINS, FIREFOX_HOLDS };

static inline enum firefox_category firefox_category_of(enum lock_type type)
{
	return locktype_is_spin(type) ? FIREFOX_SPINS : FIREFOX_SLEEPS;
}

/* Tables that all threads share: texts, functions, and call chains as a tree. `= {0}` is empty. */
struct firefox_tables {
	struct stringtable texts;
	struct wordset funcs; /* (text, category) */
	struct wordset nodes; /* (parent node, or 0; function) */
	struct map64 chains;  /* (call chain, lock type) -> its node */
	struct map64 callers; /* call chain -> index of the text */
	bool failed;	      /* out of memory; checked once, at the end */
};

uint32_t firefox_text(struct firefox_tables *f, const char *text);
/* The node for call chain @stack (a number of @t, or 0) that waits for a lock of @type; from 1. */
uint32_t firefox_chain(struct firefox_tables *f, struct tracefile *t, uint32_t stack,
		       enum lock_type type);
/* The function that waits in call chain @stack, as a text; UINT32_MAX: unknown */
uint32_t firefox_caller(struct firefox_tables *f, struct tracefile *t, uint32_t stack);
void firefox_tables_json(struct firefox_tables *f, struct jsonw *j);
void firefox_tables_deinit(struct firefox_tables *f);

/* firefox-meta.c: the member "meta" */
void firefox_meta_json(const struct tracefile *t, struct jsonw *j);

/* A column with @n equal values. */
void firefox_same(struct jsonw *j, const char *key, size_t n, int64_t v);
void firefox_nulls(struct jsonw *j, const char *key, size_t n);

#endif
