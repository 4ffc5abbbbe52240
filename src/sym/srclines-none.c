// SPDX-License-Identifier: GPL-2.0-only
/* Built without libdw: no lines of source. */
#include "srclines-dwarf.h"

enum srclines_answer dwarf_file_open(struct dwarf_file **ret, const struct usersyms_config *c,
				     struct usersym_object *o)
{
	(void)ret;
	(void)c;
	(void)o;
	return SRCLINES_NOT_BUILT;
}

void dwarf_file_close(struct dwarf_file *d)
{
	(void)d;
}

enum srclines_answer dwarf_file_find(struct dwarf_file *d, uint64_t file_offset,
				     struct strpool *names, struct srclines_place *ret)
{
	(void)d;
	(void)file_offset;
	(void)names;
	(void)ret;
	return SRCLINES_NOT_BUILT;
}
