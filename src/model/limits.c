// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much a model keeps apart. Tables grow as they are filled, so limits cost nothing where little
 * comes; when one is full the colder half of the cells is folded. Most of a large model are cells
 * and their histograms: a cell has one or two groups of these.
 */
#include "kontend/model.h"

enum {
	CELL_BYTES = sizeof(struct cell) + 2 * sizeof(uint64_t), /* and its part of the slots */
	GROUP_BYTES = HIST_GROUP * sizeof(uint32_t),
	GROUPS_OF_2_CELLS = 3,
	STACK_BYTES = 512, /* a chain of usual length */
	ENTRY_BYTES = 384, /* a lock, a task with its name, each with its place in an index */
	MOST = 1 << 26,	   /* of each: indices have 32 bits, some of them in use for marks */
};

static const struct model_limits defaults = {
	.locks = 16384, .stacks = 16384, .tasks = 32768, .cells = 65536, .hist_groups = 196608};

static uint32_t at_least(uint32_t least, uint64_t n)
{
	return n < least ? least : n > MOST ? MOST : (uint32_t)n;
}

struct model_limits model_limits_of(uint64_t bytes)
{
	const struct model_limits *least = &defaults;
	uint64_t rest = bytes / 10; /* to locks, stacks and tasks each; cells have what is left */
	uint64_t cells = 7 * rest / (CELL_BYTES + GROUP_BYTES * GROUPS_OF_2_CELLS / 2);

	return (struct model_limits){
		.locks = at_least(least->locks, rest / ENTRY_BYTES),
		.stacks = at_least(least->stacks, rest / STACK_BYTES),
		.tasks = at_least(least->tasks, rest / ENTRY_BYTES),
		.cells = at_least(least->cells, cells),
		.hist_groups = at_least(least->hist_groups, cells * GROUPS_OF_2_CELLS / 2),
	};
}
