/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_MMAP_H
#define KONTEND_UI_VIEWS_MMAP_H

#include "kontend/query-mmap.h"
#include "widgets/line.h"

/* "mmap_lock mm/5214 W 1.92 p99 28.1ms  ...": the rows of query_mmap_worst(), as they fit. */
void view_mmap_worst(const struct table *t, struct line *l);

#endif
