/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SYMTAB_H
#define KONTEND_SYM_SYMTAB_H

#include "kontend/elfimg.h"
#include "kontend/strpool.h"

/*
 * Functions, and variables of programs, by address: added in any order, sorted in steps, then
 * looked up. Names are demangled and cleaned at their first lookup. Cache files have entries in the
 * same layout.
 */
struct symtab_entry {
	uint64_t addr;
	uint32_t size;	  /* 0 until sorting, if the symbol has none */
	uint32_t name;	  /* offset in text */
	uint8_t rank;	  /* of two at one address the higher one wins */
	uint8_t plt;	  /* not 0: a stub that calls the function of this name */
	uint8_t variable; /* not 0: no function */
	uint8_t none[5];
};

struct cachefile;

struct symtab {
	struct symtab_entry *entries, *room;
	size_t n, cap;
	char *text; /* every name in it ends before text_len */
	size_t text_len, text_cap;
	struct cachefile
		*kept; /* if not NULL, entries and text are parts of this cache file: read-only */
	const char **shown;
	size_t n_shown, cap_shown;
	uint32_t *shown_at;	  /* index of each entry's shown name, + 1; NULL: none yet */
	struct symtab_sort *sort; /* while sorting, else NULL */
	uint64_t most;		  /* highest address */
	bool sorted, latest;	  /* latest: the last added at an address wins */
};

enum { SYMTAB_TEXT_MOST = INT32_MAX, SYMTAB_MOST = 1 << 26 };

void symtab_deinit(struct symtab *t); /* `= {0}` is empty */
/* The table in a cache file, which then belongs to it; false: the file has none. */
bool symtab_from_kept(struct symtab *ret, struct cachefile *k);
/* Makes room for @len more bytes of names after text_len. 0, -ENOMEM, -EFBIG. */
int symtab_reserve_text(struct symtab *t, size_t len);
/* @name: offset of an existing text. 0 or -ENOMEM or -EFBIG. */
int symtab_add(struct symtab *t, const struct symtab_entry *e);
/* As symtab_add(), with the bytes of the name. */
int symtab_add_text(struct symtab *t, const struct symtab_entry *e, const char *name, size_t len);
/* Rank of an ELF symbol: better with a size, not weak, global. */
uint8_t symtab_rank(const struct elfimg_symbol *s);

/*
 * Sorts for some milliseconds; *ret_more: call again. At the end there is one entry per address,
 * each with a size. No adding or lookups meanwhile. 0 or -ENOMEM.
 */
int symtab_sort_step(struct symtab *t, bool *ret_more);
/* The entry that covers @addr, or NULL. */
const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t addr);
/* Its raw name; NULL: its cache file is damaged. */
const char *symtab_name(const struct symtab *t, const struct symtab_entry *e);
/* Its name for display, in @names; NULL: out of memory, or its cache file is damaged. */
const char *symtab_show(struct symtab *t, const struct symtab_entry *e, struct strpool *names);
/* True if the cache file was found damaged: its other contents are not trusted either. */
bool symtab_is_damaged(const struct symtab *t);

#endif
