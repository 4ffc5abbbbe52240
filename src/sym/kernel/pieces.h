/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SYM_PIECES_H
#define KONTEND_SYM_SYM_PIECES_H

#include "kontend/sym.h"

/*
 * A text of kallsyms whose lines are parsed only when an address is looked up. The text must stay
 * until sym_pieces_free(). NULL: not worthwhile, or out of memory. Properties of the whole table go
 * to @ret, with its names, whose memory belongs to the pieces.
 */
struct sym_pieces *sym_pieces_new(const char *text, size_t len, struct sym *ret);
void sym_pieces_free(struct sym_pieces *p);
/* The entry with the highest address that is not above @addr, or NULL. */
const struct sym_entry *sym_pieces_find(struct sym_pieces *p, uint64_t addr);
/* The fully parsed table; NULL: out of memory. */
const struct sym *sym_pieces_whole(struct sym_pieces *p);

#endif
