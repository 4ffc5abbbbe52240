// SPDX-License-Identifier: GPL-2.0-only
/* For builds without libunwind. */
#include "internal.h"

const struct unwind_backend *unwind_by_libunwind(void)
{
	return NULL;
}
