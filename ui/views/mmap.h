/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_MMAP_H
#define KONTEND_UI_VIEWS_MMAP_H

#include "kontend/query-mmap.h"
#include "kontend/screen.h"

/* "mmap_lock mm/5214 W 1.92s/s p99 28.1ms  ...": the rows of query_mmap_worst(), in line @y. */
void view_mmap_worst(const struct table *t, int y, struct screen *s, struct rect r);

#endif
