/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CUT_H
#define KONTEND_CUT_H

#include "kontend/source.h"
#include "kontend/writer.h"

/*
 * Writes the part of a recording from from_ns up to to_ns, and the records needed to understand it:
 * everything before the stream, and earlier names of tasks, cgroups and maps. Waits that began
 * before from_ns have no begin in the cut. The source is read from its current position; the writer
 * is not finished.
 */
struct event;
struct cut_part {
	uint64_t from_ns, to_ns;
	uint64_t start_ns; /* start of measuring in the cut; 0: from_ns */
	/* Time up to which the records without a time, in front of the others, have the names. */
	uint64_t known_ns;
	const struct record *more; /* snapshots to be added before the range */
	size_t n_more;
	/* Selects events in the range; records that are no events all stay. NULL: all events. */
	bool (*keep)(void *ctx, const struct event *ev);
	void *ctx;
};

int cut_range(struct source *s, struct writer *w, const struct cut_part *p, struct error *err);

#endif
