/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_ENGINE_RANGE_H
#define KONTEND_SRC_ENGINE_ENGINE_RANGE_H

#include "kontend/engine.h"

/*
 * Before an event, a round or a tick of @time is applied: passes the ends of the range, and of
 * slices, that lie before it.
 */
int engine_range_pass(struct engine *e, uint64_t time, struct error *err);
/* From now on @r, whose ends are filled in: @at_ns, a tick not after its begin, has been applied; 0
 * for
 * @r->from_ns: it has all up to its end. The caller takes it out of the engine. */
void engine_range_set(struct engine *e, struct engine_range *r, uint64_t at_ns);
/* At a tick, before its bucket is closed: true if the range ends there, and has closed it. */
bool engine_range_ends(struct engine *e, uint64_t time);
/* Right after a tick: the range may begin there. */
void engine_range_tick(struct engine *e, uint64_t time);
/* A snapshot that comes when no event is taken any more: it may complete the range. */
void engine_range_rest(struct engine *e, const struct record *r);
/* The stream has ended, and nothing more completes the range. Without one nothing is done. */
void engine_range_end(struct engine *e);

static inline bool engine_is_cut(const struct engine *e)
{
	return e->range || e->slices;
}

static inline bool engine_range_is_behind(const struct engine *e)
{
	return e->range && e->range->state >= ENGINE_RANGE_ENDING;
}

#endif
