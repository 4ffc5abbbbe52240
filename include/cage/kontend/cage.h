/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CAGE_H
#define KONTEND_CAGE_H

#include "kontend/sandbox.h"
#include <stdbool.h>
#include <stddef.h>

/*
 * The cage: what a process that is about to read bytes of anybody's making may still do. It gives
 * up its capabilities and the way to new ones, opens no file but those that are named here
 * (Landlock), and makes no system calls but those that reading and writing take (seccomp). There is
 * no way back. What else it needs others do for it, see porter.h.
 */
enum cage_access {
	CAGE_READ = 1,	/* a file, or all files below a folder */
	CAGE_LIST = 2,	/* names in a folder */
	CAGE_WRITE = 4, /* to a file that is there */
};

struct cage_path {
	const char *path; /* NULL: what is open as `fd` */
	int fd;
	unsigned access; /* of enum cage_access */
};

/*
 * While there is but one thread. Paths that are not there are passed over. What the kernel refuses,
 * as in some containers, is left out: *ret says so.
 */
void cage_enter(const struct cage_path *paths, size_t n, struct sandbox *ret);

/*
 * For a process that answers of strangers come to: it becomes nobody, where that is possible, gives
 * up its capabilities, and writes, makes and runs no file (Landlock). It may connect, and read what
 * everybody may. 0, or -errno where rights are left; without Landlock the rest has to do.
 */
int cage_only_connect(void);

/* For the doctor. The version of Landlock, or -errno; can calls be filtered? 0 or -errno. */
int cage_landlock(void);
int cage_filter(void);

#endif
