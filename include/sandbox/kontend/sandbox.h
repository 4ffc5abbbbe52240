/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SANDBOX_H
#define KONTEND_SANDBOX_H

#include "kontend/sandbox-state.h"
#include <stdbool.h>
#include <stddef.h>

/*
 * The sandbox limits the rights of a process before it reads a recording from an unknown source.
 * The process gives up its capabilities and the way to new ones, can open only the files that are
 * named here (Landlock), and can make only the system calls that reading and writing need
 * (seccomp). There is no way back. For other work it asks another process, see broker.h.
 */
enum sandbox_access {
	SANDBOX_READ = 1,  /* a file, or all files below a folder */
	SANDBOX_LIST = 2,  /* names in a folder */
	SANDBOX_WRITE = 4, /* to an existing file */
};

struct sandbox_path {
	const char *path; /* NULL: the open file `fd` */
	int fd;
	unsigned access; /* of enum sandbox_access */
};

/*
 * Call it while there is only one thread. Skips paths that do not exist. Leaves out parts that the
 * kernel refuses, as in some containers: *ret lists them.
 */
void sandbox_enter(const struct sandbox_path *paths, size_t n, struct sandbox *ret);

/*
 * For a process that receives data from the network: it becomes user 65534 where that is possible,
 * gives up its capabilities, and can no longer write, make or run files (Landlock). It can connect,
 * and read public files. 0, or -errno if capabilities remain. Without Landlock only the other two
 * steps apply.
 */
int sandbox_only_connect(void);

/*
 * Allows only the system calls of the sandbox. @may_open_for_writing: Landlock restricts files. 0
 * or -errno: this kernel, or the container, has no seccomp.
 */
int sandbox_filter_calls(bool may_open_for_writing);

/* For the doctor: the version of Landlock, or -errno; whether calls can be filtered: 0 or -errno.
 */
int sandbox_landlock(void);
int sandbox_filter(void);

#endif
