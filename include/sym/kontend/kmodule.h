/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KMODULE_H
#define KONTEND_KMODULE_H

#include "kontend/vmlinux.h"

/*
 * Finds the file of a kernel module with symbols and debug information: as vmlinux_find(), for the
 * module @name in /proc/kallsyms. No folder is searched: modules.dep has each module's path.
 */
enum vmlinux_answer kmodule_find(struct vmlinux *ret, const char *root, const char *release,
				 const char *name);
/* Build ID of the loaded module. False: no such module is loaded, or its build id is not known. */
bool kmodule_loaded(struct vmlinux *ret, const char *root, const char *name);
/* True if @path, as in recordings, is that module: "[name]", or a file na-me.ko, packed or not. */
bool kmodule_is(const char *path, const char *name);
const char *kmodule_reason(enum vmlinux_answer a); /* for people; never NULL */

#endif
