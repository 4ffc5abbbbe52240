/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ENGINE_SLICES_H
#define KONTEND_ENGINE_SLICES_H

#include "kontend/error.h"
#include <stdint.h>

/*
 * Cuts the stream, or the range of it, into parts in a row: whatever comes before the end of one is
 * in it. At each end the sums are taken and forgotten, so that parts add up.
 */
struct engine_slices {
	/*
	 * All up to @next_ns is applied and nothing later, and a bucket was closed there. The next
	 * event is at @time_ns. Says where the next part ends: @next_ns becomes greater. 0, or a
	 * negative errno with @err, which ends engine_pump().
	 */
	int (*close)(struct engine_slices *s, uint64_t time_ns, struct error *err);
	/* Called once, when it is known where the stream begins: where the first part ends. */
	uint64_t (*first)(struct engine_slices *s, uint64_t begin_ns);
	uint64_t next_ns; /* 0: nothing has come yet */
};

struct engine;
/*
 * Before the first record, for an engine with slices: each gets its share of the sums of short
 * waits, whose snapshots are read before the events of their time. Reading is up to a second ahead
 * then. 0 or -ENOMEM.
 */
int engine_slices_sums(struct engine *e);

#endif
