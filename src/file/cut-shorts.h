/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_CUT_SHORTS_H
#define KONTEND_SRC_FILE_CUT_SHORTS_H

#include "kontend/record.h"
#include <stdbool.h>

/*
 * Sums of short waits are read once a second, so a cut begins and ends between two readings: each
 * end gets a snapshot of its own, with the sums estimated for that moment.
 */
struct cut_shorts {
	void *last; /* the body of the latest snapshot; NULL: none has come */
	size_t len;
	uint64_t last_ns;
};

/*
 * The caller passes all snapshots in stream order.
 *
 * If @at_ns lies between the previous snapshot and @r, *ret is a snapshot of that time, and the
 * caller frees its body with mem_free(): 1; else 0, or -ENOMEM.
 */
int cut_shorts_at(const struct cut_shorts *s, const struct record *r, uint64_t at_ns,
		  struct record *ret);
/* Makes @r the latest snapshot. 0 or -ENOMEM. */
int cut_shorts_took(struct cut_shorts *s, const struct record *r);
/* There are such snapshots, but none of @until_ns or later yet. */
bool cut_shorts_lacks(const struct cut_shorts *s, uint64_t until_ns);
void cut_shorts_deinit(struct cut_shorts *s);

#endif
