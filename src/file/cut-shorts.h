/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_CUT_SHORTS_H
#define KONTEND_SRC_FILE_CUT_SHORTS_H

#include "kontend/record.h"
#include <stdbool.h>

/*
 * Sums of short waits are read once a second, so a cut begins and ends between two readings: it
 * gets a snapshot of its own for each end, with the sums that are estimated for that moment.
 */
struct cut_shorts {
	void *last; /* the body of the latest snapshot; NULL: none has come */
	size_t len;
	uint64_t last_ns;
};

/* Snapshots are shown to it in stream order. */
bool cut_shorts_is(const struct record *r, uint64_t *ret_ns); /* it is one of them, of @ret_ns */
/*
 * Lies @at_ns between the one before and @r? Then *ret is a snapshot of that time, whose body is
 * the caller's to mem_free(): 1; else 0, or -ENOMEM.
 */
int cut_shorts_at(const struct cut_shorts *s, const struct record *r, uint64_t at_ns,
		  struct record *ret);
/* @r is the latest from now on. 0 or -ENOMEM. */
int cut_shorts_took(struct cut_shorts *s, const struct record *r);
/* There are such snapshots, and none of @until_ns or later has come. */
bool cut_shorts_lacks(const struct cut_shorts *s, uint64_t until_ns);
void cut_shorts_deinit(struct cut_shorts *s);

#endif
