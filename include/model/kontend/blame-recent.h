/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BLAME_RECENT_H
#define KONTEND_BLAME_RECENT_H

#include "kontend/blame.h"

/*
 * Charges of a window of the last ticks, as cells in @ret, which has room for all cells. Returns
 * their number. @keep: of which cells, by index; NULL: of all.
 */
size_t blame_recent(const struct blame *b, const struct recent_window *w, const uint8_t *keep,
		    struct blame_cell *ret);

#endif
