/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_GDB_H
#define KONTEND_TESTS_GDB_H

#include <stdbool.h>
#include <sys/types.h>

/* gdb with a hardware watchpoint in bp-holder, which waits for its input and never gets any. */
struct gdb {
	pid_t pid;
	int input; /* writing end of its standard input; nothing is written */
};

/* False, with a word on that, where there is no gdb. */
bool gdb_start(struct gdb *g, const char *program);
/* Ends it, if it has not ended; what it traced is for the caller to end. */
void gdb_stop(struct gdb *g);

#endif
