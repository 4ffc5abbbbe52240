/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_DIRECT_H
#define KONTEND_RECORD_DIRECT_H

#include "kontend/drain.h"
#include "kontend/record-file.h"
#include "kontend/record-sampler.h"

/* Counts of a stream being recorded, from record headers alone. */
struct record_tally {
	bool is_fed;	      /* set before: BPF reports the waits, see waitrec.h */
	uint64_t samples;     /* begins and ends of waits; if these are not known apart, all */
	uint64_t lost;	      /* by the kernel: rings were full */
	uint64_t lost_others; /* records of other kinds, where these are counted apart */
	uint64_t dropped;     /* by kontend: the queue was full */
};

void record_tally_add(struct record_tally *t, const struct record *r);

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
