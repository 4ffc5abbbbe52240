/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_RUNS_H
#define KONTEND_INSPECT_LOCKS_RUNS_H

#include "kontend/error.h"

struct kerntypes;
struct locksnap;
struct runs;

/* runs.c: how holders that could run, and their waiters, are scheduled. 0 or a negative errno. */
int runs_new(struct runs **ret, struct kerntypes *types, struct error *err);
/* Adds these to a snapshot that has all queues. Where all holders sleep it costs nothing. */
int runs_add(struct runs *r, struct locksnap *s);
void runs_free(struct runs *r); /* NULL is fine */

#endif
