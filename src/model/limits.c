// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes of a model's tables. Tables grow as they are filled, so limits cost nothing for small
 * inputs; when one is full the colder half of the cells is folded. Most of a large model are cells.
 * The estimate is the most that they take, with sums of several waits and, for every other one, a
 * histogram in groups of the pool; many cells with a single wait each take a third of that.
 */
#include "kontend/limits.h"
#include "kontend/cell.h"

enum {
	SLOTS_BYTES = 4 * sizeof(uint32_t), /* a cell's part of them, at most */
	CELL_BYTES = sizeof(struct cell) + sizeof(struct cell_stats) + SLOTS_BYTES,
	GROUP_BYTES = HIST_GROUP * sizeof(uint32_t),
	GROUPS_OF_2_CELLS = 3,
	STACK_BYTES = 512,  /* a chain of usual length */
	ENTRY_BYTES = 384,  /* a lock, a task with its name, each with its place in an index */
	SAMPLE_BYTES = 432, /* a chain of usual length, and two cells with it */
	MOST = 1 << 26,	    /* of each: indices have 32 bits, some of them in use for marks */
};

/* Copies for time travel have them as they are: not more than some MB of them. */
enum { HELD_PART_OF = 16, LEAST_HELD = 4096, MOST_HELD = 32768 };
enum { RECENT_PART_OF = 8, LEAST_RECENT = 1 << 18, MOST_RECENT = 1 << 24 };

enum { HEAT_PART_OF = 16, LEAST_HEAT = 1 << 17, MOST_HEAT = 1 << 20 };

/* Samples have a part of a live model: its cells are for the rest. Chains have 18 bits in keys. */
enum { SAMPLES_PART_OF = 3, LEAST_SAMPLES = 4096, MOST_SAMPLES = 1 << 17 };

static const struct model_limits defaults = {
	.locks = 16384, .stacks = 16384, .tasks = 32768, .cells = 65536, .hist_groups = 196608};

/* The tables of tasks have all that are alive: they do not become fewer by folding. */
static const struct model_limits least_live = {.locks = 4096,
					       .stacks = 4096,
					       .tasks = 32768,
					       .ended = 8192,
					       .cells = 16384,
					       .hist_groups = 24576};

static uint32_t at_least(uint32_t least, uint64_t n)
{
	return n < least ? least : n > MOST ? MOST : (uint32_t)n;
}

static struct model_limits limits_of(uint64_t bytes, const struct model_limits *least)
{
	uint64_t rest = bytes / 10; /* to locks, stacks and tasks each; cells have what is left */
	uint64_t cells = 7 * rest / (CELL_BYTES + GROUP_BYTES * GROUPS_OF_2_CELLS / 2);

	return (struct model_limits){
		.locks = at_least(least->locks, rest / ENTRY_BYTES),
		.stacks = at_least(least->stacks, rest / STACK_BYTES),
		.tasks = at_least(least->tasks, rest / ENTRY_BYTES),
		.ended = least->ended ? at_least(least->ended, rest / ENTRY_BYTES / 2) : 0,
		.cells = at_least(least->cells, cells),
		.hist_groups = at_least(least->hist_groups, cells * GROUPS_OF_2_CELLS / 2),
	};
}

struct model_limits model_limits_of(uint64_t bytes)
{
	return limits_of(bytes, &defaults);
}

uint32_t model_limits_held(uint64_t bytes)
{
	uint64_t n = bytes / HELD_PART_OF / (CELL_BYTES + GROUP_BYTES);

	return at_least(LEAST_HELD, n < MOST_HELD ? n : MOST_HELD);
}

uint32_t model_limits_heat(uint64_t bytes)
{
	uint64_t n = bytes / HEAT_PART_OF / sizeof(struct heat_entry);

	return at_least(LEAST_HEAT, n < MOST_HEAT ? n : MOST_HEAT);
}

static struct model_limits limits_recent(uint64_t bytes, const struct model_limits *least)
{
	uint64_t recent = bytes / RECENT_PART_OF;
	uint32_t heat = model_limits_heat(bytes);
	struct model_limits l = limits_of(bytes - recent - bytes / HEAT_PART_OF, least);

	recent /= sizeof(uint64_t);
	l.held = l.blame = model_limits_held(bytes);
	l.heat = heat;
	l.recent = at_least(LEAST_RECENT, recent < MOST_RECENT ? recent : MOST_RECENT);
	return l;
}

struct model_limits model_limits_recent(uint64_t bytes)
{
	return limits_recent(bytes, &defaults);
}

/* Samples have a part of @bytes, and the tables of @others the rest. */
static struct model_limits
with_samples(uint64_t bytes,
	     struct model_limits (*others)(uint64_t bytes, const struct model_limits *least))
{
	uint64_t samples = bytes / SAMPLES_PART_OF;
	struct model_limits l = others(bytes - samples, &least_live);
	uint32_t n = at_least(LEAST_SAMPLES, samples / SAMPLE_BYTES);

	l.sample_stacks = n < MOST_SAMPLES ? n : MOST_SAMPLES;
	l.samples = 2 * l.sample_stacks;
	return l;
}

struct model_limits model_limits_live(uint64_t bytes)
{
	return with_samples(bytes, limits_recent);
}

struct model_limits model_limits_watch(uint64_t bytes)
{
	return with_samples(bytes, limits_of);
}
