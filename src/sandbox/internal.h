/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SANDBOX_INT_H
#define KONTEND_SANDBOX_INT_H

#include "kontend/sandbox.h"

/*
 * Each: 0 or -errno; -ENOSYS, -EOPNOTSUPP, -EPERM, -EINVAL: this kernel, or the container, has
 * none.
 */
int sandbox_restrict_files(const struct sandbox_path *paths, size_t n);
/* Files can be read, and nothing else; ports connected to. 0 or -errno. */
int sandbox_restrict_writes(void);
/* @may_open_for_writing: Landlock restricts files. */
int sandbox_filter_calls(bool may_open_for_writing);

#endif
