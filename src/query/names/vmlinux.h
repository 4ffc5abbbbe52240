/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_VMLINUX_H
#define KONTEND_QUERY_VMLINUX_H

#include "../internal.h"
#include "kontend/srclines.h"
#include "kontend/vmlinux.h"

/*
 * Where an address of the kernel, or of a module, is in the file of that, and which file of
 * q->users that is. SRCLINES_OK, PENDING, NO_MEMORY, or SRCLINES_KERNEL with *ret_why. There must
 * be q->engine->lines.
 */
enum srclines_answer query_vmlinux(struct query *q, uint64_t addr, uint32_t *ret_file,
				   uint64_t *ret_addr, const char **ret_why);
/* The build id of the kernel (@object: NULL) or of "[module]". False: not known. */
bool query_kernel_build_id(const struct query *q, const char *object, struct vmlinux *ret);
void query_vmlinux_deinit(struct query *q);

#endif
