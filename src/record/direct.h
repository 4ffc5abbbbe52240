/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_DIRECT_H
#define KONTEND_RECORD_DIRECT_H

#include "file.h"
#include "kontend/drain.h"
#include "record-counter.h"
#include "sampler.h"

enum { RECORD_DIRECT_BATCH = WRITER_RUNS / 2 };

/*
 * Writes the stream from the rings into the file, without a queue and without a copy in user space.
 * Fill in the first six members, then drain to record_direct_sink().
 */
struct record_direct {
	struct record_file *file;
	struct record_tally *tally;
	struct record_sampler *sampler; /* also gets the whole stream; NULL: none */
	struct error *err;
	bool counted;	  /* the kernel counts events: records need not be read */
	uint64_t reserve; /* bytes of a size-limited file to keep free for other data than events */
	bool full;	  /* the file is full: no more data is accepted */
	int status;	  /* 0, or the error, with *err set: no more data is accepted */

	/* private: the batch to write, and the ring positions to release after that */
	struct iovec pieces[WRITER_RUNS];
	int n_pieces;
	size_t bytes;
	struct record_span {
		struct ring *ring;
		uint64_t end;
		uint64_t samples, lost; /* in this span: counted when they are in the file */
	} spans[RECORD_DIRECT_BATCH];
	int n_spans;
	uint32_t cpu; /* of one of the rings */
};

struct drain_sink record_direct_sink(struct record_direct *d);

#endif
