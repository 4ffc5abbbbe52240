// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recent past of one quantity, a value a closed bucket, in a ring indexed by bucket number. A
 * series that nothing was pushed to for some buckets reads as zero there, so quiet locks cost
 * nothing at a tick, and a lock that was never hot has no memory at all.
 */
#include "kontend/series.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

int series_push(struct series *s, uint64_t tick, uint64_t value)
{
	if (!s->v) {
		if (!value)
			return 0;
		s->v = mem_calloc(SERIES_LEN, sizeof(*s->v));
		if (!s->v)
			return -ENOMEM;
		s->ticks = tick;
	}
	if (tick > s->ticks + SERIES_LEN)
		memset(s->v, 0, SERIES_LEN * sizeof(*s->v));
	else
		for (uint64_t t = s->ticks + 1; t < tick; t++)
			s->v[t % SERIES_LEN] = 0;
	s->v[tick % SERIES_LEN] = value;
	s->ticks = tick;
	return 0;
}

uint64_t series_at(const struct series *s, uint64_t now, unsigned back)
{
	if (!s->v || back >= SERIES_LEN || back >= now)
		return 0;
	uint64_t t = now - back;
	if (t > s->ticks || s->ticks - t >= SERIES_LEN)
		return 0;
	return s->v[t % SERIES_LEN];
}

int series_copy(struct series *dst, const struct series *src)
{
	dst->ticks = src->ticks;
	dst->v = mem_dup(src->v, SERIES_LEN, sizeof(*src->v));
	return dst->v || !src->v ? 0 : -ENOMEM;
}

void series_deinit(struct series *s)
{
	mem_free(s->v);
	*s = (struct series){0};
}
