/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_PERCPU_H
#define KONTEND_INSPECT_LOCKS_PERCPU_H

#include "kontend/error.h"

#include <stddef.h>
#include <stdint.h>

struct kerntypes;

/* The variables of the kernel's per-CPU section, by their offset in it, from BTF. */
struct percpu {
	struct percpu_var {
		uint64_t offset, size;
		char *name;
	} * vars;
	size_t n, cap;
};

enum { PERCPU_LOCKS = 256 }; /* in one variable */

int percpu_read(struct percpu *ret, struct kerntypes *types, struct error *err);
/* The variable that contains byte @offset of the section, or NULL. */
const struct percpu_var *percpu_find(const struct percpu *p, uint64_t offset);
const struct percpu_var *percpu_named(const struct percpu *p, const char *name);
void percpu_deinit(struct percpu *p);

#endif
