/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KERNTYPES_H
#define KONTEND_KERNTYPES_H

#include "kontend/error.h"

/*
 * The types of the running kernel (BTF), shared by all modules and threads that load BPF programs
 * at the same time: the first use reads them, once. They may be freed when the programs are loaded.
 */
struct kerntypes;

/* 0 or -ENOMEM. Nothing is read yet. Built without BPF: *ret is NULL. */
int kerntypes_new(struct kerntypes **ret, struct error *err);
/* Returns @t, which one more user must free. */
struct kerntypes *kerntypes_share(struct kerntypes *t);
/*
 * Has the kernel a struct of this name, with this member if that is not NULL? 1 or 0; a negative
 * errno if its types cannot be read, or this kontend was built without BPF (-ENOTSUP).
 */
int kerntypes_has(struct kerntypes *t, const char *name, const char *member);
/* The last user's call frees the types; NULL is fine. */
void kerntypes_free(struct kerntypes *t);

#endif
