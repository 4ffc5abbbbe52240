/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UPROBE_TARGET_H
#define KONTEND_UPROBE_TARGET_H

#include "kontend/error.h"

#include <stdbool.h>

/* Functions of this program, by the instruction that each begins with. */
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
/* A probe on it that only counts: a descriptor with which it is removed, or negative with @err. */
int uprobe_target_place(enum uprobe_target k, bool is_return, struct error *err);

#endif
