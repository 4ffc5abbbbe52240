/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SYM_PIECES_H
#define KONTEND_SYM_SYM_PIECES_H

#include "kontend/sym.h"

/*
 * A text of kallsyms of which only those lines are taken apart that somebody asks for. It is looked
 * at until sym_pieces_free(). NULL: it is not worth while, or out of memory. What it says of the
 * table as a whole goes to @ret, and where its names are, which is the pieces' memory.
 */
struct sym_pieces *sym_pieces_new(const char *text, size_t len, struct sym *ret);
void sym_pieces_free(struct sym_pieces *p);
/* The entry with the highest address that is not above @addr, or NULL. */
const struct sym_entry *sym_pieces_find(struct sym_pieces *p, uint64_t addr);
/* The whole table; NULL: out of memory. */
const struct sym *sym_pieces_whole(struct sym_pieces *p);

#endif
