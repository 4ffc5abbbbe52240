/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BLAME_RECENT_H
#define KONTEND_BLAME_RECENT_H

#include "kontend/blame.h"

/*
 * What was charged in a window of the last ticks, as cells in @ret, which has room for as many as
 * there are: how many it is. @keep: of which cells, by index; NULL: of all.
 */
size_t blame_recent(const struct blame *b, const struct recent_window *w, const uint8_t *keep,
		    struct blame_cell *ret);

#endif
