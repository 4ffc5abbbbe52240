// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of root views, in the order of their digits: what Tab goes through, `:view NAME` finds
 * and the key bar shows. Those without a digit are the locks table by another key; `b` leads to
 * them, too. A new view is one word in screen-views.h. Views that are reached from a row only
 * (detail) are not in it.
 */
#include "kontend/screen-views.h"
#include "kontend/view.h"

#define ROOT(name) &view_##name,

const struct view_ops *const view_roots[] = {SCREEN_VIEWS(ROOT, ROOT) NULL};
