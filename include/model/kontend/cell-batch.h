/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CELL_BATCH_H
#define KONTEND_CELL_BATCH_H

#include "kontend/cell.h"

/*
 * @n waits have ended within the open bucket, of which only the sum is known: the histogram has all
 * of them at their average. Windows get their part from cell_wait(). 0 or -ENOMEM.
 */
int cell_batch_add(struct cell_table *t, struct cell *c, uint64_t n, uint64_t total_ns,
		   uint64_t end_ns);

#endif
