/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ENGINE_SLICES_H
#define KONTEND_ENGINE_SLICES_H

#include "kontend/error.h"
#include <stdint.h>

/*
 * Cuts the stream, or the range of it, into consecutive parts. An event belongs to the first part
 * that ends at or after it. At each end the sums are read and cleared, so the parts add up.
 */
struct engine_slices {
	/*
	 * Called when all events up to @next_ns are applied, no later ones are, and a bucket was
	 * closed there. The next event is at @time_ns. Sets @next_ns to the end of the next part,
	 * which is later. 0, or a negative errno with @err, which ends engine_pump().
	 */
	int (*close)(struct engine_slices *s, uint64_t time_ns, struct error *err);
	/* Called once, when the begin of the stream is known. Returns the end of the first part. */
	uint64_t (*first)(struct engine_slices *s, uint64_t begin_ns);
	uint64_t next_ns; /* 0: there was no event yet */
};

struct engine;
/*
 * To be called before the first record, for an engine with slices: each slice gets its share of the
 * sums of short waits. Their snapshots are read before the events of their time, so the source is
 * read up to a second ahead. 0 or -ENOMEM.
 */
int engine_slices_sums(struct engine *e);

#endif
