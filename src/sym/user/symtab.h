/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SYMTAB_H
#define KONTEND_SYM_SYMTAB_H

#include "kontend/elfimg.h"
#include "kontend/strpool.h"

/*
 * Functions by address: filled in any order, sorted in steps, then asked. Names are kept as they
 * came and made fit to be shown (demangled, cleaned) when they are asked for first. Entries are as
 * they lie in kept files, too.
 */
struct symtab_entry {
	uint64_t addr;
	uint32_t size; /* 0 until it is sorted if it had none */
	uint32_t name; /* offset in text */
	uint8_t rank;  /* of two at one address the higher one is kept */
	uint8_t plt;   /* not 0: a stub that calls the function of this name */
	uint8_t none[6];
};

struct cachefile;

struct symtab {
	struct symtab_entry *entries, *room;
	size_t n, cap;
	char *text; /* every name in it ends before text_len */
	size_t text_len, text_cap;
	struct cachefile
		*kept; /* entries and text are parts of it: only read; NULL: they are ours */
	const char **shown;
	size_t n_shown, cap_shown;
	uint32_t *shown_at;	  /* of each entry, + 1; NULL: none is shown yet */
	struct symtab_sort *sort; /* goes on, or NULL */
	uint64_t most;		  /* highest address */
	bool sorted, latest;	  /* latest: at one address the one that came last is kept */
};

enum { SYMTAB_TEXT_MOST = INT32_MAX, SYMTAB_MOST = 1 << 26 };

void symtab_deinit(struct symtab *t); /* `= {0}` is empty */
/* The table in a kept file, which belongs to it from then on; false: there is none in it. */
bool symtab_from_kept(struct symtab *ret, struct cachefile *k);
/* Room for @len more bytes of names, to be written behind text_len. 0, -ENOMEM, -EFBIG. */
int symtab_reserve_text(struct symtab *t, size_t len);
/* @name: offset of a text that is there. 0 or -ENOMEM or -EFBIG. */
int symtab_add(struct symtab *t, const struct symtab_entry *e);
/* As symtab_add(), with the name's bytes. */
int symtab_add_text(struct symtab *t, const struct symtab_entry *e, const char *name, size_t len);
/* The rank of a symbol of ELF: what has a size, is not weak, is global, is better. */
uint8_t symtab_rank(const struct elfimg_symbol *s);

/*
 * Some milliseconds of sorting; more are needed while *ret_more. In the end there is one entry an
 * address, and none without a size. Nothing is added or found meanwhile. 0 or -ENOMEM.
 */
int symtab_sort_step(struct symtab *t, bool *ret_more);
/* The one that covers @addr, or NULL. */
const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t addr);
/* Its name as it came; NULL: the file that it is kept in is damaged. */
const char *symtab_name(const struct symtab *t, const struct symtab_entry *e);
/* Its name as it is shown, in @names; NULL when out of memory, or when that file is damaged. */
const char *symtab_show(struct symtab *t, const struct symtab_entry *e, struct strpool *names);
/* Was that file found to be damaged? Then what else it says is not to be believed either. */
bool symtab_is_damaged(const struct symtab *t);

#endif
