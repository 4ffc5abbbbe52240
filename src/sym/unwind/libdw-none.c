// SPDX-License-Identifier: GPL-2.0-only
/* For builds without libdw. */
#include "internal.h"

const struct unwind_backend *unwind_by_libdw(void)
{
	return NULL;
}
