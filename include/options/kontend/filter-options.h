/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FILTER_OPTIONS_H
#define KONTEND_FILTER_OPTIONS_H

#include "kontend/opts.h"

enum { FILTER_OPTIONS_TEXT = 4096, FILTER_OPTIONS_WORDS = 256 };

/* Which waits a verb is about, out of its options. */
struct filter_options {
	char filter[FILTER_OPTIONS_TEXT]; /* as wait_filter_set() takes it; empty: all */
	char words[FILTER_OPTIONS_WORDS]; /* for people: "pid 812, lock mmap_lock, from 1ms on" */
};

/*
 * -p, -t, -C and -G are part of it where a recording is read; what is measured is measured by them.
 * -EINVAL with @err: a usage error.
 */
int filter_options(const struct opts *o, struct filter_options *ret, struct error *err);

#endif
