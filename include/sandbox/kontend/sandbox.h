/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SANDBOX_H
#define KONTEND_SANDBOX_H

#include "kontend/sandbox-state.h"
#include <stdbool.h>
#include <stddef.h>

/*
 * The sandbox: the rights of a process that is about to read a recording from an unknown source. It
 * gives up its capabilities and the way to new ones, opens no file but those that are named here
 * (Landlock), and makes no system calls but those that reading and writing take (seccomp). There is
 * no way back. For other things it asks another process, see broker.h.
 */
enum sandbox_access {
	SANDBOX_READ = 1,  /* a file, or all files below a folder */
	SANDBOX_LIST = 2,  /* names in a folder */
	SANDBOX_WRITE = 4, /* to a file that is there */
};

struct sandbox_path {
	const char *path; /* NULL: what is open as `fd` */
	int fd;
	unsigned access; /* of enum sandbox_access */
};

/*
 * While there is but one thread. Paths that do not exist are skipped. Parts that the kernel
 * refuses, as in some containers, are left out: *ret lists them.
 */
void sandbox_enter(const struct sandbox_path *paths, size_t n, struct sandbox *ret);

/*
 * For a process that receives answers of strangers: it becomes user 65534, where that is
 * possible, gives up its capabilities, and writes, makes and runs no file (Landlock). It may
 * connect, and read public files. 0, or -errno where rights are left; without Landlock the other
 * two steps must do.
 */
int sandbox_only_connect(void);

/* For the doctor. The version of Landlock, or -errno; can calls be filtered? 0 or -errno. */
int sandbox_landlock(void);
int sandbox_filter(void);

#endif
