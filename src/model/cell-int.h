/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_CELL_INT_H
#define KONTEND_SRC_MODEL_CELL_INT_H

#include "kontend/cell.h"

/* cell-stats.c: room for the sums of @n cells, so that cell_merge() has it. 0 or -ENOMEM. */
int cell_reserve(struct cell_table *t, size_t n);
/* The open bucket of a cell is closed. False: the next tick will find nothing either. */
bool cell_close(struct cell_table *t, struct cell *c);
/* Adds what a block of recent.h says. 0 or -ENOMEM. */
int cell_add_block(struct cell_table *t, struct cell *c, const struct recent_block *b,
		   const uint64_t *hist, size_t n);
/* Adds @from, which is no cell of the table any more. */
void cell_merge(struct cell_table *t, struct cell *into, const struct cell *from);
/* @c waited @ns less than was added, @open_ns of it in the open bucket. The answer is how much was
 * taken out: no more than was there. */
uint64_t cell_take_back(struct cell_table *t, struct cell *c, uint64_t ns, uint64_t open_ns);
/* Adds @ns to the time of the waits that it has, within the sums. 0 or -ENOMEM. */
int cell_give(struct cell_table *t, struct cell *c, uint64_t ns);

/* Cells are summed up by parts of them, into a table of cells with the same keys. */
struct cell_parts {
	const struct cell_table *from;
	struct cell_table *to;
	const uint8_t *keep; /* by index of a cell: its parts are summed up; NULL: all */
	uint32_t *at;	     /* by index of a cell: index in @to + 1; 0: not met yet */
};
/* The cell of @to; NULL: out of memory. */
struct cell *cell_parts_find(struct cell_parts *s, size_t index);

#endif
