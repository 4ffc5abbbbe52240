// SPDX-License-Identifier: GPL-2.0-only
/*
 * The waits in flight. There are as many as tasks that wait at one moment, so the pool is small;
 * entries are reused through a free list and walked up to the high-water mark.
 */
#include "kontend/wait.h"
#include "kontend/cell.h"
#include "kontend/mem.h"
#include <errno.h>

enum { FIRST_WAITS = 64 };

int wait_pool_init(struct wait_pool *p)
{
	*p = (struct wait_pool){.cap = FIRST_WAITS, .high = 1};
	p->waits = mem_calloc(p->cap, sizeof(*p->waits));
	return p->waits ? 0 : -ENOMEM;
}

void wait_pool_deinit(struct wait_pool *p)
{
	mem_free(p->waits);
	*p = (struct wait_pool){0};
}

struct cell_key wait_key(const struct wait *w)
{
	return (struct cell_key){w->lock, w->stack, w->task, w->cpu, w->owner};
}

uint32_t wait_more(struct wait_pool *p)
{
	if (mem_grow(&p->waits, &p->cap, p->high, sizeof(*p->waits)))
		return 0;
	return p->high++;
}
