/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UPROBE_TARGET_H
#define KONTEND_UPROBE_TARGET_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Functions of this program, by their first instruction. */
enum uprobe_target {
	UPROBE_TARGET_NOP,
	UPROBE_TARGET_NOP5, /* the same as nop on machines without it */
	UPROBE_TARGET_PUSH,
	UPROBE_TARGET_RET,
	UPROBE_TARGET_KINDS,
};

const char *uprobe_target_name(enum uprobe_target k); /* "nop" */

/* The function that begins with this instruction. */
void (*uprobe_target_function(enum uprobe_target k))(void);
/* The same for one of these functions. */
int uprobe_target_place(enum uprobe_target k, bool is_return, struct error *err);

/* Returns the offset of a function of this program in its file: 0 or -ENOENT. */
int uprobe_target_offset(void (*call)(void), uint64_t *ret);
/*
 * Places a uprobe on a function, for this process: an event of perf's PMU "uprobe", which only
 * counts. Returns its descriptor; closing that removes it. -EOPNOTSUPP if the kernel has no such
 * PMU, or another negative errno, with @err.
 */
int uprobe_target_place_at(void (*call)(void), bool is_return, struct error *err);

#endif
