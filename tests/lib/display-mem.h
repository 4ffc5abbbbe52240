/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_DISPLAY_MEM_H
#define KONTEND_TESTS_DISPLAY_MEM_H

#include "kontend/display.h"

/*
 * A display in memory, for tests and benchmarks: it has a size that can be set, keys that were
 * pushed, and remembers the cells as a terminal would.
 */
int display_mem_new(struct display **ret, int w, int h);
/* The next input is KEY_K_RESIZE. */
int display_mem_resize(struct display *d, int w, int h);
/* At most 64 wait at a time: -ENOSPC. */
int display_mem_push(struct display *d, const struct display_input *in);
/* From now on no frame is taken, until a caller that polls finds @fd writable; -1: frames are. */
void display_mem_hold(struct display *d, int fd);
/* It has a clipboard until now. */
void display_mem_no_clipboard(struct display *d);
/* The text copied last; "": none. */
const char *display_mem_copied(const struct display *d);
/* Cells that the last blit changed, and the number of blits, suspends. */
size_t display_mem_changed(const struct display *d);
size_t display_mem_blits(const struct display *d);
size_t display_mem_suspends(const struct display *d);

#endif
