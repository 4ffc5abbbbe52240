/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KERNTYPES_H
#define KONTEND_KERNTYPES_H

#include "kontend/error.h"

/*
 * What the running kernel says of its types (BTF), for all who load BPF programs at the same time:
 * it is read once, when the first one asks. Belongs to no module, and may go when they are open.
 */
struct kerntypes;

/* 0 or -ENOMEM. Nothing is read yet. Built without BPF: *ret is NULL. */
int kerntypes_new(struct kerntypes **ret, struct error *err);
void kerntypes_free(struct kerntypes *t); /* NULL is fine */

#endif
