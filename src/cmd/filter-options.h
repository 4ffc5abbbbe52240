/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_ONLY_H
#define KONTEND_CMD_ONLY_H

#include "kontend/opts.h"

enum { CMD_ONLY_TEXT = 4096, CMD_ONLY_WORDS = 256 };

/* Which waits a verb is about, out of its options. */
struct cmd_only {
	char filter[CMD_ONLY_TEXT]; /* as wait_filter_set() takes it; empty: all */
	char words[CMD_ONLY_WORDS]; /* for people: "pid 812, lock mmap_lock, from 1ms on" */
};

/*
 * -p, -t, -C and -G are part of it where a recording is read; what is measured is measured by them.
 * -EINVAL with @err: a usage error.
 */
int cmd_only(const struct opts *o, struct cmd_only *ret, struct error *err);

#endif
