/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SLOW_PAGE_H
#define KONTEND_TESTS_SLOW_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A page whose first touch by the kernel sleeps until we release it: so a lock's holder sleeps
 * for a known time. One page a round; all functions 0 or negative errno.
 */
struct slow_page {
	char *addr; /* of round 0, the others follow */
	size_t n_pages;
	int fd;	   /* userfaultfd, or /dev/fuse */
	int mount; /* FUSE: the detached mount */
	int is_fuse;
	uint64_t held_unique; /* FUSE: the read that is held back */
	uint64_t held_offset;
};

int slow_page_uffd(struct slow_page *p, size_t n_pages);
/* Must be followed by slow_page_wait() in another process for the opening itself to be answered. */
int slow_page_fuse_mount(struct slow_page *p, size_t n_pages);
int slow_page_fuse_map(struct slow_page *p);
/* Blocks until the kernel sleeps in a touch of a page; then lets it go on. */
int slow_page_wait(struct slow_page *p);
int slow_page_release(struct slow_page *p);

/* 'D', 'S', ... of a thread, 0 = gone; takes no lock that a waiter may sleep for. */
char slow_page_thread_state(pid_t pid, pid_t tid);
/*
 * In state 'D' and off its CPU. The state alone comes before that, with all that a thread still
 * does between: a writer at an rwsem sets it before the event of its wait.
 */
bool slow_page_thread_sleeps(pid_t pid, pid_t tid);

#endif
