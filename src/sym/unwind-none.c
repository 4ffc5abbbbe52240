// SPDX-License-Identifier: GPL-2.0-only
/* Built without libunwind, or for an architecture whose registers are not known here. */
#include "kontend/unwind.h"

#include <errno.h>

int unwind_new(struct unwind **ret, struct usersyms *files, struct error *err)
{
	(void)ret;
	(void)files;
	return error_set(err, -ENOTSUP, "kontend was built without libunwind: no stacks by DWARF");
}

void unwind_free(struct unwind *u)
{
	(void)u;
}

int unwind_space_new(struct unwind_space **ret, struct unwind *u)
{
	(void)ret;
	(void)u;
	return -ENOTSUP;
}

void unwind_space_free(struct unwind_space *s)
{
	(void)s;
}

void unwind_space_set(struct unwind_space *s, const struct unwind_map *maps, size_t n)
{
	(void)s;
	(void)maps;
	(void)n;
}

size_t unwind_stack(struct unwind_space *s, const struct unwind_sample *sample,
		    struct unwind_frame *ret, size_t most, enum unwind_end *ret_end)
{
	(void)s;
	(void)sample;
	(void)ret;
	(void)most;
	*ret_end = UNWIND_BAD;
	return 0;
}
