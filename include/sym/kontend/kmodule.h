/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KMODULE_H
#define KONTEND_KMODULE_H

#include "kontend/vmlinux.h"

/*
 * The file of a module of the kernel, with its symbols and debug information: as vmlinux_find(),
 * for the module that /proc/kallsyms calls @name. No folder is searched: modules.dep says where
 * below its folder a module is.
 */
enum vmlinux_answer kmodule_find(struct vmlinux *ret, const char *root, const char *release,
				 const char *name);
/* Of the one that is loaded. False: none is called so, or it does not say its build id. */
bool kmodule_loaded(struct vmlinux *ret, const char *root, const char *name);
/* Is @path, as recordings have it, that module's: "[name]", or a file na-me.ko, packed or not? */
bool kmodule_is(const char *path, const char *name);
const char *kmodule_reason(enum vmlinux_answer a); /* for people; never NULL */

#endif
