/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_UPROBE_H
#define KONTEND_SRC_QUERY_UPROBE_H

#include "kontend/query-uprobe.h"

/* Shared by the tables over a snapshot of uprobes. */

/* 0, -ENOENT when there is no snapshot, or -ENOMEM. */
int query_uprobe(struct query *q, const struct upsnap **ret);
void query_uprobe_deinit(struct query *q);

/* "comm/pid"; "" for pid 0. */
const char *query_uprobe_task(struct query *q, const struct upsnap *s, uint32_t comm, int32_t pid);
/* Hits per second: since the look before, or on the average; false: not known. */
bool query_uprobe_rate(const struct upsnap *s, const struct upsnap_probe *p, bool average,
		       double *ret);

#endif
