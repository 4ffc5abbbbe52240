/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CELL_OWNER_H
#define KONTEND_CELL_OWNER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The holder of a lock when a wait for it began: an index of the task table, 0 = not known. With
 * OWNER_HINT it is only one of several readers that may have held it; with OWNER_EVIDENT besides,
 * its calls show that it does; with OWNER_EVIDENT alone the memory of a program names it as the
 * only one. OWNER_FREE: no task did, the lock was being handed over; with OWNER_NEXT and a task
 * besides, to that one.
 */
enum { OWNER_NONE = 0, OWNER_NEXT = 1 << 29, OWNER_HINT = 1 << 30, OWNER_FREE = OWNER_HINT };

#define OWNER_EVIDENT (1u << 31)

#define CELL_NO_CPU UINT16_MAX /* it is not known on which CPU the waits of a cell began */

/* That had it. */
static inline uint32_t cell_owner_task(uint32_t owner)
{
	return owner & OWNER_NEXT ? 0 : owner & (OWNER_NEXT - 1u);
}

/* To which it was being handed over; 0: not known, or another one had it. */
static inline uint32_t cell_owner_next(uint32_t owner)
{
	return owner & OWNER_NEXT ? owner & (OWNER_NEXT - 1u) : 0;
}

static inline bool cell_owner_is_free(uint32_t owner)
{
	return owner == OWNER_FREE || owner & OWNER_NEXT;
}

static inline uint32_t cell_owner_handed(uint32_t task)
{
	return task ? OWNER_FREE | OWNER_NEXT | task : OWNER_FREE;
}

#endif
