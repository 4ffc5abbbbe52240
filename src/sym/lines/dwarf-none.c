// SPDX-License-Identifier: GPL-2.0-only
/* For builds without libdw: no source lines. */
#include "internal.h"

#include <unistd.h>

bool dwarf_file_built(void)
{
	return false;
}

enum srclines_answer dwarf_file_open(struct dwarf_file **ret, int fd, int alt, const char **ret_why)
{
	*ret = NULL;
	*ret_why = "";
	close(fd);
	if (alt >= 0)
		close(alt);
	return SRCLINES_NOT_BUILT;
}

void dwarf_file_close(struct dwarf_file *d)
{
	(void)d;
}

enum srclines_answer dwarf_file_find(struct dwarf_file *d, uint64_t addr, struct strpool *names,
				     struct srclines_place *ret)
{
	(void)d;
	(void)addr;
	(void)names;
	ret->n = 0;
	return SRCLINES_NOT_BUILT;
}

enum srclines_answer dwarf_file_member(struct dwarf_file *d, uint64_t addr, struct strpool *names,
				       struct srclines_place *ret)
{
	return dwarf_file_find(d, addr, names, ret);
}
