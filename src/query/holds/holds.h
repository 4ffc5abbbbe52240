/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_HOLDS_H
#define KONTEND_SRC_QUERY_HOLDS_H

#include "../internal.h"
#include "../rows.h"
#include "kontend/columns.h"
#include "kontend/holdsnap.h"
#include "kontend/query-holds.h"

/* The latest snapshot; NULL: there is none. */
const struct holdsnap *query_holds_snap(struct query *q);
/* How long it was measured. */
uint64_t query_holds_span(const struct holdsnap *s);

/* Columns that the three tables share. */
#define COL_HOLDS                                                                                  \
	"holds", "HOLDS", "holds that were measured from their begin to their end", COLUMN_COUNT
#define COL_HOLD_TOTAL "held_total_ns", "HELD", "time of all these holds", COLUMN_NS
#define COL_HOLD_PCT "held_pct", "HELD%", "share of the time of all these holds", COLUMN_PCT
#define COL_HOLD_AVG "held_avg_ns", "AVG", "average hold", COLUMN_NS
#define COL_HOLD_MAX "held_max_ns", "MAX", "longest hold that has ended", COLUMN_NS

#endif
