/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_WAIT_KEPT_H
#define KONTEND_UI_VIEWS_WAIT_KEPT_H

#include "kontend/query-wait.h"

/* The last state seen of a wait, for when it is over. `= {0}` is none. */
struct wait_kept {
	struct arena arena;
	uint64_t row; /* of query_waiters() */
	bool known;
	struct query_wait wait; /* its texts and calls lie in the arena */
};

/* In place of what was kept before. Without memory nothing is. */
void wait_kept_take(struct wait_kept *k, uint64_t row, const struct query_wait *w);
/* From @from, which is empty then. */
void wait_kept_move(struct wait_kept *k, struct wait_kept *from);
/* The wait of that row, or NULL. */
const struct query_wait *wait_kept_of(const struct wait_kept *k, uint64_t row);
void wait_kept_deinit(struct wait_kept *k);

#endif
