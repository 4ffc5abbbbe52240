/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_DECODED_H
#define KONTEND_QUERY_DECODED_H

#include "kontend/held.h"
#include "kontend/sections.h"
#include "kontend/snapshot.h"

/*
 * A snapshot, decoded when it is another one than in the last frame, and the same in all of a
 * frame. `= {0}` is empty.
 */
struct query_decoded {
	const struct snapshot *of; /* what it was decoded from */
	uint64_t time_ns;
	size_t len;
	int code; /* of decoding */
	struct held held;
};

struct query;

/* @s into @snap of the kind @k, which holds what @d says. False: there is none that can be read. */
bool query_decode(struct query *q, struct query_decoded *d, const struct sections *k, void *snap,
		  const struct snapshot *s);
/* Why there is none of @kind: "the recording has no snapshots of WHAT", ... */
const char *query_decode_why(const struct query *q, uint16_t kind, const char *none);

#endif
