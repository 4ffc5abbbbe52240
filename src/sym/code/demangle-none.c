// SPDX-License-Identifier: GPL-2.0-only
/* For builds without libiberty: names stay mangled. */
#include "optional.h"

bool demangle(const char *name, char *ret, size_t size)
{
	(void)name;
	(void)ret;
	(void)size;
	return false;
}
