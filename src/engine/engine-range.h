/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_ENGINE_RANGE_H
#define KONTEND_SRC_ENGINE_ENGINE_RANGE_H

#include "kontend/engine.h"

/*
 * Before an event, a round or a tick of @time is applied: passes the ends of the range, and of
 * slices, that lie before it.
 */
int engine_range_pass(struct engine *e, uint64_t time, struct error *err);
/* Right after a tick: it may be an end itself. */
void engine_range_tick(struct engine *e, uint64_t time);

static inline bool engine_is_cut(const struct engine *e)
{
	return e->range || e->slices;
}

static inline bool engine_range_is_behind(const struct engine *e)
{
	return e->range && e->range->state == ENGINE_RANGE_BEHIND;
}

#endif
