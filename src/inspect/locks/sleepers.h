/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_SLEEPERS_H
#define KONTEND_INSPECT_SLEEPERS_H

#include "kontend/error.h"
#include "kontend/locksnap.h"

/* Counts tasks that sleep for what is no lock of the kernel. For one thread. */
struct sleepers;
struct kerntypes;
struct target;

int sleepers_new(struct sleepers **ret, struct kerntypes *types, struct error *err);
/*
 * Adds those of @target (NULL: all) to a snapshot; where that cannot be done, why. 0 or -ENOMEM.
 * @child: of a command, the process that runs it; 0: it is not there yet.
 */
int sleepers_take(struct sleepers *s, const struct target *target, int child, struct locksnap *ret);
void sleepers_free(struct sleepers *s); /* NULL is fine */

/* The rows of one pass, one for each process and kind, most tasks first. 0 or -ENOMEM. */
struct raw_sleepers;
int sleepers_fill(const struct raw_sleepers *rows, size_t n, struct locksnap *ret);

#endif
