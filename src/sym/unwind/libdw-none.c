// SPDX-License-Identifier: GPL-2.0-only
/* For builds without libdw. */
#include "internal.h"

#include <errno.h>

int unwind_rule_by_libdw(struct unwind_tables *t, const struct unwind_machine *m, uint64_t addr,
			 struct unwind_rule *ret)
{
	(void)t, (void)m, (void)addr, (void)ret;
	return -ENOTSUP;
}

const struct unwind_backend *unwind_by_libdw(void)
{
	return NULL;
}
