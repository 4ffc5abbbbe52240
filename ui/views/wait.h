/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_WAIT_H
#define KONTEND_UI_VIEWS_WAIT_H

#include "kontend/query-wait.h"

/*
 * A copy of the last known state of a wait with its calls, for when the wait is over. Waits last
 * for milliseconds, frames for a second: when the user opens a wait on the screen, it is over. `=
 * {0}` has none.
 */
struct wait_kept {
	struct arena arena;
	uint64_t row; /* of query_waiters() */
	bool known;
	struct query_wait wait; /* its texts and calls are in the arena */
};

/* Replaces the copy. Without memory there is none. */
void wait_kept_take(struct wait_kept *k, uint64_t row, const struct query_wait *w);
/* Moves the copy of @from, which then has none. */
void wait_kept_move(struct wait_kept *k, struct wait_kept *from);
/* Returns the wait of that row, or NULL. */
const struct query_wait *wait_kept_of(const struct wait_kept *k, uint64_t row);
void wait_kept_deinit(struct wait_kept *k);

#endif
