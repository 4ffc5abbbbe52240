/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_BPF_TYPES_H
#define KONTEND_INSPECT_BPF_TYPES_H

#include "kontend/kerntypes.h"

#include <stdint.h>

struct btf;

/* @shared or, if that is NULL, *ret_own, which the caller frees; NULL with @err. */
struct kerntypes *kerntypes_or(struct kerntypes *shared, struct kerntypes **ret_own,
			       struct error *err);

/* The kernel's BTF, valid as long as @t; NULL with @err. */
const struct btf *kerntypes_btf(struct kerntypes *t, struct error *err);
/*
 * Writes an excerpt of BTF into @fd, to which programs with the types @programs can be relocated:
 * every kernel type with a name of theirs, and the types of its members. 0 or a negative errno.
 */
int kerntypes_excerpt(struct kerntypes *t, const struct btf *programs, int fd);

/* The id of a type, section or function ("bpf_..." only) of that BTF_KIND_, or a negative errno. */
int kerntypes_find(struct kerntypes *t, const char *name, uint32_t kind);
/* The value of an enumerator of any enum; 0: there is none. */
int kerntypes_enumerator(struct kerntypes *t, const char *name);

/* Silences libbpf, since kontend reports errors itself: call it before the first call to libbpf. */
void bpf_types_quiet(void);

#endif
