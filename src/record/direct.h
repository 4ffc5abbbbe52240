/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_DIRECT_H
#define KONTEND_RECORD_DIRECT_H

#include "file.h"
#include "kontend/drain.h"
#include "record-counter.h"
#include "sampler.h"

enum { RECORD_DIRECT_BATCH = WRITER_RUNS / 2 };

/*
 * The stream from the rings into the file, without a queue and without a copy of ours in between.
 * Fill in the first six, then record_direct_sink() is where to drain to.
 */
struct record_direct {
	struct record_file *file;
	struct record_tally *tally;
	struct record_sampler *sampler; /* sees all of it, too; NULL: nobody */
	struct error *err;
	bool counted;	  /* somebody else counts: records need not be looked at */
	uint64_t reserve; /* bytes of a file that may not grow for what is no event */
	bool full;	  /* the file is: nothing is taken any more */
	int status;	  /* 0, or what has failed: said in *err, and nothing is taken any more */

	/* its own: what is to be written next, and how far rings may be released then */
	struct iovec pieces[WRITER_RUNS];
	int n_pieces;
	size_t bytes;
	struct record_span {
		struct ring *ring;
		uint64_t end;
		uint64_t samples, lost; /* in it: told once they are in the file */
	} spans[RECORD_DIRECT_BATCH];
	int n_spans;
	uint32_t cpu; /* of one of them */
};

struct drain_sink record_direct_sink(struct record_direct *d);

#endif
