/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_WAITERS_H
#define KONTEND_QUERY_WAITERS_H

#include "../internal.h"

/* The id of that wait's row in the table "waiters". */
uint64_t query_wait_id(struct query *q, const struct wait *w);

#endif
