/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_DRAIN_PUT_H
#define KONTEND_SOURCE_DRAIN_PUT_H

#include "kontend/drain.h"
#include <string.h>

static inline int drain_put(struct drain *d, enum record_kind kind, uint32_t ring, const void *data,
			    size_t len)
{
	return d->sink->put(d->sink->ctx, kind, ring, data, len);
}

/* A snapshot with a small payload, which comes whatever the queue holds: a few a second at most. */
static inline void drain_put_snapshot(struct drain *d, const struct record_snapshot *head,
				      const void *payload, size_t len)
{
	struct {
		struct record_snapshot head;
		union {
			struct record_burst burst;
			struct record_cost cost;
			struct mmlevel_how mmaps;
		} payload;
	} r = {.head = *head};

	memcpy(&r.payload, payload, len);
	(void)d->sink->put_always(d->sink->ctx, RECORD_SNAPSHOT, 0, &r, sizeof(r.head) + len);
}

#endif
