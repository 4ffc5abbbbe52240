/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_TALLY_H
#define KONTEND_RECORD_TALLY_H

#include "kontend/record.h"

/* Counts of a stream being recorded, from record headers alone. */
struct record_tally {
	bool is_fed;	      /* set before: BPF reports the waits, see waitrec.h */
	uint64_t samples;     /* begins and ends of waits; if these are not known apart, all */
	uint64_t lost;	      /* by the kernel: rings were full */
	uint64_t lost_others; /* records of other kinds, where these are counted apart */
	uint64_t dropped;     /* by kontend: the queue was full */
};

void record_tally_add(struct record_tally *t, const struct record *r);

#endif
