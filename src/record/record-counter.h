/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_TALLY_H
#define KONTEND_RECORD_TALLY_H

#include "kontend/record.h"

/* Counts of a stream being recorded, from record headers alone. */
struct record_tally {
	uint64_t samples;
	uint64_t lost;	  /* by the kernel: rings were full */
	uint64_t dropped; /* by kontend: the queue was full */
};

void record_tally_add(struct record_tally *t, const struct record *r);

#endif
