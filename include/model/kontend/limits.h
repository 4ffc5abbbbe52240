/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LIMITS_H
#define KONTEND_LIMITS_H

#include <stdint.h>

enum {
	WAIT_DEPTH = 8,		/* nested waits kept per task and per CPU */
	STACK_MAX_FRAMES = 127, /* frames kept of a call chain */
};

/* Upper bounds of what the model keeps; beyond them the coldest entries fold into "other". */
struct model_limits {
	uint32_t locks, stacks, tasks, cells, hist_groups;
	uint32_t ended;	 /* tasks that have ended, of these; 0: half of them */
	uint32_t recent; /* entries of the last minute, for windows of time; 0: none are kept */
	uint32_t held;	 /* cells for the times of holders; 0: holders are not followed */
	uint32_t blame;	 /* cells of blame; 0: no blame is computed */
	uint32_t heat;	 /* entries of the log of waits by time and length; 0: none are kept */
	/* Cells of samples, and their call chains; 0: the defaults. */
	uint32_t samples, sample_stacks;
};

/* The usual mix of entries for @bytes; never less than the defaults. */
struct model_limits model_limits_of(uint64_t bytes);
/* Cells of `held` for so many bytes. */
uint32_t model_limits_held(uint64_t bytes);
/* Entries of `heat` for so many bytes. */
uint32_t model_limits_heat(uint64_t bytes);
/* As model_limits_of(), for windows of time as well: a part is for recent entries. */
struct model_limits model_limits_recent(uint64_t bytes);
/* As model_limits_recent(), for all tables together, with lower bounds that @bytes has room for. */
struct model_limits model_limits_live(uint64_t bytes);
/* The same without windows of time, holders, blame and the log of waits, of a recorder. */
struct model_limits model_limits_watch(uint64_t bytes);

#endif
