/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MAP_STAMP_H
#define KONTEND_MAP_STAMP_H

#include "kontend/maps.h"

/* What a number of an object stands for is the same as long as this is the same. */
struct map_stamp {
	const struct map_objects *objects;
	uint32_t epoch, again;
};

static inline struct map_stamp map_stamp(const struct map_objects *o)
{
	return (struct map_stamp){o, o->epoch, o->again};
}

static inline bool map_stamp_is(const struct map_stamp *s, const struct map_objects *o)
{
	return s->objects == o && s->epoch == o->epoch && s->again == o->again;
}

#endif
