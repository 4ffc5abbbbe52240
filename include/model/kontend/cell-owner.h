/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CELL_OWNER_H
#define KONTEND_CELL_OWNER_H

#include <stdint.h>

/*
 * Who held a lock when a wait for it began: an index of the task table, 0 = not known. With
 * OWNER_HINT it is but one of several readers that may have held it. OWNER_FREE: nobody did, it was
 * being passed on.
 */
enum { OWNER_NONE = 0, OWNER_HINT = 1 << 30, OWNER_FREE = OWNER_HINT };

#define CELL_NO_CPU UINT16_MAX /* it is not known on which CPU the waits of a cell began */

static inline uint32_t cell_owner_task(uint32_t owner)
{
	return owner & (OWNER_HINT - 1u);
}

#endif
