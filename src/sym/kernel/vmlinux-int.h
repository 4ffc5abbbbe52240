/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_VMLINUX_INT_H
#define KONTEND_SYM_VMLINUX_INT_H

#include "kontend/vmlinux.h"

/* The build id of the notes in the file @path. False: it has none. */
bool vmlinux_notes(struct vmlinux *ret, const char *path);
/* Is the file at ret->path that of its build id, with symbols and debug information? */
enum vmlinux_answer vmlinux_look_at(const struct vmlinux *v);
/* Where all debug files are by build id; there is room. */
void vmlinux_put_id_path(struct vmlinux *v, const char *root);

#endif
