/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_KMODULE_H
#define KONTEND_QUERY_KMODULE_H

#include "../internal.h"
#include "kontend/srclines.h"

/* As query_vmlinux(), for @addr in @e, which is a function of a module. */
enum srclines_answer query_kmodule(struct query *q, const struct sym_entry *e, uint64_t addr,
				   uint32_t *ret_file, uint64_t *ret_addr, const char **ret_why);
void query_kmodules_deinit(struct query *q);

#endif
