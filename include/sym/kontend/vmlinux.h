/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_VMLINUX_H
#define KONTEND_VMLINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VMLINUX_ID_MAX = 20 };

/* File of a kernel with symbols and debug information. */
struct vmlinux {
	char path[320];
	uint8_t build_id[VMLINUX_ID_MAX];
	size_t build_id_len;
};

enum vmlinux_answer {
	VMLINUX_OK,
	VMLINUX_NO_ID,	  /* the build id of the kernel, or in the recording, is not known */
	VMLINUX_NO_FILE,  /* none is installed or readable */
	VMLINUX_OTHER,	  /* another build is installed */
	VMLINUX_STRIPPED, /* the installed file lacks debug information or symbols */
	VMLINUX_ANSWERS,
};

/*
 * Only a file with the build id in @ret is accepted: that of the recorded kernel, or, from
 * vmlinux_running(), of the running one. @root: prefix of every path, "" except in tests. @release:
 * as in uname -r. The path in @ret is valid only with VMLINUX_OK.
 */
enum vmlinux_answer vmlinux_find(struct vmlinux *ret, const char *root, const char *release);
bool vmlinux_running(struct vmlinux *ret, const char *root); /* false: the build id is not known */
const char *vmlinux_reason(enum vmlinux_answer a);	     /* for users; never NULL */

/*
 * Finds the file of a kernel module with symbols and debug information: as vmlinux_find(), for the
 * module @name in /proc/kallsyms. No folder is searched: modules.dep has each module's path.
 */
enum vmlinux_answer vmlinux_find_module(struct vmlinux *ret, const char *root, const char *release,
					const char *name);
/* Build ID of the loaded module. False: no such module is loaded, or its build id is not known. */
bool vmlinux_running_module(struct vmlinux *ret, const char *root, const char *name);
/* True if @path, as in recordings, is that module: "[name]", or a file na-me.ko, packed or not. */
bool vmlinux_is_module(const char *path, const char *name);
const char *vmlinux_module_reason(enum vmlinux_answer a); /* for people; never NULL */

#endif
