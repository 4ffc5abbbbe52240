/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_RECORD_SAY_H
#define KONTEND_CMD_RECORD_SAY_H

#include "kontend/opts.h"
#include "record/file.h"
#include "record/record-counter.h"

/* Messages about a recording, on a line that is written over until the last. */
struct cmd_record_say {
	const struct opts *o;
	const char *path;
	bool line; /* it is on the terminal */
};

struct record_said {
	uint64_t ns;	/* since the begin */
	uint64_t bytes; /* of the parts that are finished */
	const struct record_tally *tally;
};

struct cmd_record_say cmd_record_say_of(const struct opts *o);
/* Of where it goes to. */
const char *cmd_record_say_name(const struct cmd_record_say *s);
/* @end: that is all there will be. */
void cmd_record_say_so_far(struct cmd_record_say *s, const struct record_file *f,
			   const struct record_said *so_far, bool end);
void cmd_record_say_clear(struct cmd_record_say *s);

#endif
