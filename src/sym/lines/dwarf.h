/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_DWARF_H
#define KONTEND_SYM_SRCLINES_DWARF_H

#include "kontend/srclines.h"
#include "kontend/strpool.h"

/* Debug information of one file. */
struct dwarf_file;

/*
 * Takes over @fd and @alt (its alternate debug file; -1: none), even on failure. SRCLINES_OK with
 * @ret; or an error code with its reason in *ret_why, which may be "".
 */
enum srclines_answer dwarf_file_open(struct dwarf_file **ret, int fd, int alt,
				     const char **ret_why);
void dwarf_file_close(struct dwarf_file *d); /* NULL is fine */
/* Stores texts of @ret in @names. */
enum srclines_answer dwarf_file_find(struct dwarf_file *d, uint64_t addr, struct strpool *names,
				     struct srclines_place *ret);
bool dwarf_file_built(void); /* false: every answer is SRCLINES_NOT_BUILT */

#endif
