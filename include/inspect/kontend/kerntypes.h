/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KERNTYPES_H
#define KONTEND_KERNTYPES_H

#include "kontend/error.h"

/*
 * The types of the running kernel (BTF), shared by all modules that load BPF programs at the same
 * time: read once, on first use. Belongs to no module, and may be freed when they are open.
 */
struct kerntypes;

/* 0 or -ENOMEM. Nothing is read yet. Built without BPF: *ret is NULL. */
int kerntypes_new(struct kerntypes **ret, struct error *err);
void kerntypes_free(struct kerntypes *t); /* NULL is fine */

#endif
