/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CUT_H
#define KONTEND_CUT_H

#include "kontend/source.h"
#include "kontend/writer.h"

/*
 * Writes what a recording has after @from_ns up to @to_ns, and what is needed to understand it: all
 * that stands before the stream, and what tasks, cgroups and maps were called before. Waits that
 * began before @from_ns have no begin in the cut. The source is read from where it is; the writer
 * is not finished.
 */
int cut_range(struct source *s, struct writer *w, uint64_t from_ns, uint64_t to_ns,
	      struct error *err);

#endif
