/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_CUT_H
#define KONTEND_CMD_CUT_H

#include "kontend/cut.h"
#include "kontend/sandboxed.h"

/* A recording that is to be written again in part. */
struct cmd_cut {
	const struct sandboxed *sandboxed;
	const char *from, *to;	 /* files; @to must not be there */
	int level;		 /* of zstd; 0: not compressed */
	uint64_t tick_ns;	 /* of the recording; 0: those that it has */
	const char *const *argv; /* the command line to record in it */
	struct cut_part part;
};

struct reader_stat;
/* The compression level of a part of it, unless the user gives one. */
int cmd_cut_level(const struct reader_stat *from);

/* All of it is there afterwards, or nothing. 0, or negative with @err. */
int cmd_cut_write(const struct cmd_cut *c, struct error *err);

#endif
