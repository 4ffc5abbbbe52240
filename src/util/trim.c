// SPDX-License-Identifier: GPL-2.0-only
/*
 * By itself glibc returns free memory at the end of its heap only. Free pages between blocks that
 * stay are returned here, in less than a millisecond.
 */
#include "kontend/trim.h"
#include "kontend/mem.h"

enum { TICKS = 8 };

void trim_at_tick(uint64_t tick)
{
	if (tick % TICKS == 0)
		mem_trim();
}
