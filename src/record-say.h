/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_RECORD_SAY_H
#define KONTEND_SRC_RECORD_SAY_H

#include "kontend/opts.h"
#include "record-file.h"
#include "record-tally.h"

/* What is said of a recording, on a line that is written over until the last. */
struct record_say {
	const struct opts *o;
	const char *path;
	bool line; /* stands there */
};

struct record_said {
	uint64_t ns;	/* since the begin */
	uint64_t bytes; /* of the parts that are finished */
	const struct record_tally *tally;
};

struct record_say record_say_of(const struct opts *o);
/* Of where it goes to. */
const char *record_say_name(const struct record_say *s);
/* @end: that is all there will be. */
void record_say_so_far(struct record_say *s, const struct record_file *f,
		       const struct record_said *so_far, bool end);
void record_say_clear(struct record_say *s);

#endif
