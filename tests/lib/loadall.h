/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_LOADALL_H
#define KONTEND_TESTS_LOADALL_H

#include "kontend/usersyms.h"

/* All that names were asked for of. */
static inline void load_all(struct usersyms *u)
{
	while (usersyms_load_some(u, UINT64_MAX, NULL))
		;
}

#endif
