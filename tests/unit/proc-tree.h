/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_PROC_TREE_H
#define KONTEND_TESTS_PROC_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A tree like /proc of processes that sleep, for tests of one at a time. */
extern char tree_root[];
enum { TREE_PARENT = 650 }; /* of all processes */
static const uint32_t TREE_OTHER = UINT32_MAX;

int tree_set_up(void **state);
int tree_tear_down(void **state);
/* @len bytes at offset @at of a file; at 0: of a new one. */
void tree_file_at(const char *name, const char *text, size_t len, off_t at);
void tree_file(const char *name, const char *text);
/* A thread that sleeps in a futex; @op TREE_OTHER: in read(2). */
void tree_thread(int pid, int tid, uint64_t addr, uint32_t op, uint32_t value);

#endif
