/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_BPF_TYPES_H
#define KONTEND_INSPECT_BPF_TYPES_H

#include "kontend/kerntypes.h"

#include <stdint.h>

struct btf;

/* @shared or, where that is NULL, *ret_own, to be freed as this is over; NULL with @err. */
struct kerntypes *kerntypes_or(struct kerntypes *shared, struct kerntypes **ret_own,
			       struct error *err);

/* The kernel's BTF, until @t goes; NULL with @err. */
const struct btf *kerntypes_btf(struct kerntypes *t, struct error *err);
/*
 * Writes BTF into @fd that has what programs with the types @programs need to be fitted to this
 * kernel: every kernel type of a name that they have, and what lies in it. 0 or a negative errno.
 */
int kerntypes_excerpt(struct kerntypes *t, const struct btf *programs, int fd);

/* The number of a type, section or function ("bpf_..." only) of that BTF_KIND_, or a negative
 * errno.
 */
int kerntypes_find(struct kerntypes *t, const char *name, uint32_t kind);
/* The value of an enumerator of whatever enum; 0: there is none. */
int kerntypes_enumerator(struct kerntypes *t, const char *name);

/* Silences libbpf, as we report errors ourselves: call it before the first call to libbpf. */
void bpf_types_quiet(void);

#endif
