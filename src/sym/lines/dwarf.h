/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_DWARF_H
#define KONTEND_SYM_SRCLINES_DWARF_H

#include "kontend/srclines.h"
#include "kontend/strpool.h"

/* The debug information of one file. */
struct dwarf_file;

/*
 * @fd, and @alt (what it shares with others; -1: nothing), belong to it from then on in any case.
 * SRCLINES_OK with @ret; or why not, *ret_why: in so many words, or "".
 */
enum srclines_answer dwarf_file_open(struct dwarf_file **ret, int fd, int alt,
				     const char **ret_why);
void dwarf_file_close(struct dwarf_file *d); /* NULL is fine */
/* Texts of @ret are kept in @names. */
enum srclines_answer dwarf_file_find(struct dwarf_file *d, uint64_t addr, struct strpool *names,
				     struct srclines_place *ret);
bool dwarf_file_built(void); /* false: there is nothing but SRCLINES_NOT_BUILT */

#endif
