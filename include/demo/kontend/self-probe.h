/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SELF_PROBE_H
#define KONTEND_SELF_PROBE_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stdint.h>

/* The offset of a function of this program in its file. 0 or -ENOENT. */
int self_probe_offset(void (*call)(void), uint64_t *ret);
/*
 * Places a uprobe on it, for this process: an event of perf's PMU "uprobe", which only counts.
 * Returns its descriptor, with which it is removed; -EOPNOTSUPP if the kernel has no such PMU, or
 * another negative errno, with @err.
 */
int self_probe_place(void (*call)(void), bool is_return, struct error *err);

#endif
