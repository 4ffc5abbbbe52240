/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_VMLINUX_H
#define KONTEND_VMLINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VMLINUX_ID_MAX = 20 };

/* The file of a kernel, with its symbols and debug information. */
struct vmlinux {
	char path[320];
	uint8_t build_id[VMLINUX_ID_MAX];
	size_t build_id_len;
};

enum vmlinux_answer {
	VMLINUX_OK,
	VMLINUX_NO_ID,	  /* the kernel, or the recording, does not say its build id */
	VMLINUX_NO_FILE,  /* none is installed, or none may be read */
	VMLINUX_OTHER,	  /* one is, of another build */
	VMLINUX_STRIPPED, /* one is, without debug information or symbols */
	VMLINUX_ANSWERS,
};

/*
 * Only a file with the build id in @ret is taken: that of the kernel that was recorded, or, by
 * vmlinux_running(), of the one that runs. @root: what stands before every path, "" but for tests.
 * @release: as uname -r says it. The path in @ret is of use with VMLINUX_OK alone.
 */
enum vmlinux_answer vmlinux_find(struct vmlinux *ret, const char *root, const char *release);
bool vmlinux_running(struct vmlinux *ret, const char *root); /* false: it does not say it */
const char *vmlinux_reason(enum vmlinux_answer a);	     /* for people; never NULL */

#endif
