/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_REGISTERS_H
#define KONTEND_INSPECT_LOCKS_REGISTERS_H

#include "kontend/error.h"
#include "kontend/snapshot-locks.h"

#include <stddef.h>

struct kerntypes;
struct registers;

/* registers.c: with which sleeping tasks have entered the kernel. 0 or a negative errno. */
int registers_new(struct registers **ret, struct kerntypes *types, struct error *err);
/* See snapshot_locks_registers(). */
int registers_read(struct registers *r, struct snapshot_registers *v, size_t n);
void registers_free(struct registers *r); /* NULL is fine */

#endif
