/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_READERS_H
#define KONTEND_INSPECT_LOCKS_READERS_H

#include "kontend/error.h"
#include "readers-shared.h"

#include <stddef.h>
#include <stdint.h>

/* Looks for the readers of locks: see readers.bpf.c. */
struct kerntypes;
struct locks_readers;

/* 0 or a negative errno with why. */
int locks_readers_new(struct locks_readers **ret, struct kerntypes *types, struct error *err);
/*
 * Finds readers of the @n locks at @wanted; *@ret: those found, valid until the next call;
 * *@ret_n: how many. 0, or a negative errno: not known; locks_readers_why() has the reason.
 */
int locks_readers_find(struct locks_readers *r, const uint64_t *wanted, size_t n,
		       const struct raw_reader **ret, size_t *ret_n);
/* Were there tasks that were not looked at? */
int locks_readers_dropped(const struct locks_readers *r);
void locks_readers_free(struct locks_readers *r); /* NULL is fine */

#endif
