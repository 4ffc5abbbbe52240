// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of root views, in the order of their digits: what Tab goes through, `:view NAME` finds
 * and the key bar shows. Those without a digit are the locks table by another key; `b` leads to
 * them, too. A new view is one line here and one in view.h. Views that are reached from a row only
 * (detail) are not in it.
 */
#include "kontend/view.h"

const struct view_ops *const view_roots[] = {
	&view_overview, &view_locks,   &view_waiters, &view_slots, &view_contexts,
	&view_rotation, &view_uprobes, &view_mmap,    &view_hot,   &view_callers,
	&view_tasks,	&view_types,   &view_cpus,    NULL,
};
