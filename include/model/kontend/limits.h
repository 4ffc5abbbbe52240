/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LIMITS_H
#define KONTEND_LIMITS_H

#include <stdint.h>

/* Upper bounds of what the model keeps; beyond them the coldest entries fold into "other". */
struct model_limits {
	uint32_t locks, stacks, tasks, cells, hist_groups;
	uint32_t recent; /* entries of the last minute, for windows of time; 0: none are kept */
	uint32_t held;	 /* cells of how long locks were held; 0: that is not followed */
	uint32_t blame;	 /* of because of whom is waited; 0: likewise */
};

/* The usual mix of entries for @bytes; never less than the defaults. */
struct model_limits model_limits_of(uint64_t bytes);
/* Cells of `held` for so many bytes. */
uint32_t model_limits_held(uint64_t bytes);
/* The same for who looks at windows of time as well: a part is for what came lately. */
struct model_limits model_limits_recent(uint64_t bytes);

#endif
