/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_DWARF_H
#define KONTEND_SYM_SRCLINES_DWARF_H

#include "kontend/srclines.h"
#include "usersyms-int.h"

/* The debug information of one file. For one thread at a time. */
struct dwarf_file;

/* SRCLINES_OK with @ret, or why not. */
enum srclines_answer dwarf_file_open(struct dwarf_file **ret, const struct usersyms_config *c,
				     struct usersym_object *o);
void dwarf_file_close(struct dwarf_file *d); /* NULL is fine */
enum srclines_answer dwarf_file_find(struct dwarf_file *d, uint64_t file_offset,
				     struct strpool *names, struct srclines_place *ret);

#endif
