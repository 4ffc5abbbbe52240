/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CUT_H
#define KONTEND_CUT_H

#include "kontend/source.h"
#include "kontend/writer.h"

/*
 * Writes what a recording has after from_ns up to to_ns, and what is needed to understand it: all
 * that stands before the stream, and what tasks, cgroups and maps were called before. Waits that
 * began before from_ns have no begin in the cut. The source is read from where it is; the writer
 * is not finished.
 */
struct event;
struct cut_part {
	uint64_t from_ns, to_ns;
	uint64_t start_ns; /* where measuring begins in the cut; 0: at from_ns */
	/* What names were given up to then, records without a time say, in front of the others. */
	uint64_t known_ns;
	const struct record *more; /* snapshots that come before the range, too */
	size_t n_more;
	/* Of events in the range, which stay; records that are none stay all. NULL: all. */
	bool (*keep)(void *ctx, const struct event *ev);
	void *ctx;
};

int cut_range(struct source *s, struct writer *w, const struct cut_part *p, struct error *err);

#endif
